"""How much the parameters of a method matter, and their best values: the four-step analysis of the 2006 paper.

A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70, section IV.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from discreet._version import __version__
from discreet.errors import InputError, whole
from discreet.experiments.grid import Grid, checked, combinations
from discreet.experiments.measured import measured
from discreet.experiments.runs import Progress, run_all
from discreet.experiments.statistics import ALPHA, Anova, anova, groups, need
from discreet.experiments.store import Scalar, key

if TYPE_CHECKING:
    import polars as pl

    from discreet.microdata.method import Points

TESTS: tuple[Literal["tukey"], Literal["scheffe"]] = ("tukey", "scheffe")
# Up to so many records the optimum is proven in about a second.
PROVABLE = 100
# Up to so many all partitions are looked at in a few milliseconds.
ENUMERABLE = 13


@dataclass(frozen=True, eq=False)
class Step:
    """An analysis of variance of one response, and the groups of each significant factor's values by each test."""

    response: str
    anova: Anova
    groups: Mapping[str, Mapping[str, pl.DataFrame]]

    def best(self, factor: str) -> list[Scalar] | None:
        """The values that Tukey's test does not tell from the best one; None where the factor does not matter."""
        import polars as pl

        if factor not in self.groups:
            return None
        return self.groups[factor]["tukey"].filter(pl.col("best"))["value"].sort().to_list()


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What a study found.

    Parameters
    ----------
    runs : polars.DataFrame
        A row per run: the factors, `run`, `seed`, `sse`, `converged`, `seconds`.
    factors : tuple of str
        The parameters that were varied.
    quality : Step
        Steps 1 and 2: which factors matter for the SSE, and their groups of values.
    speed : Step
        Steps 3 and 4: the same for the convergence epoch, among the runs with the best values of step 2.
    optimum : float, optional
        The least SSE there can be, where it is proven.
    """

    runs: pl.DataFrame
    factors: tuple[str, ...]
    quality: Step
    speed: Step
    optimum: float | None = None

    @property
    def best(self) -> dict[str, list[Scalar]]:
        """The best values of each factor; all values of one that matters nowhere."""
        return {
            factor: self.speed.best(factor) or self.quality.best(factor) or self.runs[factor].unique().sort().to_list()
            for factor in self.factors
        }


def sensitivity(
    points: Points,
    *,
    k: int,
    method: str,
    grid: Mapping[str, Sequence[Any]],
    runs: int = 10,
    params: Mapping[str, Any] | None = None,
    steps: int | None = None,
    seed: int = 0,
    threads: int = 1,
    store: Path | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Run a method with every combination of some values of its parameters, several times each, and analyse the runs.

    Parameters
    ----------
    points : array of shape (n, d)
        The records, standardised.
    k : int
        Least size of a group.
    method : str
        The method.
    grid : mapping
        The values to try of each factor.
    runs : int
        Runs of each combination.
    params : mapping, optional
        Parameters that are the same in all runs.
    steps : int, optional
        Steps of search of a run at most; without, until the method ends by itself.
    seed : int
        Every run has a seed of its own, which follows from this one, its factors and its number.
    threads : int
        Processes that work side by side; the result does not depend on it.
    store : Path, optional
        A folder in which runs are kept as they end, and from which a study goes on.
    progress : callable, optional
        Told how far along the runs are, in [0, 1], and the seconds that are left.

    Notes
    -----
    Where the least SSE is known (up to 100 records it is proven first), a run that has reached it is over: neither its
    SSE nor its convergence epoch can change any more.
    """
    need("statsmodels")
    factors = checked(grid, method)
    fixed = dict(params or {})
    _check_enough(factors, whole("runs", runs, 1))
    settings = [
        {**combination, "run": run, "seed": seed_of({**combination, "run": run, "from": seed})}
        for combination in combinations(factors, method, fixed)
        for run in range(1, runs + 1)
    ]
    optimum = proven(points, k)
    about: dict[str, Scalar] = {
        "study": "sensitivity",
        "method": method,
        "params": key(fixed),
        "k": k,
        "steps": steps,
        "data": hashlib.sha256(points.tobytes()).hexdigest()[:16],
        "version": __version__,
    }
    task = partial(measured, points, k, method, fixed, steps, optimum)
    frame = run_all(task, settings, store=store, about=about, threads=threads, progress=progress)
    return analyse(frame, tuple(factors), optimum)


def analyse(frame: pl.DataFrame, factors: tuple[str, ...], optimum: float | None = None) -> Sensitivity:
    """The four steps on runs: `sse` and `converged` by the factors.

    1. Analysis of variance of the SSE. 2. Tukey's and Scheffé's groups of the values of the significant factors.
    3. Analysis of variance of the convergence epoch within the best group, those values that Tukey's test does not tell
    from the best. 4. Groups of the values of the factors that matter there.
    """
    import polars as pl

    quality = _step(frame, "sse", factors)
    kept = frame
    for factor in factors:
        values = quality.best(factor)
        if values is not None:
            kept = kept.filter(pl.col(factor).is_in(values))
    return Sensitivity(frame, factors, quality, _step(kept, "converged", factors), optimum)


def _step(frame: pl.DataFrame, response: str, factors: Sequence[str]) -> Step:
    found = anova(frame, response, factors, ALPHA)
    return Step(
        response,
        found,
        {
            factor: {test: groups(frame, response, factor, found, test) for test in TESTS}
            for factor in found.significant
        },
    )


def _check_enough(factors: Grid, runs: int) -> None:
    """Refuse a study whose runs could not tell chance from its factors, before the first of them."""
    every = runs * math.prod(len(values) for values in factors.values())
    if every < 2 + sum(len(values) - 1 for values in factors.values()):
        raise InputError(f"{every} runs in all are too few to tell chance from {', '.join(factors)}; do more runs")


def seed_of(settings: Mapping[str, Scalar]) -> int:
    """A seed that follows from settings alone, so that runs are independent and the same in every study."""
    return int.from_bytes(hashlib.sha256(key(settings).encode()).digest()[:6], "big")


def proven(points: Points, k: int) -> float | None:
    """The least SSE there can be, if it is proven in a few seconds."""
    from discreet.microdata.partition import partition

    if not 2 * k <= len(points) <= PROVABLE:
        return None
    if len(points) <= ENUMERABLE:
        return partition(points, k=k, method="exhaustive").sse
    found = partition(points, k=k, method="exact", threads=1, time=10, bound=True)
    return found.sse if found.bound is not None and found.bound["gap"] < 1e-6 else None
