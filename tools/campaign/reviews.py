"""Releases, records and evidences that are changed before they are reviewed: only what is as promised is approved."""

from __future__ import annotations

import contextlib
import csv
import hashlib
import io
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

import discreet
from campaign.commands import call
from campaign.found import Found
from discreet.errors import InputError
from discreet.web.review import compare, open_account

APPROVED = "a release is approved only if its bytes keep the promise, and are those of record and evidence"
NAMED = "a decision names the SHA-256 of the bytes that it was made on"
SHOWN = "a decision is shown as one on a release only if it names the SHA-256 of the bytes that are there"
UNTOUCHED = "a release that nobody has changed is approved"
ORDERLY = "whatever is reviewed, the command ends with words of ours, and the page has a row for it"
OUTSIDE = "no file outside the folder is changed by a review"

K = 3
# What reading something that another change has broken may end in.
UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError, sqlite3.Error)
KINDS = ("csv", "parquet", "sqlite", "table", "csv", "parquet", "folder", "sqlite", "table", "csv")


def run(seed: int, folder: Path) -> Found:
    """Make a release, change some of it, and have it approved."""
    rng = np.random.default_rng([seed, 7])
    found = Found()
    work, outside = folder / "work", folder / "outside"
    work.mkdir()
    outside.mkdir()
    kind = KINDS[seed % len(KINDS)]
    case = Case(kind, work, rng)
    words = ["--files", work] if kind == "sqlite" else []
    if rng.random() < 0.5:
        case.approve(words)
    changes = [] if rng.random() < 0.1 else list(rng.choice(len(CHANGES), int(rng.integers(1, 4)), replace=False))
    for place in changes:
        with contextlib.suppress(*UNREADABLE):
            CHANGES[place](case, outside)  # what another change has broken cannot be changed again
    names = ", ".join(CHANGES[place].__name__ for place in changes) or "nothing"
    what = f"{kind}, changed: {names}"
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    found.hold(SHOWN, not case.shows_approved() or case.names_these_bytes(), what)
    # The truth is looked for before the decision is written.
    is_true = case.is_true()
    done = case.approve(words)
    found.hold(ORDERLY, done.is_orderly, f"{what}: status {done.status}")
    found.hold(APPROVED, done.status != 0 or is_true, what)
    if done.status == 0:
        found.hold(NAMED, case.names_these_bytes(), what)
    if not changes:
        found.hold(UNTOUCHED, done.status == 0, what)
    found.hold(OUTSIDE, all(path.read_bytes() == content for path, content in before.items()), what)
    return found


