"""The search where every step is a linear program: safe at once, then cheaper, one linear program at a time.

A linear program pays for the moves of cells, not for cells; what a build takes early is costly in hindsight. Built
again with the cells of the best pattern at a discount, in another order, and then once more with the cells taken only,
patterns get cheaper at nearly every round, and by more than cell by cell. From the first on, builds are led by a
relaxation of all requirements together (`bounds`): cells that it takes cost next to nothing.

In a large table whose codes add up in one way, programs of the whole table pay for cells (`splitting`). There patterns
are built by these again and again, each followed by one of its cells alone. A table of three dimensions and middling
size has some of them after its first rebuild, if the relaxation comes near the cost. Then a stronger one is worked out
(`directed_bounds`), and at times a family of patterns that it leads is bred (`families`): a child is built of the cells
of two good ones alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from discreet.attack.system import Bools, Floats, Ints
from discreet.evolution.checks import floats, integers, whole
from discreet.evolution.process import State, inside, part
from discreet.evolution.stops import Place
from discreet.kernels.random import below, uniform
from discreet.tables.suppression.baselines import cover_by_hypercubes
from discreet.tables.suppression.bounds import Bounds
from discreet.tables.suppression.directed_bounds import DirectedBounds, can_be_directed
from discreet.tables.suppression.program_pattern import LinearProgramPattern, Sweep
from discreet.tables.suppression.search.families import Families, Stage
from discreet.tables.suppression.search.incumbent import CYCLES, PatternSearch
from discreet.tables.suppression.slices import PairedSlices

# What cells of a previous pattern cost in the first build, in parts of their weight.
PREVIOUS_DISCOUNT = 0.7
# Between these is what cells of the best pattern cost in a rebuild, in parts of their weight.
LEAST_DISCOUNT, MOST_DISCOUNT = 0.5, 0.9
# What cells that the relaxation takes wholly cost in the first build, and between what they do in a rebuild.
GUIDED, LEAST_GUIDED, MOST_GUIDED = 1e-3, 1e-4, 0.1
# Steps of prices before the relaxation guides.
GUIDING_STEPS = 200
# So often the better of rebuilds and repairs goes on before the other has a chance again.
TURNS_OF_THE_BETTER = 3
# What cells that a pattern by slices does without cost in a sweep of it, in times of their weight; and after how many
# rebuilds by slices without a gain linear programs take over.
OTHERS_IN_SWEEPS, IDLE_REBUILDS = 100.0, 3
# What a pattern that slices complete may cost to be swept, in parts of the best one's cost.
SWEPT = 1.02
# What a unit of a move that protects another requirement is worth in the first programs of a whole table, in parts of
# the median weight; then it grows with each program, so many times at most. The last requirements are small.
BONUSES_OF_WHOLES, BONUS_GROWTH, MOST_GROWTH = (1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0), 1.2, 1e4
# How often a route is rerouted that costs a quarter of what the pattern does with it or more; less often if it costs
# less. What costs less than so large a part stays as it is.
TRIES, TRIES_OF_LIGHT, LIGHT = 60, 4, 0.01
# What is built by programs of the whole table is completed after so many of them, and after so many times as many.
FIRST_COMPLETION, COMPLETION_GROWTH = 8, 4
# Programs of the whole table end, but for the first ones, with one that protects fewer requirements than this.
FEWEST_CLOSED = 3
# Where not all patterns are built by programs of the whole table, some are if the first bound is so much of the cost.
NEAR = 0.7
# How many patterns are built by programs of the whole table in a row, where not all are: those that choose from the one
# before among them.
WHOLES = 4
# After how many rounds of the stronger relaxation a family is bred that it leads; with the last round it ends.
FAMILIES_AFTER = (6, 20, 36)
# How far prices differ in the builds of a family, what cells of both parents cost, in parts of their weight, how often
# to reroute, as `TRIES`, and what a child may cost that is not given up, in parts of what the costliest elite does.
DIFFER, SHARED, TRIES_OF_CROSSED, CHILD_COSTLIER = 0.1, 1e-3, 20, 1.008
# What a rebuild of a whole table may cost before it is given up, in parts of the best one's cost.
COSTLIER = 1.05
# At least so many linear programs are solved by repairs in a row where the problem is tiny.
PROGRAMS_OF_TINY_REPAIRS = 500


class LinearProgramSearch(PatternSearch):
    """A pattern by boxes, cheaper ones by sweeps; then rebuilds and repairs, whichever saves more per linear program.

    Parameters
    ----------
    pattern : LinearProgramPattern
        A pattern of the problem.
    seed : int
        Seed of the random numbers.
    previous : array of bool, optional
        A pattern over the columns to begin with.
    most, heat : int, float
        See `Search`.
    """

    pattern: LinearProgramPattern
    bound_method = "directed cuts"

    def __init__(
        self, pattern: LinearProgramPattern, seed: int, previous: Bools | None = None, *, most: int, heat: float
    ) -> None:
        super().__init__(pattern, seed, previous, heat)
        self._most = most
        columns, sizes = len(self.problem), pattern.sizes
        # Up to so many columns both orders are tried. Beyond, a rebuild takes minutes, longest with small levels first.
        self._is_small, self._is_tiny = columns <= sizes.small, columns < sizes.tiny
        self._is_safe, self._swept = False, 0
        # Patterns built by slices, and how many lately gained nothing.
        self._sliced, self._idle = 0, 0
        # Builds by programs of the whole table, those that choose from the one before among them.
        self._turns_of_wholes = 0
        is_directed = pattern.is_split and not pattern.is_vast and can_be_directed(self.problem)
        self._directed = DirectedBounds(self.problem) if is_directed else None
        self._families = Families(self.problem)
        self._completion_due = 0
        self._rebuilds, self._repairs, self._programs_of_turn = 0, 0, 0
        # Of rebuilds and of repairs: what a program saved last time, and how often it was the other's turn since.
        self._saved, self._waited = [0.0, np.inf], [0, 0]

    def _epochs(self) -> Iterator[None]:
        if not self._is_safe:
            self._begin_phase()
            self._protect_by_boxes()
            if self.pattern.is_sliced or (self.pattern.is_split and not self._unprotectable):
                yield
        if self.pattern.is_sliced and not self._unprotectable and self._sliced == 0:
            yield from self._build_by_slices(1)
        if self._is_split and self.pattern.is_vast:
            yield from self._build_wholes()
        elif self.pattern.is_sliced and not self._unprotectable:
            yield from self._build_by_slices()
        if self._swept == 0 and self.pattern.is_single_minded and self._previous is None:
            yield from self._build_on_hypercubes()
        while self._swept < len(self._first_sweeps):
            yield from self._sweep(self._first_sweeps[self._swept])
        while True:
            if self._rebuilds and self._is_split:
                yield from self._build_wholes()
            self._begin_phase()
            yield from self._rebuild() if self._is_rebuild_due else self._repair()

    @property
    def _is_split(self) -> bool:
        """Whether patterns are built by programs of the whole table: where other ways take long, or these are led well.

        A relaxation far below what patterns cost tells little of them.
        """
        if not self.pattern.is_split or self._unprotectable:
            return False
        return self.pattern.is_vast or self._turns_of_wholes > 0 or self._first_relaxation.value >= NEAR * self._cost

    # The first build: a safe pattern at once, then cheap ones.

    @property
    def _first_sweeps(self) -> tuple[Sweep, ...]:
        """The first may take any cells, the others those of the pattern only."""
        build = Sweep(is_rising=False, parts=self._parts(self._previous, PREVIOUS_DISCOUNT, GUIDED))
        return (build, *self.pattern.first_sweeps)

    @property
    def _shares(self) -> Floats:
        """How much of each cell a relaxation takes: it minds all requirements, a linear program one."""
        return self._directed.shares if self._directed is not None and self._directed.rounds else self._first_shares

    @cached_property
    def _first_relaxation(self) -> Bounds:
        bounds = Bounds(self.problem, 0)
        bounds.raise_prices(GUIDING_STEPS)
        return bounds

    @cached_property
    def _first_shares(self) -> Floats:
        return self._first_relaxation.shares

    def _parts(self, pattern: Bools | None, discount: float, least: float) -> Floats:
        """What cells cost in a build, in parts of their weight: less in a pattern, and what the relaxation takes."""
        parts = np.maximum(least, (1.0 - self._shares) ** 2)
        return parts if pattern is None else np.where(pattern, np.minimum(parts, discount), parts)

    def _protect_by_boxes(self) -> None:
        self.pattern.start(self._previous)
        self.pattern.protect_by_boxes(self.problem.by_level())
        self._unprotectable = len(self.pattern.open)
        self._keep(self.pattern.suppressed)
        self._is_safe = True

    def _build_wholes(self) -> Iterator[None]:
        """Patterns by programs of the whole table: all where other ways take long, or the first ones.

        Where the stronger relaxation can be had, its rounds follow, and families that it leads: some while it is worked
        out, then one after each rebuild.
        """
        while self.pattern.is_vast or self._turns_of_wholes < WHOLES:
            yield from self._build_whole()
        directed = self._directed
        if directed is None:
            return
        while True:
            yield from self._breed(sum(rounds <= directed.rounds for rounds in FAMILIES_AFTER))
            if directed.rounds >= FAMILIES_AFTER[-1]:
                break
            self._begin_phase()
            if not directed.is_prepared:
                yield from directed.prepare(self._cost)
            yield from directed.refine()
        yield from self._breed(len(FAMILIES_AFTER) - 1 + max(1, self._rebuilds))

    def _build_whole(self) -> Iterator[None]:
        """A pattern by programs of the whole table; in every other turn, one of the cells of the last pattern alone.

        What came first may do without what came last.
        """
        self._begin_phase()
        pattern, weight = self.pattern, self.problem.weight
        is_first, is_confined = self._turns_of_wholes == 0, self._turns_of_wholes % 2 == 1
        self._turns_of_wholes += 1
        if is_confined:
            yield from self._confine()
        else:
            parts = self._parts(self._previous, PREVIOUS_DISCOUNT, GUIDED) if is_first else self._varied_parts()
            prices = parts * weight
            pattern.start()
            most, tries = (np.inf, 0) if is_first else (COSTLIER * self._cost, TRIES)
            yield from self._protect_whole(prices, most, tries, is_completed=is_first)
            if len(pattern.waiting(self.problem.by_level())):
                # It was given up: there is nothing to choose from.
                self._turns_of_wholes += 1
            else:
                self._keep(pattern.suppressed)
        if not pattern.is_vast and self._turns_of_wholes >= WHOLES:
            self._return_to_best()
        yield

    def _confine(self) -> Iterator[None]:
        """A pattern by programs of the cells of the one at hand alone."""
        pattern = self.pattern
        prices = np.where(pattern.suppressed, self.problem.weight, np.inf)
        most = self._cost if pattern.is_vast else np.inf
        pattern.begin_sweep(Sweep(is_rising=False))
        yield from self._protect_whole(prices, most, 0, is_completed=False)
        pattern.end_sweep()
        self._keep(pattern.suppressed)

    def _breed(self, most: int) -> Iterator[None]:
        """Families until so many were begun, and the last is done."""
        families = self._families
        while families.begun < most or families.stage != Stage.RESTING:
            self._begin_phase()
            if families.stage == Stage.RESTING:
                families.begin()
            yield from self._build_for_family()
            if families.stage == Stage.RESTING:
                self._return_to_best()
            yield

    def _build_for_family(self) -> Iterator[None]:
        """A member led by the relaxation, or one of the cells of two alone, those of both being cheap.

        Each is followed by one of its own cells alone.
        """
        pattern, order, families = self.pattern, self.problem.by_level(), self._families
        random = np.random.default_rng(below(self._random, 2**32))
        differ = np.exp(random.normal(0.0, DIFFER, len(self.problem)))
        if families.stage == Stage.GROWING:
            prices, most, tries = self._parts(None, 1.0, GUIDED), np.inf, TRIES
        else:
            one, other = families.pair(self._random)
            prices = np.where(one & other, SHARED, np.where(one | other, 1.0, np.inf))
            most, tries = CHILD_COSTLIER * families.most, TRIES_OF_CROSSED
        pattern.start()
        yield from self._protect_whole(prices * differ * self.problem.weight, most, tries, is_completed=False)
        if not len(pattern.waiting(order)):
            yield from self._confine()
        families.take(None if len(pattern.waiting(order)) else pattern.suppressed)

    def _varied_parts(self) -> Floats:
        """What cells cost in a rebuild, in parts of their weight: less in a pattern and in the relaxation.

        In large tables that is the best pattern, in others the one at hand: what is built anew need not come back.
        """
        discount = LEAST_DISCOUNT + (MOST_DISCOUNT - LEAST_DISCOUNT) * uniform(self._random)
        guided = LEAST_GUIDED * (MOST_GUIDED / LEAST_GUIDED) ** uniform(self._random)
        is_best = self.pattern.is_vast or len(self.pattern.waiting(self.problem.by_level())) > 0
        return self._parts(self._best if is_best else self.pattern.suppressed, discount, guided)

    def _protect_whole(self, prices: Floats, most: float, tries: int, *, is_completed: bool) -> Iterator[None]:
        """Protect everything by programs of the whole table, the heaviest first; what costs too much is given up.

        Parameters
        ----------
        prices : array of float
            What each column costs; infinite where it must not be suppressed.
        most : float
            What the pattern may cost.
        tries : int
            How often to try and reroute what costs as much as the whole pattern; less for what costs less.
        is_completed : bool
            Whether what there is now and then is made safe at once.
        """
        pattern, order = self.pattern, self.problem.by_level()
        programs, due, closed, built = 0, FIRST_COMPLETION, len(order), self._turns_of_wholes + self._families.builds
        while len(waiting := pattern.waiting(order)) and pattern.cost < most:
            route = None
            if programs < FIRST_COMPLETION or closed >= FEWEST_CLOSED:
                route = pattern.route(int(waiting[0]), _bonus_of_whole(programs), prices)
                yield
            if route is None:
                # What is left protects nothing else, or is not found: programs of a part of the table take less time.
                if pattern.protect(waiting, 1):
                    break
                yield
                continue
            share = route.taken / (pattern.cost + route.taken) if route.taken else 0.0
            for tried in range(min(tries, int(TRIES_OF_LIGHT * tries * share))):
                route = pattern.reroute(route, [built, int(waiting[0]), tried]) or route
                yield
            if share > LIGHT:
                route = pattern.at_vertex(route)
                yield
            pattern.take_route(route, int(waiting[0]), order)
            closed = len(waiting) - len(pattern.waiting(order))
            programs += 1
            yield
            if is_completed and programs >= due:
                due *= COMPLETION_GROWTH
                yield from self._complete_whole(order)

    def _complete_whole(self, order: Ints) -> Iterator[None]:
        """What is built so far, made safe by slices where they come first, or else by boxes."""
        pattern = self.pattern
        if len(pattern.waiting(order)) and pattern.is_sliced and PairedSlices(self.problem).usable:
            closed = np.setdiff1d(np.arange(self.problem.requirements), pattern.open)
            yield from self._protect_by_slices(self.problem.weight, begun=(pattern.suppressed, closed))
        elif (found := pattern.complete_by_boxes()) is not None:
            self._keep(found)
        yield

    def _build_by_slices(self, most: int | None = None) -> Iterator[None]:
        """Where linear programs take long, flows in pairs of slices cost far less than boxes, built again and again.

        A rebuild has the cells of the best pattern at a discount, and is swept whether it is costlier or not.
        """
        is_usable = PairedSlices(self.problem).usable
        while is_usable and self._idle < IDLE_REBUILDS and self._sliced != most:
            self._begin_phase()
            weight, cost = self.problem.weight, self._cost
            if self._sliced and self._best is not None:
                discount = LEAST_DISCOUNT + (MOST_DISCOUNT - LEAST_DISCOUNT) * uniform(self._random)
                weight = np.where(self._best, discount * weight, weight)
            yield from self._protect_by_slices(weight, is_swept=self._sliced > 0)
            self._sliced += 1
            self._idle = 0 if self._cost < cost else self._idle + 1
            yield

    def _protect_by_slices(
        self, weight: Floats, *, is_swept: bool | None = None, begun: tuple[Bools, Ints] | None = None
    ) -> Iterator[None]:
        """A pattern by slices, swept with its own cells, small levels first; if not told, where that may pay."""
        slices = PairedSlices(self.problem)
        cost = self._cost
        for is_rising in (False, True):
            yield from slices.protect(weight, is_rising=is_rising, begun=begun)
            found = slices.complete()
            if found is None:
                break
            self._keep(found)
            if not (self.problem.cost(found) < SWEPT * cost if is_swept is None else is_swept):
                break
            weight = np.where(found, 1.0, OTHERS_IN_SWEEPS) * self.problem.weight

    def _build_on_hypercubes(self) -> Iterator[None]:
        """In place of the first sweep: the hypercube method, a linear program at a time, for what hypercubes leave."""
        self._begin_phase()
        pattern, order = self.pattern, self.problem.by_level()
        covered, left = cover_by_hypercubes(self.problem)
        pattern.start(covered)
        yield
        failed = 0
        while len(waiting := pattern.waiting(left)) and not failed:
            failed = pattern.protect(waiting, 1)
            yield
        while len(waiting := pattern.waiting(order)) and not failed:
            failed = pattern.certify(waiting, 1)
            yield
        self._swept = 1
        if failed:
            self._return_to_best()
        else:
            self._keep(pattern.suppressed)
        yield

    def _sweep(self, sweep: Sweep) -> Iterator[None]:
        """Protect all requirements anew, a linear program at a time.

        What is not protected yet rests on the pattern before, so that the search can be stopped at any time.
        """
        self._begin_phase()
        order = self.pattern.begin_sweep(sweep)
        yield
        while len(waiting := self.pattern.waiting(order)):
            if self.pattern.protect(waiting, 1):
                # Rounding stands in the way of what boxes could do: go on from their pattern.
                self._swept = len(self._first_sweeps)
                self._return_to_best()
                yield
                return
            self._keep(self.pattern.safe)
            if self._swept == 0:
                self._complete()
            yield
        self.pattern.end_sweep()
        self._keep(self.pattern.suppressed)
        self._swept += 1
        if self._swept == len(self._first_sweeps):
            self._return_to_best()
            yield

    def _complete(self) -> None:
        """Now and then in the first sweep: what there is, made safe at once by boxes."""
        if self.pattern.solved >= self._completion_due:
            self._completion_due = self.pattern.solved + max(3, self.pattern.solved // 4)
            found = self.pattern.complete_by_boxes()
            if found is not None:
                self._keep(found)

    # Then rebuilds and repairs.

    @property
    def _is_rebuild_due(self) -> bool:
        """Whether it is the turn of a rebuild: that goes on which saved more per linear program lately."""
        # In a tiny problem repairs get further from a pattern that is not yet lean.
        if self._is_small and not self._is_tiny and self._rebuilds < 2:
            return True
        if max(self._waited) >= TURNS_OF_THE_BETTER:
            return self._waited[0] >= TURNS_OF_THE_BETTER
        return self._saved[0] > self._saved[1]

    def _note_turn(self, which: int, gain: float, programs: int) -> None:
        self._saved[which] = gain / max(programs, 1)
        self._waited[which] = 0
        self._waited[1 - which] += 1

    def _rebuild(self) -> Iterator[None]:
        """Build a pattern anew with the cells of the one at hand at a discount, then sweep it in the other order."""
        pattern = self.pattern
        mark, cost, begun = pattern.mark, pattern.cost, pattern.solved
        is_rising = self._is_small and self._rebuilds % 2 == 0
        self._rebuilds += 1
        discount = LEAST_DISCOUNT + (MOST_DISCOUNT - LEAST_DISCOUNT) * uniform(self._random)
        guided = LEAST_GUIDED * (MOST_GUIDED / LEAST_GUIDED) ** uniform(self._random)
        has_failed = False
        for sweep in (Sweep(is_rising, self._parts(pattern.suppressed, discount, guided)), Sweep(not is_rising)):
            order = pattern.begin_sweep(sweep)
            yield
            while len(waiting := pattern.waiting(order)) and not has_failed:
                has_failed = pattern.protect(waiting, 1) > 0
                if not has_failed:
                    yield
            if sweep.parts is None or has_failed:
                pattern.end_sweep(cost)
                break
            # Costlier or not, its cells are what the second sweep chooses from.
            pattern.end_sweep(np.inf)
        if pattern.cost > cost:
            pattern.return_to(mark)
        self._programs_of_turn = pattern.solved - begun
        self._note_turn(0, cost - pattern.cost, self._programs_of_turn)
        self._end_epoch(self._place)
        yield

    def _repair(self) -> Iterator[None]:
        """Repair cell by cell, with as many linear programs as a rebuild took, or all before the first one."""
        pattern = self.pattern
        cost, spent = pattern.cost, 0
        least = PROGRAMS_OF_TINY_REPAIRS if self._is_tiny else 0
        self._programs_of_turn = most = max(self._programs_of_turn or pattern.solved, least)
        self._end_epoch(self._place)
        yield
        while True:
            before, place = pattern.solved, self._place
            pattern.improve(self._random, 1, self._most, self._heat_at(place))
            self._repairs += 1
            # A repair that finds nothing to solve counts as well.
            spent += max(pattern.solved - before, 1)
            is_last = spent >= most
            if is_last:
                self._note_turn(1, cost - pattern.cost, spent)
            self._end_epoch(place)
            yield
            if is_last:
                return

    @property
    def _place(self) -> Place:
        """Where the repairs stand in their cycles."""
        return CYCLES.place(self._repairs // 2)

    def _end_epoch(self, place: Place) -> None:
        """Keep what is better, and go back to the best at the end of a cycle of repairs."""
        self._keep(self.pattern.suppressed)
        if place.last:
            self._return_to_best()

    @property
    def bound(self) -> float | None:
        """No pattern costs less, if the stronger relaxation is there that tells."""
        return min(self._directed.value, self._cost) if self._directed is not None and self._directed.value else None

    def _tidy_up(self) -> None:
        """Nothing: rebuilds and repairs do it."""

    def _state(self) -> State:
        counts = [self._swept, self._completion_due, self._rebuilds, self._repairs, self._programs_of_turn]
        state = super()._state() | inside("pattern", self.pattern.save())
        if self._directed is not None:
            state |= inside("directed", self._directed.save()) | inside("families", self._families.save())
        return state | {
            "is_safe": int(self._is_safe),
            "counts": np.array(counts, dtype=np.int64),
            "sliced": np.array([self._sliced, self._idle], dtype=np.int64),
            "wholes": self._turns_of_wholes,
            "saved": np.array(self._saved),
            "waited": np.array(self._waited, dtype=np.int64),
        }

    def _restore(self, state: State) -> None:
        super()._restore(state)
        held: Mapping[str, Any] = state
        self.pattern.load(part("pattern", state))
        if self._directed is not None and (families := part("families", state)):
            self._directed.load(part("directed", state))
            self._families.load(families)
        self._is_safe = bool(held["is_safe"])
        counts = integers("counts", held["counts"], (5,), 0, 2**62).tolist()
        self._swept, self._completion_due, self._rebuilds, self._repairs, self._programs_of_turn = counts
        if "sliced" in held:
            self._sliced, self._idle = integers("sliced", held["sliced"], (2,), 0, 2**62).tolist()
        if "wholes" in held:
            self._turns_of_wholes = whole("wholes", held["wholes"], 0)
        self._saved = floats("saved", held["saved"], (2,), infinite=True).tolist()
        self._waited = integers("waited", held["waited"], (2,), 0, 2**62).tolist()


def _bonus_of_whole(programs: int) -> float:
    """What protecting another requirement is worth after so many programs of a whole table."""
    late = programs - len(BONUSES_OF_WHOLES)
    if late < 0:
        return BONUSES_OF_WHOLES[programs]
    return BONUSES_OF_WHOLES[-1] * min(BONUS_GROWTH**late, MOST_GROWTH)
