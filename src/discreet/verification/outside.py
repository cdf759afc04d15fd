"""The check of a published table from outside: what can be told of it by whoever has the file and its record alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.attack.system import unpick
from discreet.data.checks import itemize
from discreet.data.files import sha256
from discreet.errors import InputError
from discreet.tabular.aggregates import read_aggregates
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.own import read_structure
from discreet.tabular.relations import CellsError
from discreet.tabular.table import SAFE, SECONDARY, Table
from discreet.text import count
from discreet.verification.promise import GroupCheck
from discreet.verification.publication import CELL, SUPPRESSED, read_public_frame

KIND = "cell-suppression"
UNSEEN = (
    "what cannot be checked from outside: which cells are unsafe, and that the attacker's intervals are wide enough; "
    "who holds the values audits the internal table"
)


@dataclass(frozen=True)
class TablePromise:
    """What the record of a table promises, as it stands there."""

    content: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The promise as it stands in the record."""
        return dict(self.content)

    def words(self) -> str:
        """The promise in a sentence."""
        level = "exceeds" if self.content.get("strict") else "reaches"
        return f"the interval in which an attacker can place an unsafe cell {level} its level"


@dataclass(frozen=True)
class TableVerification:
    """What was found of a published table; true if nothing speaks against it.

    Attributes
    ----------
    promise
        What the record promises.
    records, suppressed
        The cells of the file, and those without a value.
    faults
        What speaks against it, in words.
    sums
        How many sums of published values were added up; None where the hierarchies are not known.
    eliminated
        How many suppressed cells follow by subtraction alone; None likewise.
    notes
        What could not be checked.
    checks
        None: of a table no combinations are counted.
    """

    promise: TablePromise
    records: int
    suppressed: int
    faults: tuple[str, ...]
    sums: int | None
    eliminated: int | None
    notes: tuple[str, ...]
    checks: tuple[GroupCheck, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against it."""
        return not self.faults

    def __bool__(self) -> bool:
        return self.passed

    def as_dict(self) -> dict[str, Any]:
        """The verdict as it stands in the evidence."""
        return {
            "passed": self.passed,
            "cells": self.records,
            "suppressed": self.suppressed,
            "faults": list(self.faults),
            "sums": self.sums,
            "eliminated": self.eliminated,
            "notes": list(self.notes),
        }

    def words(self) -> str:
        """The verdict in a sentence."""
        if self.faults:
            return f"NOT KEPT: {'; '.join(self.faults)}"
        seen = f"{count(self.records, 'cell')}, {self.suppressed:,} marked, as recorded"
        if self.sums is None:
            return f"passed as far as it can be seen: {seen}"
        return (
            f"passed as far as it can be seen: {seen}; {count(self.sums, 'sum')} of published values add up, and no "
            "suppressed cell follows by subtraction alone"
        )


def check_publication(path: Path, record: Mapping[str, Any], by: Any = None) -> TableVerification:
    """Check a published table against its record.

    Parameters
    ----------
    path : Path
        The file, .csv, .xlsx, .parquet or .arrow.
    record : mapping
        The content of its record.
    by : list of str, optional
        The dimensions with their hierarchies, as for discreet.tabulate: region@region.hrc. As the record says, if not
        given; all flat, if it is one of an earlier version.
    """
    whole = record.get("output")
    whole = whole if isinstance(whole, Mapping) else {}
    output, part = _find_file(path, whole)
    faults, notes = [], [UNSEEN]
    if not record.get("verified"):
        faults.append("its own record says that it is partial: some unsafe cells are not protected")
    if output.get("sha256") != sha256(path):
        faults.append(f"{path.name} is not the very file that the record was written for (its SHA-256 differs)")
    frame, values, wrong = _read(path)
    faults += wrong
    if output.get("records") != frame.height:
        faults.append(f"it has {count(frame.height, 'cell')}, and not as many as the record says")
    hidden = np.isnan(values)
    sums: int | None = None
    eliminated: int | None = None
    try:
        table = _table(frame, values, by) if by or "dimensions" not in whole else _described(frame, values, whole, part)
    except InputError as error:
        if by and not isinstance(error, CellsError):
            raise
        faults.append(str(error))
        table = None
    missed = None if table is None else _missed(table)
    if table is None or (by is None and "dimensions" not in whole and missed):
        notes.append("sums and elimination were not checked: name the hierarchies by --by, as region@region.hrc")
    else:
        sums = int((np.bincount(table.relations.rows, hidden[table.relations.cells], len(table.relations)) == 0).sum())
        follow = unpick(table)
        eliminated = len(follow)
        if missed:
            faults.append(f"{count(len(missed), 'sum')} of published values do not add up: {itemize(missed)}")
        if eliminated:
            names = itemize([table.name(int(cell)) for cell in np.sort(follow)])
            verb = "follows" if eliminated == 1 else "follow"
            faults.append(f"{count(eliminated, 'suppressed cell')} {verb} by subtraction alone: {names}")
    promise = record.get("promise")
    said = TablePromise(promise if isinstance(promise, Mapping) else {})
    return TableVerification(said, frame.height, int(hidden.sum()), tuple(faults), sums, eliminated, tuple(notes))


def published_table(path: Path) -> Table | None:
    """A published table as an attacker holds it, by the record beside it; None if there is no such record.

    Parameters
    ----------
    path : Path
        The file, .csv, .xlsx, .parquet or .arrow, with `NAME.release.json` beside it.
    """
    beside = path.with_name(f"{path.name}.release.json")
    try:
        output = json.loads(beside.read_text(encoding="utf-8"))["output"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    if not isinstance(output, Mapping) or "dimensions" not in output:
        return None
    frame, values, _ = _read(path)
    return _described(frame, values, output, None).but(source=path.name)


def _read(path: Path) -> tuple[pl.DataFrame, Any, list[str]]:
    """The codes, the values (nan where there is none), and what is wrong with the marks."""
    read = read_public_frame(path)
    if read is None:
        raise InputError(f"{path.name}: not a table that suppress has published (.csv, .xlsx, .parquet or .arrow)")
    frame, is_text = read
    names = [name for name in frame.columns if name != SUPPRESSED]
    if len(names) < 2:
        raise InputError(f"{path.name}: not a table that suppress has published: it needs codes and values")
    last = names[-1]
    values = frame[last].cast(pl.Float64, strict=False)
    gone = values.is_null() | values.is_nan()
    wrong = []
    if is_text and frame.filter(gone)[last].n_unique() > 1:
        wrong.append("its suppressed cells have different marks, which may tell something of them")
    if SUPPRESSED in frame.columns and (frame[SUPPRESSED] != gone).any():
        wrong.append("cells without a value are not those that it says are suppressed")
    return frame.select(names[:-1]), values.fill_null(np.nan).to_numpy(), wrong


def _find_file(path: Path, output: Mapping[str, Any]) -> tuple[Mapping[str, Any], int | None]:
    """What a record says of a file, and which of several linked tables it is; None for the file of all."""
    parts = output.get("parts")
    for at, part in enumerate(parts if isinstance(parts, list) else ()):
        if isinstance(part, Mapping) and part.get("file") == path.name:
            return part, at
    return output, None


def _described(frame: pl.DataFrame, values: Any, output: Mapping[str, Any], part: int | None) -> Table:
    """The table with nothing in place of suppressed values, its dimensions as the record describes them."""
    every, linked = read_structure("the record", output)
    if part is None:
        dimensions, parts = every, linked
    else:
        if part >= len(linked):
            raise InputError("the record does not say which of the linked tables it is")
        span = linked[part]
        dimensions = tuple(
            Dimension(every[axis].name, [every[axis].hierarchies[way] for way in ways]) for axis, ways in span
        )
        parts = ()
    if set(frame.columns) != {one.name for one in dimensions}:
        raise InputError("its columns are not the dimensions that the record names")
    codes = np.full((frame.height, len(dimensions)), -1, dtype=np.int32)
    for axis, one in enumerate(dimensions):
        codes[:, axis] = [one.position.get(code, -1) for code in frame[one.name].cast(pl.String).to_list()]
    if (codes < 0).any():
        lost = int((codes < 0).any(axis=1).sum())
        raise InputError(f"{count(lost, 'cell')} with a code that the record does not have")
    table = Table.of(values, dimensions=dimensions, codes=codes, parts=parts)
    return table.but(status=np.where(np.isnan(values), SECONDARY, SAFE).astype(np.uint8))


def _table(frame: pl.DataFrame, values: Any, by: Any) -> Table | None:
    """The table with nothing in place of suppressed values; None if its dimensions are not known."""
    if by is None and frame.columns == [CELL]:
        return None
    named = "published values"
    filled = frame.with_columns(pl.Series(named, np.nan_to_num(values)))
    try:
        found = read_aggregates(filled, list(frame.columns) if by is None else by, named, None, None, None)
        table = Table.of(values, dimensions=found.dimensions, codes=found.codes)
    except InputError:
        if by is not None:
            raise
        return None
    return table.but(status=np.where(np.isnan(values), SECONDARY, SAFE).astype(np.uint8))


def _missed(table: Table) -> list[str]:
    """The sums of published values alone that do not add up, by name."""
    relations = table.relations
    known = np.nan_to_num(table.value)
    open_ = np.bincount(relations.rows, table.suppressed[relations.cells], len(relations)) > 0
    size = np.zeros(len(relations))
    np.maximum.at(size, relations.rows, np.abs(known[relations.cells]))
    off = np.abs(relations.residuals(known)) > 1e-9 * np.maximum(1.0, size)
    return [table.relation_name(int(row)) for row in np.flatnonzero(off & ~open_)]
