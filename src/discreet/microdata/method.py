"""What a partition method is, and what it is given besides the points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Points = NDArray[np.float64]
    Labels = NDArray[np.int64]


def _ignore(_fraction: float) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class Run:
    """The conditions of one run: where chance comes from, what it may cost, who listens.

    Parameters
    ----------
    seed : int
        Seed of every random choice.
    time : float
        Seconds of search; a method that is no search runs to its end.
    steps : int, optional
        Steps of search instead of a time.
    threads : int
        Threads a method may use; the result does not depend on it.
    progress : callable
        Told how far along the run is, in [0, 1].
    """

    seed: int = 0
    time: float = 10.0
    steps: int | None = None
    threads: int = 1
    progress: Callable[[float], None] = _ignore


class Method(Protocol):
    """A way to partition points into groups of at least k: a frozen dataclass of its parameters."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Give each point the number of its group; n ≥ 2k points, finite, as rows of a C-ordered matrix."""
        ...
