"""Finding out how a delimited text is written: its encoding, its delimiter, its decimal sign, whether it has a header.

The encoding is found from all the bytes, the rest from the first records or from whole columns.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from discreet.data.values import MISSING_WORDS
from discreet.errors import InputError

CANDIDATES = ",;\t|"
_SAMPLE_CHARACTERS = 1 << 18
_SAMPLE_RECORDS = 1000
_BYTES_PER_PIECE = 1 << 24
_NUMBER = re.compile(r"\s*[+-]?(\d+([.,' ]\d+)*[.,]?|[.,]\d+)([eE][+-]?\d+)?\s*%?\s*")
_DATE = re.compile(r"\s*\d{1,4}([-/.])\d{1,2}\1\d{1,4}([ T].*)?\s*|\s*\d{1,2}:\d{2}(:\d{2})?.*")
# Words for a missing value as respondents and interviewers leave them, for finding the header only.
_MISSING = frozenset(
    {"", ".", "-", "--", "---", "?", "*", "na", "n/a", "n.a.", "n.a", "n/d", "n.d.", "nan", "null", "none"}
    | {"nil", "missing", "#n/a", "<na>", "unknown", "unk", "refused", "refusal", "declined", "no answer", "not stated"}
    | {"not available", "not applicable", "not known", "don't know", "dont know", "do not know", "dk"}
    | {"k.a.", "k. a.", "keine angabe", "unbekannt", "verweigert", "weiß nicht", "weiss nicht", "fehlt"}
    | {"inconnu", "refus", "nsp", "ns/nr", "ns/nc", "desconocido", "sin dato", "sconosciuto", "onbekend", "okänd"}
)
# UTF-32 before UTF-16, because the mark of the one begins with the mark of the other.
BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# How other kinds of file begin. Someone renames, or exports with the wrong suffix, all of these in practice.
_MAGIC = (
    (b"PAR1", "a Parquet file", "rename it to .parquet"),
    (b"ARROW1", "an Arrow file", "rename it to .arrow"),
    (b"FEA1", "an old Feather file", "save it again as Parquet"),
    (b"PK\x03\x04", "an Excel workbook or a zip archive", "rename it to .xlsx, or unpack it"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook", "save it as .xlsx"),
    (b"\x1f\x8b", "a gzip-compressed file", "unpack it first"),
    (b"BZh", "a bzip2-compressed file", "unpack it first"),
    (b"\xfd7zXZ\x00", "an xz-compressed file", "unpack it first"),
    (b"\x28\xb5\x2f\xfd", "a zstd-compressed file", "unpack it first"),
    (b"$FL2", "an SPSS file", "rename it to .sav"),
    (b"$FL3", "a compressed SPSS file", "rename it to .zsav"),
    (b"<stata_dta>", "a Stata file", "rename it to .dta"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file", "export it as CSV or Parquet"),
)


@dataclass(frozen=True)
class Text:
    """The content of a text file as UTF-8 without a mark, and how it was encoded."""

    data: bytes = field(repr=False)
    encoding: str
    bom: bool
    assumed: bool


def line_at(data: bytes, offset: int) -> int:
    """Return the 1-based physical line of a byte offset; lines end with LF, CR LF or CR."""
    return 1 + sum(data.count(end, 0, offset) for end in (b"\n", b"\r")) - data.count(b"\r\n", 0, offset)


def to_utf8(path: Path, raw: bytes, encoding: str | None = None) -> Text:
    """Bring the bytes of a text file to UTF-8.

    A byte order mark decides; without one the file is UTF-8 if it is valid UTF-8, and else is assumed to be cp1252,
    the encoding in which Windows programs save text in Western languages.

    Parameters
    ----------
    path
        The file, for messages.
    raw
        Its content.
    encoding
        The encoding if the user named it.
    """
    for magic, looks, advice in _MAGIC:
        if raw.startswith(magic):
            raise InputError(f"{path.name} looks like {looks}, not like delimited text; {advice}")
    marked = next((name for name, mark in BOMS.items() if raw.startswith(mark)), None)
    named = None if encoding is None else _codec(encoding)
    if marked is not None and named is not None and named not in (marked, marked[:6], f"{marked}-sig"):
        raise InputError(
            f"{path.name} begins with a mark of {marked}, but the encoding {encoding} was given; leave it out"
        )
    if marked is not None:
        return Text(_transcode(path, raw[len(BOMS[marked]) :], marked), marked, bom=True, assumed=False)
    wide = named is not None and named.startswith(("utf-16", "utf-32"))
    if not wide and (zero := raw.find(0)) >= 0:
        raise InputError(
            f"{path.name} looks like a binary file, not like delimited text (NUL byte in line {line_at(raw, zero)}); "
            "if it is UTF-16 text without a mark, pass --encoding utf-16-le"
        )
    if named is not None:
        # Without a mark, "utf-16" means little-endian: it is what Windows writes.
        name = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(named, named)
        return Text(_transcode(path, raw, name), name, bom=False, assumed=False)
    bad = _first_bad(raw, "utf-8")
    if bad is None:
        return Text(raw, "utf-8", bom=False, assumed=False)
    if not raw[:bad].isascii():
        # Valid UTF-8 beyond ASCII does not come about by accident: the file is damaged or mixed, and to read all of
        # it as cp1252 would garble the good part.
        raise InputError(
            f"{path.name}, line {line_at(raw, bad)}: not valid UTF-8, though the lines before are; the file is damaged "
            "or mixes encodings; repair it, or pass --encoding"
        )
    if _first_bad(raw, "cp1252") is not None:
        raise InputError(
            f"{path.name}, line {line_at(raw, bad)}: the text is neither UTF-8 nor cp1252; pass --encoding with the "
            "encoding it was saved in"
        )
    return Text(_transcode(path, raw, "cp1252"), "cp1252", bom=False, assumed=True)


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses codecs such as hex, which are not of text
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        raise InputError(f"unknown encoding '{encoding}'; pass such as utf-8, cp1252, latin-1 or utf-16") from None


def _decode(raw: bytes, encoding: str) -> Iterator[str]:
    """Decode piece by piece, so that a large file is never held as one string."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    view = memoryview(raw)
    for start in range(0, len(raw), _BYTES_PER_PIECE):
        yield decoder.decode(view[start : start + _BYTES_PER_PIECE], final=start + _BYTES_PER_PIECE >= len(raw))


