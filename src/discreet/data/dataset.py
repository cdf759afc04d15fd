"""Microdata as it came in, a file or a frame of pandas, polars or Arrow: a polars frame inside, and the way back.

What the data declares of its own columns, by ordered categories, measurement levels or value labels, is kept as hints.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import polars.selectors as cs
import pyarrow as pa
from numpy.typing import NDArray

from discreet.data.checks import find_outside_calendar
from discreet.data.files import applies, read
from discreet.data.files.arrow import find_dictionaries, to_frame
from discreet.data.files.source import Source
from discreet.data.memory import LARGE
from discreet.errors import InputError, one_of
from discreet.extras import pd
from discreet.text import count

# Column → (kind, order, why it is taken so).
Hints = dict[str, tuple[str, tuple[str, ...] | None, str]]
# The released frame, its columns that nothing was done to, and those that have nothing of the original.
Restore = Callable[[pl.DataFrame, Collection[str], Collection[str]], Any]


@dataclass(frozen=True, eq=False)
class Dataset:
    """A frame that came in.

    Parameters
    ----------
    frame : polars.DataFrame
        The data; NaN is null.
    name : str
        What to call it in messages: the file's name, or "the frame".
    place : callable
        Says where a row stands, such as "line 17".
    textual : bool
        Whether numbers and dates are still the text of a file.
    decimal : str
        Decimal mark of numbers in text.
    notes : tuple of str
        Assumptions made so far.
    hints : dict
        Kinds that the data itself declares (ordered categories, labelled codes): column → (kind, order, why).
    source : Source, optional
        The file, if it came from one.
    restore : callable
        Turns a released frame into the kind of frame that came in.
    """

    frame: pl.DataFrame = field(repr=False)
    name: str
    place: Callable[[int], str]
    textual: bool = False
    decimal: str = "."
    notes: tuple[str, ...] = ()
    hints: Hints = field(default_factory=dict)
    source: Source | None = None
    restore: Restore = lambda released, untouched, new: released

    @property
    def hint(self) -> str:
        """What may be wrong if a column is not there: that the line which names it was taken for a record."""
        headless = self.source is not None and self.source.dialect is not None and not self.source.dialect.header
        return " The first line was taken for a record; if it names the columns, say --header yes." if headless else ""

    def places(self, rows: Iterable[int], most: int = 3) -> str:
        """Where some rows stand: "line 4, line 9 and 12 more"."""
        every = [int(row) for row in rows]
        shown = ", ".join(self.place(row) for row in every[:most])
        return shown + (f" and {len(every) - most:,} more" if len(every) > most else "")


@dataclass(frozen=True, eq=False)
class Packed:
    """A data set that is kept for later: a large one of a file with texts of few values as categories, by a quarter.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    texts : tuple of str
        The columns that were texts.
    """

    dataset: Dataset
    texts: tuple[str, ...] = ()

    @classmethod
    def of(cls, dataset: Dataset) -> Packed:
        """Pack a data set."""
        frame, source = dataset.frame, dataset.source
        if frame.height <= LARGE or source is None or source.database:
            return cls(dataset)
        few = [one.name for one in frame.select(cs.string()) if one.n_unique() <= frame.height // 100]
        # The place of a row is asked of the source, which must not hold the records once more.
        bare = replace(source, frame=source.frame.clear())
        packed = frame.with_columns(pl.col(few).cast(pl.Categorical))
        return cls(replace(dataset, frame=packed, source=bare, place=bare.place), tuple(few))

    def unpack(self) -> Dataset:
        """The data set as it was."""
        if not self.texts:
            return self.dataset
        return replace(self.dataset, frame=self.dataset.frame.with_columns(pl.col(self.texts).cast(pl.String)))


def accept(data: Any, called: str = "the frame", *, titled: bool = False, **reading: Any) -> Dataset:
    """Take in a file's path, a `Source`, or a pandas, polars or Arrow frame.

    Parameters
    ----------
    data : path, Source or frame
        What comes in.
    called : str
        What to call a frame in messages.
    titled : bool
        Whether the first line of a delimited text names its columns in any case.
    **reading
        How a path is to be read, as `discreet.data.files.read` takes it.
    """
    if isinstance(data, str | Path):
        if titled and applies("header", data):
            reading["header"] = True
        data = read(data, **reading)
    dataset = _from_source(data) if isinstance(data, Source) else _from_frame(data, called)
    if dataset.frame.width == 0 or dataset.frame.height == 0:
        raise InputError(f"{dataset.name}: there are no records")
    _check_calendar(dataset)
    return dataset


def accept_part(dataset: Dataset, data: Any, rows: NDArray[np.bool_], notes: Sequence[str]) -> Dataset:
    """Some of the records that came in, with notes of what was left out.

    Parameters
    ----------
    dataset : Dataset
        All records.
    data : path, Source or frame
        What they came in as.
    rows : array of bool
        Which to keep, at least one.
    notes : sequence of str
        How many were left out, and why.
    """
    frame, places = dataset.frame.filter(pl.Series(rows)), np.flatnonzero(rows)
    restore = dataset.restore
    library = type(data).__module__.split(".")[0]
    if library in ("pandas", "pyarrow"):
        restore = restorer(data[rows] if library == "pandas" else data.filter(rows), frame.schema)
    source = dataset.source
    if source is not None:
        lines = np.array([source.line(row) for row in places.tolist()], dtype=np.int64)
        coded = {name: column.filter(pl.Series(rows)) for name, column in source.coded.items()}
        source = replace(source, frame=frame, lines=lines, first=int(lines[0]), coded=coded)
    return replace(
        dataset,
        frame=frame,
        place=lambda row: dataset.place(int(places[row])),
        notes=(*dataset.notes, *notes),
        source=source,
        restore=restore,
    )


def _check_calendar(dataset: Dataset) -> None:
    """Refuse dates outside the years 1 to 9999, which no library writes alike."""
    for column in dataset.frame.select(cs.date() | cs.datetime()):
        wrong = find_outside_calendar(column)
        if len(wrong):
            raise InputError(
                f"{dataset.name}: column '{column.name}' has {count(len(wrong), 'date')} outside the years 1 to 9999 "
                f"({dataset.places(wrong)}); correct them or make them missing"
            )


def _from_source(source: Source) -> Dataset:
    return Dataset(
        source.frame,
        source.name,
        source.place,
        textual=source.format in ("csv", "excel"),
        decimal=source.dialect.decimal if source.dialect else ".",
        notes=source.notes,
        hints=find_declared_kinds(source),
        source=source,
    )


def _from_frame(data: Any, called: str) -> Dataset:
    if isinstance(data, pl.LazyFrame):
        raise InputError("a lazy frame was given; collect() it first")
    try:
        outside = nw.from_native(data, eager_only=True)
    except TypeError:
        raise InputError(
            f"expected a path, or a pandas, polars or Arrow frame, not an object of type {type(data).__name__}"
        ) from None
    except nw.exceptions.DuplicateError:
        raise InputError(f"{called}: column names must be unique; rename those that stand twice") from None

    frame, notes = to_polars(outside)
    return Dataset(
        frame,
        called,
        lambda row: f"row {row}",
        notes=notes,
        hints=hints_of(data),
        restore=restorer(data, frame.schema),
    )


def to_polars(outside: nw.DataFrame[Any]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A polars frame with NaN as null, and the assumptions that made it so."""
    names = outside.columns
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise InputError(f"column names must be unique; more than once: {', '.join(twice)}")
    wrong = [position for position, name in enumerate(names) if not isinstance(name, str)]
    if wrong:
        raise InputError(f"column names must be texts; the one at position {wrong[0]} is not")
    notes: tuple[str, ...] = ()
    native = outside.to_native()
    if outside.implementation is nw.Implementation.PANDAS:
        if type(native.index).__name__ != "RangeIndex":
            notes = ("the index of the frame is kept in release.data, which is internal, and written to no file",)
        columns = [_column(name, native[name]) for name in names]
        frame = pl.DataFrame(columns)
    elif outside.implementation is nw.Implementation.PYARROW:
        frame = to_frame(native, "the frame")
    else:
        frame = outside.to_polars()
    return frame.with_columns(cs.float().fill_nan(None)), notes


