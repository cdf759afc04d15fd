"""One run of a comparison: a method on a data set or a table, and how its result got better over time."""

from __future__ import annotations

import json
import time as clock
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError
from discreet.experiments.compare_methods import Entrant
from discreet.experiments.store import Flat

if TYPE_CHECKING:
    from discreet.evolution.stops import Stop
    from discreet.microdata.method import Points

# The shortest time for which a search goes on when its start has used up the time.
INSTANT = 1e-3


def grouped(
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
    from discreet.evolution.loop import evolve
    from discreet.kernels.sse import total_sse
    from discreet.microdata.grouped import warm_up
    from discreet.microdata.method import Run
    from discreet.microdata.registry import make
    from discreet.microdata.settled import begin

    points, entrant = data[str(settings["data"])], methods[str(settings["method"])]
    k, seed = int(settings["k"] or 0), int(settings["seed"] or 0)
    try:
        method = make(entrant.method, entrant.params)
        warm_up(method, points.shape[1], k, {len(points)})
        start, work = clock.perf_counter(), clock.process_time()
        process = begin(method, points, k, Run(seed=seed, time=time, steps=steps, threads=1))
        begun = clock.perf_counter() - start
        outcome = evolve(process, _stop(time - begun, steps))
    except DiscreetError as error:
        raise _told(error, settings) from None
    _uninterrupted(outcome.stopped)
    scale = 100.0 / (float(total_sse(points)) or 1.0)
    return {
        "value": _value(float(process.cost) * scale),
        "seconds": round(begun + outcome.seconds, 4),
        "processor": round(clock.process_time() - work, 4),
        "steps": outcome.steps,
        "stopped": outcome.stopped,
        "trace": _trace((begun + seconds, cost * scale) for _, seconds, cost in outcome.trace),
    }


def suppressed(
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
    from discreet.tables.suppress import suppress

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
        raise _told(error, settings) from None
    search = found.evidence["search"]
    _uninterrupted(search["stopped"])
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


def _stop(time: float, steps: int | None) -> Stop:
    from discreet.evolution.stops import MaxSeconds, MaxSteps

    return MaxSeconds(max(time, INSTANT)) if steps is None else MaxSteps(steps)


def _uninterrupted(stopped: str) -> None:
    """A run that was cut short by hand must not be kept as if it were whole."""
    if stopped == "interrupted":
        raise KeyboardInterrupt


def _told(error: DiscreetError, settings: Flat) -> DiscreetError:
    """The same error, with the run in which it was met."""
    where = ", ".join(f"{name} = {settings[name]}" for name in settings if name in ("k", "seed"))
    return type(error)(f"{settings['method']} on {settings['data']} ({where}): {error}")


def _value(value: float) -> float:
    """Ten digits, so that equal results are equal: sums in another order differ in the last digits."""
    return float(f"{value:.10g}")


def _trace(points: Iterable[tuple[float, float]]) -> str:
    """Finite values only: a search has none before its first pattern."""
    return json.dumps([[round(seconds, 4), _value(value)] for seconds, value in points if abs(value) < float("inf")])
