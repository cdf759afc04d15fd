"""What a genetic process tells its listeners."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Birth:
    """A child was born and judged.

    Parameters
    ----------
    generation : int
        The generation it was born in; the first children belong to generation 1.
    operator : str
        Name of the operator that made it.
    child : int
        Its number; no two individuals of a process have the same.
    cost : float
        Its cost.
    parents : tuple of int
        Numbers of its parents.
    parent_costs : tuple of float
        What they cost.
    computed : bool
        Whether its cost had to be computed; a clone's is remembered.
    """

    generation: int
    operator: str
    child: int
    cost: float
    parents: tuple[int, ...]
    parent_costs: tuple[float, ...]
    computed: bool = True

    @property
    def parent_cost(self) -> float:
        """What the parents cost on average."""
        return math.fsum(self.parent_costs) / len(self.parent_costs)


@dataclass(frozen=True)
class Survival:
    """A generation is over.

    Parameters
    ----------
    generation : int
        The generation.
    alive : tuple of int
        Numbers of those who live on.
    """

    generation: int
    alive: tuple[int, ...]


Listener = Callable[[Birth | Survival], None]
