"""Small text files as τ-ARGUS writes them: their encoding, their lines, their fields and their numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from discreet.data.checks import check_readable, itemize
from discreet.errors import CodesError, InputError

BLANKS = " \t\r"


def content(path: Path) -> str:
    """The text of a file: UTF-8 with or without a byte order mark, else latin-1."""
    check_readable(path)
    return decode(path, path.read_bytes())


def decode(path: Path, raw: bytes) -> str:
    """Bytes as text: UTF-8 with or without a byte order mark, else latin-1."""
    if b"\0" in raw:
        raise InputError(f"{path.name} is not a text file in UTF-8 or latin-1; save it as one")
    # Programs of the time of DOS end a text with a control character.
    raw = raw.rstrip(b"\x1a")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def lines_of(text: str) -> list[str]:
    """The lines without what ends them. Only LF and CR LF end a line: a code may have any other sign in it."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def records(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that is not blank, with the number of the line; a field may stand in double quotes."""
    reader = csv.reader((line + "\n" for line in lines_of(text)), delimiter=separator, strict=True)
    before = 0
    try:
        for fields in reader:
            number, before = before + 1, reader.line_num
            if fields and (len(fields) > 1 or fields[0].strip()):
                yield number, fields
    except csv.Error:
        raise InputError(
            f"{path.name}, line {before + 1}: the fields cannot be told apart; look for a quotation mark without its "
            "other half"
        ) from None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have every error name the file."""
    try:
        yield
    except InputError as error:
        if path.name in str(error):
            raise
        raise InputError(f"{path.name}: {error}") from None


def list_lines(lines: Sequence[int]) -> str:
    """Where something stands, in words: "lines 4, 9 and 12 more"; what stands there is not told."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    return f"lines {itemize([str(line) for line in lines])}" if lines else "no line"


def word(number: float) -> str:
    """A number in the fewest digits that read back as the same number."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(number)


def check_code(code: str, where: str) -> None:
    """Refuse to write a code that would be read back as another one."""
    if code != code.rstrip(BLANKS) or any(sign in code for sign in "\n\r\0"):
        raise CodesError(
            f"{where}: a code ends in a blank or has a line break in it, which the file cannot keep; rename it", [code]
        )
