"""`discreet.suppress`: which further cells to leave out, so that no unsafe one can be worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, PromiseNotKept, whole

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.tabular.table import Table
    from discreet.release.suppressed import SuppressedTable
    from discreet.tables.suppression.problem import Problem
    from discreet.verification.audited import Audit

DEFAULT_SECONDS = 10.0
# Up to here every release is proven by a certificate that is added up again; above, by the attacker alone.
CERTIFIED = 5_000


def suppress(
    table: Any,
    *,
    method: str = "search",
    cost: str | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int = 1,
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
    time : float, optional
        Seconds of search, 10 by default.
    steps : int, optional
        Stop after so many steps instead, which repeats a run exactly.
    seed : int
        The same seed and steps give the same pattern.
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

    Returns
    -------
    SuppressedTable
        With table, secondary, cost, audit, bound, trace, summary() and write(path).
    """
    import numpy as np

    from discreet.data.tabular.files import table_from
    from discreet.data.tabular.table import PRIMARY, SECONDARY
    from discreet.evolution.loop import evolve
    from discreet.tables.suppression.guards import guarded, with_status
    from discreet.tables.suppression.problem import problem_of
    from discreet.tables.suppression.protectors import protector_of
    from discreet.tables.suppression.registry import make
    from discreet.tables.suppression.settling import settled
    from discreet.verification.audit import audit

    tell = progress or (lambda _stage, _part: None)
    chosen = make(method, params or {})
    seed = whole("seed", seed, 0)
    stop = _stop(time, steps)
    tell("reading", 0.0)
    held = table_from(table, meta)
    held.check()
    held = held.but(status=np.where(held.status == SECONDARY, 0, held.status).astype(np.uint8))
    base, weight = _weights(held, table, cost, prefer, avoid)
    held = held.but(cost=weight)
    # A table without a rule has no unsafe cell to look for either: there is nothing to do, and that is an answer.
    held = held.but(rules={"words": {}, **held.rules})
    kept = _cells(held, frozen, "frozen")
    if kept is not None and (held.status[kept] == PRIMARY).any():
        cell = int(kept[held.status[kept] == PRIMARY][0])
        raise InputError(f"{held.source}: {held.name(cell)} is unsafe and frozen; it cannot be both")
    old = _previous(held, previous)
    if protect_secondaries:
        kept = _given_away(held, kept, strict=strict)
    problem = problem_of(held, strict=strict, frozen=kept, settle=False)
    tell("compiling", 0.0)
    _warm_up(problem)
    tell("protecting", 0.0)
    problem, lost = settled(problem)
    if len(lost) and not partial:
        raise PromiseNotKept(_why(held, lost))
    problem = problem.without(lost)
    protector = protector_of(problem)
    process = chosen.begin(problem, protector, seed, None if old is None else old[problem.system.cells])
    outcome = evolve(process, stop, listeners=[lambda _moment, part: tell("searching", part)])
    pattern = np.zeros(len(held), dtype=np.bool_)
    pattern[problem.system.cells] = process.answer()
    tell("guarding", 0.0)
    if singletons or protect_secondaries:
        asked = {"singletons": singletons, "secondaries": protect_secondaries}
        pattern = guarded(_spared(held, lost), pattern, strict=strict, frozen=kept, **asked)
    released = with_status(held, pattern)
    status = released.status
    tell("auditing", 0.0)
    judged = released
    if len(lost):
        # What nothing can protect is told apart; the rest is held to its levels.
        judged = with_status(_spared(held, lost), pattern)
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
        verdict = _unjudged(verdict, lost)
    if not verdict:
        raise PromiseNotKept(f"the pattern does not stand the audit, so it is refused.\n{verdict.summary()}")
    secondary = np.flatnonzero(released.status == SECONDARY)
    able = problem.system.cells[~problem.primary]
    bound = _bound(process, base[able], weight[able], float(base[secondary].sum()))
    released = released.but(cost=base)
    return _released(
        released,
        verdict,
        secondary,
        bound,
        outcome,
        method,
        params or {},
        seed,
        lost,
        None if old is None else int(((status == SECONDARY) != (old & (held.status != PRIMARY))).sum()),
        [Path(one) for one in (table, previous, meta) if isinstance(one, str | Path)],
    )


