"""How every kernel is compiled: cached on disk, free of the interpreter lock, without fast-math.

Without fast-math the order of floating-point operations is the written one, which makes results the same on every
machine and lets the trees prune exactly (rounding is monotone, so a bound never exceeds what it bounds).

What kernels call is translated as a part of them only. Numba optimises each function it compiles and makes machine code
of it, also where kernels alone call it and have its code linked into theirs, to be optimised and translated again
there. Most of a first run's compiling was for that.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

# It imports numba as nobody else does, and so before anybody else.
from discreet.kernels.caching import cache_for

# isort: split
import numba
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment
from numba.core.registry import CPUDispatcher

from discreet.kernels.compiling import compiling, search_clock, wait_for

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
    return _compiled_within(function)


def borrower(function: F) -> F:
    """Compile a helper that neither makes arrays nor gives any back, and calls no other that does.

    Arrays are only lent to it, so that it need not count who holds them, and it becomes a part of the code that calls
    it. For named tuples of twenty arrays, handed from function to function, counting and copying take ten times as long
    as what the functions do.
    """
    return _compiled_within(function, _nrt=False, forceinline=True)


def _compiled_within(function: F, **more: bool) -> F:
    options: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "error_model": "python", **more}
    made: Any = numba.njit(**options)(function)
    if _is_compiled(made):
        made.__class__ = _Helper
    return cast(F, made)


def _is_compiled(made: object) -> bool:
    """Whether it will be; with NUMBA_DISABLE_JIT it is the function itself, which can be stepped through."""
    return isinstance(made, CPUDispatcher)


def _compiled(function: F, error_model: Literal["python", "numpy"]) -> F:
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "error_model": error_model}
    made: Any = numba.njit(**options)(function)
    if _is_compiled(made):
        made._cache = cache_for(function, _SOURCES)
        made.__class__ = _Kernel
    return cast(F, made)


ENVIRONMENTS = "_ZN08NumbaEnv"
RECURSIONS = ".numba.unresolved$"


class _NoEngine:
    """Stands for the engine of code that is not translated yet."""

    def set_env(self, name: str, environment: object) -> None:
        """Nothing: the variable is in the kernels that link the code in, and set there."""


class Part(JITCodeLibrary):
    """The code of one function, translated when Python asks for its address and not for kernels to link it in."""

    @property
    def codegen(self) -> Any:
        """What translates it."""
        return self._codegen if self._finalized else _NoEngine()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of an entry point; 0 if it has none, for which nothing is translated."""
        if not self._finalized and not self._is_recursive and not self._defines(name):
            return 0
        usual: Any = super()
        return int(usual.get_pointer_to_function(name))

    def add_linking_library(self, library: Any) -> None:
        """Link other code in, once this is translated."""
        if not isinstance(library, Part):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        """Link in what it calls, and what that calls, optimise and translate it."""
        self._linking_libraries = self._all_called()
        self._shared_module = None
        usual: Any = super()
        usual.finalize()
        engine, find = self.codegen, cast(Any, lookup_environment)
        for variable in self._final_module.global_variables:
            if variable.name.startswith(ENVIRONMENTS):
                environment = find(variable.name)
                if environment is not None:
                    engine.set_env(variable.name, environment)

    def _get_module_for_linking(self) -> Any:
        """Its own functions as others link them in; with all that they call if they are translated."""
        if self._finalized:
            usual: Any = super()
            return usual._get_module_for_linking()
        if self._shared_module is None:
            module = self._final_module.clone()
            for function in module.functions:
                if not function.is_declaration and function.linkage.name == "external":
                    function.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def _all_called(self) -> list[Any]:
        """The code it calls directly or through others, callers first: what nobody calls yet would not be linked in."""
        found: dict[Any, None] = {}

        def visit(library: Any) -> None:
            if library not in found:
                for called in library._linking_libraries if isinstance(library, Part) else ():
                    visit(called)
                found[library] = None

        visit(self)
        return list(found)[-2::-1]

    def _defines(self, name: str) -> bool:
        return any(function.name == name and not function.is_declaration for function in self._final_module.functions)

    @property
    def _is_recursive(self) -> bool:
        """Whether it is called by its address, which must stay where it is."""
        return any(variable.name.startswith(RECURSIONS) for variable in self._final_module.global_variables)


@contextmanager
def in_parts(codegen: Any) -> Iterator[None]:
    """In the block, compile functions without an entry point as parts of those that have one.

    Where numba is not as it was when this was written, compile as it does.
    """
    with global_compiler_lock:
        usual = getattr(codegen, "_library_class", None)
        if usual is not JITCodeLibrary:
            yield
            return
        codegen._library_class = Part
        try:
            yield
        finally:
            codegen._library_class = usual
