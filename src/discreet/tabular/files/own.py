"""Our own table files: Parquet with the table's description in its metadata, or CSV with NAME.table.json beside it.

The description holds the dimensions with their hierarchies, linked parts and relations; the columns hold the cells.
Whatever is wrong in a file is told with its place and without a value.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import BufferOutputStream, parquet

from discreet.data.checks import check_readable, itemize
from discreet.data.files import csv as delimited
from discreet.data.files.arrow import to_frame
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files.text import naming
from discreet.tabular.hierarchy import TOTAL, Hierarchy
from discreet.tabular.others import Others
from discreet.tabular.relations import CellsError, Part, Relations, build_relations
from discreet.tabular.table import RULES, STATUSES, WEIGHTED, WHOLE, Table

SCHEMA = "discreet/table/3"
# What earlier versions lack is not needed, but for what everybody knows of counts: primary finds that out anew.
READABLE = (SCHEMA, "discreet/table/2", "discreet/table/1")
METADATA_KEY = b"discreet.table"
CELL_COLUMN = "cell"
RESERVED = (
    *("cell", "value", "count", "status", "rule", "cost"),
    *("lb", "ub", "lpl", "upl", "spl", "asked", "sole"),
)
_TOP = re.compile(r"top([1-9]\d*)")
INTERNAL = "holds confidential values; not for publication"


def is_reserved(name: str) -> bool:
    """Whether a column of this name is an attribute of the cells, and not a dimension."""
    return name in RESERVED or _TOP.fullmatch(name) is not None


def beside(path: Path) -> Path:
    """Where the metadata of a CSV file are."""
    return path.with_name(f"{path.stem}.table.json")


def read(path: str | Path) -> Table:
    """Read a table from a Parquet or CSV file.

    Only the dimensions and the value are needed in a file that was not written by us. Where nothing is said of the
    dimensions, each is flat with the total code "Total".

    Parameters
    ----------
    path : str or Path
        The file.
    """
    path = Path(path)
    check_readable(path)
    columns, said = _csv(path) if path.suffix.lower() == ".csv" else _parquet(path)
    with naming(path):
        return _table(path, columns, said)


def _csv(path: Path) -> tuple[Columns, Description | None]:
    found = beside(path).is_file()
    said = parse_metadata(beside(path).name, beside(path).read_bytes()) if found else None
    # What we wrote ourselves needs no guessing, and numbers alone could be guessed wrongly.
    how = {"delimiter": ",", "encoding": "utf-8", "decimal": "."} if found else {}
    source = delimited.read(path, header=True, **how)
    decimal = source.dialect.decimal if source.dialect else "."
    return Columns(path.name, source.frame, source.place, decimal, source.notes), said


def _parquet(path: Path) -> tuple[Columns, Description | None]:
    try:
        arrow = parquet.ParquetFile(io.BytesIO(path.read_bytes())).read()
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, EOFError):
        raise InputError(
            f"{path.name} cannot be read as a Parquet file; it is damaged, cut off or of another kind"
        ) from None
    said = (arrow.schema.metadata or {}).get(METADATA_KEY)
    columns = Columns(path.name, to_frame(arrow, path.name), lambda row: f"row {row + 1}", ".")
    return columns, parse_metadata(path.name, said) if said is not None else None


def _table(path: Path, columns: Columns, said: Description | None) -> Table:
    # First of all: without names in the first line, the names of the columns would be values.
    value = columns.numbers("value", unknown=True)
    if value is None:
        raise InputError(
            f"{path.name}: there is no column 'value'; the first line names the columns, that of the values so"
        )
    if said is None:
        assumed = f"{path.name}: nothing is said of the dimensions, so each is flat with the total code 'Total'"
        said = Description(_flat(path, columns), notes=(assumed, *columns.notes))
    lost = [name for name in said.names if name not in columns.frame.columns]
    if lost:
        raise InputError(f"{path.name}: there is no column for the dimensions {itemize(lost)}; do not rename columns")
    unknown = [name for name in columns.frame.columns if not is_reserved(name) and name not in said.names]
    if unknown:
        raise InputError(f"{path.name}: columns that are no dimension of the table: {itemize(unknown)}; delete them")
    given = _read_attributes(columns)
    given |= {"decimals": said.decimals} if said.has_decimals else {}
    given |= {"response": said.response, "rules": said.rules, "notes": said.notes, "source": path.name}
    given |= {"counts": said.counts}
    if said.dimensions:
        codes = np.stack([columns.codes(one) for one in said.dimensions], axis=1)
        try:
            made = Table.of(value, dimensions=said.dimensions, codes=codes, parts=said.parts, **given)
        except CellsError as error:
            raise InputError(error.at(columns.place)) from None
        return made if said.others is None else made.but(others=_find_others(made, *said.others))
    cells = columns.numbers(CELL_COLUMN)
    if cells is None or not np.array_equal(cells, np.arange(len(value))):
        raise InputError(
            f"{path.name}: the column '{CELL_COLUMN}' must hold 0 to {len(value) - 1} in order; do not sort the file"
        )
    relations = said.relations
    if relations is None or relations.n != len(value):
        raise InputError(f"{path.name}: its relations are not those of {len(value)} cells; lines were added or deleted")
    return Table.of(value, relations=relations, **given)


def _read_attributes(columns: Columns) -> dict[str, Any]:
    given: dict[str, Any] = {
        name: columns.numbers({"lower": "lb", "upper": "ub"}.get(name, name))
        for name in ("count", "cost", "lower", "upper", "lpl", "upl", "spl")
    }
    given["asked"] = columns.numbers("asked", unknown=True)
    letters = columns.words("status")
    if letters is not None:
        given["status"] = columns.look_up("status", letters, {letter: at for at, letter in enumerate(STATUSES)})
    given["rule"] = columns.rules()
    tops = [columns.numbers(f"top{at}", unknown=True) for at in range(1, 1 + columns.tops)]
    if tops:
        given["tops"] = np.stack([top for top in tops if top is not None], axis=1)
    sole = columns.numbers("sole", unknown=True)
    if sole is not None:
        given["sole"] = np.where(np.isnan(sole), -1, sole).astype(np.int64)
    return given


def _flat(path: Path, columns: Columns) -> tuple[Dimension, ...]:
    names = [name for name in columns.frame.columns if not is_reserved(name)]
    if not names:
        raise InputError(
            f"{path.name}: there are no dimensions, only {itemize(columns.frame.columns)}; add their columns"
        )
    dimensions = []
    for name in names:
        codes = list(dict.fromkeys(columns.words(name) or ()))
        if TOTAL not in codes:
            raise InputError(
                f"{path.name}: column '{name}' never has the code '{TOTAL}'; a table holds its totals too. Add them, "
                f"or put {beside(path).name} beside the file to say what the total is called"
            )
        dimensions.append(Dimension(name, Hierarchy.flat([code for code in codes if code not in (None, TOTAL)])))
    return tuple(dimensions)


def render(table: Table, path: Path) -> dict[Path, bytes]:
    """The files to write for a table under the name `path`, which says the format; they are internal.

    Parameters
    ----------
    table : Table
        The table.
    path : Path
        The name of the file, ending in .parquet or .csv.
    """
    taken = [one.name for one in table.dimensions if is_reserved(one.name)]
    if taken:
        raise InputError(f"{path.name}: {itemize(taken)} cannot be the name of a dimension in a table file; rename it")

    frame = table.frame("polars")
    if not table.dimensions:
        frame.insert_column(0, pl.Series(CELL_COLUMN, range(len(table)), dtype=pl.Int64))
    said = as_json(table)
    if path.suffix.lower() == ".csv":
        return {path: frame.write_csv().encode(), beside(path): said}

    sink = BufferOutputStream()
    # The oldest level, so that other programs can read the texts.
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest()).replace_schema_metadata({METADATA_KEY: said})
    parquet.write_table(arrow, sink)
    return {path: sink.getvalue().to_pybytes()}


@dataclass(frozen=True)
class Columns:
    """The columns of a table file.

    Attributes
    ----------
    name
        The file, for messages.
    frame
        The columns; from a CSV file all of them are text.
    place
        Where a row stands, such as "line 17".
    decimal
        The decimal sign of numbers in text.
    notes
        What was assumed in reading the file.
    """

    name: str
    frame: pl.DataFrame
    place: Callable[[int], str]
    decimal: str
    notes: tuple[str, ...] = ()

    @property
    def tops(self) -> int:
        """How many columns of largest contributions there are."""
        numbers = sorted(int(match[1]) for name in self.frame.columns if (match := _TOP.fullmatch(name)))
        if numbers != list(range(1, len(numbers) + 1)):
            raise InputError(f"{self.name}: the columns of the largest contributions must be top1, top2 and so on")
        return len(numbers)

    def words(self, column: str) -> list[str | None] | None:
        """A column as text; None if there is none of this name."""
        if column not in self.frame.columns:
            return None
        held = self.frame[column]
        if not (held.dtype == pl.String or held.dtype.is_integer() or isinstance(held.dtype, pl.Categorical | pl.Enum)):
            raise InputError(f"{self.name}: column '{column}' holds neither texts nor whole numbers; write it as text")
        return held.cast(pl.String).to_list()

    def numbers(self, column: str, *, unknown: bool = False) -> NDArray[np.float64] | None:
        """A column as numbers, None if there is none of this name; nan where blank, if that is allowed."""
        if column not in self.frame.columns:
            return None
        held = self.frame[column]
        blank = held.is_null()
        if held.dtype == pl.String:
            words = held.str.strip_chars()
            if self.decimal == ",":
                # A point would be a thousands mark there: refused rather than misread.
                pointed = words.str.contains(".", literal=True).fill_null(False)
                words = words.set(pointed, "?").str.replace(",", ".", literal=True)
            comma = words.str.contains(",", literal=True).fill_null(False)
            numbers = words.cast(pl.Float64, strict=False)
        elif held.dtype.is_numeric():
            comma = pl.Series([False]).new_from_index(0, len(held))
            numbers = held.cast(pl.Float64)
        else:
            raise InputError(f"{self.name}: column '{column}' does not hold numbers")
        self._refuse(column, ~blank & numbers.is_null() & comma, "has a decimal comma; write a decimal point")
        self._refuse(column, ~blank & numbers.is_null(), "is not a number")
        if column not in ("lb", "ub"):
            self._refuse(column, numbers.is_infinite().fill_null(False), "is not a finite number")
        if not unknown:
            self._refuse(column, blank | numbers.is_nan().fill_null(False), "is blank; write a number")
        return numbers.fill_null(np.nan).to_numpy().astype(np.float64)

    def look_up(self, column: str, words: list[Any], known: Mapping[str, int]) -> NDArray[np.uint8]:
        """The number of each word of a column."""
        found = pl.Series([known.get(word, -1) for word in words], dtype=pl.Int64)
        self._refuse(column, found < 0, f"is none of {', '.join(known)}")
        return found.to_numpy().astype(np.uint8)

    def codes(self, dimension: Dimension) -> NDArray[np.int32]:
        """The position of the code of each cell in a dimension."""
        words = self.words(dimension.name) or []
        found = pl.Series([dimension.position.get(word, -1) if word else -1 for word in words], dtype=pl.Int64)
        lost = (found < 0).arg_true()
        if len(lost):
            told = itemize([self.place(row) for row in lost.to_list()])
            raise InputError(
                f"{self.name}: codes that the hierarchy of '{dimension.name}' does not have: {told}; correct them, "
                "with the blanks they should have"
            )
        return found.to_numpy().astype(np.int32)

    def rules(self) -> NDArray[np.int32] | None:
        """The column of rules as bits; None if there is none."""
        words = self.words("rule")
        if words is None:
            return None
        bits = {name: 1 << at for at, name in enumerate(RULES)}
        kinds = {word: [bits.get(part, 0) for part in word.split("+")] if word else [] for word in set(words)}

        wrong = {word for word, parts in kinds.items() if 0 in parts}
        self._refuse("rule", pl.Series([word in wrong for word in words]), f"is none of {', '.join(RULES)}")
        return np.array([sum(kinds[word]) for word in words], dtype=np.int32)

    def _refuse(self, column: str, wrong: pl.Series, what: str) -> None:
        rows = wrong.arg_true()
        if len(rows):
            more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
            raise InputError(f"{self.name}, {self.place(rows[0])}: '{column}' {what}{more}")


@dataclass(frozen=True)
class Description:
    """What is known of a table before its cells are read."""

    dimensions: tuple[Dimension, ...] = ()
    parts: tuple[Part, ...] = ()
    relations: Relations | None = None
    response: str | None = None
    decimals: int | None = None
    has_decimals: bool = False
    rules: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    others: tuple[NDArray[np.int64], Others] | None = None
    counts: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the dimensions."""
        return [one.name for one in self.dimensions]