def _warm_up(problem: Problem) -> None:
    """Compile what a search needs, on a table of no account, before its time counts."""
    import numpy as np

    from discreet.kernels.compiling import uninterrupted
    from discreet.kernels.random import seeded
    from discreet.tables.suppression.built import warm_up
    from discreet.tables.suppression.exact import Exact
    from discreet.tables.suppression.flows import Flows
    from discreet.tables.suppression.problem import problem_of
    from discreet.verification.attack.network import networks

    flat, _ = networks(problem.system)
    if not flat.all():
        with uninterrupted():
            warm_up(problem_of(_small(3)), like=problem)
    if not flat.any():
        return
    with uninterrupted():
        small = problem_of(_small())
        flows = Flows(small, networks(small.system)[1])
        flows.protect(np.arange(small.tasks, dtype=np.int64))
        flows.clean()
        flows.improve(seeded(0, 0), 2, 2, 0.1)
        Exact(small, flows.twin(), flows.suppressed, np.empty(0, dtype=np.int64)).advance()


def _small(axes: int = 2) -> Table:
    """A table of three by three cells, or so many times three, with one that is unsafe."""
    import numpy as np

    from discreet.data.tabular.dimension import Dimension
    from discreet.data.tabular.hierarchy import Hierarchy
    from discreet.data.tabular.table import PRIMARY, Table

    dimensions = [Dimension(f"axis {axis}", Hierarchy.flat(["1", "2", "3"])) for axis in range(axes)]
    codes = np.stack([grid.ravel() for grid in np.indices((4,) * axes)], axis=1)
    full = np.array([[9.0, 5.0, 7.0], [4.0, 8.0, 6.0], [3.0, 2.0, 5.0]])
    full = full + np.arange(3.0 ** (axes - 2)).reshape((3,) * (axes - 2) + (1, 1))
    for axis in range(axes):
        full = np.concatenate([full.sum(axis=axis, keepdims=True), full], axis=axis)
    status, level = np.zeros(full.size, np.uint8), np.zeros(full.size)
    unsafe = int(np.ravel_multi_index((1,) * axes, full.shape))
    status[unsafe], level[unsafe] = PRIMARY, 2.0
    return Table.of(full.ravel(), dimensions=dimensions, codes=codes, status=status, upl=level, lpl=level)


def _stop(time: float | None, steps: int | None) -> Any:
    import math

    from discreet.evolution.stops import MaxSeconds, MaxSteps

    if steps is not None:
        return MaxSteps(whole("steps", steps, 1))
    seconds = DEFAULT_SECONDS if time is None else time
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise InputError(f"time must be a positive number of seconds, not {time!r}")
    return MaxSeconds(float(seconds))


