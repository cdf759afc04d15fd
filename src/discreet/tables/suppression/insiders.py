"""A search that also keeps insiders at bay: sole contributors, who know their own cells.

Every insider asks something of every unsafe cell, which makes far more requirements than matter: of those that nobody
has violated, no pattern needs to know. So a search begins with what everybody asks. Now and then its pattern is
attacked as each insider; what it exposes becomes a requirement, and the search goes on from there. A pattern that
exposes nothing is one of the whole problem, a bound of fewer requirements is a bound of all, and where the two meet
the pattern is the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attack.attacker import Attacker
from discreet.attack.insiders import Asked, Insiders, Touched, find_exposed, find_short
from discreet.attack.levels import PROTECTED, levels_of, verdicts
from discreet.attack.system import Bools, Ints
from discreet.data.checks import itemize
from discreet.errors import PromiseNotKept
from discreet.evolution.checks import finite, integers
from discreet.evolution.process import Search, State, inside, part
from discreet.tables.suppression.certificates import pack, unpack_places
from discreet.tables.suppression.components import Components, Method
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import Problem, View, add_views
from discreet.tabular.table import Table
from discreet.text import count

# After so many rounds a pattern is only widened: that ends.
ROUNDS = 20
# Insiders times cells up to which all attacks together take no time to speak of: about a second. So much at a time is
# done of more; and a pattern is then only widened, and looked at in the end only after so many looks.
QUICK, FEW_LOOKS = 20_000, 4


class Watch:
    """What insiders must not learn, and what of it was found to matter.

    Parameters
    ----------
    table : Table
        The table, with the unsafe cells that are to be protected.
    insiders : Insiders
        Its insiders.
    problem : Problem
        The problem without them.
    strict : bool
        Whether levels must be exceeded.
    partial : bool
        Whether to go on where something cannot be kept from an insider; if not, that is an error.

    Attributes
    ----------
    lost
        What no pattern can keep from an insider: the insider, and the cells.
    """

    def __init__(self, table: Table, insiders: Insiders, problem: Problem, *, strict: bool, partial: bool) -> None:
        self._table, self._insiders, self._strict, self._partial = table, insiders, strict, partial
        self._levels = levels_of(table, secondaries=False, strict=strict)
        self._most = np.zeros(len(table), dtype=np.bool_)
        self._most[problem.system.cells] = True
        # The requirements so far: in whose eyes, and of which cells.
        self._asked: set[tuple[int, int]] = set()
        self._views: list[tuple[int, Ints]] = []
        self.lost: dict[int, set[int]] = {}

    @property
    def is_quick(self) -> bool:
        """Whether all insiders are looked at in no time."""
        return len(self._insiders) * int(self._most.sum()) <= QUICK

    def find(self, hidden: Bools) -> list[tuple[int, Asked]]:
        """What a pattern over the cells lets each insider know too closely, but for what none can keep from him."""
        return [(one, asked) for one, asked in self.attack(hidden) if len(asked.cells)]

    def attack(self, hidden: Bools) -> Iterator[tuple[int, Asked]]:
        """The same, one insider after the other, of each what there is."""
        levels, touched = self._levels, Touched(self._insiders, self._levels)
        attacker = Attacker(self._table, hidden)
        cells = attacker.cells
        reach = attacker.reach(levels.seek_down[cells], levels.seek_up[cells], witness=touched)
        safe = verdicts(self._table, levels, cells, reach.down, reach.up) == PROTECTED
        for one, asked in find_exposed(self._insiders, hidden, touched.doubtful(cells[safe]), strict=self._strict):
            yield one, self._without_lost(one, asked)

    def find_again(self, hidden: Bools, exposed: list[tuple[int, Asked]]) -> list[tuple[int, Asked]]:
        """What of that a wider pattern still exposes: what was kept from an insider stays so."""
        found = []
        for one, asked in exposed:
            asked = self._without_lost(one, asked)
            if len(asked.cells):
                asked = asked.only(find_short(self._insiders, one, asked, hidden, strict=self._strict)[0])
            found += [(one, asked)] if len(asked.cells) else []
        return found

    def _without_lost(self, insider: int, asked: Asked) -> Asked:
        return asked.only(~np.isin(asked.cells, list(self.lost.get(insider, ()))))

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All that tells these insiders from others."""
        return [self._insiders.owner, self._insiders.starts, *self._insiders.parts]

    @property
    def victims(self) -> Ints:
        """The cells that cannot be kept from some insider."""
        return np.unique([cell for cells in self.lost.values() for cell in cells]).astype(np.int64)

    def without_lost(self, exposed: list[tuple[Ints, Ints]]) -> list[tuple[Ints, Ints]]:
        """What insiders, each by the cells he knows, can work out, but for what nothing can keep from them."""
        lost = [list(self.lost.get(int(self._insiders.owner[known[0]]), ())) for known, _ in exposed]
        kept = [(known, cells[~np.isin(cells, out)]) for (known, cells), out in zip(exposed, lost, strict=True)]
        return [(known, cells) for known, cells in kept if len(cells)]

    def require(self, problem: Problem, exposed: list[tuple[int, Asked]]) -> Problem:
        """The problem with requirements for what was exposed; what no pattern can keep is noted as lost instead."""
        views = []
        for insider, asked in exposed:
            fresh = asked.only(np.array([(insider, cell) not in self._asked for cell in asked.cells.tolist()]))
            if not len(fresh.cells):
                continue
            short, down, up = find_short(self._insiders, insider, fresh, self._most, strict=self._strict)
            if short.any():
                if not self._partial:
                    raise PromiseNotKept(self._explain_hopeless((insider, fresh.only(short))))
                self.lost.setdefault(insider, set()).update(fresh.cells[short].tolist())
            fresh, down, up = fresh.only(~short), down[~short], up[~short]
            self._asked.update((insider, cell) for cell in fresh.cells.tolist())
            if len(fresh.cells):
                self._views.append((insider, fresh.cells))
                views.append(View(self._insiders.known[insider], *self._with_unit(fresh), down, up))
        return add_views(problem, views, strict=self._strict) if views else problem

    def _explain_hopeless(self, first: tuple[int, Asked]) -> str:
        """The refusal of a table in which something cannot be kept from insiders, whatever is suppressed."""
        # Together with other cells the first may come out as just reached.
        found = self.find(self._most) or [first]
        name, known = self._table.name, self._insiders.known
        pairs = [
            f"{name(int(asked.cells[0]))} from the sole contributor to {name(int(known[one][0]))}"
            for one, asked in found
        ]
        victims = len(np.unique(np.concatenate([asked.cells for _, asked in found])))
        return (
            f"{self._table.source}: the others' part of {count(victims, 'unsafe cell')} cannot be kept from "
            f"{count(len(found), 'sole contributor')}, whatever else is suppressed: {itemize(pairs)}. Beside it are "
            "only cells of the same contributor, or such as are frozen, empty or too small. Let more cells be "
            "suppressed, join codes, go on without them by --partial (partial=True), or leave sole contributors out by "
            "--no-singletons (singletons=False)"
        )

    def _with_unit(self, asked: Asked) -> Asked:
        """What must at least not be known exactly has a range of one unit."""
        unit = 10.0 ** -(self._table.decimals if self._table.decimals is not None else 6)
        return asked._replace(width=np.where(asked.down + asked.up + asked.width == 0, unit, asked.width))

    def save(self) -> State:
        """What has become a requirement, in the order in which it did."""
        return pack([cells for _, cells in self._views]) | {"who": np.array([who for who, _ in self._views], np.int64)}

    def load(self, state: State, problem: Problem) -> Problem:
        """The problem with the requirements that were saved."""
        self._asked.clear()
        self._views.clear()
        views = unpack_places(state, len(self._table))
        who = integers("who", state["who"], (len(views),), 0, len(self._insiders) - 1)
        for insider, cells in zip(who.tolist(), views, strict=True):
            if (np.diff(cells) <= 0).any():
                raise ValueError("the cells of a view must rise")
            problem = self.require(problem, [(insider, self._insiders.asked(insider, cells))])
        return problem


