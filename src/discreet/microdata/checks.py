"""Checks of the parameters of methods: what is wrong names itself, its value and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.errors import InputError


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