def _cells(table: Table, said: Any, what: str) -> NDArray[np.int64] | None:
    """Cells that are named in a list."""
    from discreet.tables.manual import named

    if said is None:
        return None
    try:
        return named(table, said).cells
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def _weights(
    table: Table, given: Any, cost: str | None, prefer: Any, avoid: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What each cell costs, and what it counts in the search: less or more where it is preferred or avoided."""
    import numpy as np

    from discreet.tables.primary import COSTS, costs

    weight = table.cost.copy()
    if cost is not None:
        weight = costs(table, cost) if cost in COSTS else _column(table, given, cost)
    base = weight.copy()
    for cells, factor in ((_cells(table, prefer, "prefer"), 0.01), (_cells(table, avoid, "avoid"), 100.0)):
        if cells is not None:
            weight[cells] *= factor
    if not (weight >= 0).all():
        raise InputError(f"{table.source}: costs must be numbers of at least 0")
    # A cell that costs nothing would be suppressed without a reason: everything costs a little.
    least = float(weight[weight > 0].min(initial=1.0))
    return base, np.where(weight > 0, weight, least * 1e-3)


def _column(table: Table, given: Any, name: str) -> NDArray[np.float64]:
    """Costs out of a column of the table's own file."""
    import numpy as np

    from discreet.data.dataset import accept
    from discreet.data.reading import read_attribute
    from discreet.data.roles import Declaration
    from discreet.tables.primary import COSTS

    known = f"cost must be one of {', '.join(COSTS)}, or a column of the table's file"
    if not isinstance(given, str | Path) or Path(given).suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{known}, which only a .csv or .parquet file has; not {name!r}")
    dataset = accept(given)
    if name not in dataset.frame.columns or dataset.frame.height != len(table):
        raise InputError(f"{known}; {dataset.name} has no column {name!r}")
    values = read_attribute(dataset, Declaration(name, kind="numeric"))[0].values
    return np.nan_to_num(values, nan=-1.0)


def _previous(table: Table, previous: str | Path | None) -> NDArray[np.bool_] | None:
    """The cells that an earlier pattern suppresses."""
    if previous is None:
        return None
    from discreet.verification.pattern import patterned

    laid, _, _ = patterned(table, Path(previous))
    return laid.suppressed


def _given_away(table: Table, frozen: NDArray[np.int64] | None, *, strict: bool) -> NDArray[np.int64]:
    """Cells that must be published where secondary ones are protected too: frozen ones, and those that cannot be.

    What anybody can work out even where all are suppressed that may be can be worked out from any pattern; with it
    published, more may be given away.
    """
    import numpy as np

    from discreet.data.tabular.table import FIXED, PRIMARY
    from discreet.tables.suppression.guards import with_status
    from discreet.verification.audit import audit

    primary = table.status == PRIMARY
    hidden = table.status != FIXED
    if frozen is not None:
        hidden[frozen] = False
    hidden |= primary
    while True:
        failed = audit(with_status(table, hidden), secondaries=True, strict=strict).failed
        failed = failed[~primary[failed]]
        if not len(failed):
            return np.flatnonzero(~hidden).astype(np.int64)
        hidden[failed] = False


def _spared(table: Table, lost: NDArray[np.int64]) -> Table:
    """The table without the unsafe cells that nothing can protect; they stay suppressed all the same."""
    import numpy as np

    status, levels = table.status.copy(), {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    status[lost] = 0
    levels["lpl"][lost] = levels["upl"][lost] = 0.0
    # As secondary cells they would be asked for a unit if they had nothing at all.
    levels["spl"][lost] = np.finfo(np.float64).tiny
    return table.but(status=status, **levels)


def _unjudged(verdict: Audit, lost: NDArray[np.int64]) -> Audit:
    """The verdict without the cells that nothing can protect."""
    from dataclasses import replace

    import numpy as np

    from discreet.verification.audited import UNJUDGED

    out = np.isin(verdict.cells, lost)
    return replace(
        verdict,
        verdict=np.where(out, UNJUDGED, verdict.verdict),
        required_lower=np.where(out, np.nan, verdict.required_lower),
        required_upper=np.where(out, np.nan, verdict.required_upper),
        required_width=np.where(out, np.nan, verdict.required_width),
    )


def _why(table: Table, lost: NDArray[np.int64]) -> str:
    from discreet.data.checks import listed

    names = listed([table.name(int(cell)) for cell in lost])
    return (
        f"{table.source}: {len(lost)} unsafe cells cannot be protected, whatever else is suppressed: {names}. They "
        "stand alone in a relation, or all cells beside them are frozen, empty or too small. Let more cells be "
        "suppressed, lower the level, or go on without them by --partial (partial=True)"
    )


def _bound(process: Any, base: NDArray[np.float64], weight: NDArray[np.float64], cost: float) -> dict[str, Any] | None:
    """What the process has proven, with the gap in percent, of the cost itself.

    Parameters
    ----------
    process
        The search, whose bound is one of weights.
    base, weight : arrays of float
        What the cells that may be suppressed cost, and what they counted in the search.
    cost : float
        What the pattern costs.
    """
    import math

    import numpy as np

    value = getattr(process, "bound", None)
    if value is None or not math.isfinite(value):
        return None
    # Cells that cost nothing had a little weight, and a cell to avoid more than it costs.
    free = base == 0
    share = float((base[~free] / weight[~free]).min(initial=1.0))
    value = max(0.0, share * (float(value) - float(weight[free].sum())))
    if (base == np.rint(base)).all():
        # So is the cost of every pattern.
        value = float(math.ceil(value - 1e-6 * max(1.0, value)))
    if cost <= value + 1e-6 * max(1.0, cost):
        # But for rounding they meet.
        return {"value": cost, "gap": 0.0, "method": "Benders cuts"}
    return {"value": value, "gap": 100.0 * (cost - value) / cost, "method": "Benders cuts"}


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

    from discreet.data.digest import sha256
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
