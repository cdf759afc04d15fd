"""The partition method that is run inside: on each group of attributes, within each class of records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import whole
from discreet.microdata.method import Run
from discreet.microdata.registry import make
from discreet.microdata.settled import begin

if TYPE_CHECKING:
    from discreet.microdata.method import Method

Ints = NDArray[np.int64]
# A search inside goes so far: it is run thousands of times, and must give the same groups each time.
STEPS = 10


@dataclass(frozen=True)
class Inner:
    """A partition method with all that its groups depend on.

    Parameters
    ----------
    name : str
        Its name.
    method : Method
        The method.
    steps : int
        Steps of a search; a method that is none runs to its end.
    seed : int
        Seed of its random choices.
    """

    name: str
    method: Method
    steps: int = STEPS
    seed: int = 0

    def __post_init__(self) -> None:
        whole("inner_steps", self.steps, 1)

    @classmethod
    def named(cls, name: str, params: Mapping[str, Any], steps: int | None = None, seed: int = 0) -> Inner:
        """The method of a name; "auto" is the best there is."""
        name = "memetic" if name == "auto" else name
        return cls(name, make(name, params), STEPS if steps is None else steps, seed)

    @property
    def searches(self) -> bool:
        """Whether it is a search, whose groups depend on steps and seed."""
        return hasattr(self.method, "search")

    def assign(self, points: NDArray[np.float64], classes: Sequence[Ints], k: int) -> Ints:
        """The cluster of each record; the clusters of all classes are numbered through."""
        labels = np.empty(len(points), np.int64)
        clusters = 0
        run = Run(seed=self.seed, steps=self.steps)
        for rows in classes:
            process = begin(self.method, np.ascontiguousarray(points[rows]), k, run)
            for _ in range(self.steps):
                if process.finished:
                    break
                process.advance()
            own = process.answer()
            labels[rows] = own + clusters
            clusters += int(own.max()) + 1
        return labels
