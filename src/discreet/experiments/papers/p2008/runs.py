"""The data of the 2008 chapter and the runs on them: `genetic` on eleven companies, `two-step` against MDAV."""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from discreet.errors import InputError
from discreet.examples.companies import sme
from discreet.experiments.papers.paper import Budget
from discreet.experiments.records import literature, standardise
from discreet.experiments.runs import Flat
from discreet.experiments.sensitivity import Sensitivity, run_method, sensitivity
from discreet.extras import alt
from discreet.kernels.partitions.groups import within_sse
from discreet.methods import make
from discreet.microdata.method import Points, Run, begin
from discreet.microdata.methods.two_step import macro_groups
from discreet.release.charts import BLUE, styled

if TYPE_CHECKING:
    from discreet.release.charts import Chart


K = 3
TENTHS = tuple(i / 10 for i in range(11))
GRID = {"mutation": TENTHS, "crossover": TENTHS, "population": tuple(range(10, 101, 10))}
QUICK = {"mutation": (0.0, 0.1, 0.5), "crossover": (0.0, 0.5), "population": (10, 40)}
# The chapter times the genetic algorithm over so many generations.
TIMED = 5_000
BIN = 500
RUNS = 3
# Seeds of Table 7: as many draws of the generated data, and runs on the others.
SEEDS = 5


def companies() -> Points:
    """The standardised companies."""
    return standardise(sme().drop("company").to_numpy().astype(float))


def company_runs(budget: Budget) -> Sensitivity:
    """The genetic algorithm with all rates and populations."""
    experiment = "2008-companies"
    return budget.once(
        experiment,
        lambda: sensitivity(
            companies(),
            k=K,
            method="genetic",
            grid=QUICK if budget.quick else GRID,
            runs=2 if budget.quick else RUNS,
            params={"generations": 200 if budget.quick else 10_000},
            seed=budget.seed,
            threads=budget.threads,
            store=budget.folder(experiment),
            progress=lambda _stage, fraction: budget.tell("companies", fraction),
        ),
        lambda found: float(found.runs["seconds"].sum()),
    )


def time_method(method: str, budget: Budget) -> dict[str, Any]:
    """SSE and seconds of a method; searches of ours end when they have proven the optimum."""
    params = {"generations": TIMED} if method == "genetic" else {}
    steps = 50 if method == "memetic" else None
    return budget.once(
        f"2008 {method} on the companies",
        lambda: run_method(companies(), K, method, params, steps, None, {"run": 1, "seed": budget.seed}),
    )


def histogram(runs: pl.DataFrame) -> Chart:
    """How many runs found their best chromosome in which generations."""
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


MACRO = (12, 18, 27)
RECORDS, RANGE = 1_000, 10_000
# How far a cluster is shifted at most. The chapter does not say; so far apart few clusters touch, the SSE of MDAV is
# near what the chapter prints, and what can be gained in macro-groups is somewhat more than what it gains there.
SHIFT = 600_000
SMALL, REAL = ("Scattered", "Clustered"), {"Census": "census", "EIA": "eia"}
GENERATIONS, QUICK_GENERATIONS = 1_000, 40
# Steps of `memetic`.
STEPS, QUICK_STEPS = 200, 3


def draw_scattered(seed: int) -> Points:
    """Records without natural clusters: values drawn evenly from −10,000 to 10,000 (section 5.3)."""
    return standardise(np.random.default_rng((seed, RECORDS, 2)).uniform(-RANGE, RANGE, (RECORDS, 2)))


def draw_clustered(seed: int) -> Points:
    """The same, then each 3 to 5 records, a group, are shifted together by a random amount (section 5.3)."""
    rng = np.random.default_rng((seed, RECORDS, 3))
    values = rng.uniform(-RANGE, RANGE, (RECORDS, 2))
    sizes = rng.integers(3, 6, RECORDS // 3 + 1)
    group = np.repeat(np.arange(len(sizes)), sizes)[:RECORDS]
    return standardise(values + rng.uniform(-SHIFT, SHIFT, (len(sizes), 2))[group])


@lru_cache(maxsize=8)
def points(data: str, seed: int) -> Points:
    """The standardised records of a data set of Table 7."""
    if data in REAL:
        return standardise(literature(REAL[data]).to_numpy())
    return draw_scattered(seed) if data == "Scattered" else draw_clustered(seed)


def run_partition(settings: Flat) -> dict[str, Any]:
    """Run a method on a data set of Table 7 to its end, or to its last step.

    Parameters
    ----------
    settings : mapping
        `data`, `draw` (the seed of generated data), `method`, `K`, `inner`, `generations` (of `two-step`; 0 elsewhere),
        `steps` (0 for as many as there are), `seed`.

    Returns
    -------
    dict
        `sse`, `macro` (the number of macro-groups of `two-step`; 0 elsewhere) and `seconds` of the processor.
    """
    records = points(str(settings["data"]), _whole(settings, "draw"))
    params = {name: settings[name] for name in ("K", "inner", "generations") if settings[name]}
    steps = _whole(settings, "steps")
    start = time.process_time()
    process = begin(make(str(settings["method"]), params), records, K, Run(seed=_whole(settings, "seed")))
    for _ in islice(process.epochs(), steps or None):
        pass
    return {
        "sse": float(within_sse(records, process.answer())),
        "macro": _macro(records, _whole(settings, "K")),
        "seconds": round(time.process_time() - start, 3),
    }


def _whole(settings: Flat, name: str) -> int:
    return int(settings[name] or 0)


def _macro(records: Points, size: int) -> int:
    """The number of macro-groups of about `size` records that MDAV makes of its own groups."""
    if not size:
        return 0
    run = Run()
    return len(macro_groups("mdav", records, make("mdav", {}).assign(records, K, run), size // K, run))


def table_runs(budget: Budget) -> pl.DataFrame:
    """All runs of Table 7, and those of other methods on the same data."""
    generations, steps = (QUICK_GENERATIONS, QUICK_STEPS) if budget.quick else (GENERATIONS, STEPS)
    here = [data for data in REAL if data not in missing()]
    plain: dict[str, str | int] = {"K": 0, "inner": "", "generations": 0, "steps": 0}
    settings: list[Flat] = []
    for data in (*SMALL, *([] if budget.quick else here)):
        methods = [
            ("mdav", plain),
            ("vmdav", plain),
            *(("two-step", {**plain, "K": size, "inner": "genetic", "generations": generations}) for size in MACRO),
            *(("two-step", {**plain, "K": size, "inner": "memetic"}) for size in MACRO),
            ("memetic", {**plain, "steps": steps}),
        ]
        settings += [
            {"data": data, "draw": seed, "method": m, **s, "seed": seed}
            for seed in range(budget.seed, budget.seed + (1 if budget.quick else SEEDS))
            for m, s in methods
        ]
    about: Flat = {"study": "2008-hybrid", "shift": SHIFT}
    return budget.run("2008-hybrid", run_partition, settings, about, stage="table 7", cost="seconds")


def missing() -> dict[str, str]:
    """The real data sets that are not here, and where they were looked for."""
    places: dict[str, str] = {}
    for data, name in REAL.items():
        try:
            literature(name)
        except InputError as error:
            places[data] = str(error)
    return places
