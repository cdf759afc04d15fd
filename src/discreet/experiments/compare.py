"""Methods compared: on data sets and values of k, or on tables, over several seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet._version import __version__
from discreet.errors import InputError, whole
from discreet.experiments.compare_methods import Entrant, entrants
from discreet.experiments.compare_runs import grouped, suppressed
from discreet.experiments.ranks import Comparison
from discreet.experiments.ranks import compare as ranked
from discreet.experiments.runs import Progress, run_all
from discreet.experiments.statistics import need
from discreet.experiments.store import Flat, Scalar

if TYPE_CHECKING:
    import polars as pl

    from discreet.microdata.method import Points


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
        import polars as pl

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
    seed: int = 1,
    threads: int = 1,
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
    store : Path, optional
        A folder in which runs are kept as they end, and from which a comparison goes on.
    progress : callable, optional
        Told how far along the runs are, in [0, 1], and the seconds that are left.
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
    task = partial(grouped if ks else suppressed, given, found, time, steps)
    frame = run_all(task, settings, store=store, about=about, threads=threads, progress=progress)
    return judge(frame, "IL %" if ks else "cost")


def check(methods: Sequence[str], ks: Sequence[int]) -> dict[str, Entrant]:
    """The methods by their labels; what cannot be compared is refused."""
    if len(set(ks)) < len(ks):
        raise InputError("a value of k is named twice; name it once")
    return entrants(methods, _maker(tables=not ks))


def judge(frame: pl.DataFrame, unit: str) -> Compared:
    """The tests on runs."""
    import polars as pl

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
    from scipy import stats

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
    from discreet.microdata import registry as microdata
    from discreet.tables.suppression import registry as suppression

    own, others = (suppression, microdata) if tables else (microdata, suppression)

    def make(name: str, params: Mapping[str, Any]) -> Any:
        if name not in own.METHODS and name in others.METHODS:
            hint = "methods for microdata need k" if tables else "without k tables are compared"
            raise InputError(f"{name} is a method for {'microdata' if tables else 'tables'}; {hint}")
        return own.make(name, params)

    return make


def _digest(data: Mapping[str, Any]) -> str:
    """What tells data from other data."""
    total = hashlib.sha256()
    for name, each in data.items():
        content = each.read_bytes() if isinstance(each, Path) else each.tobytes()
        total.update(f"{name}\0{len(content)}\0".encode() + content)
    return total.hexdigest()[:16]
