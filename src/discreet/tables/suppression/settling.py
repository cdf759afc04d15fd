"""Which unsafe cells can be protected at all, and how their ranges are split so that they can."""

from __future__ import annotations

import numpy as np

from discreet.tables.suppression.problem import Problem, units
from discreet.verification.attack.attacker import Attacker
from discreet.verification.attack.system import Bools, Floats, Ints
from discreet.verification.levels import TOLERANCE


def settled(problem: Problem, cells: Ints | None = None) -> tuple[Problem, Ints]:
    """The problem with ranges split in a way that can be had, and the unsafe cells that nothing can protect.

    With every cell suppressed that may be, the tasks are asked for as they are. Only where that fails for a cell with a
    range is it found out how far the cell can go to either side.

    Parameters
    ----------
    problem : Problem
        The problem.
    cells : array of int, optional
        The cells of the table to look at; all that have tasks by default.
    """
    looked_at = np.ones(len(problem), dtype=np.bool_) if cells is None else np.isin(problem.system.cells, cells)
    hidden = np.zeros(len(problem.table), dtype=np.bool_)
    hidden[problem.system.cells] = True
    attacker = Attacker(problem.table, hidden)
    short = _short(attacker, problem, looked_at)
    again = short[problem.ranged]
    if again.any():
        problem = problem.split(again, *_rooms(attacker, problem, again))
        split = np.zeros(len(problem), dtype=np.bool_)
        split[problem.ranged[again]] = True
        short = (short & ~split) | _short(attacker, problem, split)
    return problem, problem.system.cells[short]


def _short(attacker: Attacker, problem: Problem, looked_at: Bools) -> Bools:
    """Which columns, of those looked at, do not reach a level of theirs."""
    down, up = np.zeros(len(problem)), np.zeros(len(problem))
    for side, wanted in ((-1, down), (1, up)):
        mine = looked_at[problem.cell] & (problem.side == side)
        wanted[problem.cell[mine]] = problem.level[mine] / problem.scale
    reach = attacker.reach(down, up)
    slack = TOLERANCE * np.maximum(1.0, np.abs(problem.table.value[problem.system.cells]))
    return (reach.down < down - slack) | (reach.up < up - slack)


def _rooms(attacker: Attacker, problem: Problem, ranges: Bools) -> tuple[Floats, Floats]:
    """How far down and up the columns of some ranges can go, in units; further than their width does not matter."""
    columns = problem.ranged[ranges]
    wanted = np.zeros(len(problem))
    wanted[columns] = problem.width[ranges] / problem.scale
    reach = attacker.reach(wanted, wanted)
    return units(reach.down[columns], problem.scale), units(reach.up[columns], problem.scale)