def holds_cells(path: Path) -> bool:
    """Whether a file is a table of ours, found out from its name and the description beside or in it alone."""
    if path.suffix.lower() == ".csv":
        return beside(path).is_file()
    try:
        return METADATA_KEY in (parquet.read_schema(path).metadata or {})
    except (OSError, pa.ArrowException):
        return False


def parse_metadata(name: str, data: bytes) -> Description:
    """What the metadata in a file of this name say."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: what the table is cannot be read; it is no JSON. Write the table again") from None
    if not isinstance(said, dict) or said.get("schema") not in READABLE:
        raise InputError(f"{name}: the schema is not {SCHEMA}; the file is of another kind or a newer version")
    try:
        dimensions = tuple(_dimension(one) for one in said["dimensions"])
        if len({one.name for one in dimensions}) < len(dimensions):
            raise InputError("two dimensions have the same name; rename one of them")
        return Description(
            dimensions,
            _parts(said.get("parts", ()), dimensions),
            _relations(said["relations"]) if "relations" in said else None,
            _check_type(said.get("response"), str),
            _check_type(said.get("decimals"), int),
            "decimals" in said,
            _check_type(said.get("rules"), dict) or {},
            (*(str(note) for note in said.get("notes") or ()), *_tell_earlier(said)),
            _others(said["others"]) if said.get("others") else None,
            _check_counts(said.get("counts")),
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError(
            f"{name}: what the table is is incomplete or contradicts itself; write the table again"
        ) from None


def _dimension(said: Mapping[str, Any]) -> Dimension:
    name = said["name"]
    if not isinstance(name, str):
        raise TypeError
    # What the file calls a hierarchy is kept, but only of one that is a hierarchy: it is nobody's value then.
    made = [Hierarchy(one["codes"], one["parents"], f"dimension '{name}'") for one in said["hierarchies"]]
    sources = [str(one.get("source") or "") for one in said["hierarchies"]]
    Dimension(name, made)
    return Dimension(name, list(map(_call, made, sources)), said.get("missing", ()))


def _call(hierarchy: Hierarchy, source: str) -> Hierarchy:
    return replace(hierarchy, source=source)


def _parts(said: Any, dimensions: tuple[Dimension, ...]) -> tuple[Part, ...]:
    parts = tuple(tuple((int(axis), tuple(map(int, ways))) for axis, ways in part) for part in said)
    for part in parts:
        for axis, ways in part:
            if not 0 <= axis < len(dimensions) or not set(ways) <= set(range(len(dimensions[axis].hierarchies))):
                raise ValueError
    return parts


def _relations(said: Mapping[str, Any]) -> Relations:
    starts, cells = np.array(said["starts"], dtype=np.int64), np.array(said["cells"], dtype=np.int32)
    coefficients, rhs = np.array(said["coefficients"], dtype=np.float64), np.array(said["rhs"], dtype=np.float64)
    n = int(said["n"])
    regular = (
        len(starts) == len(rhs) + 1
        and starts[0] == 0
        and starts[-1] == len(cells) == len(coefficients)
        and bool((np.diff(starts) >= 0).all())
        and bool(((cells >= 0) & (cells < n)).all())
    )
    if not regular:
        raise ValueError
    rows = np.repeat(np.arange(len(rhs), dtype=np.int32), np.diff(starts))
    return build_relations(rows, cells, coefficients, rhs, n)


def _others(said: Mapping[str, Any]) -> tuple[NDArray[np.int64], Others]:
    """The codes of cells with what is left of them without a sole contributor."""
    who, codes = np.array(said["who"], dtype=np.int64), np.array(said["codes"], dtype=np.int64)
    numbers = {name: None if said.get(name) is None else np.array(said[name], dtype=np.float64) for name in _REST}
    value, count, tops, asked = numbers.values()
    if value is None or count is None or {len(one) for one in (codes, value, count)} != {len(who)}:
        raise ValueError
    if any(one is not None and len(one) != len(who) for one in (tops, asked)):
        raise ValueError
    if not all(np.isfinite(one).all() for one in (value, count, tops, asked) if one is not None):
        raise ValueError
    return codes, Others(who, np.zeros(len(who), dtype=np.int64), value, count, tops, asked)


_REST = ("value", "count", "tops", "asked")


def _find_others(table: Table, codes: NDArray[np.int64], others: Others) -> Others:
    sizes = [len(one.codes) for one in table.dimensions]
    if len(codes) and (codes.shape[1:] != (len(sizes),) or (codes < 0).any() or (codes >= sizes).any()):
        raise InputError("what is said of sole contributors names codes that are not there; write the table again")
    cell = table.places.find(codes.reshape(-1, len(sizes)) @ table.places.strides)
    return replace(others, cell=np.asarray(cell, dtype=np.int64)).only(cell >= 0)


def _check_type(held: Any, kind: type) -> Any:
    if held is not None and not isinstance(held, kind):
        raise TypeError
    return held


def _tell_earlier(said: Mapping[str, Any]) -> list[str]:
    """What to say of counts that an earlier version has judged, which took less for known of them."""
    if said["schema"] == SCHEMA or said.get("response") is not None or "words" not in (said.get("rules") or {}):
        return []
    return [
        "judged by an earlier version, which did not regard that existing counts are not zero: tabulate and judge it "
        "again, or what is said of its protection may not hold"
    ]


def _check_counts(held: Any) -> str | None:
    if held not in (None, WHOLE, WEIGHTED):
        raise ValueError
    return None if held is None else str(held)


def as_json(table: Table) -> bytes:
    """The metadata of a table."""
    said: dict[str, Any] = {
        "internal": INTERNAL,
        "schema": SCHEMA,
        "response": table.response,
        "decimals": table.decimals,
        "counts": table.counts,
        "dimensions": [_dimension_as_json(one) for one in table.dimensions],
        "parts": _list_parts(table),
        "rules": dict(table.rules),
        "notes": list(table.notes),
    }
    if table.others is not None and table.dimensions:
        held = table.others
        said["others"] = {"codes": table.codes[held.cell].tolist(), "who": held.who.tolist()}
        said["others"] |= {
            name: None if getattr(held, name) is None else getattr(held, name).tolist() for name in _REST
        }
    if not table.dimensions:
        relations = table.relations
        said["relations"] = {
            "starts": relations.starts.tolist(),
            "cells": relations.cells.tolist(),
            "coefficients": relations.coefficients.tolist(),
            "rhs": relations.rhs.tolist(),
            "n": relations.n,
        }
    return (json.dumps(said, ensure_ascii=False, default=_to_plain) + "\n").encode()


def _dimension_as_json(dimension: Dimension) -> dict[str, Any]:
    return {
        "name": dimension.name,
        "missing": sorted(dimension.missing),
        "hierarchies": [
            {"source": one.source, "total": one.total, "codes": list(one.codes), "parents": one.parents.tolist()}
            for one in dimension.hierarchies
        ],
    }


def describe_structure(table: Table) -> dict[str, Any]:
    """How the codes of a published table add up, as its record says it: nothing that the codes do not tell."""
    if not table.dimensions:
        return {}
    said: dict[str, Any] = {
        "dimensions": [
            {
                "name": one.name,
                "hierarchies": [{"codes": list(way.codes), "parents": way.parents.tolist()} for way in one.hierarchies],
            }
            for one in table.dimensions
        ]
    }
    return said | ({"linked": _list_parts(table)} if len(table.parts) > 1 else {})


def read_structure(name: str, said: Mapping[str, Any]) -> tuple[tuple[Dimension, ...], tuple[Part, ...]]:
    """The dimensions and linked tables that a record of this name describes; none where it is of an earlier version."""
    try:
        dimensions = tuple(_dimension(one) for one in said.get("dimensions", ()))
        return dimensions, _parts(said.get("linked", ()), dimensions)
    except (InputError, KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError(f"{name}: the dimensions of the table are incomplete or contradict themselves") from None


def _list_parts(table: Table) -> list[Any]:
    return [[[axis, list(ways)] for axis, ways in part] for part in table.parts]


def _to_plain(held: Any) -> Any:
    """Numpy's numbers as JSON has them."""
    return held.tolist() if isinstance(held, np.generic | np.ndarray) else str(held)
