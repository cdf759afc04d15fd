"""The tests of the 2013 paper: which data, which k, how many runs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.experiments.papers.grouping_runs import grouped
from discreet.experiments.papers.paper import Budget
from discreet.experiments.runs import run_all

if TYPE_CHECKING:
    import polars as pl

WATER, CENSUS = "Water treatment", "Census"
DATA = (WATER, CENSUS)
# The paper has k from 5 to 100; which ones in between is lost but for 25 and 50.
KS = (5, 10, 25, 50, 100)
RUNS = 1
# Figures 5 to 7.
FIGURE_DATA, FIGURE_K = WATER, 25
# As in the paper: random groupings to begin with, and any number of clones.
FAITHFUL = {"start": "random", "copies": 0}
QUICK = {"population": 16, "crossovers": 2, "mutations": 1, "generations": 4}
QUICK_KS = (25, 50)


def ks(budget: Budget) -> tuple[int, ...]:
    """The values of k."""
    return QUICK_KS if budget.quick else KS


def runs_of_paper(budget: Budget) -> pl.DataFrame:
    """GOMM on both data sets and D-GOMM on the one of 38 attributes, as the paper describes them."""
    settings = [
        _setting(data, k, method, budget.seed + run, FAITHFUL, budget)
        for run in range(1 if budget.quick else RUNS)
        for data in DATA
        for k in ks(budget)
        for method in (("gomm", "d-gomm") if data == FIGURE_DATA else ("gomm",))
    ]
    return _run("paper", tuple(tuple(each.items()) for each in settings), budget)


def own_runs(budget: Budget) -> pl.DataFrame:
    """Our GOMM, begun with the ad-hoc groupings and with few clones, and the search for the front."""
    settings = [_setting(data, k, "gomm", budget.seed, {}, budget) for data in DATA for k in ks(budget)]
    settings += [_setting(data, FIGURE_K, "pareto", budget.seed, {}, budget) for data in DATA]
    return _run("own", tuple(tuple(each.items()) for each in settings), budget)


def _setting(data: str, k: int, method: str, seed: int, params: dict[str, Any], budget: Budget) -> dict[str, Any]:
    told = (data, k, method, bool(params)) == (FIGURE_DATA, FIGURE_K, "gomm", True)
    said = {"data": data, "k": k, "method": method, "inner": "mdav", "seed": seed, "told": told}
    return {**said, **params, **(QUICK if budget.quick else {})}


def _run(name: str, settings: tuple[tuple[tuple[str, Any], ...], ...], budget: Budget) -> pl.DataFrame:
    """The runs; what they have cost is noted however often they are asked for."""
    runs = _runs(name, settings, budget)
    budget.work[f"2013 {name}"] = float(runs["spent"].sum())
    return runs


@lru_cache(maxsize=16)
def _runs(name: str, settings: tuple[tuple[tuple[str, Any], ...], ...], budget: Budget) -> pl.DataFrame:
    from discreet._version import __version__

    folder = f"2013-{name}{'-quick' if budget.quick else ''}-{budget.seed}"
    return run_all(
        grouped,
        [dict(each) for each in settings],
        store=None if budget.store is None else budget.store / folder,
        about={"paper": "2013", "version": __version__},
        threads=budget.threads,
        progress=lambda fraction, _left: budget.tell(name, fraction),
    )
