"""The linear relaxation over more groups than can be listed: column and cut generation.

Each round solves the linear program over the groups known so far, asks for groups that cost less than the duals of
their records, and takes from the duals what such groups lack: the sum of what is left is a lower bound for every
partition. The duals asked about lie between those of the last linear program and the best so far (Wentges 1997), which
shortens the long tail of column generation. Where the linear program is close to its bound, violated odd set
inequalities are added. Tolerances of linear programs are absolute: costs should average about 1 per record.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.evolution.checks import floats, integers
from discreet.evolution.process import State
from discreet.microdata.set_partitioning.columns import (
    Columns,
    Floats,
    Ints,
    OddSets,
    find_violated,
    kept_columns,
    kept_sets,
    no_sets,
)
from discreet.solvers.highs import Basis, LinearProgram, Matrix, Status
from discreet.solvers.tolerances import LP

Bytes = NDArray[np.int8]
Steps = Generator[None, None, None]  # work that can be interrupted wherever it yields

# Work of the simplex method between two interruptions, in iterations times rows and an eighth of the columns, with so
# many iterations for each run: 0.1 s.
UNINTERRUPTED_WORK = 300_000
ITERATIONS_OF_A_RUN = 10
# After so many runs the primal method gives way to the dual one: at a degenerate vertex it would start anew for ever.
PRIMAL_RUNS = 3
# A guard: it takes far fewer.
MOST_RUNS = 10_000


Value = TypeVar("Value")


def complete(steps: Generator[None, None, Value]) -> Value:
    """Do work that can be interrupted to its end; give what comes of it."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: Value = end.value
            return value