class Case:
    """A release with its record and evidence, and what is true of it."""

    def __init__(self, kind: str, work: Path, rng: np.random.Generator) -> None:
        self.kind, self.work, self.rng = kind, work, rng
        n = int(rng.integers(12, 60))
        frame = pl.DataFrame({"a": rng.integers(0, 40, n), "b": rng.integers(0, 9, n), "s": rng.integers(0, 5, n)})
        how: dict[str, Any] = {"k": K, "quasi": ["a", "b"], "confidential": ["s"], "method": "mdav"}
        self.path = work / {"csv": "out.csv", "parquet": "out.parquet", "table": "out.csv"}.get(kind, "out")
        self.named: object = self.path
        if kind == "folder":
            data = work.parent / "data.parquet"
            frame.write_parquet(data)
            self._write(lambda: discreet.protect_large(data, self.path, **how))
        elif kind == "sqlite":
            self.path, self.named = work / "base.db.out", f"sqlite:{work / 'base.db'}#out"
            with contextlib.closing(sqlite3.connect(work / "base.db")) as database, database:
                database.execute("CREATE TABLE other (a)")
            discreet.protect(frame, **how).write(self.named, files=work)
        elif kind == "table":
            cells = discreet.tabulate(frame.with_columns(pl.col("a") % 4, pl.col("b") % 3), by=["a", "b"], value="s")
            discreet.suppress(discreet.primary(cells, threshold=3), steps=1).write(self.path)
        else:
            discreet.protect(frame, **how).write(self.path)
        self.evidence = self.path.with_name(f"{self.path.name}.evidence.json")
        beside = self.path.with_name(f"{self.path.name}.release.json")
        self.record = self.path / "release.json" if kind == "folder" else beside
        self.rows = self._rows() if kind == "sqlite" else Counter()

    @staticmethod
    def _write(make: Callable[[], object]) -> None:
        with contextlib.redirect_stderr(io.StringIO()):
            make()

    def approve(self, words: list[object]) -> Any:
        """Ask for the release to be approved."""
        decision = ["--decision", "approved", "--reviewer", "R. Viewer", "--json"]
        return call("review", self.named, *decision, *words)

    def data(self) -> Path:
        """A file that holds records: the release, or one of its parts."""
        if self.kind == "folder":
            parts = sorted(path for path in self.path.iterdir() if path.name != "release.json")
            return parts[int(self.rng.integers(len(parts)))]
        return self.work / "base.db" if self.kind == "sqlite" else self.path

    def change(self, path: Path, how: Callable[[Any], object]) -> None:
        """Change an account."""
        content = json.loads(path.read_text(encoding="utf-8"))
        how(content)
        path.write_text(json.dumps(content), encoding="utf-8")

    def sha256(self) -> str:
        """SHA-256 of the bytes that are there, as the manual defines it; of rows nothing."""
        if self.kind == "sqlite":
            return ""
        if self.kind != "folder":
            return hashlib.sha256(self.path.read_bytes()).hexdigest()
        listed = [part["file"] for part in json.loads(self.record.read_text("utf-8"))["output"]["parts"]]
        lines = [f"{hashlib.sha256((self.path / name).read_bytes()).hexdigest()}  {name}\n" for name in listed]
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def is_true(self) -> bool:
        """Whether the release may be approved, found out by other libraries than ours."""
        try:
            record, account = (json.loads(path.read_text("utf-8")) for path in (self.record, self.evidence))
            looked = [self.path, self.record, self.evidence, *([self.data()] if self.kind == "folder" else [])]
            if any(path.is_symlink() and path.resolve().parent != path.parent for path in looked):
                return False
            if self.kind == "sqlite":
                return self._rows() == self.rows and self._smallest(list(self.rows.elements())) >= int(
                    record["promise"]["k"]
                )
            said = [record["output"]["sha256"], account["output"]["sha256"], self.sha256()]
            if self.kind == "folder":
                listed = {part["file"] for part in record["output"]["parts"]}
                if listed | {"release.json"} != {path.name for path in self.path.iterdir()}:
                    return False
            if len(set(said)) > 1 or record["promise"] != account["promise"]:
                return False
            if self.kind == "table":
                return bool(record["verified"]) and self._adds_up()
            return self._smallest(self._records()) >= int(record["promise"]["k"])
        except UNREADABLE:
            return False

    def names_these_bytes(self) -> bool:
        """Whether the decision in the evidence is of the bytes that are there."""
        try:
            review = json.loads(self.evidence.read_text("utf-8"))["review"]
            return self._rows() == self.rows if self.kind == "sqlite" else bool(review["sha256"] == self.sha256())
        except UNREADABLE:
            return False

    def shows_approved(self) -> bool:
        """Whether the page shows an approval that holds; a fault in it comes out."""
        try:
            account = open_account(self.evidence)
        except InputError:
            return False
        approved = account.get("review", {}).get("decision") == "approved"
        return approved and compare(self.evidence, account) == "holds"

    def _rows(self) -> Counter[Any]:
        with contextlib.closing(sqlite3.connect(self.work / "base.db")) as database:
            return Counter(database.execute("SELECT a, b, s FROM out").fetchall())

    def _records(self) -> list[Any]:
        if self.kind == "csv":
            with self.path.open(newline="", encoding="utf-8") as file:
                return [(row["a"], row["b"]) for row in csv.DictReader(file)]
        paths = [self.path] if self.kind == "parquet" else sorted(self.path.glob("*.parquet"))
        return [(row["a"], row["b"]) for path in paths for row in pq.read_table(path).to_pylist()]

    @staticmethod
    def _smallest(rows: list[Any]) -> int:
        return min(Counter(row[:2] for row in rows).values(), default=0)

    def _adds_up(self) -> bool:
        """Whether published cells of one line of a table add up to its total, where all are published."""
        with self.path.open(newline="", encoding="utf-8") as file:
            cells = {(row[0], row[1]): row[2] for row in list(csv.reader(file))[1:]}
        for axis in (0, 1):
            for code in {cell[axis] for cell in cells}:
                line = {cell[1 - axis]: value for cell, value in cells.items() if cell[axis] == code}
                total = line.pop("Total", "x")
                if total != "x" and "x" not in line.values() and sum(map(float, line.values())) != float(total):
                    return False
        return True


def changed_value(case: Case, _: Path) -> None:
    """One record gets another value."""
    if case.kind == "sqlite":
        with contextlib.closing(sqlite3.connect(case.data())) as database, database:
            database.execute("UPDATE out SET a = a + 1000 WHERE rowid = 1")
        return
    _rewrite(case, lambda rows: [[str(int(float(rows[0][0])) + 1000), *rows[0][1:]], *rows[1:]])


def lost_record(case: Case, _: Path) -> None:
    """A record is lost."""
    if case.kind == "sqlite":
        with contextlib.closing(sqlite3.connect(case.data())) as database, database:
            database.execute("DELETE FROM out WHERE rowid = 1")
        return
    _rewrite(case, lambda rows: rows[1:])


def doubled_record(case: Case, _: Path) -> None:
    """A record is there twice, which k-anonymity does not mind."""
    if case.kind == "sqlite":
        with contextlib.closing(sqlite3.connect(case.data())) as database, database:
            database.execute("INSERT INTO out SELECT * FROM out WHERE rowid = 1")
        return
    _rewrite(case, lambda rows: [*rows, rows[0]])


