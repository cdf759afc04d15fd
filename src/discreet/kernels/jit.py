"""How every kernel is compiled: cached on disk, free of the interpreter lock, without fast-math.

Without fast-math the order of floating-point operations is the written one, which makes results the same on every
machine and lets the trees prune exactly (rounding is monotone, so a bound never exceeds what it bounds).
"""

from collections.abc import Callable
from typing import Literal, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile a function with numba; to the type checker it stays the function it was."""
    return _compiled(function, "python")


def formula(function: F) -> F:
    """Compile arithmetic over long arrays: a division by zero is not looked for, which lets several go at once."""
    return _compiled(function, "numpy")


def _compiled(function: F, error_model: Literal["python", "numpy"]) -> F:
    try:
        return cast(F, numba.njit(cache=True, nogil=True, error_model=error_model)(function))
    except RuntimeError:
        # Neither the installation nor the home of the user can be written to: compile anew in each process.
        return cast(F, numba.njit(nogil=True, error_model=error_model)(function))
