"""How a method is run: constructions to their end, searches until there is a reason to stop."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.evolution.loop import Outcome
    from discreet.evolution.process import Process
    from discreet.evolution.stops import Stop
    from discreet.microdata.method import Labels, Method, Points
    from discreet.microdata.settings import Settings

# The shortest time for which a search goes on when its start has used up the time.
INSTANT = 1e-3


@dataclass(frozen=True, eq=False)
class Found:
    """What came of a run: the groups of each part, what the evidence says of the search, and the bound it proves.

    Parameters
    ----------
    labels : list of arrays
        The groups of each part of the data.
    search : dict
        Method, parameters, seed, steps, seconds, why it stopped, and the trace.
    bound : float, optional
        A lower bound of the SSE, where the method proves one.
    """

    labels: list[Labels]
    search: dict[str, Any]
    bound: float | None


def solve(
    name: str,
    method: Method,
    parts: Sequence[Points],
    settings: Settings,
    tell: Callable[[float], None],
    *,
    starts: Sequence[Labels | None] | None = None,
    checkpoint: Path | None = None,
    signature: Mapping[str, str | int | float] | None = None,
) -> Found:
    """Run a method on each part of the data, on all parts side by side.

    Parameters
    ----------
    name : str
        Name of the method.
    method : Method
        The method.
    parts : sequence of arrays
        The points of each part.
    settings : Settings
        k, time or steps, seed, threads.
    tell : callable
        Told how far along the run is, in [0, 1].
    starts : sequence of arrays
        A k-partition of each part to start from.
    checkpoint : Path
        Where the search is kept, and goes on from.
    signature : mapping
        What makes this run different from others, for the checkpoint.
    """
    from discreet.evolution.loop import evolve
    from discreet.evolution.together import Together

    start = clock.perf_counter()
    processes = _begun(method, parts, settings, tell, starts)
    whole = Together(processes, settings.threads if _many(parts) else 1)
    used = clock.perf_counter() - start
    keep = None
    if checkpoint is not None and hasattr(method, "search"):
        from discreet.evolution.checkpoint import Checkpoint

        keep = Checkpoint(checkpoint, signature or {})
    outcome = _guarded(
        lambda: evolve(whole, _stop(settings, used), listeners=[lambda _moment, share: tell(share)], checkpoint=keep),
        checkpoint,
    )
    labels = whole.answer()
    tell(1.0)
    seconds = clock.perf_counter() - start
    return Found(labels, _told(name, method, settings, outcome, seconds), _bound(processes))


def _begun(
    method: Method,
    parts: Sequence[Points],
    settings: Settings,
    tell: Callable[[float], None],
    starts: Sequence[Labels | None] | None,
) -> list[Process[Labels]]:
    from discreet.microdata.method import Run
    from discreet.microdata.settled import begin

    constructive = not hasattr(method, "search")
    total = sum(map(len, parts))
    processes, done = [], 0
    for number, points in enumerate(parts):

        def heard(fraction: float, done: int = done, size: int = len(points)) -> None:
            if constructive:
                tell((done + size * fraction) / total)

        run = Run(
            settings.seed,
            settings.time,
            settings.steps,
            1 if _many(parts) else settings.threads,
            heard,
            None if starts is None else starts[number],
        )
        processes.append(begin(method, points, settings.k, run))
        done += len(points)
        heard(1.0, done - len(points))
    return processes


def _many(parts: Sequence[Points]) -> bool:
    """Whether the parts keep several threads busy; if one has most of the records, its own search does that better."""
    return 2 * max(map(len, parts)) <= sum(map(len, parts))


def _stop(settings: Settings, used: float) -> Stop:
    from discreet.evolution.stops import MaxSeconds, MaxSteps

    if settings.steps is not None:
        return MaxSteps(settings.steps)
    return MaxSeconds(max(settings.time - used, INSTANT))


def _told(name: str, method: Method, settings: Settings, outcome: Outcome, seconds: float) -> dict[str, Any]:
    return {
        "method": name,
        "params": asdict(method),
        "seed": settings.seed,
        "steps": outcome.steps,
        "seconds": round(seconds, 3),
        "stopped": outcome.stopped,
        "trace": [[step, round(moment, 3), cost] for step, moment, cost in outcome.trace],
    }


def _bound(processes: Sequence[Process[Labels]]) -> float | None:
    """The sum of the bounds, where all processes prove one."""
    bounds: list[Any] = [getattr(process, "bound", None) for process in processes]
    return None if None in bounds else math.fsum(bounds)


def _guarded(run: Callable[[], Outcome], checkpoint: Path | None) -> Outcome:
    """Say what is wrong with a checkpoint in the words of the user."""
    if checkpoint is None:
        return run()
    from discreet.evolution.checkpoint import CheckpointDamaged, CheckpointMismatch

    try:
        return run()
    except CheckpointMismatch as error:
        if error.key == "data":
            what = "was made from other data, or with other columns or weights"
        elif error.key == "start":
            what = "is of a search that started from other groups"
        else:
            what = f"was made with {error.key} = {error.kept}, this run has {error.key} = {error.expected}"
        raise InputError(
            f"{checkpoint}: the checkpoint {what}; give the same data and settings, or another file"
        ) from None
    except CheckpointDamaged:
        raise InputError(f"{checkpoint}: the file is damaged or no checkpoint; give another file") from None
    except FileNotFoundError:
        raise InputError(f"{checkpoint}: the folder of the checkpoint does not exist") from None
    except OSError as error:
        raise InputError(f"{checkpoint}: the checkpoint cannot be kept ({error.strerror})") from None
