"""Checks of arguments, and of what comes from a file: what is wrong names itself and what is allowed.

Compiled kernels trust the arrays they are given: what was read from a file is looked at before they see it.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


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


def integers(name: str, value: object, shape: Sequence[int], least: int, most: int) -> NDArray[np.int64]:
    """An array of whole numbers of a shape (−1 stands for any length), each from the least to the most."""
    array = _shaped(name, value, shape)
    if array.dtype.kind not in "iub" or (array.size and not least <= int(array.min()) <= int(array.max()) <= most):
        raise ValueError(f"{name} must hold whole numbers from {least} to {most}")
    return np.array(array, np.int64)


def floats(name: str, value: object, shape: Sequence[int], *, infinite: bool = False) -> NDArray[np.float64]:
    """An array of numbers of a shape (−1 stands for any length), all finite, or infinite where that is allowed."""
    array = _shaped(name, value, shape)
    if array.dtype.kind != "f" or np.isnan(array).any() or not (infinite or np.isfinite(array).all()):
        raise ValueError(f"{name} must hold numbers")
    return np.array(array, np.float64)


def words(name: str, value: object, like: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The state of a random generator of ours, as long as another one; of nothing but zeros no number ever came."""
    array = _shaped(name, value, like.shape)
    if array.dtype != like.dtype or not array.any():
        raise ValueError(f"{name} must be the state of a random generator")
    return np.array(array)


def offsets(name: str, value: object, end: int) -> NDArray[np.int64]:
    """Where parts of an array begin, one after the other, and where the last one ends."""
    array = integers(name, value, (-1,), 0, end)
    if not len(array) or array[0] != 0 or array[-1] != end or (np.diff(array) < 0).any():
        raise ValueError(f"{name} must rise from 0 to {end}")
    return array


def _shaped(name: str, value: object, shape: Sequence[int]) -> NDArray[Any]:
    array = np.asarray(value)
    if array.ndim != len(shape) or any(want not in (-1, has) for want, has in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} has another shape than it must have")
    return array
