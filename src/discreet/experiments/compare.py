"""Methods compared on data sets and values of k, or on tables, over several seeds; which of them is better."""

from __future__ import annotations

import hashlib
import json
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from scipy import stats

from discreet._version import __version__
from discreet.errors import DiscreetError, InputError, whole
from discreet.experiments.runs import Flat, Progress, Scalar, run_all
from discreet.experiments.statistics import Comparison, need
from discreet.experiments.statistics import compare as ranked
from discreet.kernels.partitions.groups import total_sse
from discreet.methods import make, names
from discreet.microdata.method import Points, Run, begin
from discreet.microdata.solving import warm_up
from discreet.running import SearchOptions, run
from discreet.tables.suppress import suppress


@dataclass(frozen=True)
class Entrant:
    """A method with its parameters, under the name that the user gave it.

    Parameters
    ----------
    label : str
        As the user wrote it: `mdav`, or `two-step:K=18,inner=memetic`.
    method : str
        The method.
    params : mapping
        Parameters that are not at their defaults.
    """

    label: str
    method: str
    params: Mapping[str, str] = field(default_factory=dict)


def entrants(texts: Sequence[str], make: Callable[[str, Mapping[str, Any]], Any], least: int = 2) -> dict[str, Entrant]:
    """Read the methods of a comparison, each by its label.

    Parameters
    ----------
    texts : sequence of str
        `NAME`, or `NAME:PARAMETER=VALUE,…`; the same method may enter with different parameters.
    make : callable
        Makes a method of its name and parameters, and refuses one that there is not.
    least : int
        How many methods there must be at least.
    """
    found: dict[str, Entrant] = {}
    for text in texts:
        name, _, rest = text.strip().partition(":")
        pairs = [part.partition("=") for part in rest.split(",")] if rest else []
        if any(not key.strip() or not equals for key, equals, _value in pairs):
            raise InputError(
                f"method '{text}': write it as two-step, or with parameters as two-step:K=18,inner=memetic"
            )
        entrant = Entrant(text.strip(), name.strip(), {key.strip(): value.strip() for key, _, value in pairs})
        make(entrant.method, entrant.params)
        if entrant.label in found:
            raise InputError(f"the method {entrant.label} is named twice; name it once")
        found[entrant.label] = entrant
    if len(found) < least:
        raise InputError(
            f"there is nothing to compare with {len(found)} method{'' if len(found) == 1 else 's'}; name at least two"
        )
    return found


def run_partition(
    data: Mapping[str, Points],
    methods: Mapping[str, Entrant],
    time: float,
    steps: int | None,
    settings: Flat,
) -> dict[str, Any]:
    """Partition records.

    Parameters
    ----------
    data : mapping
        The records of each data set.
    methods : mapping
        The methods by label.
    time : float
        Seconds of search at most.
    steps : int, optional
        Steps of search at most, instead of a time.
    settings : mapping
        `data`, `k`, `method` (a label), `seed`.

    Returns
    -------
    dict
        `value`, the information loss in percent; `seconds` on the clock and of the `processor`, compiling left
        out; `steps`, `stopped`, and `trace`: pairs of seconds and value as JSON.
    """
    points, entrant = data[str(settings["data"])], methods[str(settings["method"])]
    k, seed = int(settings["k"] or 0), int(settings["seed"] or 0)
    try:
        method = make(entrant.method, entrant.params)
        warm_up(method, points.shape[1], k, {len(points)})
        start, work = clock.perf_counter(), clock.process_time()
        process = begin(method, points, k, Run(seed=seed, threads=1))
        begun = clock.perf_counter() - start
        outcome = run(process, SearchOptions(time=time, steps=steps, seed=seed, threads=1), began=start)
    except DiscreetError as error:
        raise _locate(error, settings) from None
    _refuse_interrupted(outcome.stopped)
    scale = 100.0 / (float(total_sse(points)) or 1.0)
    return {
        "value": _value(float(process.cost) * scale),
        "seconds": round(outcome.seconds, 4),
        "processor": round(clock.process_time() - work, 4),
        "steps": outcome.steps,
        "stopped": outcome.stopped,
        "trace": _trace((begun + seconds, cost * scale) for _, seconds, cost in outcome.trace),
    }