def _first_bad(raw: bytes, encoding: str) -> int | None:
    """Return the offset of the first byte that `encoding` cannot be, or None."""
    try:
        for _ in _decode(raw, encoding):
            pass
    except UnicodeError:
        try:
            raw.decode(encoding)
        except UnicodeDecodeError as error:
            return error.start
        except UnicodeError:
            return 0
    return None


def _transcode(path: Path, raw: bytes, encoding: str) -> bytes:
    bad = _first_bad(raw, encoding)
    if bad is not None:
        text = raw[:bad].decode(encoding, "replace").encode("utf-8", "replace")
        raise InputError(
            f"{path.name}, line {line_at(text, len(text))}: the text is not valid {encoding}; pass --encoding with the "
            "encoding it was saved in"
        )
    if encoding == "utf-8":
        return raw
    try:
        return b"".join(part.encode("utf-8") for part in _decode(raw, encoding))
    except UnicodeEncodeError:
        raise InputError(f"{path.name}: the text is not valid {encoding}; pass --encoding") from None


def sample_of(data: bytes) -> tuple[str, bool]:
    """Return the beginning of a UTF-8 text, and whether that is all of it."""
    piece = data[:_SAMPLE_CHARACTERS]
    return piece.decode("utf-8", "ignore"), len(piece) == len(data)


def records(sample: str, delimiter: str, *, whole: bool = True) -> list[list[str]]:
    """Split a sample into its first records; a last record that may be cut off is left out, as are blank lines."""
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) > _SAMPLE_RECORDS:
                break
    except csv.Error:  # a field beyond the reader's limit; what came before it is sample enough
        whole = True
    if (not whole or len(rows) > _SAMPLE_RECORDS) and len(rows) > 1:
        rows.pop()
    return [row for row in rows if row]


