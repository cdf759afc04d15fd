"""Whether the web app stays usable with large files: pages while a search runs, the server's memory, a large table.

Bars: every page answers within 0.3 s while 1,000,000 × 20 records are searched, the server stays below 2 GB, and a
table of 100,000 cells scrolls. Run it with idle cores: `python -m benchmarks.app [records]`.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import Page, sync_playwright

from discreet.jobs.queue import Jobs

COLUMNS = 20


def generate(path: Path, records: int) -> None:
    """Records of numbers and a few codes."""
    rng = np.random.default_rng(1)
    columns: dict[str, object] = {f"number{at}": rng.normal(size=records).round(3) for at in range(COLUMNS - 4)}
    columns |= {f"code{at}": rng.integers(0, 5 + at, records).astype(str) for at in range(4)}
    pl.DataFrame(columns).write_parquet(path)


def memory(pid: int) -> float:
    """The largest memory of a process so far, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0.0


def measure(page: Page, home: str, path: str, sign: str) -> None:
    """Print how soon a page answers, and how soon what it shows is there."""
    began = time.perf_counter()
    page.goto(home + path, wait_until="commit")
    answered = time.perf_counter() - began
    page.locator(sign).first.wait_for()
    print(f"{path:<24}{1000 * answered:>8.0f} ms{1000 * (time.perf_counter() - began):>10.0f} ms until it is complete")


def main() -> None:
    """Print the figures."""
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        generate(folder / "large.parquet", records)
        cells = pl.DataFrame(
            {"row": np.repeat(np.arange(1000), 100).astype(str), "column": [*map(str, range(100))] * 1000}
        )
        cells.with_columns(value=pl.lit(1.0)).write_csv(folder / "cells.csv")
        words = ["tabulate", "cells.csv", "--by", "row", "--by", "column", "-o", "table.parquet"]
        subprocess.run([sys.executable, "-m", "discreet", *words], cwd=folder, check=True, capture_output=True)
        command = [sys.executable, "-m", "discreet", "app", str(folder), "--no-browser"]
        app = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert app.stdout is not None
        found = re.search(r"http://\S+", app.stdout.readline())
        assert found is not None
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(300_000)
        home = found[0].partition("/enter")[0]
        page.goto(found[0])
        try:
            page.get_by_role("link", name="large.parquet").click()
            page.get_by_role("button", name="Take the hints").click()
            page.get_by_role("button", name="Next: the promise").click()
            page.get_by_text("Which columns drive").wait_for()
            page.get_by_role("button", name="Next: protect").click()
            page.get_by_label("Seconds of search").fill("600")
            page.get_by_role("button", name="Protect", exact=True).click()
            page.wait_for_timeout(20_000)
            stage = Jobs(folder).get(1).progress()["stage"]
            print(f"{records:,} records × {COLUMNS} columns, while a search runs ({stage})")
            for path, sign in (
                ("/", "text=Microdata"),
                ("/data/1/columns", ".column-row >> nth=5"),
                ("/data/1/promise", "text=Which columns drive"),
                ("/data/1/protect", "text=A candidate"),
                ("/jobs", "text=One runs"),
                ("/review", "text=A second person"),
            ):
                measure(page, home, path, sign)
            page.goto(f"{home}/open-table/table.parquet")
            page.locator(".ag-row").first.wait_for()
            began = time.perf_counter()
            page.mouse.move(400, 500)
            for _ in range(30):
                page.mouse.wheel(0, 1500)
            page.locator(".ag-cell", has_text="999").first.wait_for()
            print(
                f"a table of {1001 * 101:,} cells scrolls to its end in {1000 * (time.perf_counter() - began):.0f} ms"
            )
            print(f"the server takes {memory(app.pid):.0f} MB")
        finally:
            browser.close()
            app.send_signal(signal.SIGINT)
            app.wait()
            for job in Jobs(folder).list():
                if job.state().state == "running":
                    Jobs(folder).stop(job.id)
                    Jobs(folder).wait(job)


if __name__ == "__main__":
    main()
