"""Branch and bound over given groups: two records are together or they are apart (Ryan and Foster 1981).

Each node solves the linear relaxation without the groups that its decisions exclude, adds violated odd set
inequalities, and tries a few pairs of records that are partly together in both ways (strong branching). The node of
lowest bound comes first, so the bound rises from node to node. Now and then a dive looks for a better partition. A
node's result depends on what the tree has stored alone: each makes a new solver and starts from the basis of the root.

`Cover` decides which groups a tree is given. One whose reduced cost exceeds the gap between the incumbent and the bound
is in no better partition (reduced cost fixing). If many are left, the search begins with those of lowest reduced cost;
the others bound what it may miss.

`dive` goes from a fractional solution to a partition: groups that are (nearly) whole in the linear relaxation are
taken, the relaxation of the records that are left is solved anew with further groups and odd set inequalities, and so
on. Any k records or more can be partitioned, so it always ends with a partition.
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State, inside, part
from discreet.kernels.partitions.mdav import mdav
from discreet.microdata.set_partitioning.columns import (
    Columns,
    Floats,
    Ints,
    OddSets,
    columns_of,
    find_violated,
    kept_columns,
    kept_sets,
    pair_shares,
)
from discreet.microdata.set_partitioning.pricing import GroupPricer
from discreet.microdata.set_partitioning.relaxation import Relaxation, RestrictedMaster, Steps, kept_basis
from discreet.solvers.highs import Basis

# Costs are equal if they differ by no more than this part of them.
TOLERANCE = 1e-9
# Shares nearer than this to 0 or 1 are whole.
INTEGRALITY = 1e-6
NEARLY_WHOLE_SHARE = 0.99
CUT_ROUNDS = 3
NO_DECISIONS = np.zeros((0, 3), np.int64)
STRONG_BRANCHING_PAIRS = 6
NODES_BETWEEN_DIVES = 20
MOST_BACKTRACKS = 8


class Tree:
    """A search for the cheapest partition made of given groups.

    Parameters
    ----------
    columns : Columns
        The groups; costs average about 1 per record.
    n : int
        Number of records.
    sets : OddSets
        Inequalities to start with.
    incumbent : array of int
        Groups that are a partition.
    """

    def __init__(self, columns: Columns, n: int, sets: OddSets, incumbent: Ints) -> None:
        self.columns, self.n, self.sets = columns, n, sets
        self.best, self.cost = incumbent, float(columns.costs[incumbent].sum())
        order = np.argsort(columns.members, kind="stable")
        ends = np.cumsum(np.bincount(columns.members, minlength=n))
        self._of_record = np.split(columns.owners[order], ends[:-1])
        # The bound of each node, its number, and the decisions that lead to it.
        self._nodes: list[tuple[float, int, Ints]] = [(-np.inf, 0, NO_DECISIONS)]
        self._root: Basis | None = None
        self._made, self._solved = 1, 0
        self._lost = np.inf  # the lowest bound of a node that the solver gave up on

    @property
    def bound(self) -> float:
        """No partition of the groups costs less."""
        return min(self.cost, self._lost, self._nodes[0][0] if self._nodes else np.inf)

    @property
    def finished(self) -> bool:
        """Whether no node is left that could hold a better partition."""
        return not self._nodes or self._is_closed(self._nodes[0][0])

    def advancing(self) -> Steps:
        """Solve the node of lowest bound, with interruptions."""
        parent, _, decisions = heappop(self._nodes)
        master = RestrictedMaster(self.columns, self.sets, self.n)
        barred = np.zeros(len(self.columns), bool)
        for decision in decisions:
            barred[self._find_excluded(decision)] = True
        master.bar(np.flatnonzero(barred))
        basis = self._root and self._root.grow(len(self.columns), self.n + len(self.sets))
        value = yield from master.solving(basis, limit=self.cost)
        self._solved += 1
        if self._root is None:
            self._root = master.basis
        value = yield from self._cut(master, value)
        if np.isnan(value):
            self._lost = min(self._lost, parent)
        elif not self._is_closed(value) and not self._take(master.values):
            yield from self._branch(master, barred, value, decisions)

    def _cut(self, master: RestrictedMaster, value: float) -> Generator[None, None, float]:
        """Add violated inequalities to a node; keep those that bind. Give the cost."""
        found: list[OddSets] = []
        for _ in range(CUT_ROUNDS):
            if not value < self.cost:
                return value
            sets = find_violated(self.columns, master.values, self.n)
            if not len(sets):
                break
            found.append(sets)
            master.require(sets)
            value = yield from master.solving(limit=self.cost)
        if found and value < self.cost:
            new = found[0].join(*found[1:])
            self.sets = self.sets.join(new.take(np.flatnonzero(master.weights[-len(new) :] > 0)))
        return value

    def _branch(self, master: RestrictedMaster, barred: NDArray[np.bool_], value: float, decisions: Ints) -> Steps:
        """Try pairs both ways, and put the two nodes of the pair that raises the bound most into the tree."""
        basis, shares = master.basis, master.values
        least = 1e-6 * abs(value)
        best: tuple[float, list[tuple[float, Ints]]] = (-1.0, [])
        for pair in self._pairs(shares, master.duals):
            children = []
            for joined in (True, False):
                decision = np.array([[*pair, joined]])
                excluded = self._find_excluded(decision[0])
                excluded = excluded[~barred[excluded]]
                master.bar(excluded)
                bound = yield from master.solving(basis, limit=self.cost)
                if bound < self.cost:
                    self._take(master.values)
                master.admit(excluded)
                children.append((value if np.isnan(bound) else min(bound, self.cost), decision))
            score = max(children[0][0] - value, least) * max(children[1][0] - value, least)
            if score > best[0]:
                best = (score, children)
            if self._is_closed(children[0][0]) or self._is_closed(children[1][0]):
                break
        for bound, decision in best[1]:
            if not self._is_closed(bound):
                heappush(self._nodes, (max(bound, value), self._made, np.vstack([decisions, decision])))
                self._made += 1
        if self._solved % NODES_BETWEEN_DIVES == 1 and not np.isnan((yield from master.solving(basis))):
            yield from self._dive(master, barred.copy())

    def _pairs(self, values: Floats, duals: Floats) -> list[tuple[int, int]]:
        """Pairs of records that are partly together, no record twice: undecided ones of costly records first."""
        partial = np.flatnonzero((values > INTEGRALITY) & (values < 1 - INTEGRALITY))
        heads, tails, share = pair_shares(self.columns.take(partial), values[partial], self.n)
        once = (heads < tails) & (share < 1 - INTEGRALITY)
        heads, tails, share = heads[once], tails[once], share[once]
        score = np.minimum(share, 1 - share) * (duals[heads] + duals[tails])
        pairs: list[tuple[int, int]] = []
        used: set[int] = set()
        for at in np.argsort(-score, kind="stable"):
            pair = int(heads[at]), int(tails[at])
            if not used.intersection(pair):
                pairs.append(pair)
                used.update(pair)
            if len(pairs) == STRONG_BRANCHING_PAIRS:
                break
        return pairs

    def _dive(self, master: RestrictedMaster, barred: NDArray[np.bool_]) -> Steps:
        """Make groups whole, one or a few at a time, until a partition is found or it costs too much.

        Inequalities that are violated on the way are added: without them dives end in partitions far worse.
        """
        left = MOST_BACKTRACKS
        while True:
            sets = find_violated(self.columns, master.values, self.n)
            if len(sets):
                master.require(sets)
                if not (yield from master.solving(limit=self.cost)) < self.cost:
                    return
            values = master.values
            if self._take(values):
                return
            partial = (values > INTEGRALITY) & (values < 1 - INTEGRALITY)
            chosen = np.flatnonzero(partial & (values >= NEARLY_WHOLE_SHARE))
            if not len(chosen):
                chosen = np.array([np.argmax(np.where(partial, values, 0.0))])
            rivals = np.unique(np.concatenate([self._of_record[r] for r in self.columns.take(chosen).members]))
            rivals = np.setdiff1d(rivals[~barred[rivals]], chosen)
            master.bar(rivals)
            barred[rivals] = True
            if (yield from master.solving(limit=self.cost)) < self.cost:
                continue
            # The opposite: leave these groups out instead.
            left -= 1
            master.admit(rivals)
            master.bar(chosen)
            barred[rivals] = False
            barred[chosen] = True
            if left < 0 or not (yield from master.solving(limit=self.cost)) < self.cost:
                return

    def _take(self, values: Floats) -> bool:
        """Take a solution if it is a partition; tell whether it is."""
        if ((values > INTEGRALITY) & (values < 1 - INTEGRALITY)).any():
            return False
        chosen = np.flatnonzero(values > 0.5)
        members = self.columns.take(chosen).members
        if len(members) != self.n or len(np.unique(members)) != self.n:
            return False
        cost = float(self.columns.costs[chosen].sum())
        if cost < self.cost:
            self.best, self.cost = chosen, cost
        return True

    def _find_excluded(self, decision: Ints) -> Ints:
        """The groups that a decision excludes: two records, and whether they are together."""
        one, other, joined = decision
        apart = np.setxor1d if joined else np.intersect1d
        excluded: Ints = apart(self._of_record[one], self._of_record[other], assume_unique=True)
        return excluded

    def _is_closed(self, bound: float) -> bool:
        return bound >= self.cost * (1 - TOLERANCE)

    def save(self) -> State:
        """All that the next nodes depend on, except the groups; the arrays stay as they are."""
        root = self._root or Basis(np.zeros(0, np.int8), np.zeros(0, np.int8))
        return {
            "best": self.best,
            "bounds": np.array([bound for bound, _, _ in self._nodes]),
            "numbers": np.array([number for _, number, _ in self._nodes], np.int64),
            "depths": np.array([len(decisions) for _, _, decisions in self._nodes], np.int64),
            "decisions": np.concatenate([NO_DECISIONS, *(decisions for _, _, decisions in self._nodes)]),
            "set_members": self.sets.members,
            "set_starts": self.sets.starts,
            "root_groups": root.columns,
            "root_rows": root.rows,
            "made": self._made,
            "solved": self._solved,
            "lost": self._lost,
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        n = len(self._of_record)
        self.best = integers("best", held["best"], (-1,), 0, len(self.columns) - 1)
        self.cost = float(self.columns.costs[self.best].sum())
        self.sets = kept_sets(held, n)
        decisions = integers("decisions", held["decisions"], (-1, 3), 0, n - 1)
        ends = np.cumsum(integers("depths", held["depths"], (-1,), 0, len(decisions)))
        self._nodes = [
            (float(bound), int(number), decisions[end - depth : end])
            for bound, number, depth, end in zip(held["bounds"], held["numbers"], held["depths"], ends, strict=True)
        ]
        self._root = kept_basis(held, "root", len(self.columns), n + len(self.sets))
        self._made, self._solved, self._lost = int(held["made"]), int(held["solved"]), float(held["lost"])


# Up to so many groups per record are searched at once; of more, so many of each record at first, and so many times more
# after so many nodes.
MOST_GROUPS_PER_RECORD = 20
FIRST_GROUPS_PER_RECORD = 10
WIDENING = 4
NODES_BEFORE_WIDENING = 100


class DualBound(NamedTuple):
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
    dual_bound : DualBound
        From a relaxation over these groups or more.
    incumbent : array of int
        Groups that are a partition.
    """

    def __init__(self, columns: Columns, n: int, dual_bound: DualBound, incumbent: Ints) -> None:
        self.columns, self._n, self._dual_bound = columns, n, dual_bound
        self.best, self.cost, self.bound = incumbent, float(columns.costs[incumbent].sum()), dual_bound.bound
        self._width = FIRST_GROUPS_PER_RECORD
        self._chosen, self._otherwise = incumbent, np.inf
        self._tree: Tree | None = None
        self._nodes = 0

    @property
    def finished(self) -> bool:
        """Whether the best partition is proven to be the cheapest."""
        return self.cost - self.bound <= TOLERANCE * self.cost

    def advancing(self) -> Steps:
        """Solve one node, with interruptions."""
        if self._tree is None:
            self._plant()
        assert self._tree is not None
        if not self._tree.finished:
            yield from self._tree.advancing()
            self._nodes += 1
        self.best, self.cost = self._chosen[self._tree.best], self._tree.cost
        # A partition is made of the groups in the tree, or has one that was left out, or is no better than the best.
        self.bound = max(self.bound, min(self._tree.bound, self._otherwise, self.cost))
        if np.isfinite(self._otherwise) and (self._tree.finished or self._nodes >= NODES_BEFORE_WIDENING):
            self._width *= WIDENING
            self._tree = None

    def _plant(self) -> None:
        """Begin a tree with groups that may be in a better partition."""
        bound, reduced, sets = self._dual_bound
        open_ = np.flatnonzero(reduced <= self.cost * (1 + TOLERANCE) - bound)
        chosen = open_
        if len(open_) > MOST_GROUPS_PER_RECORD * self._n:
            chosen = open_[self.columns.take(open_).best_per_record(reduced[open_], self._n, self._width)]
        left_out = np.setdiff1d(open_, chosen, assume_unique=True)
        self._otherwise = bound + float(reduced[left_out].min(initial=np.inf))
        self._chosen, self._nodes = np.union1d(chosen, self.best), 0
        self._tree = Tree(self.columns.take(self._chosen), self._n, sets, np.searchsorted(self._chosen, self.best))

    def save(self) -> State:
        """All that the next nodes depend on; the arrays stay as they are."""
        held: State = {"members": self.columns.members, "starts": self.columns.starts, "costs": self.columns.costs}
        held |= {"dual_bound": self._dual_bound.bound, "reduced": self._dual_bound.reduced}
        held |= {"set_members": self._dual_bound.sets.members, "set_starts": self._dual_bound.sets.starts}
        held |= {"best": self.best, "bound": self.bound, "width": self._width, "nodes": self._nodes}
        held |= {"chosen": self._chosen, "otherwise": self._otherwise}
        if self._tree is not None:
            held |= inside("tree", self._tree.save())
        return held


