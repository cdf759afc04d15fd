"""From a table with its unsafe cells to one that has stood the audit: the steps of `discreet.suppress`."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attack.insiders import insiders_of
from discreet.attack.levels import UNJUDGED
from discreet.attack.system import Bools, Floats, Ints, unpick
from discreet.data.attributes import read_attribute
from discreet.data.checks import itemize
from discreet.data.dataset import accept
from discreet.data.files import sha256
from discreet.data.roles import Declaration
from discreet.errors import InputError, PromiseNotKept
from discreet.evolution.loop import Outcome, interruptible
from discreet.methods import make
from discreet.release.evidence import evidence, name_given
from discreet.release.suppressed import SuppressedTable, note_partial
from discreet.running import CheckpointFile, SearchOptions, describe_search, run, sign
from discreet.tables.manual import read_cells
from discreet.tables.primary import COSTS, costs
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.guards import find_given_away, guard_secondaries, with_status
from discreet.tables.suppression.insiders import GuardedSearch, Left, Watch
from discreet.tables.suppression.problem import Problem, problem_of, settle_ranges
from discreet.tables.suppression.search.search import unused_parameters
from discreet.tables.suppression.secret import Secret
from discreet.tables.suppression.standing import only_cells, stand
from discreet.tables.suppression.warm_up import warm_up
from discreet.tabular.contributors import sole_contributors
from discreet.tabular.files.formats import table_from
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.pattern import previous_pattern
from discreet.verification.publication import narrow_bounds
from discreet.verification.verdict import Audit

# What preferred cells and cells to avoid count in the search, in parts of their cost.
PREFERRED, AVOIDED = 0.01, 100.0


@dataclass(frozen=True)
class Request:
    """What is asked of a suppression, besides how long to search; see `discreet.suppress`."""

    method: str
    params: Mapping[str, Any]
    cost: str | None = None
    previous: str | Path | None = None
    frozen: Any = None
    prefer: Any = None
    avoid: Any = None
    protect_secondaries: bool = False
    singletons: bool | None = None
    sums: bool = False
    strict: bool = False
    partial: bool = False
    no_rules: bool = False
    previous_release: Any = None
    growth: float = 0.0
    certificate: bool = False
    meta: str | Path | None = None
    secret: Secret | None = None

    def describe(self) -> dict[str, Any]:
        """What was asked for beyond the usual, as the evidence keeps it: files by their names alone."""
        names = [one.name for one in fields(self) if one.name not in ("method", "params", "certificate", "secret")]
        said = {name: getattr(self, name) for name in names if name not in FILES}
        given = {name: name_given(getattr(self, name)) for name in FILES if getattr(self, name) is not None}
        # Sole contributors are guarded against wherever the table knows them, unless that is said not to be.
        usual = {"singletons": None, "cost": None, "growth": 0.0}
        return {name: value for name, value in said.items() if value != usual.get(name, False)} | given


# What a suppression may read besides the table, or be given as a frame or a list.
FILES = ("previous", "frozen", "prefer", "avoid", "previous_release", "meta")


def suppress_cells(
    given: Any,
    request: Request,
    options: SearchOptions,
    *,
    checkpoint: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> SuppressedTable:
    """Choose further cells to suppress and audit the pattern.

    Parameters
    ----------
    given : Table or path
        The table with its unsafe cells.
    request : Request
        What is asked for.
    options : SearchOptions
        How long to search.
    checkpoint : path, optional
        A file in which the search is kept, and goes on from.
    progress : callable, optional
        Listens to the stage of the work and how far along it is.
    """
    tell = progress or (lambda _stage, _part: None)
    method = make(request.method, request.params, "suppression")

    tell("reading", 0.0)
    table, cost = _read(given, request)
    seed = options.seed if request.secret is None else request.secret.seed(table, options.seed)
    previous = None
    if request.previous is not None:
        previous, notes = previous_pattern(table, Path(request.previous))
        table = table.but(notes=(*table.notes, *notes))
    frozen = _find_frozen(table, request)
    # As whoever has seen earlier releases knows it.
    seen, _ = narrow_bounds(table, request.previous_release, request.growth)
    problem = problem_of(seen, strict=request.strict, frozen=frozen, settle=False)
    tell("compiling", 0.0)
    warm_up(problem)

    tell("protecting", 0.0)
    problem, lost = settle_ranges(problem)
    if len(lost) and not request.partial:
        raise PromiseNotKept(_explain_unprotectable(table, lost, request))
    problem = problem.without(lost)
    watch = _watch(table, seen, problem, lost, request)
    begin_with = None if previous is None else previous[problem.system.cells]
    how = seed, begin_with, options.threads
    unused = unused_parameters(problem) if request.method == "search" and request.params else []
    if idle := [name for name in unused if name in request.params]:
        do = "does" if len(idle) == 1 else "do"
        note = f"params: {', '.join(idle)} of search {do} nothing on this table; the manual says where they work"
        table = table.but(notes=(*table.notes, note))
    guarded = None if watch is None else GuardedSearch(method, problem, watch, *how)
    process: Components | GuardedSearch = Components(method, problem, *how) if guarded is None else guarded
    file = None if checkpoint is None else _keep_in(Path(checkpoint), problem, watch, begin_with, request, options)
    outcome = run(process, options, tell=lambda part: tell("searching", part), checkpoint=file)

    tell("guarding", 0.0)
    hidden = np.zeros(len(table), dtype=np.bool_)
    pattern, left = (process.pattern(), list[Left]()) if guarded is None else _guard(guarded, tell)
    hidden[problem.system.cells] = pattern
    # A secondary cell that follows by subtraction hides nothing: published, it tells nobody anything new.
    follow = unpick(table, hidden)
    hidden[follow[table.status[follow] != PRIMARY]] = False
    if request.protect_secondaries:
        hidden = guard_secondaries(_drop_unprotectable(table, lost), hidden, strict=request.strict, frozen=frozen)

    tell("auditing", 0.0)
    judge = partial(_judge, table, lost=lost, watch=watch, request=request, progress=progress)
    found = hidden
    hidden, verdict = stand(problem, hidden, judge)
    if guarded is not None and not hidden[found].all():
        # What keeps insiders out of a pattern does so of a wider one, but not of another.
        left = guarded.find_left(hidden)
    if not (verdict or (request.partial and only_cells(verdict))):
        raise PromiseNotKept(f"no pattern that was found stands the audit, so none is kept.\n{verdict.summary()}")
    released = with_status(table, hidden)
    verdict = _tell_lost(verdict, released, lost, watch, left, request)
    secondary = np.flatnonzero(released.status == SECONDARY)
    tell("bounding", 0.0)
    process.prove(outcome.steps)
    able = problem.system.cells[~problem.primary]
    bound = describe_bound(
        process.bound, cost[able], table.cost[able], float(cost[secondary].sum()), process.bound_method
    )
    changes = None
    if previous is not None:
        changes = int(((released.status == SECONDARY) != (previous & (table.status != PRIMARY))).sum())
    unprotected = verdict.failed
    read = tuple(Path(one) for one in (given, request.previous, request.meta) if isinstance(one, str | Path))
    released = released.but(cost=cost)
    victims = np.array(verdict.victims, dtype=np.int64)
    account = _account(
        released, secondary, verdict, bound, outcome, request, options.seed, unprotected, victims, changes, read
    )
    total = float(cost[secondary].sum())
    read += () if request.secret is None else (request.secret.path,)
    return SuppressedTable(released, secondary, total, verdict, bound, outcome.trace, account, read, unprotected)


def _guard(search: GuardedSearch, tell: Callable[[str, float], None]) -> tuple[Bools, list[Left]]:
    """The pattern of a search after its last look, and the sole contributors who are left; also after a Ctrl-C."""
    every = len(search.watch)

    def listen(left: int) -> None:
        tell(f"keeping sole contributors out: {every - left:,} of {every:,}", (every - left) / every)

    with interruptible() as interrupt:
        return search.guard(listen, lambda: interrupt.caught)


# Before the search.


def _read(given: Any, request: Request) -> tuple[Table, Floats]:
    """The table with what cells count in the search as their costs, and what they really cost."""
    table = table_from(given, request.meta)
    table.check()
    if not len(table.primary) and "words" not in table.rules and not request.no_rules:
        raise InputError(
            f"{table.source}: no cell is unsafe, and no rule was ever applied to find out: nothing is known of it. Run "
            "discreet primary first; if everything may be published, say --no-rules (no_rules=True)"
        )
    table = table.but(status=np.where(table.status == SECONDARY, 0, table.status).astype(np.uint8))
    cost, weight = weigh(table, given, request.cost, request.prefer, request.avoid)
    if request.secret is not None:
        weight *= request.secret.tilt(table)
    # Whoever says so needs no rule: there is nothing to do, and that is an answer.
    return table.but(cost=weight, rules={"words": {}, **table.rules}), cost


def _find_frozen(table: Table, request: Request) -> Ints | None:
    """The cells that must be published, by order or because anybody can work them out."""
    if request.protect_secondaries and request.previous_release is not None:
        raise InputError("secondary cells are not protected against earlier releases; leave one of the two out")
    frozen = find_cells(table, request.frozen, "frozen")
    if frozen is not None and (table.status[frozen] == PRIMARY).any():
        cell = int(frozen[table.status[frozen] == PRIMARY][0])
        raise InputError(f"{table.source}: {table.name(cell)} is unsafe and frozen; it cannot be both")
    return find_given_away(table, frozen, strict=request.strict) if request.protect_secondaries else frozen


def find_cells(table: Table, said: Any, what: str) -> Ints | None:
    """Cells that are named in a list."""
    if said is None:
        return None
    try:
        cells: Ints = read_cells(table, said).cells
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    return cells


def weigh(table: Table, given: Any, cost: str | None, prefer: Any, avoid: Any) -> tuple[Floats, Floats]:
    """What each cell costs, and what it counts in the search: less or more where it is preferred or avoided."""
    weight = table.cost.copy()
    if cost is not None:
        weight = costs(table, cost) if cost in COSTS else _read_costs(table, given, cost)
    base = weight.copy()
    for name, said, factor in (("prefer", prefer, PREFERRED), ("avoid", avoid, AVOIDED)):
        cells = find_cells(table, said, name)
        if cells is not None:
            weight[cells] *= factor
    if not (weight >= 0).all():
        raise InputError(f"{table.source}: costs must be numbers of at least 0")
    # A cell that costs nothing would be suppressed without a reason: everything costs a little.
    least = float(weight[weight > 0].min(initial=1.0))
    return base, np.where(weight > 0, weight, least * 1e-3)


def _read_costs(table: Table, given: Any, name: str) -> Floats:
    """Costs out of a column of the table's own file."""
    known = f"cost must be one of {', '.join(COSTS)}, or a column of the table's file"
    if not isinstance(given, str | Path) or Path(given).suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{known}, which only a .csv or .parquet file has; not {name!r}")
    dataset = accept(given, titled=True)
    if name not in dataset.frame.columns or dataset.frame.height != len(table):
        raise InputError(f"{known}; {dataset.name} has no column {name!r}")
    values = read_attribute(dataset, Declaration(name, kind="numeric"))[0].values
    return np.nan_to_num(values, nan=-1.0)


