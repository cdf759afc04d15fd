"""The cheapest partition made of given groups, when a relaxation has told what each group costs at least.

A group whose reduced cost exceeds the gap between the incumbent and the bound is in no better partition (reduced cost
fixing). If many are left, the search begins with those of lowest reduced cost; the others bound what it may miss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from discreet.microdata.branching import TOLERANCE, Tree
from discreet.microdata.columns import Columns, Floats, Ints
from discreet.microdata.odd_sets import OddSets

if TYPE_CHECKING:
    from discreet.evolution.process import State

# Up to so many groups per record are searched at once; of more, so many of each record at first, and so many times more
# after so many nodes.
FEW = 20
NARROW = 10
WIDENING = 4
NODES = 100


class Evidence(NamedTuple):
    """What is known of groups: a lower bound, and what a partition with a group costs beyond it at least."""

    bound: float
    reduced: Floats
    sets: OddSets


class Cover:
    """Branch and bound over some, then over more of the groups, until none that may matter is left out.

    Parameters
    ----------
    columns : Columns
        The groups.
    n : int
        Number of records.
    evidence : Evidence
        From a relaxation over these groups or more.
    incumbent : array of int
        Groups that are a partition.
    """

    def __init__(self, columns: Columns, n: int, evidence: Evidence, incumbent: Ints) -> None:
        self.columns, self._n, self._evidence = columns, n, evidence
        self.best, self.cost, self.bound = incumbent, float(columns.costs[incumbent].sum()), evidence.bound
        self._width = NARROW
        self._chosen, self._otherwise = incumbent, np.inf
        self._tree: Tree | None = None
        self._nodes = 0

    @property
    def finished(self) -> bool:
        """Whether the best partition is proven to be the cheapest."""
        return self.cost - self.bound <= TOLERANCE * self.cost

    def advance(self) -> None:
        """Solve one node."""
        if self._tree is None:
            self._plant()
        assert self._tree is not None
        if not self._tree.finished:
            self._tree.advance()
            self._nodes += 1
        self.best, self.cost = self._chosen[self._tree.best], self._tree.cost
        # A partition is made of the groups in the tree, or has one that was left out, or is no better than the best.
        self.bound = max(self.bound, min(self._tree.bound, self._otherwise, self.cost))
        if np.isfinite(self._otherwise) and (self._tree.finished or self._nodes >= NODES):
            self._width *= WIDENING
            self._tree = None

    def _plant(self) -> None:
        """Begin a tree with groups that may be in a better partition."""
        bound, reduced, sets = self._evidence
        open_ = np.flatnonzero(reduced <= self.cost * (1 + TOLERANCE) - bound)
        chosen = open_
        if len(open_) > FEW * self._n:
            chosen = open_[self.columns.take(open_).best_per_record(reduced[open_], self._n, self._width)]
        left_out = np.setdiff1d(open_, chosen, assume_unique=True)
        self._otherwise = bound + float(reduced[left_out].min(initial=np.inf))
        self._chosen, self._nodes = np.union1d(chosen, self.best), 0
        self._tree = Tree(self.columns.take(self._chosen), self._n, sets, np.searchsorted(self._chosen, self.best))

    def save(self) -> State:
        """All that the next nodes depend on."""
        held: State = {"members": self.columns.members, "starts": self.columns.starts, "costs": self.columns.costs}
        held |= {"evidence_bound": self._evidence.bound, "reduced": self._evidence.reduced}
        held |= {"set_members": self._evidence.sets.members, "set_starts": self._evidence.sets.starts}
        held |= {"best": self.best, "bound": self.bound, "width": self._width, "nodes": self._nodes}
        held |= {"chosen": self._chosen, "otherwise": self._otherwise}
        if self._tree is not None:
            held |= {f"tree.{name}": value for name, value in self._tree.save().items()}
        return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in held.items()}


def resumed(state: State, n: int) -> Cover:
    """The search that a state was saved from."""
    held: dict[str, Any] = dict(state)
    columns = Columns(held["members"], held["starts"], held["costs"])
    sets = OddSets(held["set_members"], held["set_starts"])
    cover = Cover(columns, n, Evidence(float(held["evidence_bound"]), held["reduced"], sets), held["best"])
    cover.bound, cover._width, cover._nodes = float(held["bound"]), int(held["width"]), int(held["nodes"])
    cover._chosen, cover._otherwise = held["chosen"], float(held["otherwise"])
    inner = {name.removeprefix("tree."): held[name] for name in held if name.startswith("tree.")}
    if inner:
        start = np.searchsorted(cover._chosen, cover.best)
        cover._tree = Tree(columns.take(cover._chosen), n, sets, start)
        cover._tree.load(inner)
    return cover
