"""Bytes of a text file to UTF-8: what the encoding is, and where it does not hold."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from discreet.errors import InputError

# UTF-32 before UTF-16, because the mark of the one begins with the mark of the other.
BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
_CHUNK = 1 << 24

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
        return Text(_transcoded(path, raw[len(BOMS[marked]) :], marked), marked, bom=True, assumed=False)
    wide = named is not None and named.startswith(("utf-16", "utf-32"))
    if not wide and (zero := raw.find(0)) >= 0:
        raise InputError(
            f"{path.name} looks like a binary file, not like delimited text (NUL byte in line {line_at(raw, zero)}); "
            "if it is UTF-16 text without a mark, pass --encoding utf-16-le"
        )
    if named is not None:
        # Without a mark, "utf-16" means little-endian: it is what Windows writes.
        name = {"utf-16": "utf-16-le", "utf-32": "utf-32-le", "utf-8-sig": "utf-8"}.get(named, named)
        return Text(_transcoded(path, raw, name), name, bom=False, assumed=False)
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
    return Text(_transcoded(path, raw, "cp1252"), "cp1252", bom=False, assumed=True)


def _codec(encoding: str) -> str:
    try:
        "".encode(encoding)  # refuses codecs such as hex, which are not of text
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        raise InputError(f"unknown encoding '{encoding}'; pass such as utf-8, cp1252, latin-1 or utf-16") from None


def _decoded(raw: bytes, encoding: str) -> Iterator[str]:
    """Decode piece by piece, so that a large file is never held as one string."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    view = memoryview(raw)
    for start in range(0, len(raw), _CHUNK):
        yield decoder.decode(view[start : start + _CHUNK], final=start + _CHUNK >= len(raw))


def _first_bad(raw: bytes, encoding: str) -> int | None:
    """Return the offset of the first byte that `encoding` cannot be, or None."""
    try:
        for _ in _decoded(raw, encoding):
            pass
    except UnicodeError:
        try:
            raw.decode(encoding)
        except UnicodeDecodeError as error:
            return error.start
        except UnicodeError:
            return 0
    return None


def _transcoded(path: Path, raw: bytes, encoding: str) -> bytes:
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
        return b"".join(part.encode("utf-8") for part in _decoded(raw, encoding))
    except UnicodeEncodeError:
        raise InputError(f"{path.name}: the text is not valid {encoding}; pass --encoding") from None
