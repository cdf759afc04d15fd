"""The tests of the 2006 paper on random data: what data, which values of the parameters, how many runs, what they give.

Also how many candidates for an optimal k-partition there are, as section II.B of the paper counts them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl

from discreet.experiments.papers.paper import Budget
from discreet.experiments.sensitivity import Sensitivity, sensitivity
from discreet.microdata.method import Points
from discreet.microdata.partition import partition

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
    values = np.random.default_rng((seed, n, d)).uniform(-10_000, 10_000, (n, d))
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))


def run_test(name: str, budget: Budget) -> Sensitivity:
    """The runs of the genetic algorithm on a data set over its grid, and their analysis."""
    return _run(name, TESTS[name], budget)


def run_longer_test(name: str, budget: Budget) -> pl.DataFrame:
    """The runs of 100,000 generations, where there are any; otherwise those of `tested`."""
    if name not in LONG_TESTS:
        return run_test(name, budget).runs
    test = LONG_TESTS[name]
    return _run(name, test, budget).runs.with_columns(mutation=pl.lit(test.mutation[0]))


def run_test_without_elite(name: str, budget: Budget) -> pl.DataFrame:
    """The runs in which the best chromosome of a generation may be lost; for 11 records only."""
    return _run(name, PLAIN_TESTS[name], budget).runs


def _run(name: str, test: Test, budget: Budget) -> Sensitivity:
    experiment = f"2006-{name}-{test.generations}{'' if test.elite else '-plain'}"
    # A grid of one value is none: the value is fixed.
    one: dict[str, float | bool] = {"mutation": test.mutation[0]} if len(test.mutation) == 1 else {}
    grid = {factor: values for factor, values in (QUICK if budget.quick else test.grid).items() if factor not in one}
    if not test.elite:
        one["elite"] = False
    return budget.once(
        experiment,
        lambda: sensitivity(
            uniform(test.n, test.d, budget.seed),
            k=K,
            method="genetic",
            grid=grid,
            runs=2 if budget.quick else test.runs,
            params={"generations": 200 if budget.quick else test.generations, **one},
            seed=budget.seed,
            threads=budget.threads,
            store=budget.folder(experiment),
            progress=lambda _stage, fraction: budget.tell(name, fraction),
        ),
        lambda found: float(found.runs["seconds"].sum()),
    )


def sse_of(name: str, method: str, budget: Budget) -> float:
    """The SSE of another method on the same data."""
    test = TESTS[name]
    # Searches run until they prove or despair, which on such small data is soon; a step is a fraction of a millisecond.
    steps = 50 if budget.quick else 1_000
    return budget.once(
        f"2006 {method} on {name}",
        lambda: (
            partition(
                uniform(test.n, test.d, budget.seed), k=K, method=method, seed=budget.seed, threads=1, steps=steps
            ).sse
        ),
    )


def range_over_draws(name: str, method: str, budget: Budget) -> tuple[int, float, float]:
    """What a method reaches on other draws of the same data: how many draws, and where the middle 90 % of them lie."""

    def draw() -> tuple[int, float, float]:
        test, count = TESTS[name], 5 if budget.quick else DRAWS
        seeds = range(budget.seed + 1, budget.seed + 1 + count)
        found = [
            partition(uniform(test.n, test.d, seed), k=K, method=method, threads=1, steps=1_000).sse for seed in seeds
        ]
        low, high = np.percentile(found, (5, 95))
        return count, float(low), float(high)

    return budget.once(f"2006 {method} on other draws of {name}", draw)


FOUND_WITHIN = 1e-6  # how near to the optimum, relative to it, a run must be to have found it


def with_both_operators(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs with both operators at work."""
    return runs.filter((pl.col("mutation") > 0) & (pl.col("crossover") > 0))


def percent_at(runs: pl.DataFrame, optimum: float) -> float:
    """Percent of the runs that found the optimum."""
    return 100.0 * float((runs["sse"] <= optimum * (1 + FOUND_WITHIN)).mean())  # type: ignore[arg-type]


def epoch_of_best(runs: pl.DataFrame) -> float:
    """Average convergence epoch of the runs that found the least SSE of all."""
    best = float(runs["sse"].min())  # type: ignore[arg-type]
    return float(runs.filter(runs["sse"] <= best * (1 + FOUND_WITHIN))["converged"].mean())  # type: ignore[arg-type]


def best_run(runs: pl.DataFrame) -> tuple[float, float, float, int]:
    """Least SSE, its mutation and crossover rates and population."""
    row = runs.sort("sse", "mutation", "crossover", "population").select("sse", "mutation", "crossover", "population")
    return row.row(0)


def best_pair(runs: pl.DataFrame) -> tuple[float, float, float]:
    """Least average SSE of a pair of rates, and the pair."""
    means = runs.group_by("mutation", "crossover").agg(pl.col("sse").mean()).sort("sse", "mutation", "crossover")
    return means.select("sse", "mutation", "crossover").row(0)


def representatives(n: int, k: int) -> int:
    """The number a(n,k) of ways to cut n records into group sizes of k to 2k−1, whatever their order (equation 4)."""
    # Adding the sizes one by one, as coins are added when change is counted: no recursion, however large n is.
    ways = [1] + [0] * n
    for size in range(k, 2 * k):
        for total in range(size, n + 1):
            ways[total] += ways[total - size]
    return ways[n]


@cache
def recursion(n: int, p: int, k: int) -> int:
    """Equation 4 as it is printed: representatives whose first group has at least p records."""
    if n < p:
        return 0
    if n <= 2 * k - 1:
        return 1
    return sum(recursion(n - size, size, k) for size in range(p, 2 * k))


def largest(n: int, k: int) -> int:
    """The number µ of partitions with as many groups as there can be, as even as they can be (equation 5)."""
    groups = n // k
    sizes = [n // groups + (i < n % groups) for i in range(groups)]
    return math.factorial(n) // math.prod(map(math.factorial, sizes)) // math.factorial(groups)


def bound(n: int, k: int) -> Fraction:
    """What equation 6 gives as a bound of the probability that a random chromosome is a candidate."""
    return Fraction(representatives(n, k) * largest(n, k), (n // k) ** n)


def probability(n: int, k: int) -> Fraction:
    """The probability itself: all groups that a random chromosome uses have k to 2k−1 records.

    The chromosomes are counted allele by allele: an allele has no gene, or k to 2k−1 of those that are left.
    """
    alleles = n // k
    ways = [1] + [0] * n
    for _ in range(alleles):
        ways = [
            ways[used] + sum(ways[used - size] * math.comb(used, size) for size in range(k, min(2 * k - 1, used) + 1))
            for used in range(n + 1)
        ]
    return Fraction(ways[n], alleles**n)
