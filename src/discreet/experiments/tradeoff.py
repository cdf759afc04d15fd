"""Loss against risk: what a release of some data costs and what it risks, over values of k and over methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from discreet._version import __version__
from discreet.data.databases.address import is_address
from discreet.data.files import read, sha256
from discreet.errors import InputError, whole
from discreet.experiments.compare import Entrant, check
from discreet.experiments.runs import Flat, Progress, Scalar, run_all
from discreet.microdata.protect import protect

MEASURES = ("il", "dld", "id", "dr", "score")


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """What was found.

    Parameters
    ----------
    runs : polars.DataFrame
        A row per release: `k`, `method`, `il`, `dld`, `id`, `dr`, `score`, `groups`, `seconds`.
    risk : str
        The measure of risk: `dr`, or `dld` where no quasi-identifier is numeric.
    """

    runs: pl.DataFrame
    risk: str

    def front(self) -> pl.DataFrame:
        """The releases that no other beats in both loss and risk, by loss."""
        rows = self.runs.sort("il", self.risk)
        least = pl.col(self.risk).cum_min().shift(1)
        return rows.filter((pl.col(self.risk) < least) | least.is_null())


def run_release(
    path: Path,
    reading: Mapping[str, Any],
    columns: Mapping[str, Any],
    methods: Mapping[str, Entrant],
    limit: Mapping[str, Any],
    settings: Flat,
) -> dict[str, Any]:
    """Protect and measure once.

    Parameters
    ----------
    path : Path
        The data.
    reading, columns : mapping
        How it is read, and what its columns are.
    methods : mapping
        The methods by label.
    limit : mapping
        `time` or `steps`, and `seed`.
    settings : mapping
        `k` and `method`, a label.
    """
    entrant = methods[str(settings["method"])]
    release = protect(
        read(path, **reading),
        k=int(settings["k"] or 0),
        method=entrant.method,
        params=entrant.params,
        measures=MEASURES,
        threads=1,
        **limit,
        **columns,
    )
    search = release.evidence["search"]
    if search["stopped"] == "interrupted":
        raise KeyboardInterrupt
    figures = {name: release.measures[name] for name in MEASURES}
    return figures | {"groups": release.measures["groups"], "seconds": search["seconds"]}


def tradeoff(
    path: Path,
    *,
    ks: Sequence[int],
    methods: Sequence[str],
    columns: Mapping[str, Any],
    reading: Mapping[str, Any] | None = None,
    time: float = 10.0,
    steps: int | None = None,
    seed: int = 0,
    threads: int = 1,
    cluster: str | None = None,
    executor: Executor | None = None,
    store: Path | None = None,
    progress: Progress | None = None,
) -> Tradeoff:
    """Protect data with every method for every k, and measure loss and risk.

    Parameters
    ----------
    path : Path
        The microdata.
    ks : sequence of int
        Least sizes of a group.
    methods : sequence of str
        Methods, each a name or `NAME:PARAMETER=VALUE,…`.
    columns : mapping
        The column keywords of `protect`, and `config`.
    reading : mapping, optional
        How the file is read.
    time : float
        Seconds of search of a release; methods that are no search run to their end.
    steps : int, optional
        Steps of search instead, which makes a study that can be repeated exactly.
    seed : int
        Seed of every random choice.
    threads : int
        Processes that work side by side.
    cluster : str, optional
        The address of a Dask scheduler whose workers do the runs.
    executor : concurrent.futures.Executor, optional
        Whatever else does the runs.
    store : Path, optional
        A folder in which runs are kept as they end, and from which a study goes on.
    progress : callable, optional
        Told the stage, with the time that is left, and how far along the runs are, in [0, 1].
    """
    if not ks:
        raise InputError("name the values of k to try, as 3,5,10")
    found = check(methods, [whole("k", k, 2) for k in ks], least=1)
    limit: dict[str, Any] = {"seed": seed, **({"time": time} if steps is None else {"steps": steps})}
    settings: list[Flat] = [{"k": k, "method": label} for k in ks for label in found]
    about: dict[str, Scalar] = {
        "study": "tradeoff",
        "limit": f"{time:g} s" if steps is None else f"{steps} steps",
        "data": (read(path).sha256() if is_address(path) else sha256(path))[:16],
        "columns": str(sorted((name, str(value)) for name, value in columns.items())),
        "seed": seed,
        "version": __version__,
    }
    task = partial(run_release, path, dict(reading or {}), dict(columns), found, limit)
    runs = run_all(
        task, settings, store=store, about=about, threads=threads, cluster=cluster, executor=executor, progress=progress
    )
    risk = "dld" if runs["dr"].null_count() else "dr"
    return Tradeoff(runs, risk)
