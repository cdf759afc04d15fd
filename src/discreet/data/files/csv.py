"""Delimited text (CSV and its relatives) in and out.

Reading finds where the records stand (quotes, record ends, physical lines) before any value is parsed, so that every
message can name a line. Columns come as text, exactly as written; `assign_types` turns them into numbers and dates for
formats that have types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import polars.selectors as cs
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from discreet.data.checks import (
    SHOWN,
    check_names,
    check_readable,
    check_rows,
    itemize,
    name_index,
    settle_header,
    writing,
)
from discreet.data.files import sniff
from discreet.data.files.sniff import BOMS, Text, line_at, to_utf8
from discreet.data.files.source import Dialect, Source, check_decimal, parse_delimiter
from discreet.data.memory import largest_size, unpack_gzip
from discreet.data.values import read_numbers
from discreet.errors import InputError

_ROWS_PER_PIECE = 1 << 16
_BYTES_PER_PIECE = 1 << 25
_QUOTE, _LF, _CR = 34, 10, 13
_DELIMITER_NAMES = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}


def read(
    path: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    max_size: int | str | None = None,
) -> Source:
    """Read a delimited text file; every column comes as text exactly as written, blank as null.

    What is not given is found out: the encoding from the bytes (see `sniff.to_utf8`), the delimiter, the header
    and the decimal sign from the content (see `sniff`). Blank lines are skipped, but in a file of one column, where
    they are missing values.

    Parameters
    ----------
    path
        The file.
    delimiter
        The character between fields.
    encoding
        The text encoding.
    decimal
        The decimal sign, '.' or ','.
    header
        Whether the first line holds the column names; without them the columns are named column_1, column_2, ….
    max_size
        How much a file packed by gzip may hold once it is unpacked.
    """
    delimiter = None if delimiter is None else parse_delimiter(delimiter)
    decimal = None if decimal is None else check_decimal(decimal)
    check_readable(path)
    packed = path.suffix.lower() == ".gz"
    content = unpack_gzip(path, largest_size(path, max_size)) if packed else path.read_bytes()
    text = to_utf8(path, content, encoding)
    if not text.data.strip(b"\r\n "):
        raise InputError(f"{path.name} is empty (only blank lines); is it the right file, and was it saved completely?")
    sample, whole = sniff.sample_of(text.data)
    sign = sniff.delimiter_of(sample, whole=whole) if delimiter is None else delimiter
    where = layout(path, text.data, sign)
    blank = where.starts == where.ends
    first = int(blank.argmin())  # the first record is the first line that is not blank
    begin = next(iter(sniff.records(text.data[where.starts[first] : where.ends[first]].decode(), sign)), [])
    if not begin:
        raise InputError(f"{path.name}: the first line is too long to be one of column names; is it delimited text?")
    if len(begin) == 1:
        blank[first:] = False
    where = where.without(blank)

    rows = sniff.records(sample, sign, whole=whole) or [begin]
    if header is None:
        settle_header(path, sniff.doubt_header(rows))
    titled = header is not False
    if titled:
        names = name_index(begin)
        check_names(path, names)
        check_rows(path, where.starts.size - 1)
    else:
        names = [f"column_{i}" for i in range(1, len(begin) + 1)]
    frame = _parse(path, text.data, where, sign, names, skip=int(titled))
    point, doubtful = sniff.decimal_of(frame, sign) if decimal is None else (decimal, False)
    dialect = Dialect(sign, text.encoding, point, titled, text.bom, _newline(text.data))

    lines = where.lines[int(titled) :]
    regular = int(lines[-1]) - int(lines[0]) == lines.size - 1
    assumed = _list_assumptions(dialect, text, delimiter is None, doubtful)
    assumed += ["its first line the column names"] if header is None else []
    notes = [f"{path.name}: read as {', '.join(assumed)}"] if assumed else []
    if titled and names[0] != begin[0]:
        notes.append(f"{path.name}: the first column has no name and is called '{names[0]}'")
    if blank.any():
        notes.append(f"{path.name}: {int(blank.sum())} blank lines skipped")
    if len(names) == 1 and (nulls := int((where.starts == where.ends).sum())):
        notes.append(f"{path.name}: {nulls} blank lines read as missing values")
    numbering = None if regular else lines
    return Source(frame, path, "csv", dialect, None, tuple(notes), numbering, int(lines[0]))


def _parse(path: Path, data: bytes, where: Layout, delimiter: str, names: list[str], *, skip: int) -> pl.DataFrame:
    start = int(where.starts[skip])
    longest = int((where.ends - where.starts).max())
    keys = [str(i) for i in range(len(names))]
    try:
        table = csv.read_csv(
            pa.BufferReader(pa.py_buffer(data).slice(start)),
            # A block must hold at least one whole record.
            read_options=csv.ReadOptions(column_names=keys, block_size=max(1 << 22, 2 * longest + 2)),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=where.quotes.size > 0, ignore_empty_lines=len(names) > 1
            ),
            convert_options=csv.ConvertOptions(
                check_utf8=False,  # checked when the encoding was found
                column_types=dict.fromkeys(keys, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
    except (pa.ArrowException, OSError, ValueError):
        # The library's message quotes the record, so ours must not carry it along.
        raise _parse_error(path, data, where, delimiter) from None
    if table.num_rows != where.starts.size - skip:
        # Two readings of the same bytes disagree: better no data than shifted data.
        raise InputError(f"{path.name} cannot be read as delimited text: its quotes or line ends are irregular")
    columns = []
    for name in names:
        # One by one, and none is kept in both forms: a large file has no room for that.
        columns.append(pl.Series(name, table.column(0)))
        table = table.remove_column(0)
    return pl.DataFrame(columns)


def _parse_error(path: Path, data: bytes, where: Layout, delimiter: str) -> InputError:
    fields = where.fields(data, delimiter)
    wrong = (fields != fields[0]).nonzero()[0]
    if wrong.size == 0:
        return InputError(f"{path.name} cannot be read as delimited text; check it, or pass --delimiter")
    told = ", ".join(f"line {where.lines[i]} has {fields[i]}" for i in wrong[:SHOWN].tolist())
    rest = f" and {wrong.size - SHOWN} more lines differ" if wrong.size > SHOWN else ""
    return InputError(
        f"{path.name}: records differ from the {fields[0]} fields of the first line (delimiter "
        f"{_DELIMITER_NAMES.get(delimiter, repr(delimiter))}): {told}{rest}; correct them, quote fields that hold the "
        "delimiter, or pass --delimiter"
    )


def _newline(data: bytes) -> str:
    end = min((at for at in (data.find(b"\n"), data.find(b"\r")) if at >= 0), default=-1)
    if end < 0 or data[end : end + 1] == b"\n":
        return "\n"
    return "\r\n" if data[end + 1 : end + 2] == b"\n" else "\r"


def _list_assumptions(dialect: Dialect, text: Text, sniffed: bool, doubtful: bool) -> list[str]:
    parts = [f"{_DELIMITER_NAMES[dialect.delimiter]}-delimited"] if sniffed else []
    if doubtful:
        other = "point" if dialect.decimal == "," else "comma"
        parts.append(
            f"decimal {'comma' if dialect.decimal == ',' else 'point'} (some columns have a {other}; see --decimal)"
        )
    elif dialect.decimal == ",":
        parts.append("decimal comma")
    if text.assumed:
        parts.append(f"encoding {text.encoding} (not valid UTF-8)")
    elif text.encoding != "utf-8":
        parts.append(f"encoding {text.encoding}")
    return parts


def write(frame: pl.DataFrame, path: Path, dialect: Dialect) -> None:
    """Write a delimited text file: floats in the shortest form that reads back the same (24, not 24.0), null as blank.

    A value that begins like a formula of a spreadsheet is written as it is: to alter data is not the writer's to do.
    """
    nested = frame.select(cs.nested() | cs.binary() | cs.object() | cs.duration()).columns
    if nested:
        raise InputError(
            f"{path.name}: text cannot hold nested or binary values or spans of time ({itemize(nested)}); write Parquet"
        )
    frame = frame.with_columns(cs.float().fill_nan(None))
    mark = dialect.decimal
    # A record of one blank field would be a blank line, which readers skip: it is written as a quoted blank.
    blank = '""' if frame.width == 1 else ""
    with writing(path), path.open("wb") as file:
        # A text that begins with the sign of the mark itself would lose it without another before it.
        begins = frame.columns[0] if dialect.header else str(frame[0, 0]) if frame.height else ""
        if dialect.bom or begins.startswith("\ufeff"):
            file.write(BOMS.get(dialect.encoding, b""))
        # A frame without rows has no pieces but may still have a header.
        for i, piece in enumerate(frame.iter_slices(_ROWS_PER_PIECE) if frame.height else [frame]):
            # As text, so that a whole number has no decimals; the writer quotes where the mark is the delimiter.
            numbers = cs.float().cast(pl.String).str.replace(r"\.0$", "").str.replace(".", mark, literal=True)
            decimals = cs.decimal().cast(pl.String).str.replace(".", mark, literal=True)
            text = piece.with_columns(numbers, decimals).write_csv(
                include_header=dialect.header and i == 0,
                separator=dialect.delimiter,
                line_terminator=dialect.newline,
                null_value=blank,
            )
            if "\0" in text:
                zero = cs.string().str.contains("\0", literal=True).any()
                found = piece.select(cs.categorical() | cs.enum() | cs.string()).cast(pl.String).select(zero)
                named = itemize([one.name for one in found.iter_columns() if one[0]])
                raise InputError(f"{path.name}: delimited text cannot hold zero bytes (column {named}); write Parquet")
            try:
                file.write(text.encode(dialect.encoding))
            except UnicodeEncodeError:
                raise _encoding_error(path, piece.select(pl.all().cast(pl.String)), dialect.encoding) from None


def _encoding_error(path: Path, frame: pl.DataFrame, encoding: str) -> InputError:
    for series in frame.iter_columns():
        try:
            series.name.encode(encoding)
            for value in series.unique().drop_nulls():
                value.encode(encoding)
        except UnicodeEncodeError:
            return InputError(
                f"{path.name}: column '{series.name}' has signs that {encoding}, the encoding of the input, cannot "
                "write; save the input as UTF-8 first"
            )
    return InputError(f"{path.name}: the encoding {encoding} cannot write the data; save the input as UTF-8 first")


def assign_types(frame: pl.DataFrame, decimal: str) -> pl.DataFrame:
    """Columns of text that are plainly numbers or ISO dates get that type; nothing is lost.

    A number with more than 15 significant digits might not be the same as a double, so its column stays text.
    A column with leading zeros is one of codes and stays text, as does one with words for missing values.
    """
    return frame.with_columns(
        _assign_type(frame[name], decimal) for name, dtype in frame.schema.items() if dtype == pl.String
    )


def _assign_type(column: pl.Series, decimal: str) -> pl.Series:
    present = column.drop_nulls()
    if not len(present):
        return column
    if present.str.contains(r"^-?(0|[1-9]\d{0,17})$").all():
        return column.cast(pl.Int64)
    mark = r"\." if decimal == "." else ","
    if present.str.contains(rf"^-?(0|[1-9]\d*)?({mark}\d+)?([eE][+-]?\d+)?$").all():
        numbers, wrong = read_numbers(column, decimal)
        if not len(wrong) and numbers.is_finite().all() and _fit_into_doubles(present):
            return numbers
    if present.str.contains(r"^\d{4}-\d\d-\d\d$").all():
        dates = column.str.to_date("%Y-%m-%d", strict=False)
        if dates.null_count() == column.null_count():
            return dates
    return column


def _fit_into_doubles(present: pl.Series) -> bool:
    digits = present.str.replace_all(r"[eE].*$", "").str.replace_all(r"[^0-9]", "").str.strip_chars_start("0")
    return bool((digits.str.len_chars() <= 15).all())


@dataclass(frozen=True)
class Layout:
    """Records of a UTF-8 text, by byte offsets.

    Attributes
    ----------
    starts, ends
        Offsets of the first byte of each record and of the byte behind its last, line end excluded.
    lines
        The 1-based physical line in which each record begins.
    quotes
        Offsets of the quotes that open and close fields, in turns.
    """

    starts: NDArray[np.int64] = field(repr=False)
    ends: NDArray[np.int64] = field(repr=False)
    lines: NDArray[np.int64] = field(repr=False)
    quotes: NDArray[np.int64] = field(repr=False)

    def without(self, drop: NDArray[np.bool_]) -> Layout:
        """Return the layout without the records marked in `drop`."""
        keep = ~drop
        return Layout(self.starts[keep], self.ends[keep], self.lines[keep], self.quotes)

    def fields(self, data: bytes, delimiter: str) -> NDArray[np.int64]:
        """Count the fields of each record."""
        at = _positions(np.frombuffer(data, np.uint8), ord(delimiter))
        at = at[np.searchsorted(self.quotes, at) % 2 == 0]
        return np.asarray(np.searchsorted(at, self.ends) - np.searchsorted(at, self.starts) + 1, dtype=np.int64)


def layout(path: Path, data: bytes, delimiter: str) -> Layout:
    """Find the records of a UTF-8 text; a quote not closed, or closed amid a field, is an error with its line."""
    buffer = np.frombuffer(data, np.uint8)
    quotes = _field_quotes(path, data, buffer, delimiter)
    breaks = _line_ends(data, buffer)
    inside = np.searchsorted(quotes, breaks) % 2 == 1
    bounds = breaks[~inside]
    starts = np.concatenate([[0], bounds + 1])
    # Behind the n-th line end (counting from 0) the line n + 2 begins.
    lines = np.concatenate([[1], np.flatnonzero(~inside) + 2])
    crlf = (buffer[bounds] == _LF) & (bounds > 0) & (buffer[np.maximum(bounds - 1, 0)] == _CR)
    ends = np.concatenate([bounds - crlf, [len(data)]])
    if starts[-1] == len(data):  # nothing follows the last line end
        starts, ends, lines = starts[:-1], ends[:-1], lines[:-1]
    return Layout(starts.astype(np.int64), ends.astype(np.int64), lines.astype(np.int64), quotes)


def _positions(buffer: NDArray[np.uint8], *bytes_: int) -> NDArray[np.int64]:
    """Return where any of `bytes_` stands, in pieces so that the masks stay small."""
    found = [np.empty(0, np.int64)]
    for start in range(0, buffer.size, _BYTES_PER_PIECE):
        piece = buffer[start : start + _BYTES_PER_PIECE]
        mask = piece == bytes_[0]
        for other in bytes_[1:]:
            mask |= piece == other
        found.append(np.flatnonzero(mask) + start)
    return np.concatenate(found)


def _line_ends(data: bytes, buffer: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return where the lines end: at LF, at the LF of CR LF, at a lone CR."""
    if b"\r" not in data:
        return _positions(buffer, _LF)
    at = _positions(buffer, _LF, _CR)
    following = buffer[np.minimum(at + 1, buffer.size - 1)]
    before_lf = (buffer[at] == _CR) & (at + 1 < buffer.size) & (following == _LF)
    return np.asarray(at[~before_lf], dtype=np.int64)


