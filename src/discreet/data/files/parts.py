"""Microdata in many files, or in one that is too large to be read at once: found, cut into pieces, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs
import pyarrow as pa
from pyarrow import csv, parquet

from discreet.data import databases
from discreet.data.checks import check_names, check_readable
from discreet.data.databases.address import is_address, names_table
from discreet.data.files import arrow as columnar
from discreet.data.files import csv as delimited
from discreet.data.files import format_of
from discreet.data.files.source import Dialect, Source
from discreet.data.memory import allocating, available
from discreet.errors import InputError
from discreet.text import count

# Records of a piece, of a batch of it, and of the head by which types are settled.
PIECE, BATCH, HEAD = 1 << 20, 1 << 17, 1 << 17
_HEAD_BYTES = 1 << 24
_FORMATS = ("parquet", "csv", "arrow")
_ENDINGS = (".parquet", ".pq", ".csv", ".tsv", ".txt", ".arrow", ".feather", ".ipc")


@dataclass(frozen=True)
class Piece:
    """What one task reads: some row groups of a Parquet file, some batches of an Arrow file, or a whole file."""

    path: str
    first: int = 0
    count: int | None = None


def is_many(data: object) -> bool:
    """Whether data is a folder, or a pattern of file names such as data/*.parquet."""
    if is_address(data) or not isinstance(data, str | Path):
        return False
    return Path(data).is_dir() or (has_magic(str(data)) and not Path(data).exists())


def find_parts(data: str | Path) -> tuple[list[Path], str]:
    """The files that a folder, a pattern or a name stands for, in the order of their names, and their format."""
    path = Path(data)
    if path.is_dir():
        found = sorted(one for one in path.iterdir() if one.is_file() and not one.name.startswith((".", "_")))
        found = [one for one in found if one.suffix.lower() not in (".json", ".md", ".toml")]
    elif has_magic(str(data)) and not path.exists():
        matches = glob(str(data), recursive=True)  # noqa: PTH207 - the pattern may be absolute
        found = sorted(Path(one) for one in matches if Path(one).is_file())
    else:
        found = [path]
    if not found:
        raise InputError(f"{data}: there are no files; name a folder of Parquet, CSV or Arrow files, or a pattern")
    formats = {format_of(one) for one in found}
    if len(formats) > 1 or not formats <= set(_FORMATS):
        raise InputError(f"{data}: the parts must all be Parquet, all CSV or all Arrow files, not {_join(formats)}")
    for one in found:
        check_readable(one)
    return found, formats.pop()


def _join(formats: set[str]) -> str:
    return " and ".join(sorted(formats))


def read_head(path: Path, format_name: str, room: Path, **reading: Any) -> Source:
    """The first records of a file, by which dialect and types are settled; of text a copy of its beginning is read.

    Parameters
    ----------
    path : Path
        The file.
    format_name : str
        parquet, csv or arrow.
    room : Path
        A folder for the copy.
    **reading
        How delimited text is read, as `discreet.data.files.read` takes it.
    """
    if format_name != "csv":
        if reading:
            raise InputError(f"{next(iter(reading))} does not apply to {path.name}; leave it out")
        frame = next(_batches(Piece(str(path)), format_name, None, HEAD), None)
        if frame is None:
            raise InputError(f"{path.name} has no records; leave it out")
        return Source(frame, path, format_name, categories=_categories(path, format_name))
    packed = path.suffix.lower() == ".gz"
    name = path.with_suffix("").name if packed else path.name
    with pa.input_stream(str(path), compression="gzip" if packed else None) as file:
        content = file.read(_HEAD_BYTES)
        content = content if not file.read(1) else content[: _last_record(content)]
    copy = room / name
    copy.write_bytes(content)
    try:
        return replace(delimited.read(copy, **reading), path=path)
    finally:
        copy.unlink()


def _last_record(content: bytes) -> int:
    """Where the last whole record of the beginning of a text ends: a line end behind an even number of quotes."""
    end = len(content)
    while (end := content.rfind(b"\n", 0, end)) >= 0:
        if content.count(b'"', 0, end) % 2 == 0:
            return end + 1
    raise InputError("the first line is too long to be one of column names; is it delimited text?")


def _categories(path: Path, format_name: str) -> tuple[tuple[str, bool, list[Any]], ...]:
    """Columns that are categories, as the beginning of a file says."""
    if format_name == "parquet":
        file = parquet.ParquetFile(path)
        table = pa.Table.from_batches([next(file.iter_batches(1))], file.schema_arrow)
    else:
        with pa.OSFile(str(path)) as file:
            table = next(_arrow_batches(file, 0, 1))
    return tuple(columnar.find_dictionaries(table))


def cut(paths: Sequence[Path], format_name: str) -> list[Piece]:
    """The pieces of files, in order; they depend on the files alone."""
    pieces = []
    for path in paths:
        with _reading(path, format_name):
            pieces += list(_cut(path, format_name))
    return pieces


def _cut(path: Path, format_name: str) -> Iterator[Piece]:
    if format_name == "csv":
        yield Piece(str(path))
        return
    if format_name == "parquet":
        meta = parquet.ParquetFile(path).metadata
        sizes = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
    else:
        with pa.OSFile(str(path)) as file:
            if file.read(6) != b"ARROW1":  # a stream has no index
                yield Piece(str(path))
                return
        with pa.memory_map(str(path)) as file:
            reader = pa.ipc.open_file(file)
            sizes = [reader.get_batch(i).num_rows for i in range(reader.num_record_batches)]
    first = rows = 0
    for place, size in enumerate(sizes):
        if rows and rows + size > PIECE:
            yield Piece(str(path), first, place - first)
            first, rows = place, 0
        rows += size
    if sizes:
        yield Piece(str(path), first, len(sizes) - first)


def estimate_records(paths: Sequence[Path], format_name: str) -> int:
    """About how many records files have, and at least one: as the files say, or of text by its size."""
    if format_name == "parquet":
        return max(1, sum(int(parquet.ParquetFile(path).metadata.num_rows) for path in paths))
    # A record of text takes some fifty bytes, packed a fifth of that; one of Arrow about as much.
    sizes = [path.stat().st_size * (5 if path.suffix.lower() == ".gz" else 1) for path in paths]
    return max(1, sum(sizes) // 50)


# Bytes of memory for each byte that is read, and for each value, at most: as read, as released, and as points.
_PER_BYTE, _PER_VALUE = 3, 144
# A value of delimited text takes about so many bytes.
_TEXT_BYTES = 7


def exceeds(path: Path, memory: int | None = None) -> bool:
    """Whether one file would not fit into the memory, by default half of what is free, when it is protected at once."""
    is_table = is_address(path) and names_table(path)
    if not is_table and path.suffix.lower() not in _ENDINGS:
        return False
    room = memory
    if room is None:
        free = available()
        room = None if free is None else free // 2
    if room is not None and is_table:
        size = databases.estimate_size(path)
        return _PER_BYTE * size + _PER_VALUE * (size // 8) > room
    if room is None or not path.is_file():
        return False
    size = path.stat().st_size
    values = size // _TEXT_BYTES
    if format_of(path) == "parquet":
        try:
            meta = parquet.ParquetFile(path).metadata
        except (pa.ArrowException, OSError, ValueError):
            return False  # whoever reads it says what is wrong
        size = sum(meta.row_group(i).total_byte_size for i in range(meta.num_row_groups))
        values = meta.num_rows * meta.num_columns
    elif format_of(path) == "arrow":
        values = size // 8
    return bool(_PER_BYTE * size + _PER_VALUE * values > room)


def read_piece(
    piece: Piece, format_name: str, columns: Sequence[str], schema: pl.Schema, dialect: Dialect | None = None
) -> Iterator[pl.DataFrame]:
    """The records of a piece, batch by batch; refused where its columns are not those of the first part.

    Parameters
    ----------
    piece : Piece
        What to read.
    format_name : str
        parquet, csv or arrow.
    columns : sequence of str
        The columns to give, in this order.
    schema : polars.Schema
        All columns of the first part, with their types.
    dialect : Dialect, optional
        How delimited text is written.
    """
    name = Path(piece.path).name
    for frame in _batches(piece, format_name, dialect, BATCH, list(schema)):
        lost = [column for column in schema if column not in frame.columns]
        if lost or frame.width != len(schema):
            raise InputError(f"{name}: its columns are not those of the first part; all parts must have the same")
        other = [column for column in columns if frame.schema[column] != schema[column]]
        if other:
            raise InputError(
                f"{name}: column '{other[0]}' is of another type than in the first part; save all parts alike"
            )
        yield frame.select(columns)


def _batches(
    piece: Piece, format_name: str, dialect: Dialect | None, rows: int, names: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    path = Path(piece.path)
    with _reading(path, format_name), allocating(path.name):
        if format_name == "csv":
            yield from _text_batches(path, dialect or Dialect(), names)
        elif format_name == "parquet":
            file = parquet.ParquetFile(path)
            check_names(path, file.schema_arrow.names)
            groups = None if piece.count is None else list(range(piece.first, piece.first + piece.count))
            for batch in file.iter_batches(rows, row_groups=groups):
                yield _frame(pa.Table.from_batches([batch]), path)
        else:
            with pa.memory_map(str(path)) as mapped:
                for table in _arrow_batches(mapped, piece.first, piece.count):
                    for start in range(0, table.num_rows, rows):
                        yield _frame(table.slice(start, rows), path)


def _arrow_batches(file: Any, first: int, number: int | None) -> Iterator[Any]:
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    if not is_file:
        for batch in pa.ipc.open_stream(file):
            yield pa.Table.from_batches([batch])
        return
    reader = pa.ipc.open_file(file)
    for i in range(first, reader.num_record_batches if number is None else first + number):
        yield pa.Table.from_batches([reader.get_batch(i)])


def _frame(table: Any, path: Path) -> pl.DataFrame:
    table.validate(full=True)
    frame = columnar.to_frame(table, path.name)
    # Categories by their texts: their numbers differ from batch to batch.
    return frame.with_columns(cs.float().fill_nan(None), (cs.categorical() | cs.enum()).cast(pl.String))


def _text_batches(path: Path, dialect: Dialect, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    keys = [str(i) for i in range(len(names))]
    packed = path.suffix.lower() == ".gz"
    with pa.input_stream(str(path), compression="gzip" if packed else None) as file:
        reader = csv.open_csv(
            file,
            read_options=csv.ReadOptions(
                column_names=keys,
                skip_rows_after_names=int(dialect.header),
                block_size=1 << 23,
                encoding=dialect.encoding,
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=True, ignore_empty_lines=len(names) > 1
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(keys, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        for batch in reader:
            frame = pl.from_arrow(pa.Table.from_batches([batch]))
            assert isinstance(frame, pl.DataFrame)
            frame.columns = list(names)
            if frame.height:
                yield frame


class _reading:  # noqa: N801 - reads as a block, "with _reading(path)"
    """Turn the failure of a library to read a file into our own words, which quote nothing of it."""

    def __init__(self, path: Path, format_name: str) -> None:
        self._path, self._format = path, format_name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError | MemoryError) or not isinstance(
            error, pa.ArrowException | OSError | ValueError | EOFError
        ):
            return
        raise InputError(
            f"{self._path.name} cannot be read as {self._format}; it is damaged, cut off, of another kind or other "
            "than the first part; save it again"
        ) from None


def describe_parts(paths: Sequence[Path]) -> str:
    """Files in words."""
    return paths[0].name if len(paths) == 1 else f"{count(len(paths), 'file')} in {paths[0].parent.name or '.'}"
