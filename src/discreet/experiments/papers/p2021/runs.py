"""The runs of the 2021 paper: Census and Tarragona partitioned by its methods and ours, their loss, risk and time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

import polars as pl

import discreet
from discreet.experiments.papers.paper import Budget
from discreet.experiments.records import literature, standardise
from discreet.experiments.runs import Flat
from discreet.methods import make
from discreet.microdata.method import Labels, Run, begin

DATA, KS = ("census", "tarragona"), (3, 4, 5)
# The paper's methods, `recursive` also with its convergence as printed (an epoch without a change), and ours.
PRINTED = "recursive, patience=1"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "mdav": ("mdav", {}),
    "domes": ("domes", {}),
    "recursive": ("recursive", {}),
    PRINTED: ("recursive", {"patience": 1}),
    "memetic": ("memetic", {}),
}
CHANCE = ("domes", "recursive", PRINTED)
SEEDS = 10
STEPS, QUICK_STEPS = 100, 2
# The seven key variables, by position from 1.
KEYS = (1, 2, 3, 5, 10, 11, 12)
MEASURES = ("il", "gil", "dld", "id", "gdr", "si")
WARM_UP_RECORDS = 60


def known(columns: Sequence[str]) -> list[str]:
    """The key variables, which an intruder knows."""
    return [columns[place - 1] for place in KEYS]


def make_release(frame: pl.DataFrame, labels: Labels) -> pl.DataFrame:
    """The file with each value replaced by the mean of its group."""
    return frame.select(pl.all().mean().over(pl.Series("group", labels)))


def run_and_measure(settings: Flat) -> dict[str, Any]:
    """Partition a data set and judge the release.

    Parameters
    ----------
    settings : mapping
        `data`, `k`, `method` (a name of `METHODS`), `steps` (of a search; 0 elsewhere), `seed`.

    Returns
    -------
    dict
        The measures in percent; `seconds` of the processor for the partition alone, compiling and the first touch of
        compiled code left out.
    """
    frame = literature(str(settings["data"]))
    found, seconds = _partition(frame, settings)
    release = make_release(frame, found)
    measures = discreet.measure(
        frame,
        release,
        quasi=frame.columns,
        measures=list(MEASURES),
        direction="released",
        nearest=2,
        known=known(frame.columns),
        interval="rank",
        records=True,
    )
    return {**{name: measures[name] for name in MEASURES}, "seconds": seconds}


def by_subset(data: str, k: int) -> dict[int, float]:
    """DLD of MDAV if the intruder knows C of the seven key variables, the mean over all choices, for C = 1 to 7."""
    frame = literature(data)
    labels, _ = _partition(frame, {"method": "mdav", "k": k, "steps": 0, "seed": 0})
    release, keys = make_release(frame, labels), known(frame.columns)
    how: dict[str, Any] = {"quasi": frame.columns, "measures": ["dld"], "direction": "released", "nearest": 2}
    return {
        count: float(discreet.measure(frame, release, known=keys, choose=count, **how)["dld"])
        for count in range(1, len(keys) + 1)
    }


def _partition(frame: pl.DataFrame, settings: Flat) -> tuple[Labels, float]:
    name, params = METHODS[str(settings["method"])]
    k, steps, seed = (int(settings[key] or 0) for key in ("k", "steps", "seed"))
    points, method = standardise(frame.to_numpy()), make(name, params)
    if not steps:
        begin(method, points[:WARM_UP_RECORDS], k, Run())
    start = time.process_time()
    process = begin(method, points, k, Run(seed=seed))
    for _ in islice(process.epochs(), steps):
        pass
    return process.answer(), round(time.process_time() - start, 5)


def runs_of_paper(budget: Budget) -> pl.DataFrame:
    """All runs."""
    for data in DATA:
        literature(data)  # what is missing is told before the work begins
    steps = QUICK_STEPS if budget.quick else STEPS
    settings: list[Flat] = [
        {"data": data, "k": k, "method": method, "steps": steps if method == "memetic" else 0, "seed": seed}
        for data in DATA
        for k in KS
        for method in METHODS
        for seed in range(budget.seed, budget.seed + (SEEDS if method in CHANCE and not budget.quick else 1))
    ]
    about: Flat = {"study": "2021-judged"}
    return budget.run("2021-judged", run_and_measure, settings, about, stage="partitioning and judging", cost="seconds")
