"""What campaigns have tried so far: a file of counts by ranges of seeds, and the page of the manual made from it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaign.found import Found

ROOT = Path(__file__).resolve().parents[2]
FILE, PAGE = ROOT / "docs" / "campaign.json", ROOT / "docs" / "campaign.md"
SCHEMA = "discreet/campaign/1"

INTRODUCTION = """\
# A campaign against the promises

Tests show that code does what its authors thought of. This campaign draws what nobody thought of: random microdata and
tables, broken files of every format, forged checkpoints and certificates, hostile names, folders of data with modules,
caches, jobs and links that wait for somebody to work there, and faults from outside such as a kill at any moment. What
comes out is read by other libraries (csv, pandas, pyarrow, openpyxl, pyreadstat) and attacked with scipy's linear
programs and exact elimination, by outsiders and by sole contributors who know their own part; none of it shares code
with discreet.

    make campaign

goes on from the seeds that were tried last, for ten minutes, and adds its counts to this page;
`python -m campaign --help` (in `tools`) says how to choose trials, seeds and minutes. A seed says all about a trial:
what breaks can be seen again with `--trials NAME --seeds N:N+1`. A short campaign is part of `make test`.
"""

FOUND = """\
## What it has found

Each was mended with a test, and its seeds were tried again before they were counted.

- Seed 878 of tables: a suppression hung, because an interior point method of the solver went round in circles.
- Seed 1671 of tables: a level that lay between two units was missed by the noise of a comparison, and the refusal ended
  in an error of its own.
- Checkpoints: that of a search that was finished as it began was called damaged; forged ones of linear-program
  patterns, orders, groupings and searches with categories reached the search.
"""

MEASURED = """\
## What was measured, and is not promised

What those learn who [know the method](scope.md#who-knows-the-method), of tables of counts so small that all whole
tables that fit can be listed.
"""


@dataclass(frozen=True)
class Entry:
    """One range of seeds of one trial."""

    trial: str
    first: int
    last: int  # not included
    found: Found


class Ledger:
    """All ranges that were tried; overlapping ones are refused, so that nothing is counted twice."""

    def __init__(self, path: Path = FILE) -> None:
        self._path = path
        self._entries: list[dict[str, Any]] = []
        if path.exists():
            content = json.loads(path.read_text(encoding="utf-8"))
            if content.get("schema") != SCHEMA:
                raise SystemExit(f"{path} is no ledger of campaigns ({SCHEMA})")
            self._entries = content["entries"]

    def next_seed(self, trial: str) -> int:
        """The first seed after all that were tried."""
        return max((int(one["seeds"][1]) for one in self._entries if one["trial"] == trial), default=0)

    def add(self, entry: Entry) -> None:
        """Add a range, and put it together with the one before where they meet."""
        mine = [one for one in self._entries if one["trial"] == entry.trial]
        if any(entry.first < one["seeds"][1] and one["seeds"][0] < entry.last for one in mine):
            raise SystemExit(f"seeds {entry.first}:{entry.last} of {entry.trial} were tried before, at least in part")
        broken = Counter(promise for promise, _ in entry.found.broken)
        before = next((one for one in mine if one["seeds"][1] == entry.first), None)
        if before is None:
            before = {"trial": entry.trial, "seeds": [entry.first, entry.first], "tried": {}, "broken": {}}
            self._entries.append(before)
        before["seeds"][1] = entry.last
        before["tried"] = dict(sorted((Counter(before["tried"]) + entry.found.tried).items()))
        before["broken"] = dict(sorted((Counter(before["broken"]) + broken).items()))
        if entry.found.measured:
            measured = Counter(before.get("measured", {}))
            measured.update(entry.found.measured)
            before["measured"] = dict(sorted(measured.items()))

    def write(self) -> None:
        """Write the counts, and the page."""
        content = {"schema": SCHEMA, "entries": sorted(self._entries, key=lambda one: (one["trial"], one["seeds"]))}
        self._path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        self._path.with_suffix(".md").write_text(self.page(), encoding="utf-8")

    def page(self) -> str:
        """The page of the manual."""
        tried: dict[str, Counter[str]] = {}
        for one in self._entries:
            for promise, count in one["tried"].items():
                counts = tried.setdefault(promise, Counter())
                counts["tried"] += count
                counts["broken"] += one["broken"].get(promise, 0)
        lines = [INTRODUCTION, "## What was tried", "", "| promise | tried | broken |", "|---|---:|---:|"]
        lines += [f"| {name} | {counts['tried']:,} | {counts['broken']:,} |" for name, counts in sorted(tried.items())]
        measured: Counter[str] = Counter()
        for one in self._entries:
            measured.update(one.get("measured", {}))
        if measured:
            lines += ["", MEASURED, "| measured | count |", "|---|---:|"]
            lines += [f"| {name} | {count:,} |" for name, count in sorted(measured.items())]
        lines += ["", FOUND, "## Seeds", "", "| trial | seeds | the same again, in `tools` |", "|---|---|---|"]
        for one in sorted(self._entries, key=lambda one: (one["trial"], one["seeds"])):
            trial, (first, last) = one["trial"], one["seeds"]
            again = f"`python -m campaign --trials {trial} --seeds {first}:{last} --ledger again.json`"
            lines.append(f"| {trial} | {first} to {last - 1} | {again} |")
        return "\n".join(lines) + "\n"
