"""Where the records of a delimited text stand: quotes, record ends and physical lines, found without parsing values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.encoding import line_at
from discreet.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_QUOTE, _LF, _CR = 34, 10, 13
_CHUNK = 1 << 25


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
    for start in range(0, buffer.size, _CHUNK):
        piece = buffer[start : start + _CHUNK]
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