class GuardedSearch(Search[Bools]):
    """The search of a method for a pattern that exposes nothing to insiders either.

    Parameters
    ----------
    method : Method
        The method.
    problem : Problem
        The problem without insiders.
    watch : Watch
        What insiders must not learn.
    seed, previous, threads : int, array of bool, int
        As in `Components`.
    """

    def __init__(
        self, method: Method, problem: Problem, watch: Watch, seed: int, previous: Bools | None, threads: int
    ) -> None:
        self._method, self._watch, self._seed, self._threads = method, watch, seed, threads
        self.problem, self._first = problem, problem
        self._best: Bools | None = None
        self._cost, self._bound = np.inf, 0.0
        self._previous = previous
        self._search = Components(method, problem, seed, previous, threads)
        # When the pattern is looked at next, and in how many epochs after that.
        self._epoch, self._due, self._gap, self._looks = 0, 1, 1, 0
        self._is_done = False

    @property
    def cost(self) -> float:
        """Cost of the best pattern that is known to expose nothing."""
        return self._cost

    @property
    def bound(self) -> float | None:
        """No pattern that exposes nothing costs less; None where nothing is proven."""
        bound = self._search.bound
        return bound if bound is None and not self._bound else max(self._bound, bound or 0.0)

    def prove(self, steps: int) -> None:
        """Bound the cost, as `Components` does."""
        self._search.prove(steps)

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found."""
        return self._is_done

    def answer(self) -> Bools:
        """The best pattern over the columns that is known to expose nothing; before there is any, one that may."""
        return self._search.pattern() if self._best is None else self._best.copy()

    def pattern(self) -> Bools:
        """The best pattern, be it that which the search has just found, widened as far as insiders ask for it."""
        found = self._found()
        # Where attacks take long, another round of them must not take long beside those that were made.
        is_worth_it = self._best is None or self._watch.is_quick or self._looks >= FEW_LOOKS
        if is_worth_it and self.problem.cost(found) < self._cost:
            self._keep(self._widen(found))
        return self.answer()

    def _found(self) -> Bools:
        """What the search has found; when it has just begun with more requirements, what it began with."""
        is_new = self._previous is not None and not np.isfinite(self._search.cost)
        return self._previous.copy() if is_new and self._previous is not None else self._search.pattern()

    def _epochs(self) -> Iterator[None]:
        while not self._is_done:
            if not self._is_look_due:
                next(self._search.epochs(), None)
                self._epoch += 1
            if self._is_look_due:
                yield from self._look()
            yield

    @property
    def _is_look_due(self) -> bool:
        return bool(np.isfinite(self._search.cost)) and (self._search.finished or self._epoch >= self._due)

    def _look(self) -> Iterator[None]:
        """Attack the pattern as every insider; what it exposes becomes part of the problem."""
        found = self._search.pattern()
        hidden, exposed, done = self._over_cells(found), [], 0
        if self.problem.cost(found) < self._cost:
            self._begin_phase()
            for one, asked in self._watch.attack(hidden):
                exposed += [(one, asked)] if len(asked.cells) else []
                done += int(hidden.sum())
                if done > QUICK:
                    done = 0
                    yield
            self._end_phase()
            self._looks += 1
        before = self.problem
        self.problem = self._watch.require(before, exposed) if exposed else before
        if self.problem is before:
            self._keep(self._widen(found) if exposed else found)
        if self.problem is before:
            self._is_done = self._search.finished
            self._gap *= 2
        else:
            self._bound = self.bound or 0.0
            self._previous = found
            self._search = Components(self._method, self.problem, self._seed, found, self._threads)
            self._gap = 1
        self._due = self._epoch + self._gap

    def _keep(self, pattern: Bools) -> None:
        cost = self.problem.cost(pattern)
        if cost < self._cost:
            self._cost, self._best = cost, pattern

    def _widen(self, pattern: Bools) -> Bools:
        """A pattern with what it takes to expose nothing, and without what nothing needs."""
        if not self._watch.is_quick:
            return self._grow(pattern)
        problem = self.problem
        for number in range(2 * ROUNDS):
            exposed = self._watch.find(self._over_cells(pattern))
            if not exposed:
                break
            before, wider = pattern.copy(), self._watch.require(problem, exposed)
            for one in wider.components():
                places = np.searchsorted(wider.system.cells, one.system.cells)
                made = pattern_of(one)
                made.start(before[places])
                made.protect(one.by_level())
                if number < ROUNDS:
                    made.clean()
                pattern[places] = made.suppressed
            if wider is problem and np.array_equal(pattern, before):
                break
            problem = wider
        self.problem = problem
        return pattern

    def _grow(self, pattern: Bools) -> Bools:
        """A pattern with what it takes to expose nothing; what it protects already it goes on to protect."""
        is_whole = np.isfinite(self._search.cost) or self.problem is not self._first
        exposed = self._watch.find(self._over_cells(pattern))
        while exposed:
            before, wider = pattern.copy(), self._watch.require(self.problem, exposed)
            for one in wider.components():
                places = np.searchsorted(wider.system.cells, one.system.cells)
                made, order = pattern_of(one), one.by_level()
                made.start(before[places])
                made.protect(order[~one.outside[order]] if is_whole else order)
                pattern[places] = made.suppressed
            if wider is self.problem and np.array_equal(pattern, before):
                break
            self.problem, is_whole = wider, True
            exposed = self._watch.find_again(self._over_cells(pattern), exposed)
        return pattern

    def _over_cells(self, pattern: Bools) -> Bools:
        hidden = np.zeros(len(self.problem.table), dtype=np.bool_)
        hidden[self.problem.system.cells[pattern]] = True
        return hidden

    def _state(self) -> State:
        state: State = {"cost": self._cost, "bound": self._bound, "is_done": int(self._is_done)}
        state |= {"counts": np.array([self._epoch, self._due, self._gap, self._looks], dtype=np.int64)}
        state |= inside("watch", self._watch.save()) | inside("search", self._search.save())
        state |= {} if self._best is None else {"best": self._best}
        return state if self._previous is None else state | {"previous": self._previous}

    def _restore(self, state: State) -> None:
        held: dict[str, Any] = dict(state)
        self._bound, self._is_done = finite("bound", held["bound"], least=0.0), bool(held["is_done"])
        self._epoch, self._due, self._gap, self._looks = integers("counts", held["counts"], (4,), 0, 2**62).tolist()
        self._best, self._previous = (
            integers(name, held[name], (len(self._first),), 0, 1).astype(np.bool_) if name in held else None
            for name in ("best", "previous")
        )
        self.problem = self._watch.load(part("watch", state), self._first)
        # What a pattern costs is worked out, not believed.
        self._cost = np.inf if self._best is None else self.problem.cost(self._best)
        self._search = Components(self._method, self.problem, self._seed, self._previous, self._threads)
        self._search.load(part("search", state))
