"""What runs of the 2006 paper's tests come to: shares, bests, averages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

NEAR = 1e-6  # how near to the optimum, relative to it, a run must be to have found it


def working(runs: pl.DataFrame) -> pl.DataFrame:
    """The runs with both operators at work."""
    import polars as pl

    return runs.filter((pl.col("mutation") > 0) & (pl.col("crossover") > 0))


def percent_at(runs: pl.DataFrame, optimum: float) -> float:
    """Percent of the runs that found the optimum."""
    return 100.0 * float((runs["sse"] <= optimum * (1 + NEAR)).mean())  # type: ignore[arg-type]


def epoch_of_best(runs: pl.DataFrame) -> float:
    """Average convergence epoch of the runs that found the least SSE of all."""
    best = float(runs["sse"].min())  # type: ignore[arg-type]
    return float(runs.filter(runs["sse"] <= best * (1 + NEAR))["converged"].mean())  # type: ignore[arg-type]


def best_run(runs: pl.DataFrame) -> tuple[float, float, float, int]:
    """Least SSE, its mutation and crossover rates and population."""
    row = runs.sort("sse", "mutation", "crossover", "population").select("sse", "mutation", "crossover", "population")
    return row.row(0)


def best_pair(runs: pl.DataFrame) -> tuple[float, float, float]:
    """Least average SSE of a pair of rates, and the pair."""
    import polars as pl

    means = runs.group_by("mutation", "crossover").agg(pl.col("sse").mean()).sort("sse", "mutation", "crossover")
    return means.select("sse", "mutation", "crossover").row(0)
