"""Linear algebra on one thread.

The libraries behind numpy and scipy share work among threads by themselves, and how they do changes rounding: results
would depend on the machine. For matrices of some hundred rows it does not pay either, least of all on a busy machine.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[Any]:
    """A context in which matrices are multiplied and factored by the calling thread alone."""
    found: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return found


@cache
def _controller() -> Any:
    # It knows the libraries that are loaded when it is made.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
