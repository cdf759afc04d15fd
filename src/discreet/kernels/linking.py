"""Translate what kernels call as a part of them only: once, and not on its own before.

Numba optimises each function it compiles and makes machine code of it, also where kernels alone call it and have its
code linked into theirs, to be optimised and translated again there. Most of a first run's compiling was for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import lookup_environment

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