def _column(name: str, series: Any) -> pl.Series:
    # Intervals, as pandas.cut makes them, and periods are categories by their text.
    if isinstance(series.dtype, pd.CategoricalDtype) and _has_texts_only(series.cat.categories.dtype):
        series = series.cat.rename_categories([str(category) for category in series.cat.categories])
    elif _has_texts_only(series.dtype):
        series = series.astype(str).where(series.notna(), None)
    try:
        return pl.Series(pl.from_pandas(series.rename(name), nan_to_null=True))
    except Exception:
        # The library's own message would quote a value.
        raise InputError(
            f"column '{name}' mixes values of several types; convert it to one type, for example with astype(str)"
        ) from None


def _has_texts_only(dtype: Any) -> bool:
    """Whether values of a pandas type come as their texts."""
    return type(dtype).__name__ in ("IntervalDtype", "PeriodDtype")


def hints_of(data: Any) -> Hints:
    """Categories are a declaration: of an ordinal attribute if they are ordered, else of a nominal one."""
    library = type(data).__module__.split(".")[0]
    found: list[tuple[str, bool, list[Any]]] = []
    if library == "pandas":
        for name, dtype in data.dtypes.items():
            if isinstance(dtype, pd.CategoricalDtype):
                found.append((str(name), bool(dtype.ordered), list(dtype.categories)))
    elif library == "pyarrow":
        found = find_dictionaries(data)
    return declare_categories(found)


