"""Small searches that the tests of the engine run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.genetic import Generational, SteadyState
from discreet.evolution.process import Search, State, mapped
from discreet.evolution.variation import Operator

Bits = NDArray[np.int8]


class Countdown(Search[int]):
    """A process with given costs, one per epoch, the first before any; it is finished after the last."""

    def __init__(self, costs: Iterable[float], during: Callable[[int], None] = lambda step: None) -> None:
        self.costs = list(costs)
        self.during = during
        self.step = 0

    @property
    def cost(self) -> float:
        return min(self.costs[: self.step + 1])

    @property
    def finished(self) -> bool:
        return self.step == len(self.costs) - 1

    def _epochs(self) -> Iterator[None]:
        while not self.finished:
            self.step += 1
            self.during(self.step)
            yield

    def answer(self) -> int:
        return self.step

    def _state(self) -> State:
        return {"step": self.step}

    def _restore(self, state: State) -> None:
        self.step = int(state["step"])


def endless(during: Callable[[int], None] = lambda step: None) -> Countdown:
    """A process that goes on for long and never gets better."""
    return Countdown([1.0] * 10_000, during)


def cross(parents: Sequence[Bits], rng: np.random.Generator) -> Bits:
    """One-point crossover."""
    cut = int(rng.integers(1, len(parents[0])))
    return np.concatenate([parents[0][:cut], parents[1][cut:]])


def flip(parents: Sequence[Bits], rng: np.random.Generator) -> Bits:
    """Flip each bit with probability 1/n."""
    bits = parents[0]
    return bits ^ (rng.random(len(bits)) < 1 / len(bits)).astype(np.int8)


def cross_and_flip(parents: Sequence[Bits], rng: np.random.Generator) -> Bits:
    """Crossover, then mutation."""
    return flip([cross(parents, rng)], rng)


def swap(parents: Sequence[Bits], rng: np.random.Generator) -> Bits:
    """Exchange two bits."""
    child = parents[0].copy()
    one, other = rng.integers(len(child), size=2)
    child[[one, other]] = child[[other, one]]
    return child


def zeros(bits: Bits) -> float:
    """The cost of the problem onemax."""
    return float(len(bits) - bits.sum())


def beginners(count: int, length: int, seed: int) -> list[Bits]:
    """Random bit strings."""
    return list(np.random.default_rng(seed + 1000).integers(0, 2, (count, length), dtype=np.int8))


def generational(seed: int, threads: int = 1, cost: Callable[[Bits], float] = zeros, **more: Any) -> Generational[Bits]:
    """A generational algorithm on bit strings, with every option in use."""
    operators = [
        Operator("cross", cross_and_flip, parents=2, times=6),
        Operator("flip", flip, times=8),
        Operator("swap", swap, times=2),
    ]
    options: dict[str, Any] = {"key": bytes, "memory": 30} | more
    return Generational(
        beginners(16, 24, seed),
        partial(mapped, cost, threads=threads),
        operators,
        rng=np.random.default_rng(seed),
        **options,
    )


def steady(seed: int, threads: int = 1, cost: Callable[[Bits], float] = zeros, **more: Any) -> SteadyState[Bits]:
    """A steady-state algorithm on bit strings."""
    operators = [Operator("cross", cross_and_flip, parents=2, times=0.7), Operator("flip", flip, times=0.3)]
    return SteadyState(
        beginners(10, 24, seed),
        partial(mapped, cost, threads=threads),
        operators,
        rng=np.random.default_rng(seed),
        **more,
    )


def same(one: State, other: State) -> None:
    """Assert that two states are the same to the bit."""
    assert one.keys() == other.keys()
    for key in one:
        first, second = np.asarray(one[key]), np.asarray(other[key])
        assert (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes()), key
