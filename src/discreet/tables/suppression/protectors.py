"""Which way to protect a problem: flows where its relations form a network, linear programs elsewhere."""

from __future__ import annotations

import numpy as np

from discreet.kernels.arrays import Words
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.protector import Protector
from discreet.verification.attack.network import networks
from discreet.verification.attack.system import Bools, Ints


def protector_of(problem: Problem) -> Protector:
    """The fastest protector of a problem; of several where its components differ."""
    flat, signs = networks(problem.system)
    parts = [mask for mask in (flat, ~flat) if mask.any()]
    if len(parts) == 1:
        return _protector(problem, signs, network=bool(flat.all()))
    made: list[Protector] = []
    for mask in parts:
        part = problem.part(mask)
        rows = np.searchsorted(problem.system.relations, part.system.relations)
        made.append(_protector(part, signs[rows], network=mask is parts[0]))
    return Joint(problem, parts, made)


def _protector(problem: Problem, signs: Ints, *, network: bool) -> Protector:
    if network:
        from discreet.tables.suppression.group_flows import GroupFlows

        return GroupFlows(problem, signs)
    from discreet.tables.suppression.group_linear import GroupLinear

    return GroupLinear(problem)


class Joint:
    """Protectors of parts that have no relation in common.

    Parameters
    ----------
    problem : Problem
        The whole.
    parts : list of arrays of bool
        The columns of each part.
    protectors : list of Protector
        One for each.
    """

    def __init__(self, problem: Problem, parts: list[Bools], protectors: list[Protector]) -> None:
        self.problem = problem
        self._parts, self._protectors = parts, protectors
        # A task of the whole is a task of one part, under another number.
        self._owner = np.zeros(problem.tasks, dtype=np.int64)
        self._number = np.zeros(problem.tasks, dtype=np.int64)
        for at, mask in enumerate(parts):
            mine = np.flatnonzero(mask[problem.cell])
            self._owner[mine] = at
            self._number[mine] = np.arange(len(mine))

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed."""
        found = np.zeros(len(self.problem), dtype=np.bool_)
        for mask, protector in zip(self._parts, self._protectors, strict=True):
            found[mask] = protector.suppressed
        return found

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        return sum(protector.cost for protector in self._protectors)

    @property
    def open(self) -> Ints:
        """Tasks that are not protected, or not known to be."""
        found = []
        for at, protector in enumerate(self._protectors):
            mine = np.flatnonzero(self._owner == at)
            found.append(mine[protector.open])
        return np.sort(np.concatenate([*found, np.empty(0, dtype=np.int64)]))

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew."""
        for mask, protector in zip(self._parts, self._protectors, strict=True):
            protector.start(None if suppressed is None else suppressed[mask])

    def protect(self, order: Ints) -> int:
        """Protect tasks in an order, in each part for itself."""
        return sum(
            protector.protect(self._number[order[self._owner[order] == at]])
            for at, protector in enumerate(self._protectors)
        )

    def clean(self) -> int:
        """Publish secondary cells that nothing needs."""
        return sum(protector.clean() for protector in self._protectors)

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair in each part."""
        return sum(protector.improve(state, rounds, most, heat) for protector in self._protectors)
