"""The release of a table: what may be published has one mark for every suppressed cell, and says no more of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.dataset import as_frame
from discreet.data.files import excel, sha256
from discreet.errors import InputError, PromiseNotKept
from discreet.release.acro import check_acro, write_acro
from discreet.release.atomic import AtomicFiles, spare
from discreet.release.charts import check_drawing
from discreet.release.evidence import table_record
from discreet.release.expected import check_expected, refuse_other
from discreet.release.reports.files import released_name, report_files, write_pages
from discreet.release.reports.sign_off import begin_review
from discreet.release.reports.table_internal import render_table_reports, write_command
from discreet.release.reports.tables import EXACT, TableSubject
from discreet.release.summary import summarize_table
from discreet.tabular.files.formats import check_table_format, render
from discreet.tabular.files.own import describe_structure
from discreet.tabular.table import PRIMARY, Table
from discreet.text import as_html, as_json, count
from discreet.verification.audit import audit
from discreet.verification.verdict import Audit

MARK = "x"
FORMATS = (".csv", ".parquet", ".arrow", ".xlsx")


@dataclass(frozen=True, eq=False)
class SuppressedTable:
    """A table with its suppressions, verified by the audit; internal until it is written.

    Attributes
    ----------
    table
        The table with its statuses: u for unsafe cells, m for those suppressed to protect them.
    secondary
        The secondary cells.
    cost
        What they cost together.
    audit
        The attacker's verdict on the table.
    bound
        A proven lower bound of the cost, with the gap in percent; None where there is none.
    trace
        When the best cost fell: step, seconds, cost.
    evidence
        The internal account.
    read
        The files that were read, which nothing written may replace.
    unprotected
        Unsafe cells that nothing protects: with any, the release is partial, and its record says that it is not
        verified.
    """

    table: Table
    secondary: NDArray[np.int64]
    cost: float
    audit: Audit
    bound: dict[str, Any] | None
    trace: tuple[Any, ...]
    evidence: dict[str, Any]
    read: tuple[Path, ...] = field(default=())
    unprotected: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def partial(self) -> bool:
        """Whether some unsafe cells are not protected, or not kept from sole contributors."""
        return len(self.unprotected) > 0 or len(self.audit.victims) > 0

    def public(self, mark: str = MARK, *, kind: str | None = None) -> Any:
        """What may be published: the codes and the value of each cell, or the mark in its place.

        Codes stand in the order of their hierarchies, each followed by the codes below it.

        Parameters
        ----------
        mark : str
            What stands for a suppressed value.
        kind : {"polars", "pandas", "arrow"}, optional
            The kind of frame; by default as the frame that the table was made of.
        """
        frame = self._frame(mark, self.table.order, range(len(self.table.dimensions)))
        return as_frame(frame, kind or self.table.frames)

    def _frame(self, mark: str, cells: NDArray[np.int64], axes: Iterable[int]) -> pl.DataFrame:
        table = self.table
        columns: dict[str, Any] = {}
        for axis in axes:
            one = table.dimensions[axis]
            columns[one.name] = pl.Series(list(one.codes), dtype=pl.String).gather(table.codes[cells, axis])
        if not table.dimensions:
            columns["cell"] = cells
        digits = table.decimals
        texts = [
            mark if hidden else (repr(value) if digits is None else f"{value:.{digits}f}")
            for value, hidden in zip(table.value[cells].tolist(), table.suppressed[cells].tolist(), strict=True)
        ]
        columns[table.response or "value"] = texts
        return pl.DataFrame(columns)

    def _sheets(self, path: Path, *, split: bool) -> dict[Path, tuple[NDArray[np.int64], list[int]]]:
        """The files to publish: for each its cells and its dimensions."""
        table = self.table
        sheets = {path: (table.order, list(range(len(table.dimensions))))}
        if not split:
            return sheets
        if len(table.parts) < 2:
            raise InputError(f"{table.source} is not made of linked tables, so there is nothing to split")
        named: list[str] = []
        for part in table.parts:
            axes = sorted(axis for axis, _ in part)
            name = "-".join(table.dimensions[axis].name for axis in axes)
            if any(sign in name for sign in "/\\\0"):
                raise InputError(f"the dimensions {name} cannot be part of the name of a file; rename them")
            # Linked tables of the same dimensions differ by their hierarchies.
            named.append(name)
            again = f"-{named.count(name)}" if named.count(name) > 1 else ""
            sheets[path.with_name(f"{path.stem}.{name}{again}{path.suffix}")] = (table.cells_of(part), axes)
        return sheets

    def write(
        self,
        path: str | Path,
        *,
        internal: str | Path | None = None,
        certificate: str | Path | None = None,
        evidence: str | Path | None = None,
        mark: str = MARK,
        split: bool = False,
        report: bool = False,
        sign_off: str | Path | None = None,
        acro: str | Path | None = None,
        expect: str | Path | None = None,
        force: bool = False,
    ) -> dict[str, Path]:
        """Write the publishable table, its record and its evidence; verified from the bytes, or not at all.

        Parameters
        ----------
        path : path
            The publishable table, .csv, .parquet, .arrow or .xlsx. Beside it appear `path.release.json` (publishable)
            and `path.evidence.json` (internal).
        internal : path, optional
            The table with statuses, reasons and all values: .parquet, .csv, .jj, .tab, or .txt for code-value output.
        certificate : path, optional
            The proof of protection, .json; internal.
        evidence : path, optional
            Another place for the evidence.
        mark : str
            What stands for a suppressed value.
        split : bool
            Write also each of several linked tables to a file of its own, named by its dimensions, as
            `STEM.region-size.csv`; the one record is for all of them.
        report : bool
            Also write the reports: `path.report.html` (publishable) and `path.internal.html` (internal).
        sign_off : path, optional
            A TOML file with what those who decide have said, for the evidence and the internal report.
        acro : path, optional
            Also make this folder for output checkers: the release in the form that ACRO's viewer reads. Internal.
        expect : path, optional
            A release that was made and looked at before, as .csv: this one is refused if it has other bytes as .csv.
        force : bool
            Replace files that exist already.

        Returns
        -------
        dict
            The files, by what they are.
        """
        files = table_files(path, internal=internal, certificate=certificate, evidence=evidence, report=report)
        review = begin_review(sign_off)
        if acro is not None:
            check_acro(acro, path)
        if not mark or _numeric(mark):
            raise InputError("the mark of a suppressed cell must be a text that is no number, such as x")
        others = np.setdiff1d(self.audit.failed, self.unprotected)
        if len(others) or self.audit.insiders or self.audit.sums:
            raise PromiseNotKept("the table is not protected, so it is not written")
        if expect is not None:
            check_expected(expect)
            frame = self._frame(mark, self.table.order, range(len(self.table.dimensions)))
            refuse_other(hashlib.sha256(frame.write_csv().encode()).hexdigest(), Path(expect))
        sheets = self._sheets(files["release"], split=split)
        files |= {f"table {number}": path for number, path in enumerate(sheets) if number}
        contents: dict[Path, bytes] = {}
        if "internal" in files:
            contents |= render(self.table, files["internal"])
        if "certificate" in files:
            if self.audit.certificate is None:
                raise InputError("no certificate was made; ask for it with certificate=True when suppressing")
            contents[files["certificate"]] = self.audit.certificate.text().encode()
        reports = {kind: files[kind] for kind in report_files(files["release"]) if kind in files}
        targets = [*sheets, *contents, files["record"], files["evidence"], *reports.values()]
        for one in self.read:
            spare(targets, {f"{one.name}, a file that was read": one})
        with AtomicFiles(targets, force=force) as atomic:
            for target, content in contents.items():
                atomic.temporary(target).write_bytes(content)
            described = []
            for target, (cells, axes) in sheets.items():
                frame = self._frame(mark, cells, axes)
                _save(frame, atomic.temporary(target), mark, self.table.decimals)
                self._verify(atomic.temporary(target), mark, cells)
                described.append(_describe_file(target, atomic.temporary(target), frame))
            output = described[0] | {"row_map": None} | ({"parts": described[1:]} if split else {})
            output |= describe_structure(self.table)
            account = self.evidence | {"output": output} | review
            atomic.temporary(files["record"]).write_text(as_json(table_record(account)) + "\n", encoding="utf-8")
            atomic.temporary(files["evidence"]).write_text(as_json(account) + "\n", encoding="utf-8")
            if report:
                pages = render_table_reports(self._subject(account, files["release"].name, mark))
                for kind, target in reports.items():
                    atomic.temporary(target).write_text(pages[kind], encoding="utf-8")
        if acro is not None:
            files["acro"] = write_acro(files["release"], account, acro, command=write_command(account))
        return files

    def report(self, path: str | Path, *, internal: bool = False, mark: str = MARK, force: bool = False) -> Path:
        """Write a report of the table: the public one, or the internal one; an HTML file that needs nothing else.

        Parameters
        ----------
        path : path
            The file.
        internal : bool
            Whether to write the report for those who decide, which must not be published.
        mark : str
            What stands for a suppressed value.
        force : bool
            Replace a file that exists already.
        """
        check_drawing("reports")
        kind = "internal report" if internal else "report"
        subject = self._subject(self.evidence, released_name(path), mark)
        return write_pages(lambda: render_table_reports(subject), {kind: Path(path)}, force=force)[kind]

    def _subject(self, account: Mapping[str, Any], name: str, mark: str) -> TableSubject:
        """The table as its reports look at it; what each secondary cell is there for takes a certificate."""
        found, exact = self.audit, len(self.audit.cells) <= EXACT
        if found.certificate is None or (exact and not found.exact):
            again = audit(self.table, certificate=True, intervals=exact, strict=found.strict)
            names = ("lower", "upper", "exact", "certificate")
            found = replace(found, **{name: getattr(again, name) for name in names})
        return TableSubject(name, account, self.table, mark, found)

    def _verify(self, path: Path, mark: str, cells: NDArray[np.int64]) -> None:
        """Read back what would be published: every suppressed cell is marked, and every other as it is."""
        values = _read_values(path, self.table.response or "value", mark)
        hidden = self.table.suppressed[cells]
        marked = np.array([value == mark for value in values], dtype=np.bool_)
        if len(values) != len(hidden) or (marked != hidden).any():
            raise PromiseNotKept("the file as written does not have the marks that were meant; it was refused")
        unit = 0.5 * 10.0 ** -(self.table.decimals if self.table.decimals is not None else 9)
        shown = np.array([float(value) for value, gone in zip(values, marked, strict=True) if not gone])
        true = self.table.value[cells][~hidden]
        if (np.abs(shown - true) > unit + 1e-12 * np.abs(true)).any():
            raise PromiseNotKept("the file as written does not have the values that were meant; it was refused")

    def summary(self, files: Mapping[str, Path] | None = None) -> str:
        """The release in words."""
        return summarize_table(self.table, self.evidence, self.audit, files)

    def _repr_html_(self) -> str:
        return as_html(self.summary())

    def __repr__(self) -> str:
        unsafe = int((self.table.status == PRIMARY).sum())
        return f"SuppressedTable of {len(self.table):,} cells, {unsafe:,} unsafe, {len(self.secondary):,} secondary"


def note_partial(
    table: Table, unprotected: NDArray[np.int64], victims: NDArray[np.int64] | tuple[int, ...] = ()
) -> tuple[str, ...]:
    """What the steward is told of a partial release, and nobody else: which unsafe cells are not protected."""
    found = []
    for cells, what in (
        (unprotected, "nothing protects {}"),
        (victims, "the others in {} cannot be kept from a sole contributor"),
    ):
        if len(cells):
            names = "; ".join(table.name(int(cell)) for cell in cells)
            found.append(f"partial: {what.format(count(len(cells), 'unsafe cell'))}: {names}")
    return tuple(found)


def table_files(
    path: str | Path,
    *,
    internal: str | Path | None = None,
    certificate: str | Path | None = None,
    evidence: str | Path | None = None,
    report: bool = False,
) -> dict[str, Path]:
    """The files of a release of a table, by what they are; names that cannot be are refused."""
    if report:
        check_drawing("reports")
    path = Path(path)
    if path.name.lower().endswith((".jj", ".jj.gz", ".tab")):
        raise InputError(
            f"{path.name}: such a file holds every value, so it is never published; write it with --internal, and "
            "publish .csv, .parquet, .arrow or .xlsx"
        )
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path.name}: a publishable table is written as {', '.join(FORMATS)}; name the file so")
    files = {
        "release": path,
        "record": path.with_name(path.name + ".release.json"),
        "evidence": Path(evidence) if evidence else path.with_name(path.name + ".evidence.json"),
    }
    if internal is not None:
        check_table_format(internal, writing=True)
        files["internal"] = Path(internal)
    if certificate is not None:
        if Path(certificate).suffix.lower() != ".json":
            raise InputError(f"{Path(certificate).name}: a certificate is written as .json; name the file so")
        files["certificate"] = Path(certificate)
    return files | (report_files(path) if report else {})


def _numeric(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _describe_file(target: Path, written: Path, frame: pl.DataFrame) -> dict[str, Any]:
    return {
        "file": target.name,
        "format": "excel" if target.suffix.lower() == ".xlsx" else target.suffix.lstrip(".").lower(),
        "sha256": sha256(written),
        "records": frame.height,
        "columns": frame.columns,
        "order": "kept",
        "dialect": None,
    }


def _save(frame: pl.DataFrame, path: Path, mark: str, decimals: int | None) -> None:
    """Write the mark in place of values, or to a Parquet or Arrow file nulls and a column that says which."""
    if path.suffix.lower() == ".csv":
        path.write_bytes(frame.write_csv().encode())
        return
    value = frame.columns[-1]
    hidden = frame[value] == mark
    typed = frame.with_columns(pl.col(value).replace(mark, None).cast(pl.Float64))
    if path.suffix.lower() == ".xlsx":
        excel.write(typed.cast({value: pl.Int64}) if decimals == 0 else typed, path, blank=mark)
        return
    typed = typed.with_columns(hidden.alias("suppressed"))
    if path.suffix.lower() == ".arrow":
        typed.write_ipc(path)
    else:
        typed.write_parquet(path, statistics=False)


def _read_values(path: Path, column: str, mark: str) -> list[str]:
    if path.suffix.lower() == ".csv":
        return pl.read_csv(path, infer_schema=False)[column].to_list()
    if path.suffix.lower() == ".xlsx":
        return excel.read(path, header=True).frame[column].cast(pl.String).to_list()
    frame = pl.read_ipc(path) if path.suffix.lower() == ".arrow" else pl.read_parquet(path)
    if (frame[column].is_null() != frame["suppressed"]).any():
        return []
    return [mark if value is None else repr(value) for value in frame[column].to_list()]
