"""What every genetic process can be told besides its operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypedDict

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.events import Listener
from discreet.evolution.memory import Individual
from discreet.evolution.selection import Floats, Ints

# Costs, how many, and a random generator in; positions of the parents out.
Select = Callable[[Floats, int, np.random.Generator], Ints]


class Options(TypedDict, Generic[Individual], total=False):
    """What every genetic process can be told, by name.

    Parameters
    ----------
    generations : int
        After how many generations the process is finished; never without.
    key : callable
        Bytes that are the same for individuals that mean the same, so that clones are not evaluated again.
    memory : int
        How many keys are remembered, 100,000 without.
    distinct : bool
        Whether a child that means the same as a living member finds no place, which keeps a small population from
        ending as copies of one individual; it needs a key.
    encode, decode : callable
        An individual as an array, and back, to be kept; not needed where individuals are arrays.
    listeners : iterable of callables
        Told each birth and each survival.
    """

    generations: int | None
    key: Callable[[Individual], bytes] | None
    memory: int
    distinct: bool
    encode: Callable[[Individual], NDArray[Any]]
    decode: Callable[[NDArray[Any]], Individual]
    listeners: Iterable[Listener]
