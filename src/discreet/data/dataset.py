"""Microdata as it came in, as a polars frame inside, and the way back to the kind it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from discreet.data.source import Source


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
    named : bool
        Whether the column names are surely names, and not the values of a first record.
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
    hints: dict[str, tuple[str, tuple[str, ...] | None, str]] = field(default_factory=dict)
    named: bool = True
    source: Source | None = None
    restore: Callable[[pl.DataFrame, Collection[str]], Any] = lambda released, untouched: released

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


def accept(data: Any, called: str = "the frame") -> Dataset:
    """Take in a file's path, a `Source`, or a pandas, polars or Arrow frame, and what to call a frame in messages."""
    from discreet.data.source import Source

    if isinstance(data, str | Path):
        from discreet.data.files import read

        data = read(data)
    dataset = _from_source(data) if isinstance(data, Source) else _from_frame(data, called)
    if dataset.frame.width == 0 or dataset.frame.height == 0:
        raise InputError(f"{dataset.name}: there are no records")
    return dataset


def _from_source(source: Source) -> Dataset:
    from discreet.data.hints import declared_kinds

    return Dataset(
        source.frame,
        source.path.name,
        source.place,
        textual=source.format in ("csv", "excel"),
        decimal=source.dialect.decimal if source.dialect else ".",
        notes=source.notes,
        hints=declared_kinds(source),
        named=source.named,
        source=source,
    )


def _from_frame(data: Any, called: str) -> Dataset:
    import narwhals as nw
    import polars as pl

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
    from discreet.data.frames import hints_of, restorer, to_polars

    frame, notes = to_polars(outside)
    return Dataset(
        frame,
        called,
        lambda row: f"row {row}",
        notes=notes,
        hints=hints_of(data),
        restore=restorer(data, frame.schema),
    )
