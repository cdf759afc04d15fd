"""Lower bounds of tables of middling size that go on rising, and shares of the cells that come near a pattern.

The rows of `Bounds` become a linear relaxation, with their roundings. Then the requirements of the largest levels give
cuts that tell for each cell which way it goes (`exact.directed_cuts`): each by what completes shares cheapest that lie
between the latest ones and the mean of those before, where the cuts are deeper than at the latest ones themselves.

Sub-totals that no cheap pattern suppresses would let everything move far. Where two cells of a relation without unsafe
ones cost so much that patterns with these are nearly out of the question, they are left out, and the bound of what is
left counts up to what patterns with them cost at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.attack.system import Floats, Ints
from discreet.evolution.checks import floats, integers, whole
from discreet.evolution.process import State, inside, part
from discreet.kernels.covering import Rows
from discreet.solvers.tolerances import LEVEL, VIOLATION
from discreet.tables.suppression.bounds import STEPS, Bounds
from discreet.tables.suppression.exact.cuts import Cut, load_cuts, rounded, save_cuts
from discreet.tables.suppression.exact.directed_cuts import DirectedCuts, has_directions
from discreet.tables.suppression.exact.master import Relaxation, scale_for
from discreet.tables.suppression.problem import Problem

# Rounds of steps of `Bounds`, whose rows become the relaxation; of these, with its shares, those that lack no more.
ROUNDS_OF_ROWS, NEARLY_BINDING = 8, 0.2
# How many requirements give cuts that know directions, the heaviest.
HEAVIEST = 24
# For how many rounds one rests whose shares took so small a part to complete of what others took.
RESTS = ((0.02, 12), (0.1, 6), (0.3, 3), (np.inf, 1))
# How much of the mean of shares before is in those that cuts are sought for, and how much of the latest in that mean.
MEAN, LATEST = 0.8, 0.2
# Rounds of the relaxation at most until cuts that know directions are sought again, and what one must gain for another,
# in parts of the bound.
ROUNDS, LEAST_GAIN = 10, 4e-5
# For how many rounds cuts are kept in mind that do not bind.
KEPT = 5
# Cells are left out if patterns with them close so much of the gap between the bound and the best cost.
OUT_OF_QUESTION = 0.5


class RowCuts:
    """The rows of `Bounds` as cuts, with further ones.

    Parameters
    ----------
    capacities : list of Cut
        Sums of capacities.
    pairs : list of array
        Columns of relations without an unsafe cell: none or several of each are suppressed.
    """

    def __init__(self, capacities: list[Cut], pairs: list[Ints]) -> None:
        self.capacities, self.pairs = capacities, pairs
        self.lately: list[list[Cut]] = []

    def cuts(self, share: Floats) -> list[Cut]:
        """Those that shares violate."""
        every = [*self.capacities, *(cut for found in self.lately for cut in found)]
        found = [cut for cut in every if cut.lacks(share) > VIOLATION]
        for columns in self.pairs:
            mine = share[columns]
            most = int(np.argmax(mine))
            if 2.0 * mine[most] > mine.sum() + VIOLATION:
                factors = np.ones(len(columns))
                factors[most] = -1.0
                found.append(Cut(columns, factors, 0.0))
        return found


class DirectedBounds:
    """A lower bound of a problem that is valid at any time and rises with each round.

    Parameters
    ----------
    problem : Problem
        The problem; every requirement can be protected. See `can_be_directed`.

    Attributes
    ----------
    rounds
        How many rounds of cuts that know directions there were.
    value
        No pattern that protects the problem costs less.
    """

    def __init__(self, problem: Problem) -> None:
        self.rounds, self.value = 0, 0.0
        self._problem = problem.any_split()
        self._able = np.ones(len(problem), dtype=np.bool_)
        # What patterns with columns that are left out cost at least.
        self._beyond = np.inf
        self._row_cuts = RowCuts([], [])
        self._relaxation: Relaxation | None = None
        self._share = self._mean = problem.primary.astype(np.float64)
        self._separators: list[DirectedCuts] = []
        self._due = np.zeros(0, np.int64)
        self._saved: State | None = None

    @property
    def is_prepared(self) -> bool:
        """Whether there is a relaxation."""
        return len(self._separators) > 0

    @property
    def shares(self) -> Floats:
        """How much of each column the relaxation takes, on the mean of some rounds: all of the primary ones."""
        return self._mean

    def prepare(self, cost: float) -> Iterator[None]:
        """Make the relaxation; a pattern is known that costs so much."""
        bounds = Bounds(self._problem)
        bounds.raise_prices(STEPS)
        for _ in range(ROUNDS_OF_ROWS):
            yield
            if not bounds.add_cuts():
                break
            bounds.raise_prices(STEPS)
        self.value = bounds.value
        self._row_cuts = _row_cuts(bounds.rows)
        self._relaxation = Relaxation(self._problem, scale_for(cost), self._row_cuts)
        near = [cut for cut in self._row_cuts.capacities if cut.lacks(bounds.shares) > -NEARLY_BINDING]
        self._relaxation.require(near)
        yield
        self._leave_out(*self._solve(), cost)
        self._solve()
        self._mean = self._share
        self._begin_separators(self._problem.by_level()[:HEAVIEST])
        yield

    def refine(self) -> Iterator[None]:
        """A round: cuts of the requirements that are due, one in each step, and the relaxation with them."""
        self._saved = None
        self._settle()
        between = MEAN * self._mean + (1.0 - MEAN) * self._share
        found = []
        for at in np.flatnonzero(self._due <= self.rounds).tolist():
            cut = self._separators[at].cut(between)
            if cut is not None and cut.lacks(self._share) > VIOLATION:
                found.append(cut)
            yield
        lacking = np.array([one.lacking for one in self._separators])
        most = float(lacking[np.isfinite(lacking)].max(initial=LEVEL))
        for at in np.flatnonzero(self._due <= self.rounds).tolist():
            self._due[at] = self.rounds + next(rest for share, rest in RESTS if lacking[at] <= share * most)
        roundings = [cut for one in found if (cut := rounded(one, self._share)) is not None]
        self._row_cuts.lately = [*self._row_cuts.lately[1 - KEPT :], found]
        self._held.require(found + roundings)
        self._solve()
        self._mean = (1.0 - LATEST) * self._mean + LATEST * self._share
        self.rounds += 1
        yield

    @property
    def _held(self) -> Relaxation:
        if self._relaxation is None:
            raise AssertionError("prepare comes first")
        return self._relaxation

    def _leave_out(self, bound: float, reduced: Floats, cost: float) -> None:
        """Leave columns out that are nearly out of the question, by their reduced costs at a bound.

        A relation without an unsafe cell has none or several suppressed: two of them at least come on top of the bound.
        """
        system, primary = self._problem.system, self._problem.primary
        least = bound + OUT_OF_QUESTION * (cost - bound)
        for begin, end in zip(system.starts[:-1].tolist(), system.starts[1:].tolist(), strict=True):
            columns = system.columns[begin:end]
            if end - begin > 1 and not primary[columns].any():
                with_two = (bound + float(np.sort(np.maximum(reduced[columns], 0.0))[:2].sum())) * (1.0 - LEVEL)
                if with_two >= least:
                    self._able[columns] = False
                    self._beyond = min(self._beyond, with_two)
        self._held.master.within(primary.astype(np.float64), self._able.astype(np.float64))

    def _solve(self) -> tuple[float, Floats]:
        """Solve the relaxation with its rows and their roundings, as long as that brings something.

        Returns
        -------
        float, array of float
            The last bound of patterns without what is left out, and the reduced costs at it.
        """
        relaxation, before = self._held, 0.0
        for _ in range(ROUNDS):
            found = relaxation.round()
            if not np.isfinite(found.bound):
                # No pattern is left but those with what is left out.
                self.value = max(self.value, self._beyond if np.isfinite(self._beyond) else 0.0)
                return 0.0, np.zeros(len(self._problem))
            self._share = found.share
            self.value = max(self.value, min(found.bound * (1.0 - LEVEL), self._beyond))
            if not found.added or found.bound < before * (1.0 + LEAST_GAIN):
                break
            before = found.bound
        return found.bound, found.reduced

    def _settle(self) -> None:
        """Make the relaxation anew from what is saved: the solver holds more than its basis tells."""
        self._held.keep_rows_only()
        self._held.load(self._held.save())

    def _begin_separators(self, requirements: Ints) -> None:
        self._separators = [DirectedCuts(self._problem, at, self._able) for at in requirements.tolist()]
        self._due = np.zeros(len(requirements), np.int64)

    def save(self) -> State:
        """All that the next rounds depend on."""
        if self._relaxation is None:
            return {"rounds": -1}
        if self._saved is not None:
            return self._saved
        self._held.keep_rows_only()
        pairs, lately = self._row_cuts.pairs, self._row_cuts.lately
        state: State = {
            "rounds": self.rounds,
            "value": self.value,
            "beyond": self._beyond,
            "scale": self._held.scale,
            "able": self._able,
            "share": self._share,
            "mean": self._mean,
            "due": self._due.copy(),
            "pairs": np.concatenate([np.zeros(0, np.int64), *pairs]),
            "sizes": np.array([len(one) for one in pairs], dtype=np.int64),
            "lately": len(lately),
        }
        state |= inside("relaxation", self._held.save()) | inside("capacities", save_cuts(self._row_cuts.capacities))
        for at, cuts in enumerate(lately):
            state |= inside(f"lately{at}", save_cuts(cuts))
        for at, one in enumerate(self._separators):
            state |= inside(f"separator{at}", one.save())
        self._saved = state
        return state

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        held: dict[str, Any] = dict(state)
        if held["rounds"] == -1:
            return
        count = len(self._problem)
        self.rounds = whole("rounds", held["rounds"], 0)
        self.value, self._beyond = (
            float(floats(name, np.asarray(held[name], np.float64), (), infinite=True)) for name in ("value", "beyond")
        )
        self._able = integers("able", held["able"], (count,), 0, 1).astype(np.bool_)
        self._share, self._mean = (np.clip(floats(name, held[name], (count,)), 0.0, 1.0) for name in ("share", "mean"))
        sizes = integers("sizes", held["sizes"], (-1,), 2, count)
        pairs = integers("pairs", held["pairs"], (int(sizes.sum()),), 0, count - 1)
        self._row_cuts = RowCuts(load_cuts(part("capacities", state), count), np.split(pairs, np.cumsum(sizes))[:-1])
        self._row_cuts.lately = [
            load_cuts(part(f"lately{at}", state), count) for at in range(whole("lately", held["lately"], 0))
        ]
        scale = float(floats("scale", np.asarray(held["scale"], np.float64), ()))
        self._relaxation = Relaxation(self._problem, scale, self._row_cuts)
        self._relaxation.load(part("relaxation", state))
        self._begin_separators(self._problem.by_level()[:HEAVIEST])
        self._due = integers("due", held["due"], self._due.shape, 0, 2**62)
        for at, one in enumerate(self._separators):
            one.load(part(f"separator{at}", state))


def can_be_directed(problem: Problem) -> bool:
    """Whether a problem has cuts that know directions."""
    return has_directions(problem) and bool(problem.outside.all()) and not len(problem.ranged)


def _row_cuts(rows: Rows) -> RowCuts:
    """Rows as cuts: one for each capacity that is wanted, or a pair."""
    capacities, pairs = [], []
    for row in range(len(rows.starts) - 1):
        entries = slice(rows.starts[row], rows.starts[row + 1])
        columns = rows.columns[entries]
        order = np.argsort(columns)
        wishes = ((rows.first[entries], rows.first_wanted[row]), (rows.second[entries], rows.second_wanted[row]))
        if all(wanted <= 0.0 for _, wanted in wishes):
            pairs.append(columns[order])
        for gives, wanted in wishes:
            kept = order[gives[order] > 0.0]
            if wanted > 0.0:
                capacities.append(Cut(columns[kept], np.minimum(gives[kept] / wanted, 1.0), 1.0, capacity=True))
    return RowCuts(capacities, pairs)
