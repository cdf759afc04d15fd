"""Checks of arguments: what is wrong names itself, its value and what is allowed."""

import math


def whole(name: str, value: object, least: int) -> int:
    """A whole number of at least so much, numpy's too."""
    number = None if isinstance(value, bool) or not hasattr(value, "__index__") else value.__index__()
    if not isinstance(number, int) or number < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}")
    return number


def finite(name: str, value: object, allowed: str = "", least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number from the least to the most; `allowed` says in words what that means."""
    number = math.nan
    if not isinstance(value, bool) and hasattr(value, "__float__"):
        number = float(value.__float__())
    if not math.isfinite(number) or not least <= number <= most:
        raise ValueError(f"{name} is {value!r}; it must be a finite number{allowed and ' '}{allowed}")
    return number