def _keep_in(
    path: Path,
    problem: Problem,
    watch: Watch | None,
    previous: Bools | None,
    request: Request,
    options: SearchOptions,
) -> CheckpointFile:
    """Where the search is kept, with a signature of all that it depends on."""
    digest = hashlib.sha256()
    names = [field.name for field in fields(problem.system)]
    held = [getattr(problem.system, name) for name in names]
    held += [
        getattr(problem, field.name)
        for field in fields(problem)
        if field.name not in ("table", "system", "scale", "view", "known")
    ]
    held += [] if watch is None else watch.arrays
    for array in (*held, np.array([problem.scale]), problem.primary if previous is None else previous):
        digest.update(np.ascontiguousarray(array).tobytes())
    signature = sign(request.method, request.params, {"seed": options.seed}, {"table": digest.hexdigest()})
    return CheckpointFile(path, signature, {"table": "was made from another table, or with other settings"})


# Sole contributors.


def _are_insiders_judged(table: Table, request: Request) -> bool:
    """Whether sole contributors are kept at bay: where it is known who they are, unless they are left out."""
    return request.singletons is not False and (bool(request.singletons) or sole_contributors(table) is not None)


def _watch(table: Table, seen: Table, problem: Problem, lost: Ints, request: Request) -> Watch | None:
    """What insiders must not learn; None where there are none. Without leave to go on what cannot be had is refused."""
    if not _are_insiders_judged(table, request):
        return None
    table = _drop_unprotectable(table, lost)
    insiders = insiders_of(table)
    if insiders is None:
        raise InputError(
            f"{table.source} does not say how many contribute to each cell, so nobody knows who is alone in one; make "
            "it with tabulate, or leave singletons out"
        )
    if not len(insiders) or not problem.requirements:
        return None
    # What is asked in the eyes of insiders is not less because an earlier release is known.
    table = _drop_unprotectable(seen, lost)
    insiders = replace(insiders, table=table)
    return Watch(table, insiders, problem, strict=request.strict, partial=request.partial)