def delimiter_of(sample: str, *, whole: bool = True) -> str:
    """Find the delimiter.

    It must stand in the first record. Of several candidates the best is the one by which most records have as many
    fields as the first; then the one that leaves the fewest fields with another candidate in them (a decimal comma
    and a comma before a space excepted); then the one that gives the most numbers; then the one with most fields.
    Without any, the file has one column: then a comma, or a semicolon if the values are numbers with a decimal comma.
    """
    scores: dict[str, tuple[float, float, float, int]] = {}
    for candidate in CANDIDATES:
        rows = records(sample, candidate, whole=whole)
        width = len(rows[0]) if rows else 0
        if width < 2:
            continue
        fields = [value for row in rows for value in row]
        others = re.compile("[" + re.escape(CANDIDATES.replace(candidate, "")) + r"](?! )")
        mixed = sum(1 for value in fields if others.search(value) and not _is_value(value))
        scores[candidate] = (
            sum(len(row) == width for row in rows) / len(rows),
            -mixed / len(fields),
            sum(map(_is_value, fields)) / len(fields),
            width,
        )
    if scores:
        return max(scores, key=lambda candidate: scores[candidate])
    values = [row[0] for row in records(sample, "\t", whole=whole)[1:]]
    return ";" if any("," in v for v in values) and all(_is_value(v) for v in values) else ","


def doubt_header(rows: list[list[str]]) -> str:
    """Say why the first record may be one of a respondent and not the names of the columns; nothing where it is plain.

    It is plain where text stands above a column of nothing but numbers or dates, no number or date is in the first
    record, and no text of it comes again further down in its column. Words for missing values count neither above nor
    below. In doubt the user has to say: to take a record for a header would publish a respondent's values as names.
    """
    first, rest = rows[0], rows[1:]
    if any(map(_is_value, first)):
        return "a number or a date stands in it"
    plain = False
    for column, cell in enumerate(first):
        if _is_missing(cell):
            continue
        body = [row[column] for row in rest if column < len(row) and not _is_missing(row[column])]
        if cell in body:
            return "a text in it comes again further down"
        plain = plain or (bool(body) and all(map(_is_value, body)))
    return "" if plain else "no text in it stands above a column of numbers or dates"


def decimal_of(frame: pl.DataFrame, delimiter: str) -> tuple[str, bool]:
    """Find the decimal sign from whole columns of numbers, and whether the columns disagree.

    A comma, if a column holds nothing but numbers and some with a decimal comma. Where all of these could as well be
    thousands (1,250), it is a comma only if the delimiter is another sign and no column has decimal points.
    """
    comma, thousands = False, False
    for series in frame.iter_columns():
        if not series.str.contains(",", literal=True).any():
            continue
        values = series.drop_nulls()
        values = values.filter(~values.str.strip_chars().str.to_lowercase().is_in(list(MISSING_WORDS)))
        if values.str.contains(r"^\s*[+-]?(\d+|\d*,\d+)([eE][+-]?\d+)?\s*$").all():
            with_comma = values.filter(values.str.contains(",", literal=True))
            if with_comma.str.contains(r"^\s*[+-]?\d{1,3},\d{3}\s*$").all():
                thousands = True
            else:
                comma = True
    if not comma and not thousands:
        return ".", False
    point = any(_has_points(series) for series in frame.iter_columns())
    if comma:
        return ",", point
    return (",", False) if delimiter != "," and not point else (".", True)


def _has_points(series: pl.Series) -> bool:
    if not series.str.contains(".", literal=True).any():
        return False
    return bool(series.drop_nulls().str.contains(r"^\s*[+-]?(\d+|\d*\.\d+)([eE][+-]?\d+)?\s*$").all())


def _is_value(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell) or _DATE.fullmatch(cell))


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in _MISSING
