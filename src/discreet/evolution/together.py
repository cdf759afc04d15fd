"""Several searches as one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Generic, TypeVar

from discreet.evolution.checks import whole
from discreet.evolution.parallel import mapped
from discreet.evolution.process import Process, State
from discreet.evolution.states import inside, part

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
