"""The app, started as a user would, and a real browser."""

import csv
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from discreet.examples import make

ROOT = Path(__file__).resolve().parents[2]
# A machine with other work may take its time; no test asserts one.
expect.set_options(timeout=60_000)


class App:
    """A running app, its process and its link; `first` is Python that runs before it."""

    def __init__(self, folder: Path, *options: str, browser: str = "", first: str = "") -> None:
        self.folder = folder
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [clean.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-c", f"{first}\nfrom discreet.cli import main; main()", "app", str(folder)),
                *([] if browser else ["--no-browser"]),
                *options,
            ],
            env={**clean, "PYTHONPATH": paths, "BROWSER": browser},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r"http://\S+", self.process.stdout.readline())
        if found is None:
            raise RuntimeError(self.process.communicate()[1])
        self.link = found[0]
        self.home = self.link.partition("/enter")[0]

    def end(self) -> str:
        """End the app and give all that it printed since its link."""
        self.process.send_signal(signal.SIGINT)
        try:
            out, err = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
        return (out + err).replace("Ctrl-C ends the app; jobs go on.", "").strip()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def end_jobs(folder: Path) -> None:
    """Leave no job behind."""
    from discreet.jobs.queue import Jobs

    for job in Jobs(folder).list():
        pid = job.state().pid
        if pid:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """A folder with a small survey."""
    folder = tmp_path / "work"
    folder.mkdir()
    make("survey", folder, n=600)
    return folder


@pytest.fixture
def start() -> Iterator[Callable[..., App]]:
    """Start the app on a folder; it is ended after the test, and its jobs too."""
    yield from _start()


@pytest.fixture(scope="module")
def start_shared() -> Iterator[Callable[..., App]]:
    """Start the app on a folder, for all tests of a module."""
    yield from _start()


def _start() -> Iterator[Callable[..., App]]:
    running: list[App] = []

    def begin(folder: Path, *options: str, browser: str = "", first: str = "") -> App:
        running.append(App(folder, *options, browser=browser, first=first))
        return running[-1]

    yield begin
    for app in running:
        if app.process.poll() is None:
            app.end()
        end_jobs(app.folder)


@contextmanager
def launch(path: Path | str, *more: str) -> Iterator[Browser]:
    """Debian's Chromium, also for root."""
    with sync_playwright() as driver:
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        # A name that an attacker made to lead here.
        rebind = "--host-resolver-rules=MAP evil.example 127.0.0.1"
        browser = driver.chromium.launch(executable_path=str(path), args=[*sandbox, rebind, *more])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def browser(chromium: Path) -> Iterator[Browser]:
    """A real browser for the tests of a module, since its event loop is in the way of others; each has its cookies."""
    with launch(chromium) as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a real browser."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[tuple[App, Page]]:
    """The app on a folder with a survey, as a file and in a database, opened once for the tests of a module."""
    folder = tmp_path_factory.mktemp("work")
    make("survey", folder, n=400)
    rows = list(csv.reader((folder / "survey.csv").read_text().splitlines()))
    with closing(sqlite3.connect(folder / "office.db")) as database, database:
        database.execute(f"CREATE TABLE people ({', '.join(rows[0])})")
        database.executemany(f"INSERT INTO people VALUES ({', '.join('?' * len(rows[0]))})", rows[1:])
    app = App(folder)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(60_000)
    page.goto(app.link)
    yield app, page
    page.close()
    if app.process.poll() is None:
        app.end()
    end_jobs(folder)


def find_chromium() -> str | None:
    return shutil.which("chromium")
