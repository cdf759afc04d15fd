"""What was asked of a large protection: files, columns, settings; written once, read by every task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.data.attributes import Attribute, Values, blank_words
from discreet.data.dataset import Dataset
from discreet.data.dates import DateForm, read_dates
from discreet.data.files.parts import Piece, read_piece
from discreet.data.files.source import Dialect
from discreet.data.roles import Declaration, Declarations
from discreet.data.values import read_numbers
from discreet.errors import InputError
from discreet.microdata.large.work import Work
from discreet.microdata.options import Settings
from discreet.verification.promise import Promise

REQUEST, SCHEMA = "request.json", "schema.arrow"
# What the promise says of the confidential columns it speaks of.
PROMISE = "promise.json"
# What is known of a table that was read from a database.
SOURCE = "source.json"
# The number of a record, as it came in.
RECORD = "\x01record"


@dataclass(frozen=True, eq=False)
class Request:
    """All that tasks need to know, and that a run which goes on must have in common with the one before.

    Parameters
    ----------
    files : list of (path, bytes, time of change)
        The parts of the input.
    format : str
        Their format.
    schema : polars.Schema
        All columns with their types, of the first part.
    dialect : Dialect, optional
        How delimited text is written.
    pieces : list of Piece
        What a task reads of the input.
    columns : Declarations
        What the columns are; the kinds of quasi-identifiers are settled.
    forms : dict
        How dates are written, by column.
    settings : dict
        k, method, params, missing, seed, steps or time, l, t, person, household, split_households, sampling_weight.
    block_records : int
        About how many records a block has.
    groups : list of lists of str
        The groups of quasi-identifiers, each of which is protected on its own.
    tasks : int
        How many tasks read the records: one for each piece, or for each pile of what belongs together.
    is_traced : bool
        Whether a row map is written.
    folder : str
        The work folder.
    promise : Promise, optional
        What is promised.
    """

    files: list[tuple[str, int, int]]
    format: str
    schema: pl.Schema
    dialect: Dialect | None
    pieces: list[Piece]
    columns: Declarations
    forms: dict[str, DateForm]
    settings: dict[str, Any]
    block_records: int
    groups: list[list[str]]
    tasks: int
    is_traced: bool = False
    folder: str = ""
    promise: Promise | None = None

    @property
    def unit(self) -> str | None:
        """The column that says which records belong together: a person's or a household's."""
        return self.settings.get("person") or self.settings.get("household")

    @property
    def household(self) -> str | None:
        """The column that says which records are one household."""
        return self.settings.get("household")

    @property
    def weight(self) -> str | None:
        """The column of sampling weights."""
        return self.settings.get("sampling_weight")

    @property
    def textual(self) -> bool:
        """Whether numbers and dates are text."""
        return self.format == "csv"

    @property
    def decimal(self) -> str:
        """Decimal mark of numbers in text."""
        return self.dialect.decimal if self.dialect else "."

    @property
    def quasi(self) -> list[str]:
        """The quasi-identifiers."""
        return self.columns.names("quasi")

    @property
    def unchanged(self) -> list[str]:
        """The columns that are released as they are."""
        return self.columns.names("by", "confidential")

    @property
    def released(self) -> list[str]:
        """The columns of the release, in the order of the data; households among them have new numbers."""
        names = self.columns.names("quasi", "confidential", "by")
        return [name for name in self.schema if name in names or name == self.household]

    @property
    def kept(self) -> list[str]:
        """The columns that go through the work as they are: those unchanged, and sampling weights."""
        return list(dict.fromkeys([*self.unchanged, *([self.weight] if self.weight else [])]))

    def run_settings(self, **other: Any) -> Settings:
        """The settings of one block."""
        given = {name: value for name, value in self.settings.items() if value is not None}
        return Settings(**{**given, "threads": 1, "measures": "none", **other})

    def read(self, number: int, needed: Sequence[str]) -> Iterator[Dataset]:
        """The records of a piece as they came in, batch by batch."""
        piece, ahead = self.pieces[number], 0
        for frame in read_piece(piece, self.format, needed, self.schema, self.dialect):
            begin, ahead = ahead, ahead + frame.height
            if self.is_traced or self.unit is not None:
                frame = frame.with_columns(pl.int_range(begin, ahead, dtype=pl.Int64, eager=True).alias(RECORD))
            yield self.dataset(frame, Path(piece.path).name, begin)

    def blank(self, dataset: Dataset) -> Dataset:
        """The same records without the words for missing values."""
        frame = dataset.frame
        for name in self.quasi:
            if self.columns[name].na:
                frame = frame.with_columns(blank_words(dataset, self.columns[name])[0].frame[name])
        # Zero and minus zero are one stratum, but two texts.
        zeros = [frame[name] for name in self.columns.names("by") if frame.schema[name].is_float()]
        return replace(dataset, frame=frame.with_columns(*(column.set(column == 0.0, 0.0) for column in zeros)))

    def dataset(self, frame: pl.DataFrame, name: str, begin: int = 0, places: pl.Series | None = None) -> Dataset:
        """Some records, as the functions that read them take them."""
        return Dataset(
            frame,
            name,
            lambda row: f"record {(begin + row if places is None else places[row]) + 1}",
            self.textual,
            self.decimal,
        )

    def as_dict(self) -> dict[str, Any]:
        """The request as it is written; the schema is a file of its own."""
        return {
            "files": self.files,
            "format": self.format,
            "dialect": asdict(self.dialect) if self.dialect else None,
            "pieces": [asdict(piece) for piece in self.pieces],
            "columns": [asdict(column) for column in self.columns.columns],
            "forms": {name: asdict(form) for name, form in self.forms.items()},
            "settings": self.settings,
            "block_records": self.block_records,
            "groups": self.groups,
            "tasks": self.tasks,
            "is_traced": self.is_traced,
        }


@lru_cache(maxsize=2)
def load_request(folder: str) -> Request:
    """The request of a work folder."""
    work = Work(folder)
    said = work.read(REQUEST)["request"]
    columns = [Declaration(**{**one, "order": _tuple(one["order"]), "na": tuple(one["na"])}) for one in said["columns"]]
    return Request(
        [(path, size, time) for path, size, time in said["files"]],
        said["format"],
        work.read_frame(SCHEMA).schema,
        Dialect(**said["dialect"]) if said["dialect"] else None,
        [Piece(**piece) for piece in said["pieces"]],
        Declarations(tuple(columns)),
        {name: DateForm(**form) for name, form in said["forms"].items()},
        said["settings"],
        said["block_records"],
        said["groups"],
        said["tasks"],
        said["is_traced"],
        folder,
        Promise.from_dict(work.read(PROMISE)),
    )


def _tuple(order: list[str] | None) -> tuple[str, ...] | None:
    return None if order is None else tuple(order)


def read_values(dataset: Dataset, template: Attribute) -> Values:
    """The values of a quasi-identifier in some records, read as all others: numbers, dates or codes of categories."""
    column = dataset.frame[template.name]
    if template.categories is not None:
        known = template.categories
        there = known.is_not_null()
        places = np.flatnonzero(there.to_numpy())
        codes = column.replace_strict(known.filter(there), places, default=None, return_dtype=pl.Int64)
        values = codes.cast(pl.Float64).to_numpy().astype(np.float64)
        _refuse(dataset, template, np.isnan(values) & column.is_not_null().to_numpy(), "a category")
        return values
    if template.form is not None:
        values = read_dates(column, template.form)
        there = column.is_not_null() if column.dtype != pl.String else (column.str.strip_chars() != "").fill_null(False)
        _refuse(dataset, template, np.isnan(values) & there.to_numpy(), f"a date written {template.form.pattern}")
        return values
    if column.dtype == pl.String:
        numbers, wrong = read_numbers(column, dataset.decimal)
        bad = np.zeros(len(column), bool)
        bad[wrong] = True
        _refuse(dataset, template, bad, "a number")
    else:
        numbers = column.cast(pl.Float64)
    values = numbers.to_numpy().astype(np.float64)
    _refuse(dataset, template, np.isinf(values), "a finite number")
    return values


def _refuse(dataset: Dataset, template: Attribute, bad: Any, what: str) -> None:
    wrong = np.flatnonzero(bad)
    if len(wrong):
        raise InputError(
            f"{dataset.name}: column '{template.name}' is taken as {template.kind}, and {len(wrong):,} values are not "
            f"{what} ({dataset.places(wrong)}). Correct them or leave them blank, or declare the type of the column."
        )