def restore_cover(state: State, n: int) -> Cover:
    """The search that a state was saved from."""
    held: dict[str, Any] = dict(state)
    columns, sets = kept_columns(held, n), kept_sets(held, n)
    reduced = floats("reduced", held["reduced"], (len(columns),))
    best = integers("best", held["best"], (-1,), 0, len(columns) - 1)
    cover = Cover(columns, n, DualBound(float(held["dual_bound"]), reduced, sets), best)
    cover.bound, cover._width, cover._nodes = float(held["bound"]), int(held["width"]), int(held["nodes"])
    cover._chosen = integers("chosen", held["chosen"], (-1,), 0, len(columns) - 1)
    cover._otherwise = float(held["otherwise"])
    if (np.diff(cover._chosen) <= 0).any() or (len(cover._chosen) and not np.isin(best, cover._chosen).all()):
        raise ValueError("the groups chosen are not those of a search")
    tree = part("tree", state)
    if tree:
        start = np.searchsorted(cover._chosen, cover.best)
        cover._tree = Tree(columns.take(cover._chosen), n, sets, start)
        cover._tree.load(tree)
    return cover


TAKEN_SHARE = 0.9
DIVE_ROUNDS = 6
DIVE_GAP = 1e-4


def dive(points: Floats, k: int, relaxation: Relaxation) -> Generator[None, None, Ints]:
    """Find a partition near the solution of a relaxation, with interruptions."""
    labels = np.full(len(points), -1)
    free = np.arange(len(points))
    groups = 0
    while len(free):
        taken = relaxation.columns.take(_whole(relaxation, k))
        if not len(taken):
            labels[free] = groups + mdav(points[free], k, False, lambda _: None)
            break
        labels[free[taken.members]] = groups + taken.owners
        groups += len(taken)
        left = np.setdiff1d(np.arange(len(free)), taken.members)
        free = free[left]
        if len(free) < 2 * k:
            labels[free] = groups
            break
        yield
        relaxation = yield from _relax_rest(points[free], k, relaxation, left)
    return labels


def _whole(relaxation: Relaxation, k: int) -> Ints:
    """The groups to take: those nearly whole, or the one nearest to it; k records or none must be left."""
    sizes, values = relaxation.columns.sizes, relaxation.values
    chosen = np.flatnonzero(values >= TAKEN_SHARE)
    if not len(chosen):
        chosen = np.array([np.argmax(values)])
    while len(chosen) and 0 < len(relaxation.duals) - sizes[chosen].sum() < k:
        chosen = chosen[:-1]
    return chosen


def _relax_rest(points: Floats, k: int, relaxation: Relaxation, left: Ints) -> Generator[None, None, Relaxation]:
    """Relax the problem of the records that are left."""
    some = columns_of(points, mdav(points, k, False, lambda _: None))
    known = relaxation.columns.within(left, len(relaxation.duals))
    rest = Relaxation(some.join(known), relaxation.duals[left], GroupPricer(points, k))
    for _ in range(DIVE_ROUNDS):
        yield from rest.round()
        if rest.complete or rest.value - rest.bound <= DIVE_GAP * abs(rest.value):
            break
    if (yield from rest.cut()):
        yield from rest.round()
        yield from rest.round()
    return rest