def _rewrite(case: Case, how: Callable[[list[Any]], list[Any]]) -> None:
    path = case.data()
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        rows = how([list(row) for row in frame.rows()])
        text = pl.DataFrame(rows, schema=frame.columns, orient="row", strict=False)
        text.cast(dict(frame.schema), strict=False).write_parquet(path)  # type: ignore[arg-type]
        return
    lines = list(csv.reader(io.StringIO(path.read_text("utf-8"))))
    path.write_text("".join(",".join(row) + "\n" for row in [lines[0], *how(lines[1:])]), encoding="utf-8")


def flipped_byte(case: Case, _: Path) -> None:
    """A byte of the release is another one."""
    raw = bytearray(case.data().read_bytes())
    raw[int(case.rng.integers(len(raw)))] ^= int(case.rng.integers(1, 256))
    case.data().write_bytes(raw)


def lost_release(case: Case, _: Path) -> None:
    """The release, or a part of it, is not there."""
    case.data().unlink()


def stray_part(case: Case, _: Path) -> None:
    """A file that does not belong to it lies among the parts."""
    if case.kind == "folder":
        (case.path / "more.parquet").write_bytes(case.data().read_bytes())


def forged_digests(case: Case, _: Path) -> None:
    """Record and evidence, and perhaps the decision, are made to fit the bytes that are there."""
    now = case.sha256()
    both = [case.record, case.evidence]
    for path in both if case.rng.random() < 0.7 else both[:1]:
        case.change(path, lambda content: content["output"].update(sha256=now))
        if case.kind == "folder":
            _fit_parts(case, path)
    if case.rng.random() < 0.5:
        case.change(case.evidence, lambda content: content["review"].update(decision="approved", sha256=now))


def _fit_parts(case: Case, path: Path) -> None:
    def fit(content: Any) -> None:
        for part in content["output"]["parts"]:
            part["sha256"] = hashlib.sha256((case.path / part["file"]).read_bytes()).hexdigest()

    case.change(path, fit)


def larger_promise(case: Case, _: Path) -> None:
    """The record, and perhaps the evidence, promises more than was kept."""
    both = [case.record, case.evidence]
    for path in both if case.rng.random() < 0.5 else both[:1]:
        case.change(path, lambda content: content["promise"].update(k=K + 50, words="much more"))


def other_promise(case: Case, _: Path) -> None:
    """The promise of the record is of another shape."""
    odd: list[Any] = [None, [], {}, "k", {"k": -1}, {"kind": "cell-suppression"}, {"k": K, "groups": [["none"]]}, 1e308]
    case.change(case.record, lambda content: content.update(promise=odd[int(case.rng.integers(len(odd)))]))


def forged_decision(case: Case, _: Path) -> None:
    """A decision that nobody made."""
    said = {"decision": "approved", "reviewer": "Nobody"} | ({"sha256": "0" * 64} if case.rng.random() < 0.5 else {})
    case.change(case.evidence, lambda content: content.update(review=said))


def odd_evidence(case: Case, _: Path) -> None:
    """A part of the evidence is of another type."""
    odd: list[Any] = [
        None,
        [],
        {},
        "",
        7,
        [[]],
        {"file": "../../etc/passwd"},
        {"parts": [{"file": "../x"}]},
        {"decision": []},
    ]
    keys = ("review", "output", "promise", "verification", "input", "schema", "parameters")
    key, value = keys[int(case.rng.integers(len(keys)))], odd[int(case.rng.integers(len(odd)))]
    case.change(case.evidence, lambda content: content.update({key: value}))


def broken_text(case: Case, _: Path) -> None:
    """The evidence or the record is no JSON, or one that is too deep."""
    path = case.evidence if case.rng.random() < 0.6 else case.record
    texts = ("", "{", "[]", "[" * 100_000, '{"output": NaN}', "\x00\xff", '{"a": 1' + "0" * 5_000 + "}")
    path.write_text(texts[int(case.rng.integers(len(texts)))], encoding="utf-8")


def link_out(case: Case, outside: Path) -> None:
    """A file is a link out of the folder, to what would pass."""
    choices = [case.evidence, case.record, case.data(), *([case.path] if case.kind == "folder" else [])]
    path = choices[int(case.rng.integers(len(choices)))]
    there = outside / path.name
    shutil.move(path, there)
    path.symlink_to(there)


def other_release(case: Case, _: Path) -> None:
    """The release of other data, with a promise that is kept, takes its place."""
    if case.kind in ("csv", "parquet"):
        frame = pl.DataFrame({"a": [1] * 9, "b": [2] * 9, "s": [5] * 9})
        frame.write_csv(case.path) if case.kind == "csv" else frame.write_parquet(case.path)


CHANGES: tuple[Callable[[Case, Path], None], ...] = (
    changed_value, lost_record, doubled_record, flipped_byte, lost_release, stray_part, forged_digests, larger_promise,
    other_promise, forged_decision, odd_evidence, broken_text, link_out, other_release,
)  # fmt: skip
