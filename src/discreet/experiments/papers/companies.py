"""The runs of the 2008 chapter on its eleven companies."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from discreet.data.examples.sme import sme
from discreet.experiments.measured import measured
from discreet.experiments.papers.literature import standardised
from discreet.experiments.papers.paper import Budget
from discreet.experiments.sensitivity import Sensitivity, sensitivity

if TYPE_CHECKING:
    import polars as pl

    from discreet.microdata.method import Points
    from discreet.release.pictures import Chart

K = 3
TENTHS = tuple(i / 10 for i in range(11))
GRID = {"mutation": TENTHS, "crossover": TENTHS, "population": tuple(range(10, 101, 10))}
QUICK = {"mutation": (0.0, 0.1, 0.5), "crossover": (0.0, 0.5), "population": (10, 40)}
# The chapter times the genetic algorithm over so many generations.
TIMED = 5_000
BIN = 500
RUNS = 3


def companies() -> Points:
    """The standardised companies."""
    return standardised(sme().drop("company").to_numpy().astype(float))


def company_runs(budget: Budget) -> Sensitivity:
    """The genetic algorithm with all rates and populations."""
    found = _company_runs(budget)
    budget.work["companies"] = float(found.runs["seconds"].sum())
    return found


@lru_cache(maxsize=4)
def _company_runs(budget: Budget) -> Sensitivity:
    name = f"2008-companies{'-quick' if budget.quick else ''}-{budget.seed}"
    return sensitivity(
        companies(),
        k=K,
        method="genetic",
        grid=QUICK if budget.quick else GRID,
        runs=2 if budget.quick else RUNS,
        params={"generations": 200 if budget.quick else 10_000},
        seed=budget.seed,
        threads=budget.threads,
        store=None if budget.store is None else budget.store / name,
        progress=lambda fraction, _left: budget.tell("companies", fraction),
    )


@lru_cache(maxsize=16)
def timed(method: str, budget: Budget) -> dict[str, Any]:
    """SSE and seconds of a method; searches of ours end when they have proven the optimum."""
    params = {"generations": TIMED} if method == "genetic" else {}
    steps = 50 if method == "memetic" else None
    return measured(companies(), K, method, params, steps, None, {"run": 1, "seed": budget.seed})


def histogram(runs: pl.DataFrame) -> Chart:
    """How many runs found their best chromosome in which generations."""
    import altair as alt
    import polars as pl

    from discreet.grouping.chart_style import BLUE, styled

    places = pl.col("converged") // BIN * BIN
    counts = runs.group_by(places.alias("from")).agg(pl.len().alias("runs")).sort("from")
    counts = counts.with_columns((pl.col("from") + BIN).alias("to"), pl.lit(0.8).alias("base"))
    chart = (
        alt.Chart(alt.InlineData(values=counts.to_dicts()))
        .mark_bar(color=BLUE, stroke="white")
        .encode(
            x=alt.X("from:Q", title="convergence generation", scale=alt.Scale(nice=False)),
            x2="to:Q",
            y=alt.Y("runs:Q", title="runs (logarithmic)", scale=alt.Scale(type="log", domainMin=0.8)),
            y2="base:Q",
        )
    )
    title = alt.Title("When runs on the eleven companies converge", subtitle=f"{runs.height:,} runs")
    drawn: Chart = styled(chart.properties(width=520, height=260, title=title))
    return drawn
