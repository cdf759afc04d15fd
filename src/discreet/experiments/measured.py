"""One run of a partition method, measured: the task of studies of microdata."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from discreet.experiments.store import Flat

if TYPE_CHECKING:
    from discreet.evolution.process import Process
    from discreet.microdata.method import Points

# At the target a run may be off by the rounding of a sum.
EQUAL = 1e-9
# Records that are enough to have a method's code loaded; none is too slow for so many.
FEW = 16

_rehearsed: set[str] = set()


def measured(
    points: Points,
    k: int,
    method: str,
    params: Flat,
    steps: int | None,
    target: float | None,
    settings: Flat,
) -> dict[str, Any]:
    """Run a method on points until it ends.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group.
    method : str
        The method.
    params : mapping
        Parameters that are the same in all runs.
    steps : int, optional
        Steps of search at most; without, until the method ends by itself.
    target : float, optional
        The least SSE there can be: a run that has reached it cannot improve, and is over.
    settings : mapping
        The seed, as `seed`, the number of the run, as `run`, and parameters of this run alone.

    Returns
    -------
    dict
        `sse`; `converged`, the generation (or the step, where a method has no generations) that found it; `seconds` of
        the processor.
    """
    from discreet.microdata.method import Run
    from discreet.microdata.registry import make
    from discreet.microdata.settled import begin

    _rehearse(method, points, k)
    own = {name: value for name, value in settings.items() if name not in ("seed", "run")}
    start = time.process_time()
    process = begin(make(method, {**params, **own}), points, k, Run(seed=int(settings["seed"] or 0), threads=1))
    improved = _advanced(process, steps, target)
    return {
        "sse": float(process.cost),
        "converged": int(getattr(process, "converged", improved)),
        "seconds": round(time.process_time() - start, 4),
    }


def _rehearse(method: str, points: Points, k: int) -> None:
    """Take one step once in each process, so that no run's seconds are those of loading compiled code."""
    from discreet.microdata.method import Run
    from discreet.microdata.registry import make
    from discreet.microdata.settled import begin

    if method in _rehearsed:
        return
    _rehearsed.add(method)
    process = begin(make(method, {}), points[: max(FEW, 2 * k)], k, Run(threads=1))
    if not process.finished:
        process.advance()


def _advanced(process: Process[Any], steps: int | None, target: float | None) -> int:
    """Run a process to its end; the step that last made it better."""
    step = improved = 0
    least = float(process.cost)
    while not process.finished and (steps is None or step < steps):
        if target is not None and least <= target * (1 + EQUAL):
            break
        process.advance()
        step += 1
        if process.cost < least:
            least, improved = float(process.cost), step
    return improved