# Primary cells that cannot be protected: left out of the search, and reported.


def _drop_unprotectable(table: Table, lost: Ints) -> Table:
    """The table without the unsafe cells that nothing can protect; they stay suppressed all the same."""
    status, levels = table.status.copy(), {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    status[lost] = 0
    levels["lpl"][lost] = levels["upl"][lost] = 0.0
    # As secondary cells they would be asked for a unit if they had nothing at all.
    levels["spl"][lost] = np.finfo(np.float64).tiny
    return table.but(status=status, **levels)


def _leave_unjudged(verdict: Audit, lost: Ints) -> Audit:
    """The verdict without the cells that nothing can protect."""
    out = np.isin(verdict.cells, lost)
    return replace(
        verdict,
        verdict=np.where(out, UNJUDGED, verdict.verdict),
        required_lower=np.where(out, np.nan, verdict.required_lower),
        required_upper=np.where(out, np.nan, verdict.required_upper),
        required_width=np.where(out, np.nan, verdict.required_width),
    )


def _explain_unprotectable(table: Table, lost: Ints, request: Request) -> str:
    """The refusal of a table with cells that cannot be protected."""
    names = itemize([table.name(int(cell)) for cell in lost])
    seen = "" if request.previous_release is None else ", or an earlier release tells too much of them"
    return (
        f"{table.source}: {len(lost)} unsafe cells cannot be protected, whatever else is suppressed: {names}. They "
        f"stand alone in a relation, or all cells beside them are frozen, empty or too small{seen}. Let more cells be "
        "suppressed, lower the level, or go on without them by --partial (partial=True)"
    )


# After the search.


def _judge(
    table: Table,
    hidden: Bools,
    *,
    lost: Ints,
    watch: Watch | None,
    request: Request,
    progress: Callable[[str, float], None] | None,
) -> Audit:
    """The verdict of the audit on a pattern over the cells; what nothing can protect is left out."""
    verdict = audit(
        with_status(_drop_unprotectable(table, lost) if len(lost) else table, hidden),
        strict=request.strict,
        secondaries=request.protect_secondaries,
        # They have been attacked with a bounded amount of work, and who is left is known.
        singletons=watch is None and _are_insiders_judged(table, request),
        sums=request.sums,
        previous_release=request.previous_release,
        growth=request.growth,
        certificate=request.certificate,
        progress=progress,
    )
    if len(lost) and request.protect_secondaries:
        verdict = _leave_unjudged(verdict, lost)
    # What sole contributors learn was attacked before, and who is left is told apart.
    return verdict if watch is None else replace(verdict, insiders=[])


def _tell_lost(
    verdict: Audit, released: Table, lost: Ints, watch: Watch | None, left: list[Left], request: Request
) -> Audit:
    """The verdict with what is not protected; it is refused without leave to go on."""
    if watch is not None and left and not request.partial:
        raise PromiseNotKept(
            f"{released.source}: a promise is not kept: {watch.words(left)}. Give more time, or go on from where the "
            "search stands with --checkpoint (checkpoint=...); go on without them by --partial (partial=True), or "
            "leave sole contributors out by --no-singletons (singletons=False)"
        )
    if watch is not None and (left or watch.lost):
        victims = np.unique(np.concatenate([watch.victims, *(one.cells for one in left)]))
        notes = (watch.words(left),) if left else ()
        verdict = replace(verdict, victims=tuple(victims.tolist()), notes=(*verdict.notes, *notes))
    return verdict.with_verdicts_of(_attack(released, request), lost) if len(lost) else verdict


def _attack(released: Table, request: Request) -> Audit:
    """What an attacker who has seen earlier releases makes of a table."""
    return audit(released, strict=request.strict, previous_release=request.previous_release, growth=request.growth)


def describe_bound(
    value: float | None, base: Floats, weight: Floats, cost: float, method: str
) -> dict[str, Any] | None:
    """What a search has proven, with the gap in percent of that; None if it is nothing.

    Parameters
    ----------
    value : float, optional
        The bound of the search, which is one of weights.
    base, weight : arrays of float
        What the cells that may be suppressed cost, and what they counted in the search.
    cost : float
        What the pattern costs.
    method : str
        How the bound was found.
    """
    if value is None or not math.isfinite(value):
        return None
    # Cells that cost nothing had a little weight, and a cell to avoid more than it costs.
    free = base == 0
    share = float((base[~free] / weight[~free]).min(initial=1.0))
    value = max(0.0, share * (value - float(weight[free].sum())))
    if (base == np.rint(base)).all():
        # So is the cost of every pattern.
        value = float(math.ceil(value - 1e-6 * max(1.0, value)))
    if cost <= value + 1e-6 * max(1.0, cost):
        # But for rounding they meet.
        return {"value": cost, "gap": 0.0, "method": method}
    return {"value": value, "gap": 100.0 * (cost - value) / value, "method": method} if value > 0 else None


def _account(
    table: Table,
    secondary: Ints,
    verdict: Audit,
    bound: dict[str, Any] | None,
    outcome: Outcome,
    request: Request,
    seed: int,
    unprotected: Ints,
    victims: Ints,
    changes: int | None,
    read: tuple[Path, ...],
) -> dict[str, Any]:
    """The evidence."""
    params, path, secret = dict(request.params), read[0] if read else None, request.secret
    return evidence(
        "table",
        parameters={"rules": dict(table.rules), "params": params, "asked": request.describe()}
        | ({} if secret is None else {"secret": {"fingerprint": secret.fingerprint, "made": secret.is_new}}),
        search=describe_search(outcome, request.method, params, seed),
        measures={
            "cost": float(table.cost[secondary].sum()),
            "primary_count": len(table.primary),
            "secondary_count": len(secondary),
            "secondary_value": float(np.abs(table.value[secondary]).sum()),
            "published_share": 100.0 * float((~table.suppressed).mean()),
            "unprotected_count": len(unprotected),
            "changes": changes,
        }
        | ({"insider_victims": len(victims)} if len(victims) else {}),
        bound=bound,
        promise={
            "kind": "cell-suppression",
            "strict": verdict.strict,
            "sole_contributors": "left out"
            if request.singletons is False
            else ("not judged" if verdict.insiders is None else "judged"),
        },
        verification=verdict.as_dict(),
        given={
            "file": path.name if path else None,
            "format": path.suffix.lstrip(".") if path else "table",
            "sha256": sha256(path) if path else None,
            "records": len(table),
            "columns": len(table.dimensions),
            "dialect": None,
        },
        notes=(*dict.fromkeys((*table.notes, *verdict.notes)), *note_partial(table, unprotected, victims)),
    )
