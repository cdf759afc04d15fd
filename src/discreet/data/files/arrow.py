"""Parquet and Arrow (Feather, IPC) files in and out."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from discreet.data.checks import check_names, check_readable, check_rows, itemize, writing
from discreet.data.files.source import Source
from discreet.data.memory import check_size, largest_size
from discreet.errors import InputError

_ROWS_PER_BATCH = 1 << 16
_WORDS = {"parquet": "a Parquet file", "arrow": "an Arrow file"}


def read(path: Path, format_name: str, *, max_size: int | str | None = None) -> Source:
    """Read a Parquet ("parquet") or Arrow ("arrow") file; NaN becomes null, since both mean that no value is known."""
    check_readable(path)
    table = _table(path, format_name, largest_size(path, max_size))
    check_names(path, table.column_names)
    check_rows(path, table.num_rows)
    frame = to_frame(table, path.name)
    index = [name for name in frame.columns if name.startswith("__index_level_")]
    notes = (f"{path.name}: {itemize(index)} was the row index of a pandas frame",) if index else ()
    plain = frame.with_columns(cs.float().fill_nan(None))
    return Source(plain, path, format_name, notes=notes, categories=tuple(find_dictionaries(table)))


def find_dictionaries(table: Any) -> list[tuple[str, bool, list[Any]]]:
    """Columns of an Arrow table that are categories: name, whether they are ordered, and the categories."""
    found = []
    for field in table.schema:
        if pa.types.is_dictionary(field.type):
            chunks = table.column(field.name).unify_dictionaries().chunks
            found.append((field.name, field.type.ordered, chunks[0].dictionary.to_pylist() if chunks else []))
    known = {name for name, _, _ in found}
    return found + [(name, ordered, []) for name, ordered in _find_categories(table.schema) if name not in known]


def _find_categories(schema: Any) -> list[tuple[str, bool]]:
    """Columns that were categories in pandas: a Parquet file has categories of text, and keeps a note of others."""
    try:
        noted = json.loads((schema.metadata or {})[b"pandas"])["columns"]
        return [
            (one["name"], bool((one["metadata"] or {}).get("ordered")))
            for one in noted
            if one["pandas_type"] == "categorical" and one["name"] in schema.names
        ]
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return []  # somebody else's note


def to_frame(table: Any, name: str) -> pl.DataFrame:
    """An Arrow table as a frame; a column that cannot be converted is named."""
    # Custom metadata goes: pandas and R keep copies of values there (an index, attributes), which nobody would protect.
    table = table.replace_schema_metadata(None).unify_dictionaries()
    return pl.DataFrame([_series(name, table.field(i), table.column(i)) for i in range(table.num_columns)])


def write(frame: pl.DataFrame, path: Path, format_name: str) -> None:
    """Write a Parquet ("parquet") or Arrow ("arrow") file that holds the schema and the visible values, no more."""
    nested = frame.select(cs.nested() | cs.object()).columns
    if nested:
        raise InputError(
            f"{path.name}: a release is a flat table; the nested columns {itemize(nested)} cannot be written"
        )
    plain = frame.with_columns(cs.float().fill_nan(None), (cs.categorical() | cs.enum()).cast(pl.String))
    arrow = plain.to_arrow(compat_level=pl.CompatLevel.oldest())
    columns = {name: _bare(arrow.column(name), frame.schema[name]) for name in frame.columns}
    # A table made anew has no metadata, so none of polars' lists of all values of an Enum either.
    table = pa.table(columns)
    with writing(path):
        if format_name == "parquet":
            parquet.write_table(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)


def _table(path: Path, format_name: str, most: int) -> Any:
    try:
        if format_name == "parquet":
            file = parquet.ParquetFile(path)
            groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
            check_size(path, sum(group.total_byte_size for group in groups), most)
            return _valid(_collect(path, file.iter_batches(_ROWS_PER_BATCH), file.schema_arrow, most))
        with pa.OSFile(str(path)) as file:
            is_file = file.read(6) == b"ARROW1"
        with pa.OSFile(str(path)) as file:
            reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
            batches = (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader
            return _valid(_collect(path, batches, reader.schema, most))
    except (InputError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, EOFError):
        raise InputError(
            f"{path.name} cannot be read as {_WORDS[format_name]}; it is damaged, cut off or of another "
            "kind; save it again"
        ) from None


def _collect(path: Path, batches: Iterable[Any], schema: Any, most: int) -> Any:
    """The batches of a file as a table; refused as soon as they hold more than allowed, for a text that stands once in
    the file may stand in every record.
    """
    kept, size = [], 0
    for batch in batches:
        size += batch.nbytes
        check_size(path, size, most)
        kept.append(batch)
    return pa.Table.from_batches(kept, schema)


def _valid(table: Any) -> Any:
    """Check offsets and texts before polars works on them, which takes them to be right."""
    table.validate(full=True)
    return table


def _series(name: str, field: Any, column: Any) -> pl.Series:
    """Convert one column; one by one, so that the message can name the column that cannot be."""
    kind = field.type
    # polars does not raise an error over these but panics, with a trace on the terminal: a decimal beyond 38 digits,
    # and, in a damaged file, a time zone that is not text.
    if not pa.types.is_decimal256(kind) and "\ufffd" not in str(kind):
        try:
            series = pl.Series(field.name, column)
            return _keep_order(series, column) if pa.types.is_dictionary(kind) and kind.ordered else series
        except (Exception, pl.exceptions.PanicException):
            pass
    raise InputError(
        f"{name}: column '{field.name}' has the type {kind}, which is not supported; leave it out or convert it"
    )


def _keep_order(series: pl.Series, column: Any) -> pl.Series:
    """Keep the order of an ordered dictionary, which a Categorical would lose."""
    levels = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    if all(isinstance(level, str) for level in levels) and len(set(levels)) == len(levels):
        return series.cast(pl.Enum(levels))
    return series


def _bare(column: Any, dtype: pl.DataType) -> Any:
    """Rebuild an Arrow column so that nothing is in it but what can be seen."""
    column = column.combine_chunks()
    if column.null_count:
        # A null in Arrow is only a bit: the value may still lie behind it, and a suppressed one would be published.
        # So the nulls are taken out and put back as places that never had a value.
        valid = pc.is_valid(column)
        places = pc.if_else(
            valid, pc.subtract(pc.cumulative_sum(valid.cast(pa.int64())), 1), pa.scalar(None, pa.int64())
        )
        column = pc.drop_null(column).take(places)
    if pa.types.is_large_string(column.type):
        try:
            column = column.cast(pa.string())
        except pa.ArrowInvalid:  # more than 2 GB of text in one column
            return column
    if isinstance(dtype, pl.Enum):
        # Only the levels that occur, in their order: the others may be values that were protected away.
        present = set(pc.unique(column).to_pylist())
        levels = pa.array([level for level in dtype.categories if level in present], pa.string())
        return pa.DictionaryArray.from_arrays(pc.index_in(column, levels), levels, ordered=True)
    if isinstance(dtype, pl.Categorical):
        return column.dictionary_encode()
    return column
