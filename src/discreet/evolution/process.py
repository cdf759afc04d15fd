"""What a search is to the engine.

States within states: the keys of a part stand behind its name and a dot.

Several searches as one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from numpy.typing import NDArray

from discreet.evolution.checks import whole
from discreet.evolution.parallel import mapped

Answer_co = TypeVar("Answer_co", covariant=True)

# What a checkpoint holds: flat, and nothing that would need a pickle. Keys are plain names: letters, digits, "_", ".".
State = dict[str, "NDArray[Any] | int | float | str"]


class Process(Protocol[Answer_co]):
    """A search that goes on in epochs: fixed pieces of work, the same whatever the clock and the number of threads."""

    @property
    def cost(self) -> float:
        """Cost of the best found so far; infinite before there is any. It never rises."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found: the best is proven, or all generations are done."""
        ...

    def advance(self) -> None:
        """Do one epoch. It never looks at a clock; 5 to 50 ms on small data keep a run easy to stop."""
        ...

    def answer(self) -> Answer_co:
        """The best found so far. It may be polished, deterministically, and does not change the process."""
        ...

    def save(self) -> State:
        """All that the next epochs depend on, the random state included; arrays are copies."""
        ...

    def load(self, state: State) -> None:
        """Go on from a saved state; the process was made with the same arguments as the one that saved it."""
        ...


def inside(name: str, state: State) -> State:
    """A state as a part of a larger one.

    Parameters
    ----------
    name : str
        Name of the part.
    state : State
        Its own state.
    """
    return {f"{name}.{key}": value for key, value in state.items()}


def part(name: str, state: State) -> State:
    """The state of a part of a larger state.

    Parameters
    ----------
    name : str
        Name of the part.
    state : State
        What `inside` went into.
    """
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}


Answer = TypeVar("Answer")


class Together(Generic[Answer]):
    """Independent processes side by side: an epoch is one epoch of each that is not finished.

    The cost is the sum of theirs, the answer the list of their answers.

    Parameters
    ----------
    processes : iterable of Process
        They share nothing that they change, random generators in particular.
    threads : int
        How many advance at the same time; the result does not depend on it.
    """

    def __init__(self, processes: Iterable[Process[Answer]], threads: int = 1) -> None:
        self.processes = tuple(processes)
        self.threads = whole("threads", threads, 1)

    @property
    def cost(self) -> float:
        """Sum of the costs; infinite until every process has found something."""
        # Exact, and so the same on every version of Python.
        return math.fsum(process.cost for process in self.processes)

    @property
    def finished(self) -> bool:
        """Whether all are finished."""
        return all(process.finished for process in self.processes)

    def advance(self) -> None:
        """One epoch of each process that is not finished."""
        mapped(_advance, [process for process in self.processes if not process.finished], self.threads)

    def answer(self) -> list[Answer]:
        """The answers, in the order of the processes."""
        return [process.answer() for process in self.processes]

    def save(self) -> State:
        """The states of all, each key behind the number of its process."""
        state: State = {}
        for number, process in enumerate(self.processes):
            state |= inside(str(number), process.save())
        return state

    def load(self, state: State) -> None:
        """Go on from a saved state of the same number of processes."""
        for number, process in enumerate(self.processes):
            process.load(part(str(number), state))


def _advance(process: Process[object]) -> None:
    process.advance()