def run_suppression(
    tables: Mapping[str, str],
    methods: Mapping[str, Entrant],
    time: float,
    steps: int | None,
    settings: Flat,
) -> dict[str, Any]:
    """Suppress cells of a table; the pattern is audited, as everywhere.

    Parameters are those of `grouped`, with the path of each table in the place of records; `value` is the cost of the
    secondary cells.
    """
    entrant = methods[str(settings["method"])]
    stages: dict[str, tuple[float, float]] = {}

    def hear(stage: str, _fraction: float) -> None:
        stages.setdefault(stage, (clock.perf_counter(), clock.process_time()))

    limits: dict[str, Any] = {"time": time} if steps is None else {"steps": steps}
    try:
        found = suppress(
            Path(tables[str(settings["data"])]),
            method=entrant.method,
            params=entrant.params,
            seed=int(settings["seed"] or 0),
            progress=hear,
            **limits,
        )
    except DiscreetError as error:
        raise _locate(error, settings) from None
    search = found.evidence["search"]
    _refuse_interrupted(search["stopped"])
    # What is done between reading and the audit counts, not the search alone: a start is work too.
    seconds, work = (stages["guarding"][i] - stages["protecting"][i] for i in (0, 1))
    begun = max(0.0, seconds - float(search["seconds"]))
    return {
        "value": _value(float(found.cost)),
        "seconds": round(seconds, 4),
        "processor": round(work, 4),
        "steps": int(search["steps"]),
        "stopped": str(search["stopped"]),
        "trace": _trace((begun + moment, cost) for _, moment, cost in found.trace),
    }


def _refuse_interrupted(stopped: str) -> None:
    """A run that was cut short by hand must not be kept as if it were whole."""
    if stopped == "interrupted":
        raise KeyboardInterrupt


def _locate(error: DiscreetError, settings: Flat) -> DiscreetError:
    """The same error, with the run in which it was met."""
    where = ", ".join(f"{name} = {settings[name]}" for name in settings if name in ("k", "seed"))
    return type(error)(f"{settings['method']} on {settings['data']} ({where}): {error}")


def _value(value: float) -> float:
    """Ten digits, so that equal results are equal: sums in another order differ in the last digits."""
    return float(f"{value:.10g}")


def _trace(points: Iterable[tuple[float, float]]) -> str:
    """Finite values only: a search has none before its first pattern."""
    return json.dumps([[round(seconds, 4), _value(value)] for seconds, value in points if abs(value) < float("inf")])


@dataclass(frozen=True, eq=False)
class Compared:
    """What a comparison found.

    Parameters
    ----------
    runs : polars.DataFrame
        A row per run: `data`, `k` (of microdata), `method`, `seed`, `case`, `value`, `seconds`, `processor`,
        `steps`, `stopped`.
    traces : polars.DataFrame
        How each run got better: `case`, `method`, `seed`, `seconds`, `value`.
    unit : str
        What the values are; less is better.
    tests : Comparison, optional
        Ranks and tests, where there are at least 3 methods and 2 cases.
    pair : dict, optional
        Wilcoxon's test of two methods, where there are just two: `wins`, `ties`, `losses` of the first, and `p`.
    """

    runs: pl.DataFrame
    traces: pl.DataFrame
    unit: str
    tests: Comparison | None = None
    pair: Mapping[str, Any] | None = None

    @property
    def methods(self) -> list[str]:
        """The methods, as they were named."""
        return self.runs["method"].unique(maintain_order=True).to_list()

    @property
    def cases(self) -> list[str]:
        """The cases, as they were named."""
        return self.runs["case"].unique(maintain_order=True).to_list()

    def summary(self) -> pl.DataFrame:
        """For each case and method: `median`, `low` and `high` quartile of the value, `seconds`, `above` the best in %.

        `above` is how far the median is above the least median of the case, in percent of it.
        """
        value = pl.col("value")
        table = self.runs.group_by("case", "method", maintain_order=True).agg(
            value.median().alias("median"),
            value.quantile(0.25, "linear").alias("low"),
            value.quantile(0.75, "linear").alias("high"),
            pl.col("seconds").median(),
        )
        least = pl.col("median").min().over("case")
        return table.with_columns(
            pl.when(pl.col("median") == least).then(0.0).otherwise(100 * (pl.col("median") / least - 1)).alias("above")
        )