def declare_categories(found: Iterable[tuple[str, bool, list[Any]]]) -> Hints:
    """What categories declare: columns, whether they are ordered, and their categories."""
    return {
        name: ("ordinal", tuple(map(_spell, categories)) or None, "its ordered categories")
        if ordered
        else ("nominal", None, "its categories")
        for name, ordered, categories in found
    }


def _spell(category: Any) -> str:
    """A category as its text: a whole number is the same whether it came as an integer or as a float."""
    if isinstance(category, bool):
        return str(category).lower()
    return str(int(category)) if isinstance(category, float) and category.is_integer() else str(category)


def restorer(data: Any, schema: pl.Schema) -> Restore:
    """How to turn a released polars frame, rows as they came in, into the kind of frame that `data` is.

    Columns that were not touched are taken from `data` itself. A protected column gets its old type back where the
    method kept it: `schema` is what the columns were inside, and the mean of integers is no integer any more.
    """
    library = type(data).__module__.split(".")[0]
    if library == "pandas":
        return lambda released, untouched, new: _as_pandas(data, schema, released, untouched, new)
    if library == "pyarrow":
        return lambda released, untouched, new: _as_arrow(data, schema, released, untouched, new)
    return lambda released, _untouched, _new: released


def _as_pandas(
    original: Any, schema: pl.Schema, released: pl.DataFrame, untouched: Collection[str], new: Collection[str]
) -> Any:
    columns = {}
    for name in released.columns:
        if name in untouched:
            columns[name] = original[name].reset_index(drop=True)
            continue
        column = released[name].to_pandas()
        if name in new:
            columns[name] = column
            continue
        dtype = original[name].dtype
        inner = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
        if _has_texts_only(inner):
            column = column.astype(object).map({str(value): value for value in original[name].dropna().unique()})
        if released.schema[name].base_type() == schema[name].base_type():
            # A blanked value does not fit into numpy's integers: such a column stays a float.
            with contextlib.suppress(ValueError, TypeError):
                column = column.astype(original[name].dtype)
        if isinstance(column.dtype, pd.CategoricalDtype):
            # A category that is not released must not stand in the column's list of categories either.
            column = column.cat.remove_unused_categories()
        columns[name] = column
    frame = pd.DataFrame(columns)
    frame.index = original.index  # release.data is internal; no file has the index
    return frame


def _as_arrow(
    original: Any, schema: pl.Schema, released: pl.DataFrame, untouched: Collection[str], new: Collection[str]
) -> Any:
    columns = {}
    for name in released.columns:
        column = original.column(name) if name in untouched else released[name].to_arrow()
        if name not in untouched and name not in new and released.schema[name] == schema[name]:
            # A mean of whole seconds may lie between them: such a column keeps its finer unit.
            with contextlib.suppress(pa.ArrowInvalid):
                column = column.cast(original.schema.field(name).type)
        columns[name] = column
    # The original's metadata is left behind: it can hold a copy of a pandas index.
    return pa.table(columns)


FRAMES = ("polars", "pandas", "arrow")


def frames_of(data: Any) -> str:
    """The kind of frame that data came in as; polars for files."""
    library = type(data).__module__.split(".")[0]
    return {"pandas": "pandas", "pyarrow": "arrow"}.get(library, "polars")


def as_frame(frame: pl.DataFrame, kind: str) -> Any:
    """A polars frame as a frame of the kind that is asked for."""
    one_of("kind", kind, FRAMES)
    if kind == "pandas":
        return frame.to_pandas()
    return frame.to_arrow() if kind == "arrow" else frame


def find_declared_kinds(source: Source) -> Hints:
    """Columns that the file says are nominal or ordinal: name → (kind, order, why).

    A measurement level of nominal or ordinal is a declaration. So are value labels for all codes that occur: the mean
    of labelled codes would be a code without a label.
    """
    hints = declare_categories(source.categories)
    if source.labels is None:
        return hints
    for name, labels in source.labels.values.items():
        if name in source.frame.columns and _is_covered(source, name, set(labels)):
            hints[name] = (
                "nominal",
                None,
                "the labels that all its codes have (declare it numeric or ordinal if it is not)",
            )
    for name, level in source.labels.measures.items():
        if level in ("nominal", "ordinal") and source.frame.schema.get(name) is not None:
            if level == "ordinal" and not source.frame.schema[name].is_numeric():
                continue  # the file gives no order of texts
            hints[name] = (level, None, "its measurement level in the file")
    return hints


def _is_covered(source: Source, name: str, codes: set[object]) -> bool:
    present = source.frame[name].drop_nulls().unique().to_list()
    return bool(present) and all(value in codes for value in present)
