"""A search as the engine sees it: a process of epochs, the base class of searches, and several side by side."""

from __future__ import annotations

import math
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import whole

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
    def bound(self) -> float | None:
        """A lower bound of the cost of every answer, if one is known."""
        ...

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found: the best is proven, or all generations are done."""
        ...

    def epochs(self) -> Iterator[None]:
        """The epochs still to come; each `next` does one, and the end means that the search is finished.

        An epoch never looks at a clock; 5 to 50 ms on small data keep a run easy to stop.
        """
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


class Search(ABC, Generic[Answer_co]):
    """Base class of searches that are written as a generator, from top to bottom.

    A subclass writes `_epochs`, in which every `yield` ends an epoch and `return` ends the search; `cost`, `finished`
    and `answer`; and for checkpoints `_state` and `_restore`. It calls `_begin_phase` where its attributes alone tell
    how the search goes on, and `_epochs` can be entered there. What is saved is the state at the beginning of the phase
    under way and how many epochs ago that was; loading does these epochs again, so that a resumed search stands, and
    ends, exactly where it would have. A search that never calls `_begin_phase` can be entered after every epoch.
    """

    bound_method = "the search itself"  # how its bound is found, in words
    _phase_state: State | None = None  # the state at the beginning of the phase under way
    _epochs_since = 0  # epochs done since then
    _generator: Iterator[None] | None = None

    @property
    @abstractmethod
    def cost(self) -> float:
        """Cost of the best found so far; infinite before there is any. It never rises."""

    @property
    def bound(self) -> float | None:
        """A lower bound of the cost of every answer, if one is known."""
        return None

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether nothing more can be found."""

    @abstractmethod
    def answer(self) -> Answer_co:
        """The best found so far."""

    @abstractmethod
    def _epochs(self) -> Iterator[None]:
        """The search from the beginning of the phase under way."""

    @abstractmethod
    def _state(self) -> State:
        """All that the epochs from here on depend on; arrays may be views if they stay as they are for a phase."""

    @abstractmethod
    def _restore(self, state: State) -> None:
        """Take over a state."""

    def epochs(self) -> Iterator[None]:
        """The epochs still to come: one iterator, however often it is asked for."""
        if self._generator is None:
            self._generator = self._count_epochs()
        return self._generator

    def save(self) -> State:
        """The state at the beginning of the phase under way, and how many epochs to do again."""
        phase = self._state() if self._phase_state is None else self._phase_state
        copies = {key: value.copy() if isinstance(value, np.ndarray) else value for key, value in phase.items()}
        return inside("phase", copies) | {"since": self._epochs_since}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._restore(part("phase", state))
        self._generator, self._phase_state, self._epochs_since = None, None, 0
        for _ in range(int(cast("int", state["since"]))):
            next(self.epochs(), None)  # one that was finished when the phase began stays so

    def _begin_phase(self) -> None:
        """Keep the state: from here the search can be resumed."""
        self._phase_state, self._epochs_since = self._state(), 0

    def _end_phase(self) -> None:
        """From here the search can be entered after every epoch again."""
        self._phase_state, self._epochs_since = None, 0

    def _count_epochs(self) -> Iterator[None]:
        if not self.finished:
            for _ in self._epochs():
                self._epochs_since += self._phase_state is not None
                yield
                if self.finished:
                    return


class Finished(Generic[Answer_co]):
    """The result of a construction, as a search that is finished.

    Parameters
    ----------
    answer : object
        What was constructed.
    cost : float
        Its cost.
    bound : float, optional
        A lower bound of the cost of every answer.
    """

    finished = True
    bound_method = "the construction itself"

    def __init__(self, answer: Answer_co, cost: float, bound: float | None = None) -> None:
        self._answer, self.cost, self.bound = answer, cost, bound

    def epochs(self) -> Iterator[None]:
        """None."""
        return iter(())

    def answer(self) -> Answer_co:
        """What was constructed."""
        return self._answer

    def save(self) -> State:
        """Nothing: it is constructed again."""
        return {}

    def load(self, state: State) -> None:
        """Stay as it is."""


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

    The cost is the sum of theirs, so is the bound, and the answer is the list of their answers.

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
    def bound(self) -> float | None:
        """Sum of the bounds, once every process has one."""
        bounds = [process.bound for process in self.processes]
        known = [bound for bound in bounds if bound is not None]
        return math.fsum(known) if len(known) == len(bounds) else None

    @property
    def finished(self) -> bool:
        """Whether all are finished."""
        return all(process.finished for process in self.processes)

    def epochs(self) -> Iterator[None]:
        """Epochs of one epoch of each process that is not finished."""
        under_way = [(process, process.epochs()) for process in self.processes]
        while not self.finished:
            mapped(_advance, [epochs for process, epochs in under_way if not process.finished], self.threads)
            yield

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


def _advance(epochs: Iterator[None]) -> None:
    next(epochs, None)


Item = TypeVar("Item")
Result = TypeVar("Result")

_here = threading.local()


def mapped(function: Callable[[Item], Result], items: Iterable[Item], threads: int = 1) -> list[Result]:
    """Apply a function to each item and give the results in the order of the items.

    Threads help where the function releases the interpreter lock, as compiled kernels and solvers do.

    Parameters
    ----------
    function : callable
        It must neither depend on nor change what the others work on.
    items : iterable
        What it is applied to.
    threads : int
        How many threads work, at least 1. Within such a thread there are no further ones.
    """
    items = list(items)
    if whole("threads", threads, 1) == 1 or len(items) < 2 or getattr(_here, "works", False):
        return [function(item) for item in items]
    return list(_pool(threads, os.getpid()).map(function, items))


@lru_cache(maxsize=4)
def _pool(threads: int, _process: int) -> ThreadPoolExecutor:
    # Kept, because an epoch is shorter than threads take to start. A forked process gets its own: threads do not fork.
    return ThreadPoolExecutor(threads, thread_name_prefix="discreet", initializer=_begin_work)


def _begin_work() -> None:
    # A thread that waited for others of its own pool could wait for ever.
    _here.works = True
