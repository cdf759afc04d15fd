"""The errors a user can meet, and the checks of arguments: what is wrong names itself, its value and what is allowed.

No error may carry a value of a respondent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from discreet.text import printable

# The exit status of a run that was interrupted with nothing written.
INTERRUPTED = 130
# The exit status of a release that was written although it protects some unsafe cells only, as was asked for.
PARTIAL = 3


class DiscreetWarning(UserWarning):
    """Something went wrong that does not spoil the result; the message says what."""


class DiscreetError(Exception):
    """Any failure that this package reports in words meant for its user."""

    exit_status = 1
    # What a program can tell the failure by; it stays the same in later versions.
    code = "refused"

    def __str__(self) -> str:
        # A name from a file may hold what a terminal obeys.
        return printable(super().__str__())


class InputError(DiscreetError, ValueError):
    """The data, a declaration or an argument cannot be worked with; the message says what to do."""

    exit_status = 2
    code = "input"


class CodesError(InputError):
    """Codes that make no hierarchy: the message counts them, since they may be values of somebody's microdata.

    Attributes
    ----------
    codes
        The codes themselves, for whoever knows the lines they stand in.
    """

    def __init__(self, message: str, codes: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.codes = frozenset(codes)


class PromiseNotKept(DiscreetError):  # noqa: N818 - the sentence a steward reads, not a technical fault
    """A release does not keep its promise, so it is refused."""

    code = "promise"


def whole(name: str, value: object, least: int) -> int:
    """A whole number of at least so much (numpy's too), or an error that names the argument."""
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else value.__index__()
    if not isinstance(number, int):
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    if number < least:
        raise InputError(f"{name} must be at least {least}, not {number}")
    return number


def one_of(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of those allowed."""
    if value not in allowed:
        raise InputError(f"{name} is {value!r}; it must be one of {', '.join(map(repr, allowed))}")


def at_least(name: str, value: object, least: float, alternative: str = "") -> None:
    """Refuse a value that is not a finite number of at least the given size; name the alternative if there is one."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(float(value)) or float(value) < least:  # type: ignore[arg-type]
        also = f"{alternative!r} or " if alternative else ""
        raise InputError(f"{name} is {value!r}; it must be {also}a finite number of at least {least:g}")


def between(name: str, value: object, least: float, most: float) -> None:
    """Refuse what is not a number from the least to the most."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= most:  # type: ignore[operator]
        raise InputError(f"{name} is {value!r}; it must be a number from {least:g} to {most:g}")


def suggest(word: str, known: Iterable[str]) -> str:
    """The nearest known word, as the end of a message; nothing where none is near."""
    import difflib

    near = difflib.get_close_matches(word.lower(), list(known), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


# Files that this process has put in place, so that nobody is told "nothing was written" where something was.
PLACED: list[Path] = []


def tell_placed(since: int = 0) -> str:
    """What was written since there were so many entries, as the end of a sentence."""
    files = ", ".join(str(path) for path in PLACED[since:])
    return f"written before that: {files}" if files else "nothing was written"
