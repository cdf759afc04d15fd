"""How a delimited text file is written."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.errors import InputError

_SPELLINGS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}


@dataclass(frozen=True)
class Dialect:
    r"""How a delimited text file is written.

    Fields are quoted with ``"``, doubled inside a quoted field, in every dialect.

    Attributes
    ----------
    delimiter
        The character between fields.
    encoding
        A Python codec name, without a byte order (it is in the name) or mark (it is in `bom`).
    decimal
        The decimal sign, ``.`` or ``,``.
    header
        Whether the first line holds the column names.
    bom
        Whether the file begins with a byte order mark.
    newline
        What ends a line: ``\n``, ``\r\n`` or ``\r``.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    header: bool = True
    bom: bool = False
    newline: str = "\n"


def checked_delimiter(delimiter: str) -> str:
    """Return the delimiter a user meant, such as a tab for "tab", or say what is wrong with it."""
    delimiter = _SPELLINGS.get(delimiter.lower(), delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0' or delimiter.isalnum():
        raise InputError("the delimiter must be one sign, such as ',' ';' '|' or 'tab' (not a letter, digit or quote)")
    return delimiter


def checked_decimal(decimal: str) -> str:
    """Return `decimal` if it is a decimal sign, or say what is allowed."""
    if decimal not in (".", ","):
        raise InputError("the decimal sign must be '.' or ','")
    return decimal