class RestrictedMaster:
    """The linear program over some groups: shares of least cost that cover each record once, with odd set inequalities.

    Groups may be barred and admitted again, and inequalities added.

    Parameters
    ----------
    columns : Columns
        The groups.
    sets : OddSets
        The inequalities.
    n : int
        Number of records.
    """

    def __init__(self, columns: Columns, sets: OddSets, n: int) -> None:
        self.columns, self.n = columns, n
        count = len(columns)
        self._weight = n + len(sets) + count // 8  # of an iteration
        self._work = 0  # since the last interruption
        group, which, coefficient = sets.coefficients(columns, n)
        places = np.argsort(np.concatenate([columns.owners, group]), kind="stable")
        starts = columns.starts + np.concatenate([[0], np.cumsum(np.bincount(group, minlength=count))])
        self._linear = LinearProgram(
            cost=columns.costs,
            lower=np.zeros(count),
            upper=np.full(count, np.inf),
            row_lower=np.concatenate([np.ones(n), np.full(len(sets), -np.inf)]),
            row_upper=np.concatenate([np.ones(n), sets.limits]),
            matrix=Matrix(
                starts,
                np.concatenate([columns.members, n + which])[places],
                np.concatenate([np.ones(len(columns.members)), coefficient])[places],
            ),
            presolve="off",
            simplex_iteration_limit=max(ITERATIONS_OF_A_RUN, UNINTERRUPTED_WORK // self._weight),
        )
        self._linear.set_tolerance(LP)

    def solving(
        self, basis: Basis | None = None, *, primal: bool = False, limit: float = np.inf
    ) -> Generator[None, None, float]:
        """Solve it, with interruptions wherever enough has been done since the last one; give the least cost.

        Without a basis the dual simplex method goes on from where it is, at first from the empty basis: that takes 0.7
        s for 200,000 groups of 1,000 records, where interior points take 8 s and the primal method 78 s. The primal
        method is for a basis to which groups were added.

        Parameters
        ----------
        basis : Basis, optional
            Where to start.
        primal : bool
            Use the primal simplex method.
        limit : float
            Costs from here on need not be known.

        Returns
        -------
        float
            The cost; infinite if there is no solution below the limit; nan if the solver gave up.
        """
        if basis is not None:
            self._linear.basis = basis
        self._linear.set(simplex_strategy=4 if primal else 1, objective_bound=limit)
        for runs in range(MOST_RUNS):
            if primal and runs == PRIMAL_RUNS:
                self._linear.restart()
                self._linear.set(simplex_strategy=1)
            status = self._linear.run()
            self._work += self._weight * (self._linear.iterations + ITERATIONS_OF_A_RUN)
            if self._work >= UNINTERRUPTED_WORK:
                self._work = 0
                yield
            if status is not Status.INTERRUPTED:
                break
        if status in (Status.INFEASIBLE, Status.BEYOND_LIMIT):
            return np.inf
        return self._linear.objective if status is Status.OPTIMAL else np.nan

    @property
    def values(self) -> Floats:
        """The share of each group."""
        return self._linear.values

    @property
    def duals(self) -> Floats:
        """The dual of each record."""
        return self._linear.duals[: self.n]

    @property
    def weights(self) -> Floats:
        """The weight of each odd set: minus its dual."""
        weights: Floats = np.maximum(-self._linear.duals[self.n :], 0.0)
        return weights

    @property
    def basis(self) -> Basis:
        """Where the solver has arrived."""
        return self._linear.basis

    def bar(self, groups: Ints) -> None:
        """Keep groups out."""
        self._bound(groups, 0.0)

    def admit(self, groups: Ints) -> None:
        """Let barred groups in again."""
        self._bound(groups, np.inf)

    def require(self, sets: OddSets) -> None:
        """Add odd set inequalities."""
        group, which, coefficient = sets.coefficients(self.columns, self.n)
        order = np.argsort(which, kind="stable")
        starts = np.searchsorted(which[order], np.arange(len(sets)))
        matrix = Matrix(starts, group[order], coefficient[order], by_rows=True)
        self._linear.add_rows(np.full(len(sets), -np.inf), sets.limits, matrix)

    def _bound(self, groups: Ints, upper: float) -> None:
        self._linear.change_bounds(np.zeros(len(groups)), np.full(len(groups), upper), groups)


LEAST_SMOOTHING, MOST_SMOOTHING, SMOOTHING_PER_GAP = 0.5, 0.9, 30.0
# The linear program is close to its bound at this part of the gap between the bound and the best partition, or of its
# own value if that is less; it equals its bound at this part of its value.
CLOSE_SHARE_OF_GAP = 0.05
CLOSE_SHARE_OF_VALUE = 1e-4
EQUAL_SHARE = 1e-9
# Inequalities are worth while as long as one in so many rounds of them gains this part of the gap, or of the value.
GAIN_SHARE_OF_GAP = 0.01
GAIN_SHARE_OF_VALUE = 1e-6
MOST_GAINLESS_ROUNDS = 3
# With more new groups than this part of the records the linear program is solved anew, from the empty basis.
FRESH_SHARE_TO_SOLVE_ANEW = 0.25


@dataclass(frozen=True, eq=False)
class PricingResult:
    """What pricing found: groups that cost less than their duals, and duals lowered so that no group does."""

    columns: Columns
    duals: Floats


class Pricer(Protocol):
    """Finds groups that cost less than the duals of their records, given the weights of odd sets."""

    def __call__(self, duals: Floats, sets: OddSets, weights: Floats) -> Generator[None, None, PricingResult]:
        """Price groups at the given duals and weights, with interruptions."""
        ...


class Relaxation:
    """Column and cut generation, round by round.

    `bound` is a lower bound for every partition, `inner_duals` and `inner_weights` (of the odd sets) prove it: no group
    costs less than its duals and weights. `columns` and `values` are the groups and the solution of the last linear
    program, `value` its cost.

    Parameters
    ----------
    columns : Columns
        Groups to start from; some of them must be a partition. Costs should average about 1 per record, since the
        tolerances of the linear program are absolute.
    duals : array of float
        Duals to start from, one per record.
    pricer : callable
        Finds further groups.
    """

    def __init__(self, columns: Columns, duals: Floats, pricer: Pricer) -> None:
        self.columns, self.sets = columns, no_sets()
        self.duals, self.weights = duals, np.zeros(0)
        self.values, self.value = np.zeros(len(columns)), np.inf
        self.inner_duals, self.inner_weights, self.bound = duals, np.zeros(0), -np.inf
        self.complete = False  # no group is missing from the linear program
        self.finished = False  # nor an inequality that would still raise the bound
        self._gainless, self._bound_at_cut = 0, -np.inf
        self._basis: Basis | None = None
        self._pricer = pricer
        self._known = set(columns.keys())

    def advancing(self, cost: float) -> Steps:
        """Take a step, with interruptions: cut where the linear program is close to its bound, otherwise do a round.

        Parameters
        ----------
        cost : float
            Of the best partition known.
        """
        if self._basis is None:
            yield from self.round()
            return
        gap, size = cost - self.bound, abs(self.value)
        close = max(min(CLOSE_SHARE_OF_GAP * gap, CLOSE_SHARE_OF_VALUE * size), EQUAL_SHARE * size)
        if not self.complete and self.value - self.bound > close:
            yield from self.round()
            return
        gain = self.bound - self._bound_at_cut
        self._gainless = self._gainless + 1 if gain < min(GAIN_SHARE_OF_GAP * gap, GAIN_SHARE_OF_VALUE * size) else 0
        self._bound_at_cut = self.bound
        self.finished = gap <= EQUAL_SHARE * abs(cost) or self._gainless >= MOST_GAINLESS_ROUNDS
        if not self.finished and not (yield from self.cut()):
            self.finished = True

    def steps(self, cost: float) -> Steps:
        """All steps, with interruptions within and between them."""
        while not self.finished:
            yield from self.advancing(cost)
            yield

    def resume(self) -> None:
        """Go on although nothing seemed worth while: the best partition is better now."""
        self.finished, self._gainless = False, 0

    def round(self) -> Steps:
        """Price, add the groups found, solve the linear program."""
        fresh: Ints = np.zeros(0, np.int64)
        far = (self.value - self.bound) / max(abs(self.value), 1e-300) if self._basis else 1.0
        smoothing = min(max(LEAST_SMOOTHING, SMOOTHING_PER_GAP * far), MOST_SMOOTHING)
        for share in (smoothing, 0.0):
            duals = share * self.inner_duals + (1 - share) * self.duals
            weights = share * self.inner_weights + (1 - share) * self.weights
            priced = yield from self._pricer(duals, self.sets, weights)
            bound = float(priced.duals.sum() - weights @ self.sets.limits)
            if bound > self.bound:
                self.bound, self.inner_duals, self.inner_weights = bound, priced.duals, weights
            keys = priced.columns.keys()
            fresh = np.flatnonzero([key not in self._known for key in keys])
            if len(fresh):
                break
        self.complete = self._basis is not None and not len(fresh)
        if not self.complete:
            self._known.update(keys[i] for i in fresh)
            self.columns = self.columns.join(priced.columns.take(fresh))
            yield from self._solve(anew=len(fresh) > FRESH_SHARE_TO_SOLVE_ANEW * len(self.duals), primal=True)

    def cut(self) -> Generator[None, None, int]:
        """Add violated odd set inequalities and solve the linear program; give their number."""
        found = find_violated(self.columns, self.values, len(self.duals))
        if len(found):
            self.sets = self.sets.join(found)
            self.inner_weights = np.concatenate([self.inner_weights, np.zeros(len(found))])
            yield from self._solve(anew=False, primal=False)
            self.complete = False
        return len(found)

    def _solve(self, *, anew: bool, primal: bool) -> Steps:
        n = len(self.duals)
        master = RestrictedMaster(self.columns, self.sets, n)
        if anew or self._basis is None:
            value = yield from master.solving()
        else:
            value = yield from master.solving(self._basis.grow(len(self.columns), n + len(self.sets)), primal=primal)
        if not np.isfinite(value):  # the solver gave up; the bound stays what it is
            self.complete = self.finished = True
            return
        self.values, self.value = master.values, value
        self.duals, self.weights, self._basis = master.duals, master.weights, master.basis

    def save(self) -> State:
        """All that the next rounds depend on; the arrays stay as they are."""
        basis = self._basis or Basis(np.zeros(0, np.int8), np.zeros(0, np.int8))
        state: State = {name: getattr(self, name) for name in (*ARRAYS, *NUMBERS)}
        state |= {"members": self.columns.members, "starts": self.columns.starts, "costs": self.columns.costs}
        state |= {"set_members": self.sets.members, "set_starts": self.sets.starts}
        return state | {"basis_groups": basis.columns, "basis_rows": basis.rows}

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        n = len(self.duals)
        self.columns, self.sets = kept_columns(held, n), kept_sets(held, n)
        lengths = {"duals": n, "inner_duals": n, "values": None, "weights": None, "inner_weights": None}
        for name in ARRAYS:
            # Values and weights may be of a linear program that had fewer columns and sets.
            array = floats(name, held[name], (-1 if lengths[name] is None else n,))
            if len(array) > (len(self.columns) if name == "values" else n + len(self.sets)):
                raise ValueError(f"{name} is longer than what it is of")
            setattr(self, name, array)
        for name in NUMBERS:
            setattr(self, name, type(getattr(self, name))(held[name]))
        self._basis = kept_basis(held, "basis", len(self.columns), n + len(self.sets))
        self._known = set(self.columns.keys())


ARRAYS = ("duals", "weights", "values", "inner_duals", "inner_weights")
NUMBERS = ("value", "bound", "complete", "finished", "_gainless", "_bound_at_cut")


def kept_basis(state: Mapping[str, Any], name: str, columns: int, rows: int) -> Basis | None:
    """A basis that comes from a file, of at most so many columns and rows; None where none was kept."""
    basic = (("groups", columns), ("rows", rows))
    groups, lines = (integers(key, state[f"{name}_{key}"], (-1,), 0, 4).astype(np.int8) for key, _ in basic)
    if len(groups) > columns or len(lines) > rows:
        raise ValueError(f"the basis {name} is larger than its linear program")
    return Basis(groups, lines) if len(lines) else None
