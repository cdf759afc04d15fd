"""`discreet.suppress`: which further cells to leave out, so that no unsafe one can be worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import SearchKeywords, load_options, sort_keywords, takes
from discreet.errors import InputError, PromiseNotKept, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.release.suppressed import SuppressedTable
    from discreet.tabular.table import Table

DEFAULT_SECONDS = 10.0
# The keywords that a configuration may hold.
CONFIGURED = (
    "method", "params", "cost", "time", "steps", "seed", "threads", "protect_secondaries", "singletons", "strict",
    "partial",
)  # fmt: skip
# Up to here every release is proven by a certificate that is added up again; above, by the attacker alone.
CERTIFIED = 5_000


@takes(SearchKeywords)
def suppress(
    table: Any,
    *,
    method: str | None = None,
    cost: str | None = None,
    previous: str | Path | None = None,
    frozen: Any = None,
    prefer: Any = None,
    avoid: Any = None,
    protect_secondaries: bool = False,
    singletons: bool = False,
    strict: bool = False,
    partial: bool = False,
    certificate: bool = False,
    params: Mapping[str, Any] | None = None,
    meta: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[SearchKeywords],
) -> SuppressedTable:
    """Choose further cells to suppress, at the least cost, so that every unsafe cell is protected.

    The table is attacked afterwards as discreet.audit does; what does not stand the attack is not handed out.

    Parameters
    ----------
    table : Table or path
        The table with its unsafe cells: of discreet.primary, or a file (.parquet, .csv, .tab, .jj).
    method : str
        search (the default: destroy and repair with clean-up), exact (with a proof of optimality, for small tables),
        the searches of the 2012 paper (ga-group-k, ga-one-k, ga-one-p, ga-swap, ga-insert, ga-invert, ls-swap,
        ls-insert, ls-invert), or the baselines hypercube and marginal.
    cost : str, optional
        What the loss of a cell counts: value, count, log, unit, or the name of a column of the table's file. As the
        table says, if not given.
    config : path
        A TOML file with any of method, params, cost, time, steps, seed, threads, protect_secondaries, singletons,
        strict and partial; what the call gives wins.
    time : float
        Seconds of search, 10 by default.
    steps : int
        Stop after so many steps instead: the same steps and seed give the same pattern.
    threads : int
        Threads to use, by default one per processor; with the same steps the pattern does not depend on it.
    previous : path, optional
        A pattern to begin with, such as last year's: a table file with the same cells, or τ-ARGUS's code-value output.
    frozen : path, frame or list, optional
        Cells that must be published, as a list of cells.
    prefer : path, frame or list, optional
        Cells to suppress rather than others: they cost a hundredth.
    avoid : path, frame or list, optional
        Cells to spare: they cost a hundred times as much.
    protect_secondaries : bool
        Secondary cells must not be known exactly either.
    singletons : bool
        Protect also against sole contributors, who know their own cells.
    strict : bool
        Levels must be exceeded, and not just reached.
    partial : bool
        Go on where some unsafe cells cannot be protected, and say which; without it nothing is handed out then.
    certificate : bool
        Keep a certificate of the protection.
    params : mapping, optional
        Parameters of the method.
    meta : path, optional
        The .rda file of a .tab file, if it is not the one of the same name.
    progress : callable, optional
        Listens to the stage of the work and how far along it is.
    **keywords
        How long to search: see SearchKeywords.

    Returns
    -------
    SuppressedTable
        With table, secondary, cost, audit, bound, trace, summary() and write(path).
    """
    import numpy as np

    from discreet.evolution.loop import evolve
    from discreet.methods import make
    from discreet.tables.suppression.components import Components
    from discreet.tables.suppression.feasibility import given_away, spared, unjudged, why
    from discreet.tables.suppression.guards import guarded, with_status
    from discreet.tables.suppression.problem import problem_of, settled
    from discreet.tables.suppression.warm_up import warm_up
    from discreet.tables.suppression.weights import bound_of, named_cells, weights
    from discreet.tabular.files.formats import table_from
    from discreet.tabular.table import PRIMARY, SECONDARY
    from discreet.verification.audit import audit

    tell = progress or (lambda _stage, _part: None)
    search = sort_keywords(suppress, keywords, SearchKeywords)[0]
    said = load_options(search.pop("config", None), CONFIGURED)
    search = said | {name: value for name, value in search.items() if value is not None}
    method, cost = method or said.get("method", "search"), cost or said.get("cost")
    params = said.get("params", {}) if params is None else params
    protect_secondaries = protect_secondaries or said.get("protect_secondaries", False)
    singletons = singletons or said.get("singletons", False)
    strict, partial = strict or said.get("strict", False), partial or said.get("partial", False)
    chosen = make(method, params, "suppression")
    seed = whole("seed", search.get("seed", 0), 0)
    whole("threads", search.get("threads", 1), 1)
    if search.get("checkpoint") is not None:
        raise InputError("checkpoint: a search for patterns cannot be kept yet")
    stop = _stop(search.get("time"), search.get("steps"))
    tell("reading", 0.0)
    held = table_from(table, meta)
    held.check()
    held = held.but(status=np.where(held.status == SECONDARY, 0, held.status).astype(np.uint8))
    base, weight = weights(held, table, cost, prefer, avoid)
    held = held.but(cost=weight)
    # A table without a rule has no unsafe cell to look for either: there is nothing to do, and that is an answer.
    held = held.but(rules={"words": {}, **held.rules})
    kept = named_cells(held, frozen, "frozen")
    if kept is not None and (held.status[kept] == PRIMARY).any():
        cell = int(kept[held.status[kept] == PRIMARY][0])
        raise InputError(f"{held.source}: {held.name(cell)} is unsafe and frozen; it cannot be both")
    old = _previous(held, previous)
    if protect_secondaries:
        kept = given_away(held, kept, strict=strict)
    problem = problem_of(held, strict=strict, frozen=kept, settle=False)
    tell("compiling", 0.0)
    warm_up(problem)
    tell("protecting", 0.0)
    problem, lost = settled(problem)
    if len(lost) and not partial:
        raise PromiseNotKept(why(held, lost))
    problem = problem.without(lost)
    process = Components(chosen, problem, seed, None if old is None else old[problem.system.cells])
    outcome = evolve(process, stop, listeners=[lambda _moment, part: tell("searching", part)])
    pattern = np.zeros(len(held), dtype=np.bool_)
    pattern[problem.system.cells] = process.pattern()
    tell("guarding", 0.0)
    if singletons or protect_secondaries:
        asked = {"singletons": singletons, "secondaries": protect_secondaries}
        pattern = guarded(spared(held, lost), pattern, strict=strict, frozen=kept, **asked)
    released = with_status(held, pattern)
    status = released.status
    tell("auditing", 0.0)
    judged = released
    if len(lost):
        # What nothing can protect is told apart; the rest is held to its levels.
        judged = with_status(spared(held, lost), pattern)
    small = int(released.suppressed.sum()) <= CERTIFIED
    verdict = audit(
        judged,
        strict=strict,
        secondaries=protect_secondaries,
        singletons=singletons,
        certificate=certificate or small,
        progress=progress,
    )
    if len(lost) and protect_secondaries:
        verdict = unjudged(verdict, lost)
    if not verdict:
        raise PromiseNotKept(f"the pattern does not stand the audit, so it is refused.\n{verdict.summary()}")
    secondary = np.flatnonzero(released.status == SECONDARY)
    able = problem.system.cells[~problem.primary]
    bound = bound_of(process.bound, base[able], weight[able], float(base[secondary].sum()))
    released = released.but(cost=base)
    return _released(
        released,
        verdict,
        secondary,
        bound,
        outcome,
        method,
        params,
        seed,
        lost,
        None if old is None else int(((status == SECONDARY) != (old & (held.status != PRIMARY))).sum()),
        [Path(one) for one in (table, previous, meta) if isinstance(one, str | Path)],
    )


def _stop(time: float | None, steps: int | None) -> Any:
    import math

    from discreet.evolution.stops import MaxSeconds, MaxSteps

    if steps is not None:
        return MaxSteps(whole("steps", steps, 1))
    seconds = DEFAULT_SECONDS if time is None else time
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise InputError(f"time must be a positive number of seconds, not {time!r}")
    return MaxSeconds(float(seconds))


def _previous(table: Table, previous: str | Path | None) -> NDArray[np.bool_] | None:
    """The cells that an earlier pattern suppresses."""
    if previous is None:
        return None
    from discreet.verification.pattern import patterned

    laid, _, _ = patterned(table, Path(previous))
    return laid.suppressed


def _released(
    table: Table,
    verdict: Any,
    secondary: NDArray[np.int64],
    bound: dict[str, Any] | None,
    outcome: Any,
    method: str,
    params: Mapping[str, Any],
    seed: int,
    lost: NDArray[np.int64],
    changes: int | None,
    read: list[Path],
) -> SuppressedTable:
    import numpy as np

    from discreet.data.files import sha256
    from discreet.release.evidence import evidence
    from discreet.release.suppressed import SuppressedTable

    cost = float(table.cost[secondary].sum())
    path = read[0] if read else None
    account = evidence(
        "table",
        parameters={"rules": dict(table.rules), "params": dict(params)},
        search={
            "method": method,
            "params": dict(params),
            "seed": seed,
            "steps": outcome.steps,
            "seconds": outcome.seconds,
            "stopped": outcome.stopped,
            "trace": [list(point) for point in outcome.trace],
        },
        measures={
            "cost": cost,
            "primary_count": len(table.primary),
            "secondary_count": len(secondary),
            "secondary_value": float(np.abs(table.value[secondary]).sum()),
            "published_share": 100.0 * float((~table.suppressed).mean()),
            "unprotected_count": len(lost),
            "changes": changes,
        },
        bound=bound,
        promise={"kind": "cell-suppression", "strict": verdict.strict},
        verification=verdict.as_dict(),
        given={
            "file": path.name if path else None,
            "format": path.suffix.lstrip(".") if path else "table",
            "sha256": sha256(path) if path else None,
            "records": len(table),
            "columns": len(table.dimensions),
            "dialect": None,
        },
        notes=table.notes,
    )
    return SuppressedTable(table, secondary, cost, verdict, bound, outcome.trace, account, tuple(read))
