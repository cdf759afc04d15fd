"""What is asked of each suppressed cell, and whether the attacker's interval is wide enough; and of sums of cells.

Where the total and the other parts of a line are published, the sum of the suppressed parts is published too, in
effect. It must stand the rules like a cell of its own: two suppressed cells whose sum is dominated by one contributor
tell what that one contributed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attack.system import Bools, Ints
from discreet.errors import InputError
from discreet.solvers.tolerances import LEVEL
from discreet.tabular.rules import is_dominated, is_estimated
from discreet.tabular.table import PRIMARY, SECONDARY, Table

Floats = NDArray[np.float64]

PROTECTED, PUBLISHED, EXPOSED, NARROW, UNJUDGED = "protected", "published", "exposed", "too narrow", ""
# Neither a table on each side was found nor a proof that there is none.
NOT_SHOWN = "not shown"


@dataclass(frozen=True, eq=False)
class Levels:
    """What every cell of a table must reach.

    Attributes
    ----------
    judged
        Which cells anything is asked of.
    down, up, width
        How far below and above its value the attacker must think each possible, and over what range in all.
    seek_down, seek_up
        How far to look; further than the level where it must be exceeded or where the range asks for more.
    slack_down, slack_up, slack_width
        By how much each of them may be missed: `slack_of`.
    strict
        Whether a level must be exceeded.
    """

    judged: NDArray[np.bool_]
    down: Floats
    up: Floats
    width: Floats
    seek_down: Floats
    seek_up: Floats
    slack_down: Floats
    slack_up: Floats
    slack_width: Floats
    strict: bool


# Half a unit of the last decimal, by which a level between two units may be missed, and a little for comparing them.
HALF = 0.5005


def slack_of(value: Floats, level: Floats, decimals: int | None) -> Floats:
    """By how much a level may be missed and still counts as reached: what rounding explains, and nothing else.

    A part of the value, since computed numbers have so many digits; but less than a unit of the last decimal, which is
    seen, and never more than half of the level, so that a cell that cannot move at all reaches none.

    Parameters
    ----------
    value, level : arrays of float
        The values of some cells, and what is asked of each, in units of the table.
    decimals : int, optional
        Digits behind the decimal point of the values, if they are decimal.
    """
    slack = np.minimum(LEVEL * np.maximum(1.0, np.abs(np.nan_to_num(value))), level / 2)
    return slack if decimals is None else np.minimum(slack, HALF * 10.0**-decimals)


def levels_of(table: Table, *, secondaries: bool, strict: bool) -> Levels:
    """The levels of primary cells, and of secondary ones if these are judged too.

    A cell without any level must at least not be known exactly: to one unit of the last decimal.
    """
    known = ~np.isnan(table.value)
    judged = ((table.status == PRIMARY) | (secondaries & (table.status == SECONDARY))) & known
    down, up, width = (np.where(judged, level, 0.0) for level in (table.lpl, table.upl, table.spl))
    unit = 10.0 ** -(table.decimals if table.decimals is not None else 6)
    bare = judged & (down + up + width == 0)
    width[bare] = unit
    # Well beyond what counts as reached, be it in parts of the value or of the level.
    more = LEVEL * np.maximum(np.maximum(1.0, np.abs(np.nan_to_num(table.value))), np.maximum(down, up))
    beyond = np.where(judged & strict & ~bare, 10 * more, 0.0)
    seek_down, seek_up = down + beyond, up + beyond
    wide = judged & (width > down + up)
    # The range may lie on either side; what one side has more than that is not needed.
    seek_down[wide], seek_up[wide] = (np.maximum(seek, width)[wide] for seek in (seek_down, seek_up))
    slacks = [slack_of(table.value, level, table.decimals) for level in (down, up, width)]
    return Levels(judged, down, up, width, seek_down, seek_up, slacks[0], slacks[1], slacks[2], strict)


def verdicts(
    table: Table,
    levels: Levels,
    cells: NDArray[np.int64],
    down: Floats,
    up: Floats,
    most: tuple[Floats, Floats] | None = None,
) -> NDArray[np.object_]:
    """The verdict on each of some suppressed cells, given how far below and above its value it can be.

    Parameters
    ----------
    table, levels, cells
        The table, what is asked, and the cells.
    down, up : arrays of float
        How far each is shown to go at least.
    most : two arrays of float, optional
        How far it is shown to go at most, down and up; what is then neither protected nor too narrow is not shown.
        By default `down` and `up` are all that it can go.
    """
    wanted_down, wanted_up, width = levels.down[cells], levels.up[cells], levels.width[cells]
    # Nobody can tell so little from nothing.
    least = slack_of(table.value[cells], np.maximum(wanted_down + wanted_up, width), table.decimals)
    far_down, far_up = (down, up) if most is None else most
    short = np.where(_reached(levels, cells, far_down, far_up), NOT_SHOWN, NARROW)
    short = np.where(far_down + far_up <= least, EXPOSED, short)
    found = np.where(_reached(levels, cells, down, up), PROTECTED, short).astype(object)
    found[~levels.judged[cells]] = UNJUDGED
    return found


def _reached(levels: Levels, cells: NDArray[np.int64], down: Floats, up: Floats) -> Bools:
    """Which cells reach their levels, given how far below and above their values they can be."""
    wanted_down, wanted_up = levels.down[cells], levels.up[cells]
    slack_down, slack_up = levels.slack_down[cells], levels.slack_up[cells]
    if levels.strict:
        bare = wanted_down + wanted_up == 0
        enough = (bare | (down > wanted_down + slack_down)) & (bare | (up > wanted_up + slack_up))
    else:
        enough = (down >= wanted_down - slack_down) & (up >= wanted_up - slack_up)
    found: Bools = enough & (down + up >= levels.width[cells] - levels.slack_width[cells])
    return found


def unsafe_sums(table: Table, hidden: Bools) -> list[tuple[int, Ints]]:
    """Find the lines in which the suppressed parts together are unsafe by the rules that were applied to the cells.

    Parameters
    ----------
    table : Table
        The table, with its largest contributions and the rules it was judged by.
    hidden : array of bool
        Which cells are not published.

    Returns
    -------
    list of (int, array of int)
        The relation and its suppressed parts.
    """
    said = table.rules.get("parameters", {})
    if table.tops is None or not ({"p", "dominance"} & set(said)):
        raise InputError(
            f"{table.source} does not hold the largest contributions and a rule on them (p or dominance), so sums of "
            "suppressed cells cannot be judged; make it with tabulate and primary"
        )
    relations = table.relations
    inside = hidden[relations.cells]
    found = []
    parts = np.bincount(relations.rows[inside], minlength=len(relations))
    totals = np.bincount(relations.rows[inside & (relations.coefficients < 0)], minlength=len(relations))
    # A single suppressed cell is found by elimination; a suppressed total leaves the sum open.
    for row in np.flatnonzero((parts >= 2) & (totals == 0)).tolist():
        line = relations.of(row)
        cells = line[hidden[line]].astype(np.int64)
        if _is_unsafe(table, cells, said):
            found.append((row, cells))
    return found


def _is_unsafe(table: Table, cells: Ints, said: Mapping[str, Any]) -> bool:
    """Whether a sum of cells would be unsafe by the rules that the cells were judged by."""
    assert table.tops is not None
    value = np.array([table.value[cells].sum()])
    tops = np.sort(table.tops[cells].ravel())[None, ::-1]
    if "p" in said and is_estimated(value, tops, said["p"] / said.get("q", 100.0), said.get("coalition", 1))[0]:
        return True
    return "dominance" in said and bool(is_dominated(value, tops, *said["dominance"])[0])
