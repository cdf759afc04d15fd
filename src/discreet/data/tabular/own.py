"""Our own table files: Parquet with what the table is in its metadata, or CSV with NAME.table.json beside it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.checks import check_readable, listed
from discreet.data.tabular.dimension import Dimension
from discreet.data.tabular.files_text import naming
from discreet.data.tabular.own_columns import Columns, is_reserved
from discreet.data.tabular.own_meta import Described, as_json, described
from discreet.data.tabular.table import STATUSES, Table
from discreet.errors import InputError

KEY = b"discreet.table"
CELL = "cell"


def beside(path: Path) -> Path:
    """Where the metadata of a CSV file are."""
    return path.with_name(f"{path.stem}.table.json")


def rendered(table: Table, path: Path) -> dict[Path, bytes]:
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
        raise InputError(f"{path.name}: {listed(taken)} cannot be the name of a dimension in a table file; rename it")
    import polars as pl

    frame = table.frame()
    if not table.dimensions:
        frame.insert_column(0, pl.Series(CELL, range(len(table)), dtype=pl.Int64))
    said = as_json(table)
    if path.suffix.lower() == ".csv":
        return {path: frame.write_csv().encode(), beside(path): said}
    from pyarrow import BufferOutputStream, parquet

    sink = BufferOutputStream()
    # The oldest level, so that other programs can read the texts.
    arrow = frame.to_arrow(compat_level=pl.CompatLevel.oldest()).replace_schema_metadata({KEY: said})
    parquet.write_table(arrow, sink)
    return {path: sink.getvalue().to_pybytes()}


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


def _csv(path: Path) -> tuple[Columns, Described | None]:
    from discreet.data import delimited

    found = beside(path).is_file()
    said = described(beside(path).name, beside(path).read_bytes()) if found else None
    # What we wrote ourselves needs no guessing, and numbers alone could be guessed wrongly.
    how = {"delimiter": ",", "encoding": "utf-8", "decimal": "."} if found else {}
    source = delimited.read(path, header=True, **how)
    decimal = source.dialect.decimal if source.dialect else "."
    return Columns(path.name, source.frame, source.place, decimal, source.notes), said


def _parquet(path: Path) -> tuple[Columns, Described | None]:
    import pyarrow as pa
    from pyarrow import parquet

    from discreet.data.columnar import to_frame

    try:
        arrow = parquet.ParquetFile(io.BytesIO(path.read_bytes())).read()
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, EOFError):
        raise InputError(
            f"{path.name} cannot be read as a Parquet file; it is damaged, cut off or of another kind"
        ) from None
    said = (arrow.schema.metadata or {}).get(KEY)
    columns = Columns(path.name, to_frame(arrow, path.name), lambda row: f"row {row + 1}", ".")
    return columns, described(path.name, said) if said is not None else None


def _table(path: Path, columns: Columns, said: Described | None) -> Table:
    # First of all: without names in the first line, the names of the columns would be values.
    value = columns.numbers("value", unknown=True)
    if value is None:
        raise InputError(
            f"{path.name}: there is no column 'value'; the first line names the columns, that of the values so"
        )
    if said is None:
        assumed = f"{path.name}: nothing is said of the dimensions, so each is flat with the total code 'Total'"
        said = Described(_flat(path, columns), notes=(assumed, *columns.notes))
    lost = [name for name in said.names if name not in columns.frame.columns]
    if lost:
        raise InputError(f"{path.name}: there is no column for the dimensions {listed(lost)}; do not rename columns")
    unknown = [name for name in columns.frame.columns if not is_reserved(name) and name not in said.names]
    if unknown:
        raise InputError(f"{path.name}: columns that are no dimension of the table: {listed(unknown)}; delete them")
    given = _given(columns)
    given |= {"decimals": said.decimals} if said.has_decimals else {}
    given |= {"response": said.response, "rules": said.rules, "notes": said.notes, "source": path.name}
    if said.dimensions:
        codes = np.stack([columns.codes(one) for one in said.dimensions], axis=1)
        return Table.of(value, dimensions=said.dimensions, codes=codes, parts=said.parts, **given)
    cells = columns.numbers(CELL)
    if cells is None or not np.array_equal(cells, np.arange(len(value))):
        raise InputError(
            f"{path.name}: the column '{CELL}' must hold 0 to {len(value) - 1} in order; do not sort the file"
        )
    relations = said.relations
    if relations is None or relations.n != len(value):
        raise InputError(f"{path.name}: its relations are not those of {len(value)} cells; lines were added or deleted")
    return Table.of(value, relations=relations, **given)


def _given(columns: Columns) -> dict[str, Any]:
    given: dict[str, Any] = {
        name: columns.numbers({"lower": "lb", "upper": "ub"}.get(name, name))
        for name in ("count", "cost", "lower", "upper", "lpl", "upl", "spl")
    }
    given["asked"] = columns.numbers("asked", unknown=True)
    letters = columns.words("status")
    if letters is not None:
        given["status"] = columns.looked_up("status", letters, {letter: at for at, letter in enumerate(STATUSES)})
    given["rule"] = columns.rules()
    tops = [columns.numbers(f"top{at}", unknown=True) for at in range(1, 1 + columns.tops)]
    if tops:
        given["tops"] = np.stack([top for top in tops if top is not None], axis=1)
    sole = columns.numbers("sole", unknown=True)
    if sole is not None:
        given["sole"] = np.where(np.isnan(sole), -1, sole).astype(np.int64)
    return given


def _flat(path: Path, columns: Columns) -> tuple[Dimension, ...]:
    from discreet.data.tabular.hierarchy import TOTAL, Hierarchy

    names = [name for name in columns.frame.columns if not is_reserved(name)]
    if not names:
        raise InputError(
            f"{path.name}: there are no dimensions, only {listed(columns.frame.columns)}; add their columns"
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
