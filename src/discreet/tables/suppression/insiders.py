"""A search that also keeps insiders at bay: sole contributors, who know their own cells.

Every insider asks something of every unsafe cell, which makes far more requirements than matter: of those that nobody
has violated, no pattern needs to know. So a search begins with what everybody asks. Now and then its pattern is
attacked as each insider, and widened by what it takes to keep what that exposes: the result exposes nothing, for what
a pattern keeps a wider one keeps as well. What was exposed becomes a requirement, and the search goes on from there. A
bound of fewer requirements is a bound of all, and where it meets the cost the pattern is the cheapest.

In a large table looks are epochs by themselves, a piece of work each, and are left at what single relations tell: that
is nearly all. The whole attack comes once after the search, with a bounded amount of linear programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.attack.insiders import Asked, Insiders, find_exposed, find_short
from discreet.attack.levels import levels_of
from discreet.attack.system import Bools, Ints
from discreet.data.checks import itemize
from discreet.errors import PromiseNotKept
from discreet.evolution.checks import finite, floats, integers, whole
from discreet.evolution.process import Search, State, inside, part
from discreet.tables.suppression.certificates import pack, unpack_places
from discreet.tables.suppression.components import Components, Method
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import SIZE_CLASSES, Problem, View, add_views
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tabular.table import Table
from discreet.text import count

# Insiders times cells up to which all attacks together take no time to speak of: about a second. Then a look is part of
# an epoch; of more each piece of it is one, and it is left at what single relations tell.
QUICK = 20_000
# A search of a larger table is looked at again when it has got so much cheaper, in parts of the cost; it begins anew,
# with what insiders ask, only once it does not: that takes long.
CHEAPER = 0.95
# How many epochs are between two looks at most.
LONGEST_GAP = 1 << 40
# After the search: how many insiders get linear programs of their own, and for how many requirements of insiders a
# pattern is widened by one each, at most. What is left then is told.
LAST_SINGLES, LAST_PROGRAMS = 30, 300


class Left(NamedTuple):
    """An insider from whom a pattern does not keep, or is not shown to keep, the others in some cells."""

    insider: int
    cells: Ints


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
        self._first = problem
        self._unsafe = np.flatnonzero(levels_of(table, secondaries=False, strict=strict).judged)
        self._most = np.zeros(len(table), dtype=np.bool_)
        self._most[problem.system.cells] = True
        # The requirements so far: in whose eyes, and of which cells.
        self._asked: set[tuple[int, int]] = set()
        self._views: list[tuple[int, Ints]] = []
        self.lost: dict[int, set[int]] = {}

    def __len__(self) -> int:
        return len(self._insiders)

    @property
    def is_quick(self) -> bool:
        """Whether all insiders are looked at in no time."""
        return len(self._insiders) * int(self._most.sum()) <= QUICK

    def attack(
        self, hidden: Bools, *, is_brief: bool = False, most: int | None = None
    ) -> Iterator[tuple[int, Asked] | None]:
        """What a pattern over the cells lets each insider know too closely, but for what none can keep from him.

        In between None is given, after each piece of work; a brief attack takes what single relations tell, and `most`
        says how many insiders get linear programs of their own.
        """
        how = {"strict": self._strict, "is_brief": is_brief, "most": most}
        for one in find_exposed(self._insiders, hidden, self._unsafe, **how):  # type: ignore[arg-type]
            if one is None:
                yield None
            elif len((asked := self._without_lost(*one)).cells):
                yield one[0], asked

    def find(self, hidden: Bools) -> list[tuple[int, Asked]]:
        """The same at once."""
        return [one for one in self.attack(hidden) if one is not None]

    def everybody(self) -> list[tuple[int, Asked]]:
        """All that is asked in the eyes of every insider: what nobody has attacked is not known to be kept."""
        every = ((one, self._insiders.asked(one, self._unsafe)) for one in range(len(self)))
        return [(one, asked) for one, asked in every if len(self._without_lost(one, asked).cells)]

    def find_again(self, hidden: Bools, exposed: Iterable[tuple[int, Asked]]) -> list[tuple[int, Asked]]:
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

    def require(self, problem: Problem, exposed: Iterable[tuple[int, Asked]]) -> Problem:
        """The problem with requirements for what was exposed, those that it has not yet."""
        views = []
        for insider, asked in exposed:
            fresh = asked.only(np.array([(insider, cell) not in self._asked for cell in asked.cells.tolist()]))
            fresh = self._without_lost(insider, fresh)
            if not len(fresh.cells):
                continue
            down, up = fresh.down, fresh.up
            if (fresh.width > down + up).any() or (down + up == 0).any():
                # How a range is divided depends on how far a cell can go at most.
                short, down, up = find_short(self._insiders, insider, fresh, self._most, strict=self._strict)
                if short.any():
                    self._lose(insider, fresh.only(short))
                fresh, down, up = fresh.only(~short), down[~short], up[~short]
            self._asked.update((insider, cell) for cell in fresh.cells.tolist())
            if len(fresh.cells):
                self._views.append((insider, fresh.cells))
                views.append(View(self._insiders.known[insider], *self._with_unit(fresh), down, up))
        return add_views(problem, views, strict=self._strict) if views else problem

    def give_up(self, problem: Problem, failed: Iterable[tuple[int, int]]) -> Problem:
        """The problem without what nothing can keep from an insider, of the insiders and cells that were not kept."""
        hopeless = False
        for insider, cell in dict.fromkeys(failed):
            asked = self._insiders.asked(insider, np.array([cell]))
            if find_short(self._insiders, insider, asked, self._most, strict=self._strict)[0].any():
                self._lose(insider, asked)
                hopeless = True
        if not hopeless:
            return problem
        views, self._views = self._views, []
        self._asked.clear()
        return self.require(self._first, [(who, self._insiders.asked(who, cells)) for who, cells in views])

    def _lose(self, insider: int, asked: Asked) -> None:
        """Take note of what nothing can keep from an insider; without leave to go on that is an error."""
        if not self._partial:
            raise PromiseNotKept(self._explain_hopeless((insider, asked)))
        self.lost.setdefault(insider, set()).update(asked.cells.tolist())

    def words(self, left: Sequence[Left]) -> str:
        """Who is left, in words: how many insiders of how many, and which first."""
        known, name = self._insiders.known, self._table.name
        pairs = [
            f"{name(int(one.cells[0]))} from the sole contributor to {name(int(known[one.insider][0]))}" for one in left
        ]
        cells = len(np.unique(np.concatenate([one.cells for one in left])))
        return (
            f"{len(left):,} of {count(len(self), 'sole contributor')} remain when the search ends, from whom the "
            f"others' part of {count(cells, 'unsafe cell')} is not shown to be kept: {itemize(pairs)}"
        )

    def _explain_hopeless(self, first: tuple[int, Asked]) -> str:
        """The refusal of a table in which something cannot be kept from insiders, whatever is suppressed."""
        # Together with other cells the first may come out as just reached.
        brief = [one for one in self.attack(self._most, is_brief=True) if one is not None]
        found = (self.find(self._most) if self.is_quick else brief) or [first]
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

    def who_views(self, problem: Problem) -> Ints:
        """The insider of each view of a problem of these requirements."""
        who = np.array([one for one, _ in self._views], dtype=np.int64)
        return who[: len(problem.known)]

    def first_views(self, number: int) -> Problem:
        """The problem with the first requirements alone, so many of them."""
        twin = Watch(self._table, self._insiders, self._first, strict=self._strict, partial=self._partial)
        some = self._views[:number]
        return twin.require(self._first, [(who, self._insiders.asked(who, cells)) for who, cells in some])

    def save(self) -> State:
        """What has become a requirement, in the order in which it did."""
        return pack([cells for _, cells in self._views]) | {"who": np.array([who for who, _ in self._views], np.int64)}

    def load(self, state: State, problem: Problem) -> Problem:
        """The problem with the requirements that were saved."""
        self._asked.clear()
        self._views.clear()
        self.lost.clear()
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
        self._method, self.watch, self._seed, self._threads = method, watch, seed, threads
        self.problem, self._first = problem, problem
        self._best: Bools | None = None
        self._cost, self._bound, self._bound_method = np.inf, 0.0, ""
        self._previous = previous
        self._search = Components(method, problem, seed, previous, threads)
        # What a pattern cost that was looked at; when one is looked at next, and in how many epochs after that.
        self._looked_at = np.inf
        self._epoch, self._due, self._gap, self._looks = 0, 1, 1, 0
        # Whether requirements were dropped that nothing can keep: then the search must begin anew.
        self._is_done, self._is_restated = False, False

    @property
    def cost(self) -> float:
        """Cost of the best pattern in which a look has found nothing exposed."""
        return self._cost

    @property
    def bound(self) -> float | None:
        """No pattern that exposes nothing costs less; None where nothing is proven."""
        bound = self._search.bound
        return bound if bound is None and not self._bound else max(self._bound, bound or 0.0)

    @property
    def bound_method(self) -> str:  # type: ignore[override]
        """How the bound was found, in words."""
        is_older = self._search.bound is None or self._bound > self._search.bound
        return self._bound_method if self._bound and is_older else self._search.bound_method

    def prove(self, steps: int) -> None:
        """Bound the cost, as `Components` does, with all that insiders were found to ask."""
        if self._search.problem is not self.problem:
            self._bound_method, self._bound = self.bound_method, self.bound or 0.0
            self._search = Components(self._method, self.problem, self._seed, self._best, self._threads)
        self._search.prove(steps)

    @property
    def finished(self) -> bool:
        """Whether nothing more can be found."""
        return self._is_done

    def answer(self) -> Bools:
        """The best pattern over the columns in which a look found nothing exposed; before there is any, another."""
        return self._search.pattern() if self._best is None else self._best.copy()

    def pattern(self) -> Bools:
        """The best pattern."""
        return self.answer()

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
        if not np.isfinite(self._search.cost):
            return False
        if self._search.finished:
            return True
        is_cheaper = self._search.cost < CHEAPER * self._looked_at
        return self._epoch >= self._due or (is_cheaper and not self.watch.is_quick)

    def _look(self) -> Iterator[None]:
        """Attack the pattern as every insider; what it exposes becomes part of the problem, and the pattern wider."""
        found = self._search.pattern()
        cost, before, is_quick = self.problem.cost(found), self.problem, self.watch.is_quick
        is_falling = cost < CHEAPER * self._looked_at
        pieces = 0
        if cost < self._cost and (cost < self._looked_at or self._search.finished):
            self._begin_phase()
            exposed = []
            for one in self.watch.attack(self._over_cells(found), is_brief=not is_quick):
                exposed += [] if one is None else [one]
                pieces += 1
                if not is_quick:
                    yield
            # Boxes are costly and soon found; programs follow, but for a first pattern that is costly itself.
            is_boxed = len(self.problem) >= SIZE_CLASSES.large and not self.problem.is_network
            for boxed in [True, False] if is_boxed and np.isfinite(self._looked_at) else [is_boxed]:
                for _ in self._grow(found.copy(), exposed, is_boxed=boxed) if exposed else ():
                    pieces += 1
                    if not is_quick:
                        yield
            if not exposed:
                self._keep(found)
            self._end_phase()
            self._looks += 1
        self._looked_at = min(cost, self._looked_at)
        # Looks take no more time than the search between them.
        self._gap = min(max(2 * self._gap, pieces if not is_quick else 0), LONGEST_GAP)
        is_behind = self._search.problem is not self.problem
        if is_behind and (is_quick or self._is_restated or not is_falling or self._search.finished):
            self._is_restated = False
            self._bound_method, self._bound = self.bound_method, self.bound or 0.0
            self._previous = found
            self._search = Components(self._method, self.problem, self._seed, found, self._threads)
            self._looked_at, self._gap = np.inf, max(1, pieces if not is_quick else 1)
        elif self.problem is before:
            self._is_done = self._search.finished
        self._due = self._epoch + self._gap

    def _keep(self, pattern: Bools) -> None:
        cost = self.problem.cost(pattern)
        if cost < self._cost:
            self._cost, self._best = cost, pattern

    def _grow(
        self, pattern: Bools, exposed: list[tuple[int, Asked]], most: int | None = None, *, is_boxed: bool = True
    ) -> Iterator[None]:
        """Widen a pattern until what was exposed is kept from insiders: what it keeps already it goes on to keep.

        In a large table boxes may come first. A linear program ends a piece of the work; after `most` of them it is
        left as it is.
        """
        seen, programs = len(self.problem.known), 0
        self.problem = wider = self.watch.require(self.problem, exposed)
        who, now = self.watch.who_views(wider), [one for one, _ in exposed]
        # Of those who were found just now, what was asked before as well: it may be exposed again.
        is_due = np.array([view >= seen or one in set(now) for view, one in enumerate(who.tolist())], dtype=np.bool_)
        failed: list[tuple[int, int]] = []
        for piece in wider.components():
            places = np.searchsorted(wider.system.cells, piece.system.cells)
            order = piece.by_level()
            order = order[~piece.outside[order]]
            mine = order[is_due[piece.view[order]]]
            if not len(mine):
                continue
            made, begun = pattern_of(piece), pattern[places]
            if is_boxed and not piece.is_network and len(piece) >= SIZE_CLASSES.large:
                boxed = LinearProgramPattern(piece)
                boxed.start(begun)
                boxed.box(mine)
                begun, mine = boxed.suppressed, mine[np.isin(mine, boxed.open)]
            made.start(begun)
            for requirement in mine[np.isin(mine, made.open)].tolist():
                if programs == most:
                    break
                programs += made.protect(np.array([requirement])) >= 0
                yield
            pattern[places] |= made.suppressed
            left = np.intersect1d(mine, made.open)
            failed += zip(who[piece.view[left]].tolist(), piece.system.cells[piece.cell[left]].tolist(), strict=True)
        if failed and programs != most:
            self.problem = self.watch.give_up(wider, failed)
            self._is_restated |= self.problem is not wider
        if not failed or self.problem is not wider:
            self._keep(pattern.copy())

    def guard(
        self, tell: Callable[[int], None], is_over: Callable[[], bool] = lambda: False
    ) -> tuple[Bools, list[Left]]:
        """The last look, after the search: at the best pattern, which is widened once more if need be.

        Parameters
        ----------
        tell : callable
            Listens to how many insiders are left.
        is_over : callable
            Says whether to end as soon as may be; everybody is left then who was not attacked.

        Returns
        -------
        array of bool, list of Left
            The pattern over the columns, and who is left.
        """
        pattern, is_quick = self.answer(), self.watch.is_quick
        if self._best is None and not is_quick:
            exposed = [one for one in self.watch.attack(self._over_cells(pattern), is_brief=True) if one is not None]
            tell(len(exposed))
            for _ in self._grow(pattern, exposed, LAST_PROGRAMS):
                pass
        exposed = self._attack_last(pattern, tell, is_over)
        for _ in self._grow(pattern, exposed, LAST_PROGRAMS) if exposed and not is_over() else ():
            tell(len(exposed))
            if is_over():
                break
        if not exposed or is_over():
            return pattern, [Left(one, asked.cells) for one, asked in exposed]
        hidden = self._over_cells(pattern)
        if is_quick or len(exposed) <= LAST_SINGLES:
            exposed = self.watch.find_again(hidden, exposed)
        else:
            exposed = self._attack_last(pattern, tell, is_over)
        return pattern, [Left(one, asked.cells) for one, asked in exposed]

    def find_left(self, hidden: Bools) -> list[Left]:
        """Who is left in a pattern over the cells of the table, as far as a bounded amount of work shows."""
        return [Left(one, asked.cells) for one, asked in self._attack_all(hidden, lambda: False)]

    def _attack_all(self, hidden: Bools, is_over: Callable[[], bool]) -> list[tuple[int, Asked]]:
        found: list[tuple[int, Asked]] = []
        for one in self.watch.attack(hidden, most=None if self.watch.is_quick else LAST_SINGLES):
            if is_over():
                return self.watch.everybody()
            found += [] if one is None else [one]
        return found

    def _attack_last(
        self, pattern: Bools, tell: Callable[[int], None], is_over: Callable[[], bool]
    ) -> list[tuple[int, Asked]]:
        found = self._attack_all(self._over_cells(pattern), is_over)
        tell(len(found))
        return found

    def _over_cells(self, pattern: Bools) -> Bools:
        hidden = np.zeros(len(self.problem.table), dtype=np.bool_)
        hidden[self.problem.system.cells[pattern]] = True
        return hidden

    def _state(self) -> State:
        is_behind = self._search.problem is not self.problem
        state: State = {"cost": self._cost, "bound": self._bound, "is_done": int(self._is_done)}
        state |= {"counts": np.array([self._epoch, self._due, self._gap, self._looks], dtype=np.int64)}
        state |= inside("watch", self.watch.save()) | inside("search", self._search.save())
        state |= {"looked_at": self._looked_at, "searched": len(self._search.problem.known), "behind": int(is_behind)}
        state |= {"bound_method": self._bound_method} | ({} if self._best is None else {"best": self._best})
        return state if self._previous is None else state | {"previous": self._previous}

    def _restore(self, state: State) -> None:
        held: dict[str, Any] = dict(state)
        self._bound, self._is_done = finite("bound", held["bound"], least=0.0), bool(held["is_done"])
        self._epoch, self._due, self._gap, self._looks = integers("counts", held["counts"], (4,), 0, 2**62).tolist()
        self._bound_method = str(held["bound_method"])
        self._looked_at = float(floats("looked_at", np.array([held["looked_at"]]), (1,), infinite=True)[0])
        self._best, self._previous = (
            integers(name, held[name], (len(self._first),), 0, 1).astype(np.bool_) if name in held else None
            for name in ("best", "previous")
        )
        self.problem = self.watch.load(part("watch", state), self._first)
        # The search may be one of fewer views: those of the looks before it began.
        searched = self.watch.first_views(whole("searched", held["searched"], 0)) if held["behind"] else self.problem
        # What a pattern costs is worked out, not believed.
        self._cost = np.inf if self._best is None else self.problem.cost(self._best)
        self._search = Components(self._method, searched, self._seed, self._previous, self._threads)
        self._search.load(part("search", state))
