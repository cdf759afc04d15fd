"""`discreet.audit`: what an attacker can work out of a suppressed table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.configuration import FLAG, NUMBER, TEXT, configured
from discreet.errors import InputError
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    from discreet.attack.attacker import Attacker, Reach
    from discreet.attack.insiders import Insiders
    from discreet.attack.levels import Levels
    from discreet.tabular.table import Table
    from discreet.verification.certificate import Certificate
    from discreet.verification.verdict import Audit

# How much work the least moves of cells may be that are not certified yet, in columns of linear programs; and how many
# cells are then tried by fractions, which take long, in tables of how many suppressed cells at most.
MOST_WORK = 20_000_000
FEW_LEFT, FEW_CELLS = 200, 2_000


@shows_progress
@configured(secondaries=FLAG, strict=FLAG, singletons=FLAG, sums=FLAG, previous_release=TEXT, growth=NUMBER)
def audit(
    table: Any,
    *,
    pattern: str | Path | None = None,
    intervals: bool = False,
    secondaries: bool = False,
    strict: bool = False,
    singletons: bool = False,
    sums: bool = False,
    previous_release: Any = None,
    growth: float = 0.0,
    certificate: bool = False,
    meta: str | Path | None = None,
    config: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Audit:
    """Attack a suppressed table: is every unsafe cell as uncertain as it must be?

    The attacker knows what is published, how it adds up, and the bounds of every cell. For each suppressed cell the
    smallest and the largest value that fit all this make the attacker's interval. Whoever suppressed the table does not
    matter: it may be a result of another tool.

    Parameters
    ----------
    table : Table or path
        The table with its levels: of discreet.primary, or a file (.parquet, .csv, .tab, .jj). Or what suppress has
        published, beside its record: of it the intervals are found, and no level is judged.
    pattern : path, optional
        Which cells are suppressed, where the table does not say: τ-ARGUS's code-value output (.txt or .csv), what
        suppress has published, or a table file with the same cells.
    intervals : bool
        Find the exact interval of every suppressed cell, and not just whether the levels are reached.
    secondaries : bool
        Judge secondary cells too: their levels where the table has some, else that they are not known exactly.
    strict : bool
        A level must be exceeded, and not just reached.
    singletons : bool
        Attack also as each sole contributor to a cell, who knows its value: what is left to him of the others' part of
        an unsafe cell must be what the rules ask for the cell without him.
    sums : bool
        Judge also the sums of suppressed cells that lines give away, by the rules the cells were judged by.
    previous_release : path or list of path, optional
        Earlier releases of the table, as suppress has published them: the attacker has seen them too. Cells published
        there with the value that they have now are known; cells that were revised tell nothing.
    growth : float
        For earlier releases of another period: by how many percent everybody knows values to have changed since.
    certificate : bool
        Make a certificate: for each primary cell two tables that prove its interval, checked by additions alone.
    meta : path, optional
        The .rda file of a .tab file, if it is not the one of the same name.
    config : path, optional
        A TOML file with any of these keywords but paths; what the call gives wins. One file can hold the steps
        tabulate, primary, suppress and audit, each in a table of its name.
    progress : callable, optional
        Listens to the stage of the work and how far along it is.

    Returns
    -------
    Audit
        True if everything judged is protected; with intervals(), summary() and the certificate. Internal.
    """
    import numpy as np

    from discreet.attack.attacker import Attacker, Witnesses
    from discreet.attack.insiders import find_exposed, shown_of
    from discreet.attack.levels import PROTECTED, PUBLISHED, levels_of, unsafe_sums, verdicts
    from discreet.attack.system import unpick
    from discreet.tabular.files.formats import table_from
    from discreet.tabular.table import PRIMARY
    from discreet.verification.certificate import Certifier
    from discreet.verification.outside import published_table
    from discreet.verification.pattern import apply_pattern, centre_of
    from discreet.verification.publication import narrow_bounds
    from discreet.verification.verdict import Audit

    tell = progress or silent
    tell("reading", 0.0)
    public = published_table(Path(table)) if isinstance(table, str | Path) else None
    given = table_from(table, meta) if public is None else public
    held, bare, notes = apply_pattern(given, None if pattern is None else Path(pattern))
    tell("checking", 0.0)
    held.check()
    if not held.suppressed.any() and not bare.any() and "words" not in held.rules:
        raise InputError(
            f"{held.source}: no cell is suppressed and none is known to be unsafe, so there is nothing to audit; find "
            "the unsafe cells with discreet primary, or name a --pattern"
        )
    today, (held, said) = held, narrow_bounds(held, previous_release, growth)
    notes += said
    centre = centre_of(held)
    if np.isnan(held.value).any():
        notes.append("values of suppressed cells are not known, so no level can be judged: intervals only")
        intervals = True
        if certificate or singletons or sums:
            raise InputError(
                f"{held.source} does not hold the suppressed values, so nothing can be certified, and neither insiders "
                "nor sums be judged; leave certificate, singletons and sums out"
            )
    hidden = held.suppressed
    wanted = levels_of(held, secondaries=secondaries, strict=strict)
    # In whole units of the last decimal wherever that cuts nothing off: what is found can then be added up exactly.
    attacker = Attacker(held, hidden, centre, whole=True)
    cells = attacker.cells
    if held.integral and not attacker.integral:
        notes.append("counts are whole, and not all of these are: intervals are by relaxation, as if they were not")
    certifier = Certifier(held, hidden, wanted)
    # What is asked in the eyes of insiders is not less because an earlier release is known.
    known = replace(_find_insiders(today), table=held) if singletons else None
    shown_to = None
    if known is not None and len(known):
        shown_to = shown_of(known, hidden, np.flatnonzero(hidden & (held.status == PRIMARY)), strict=strict)
    tell("attacking", 0.0)
    reach = attacker.reach(
        wanted.seek_down[cells],
        wanted.seek_up[cells],
        keep=certificate,
        witness=Witnesses(([] if certificate and not secondaries else [certifier]) + ([shown_to] if shown_to else [])),
        tell=lambda part: tell("attacking", part),
    )
    reach, most = _look_again(held, hidden, centre, wanted, attacker, reach)
    verdict = verdicts(held, wanted, cells, reach.down, reach.up, most)
    extremes = reach
    if intervals:
        outsider = Attacker(held, hidden, centre, whole=attacker.integral)
        found = outsider.reach(wanted.down[cells], wanted.up[cells], exact=True, tell=lambda p: tell("intervals", p))
        # What is proven of the levels holds here too.
        down, up = (
            np.minimum(np.maximum(*both), end)
            for *both, end in ((found.down, reach.down, most[0]), (found.up, reach.up, most[1]))
        )
        extremes = replace(found, down=down, up=up)
    proof: Certificate | None = None
    certified = certifier.certified[cells]
    shown = (verdict == PROTECTED) & (held.status[cells] == PRIMARY)
    if certificate:
        proof = _certify(held, hidden, reach, shown, strict=strict)
        certified = certified | np.isin(cells, proof.exactly)
    left = shown & ~certified
    if left.any() and not np.isnan(held.value).any():
        # By fewer and simpler moves, or in fractions, what large moves do not show is shown all the same.
        seek = (np.where(left, wanted.seek_down[cells], 0.0), np.where(left, wanted.seek_up[cells], 0.0))
        simply = attacker.reach_simply(*seek, reach, witness=certifier, most=MOST_WORK)
        certified = certified | (certifier.certified[cells] & shown)
        left &= ~certified
        if certificate or (left.sum() <= FEW_LEFT and len(cells) <= FEW_CELLS):
            more = _certify(
                held, hidden, simply, shown & ~np.isin(cells, [] if proof is None else proof.exactly), strict=strict
            )
            certified = certified | np.isin(cells, more.exactly)
            proof = None if proof is None else proof.joined(more)
    insiders = None
    if known is not None:
        tell("insiders", 0.0)
        safe = cells[(verdict == PROTECTED) & (held.status[cells] == PRIMARY)]
        exposed = find_exposed(known, hidden, safe, strict=strict, witness=shown_to)
        insiders = [(known.known[one[0]], one[1].cells) for one in exposed if one is not None]
    # Unsafe cells that are published stand at their value.
    published = np.flatnonzero(bare)
    every = np.concatenate([cells, published])
    nothing = np.zeros(len(published))
    order = np.argsort(every)
    judged = np.concatenate([wanted.judged[cells], np.ones(len(published), dtype=np.bool_)])[order]
    every = every[order]
    return Audit(
        held,
        every,
        centre[every] - np.concatenate([extremes.down, nothing])[order],
        centre[every] + np.concatenate([extremes.up, nothing])[order],
        np.where(judged, centre[every] - np.where(bare, held.lpl, wanted.down)[every], np.nan),
        np.where(judged, centre[every] + np.where(bare, held.upl, wanted.up)[every], np.nan),
        np.where(judged, np.where(bare, held.spl, wanted.width)[every], np.nan),
        np.concatenate([verdict, np.full(len(published), PUBLISHED, dtype=object)])[order],
        intervals,
        np.sort(unpick(held) if previous_release is None else _unpick_known(held)),
        strict=strict,
        insiders=insiders,
        sums=unsafe_sums(held, hidden) if sums else None,
        certificate=proof,
        certified=np.concatenate([certified & (verdict == PROTECTED), nothing > 0])[order],
        notes=(*held.notes, *notes),
    )


def _find_insiders(table: Table) -> Insiders:
    """The sole contributors of a table that says who they are."""
    from discreet.attack.insiders import insiders_of

    found = insiders_of(table)
    if found is None:
        raise InputError(
            f"{table.source} does not say how many contribute to each cell, so nobody knows who is alone in one; make "
            "it with tabulate, or leave singletons out"
        )
    return found


def _unpick_known(table: Table) -> Any:
    """The suppressed cells that follow by subtraction from those that are published or have but one value."""
    import numpy as np

    from discreet.attack.system import unpick

    is_known = table.suppressed & (table.lower == table.upper)
    return np.concatenate([np.flatnonzero(is_known), unpick(table, table.suppressed & ~is_known)])


def _look_again(
    table: Table, hidden: Any, centre: Any, levels: Levels, attacker: Attacker, reach: Reach
) -> tuple[Reach, tuple[Any, Any]]:
    """What can be reached at least and at most, without rounding to whole units where these do not tell."""
    import numpy as np

    from discreet.attack.attacker import Attacker
    from discreet.attack.levels import NOT_SHOWN, verdicts

    cells, most = reach.cells, attacker.limit(reach)
    left = verdicts(table, levels, cells, reach.down, reach.up, most) == NOT_SHOWN
    if not attacker.whole or attacker.integral or not left.any():
        return reach, most
    finer = Attacker(table, hidden, centre)
    again = finer.reach(np.where(left, levels.seek_down[cells], 0.0), np.where(left, levels.seek_up[cells], 0.0))
    down, up = (np.minimum(*both) for both in zip(most, finer.limit(again), strict=True))
    return replace(reach, down=np.maximum(reach.down, again.down), up=np.maximum(reach.up, again.up)), (down, up)


def _certify(table: Table, hidden: Any, reach: Reach, shown: Any, *, strict: bool) -> Certificate:
    """The certificate of some cells that are protected, of those that it proves."""
    from discreet.verification.certificate import certificate_of, keep_proven

    return keep_proven(table, hidden, certificate_of(table, reach, shown), strict=strict)
