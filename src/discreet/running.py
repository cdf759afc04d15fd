"""The one driver of all searches: until when, who listens, where it is kept, and what the evidence says of it."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet._version import __version__
from discreet.errors import DiscreetWarning, InputError, whole
from discreet.evolution.checkpoint import Checkpoint, CheckpointDamaged, CheckpointMismatch, Signature
from discreet.evolution.loop import Listener, Outcome, evolve
from discreet.evolution.process import Process
from discreet.evolution.stops import MaxSeconds, MaxSteps, Moment
from discreet.kernels.compiling import search_clock
from discreet.listening import LISTENERS, announce_found, announce_moment

DEFAULT_SECONDS = 10.0
# How long a search goes on, in seconds, when making its first answer has used up the time.
INSTANT = 1e-3


def count_processors() -> int:
    """How many processors this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed else os.cpu_count() or 1


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How a search is run; a wrong option names itself, its value and what is allowed.

    Parameters
    ----------
    time : float
        Seconds of search.
    steps : int, optional
        Epochs of search instead of a time.
    seed : int
        Seed of every random choice.
    threads : int
        Threads to use; the result does not depend on it.
    """

    time: float = field(default_factory=lambda: DEFAULT_SECONDS)
    steps: int | None = None
    seed: int = 0
    threads: int = field(default_factory=count_processors)

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("threads", 1), ("steps", 1)):
            if name != "steps" or self.steps is not None:
                object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if self.seed >= 2**63:
            raise InputError("seed must be below 2^63")
        if isinstance(self.time, bool) or not isinstance(self.time, int | float) or not 0 < self.time < math.inf:
            raise InputError(f"time must be a positive number of seconds, not {self.time!r}")


@dataclass(frozen=True)
class CheckpointFile:
    """Where a search is kept, so that it can go on after a break.

    Parameters
    ----------
    path : Path
        The file; if it exists, the search goes on from it.
    signature : mapping
        What makes this run different from others (see `sign`); a file with another signature is refused.
    reasons : mapping
        For keys of the signature that a user does not know by name: how a checkpoint that differs there is described.
    """

    path: Path
    signature: Signature
    reasons: Mapping[str, str] = field(default_factory=dict)


def sign(
    method: str, params: Mapping[str, Any], settings: Mapping[str, str | int | float], digests: Mapping[str, str]
) -> Signature:
    """Make the signature of a run, in the order in which a difference is looked for.

    Parameters
    ----------
    method : str
        Name of the method.
    params : mapping
        Its parameters.
    settings : mapping
        Other settings on which the search depends, the seed among them.
    digests : mapping
        Digests of what it works on, the data in the first place.
    """
    named = {f"params.{key}": str(value) for key, value in params.items()}
    return {"version": __version__, "method": method, **settings, **digests, **named}


def run(
    process: Process[object],
    options: SearchOptions,
    *,
    tell: Callable[[float], None] = lambda _fraction: None,
    checkpoint: CheckpointFile | None = None,
    began: float | None = None,
    say: Callable[[float], float] | None = None,
) -> Outcome:
    """Run a search until it is finished, its time or steps are over, or somebody interrupts it.

    Parameters
    ----------
    process : Process
        The search; it holds the answer and the bound afterwards.
    options : SearchOptions
        Time or steps.
    tell : callable
        Told how far along the run is, in [0, 1], after each epoch.
    checkpoint : CheckpointFile, optional
        Where the search is kept, and goes on from.
    began : float, optional
        What `search_clock` said before the process was made, if making it is part of the search's time.
    say : callable, optional
        Turns a cost into the figure that those who listen to the search are told, a loss in percent, say.

    Returns
    -------
    Outcome
        Steps, seconds since it began, why it stopped, and the trace.
    """
    began = search_clock() if began is None else began
    left = max(options.time - (search_clock() - began), INSTANT)
    stop = MaxSeconds(left) if options.steps is None else MaxSteps(options.steps)
    file = None if checkpoint is None else Checkpoint(checkpoint.path, checkpoint.signature)
    try:
        listeners: list[Listener] = [_announce(process, say)] if LISTENERS else []
        listeners.append(lambda _moment, fraction: tell(fraction))
        outcome = evolve(process, stop, listeners=listeners, checkpoint=file, clock=search_clock)
        announce_found()
    except (CheckpointMismatch, CheckpointDamaged, OSError) as error:
        if checkpoint is None:
            raise
        raise InputError(f"{checkpoint.path}: {_explain(error, checkpoint.reasons)}") from None
    if checkpoint is not None and file is not None and file.trouble is not None:
        warnings.warn(
            f"{checkpoint.path}: {_explain(file.trouble, checkpoint.reasons)}; the search went on without it",
            DiscreetWarning,
            stacklevel=2,
        )
    return replace(outcome, seconds=search_clock() - began)


def _announce(process: Process[object], say: Callable[[float], float] | None) -> Listener:
    """Tell whoever listens to the process where the search stands."""
    figure = say or float

    def announce(moment: Moment, _fraction: float) -> None:
        bound = process.bound
        announce_moment(moment.steps, moment.seconds, figure(moment.cost), None if bound is None else figure(bound))

    return announce


def _explain(error: Exception, reasons: Mapping[str, str]) -> str:
    """What is wrong with a checkpoint, in the words of the user."""
    if isinstance(error, CheckpointMismatch):
        differs = f"was made with {error.key} = {error.kept}, this run has {error.key} = {error.expected}"
        reason = reasons.get(error.key, differs)
        return f"the checkpoint {reason}; give the same data and settings, or another file"
    if isinstance(error, CheckpointDamaged):
        return "the file is damaged or no checkpoint; give another file"
    if isinstance(error, FileNotFoundError):
        return "the folder of the checkpoint does not exist"
    return f"the checkpoint cannot be kept ({getattr(error, 'strerror', None)})"


def describe_search(outcome: Outcome, method: str, params: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """The part `search` of the evidence.

    Parameters
    ----------
    outcome : Outcome
        How the run went.
    method : str
        Name of the method.
    params : mapping
        Its parameters.
    seed : int
        Seed of every random choice.
    """
    return {
        "method": method,
        "params": dict(params),
        "seed": seed,
        "steps": outcome.steps,
        "seconds": round(outcome.seconds, 3),
        "stopped": outcome.stopped,
        "trace": [[step, round(seconds, 3), cost] for step, seconds, cost in outcome.trace],
    }
