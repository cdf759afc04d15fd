"""The tests of the 2006 paper on random data: what data, which values of the parameters, how many runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.experiments.papers.paper import Budget
from discreet.experiments.sensitivity import Sensitivity, sensitivity
from discreet.microdata.partition import partition

if TYPE_CHECKING:
    import polars as pl

    from discreet.microdata.method import Points

K = 3
TENTHS = tuple(i / 10 for i in range(11))
TENS = tuple(range(10, 101, 10))
FEW_RATES, FEW_SIZES = (0.0, 0.2, 0.5, 1.0), (10, 40, 70, 100)
LONG = 100_000
DRAWS = 100


@dataclass(frozen=True)
class Test:
    """A data set of n records and d attributes, and the runs on it; whether the best chromosome passes on unaltered."""

    n: int
    d: int
    mutation: tuple[float, ...] = TENTHS
    crossover: tuple[float, ...] = TENTHS
    population: tuple[int, ...] = TENS
    runs: int = 2
    generations: int = 10_000
    elite: bool = True

    @property
    def grid(self) -> dict[str, tuple[float, ...] | tuple[int, ...]]:
        """The values that are tried."""
        return {"mutation": self.mutation, "crossover": self.crossover, "population": self.population}


# The paper has all tenths, all tens and 10 runs everywhere, and 100,000 generations for 50 records.
TESTS = {
    "11x2": Test(11, 2),
    "11x3": Test(11, 3),
    "11x5": Test(11, 5, TENTHS[1:], TENTHS[1:], FEW_SIZES, runs=1),
    "11x7": Test(11, 7, TENTHS[1:], TENTHS[1:], FEW_SIZES, runs=1),
    "11x10": Test(11, 10, TENTHS[1:], TENTHS[1:], FEW_SIZES, runs=1),
    "20x2": Test(20, 2, TENTHS, FEW_RATES, FEW_SIZES),
    "35x2": Test(35, 2, TENTHS, FEW_RATES, FEW_SIZES),
    "50x2": Test(50, 2, TENTHS, FEW_RATES, (10, 50, 100)),
    "100x2": Test(100, 2, TENTHS, FEW_RATES, (10, 50, 100)),
}
# Further runs of 100,000 generations, at the mutation rate that is best in the paper and in the runs above.
LONG_TESTS = {
    name: Test(n, 2, (0.1,), FEW_RATES[:3], (20, 60, 100), runs=1, generations=LONG)
    for name, n in (("50x2", 50), ("100x2", 100))
}
# Runs in which the best chromosome of a generation may be lost, as the paper's may.
PLAIN_TESTS = {
    name: Test(test.n, test.d, (0.1, 0.4, 0.7, 1.0), (0.2, 0.6, 1.0), FEW_SIZES, elite=False)
    for name, test in TESTS.items()
    if test.n == 11
}
QUICK = {"mutation": (0.0, 0.1, 0.5), "crossover": (0.0, 0.5), "population": (10, 40)}


def uniform(n: int, d: int, seed: int) -> Points:
    """Standardised random records: every value is drawn evenly from −10,000 to 10,000."""
    import numpy as np

    values = np.random.default_rng((seed, n, d)).uniform(-10_000, 10_000, (n, d))
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def tested(name: str, budget: Budget) -> Sensitivity:
    """The runs of the genetic algorithm on a data set over its grid, and their analysis."""
    return _noted(name, TESTS[name], budget)


def tested_longer(name: str, budget: Budget) -> pl.DataFrame:
    """The runs of 100,000 generations, where there are any; otherwise those of `tested`."""
    import polars as pl

    if name not in LONG_TESTS:
        return tested(name, budget).runs
    test = LONG_TESTS[name]
    return _noted(name, test, budget).runs.with_columns(mutation=pl.lit(test.mutation[0]))


def tested_without_elite(name: str, budget: Budget) -> pl.DataFrame:
    """The runs in which the best chromosome of a generation may be lost; for 11 records only."""
    return _noted(name, PLAIN_TESTS[name], budget).runs


def _noted(name: str, test: Test, budget: Budget) -> Sensitivity:
    """Take note of what the runs have cost, however often they are asked for."""
    found = _run(name, test, budget)
    budget.work[f"{name}, {test.generations} generations, elite {test.elite}"] = float(found.runs["seconds"].sum())
    return found


@lru_cache(maxsize=64)
def _run(name: str, test: Test, budget: Budget) -> Sensitivity:
    kind = f"{'' if test.elite else '-plain'}{'-quick' if budget.quick else ''}"
    folder = f"2006-{name}-{test.generations}{kind}-{budget.seed}"
    # A grid of one value is none: the value is fixed.
    one: dict[str, float | bool] = {"mutation": test.mutation[0]} if len(test.mutation) == 1 else {}
    grid = {factor: values for factor, values in (QUICK if budget.quick else test.grid).items() if factor not in one}
    if not test.elite:
        one["elite"] = False
    return sensitivity(
        uniform(test.n, test.d, budget.seed),
        k=K,
        method="genetic",
        grid=grid,
        runs=2 if budget.quick else test.runs,
        params={"generations": 200 if budget.quick else test.generations, **one},
        seed=budget.seed,
        threads=budget.threads,
        store=None if budget.store is None else budget.store / folder,
        progress=lambda fraction, _left: budget.tell(name, fraction),
    )


@lru_cache(maxsize=64)
def reached(name: str, method: str, budget: Budget) -> float:
    """The SSE of another method on the same data."""
    test = TESTS[name]
    points = uniform(test.n, test.d, budget.seed)
    # Searches run until they prove or despair, which on such small data is soon; a step is a fraction of a millisecond.
    return partition(points, k=K, method=method, seed=budget.seed, threads=1, steps=50 if budget.quick else 1_000).sse


@lru_cache(maxsize=64)
def drawn(name: str, method: str, budget: Budget) -> tuple[int, float, float]:
    """What a method reaches on other draws of the same data: how many draws, and where the middle 90 % of them lie."""
    import numpy as np

    test, count = TESTS[name], 5 if budget.quick else DRAWS
    seeds = range(budget.seed + 1, budget.seed + 1 + count)
    found = [partition(uniform(test.n, test.d, seed), k=K, method=method, threads=1, steps=1_000).sse for seed in seeds]
    low, high = np.percentile(found, (5, 95))
    return count, float(low), float(high)
