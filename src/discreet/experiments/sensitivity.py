"""How much the parameters of a method matter, and their best values: the four-step analysis of the 2006 paper.

A study tries a grid of values of some parameters of a partition method, several runs of each combination.

References
----------
A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70, section IV.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from pathlib import Path
from typing import Any, Literal

import polars as pl

from discreet._version import __version__
from discreet.errors import InputError, whole
from discreet.evolution.process import Process
from discreet.experiments.runs import Flat, Progress, Scalar, key, run_all
from discreet.experiments.statistics import ALPHA, Anova, anova, groups, need
from discreet.methods import make
from discreet.microdata.method import Points, Run, begin
from discreet.microdata.methods.genetic import Population
from discreet.microdata.partition import partition

Grid = dict[str, tuple[Scalar, ...]]

MOST_VALUES = 10_000


def parse(texts: Iterable[str], method: str) -> Grid:
    """Read factors of a study, as a command line has them.

    Parameters
    ----------
    texts : iterable of str
        `name=low:high:step`, both ends included, or `name=a,b,c`.
    method : str
        The method whose parameters they are.
    """
    grid: Grid = {}
    for text in texts:
        name, found, values = text.partition("=")
        name = name.strip()
        if not found or not name or not values.strip():
            raise InputError(f"grid '{text}': write it as mutation=0:1:0.1 or as mutation=0.1,0.2,0.5")
        if name in grid:
            raise InputError(f"grid '{text}': {name} has a grid already; give all its values in one")
        grid |= check_grid({name: _range(text, values) if ":" in values else values.split(",")}, method)
    return grid


def check_grid(grid: Mapping[str, Sequence[Any]], method: str) -> Grid:
    """The grid with values of the parameters' types; unknown factors and grids of one value are refused."""
    if not grid:
        make(method, {})
        raise InputError("a study needs a grid, such as mutation=0:1:0.1: nothing varies without one")
    result: Grid = {}
    for name, values in grid.items():
        made = [
            getattr(make(method, {name: value.strip() if isinstance(value, str) else value}), name) for value in values
        ]
        if any(not isinstance(value, str | int | float | None) for value in made):
            raise InputError(f"the parameter {name} of {method} is not a single value and cannot be a factor")
        different = tuple(dict.fromkeys(made))
        if len(different) < 2:
            raise InputError(f"the grid of {name} has one value; a factor needs at least two to be compared")
        result[name] = different
    return result


def combinations(grid: Grid, method: str, params: Mapping[str, Any] | None = None) -> list[dict[str, Scalar]]:
    """Every combination of the grid's values, the last factor varying fastest; each is one the method takes."""
    fixed = dict(params or {})
    twice = [name for name in grid if name in fixed]
    if twice:
        raise InputError(f"{twice[0]} has a grid and a fixed value; leave one of them out")
    every = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    for each in every:
        make(method, fixed | each)
    return every


def _range(text: str, values: str) -> list[str]:
    """`0:1:0.1` in decimal arithmetic, so that the fourth value is 0.3 and not 0.30000000000000004."""
    try:
        low, high, step = (Decimal(part.strip()) for part in values.split(":"))
        if not (low.is_finite() and high.is_finite() and step.is_finite()):
            raise ValueError
    except (ValueError, InvalidOperation):
        raise InputError(f"grid '{text}': a range is low:high:step with three numbers, such as 0:1:0.1") from None
    if step <= 0 or high < low:
        raise InputError(f"grid '{text}': the step must be above 0, and the high end not below the low one")
    count = int((high - low) / step) + 1
    if count > MOST_VALUES:
        raise InputError(f"grid '{text}': {count:,} values are too many; at most {MOST_VALUES:,} are tried")
    return [format((low + i * step).normalize(), "f") for i in range(count)]


# At the target a run may be off by the rounding of a sum.
AT_TARGET = 1e-9
# Records that are enough to have a method's code loaded; none is too slow for so many.
WARM_UP_RECORDS = 16

_rehearsed: set[str] = set()


def run_method(
    points: Points,
    k: int,
    method: str,
    params: Flat,
    steps: int | None,
    target: float | None,
    settings: Flat,
) -> dict[str, Any]:
    """Run a method on points until it ends.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    method : str
        The method.
    params : mapping
        Parameters that are the same in all runs.
    steps : int, optional
        Steps of search at most; without, until the method ends by itself.
    target : float, optional
        The least SSE there can be: a run that has reached it cannot improve, and is over.
    settings : mapping
        The seed, as `seed`, the number of the run, as `run`, and parameters of this run alone.

    Returns
    -------
    dict
        `sse`; `converged`, the generation (or the step, where a method has no generations) that found it; `seconds` of
        the processor.
    """
    _rehearse(method, points, k)
    own = {name: value for name, value in settings.items() if name not in ("seed", "run")}
    start = time.process_time()
    process = begin(make(method, {**params, **own}), points, k, Run(seed=int(settings["seed"] or 0), threads=1))
    improved = _run_to_end(process, steps, target)
    return {
        "sse": float(process.cost),
        "converged": process.converged if isinstance(process, Population) else improved,
        "seconds": round(time.process_time() - start, 4),
    }


def _rehearse(method: str, points: Points, k: int) -> None:
    """Take one step once in each process, so that no run's seconds are those of loading compiled code."""
    if method in _rehearsed:
        return
    _rehearsed.add(method)
    process = begin(make(method, {}), points[: max(WARM_UP_RECORDS, 2 * k)], k, Run(threads=1))
    next(process.epochs(), None)


def _run_to_end(process: Process[Any], steps: int | None, target: float | None) -> int:
    """Run a process to its end; the step that last made it better."""
    improved, least = 0, float(process.cost)
    reached = -math.inf if target is None else target * (1 + AT_TARGET)
    for step, _ in enumerate(itertools.islice(process.epochs() if least > reached else (), steps), 1):
        if process.cost < least:
            least, improved = float(process.cost), step
        if least <= reached:
            break
    return improved


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
    cluster: str | None = None,
    executor: Executor | None = None,
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
    cluster : str, optional
        The address of a Dask scheduler whose workers do the runs.
    executor : concurrent.futures.Executor, optional
        Whatever else does the runs.
    store : Path, optional
        A folder in which runs are kept as they end, and from which a study goes on.
    progress : callable, optional
        Told the stage, with the time that is left, and how far along the runs are, in [0, 1].

    Notes
    -----
    Where the least SSE is known (up to 100 records it is proven first), a run that has reached it is over: neither its
    SSE nor its convergence epoch can change any more.
    """
    need("statsmodels")
    factors = check_grid(grid, method)
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
    task = partial(run_method, points, k, method, fixed, steps, optimum)
    frame = run_all(
        task, settings, store=store, about=about, threads=threads, cluster=cluster, executor=executor, progress=progress
    )
    return analyse(frame, tuple(factors), optimum)


def analyse(frame: pl.DataFrame, factors: tuple[str, ...], optimum: float | None = None) -> Sensitivity:
    """The four steps on runs: `sse` and `converged` by the factors.

    1. Analysis of variance of the SSE. 2. Tukey's and Scheffé's groups of the values of the significant factors.
    3. Analysis of variance of the convergence epoch within the best group, those values that Tukey's test does not tell
    from the best. 4. Groups of the values of the factors that matter there.
    """
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
    if not 2 * k <= len(points) <= PROVABLE:
        return None
    if len(points) <= ENUMERABLE:
        return partition(points, k=k, method="exhaustive").sse
    found = partition(points, k=k, method="exact", threads=1, time=10, bound=True)
    return found.sse if found.bound is not None and found.bound["gap"] < 1e-6 else None