def compare(
    data: Mapping[str, Points] | Mapping[str, Path],
    *,
    methods: Sequence[str],
    ks: Sequence[int] = (),
    seeds: int = 5,
    time: float = 2.0,
    steps: int | None = None,
    seed: int = 0,
    threads: int = 1,
    cluster: str | None = None,
    executor: Executor | None = None,
    store: Path | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Run every method on every case with every seed, and test which is better.

    Parameters
    ----------
    data : mapping
        The records of each data set (with `ks`), or the file of each table (without).
    methods : sequence of str
        At least two methods, each a name or `NAME:PARAMETER=VALUE,…`.
    ks : sequence of int
        Least sizes of a group; none where tables are compared.
    seeds : int
        Runs of each method on each case.
    time : float
        Seconds of search at most; methods that are no search run to their end.
    steps : int, optional
        Steps of search at most, instead of a time; such a comparison can be repeated exactly.
    seed : int
        The first of the seeds.
    threads : int
        Processes that work side by side.
    cluster : str, optional
        The address of a Dask scheduler whose workers do the runs.
    executor : concurrent.futures.Executor, optional
        Whatever else does the runs.
    store : Path, optional
        A folder in which runs are kept as they end, and from which a comparison goes on.
    progress : callable, optional
        Told the stage, with the time that is left, and how far along the runs are, in [0, 1].
    """
    need()
    if not data:
        raise InputError("there is nothing to compare methods on; name a data set or a table")
    if not 0 < time < float("inf"):
        raise InputError(f"time must be a positive number of seconds, not {time!r}")
    if steps is not None:
        whole("steps", steps, 1)
    found = check(methods, ks)
    last = seed + whole("seeds", seeds, 1)
    # All cases with the first seed come first: what cannot be run is met soon.
    settings: list[Flat] = [
        {"data": name, **({"k": k} if ks else {}), "method": label, "seed": number}
        for number in range(whole("seed", seed, 0), last)
        for name in data
        for k in (ks or (0,))
        for label in found
    ]
    about: dict[str, Scalar] = {
        "study": "compare",
        "limit": f"{time:g} s" if steps is None else f"{steps} steps",
        "data": _digest(data),
        "version": __version__,
    }
    given: Any = {name: str(each) if isinstance(each, Path) else each for name, each in data.items()}
    task = partial(run_partition if ks else run_suppression, given, found, time, steps)
    frame = run_all(
        task, settings, store=store, about=about, threads=threads, cluster=cluster, executor=executor, progress=progress
    )
    return analyse(frame, "IL %" if ks else "cost")


def check(methods: Sequence[str], ks: Sequence[int], least: int = 2) -> dict[str, Entrant]:
    """The methods by their labels, so many at least; what cannot be compared is refused."""
    if len(set(ks)) < len(ks):
        raise InputError("a value of k is named twice; name it once")
    return entrants(methods, _maker(tables=not ks), least)


def analyse(frame: pl.DataFrame, unit: str) -> Compared:
    """The tests on runs."""
    case = pl.format("{}, k = {}", "data", "k") if "k" in frame.columns else pl.col("data")
    frame = frame.with_columns(case.alias("case"))
    traces = (
        frame.select("case", "method", "seed", pl.col("trace").str.json_decode(pl.List(pl.List(pl.Float64))))
        .explode("trace")
        .drop_nulls("trace")
        .with_columns(pl.col("trace").list.get(0).alias("seconds"), pl.col("trace").list.get(1).alias("value"))
        .drop("trace")
    )
    runs = frame.drop("trace")
    methods, cases = runs["method"].n_unique(), runs["case"].n_unique()
    tests = ranked(runs, method="method", case="case", value="value") if methods > 2 and cases > 1 else None
    return Compared(runs, traces, unit, tests, _pair(runs) if methods == 2 and cases > 1 else None)


def _pair(runs: pl.DataFrame) -> dict[str, Any]:
    """Wilcoxon's signed-rank test of the medians of two methods."""
    one, other = runs["method"].unique(maintain_order=True).to_list()
    wide = runs.pivot("method", index="case", values="value", aggregate_function="median")
    gain = (wide[other] - wide[one]).to_numpy()
    return {
        "one": one,
        "other": other,
        "wins": int((gain > 0).sum()),
        "ties": int((gain == 0).sum()),
        "losses": int((gain < 0).sum()),
        "p": float(stats.wilcoxon(gain).pvalue) if gain.any() else 1.0,
    }


def _maker(*, tables: bool) -> Any:
    """What makes a method; it refuses a method of the other kind with a hint."""
    own, others = ("suppression", "partition") if tables else ("partition", "suppression")

    def make_of_kind(name: str, params: Mapping[str, Any]) -> Any:
        if name not in names(own) and name in names(others):
            hint = "methods for microdata need k" if tables else "without k tables are compared"
            raise InputError(f"{name} is a method for {'microdata' if tables else 'tables'}; {hint}")
        return make(name, params, own)

    return make_of_kind


def _digest(data: Mapping[str, Any]) -> str:
    """What tells data from other data."""
    total = hashlib.sha256()
    for name, each in data.items():
        content = each.read_bytes() if isinstance(each, Path) else each.tobytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]
