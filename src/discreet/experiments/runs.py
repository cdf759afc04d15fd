"""Many runs of one task: on all processors, kept as they end, each done once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError, whole
from discreet.experiments.store import Flat, Scalar, Store, key
from discreet.experiments.workers import Task, work

if TYPE_CHECKING:
    import polars as pl

# Told how far along the runs are, in [0, 1], and how many seconds are left.
Progress = Callable[[float, float], None]


def run_all(
    task: Task,
    settings: Sequence[Flat],
    *,
    store: Path | None = None,
    about: Flat | None = None,
    threads: int = 1,
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Do a task once for each of some settings.

    Parameters
    ----------
    task : callable
        Makes a flat dict of results of a flat dict of settings, from these alone. For several processes it must be
        picklable: a function of a module, or a `functools.partial` of one with the data.
    settings : sequence of dicts
        One for each run; no two alike.
    store : Path, optional
        A folder in which runs are kept as they end. Runs that are there already are not done again.
    about : mapping, optional
        What the runs have in common, such as a digest of the data; the store refuses runs about something else.
    threads : int
        How many processes work side by side; the result does not depend on it.
    progress : callable, optional
        Told how far along the runs are, in [0, 1], and the seconds that are left.

    Returns
    -------
    polars.DataFrame
        A row for each of the settings, in their order: settings and results.
    """
    import polars as pl

    whole("threads", threads, 1)
    keys = [key(setting) for setting in settings]
    if len(set(keys)) < len(keys):
        raise InputError("two of the runs have the same settings; each run needs its own, a seed at least")
    with nullcontext() if store is None else Store(store, about or {}) as kept:
        done: dict[str, dict[str, Scalar]] = {} if kept is None else kept.done
        left = [setting for setting, name in zip(settings, keys, strict=True) if name not in done]
        before, start = len(keys) - len(left), time.perf_counter()
        ended = 0
        for handful in work(task, left, threads):
            if kept is None:
                done |= {key(setting): dict(result) for setting, result in handful}
            else:
                kept.append(handful)
            ended += len(handful)
            if progress is not None:
                pace = (time.perf_counter() - start) / ended
                progress((before + ended) / len(keys), pace * (len(left) - ended))
        rows = [_row(setting, done[name]) for setting, name in zip(settings, keys, strict=True)]
    return pl.DataFrame(rows, infer_schema_length=None)


def _row(settings: Flat, result: Flat) -> dict[str, Scalar]:
    both = set(settings) & set(result)
    if both:
        raise ValueError(f"{', '.join(sorted(both))} is a setting and a result")
    return {**settings, **result}
