"""A release: what `protect` hands out, and how it is written.

Row order is information: rows are sorted on the way out, and a row map keeps the link.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.databases.address import is_address, parse
from discreet.data.databases.rows import sort_order
from discreet.data.dataset import Packed
from discreet.data.files import check_writable_format, dialect_of, sha256
from discreet.data.files.csv import assign_types
from discreet.data.files.source import Source
from discreet.data.memory import give_back
from discreet.data.roles import RECODINGS, Declarations
from discreet.errors import InputError, PromiseNotKept
from discreet.release.acro import check_acro, write_acro
from discreet.release.atomic import spare
from discreet.release.charts import check_drawing
from discreet.release.evidence import record, write_json
from discreet.release.expected import check_expected, refuse_other
from discreet.release.notebooks import draw_sizes, show
from discreet.release.reports.files import released_name, render_reports, report_files, write_reports
from discreet.release.reports.look import look
from discreet.release.reports.repeat import write_command
from discreet.release.reports.sign_off import begin_review
from discreet.release.reports.subject import Subject
from discreet.release.summary import summarize_release
from discreet.release.targets import FileTarget, TableTarget, Target, write_file
from discreet.text import silent
from discreet.verification.promise import Promise, Verification, check

ORDERS = ("sorted", "kept")


def row_map_frame(rows: NDArray[np.int64] | None, count: int) -> pl.DataFrame:
    """For each row of the release, counted from 1, the record of the input it was made from."""
    source = np.arange(count) if rows is None else rows
    return pl.DataFrame({"release_row": np.arange(1, count + 1), "input_record": source + 1})


@dataclass(frozen=True)
class Written:
    """The files of a release, by what they are, and the evidence that stands in them."""

    files: dict[str, Path]
    evidence: Mapping[str, Any]
    verification: Verification


@dataclass(frozen=True, eq=False)
class Release:
    """Protected data with its promise, its measures and its evidence.

    Parameters
    ----------
    data : frame
        The released records in the order they came in, as the kind of frame that came in.
    labels : array of int
        The group of each record; of several groups of quasi-identifiers a matrix, with a column for each of
        `promise.groups`. Internal.
    measures : dict
        `il` and what else was measured; `groups` and their sizes are of all groups of quasi-identifiers together.
    evidence : dict
        The internal account of how the release came about.
    promise : Promise
        What the release keeps to.
    verification : Verification
        The check of the promise on `data`.
    """

    data: Any
    labels: NDArray[np.int64]
    measures: dict[str, Any]
    evidence: dict[str, Any]
    promise: Promise
    verification: Verification
    _frame: pl.DataFrame
    _source: Source | None = None
    _order: str = "sorted"
    _persons: pl.Series | None = None
    _original: tuple[Packed, Declarations] | None = None

    def summary(self, written: Written | None = None) -> str:
        """The release in words: roles, groups, loss, promise, verdict, assumptions and files."""
        if written is None:
            return summarize_release(self.evidence, self.promise, self.verification)
        return summarize_release(written.evidence, self.promise, written.verification, written.files)

    def _repr_html_(self) -> str:
        labels = self.labels if self.labels.ndim == 1 else self.labels[:, 0]
        return show(self.summary(), lambda: draw_sizes(np.bincount(labels)[labels]))

    def __repr__(self) -> str:
        return f"Release of {self._frame.height:,} records, k = {self.promise.k}, IL {self.measures['il']:.2f} %"

    def write(
        self,
        path: str | Path,
        *,
        order: str | None = None,
        row_map: str | Path | None = None,
        evidence: str | Path | None = None,
        report: bool = False,
        sign_off: str | Path | None = None,
        acro: str | Path | None = None,
        files: str | Path | None = None,
        connection: Any = None,
        expect: str | Path | None = None,
        force: bool = False,
    ) -> Written:
        """Write the release, its publishable record and its internal evidence; verified from the bytes, or not at all.

        Parameters
        ----------
        path : path
            The publishable file; its suffix says the format. Beside it appear `path.release.json` (publishable) and
            `path.evidence.json` (internal). Or a table of a database, as postgresql:SCHEMA.TABLE,
            postgresql:SERVICE/SCHEMA.TABLE or sqlite:FILE#TABLE: in one transaction, read back and counted in it.
        order : {"sorted", "kept"}
            Sorted by all released columns, so that the order of rows tells nothing (the default, unless the
            configuration of the protection says otherwise); or as they came in.
        row_map : path, optional
            An internal file that links each row of the release to its row in the input.
        evidence : path, optional
            Another place for the evidence.
        report : bool
            Also write the reports: `path.report.html` (publishable) and `path.internal.html` (internal).
        sign_off : path, optional
            A TOML file with what those who decide have said, for the evidence and the internal report.
        acro : path, optional
            Also make this folder for output checkers: the release in the form that ACRO's viewer reads. Internal.
        files : path, optional
            With a table of a database: the folder of record and evidence; the current one by default.
        connection : ADBC connection, optional
            With a table of a database: a connection to go by; the release has a transaction of its own.
        expect : path, optional
            A release that was made and looked at before, as .csv: this one is refused if it has other bytes as .csv.
        force : bool
            Replace files that exist already, or the table.
        """
        order = self._order if order is None else order
        if order not in ORDERS:
            raise InputError(f"order must be one of {', '.join(ORDERS)}, not {order!r}")
        made = files_of(path, row_map=row_map, evidence=evidence, report=report, folder=files)
        review = begin_review(sign_off)
        if acro is not None:
            check_acro(acro, path)
        if expect is not None:
            check_expected(expect)
        if self._source is not None:
            spare(made.values(), {"the input itself": self._source.path})
        target: Target
        if is_address(path):
            check_order(order)
            target = TableTarget(parse(path), self.promise, self._source, connection)
        else:
            target = FileTarget(made["release"], self._source)
        format_name = target.format
        map_format = check_writable_format(made["row map"]) if row_map else ""
        columns = self.evidence["parameters"]["columns"]
        coarsened = {name: how["coarsen"] for name, how in columns.items() if "coarsen" in how}
        recoded = {name: words for name, how in columns.items() if (words := _describe_recoding(how))}
        frame = self._frame
        if self._source is not None and self._source.dialect is not None and format_name not in ("csv", "tsv"):
            frame = assign_types(frame, self._source.dialect.decimal)
        if self._source is not None and format_name in ("spss", "zsav"):
            # Confidential columns keep the codes that say why a value is missing; only an SPSS file can declare them.
            frame = frame.with_columns(
                column
                for name, column in self._source.coded.items()
                if columns[name]["role"] == "confidential" and name not in recoded
            )
        give_back(frame.height)
        frame = target.adapt(frame)
        rows = sort_order(frame) if order == "sorted" else None
        with ThreadPoolExecutor(1) as pool, target.open(made, force=force) as atomic:
            # The reports' look at the data is mostly work that threads do side by side with the writing.
            looking = pool.submit(look, self._subject(made["release"].name, self.evidence), silent) if report else None
            verdict = self._write_verified(frame, rows, target)
            if expect is not None:
                written = target.describe()["sha256"] if format_name == "csv" else self._digest_as_csv(order)
                refuse_other(written, Path(expect))
            account = (
                self.evidence
                | {
                    "verification": verdict.as_dict(),
                    "output": {
                        "format": format_name,
                        "records": frame.height,
                        "columns": frame.columns,
                        "order": order,
                        "row_map": made["row map"].name if row_map else None,
                    }
                    | target.describe()
                    | ({"coarsened": coarsened} if coarsened else {})
                    | ({"recoded": recoded} if recoded else {}),
                }
                | review
            )
            write_json(record(account), atomic.temporary(made["record"]))
            write_json(account, atomic.temporary(made["evidence"]))
            if row_map:
                there = made["row map"]
                write_file(row_map_frame(rows, frame.height), atomic.temporary(there), there, map_format, None)
            if looking is not None:
                subject = self._subject(account["output"]["file"], account)
                for kind, page in render_reports(subject, silent, looked=looking.result()).items():
                    atomic.temporary(made[kind]).write_text(page, encoding="utf-8")
        if acro is not None:
            command = "" if self._original is None else write_command(self._subject(made["release"].name, account))
            made["acro"] = write_acro(made["release"], account, acro, command=command)
        return Written(made, account, verdict)

    def report(self, path: str | Path, *, internal: bool = False, force: bool = False) -> Path:
        """Write a report of the release: the public one, or the internal one; an HTML file that needs nothing else.

        Parameters
        ----------
        path : path
            The file.
        internal : bool
            Whether to write the report for those who decide, which must not be published.
        force : bool
            Replace a file that exists already.
        """
        check_drawing("reports")
        kind = "internal report" if internal else "report"
        return write_reports(
            self._subject(released_name(path), self.evidence), {kind: Path(path)}, force=force, tell=silent
        )[kind]

    def _digest_as_csv(self, order: str) -> str:
        """The SHA-256 of the release as it would be written to a .csv file."""
        rows = sort_order(self._frame) if order == "sorted" else None
        with TemporaryDirectory(prefix="discreet-") as folder:
            path = Path(folder) / "release.csv"
            write_file(self._frame if rows is None else self._frame[rows], path, path, "csv", self._source)
            return sha256(path)

    def _subject(self, name: str, account: Mapping[str, Any]) -> Subject:
        """The release as its reports look at it."""
        if self._original is None:
            raise InputError("this release does not know its original; use the report verb on the files")
        original, declared = self._original[0].unpack(), self._original[1]
        released = replace(original, frame=self._frame)
        return Subject(name, account, released, declared, self.promise, original, np.arange(self._frame.height))

    def _write_verified(self, frame: pl.DataFrame, rows: NDArray[np.int64] | None, target: Target) -> Verification:
        """Write the records in their new order, read them back and check the promise on what was read."""
        # The sorted records are not kept: large ones and what is read back would fill the memory together.
        target.put(frame if rows is None else frame[rows])
        written = target.take(frame.columns)
        target.compare(frame, rows, written)
        decimal = dialect_of(target.format, self._source).decimal
        persons = self._persons if rows is None or self._persons is None else self._persons[rows]
        verdict = check(written, self.promise, persons=persons, decimal=decimal)
        if not verdict:
            raise PromiseNotKept(f"the release is refused, nothing was written. {verdict.words()}")
        target.settle()
        meant = self.evidence["input"].get("distributions", {})
        other = [name for name, digest in verdict.distributions().items() if digest != meant.get(name, digest)]
        notes = tuple(f"values of '{name}' are not written as they came in" for name in other)
        return replace(verdict, notes=(*verdict.notes, *notes))


def files_of(
    path: str | Path,
    *,
    row_map: str | Path | None = None,
    evidence: str | Path | None = None,
    report: bool = False,
    folder: str | Path | None = None,
) -> dict[str, Path]:
    """The files that a release consists of, by what they are; refused if there is no library to draw a report with.

    Those about a table of a database are named after it and lie in the folder, or in the current one.
    """
    if report:
        check_drawing("reports")
    for name, value in (("path", path), ("row_map", row_map), ("evidence", evidence)):
        if value is not None and (not isinstance(value, str | Path) or not Path(value).name):
            raise InputError(f"{name} must be the path of a file")
    path = beside = Path(path)
    if is_address(path):
        beside = Path(folder or ".") / parse(path).stem
    elif folder is not None:
        raise InputError("files is the folder for what is written about a table of a database; leave it out")
    return (
        {
            "release": path,
            "record": beside.with_name(beside.name + ".release.json"),
            "evidence": Path(evidence) if evidence else beside.with_name(beside.name + ".evidence.json"),
        }
        | ({"row map": Path(row_map)} if row_map else {})
        | (report_files(beside) if report else {})
    )


def check_order(order: str | None) -> None:
    """Refuse to keep the order of records in a table of a database, which has none."""
    if order == "kept":
        raise InputError("a table of a database has no order that could be kept; leave order out, or write a file")


def _describe_recoding(how: Mapping[str, Any]) -> str:
    """How the numbers of a column were recoded, as the record says it; nothing if they were not."""
    said = [(key, how[key]) for key in RECODINGS if key in how]
    return ", ".join(f"{key} {value if isinstance(value, str) else f'{value:.12g}'}" for key, value in said)