def _field_quotes(path: Path, data: bytes, buffer: NDArray[np.uint8], delimiter: str) -> NDArray[np.int64]:
    """Return the quotes that open and close fields.

    If every first, third, … quote stands at the beginning of a field (or continues a doubled quote) and every second,
    fourth, … at the end of one (or begins a doubled quote), then the turns of the quotes are the structure. That is
    seen for all quotes at once; only a text in which it does not hold is walked through quote by quote.
    """
    at = _positions(buffer, _QUOTE)
    if at.size == 0:
        return at
    edges = np.zeros(256, dtype=np.bool_)
    edges[[ord(delimiter), _LF, _CR]] = True
    before = np.where(at > 0, buffer[np.maximum(at - 1, 0)], _LF)
    after = np.where(at + 1 < buffer.size, buffer[np.minimum(at + 1, buffer.size - 1)], _LF)
    opens, closes = before[0::2], after[1::2]
    if at.size % 2 == 0 and (edges[opens] | (opens == _QUOTE)).all() and (edges[closes] | (closes == _QUOTE)).all():
        return at
    return _walk(path, data, at.tolist(), edges[before].tolist(), edges[after].tolist())


def _walk(path: Path, data: bytes, at: list[int], begins: list[bool], ends: list[bool]) -> NDArray[np.int64]:
    found: list[int] = []
    opened: int | None = None
    i = 0
    while i < len(at):
        if opened is None:
            if begins[i]:  # elsewhere a quote is a sign like any other, as in 5" pipe
                opened = at[i]
                found.append(opened)
        elif i + 1 < len(at) and at[i + 1] == at[i] + 1:
            i += 1  # a doubled quote inside the field
        elif ends[i]:
            found.append(at[i])
            opened = None
        else:
            raise InputError(
                f"{path.name}, line {line_at(data, opened)}: a quote opens a field there and the next quote, in line "
                f"{line_at(data, at[i])}, does not close it at the end of a field; close it, or double quotes inside it"
            )
        i += 1
    if opened is not None:
        raise InputError(
            f"{path.name}, line {line_at(data, opened)}: a quote opens a field and is never closed; close or double it"
        )
    return np.array(found, dtype=np.int64)
