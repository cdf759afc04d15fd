"""Hostile names of columns, codes and files: no terminal obeys them, no page runs them."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from campaign.commands import call
from campaign.found import Found

PRINTED = "no control character out of a name reaches the terminal"
RUN = "no name is run by a page that is written"

NAMES = (
    "</script><script>alert(1)</script>", "\x1b[2J\x1b[31mred", "a\rb", "bell\x07", "\u202eright",
    "<img src=x onerror=1>", "{{7*7}}", "%(x)s", "a" * 250, "=1+1", "..", "x\u0000y", "\ufeffx", "`id`", "$(id)",
    "'; --", "[link](x)", "\x9b31m",
)  # fmt: skip


def run(seed: int, folder: Path) -> Found:
    """Give a column a hostile name, and look at all that is printed and written."""
    rng = np.random.default_rng([seed, 5])
    found = Found()
    name = NAMES[seed % len(NAMES)]
    path, page = folder / "data.csv", folder / "front.html"
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([name, "x", "y", "s"])
        out.writerows([*rng.normal(size=3).round(3).tolist(), at] for at in range(30))
    roles = ["--quasi", f"{name},x,y", "--confidential", "s", "--k", 3]
    texts = [call("protect", path, *roles, "--method", "mdav", "-o", folder / "out.csv").text]
    texts.append(call("verify", folder / "out.csv", "--promise", folder / "out.csv.release.json").text)
    texts.append(call("group", path, *roles, "--steps", 1, "--plot", page, "-o", folder / "groups.toml").text)
    texts.append(call("tabulate", path, "--by", name, "--value", "x", "-o", folder / "table.parquet").text)
    controls = {
        sign
        for text in texts
        for sign in text
        if (ord(sign) < 32 and sign not in "\n\t") or 127 <= ord(sign) < 160 or sign == "\u202e"
    }
    found.hold(PRINTED, not controls, f"name {seed % len(NAMES)}: {sorted(map(ord, controls))}")
    pages = [one.read_text(encoding="utf-8") for one in folder.rglob("*.html")]
    found.hold(
        RUN, not any("<script>alert(1)" in text or "<img src=x" in text for text in pages), f"name {seed % len(NAMES)}"
    )
    return found
