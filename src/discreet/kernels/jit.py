"""How every kernel is compiled: cached on disk, free of the interpreter lock, without fast-math.

Without fast-math the order of floating-point operations is the written one, which makes results the same on every
machine and lets the trees prune exactly (rounding is monotone, so a bound never exceeds what it bounds).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
from numba.core import types
from numba.core.registry import CPUDispatcher

from discreet.kernels.compiling import compiling, search_clock, wait_for
from discreet.kernels.linking import in_parts

F = TypeVar("F", bound=Callable[..., object])


# A kernel is compiled from what it calls as well, so a change of any of their sources makes all that is cached stale.
_SOURCES = hashlib.sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py")))
).hexdigest()


class _Kernel(CPUDispatcher):
    """A compiled function whose one compilation serves for constant arguments and for others."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """As numba does, but for the types of the arguments and not for each constant anew."""
        plain: Any = types.unliteral
        named = {name: plain(given) for name, given in dict(kws).items()}
        return super().get_call_template(tuple(map(plain, args)), named)

    def compile(self, sig: Any) -> Any:
        """As numba does, but with what it calls as parts of it, and not if another process is about to have done it."""
        with search_clock.pause():
            wait_for(self)
        target: Any = self.targetctx
        with compiling(), in_parts(target.codegen()):
            return super().compile(sig)


class _Helper(_Kernel):
    """A compiled function without an entry point: kernels call it; Python runs it as Python."""

    def __call__(self, *args: Any, **kws: Any) -> Any:
        """Run it as Python."""
        return self.py_func(*args, **kws)


def kernel(function: F) -> F:
    """Compile a function with numba; to the type checker it stays the function it was."""
    return _compiled(function, "python")


def formula(function: F) -> F:
    """Compile arithmetic over long arrays: a division by zero is not looked for, which lets several go at once."""
    return _compiled(function, "numpy")


def helper(function: F) -> F:
    """Compile a function only as a part of the kernels that call it: half the work of compiling a kernel.

    It has no entry point, by which Python would call it, and no file in the cache. Called by Python it runs as Python.
    """
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "python"}
    made: Any = numba.njit(**options)(function)
    made.__class__ = _Helper
    return cast(F, made)


def _compiled(function: F, error_model: Literal["python", "numpy"]) -> F:
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "error_model": error_model}
    try:
        made: Any = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Neither the installation nor the home of the user can be written to: compile anew in each process.
        made = numba.njit(**options)(function)
    else:
        # What is stale must not even be unpickled: it may name classes that are gone. The version is looked at before.
        file: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
        if hasattr(file, "_version") and hasattr(file, "_source_stamp"):
            file._version, file._source_stamp = f"{file._version} {_SOURCES}", _SOURCES
        else:
            # This numba keeps its cache in another way, which cannot be told that what a kernel calls has changed.
            made = numba.njit(**options)(function)
    made.__class__ = _Kernel
    return cast(F, made)
