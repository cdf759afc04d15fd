"""Which way to protect a problem: flows where its relations form a network, linear programs elsewhere.

What every way of protecting a problem offers to the searches.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from discreet.attack.network import networks
from discreet.attack.system import Bools, Ints
from discreet.kernels.arrays import Words
from discreet.tables.suppression.group_linear import GroupLinear
from discreet.tables.suppression.network_pattern import GroupFlows
from discreet.tables.suppression.problem import Problem


class Protector(Protocol):
    """A pattern of a problem, with a certificate for each task that is protected."""

    problem: Problem

    @property
    def suppressed(self) -> Bools:
        """Which columns are suppressed, the primary ones among them; a copy."""
        ...

    @property
    def cost(self) -> float:
        """What the secondary cells cost together."""
        ...

    @property
    def open(self) -> Ints:
        """Tasks that are not protected, or not known to be."""
        ...

    def start(self, suppressed: Bools | None = None) -> None:
        """Begin anew with the primary cells suppressed, and others if given; no task is known to be protected."""
        ...

    def protect(self, order: Ints) -> int:
        """Protect tasks in an order, each at the least additional cost; tell how many could not be."""
        ...

    def clean(self) -> int:
        """Publish secondary cells that nothing needs, the dearest first; tell how many."""
        ...

    def improve(self, state: Words, rounds: int, most: int, heat: float) -> float:
        """Take apart and repair so many times; give the cost of the pattern that is kept.

        Parameters
        ----------
        state : array of words
            Random state of `discreet.kernels.random`, which is moved on.
        rounds : int
            How often.
        most : int
            How many cells are taken away at once at most.
        heat : float
            How much dearer a pattern may be, as a share of the cost, to be kept all the same.
        """
        ...


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
        return GroupFlows(problem, signs)

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
