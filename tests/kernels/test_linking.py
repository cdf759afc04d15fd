"""What kernels call is translated as a part of them, and nothing else is different."""

from collections.abc import Iterator
from typing import Any

import numba
import pytest
from numba.core.codegen import JITCodeLibrary

from discreet.kernels.jit import Part, helper, in_parts, kernel


@helper
def _half(x: float) -> float:
    if x < 0.0:
        raise ValueError("no half of", x)
    return x / 2.0


@helper
def _quarter(x: float) -> float:
    return _half(_half(x))


@kernel
def _both(x: float) -> float:
    return max(_half(x), 0.0) + _quarter(x)


@helper
def _fibonacci(n: int) -> int:
    return n if n < 2 else _fibonacci(n - 1) + _fibonacci(n - 2)


@kernel
def _tenth(n: int) -> int:
    return _fibonacci(n)


def _one_more(x: float) -> float:
    return _quarter(x) + 1.0


@pytest.fixture
def usual() -> Iterator[None]:
    yield
    assert _codegen()._library_class is JITCodeLibrary


def _codegen() -> Any:
    return _both.targetctx.codegen()  # type: ignore[attr-defined]


@pytest.mark.usefixtures("usual")
def test_helpers_are_translated_in_the_kernels_alone() -> None:
    made: Any = helper(_quarter.py_func)  # type: ignore[attr-defined]
    made.compile((numba.float64,))
    assert [one.library._finalized for one in made.overloads.values()] == [False]
    assert _both(8.0) == 6.0


def test_an_error_of_a_helper_says_what_it_says() -> None:
    with pytest.raises(ValueError, match=r"no half of.*-8"):
        _both(-8.0)


def test_recursion_works() -> None:
    assert _tenth(10) == 55


def test_functions_of_others_may_call_helpers() -> None:
    compiled: Any = numba.njit(_one_more)
    assert compiled(8.0) == 3.0


def test_where_numba_is_another_it_compiles_as_it_does(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    class Other(JITCodeLibrary):
        pass

    codegen = _codegen()
    for usual, used in ((Other, Other), (JITCodeLibrary, Part)):
        monkeypatch.setattr(codegen, "_library_class", usual)
        with in_parts(codegen):
            assert codegen._library_class is used
