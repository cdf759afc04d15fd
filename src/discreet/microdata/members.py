"""The search for groups of households: members are matched, and a household is one vector.

The vector has the coordinates of the members one after the other. Which member stands where is open: members are
matched with those of other households so that little is lost. The groups of households that a method finds are, place
by place, groups of records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from discreet.data.embedding import Axis
from discreet.evolution.checks import integers, whole
from discreet.evolution.process import State, Together, inside
from discreet.evolution.process import part as state_of
from discreet.evolution.stops import Cycles
from discreet.kernels.compiling import search_clock
from discreet.microdata.classes import Classes
from discreet.microdata.households import HouseholdClass, HouseholdClasses, Members
from discreet.microdata.method import Labels, Method, Points, kept_partition, renumber
from discreet.microdata.options import Settings
from discreet.microdata.records import Records
from discreet.microdata.solving import (
    Partition,
    Solution,
    View,
    adopt,
    begin_views,
    choose,
    find_bound,
    join_answers,
    keep_in,
    partition_of,
    say_loss,
    split_labels,
    start_of,
    warm_up_views,
)
from discreet.running import describe_search, run

# Members are matched anew after so many epochs, then after so many times as many again, and so on.
CYCLES = Cycles(12, 2.0)
# Members are matched with the means and means taken in turn, until a turn gains less than this share; so often at most.
LEAST_GAIN, MOST_TURNS = 1e-6, 30
# Up to so many members all orders are tried, many households at a time; so many distances are held at a time.
FEW_MEMBERS, MOST_DISTANCES = 4, 2_000_000


class _Matched(NamedTuple):
    """All households of one size, as one group of attributes shows them, with their members in order."""

    source: View
    parts: list[HouseholdClass]

    def view(self) -> View:
        """The households as vectors, with their classes."""
        members = np.concatenate([part.members for part in self.parts])
        rows = np.split(np.arange(len(members)), self.starts[1:])
        kept = self.source.constraints
        return View(
            join_members(self.source.records, members),
            Classes(rows, np.zeros((len(members), 0), bool)),
            None if kept is None else kept.join(members),
        )

    @property
    def starts(self) -> Labels:
        """The first household of each class."""
        return np.cumsum([0, *(len(part.members) for part in self.parts)])[:-1]

    def match(self, points: Points, labels: Labels) -> _Matched:
        """The members matched within the groups of households, where that loses less."""
        parts = [
            part._replace(members=match_members(points, part, renumber(own)))
            for part, own in zip(self.parts, np.split(labels, self.starts[1:]), strict=True)
        ]
        other = self._replace(parts=parts)
        if not self.source.records.has_categories:
            return other
        # Members are matched by squared distances, and of categories modes are released.
        before, after = (one.view().records.losses(labels) for one in (self, other))
        worse = np.split((after > before)[labels], self.starts[1:])
        return self._replace(
            parts=[
                new._replace(members=np.where(keep[:, None], old.members, new.members))
                for old, new, keep in zip(self.parts, parts, worse, strict=True)
            ]
        )

    def losses(self, labels: Labels) -> NDArray[np.float64]:
        """What is lost in each class, given the groups of households."""
        records = self.view().records
        home = np.repeat(np.arange(len(self.parts)), [len(part.members) for part in self.parts])
        of_group = np.empty(int(labels.max()) + 1, np.int64)
        of_group[labels] = home
        lost = np.bincount(of_group, weights=records.losses(labels), minlength=len(self.parts))
        return lost.astype(np.float64)

    def take(self, other: _Matched, better: NDArray[np.bool_]) -> _Matched:
        """The same with the members of another one in some of the classes."""
        parts = [new if take else old for old, new, take in zip(self.parts, other.parts, better, strict=True)]
        return self._replace(parts=parts)


def solve_households(
    views: Sequence[View],
    settings: Settings,
    tell: Callable[[str, float], None],
    *,
    checkpoint: Path | None = None,
    looks: Sequence[Labels] | None = None,
    is_given: bool = False,
    say: Callable[[float], float] | None = None,
) -> Solution:
    """Group the households of every class; the partitions are of records, one place of one group being a group.

    Parameters
    ----------
    views : sequence of View
        The records, once for each group of attributes, with classes of households.
    settings : Settings
        k, method, time or steps, seed, threads.
    tell : callable
        Told the stage and how far along it is, in [0, 1].
    checkpoint : Path, optional
        Where the search is kept, and goes on from.
    looks : sequence of arrays of int, optional
        How each record looks, for every view: households of a class whose members look the same are groups to start
        from, each of at least k.
    is_given : bool
        Whether these groups are the answer, and only members are matched.
    say : callable, optional
        Turns the cost into the loss in percent that those who listen are told; by default that of these records.
    """
    tell("matching", 0.0)
    points = [view.records.points() for view in views]
    sized = [(number, matched) for number, view in enumerate(views) for matched in _by_size(view, points[number])]
    start = None
    if looks is not None:
        arranged = [(number, *_arrange(matched, looks[number])) for number, matched in sized]
        sized, start = [(number, matched) for number, matched, _ in arranged], [own for _, _, own in arranged]
    joined = [matched.view() for _, matched in sized]
    if is_given and start is not None:
        search = adopt(joined, start, replace(settings, bound=False), tell).search
        found, answer = _match(sized, points, start), start
    else:
        name, method = choose(settings.method, settings.params)
        warm_up_views(method, joined, settings, tell)
        began = search_clock()
        process = HouseholdSearch(sized, points, method, settings, tell, split_labels(joined, start))
        outcome = run(
            process,
            settings,
            tell=lambda fraction: tell("grouping", fraction),
            checkpoint=keep_in(checkpoint, name, method, joined, settings, start),
            began=began,
            say=say or say_loss(views),
        )
        found, answer = process.answer()
        tell("grouping", 1.0)
        search = describe_search(outcome, name, method.parameters(), settings.seed)
    partitions = _as_records(views, found, answer, settings.k)
    bound = find_bound(_by_place(views), partitions, settings, tell) if settings.bound else None
    if bound is not None:
        bound["method"] += "; of members one by one"
    if start is None or is_given:
        return Solution(partitions, search, bound)
    _, keeps = start_of(joined, start, settings.k)
    return Solution(partitions, search, bound, _as_records(views, sized, start, settings.k), keeps)


class HouseholdSearch:
    """Groups of households and the order of their members in turn: a search of groups, in cycles of epochs.

    When a cycle is over members are matched anew within the groups found, and the search of each class in which that
    gains something begins anew from these groups. Where a cycle ends follows from its number alone, so that a run of N
    epochs is the beginning of every longer one. What is handed out is matched once more.

    Parameters
    ----------
    sized : sequence of (int, matched households)
        The households of each size, with the number of their view.
    points : sequence of arrays of float
        The records of each view as vectors.
    method : Method
        How the households of a class are grouped.
    settings : Settings
        k, seed, threads.
    tell : callable
        Told the stage and how far along it is, in [0, 1].
    starts : sequence of arrays of int, optional
        The groups that the search of each class starts from, if it does from any.
    """

    bound = None  # what is proven of members as they stand says nothing of other orders

    def __init__(
        self,
        sized: Sequence[tuple[int, _Matched]],
        points: Sequence[Points],
        method: Method,
        settings: Settings,
        tell: Callable[[str, float], None],
        starts: Sequence[Labels | None],
    ) -> None:
        self._sized, self._points, self._starts = list(sized), points, list(starts)
        self._method, self._settings, self._tell, self._k = method, settings, tell, settings.k
        self._search = self._begin(range(len(starts)))
        self._cycle, self._epoch = 0, 0
        self.finished = not method.searches

    @property
    def cost(self) -> float:
        """What is lost by the best groups so far, members as they stand."""
        return self._search.cost

    def epochs(self) -> Iterator[None]:
        """Epochs of the search of groups; before some of them members are matched anew."""
        while not self.finished:
            if self._search.finished or self._epoch == CYCLES.length(self._cycle):
                self._match_anew()
                if self._search.finished:
                    self.finished = True
                    return
            next(self._search.epochs(), None)
            self._epoch += 1
            yield

    def answer(self) -> tuple[list[tuple[int, _Matched]], list[Labels]]:
        """The households with their members matched, and the group of each."""
        labels = self._labels()
        return _match(self._sized, self._points, labels), labels

    def save(self) -> State:
        """The order of members, what the search of each class started from, and where it stands."""
        state: State = {"cycle": self._cycle, "epoch": self._epoch, "finished": int(self.finished)}
        for number, held in enumerate(held for _, matched in self._sized for held in matched.parts):
            state[f"members.{number}"] = held.members
        for number, start in enumerate(self._starts):
            if start is not None:
                state[f"starts.{number}"] = start
        return state | inside("search", self._search.save())

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._cycle, self._epoch = (whole(name, state[name], 0) for name in ("cycle", "epoch"))
        self.finished = bool(whole("finished", state["finished"], 0))
        numbers, sized, starts = iter(range(len(self._starts))), [], []
        for view, matched in self._sized:
            parts = []
            for held, number in zip(matched.parts, numbers, strict=False):
                parts.append(held._replace(members=kept_members(held, state[f"members.{number}"])))
                start = state.get(f"starts.{number}")
                starts.append(None if start is None else kept_partition("starts", start, len(held.members), self._k))
            sized.append((view, matched._replace(parts=parts)))
        self._sized, self._starts = sized, starts
        self._search = self._begin(range(len(starts)))
        self._search.load(state_of("search", state))

    def _match_anew(self) -> None:
        """Match members within the groups found; begin anew where that gains something."""
        labels = self._labels()
        sized, better = [], []
        for (view, old), (_, new), own in zip(
            self._sized, _match(self._sized, self._points, labels), labels, strict=True
        ):
            before, after = old.losses(own), new.losses(own)
            gains = after < before * (1.0 - LEAST_GAIN)
            sized.append((view, old.take(new, gains)))
            better += gains.tolist()
        changed = np.flatnonzero(better).tolist()
        answers = self._search.answer()
        self._sized = sized
        self._starts = [answers[number] if gains else self._starts[number] for number, gains in enumerate(better)]
        processes = list(self._search.processes)
        for number, process in zip(changed, self._begin(changed).processes if changed else (), strict=True):
            processes[number] = process
        self._search = Together(processes, self._search.threads)
        self._cycle, self._epoch = self._cycle + 1, 0

    def _begin(self, classes: Sequence[int]) -> Together[Labels]:
        """Begin the search of some of the classes."""
        starts = [self._starts[number] for number in classes]
        return begin_views(self._method, self._views(), self._settings, self._tell, starts, classes)

    def _labels(self) -> list[Labels]:
        """The groups found so far, for the households of each size."""
        return join_answers(self._views(), self._search.answer())

    def _views(self) -> list[View]:
        return [matched.view() for _, matched in self._sized]


def kept_members(own: HouseholdClass, kept: object) -> Members:
    """The members of households that come from a file: the same ones, at places of the same kinds."""
    members = integers("members", kept, own.members.shape, 0, int(own.members.max()))
    for kind in np.unique(own.kinds):
        places = own.kinds == kind
        if (np.sort(members[:, places], axis=1) != np.sort(own.members[:, places], axis=1)).any():
            raise ValueError("the members kept are those of other households")
    return members


def _by_size(view: View, points: Points) -> Iterator[_Matched]:
    """The households of each size, their members in the order in which they match the means of their class."""
    assert isinstance(view.classes, HouseholdClasses)
    sizes: dict[int, list[HouseholdClass]] = {}
    for part in view.classes.parts:
        whole = np.zeros(len(part.members), np.int64)
        ordered = part._replace(members=_sort_members(points, part))
        sizes.setdefault(part.members.shape[1], []).append(
            ordered._replace(members=match_members(points, ordered, whole))
        )
    for _, parts in sorted(sizes.items()):
        yield _Matched(view, parts)


def _arrange(matched: _Matched, looks: Labels) -> tuple[_Matched, Labels]:
    """Members in the order of how they look, and the groups of households whose members look the same."""
    parts, labels, count = [], [], 0
    for part in matched.parts:
        members = _place(part, looks[part.members])
        own = np.unique(looks[members], axis=0, return_inverse=True)[1].ravel().astype(np.int64)
        parts.append(part._replace(members=members))
        labels.append(own + count)
        count += int(own.max()) + 1
    return matched._replace(parts=parts), np.concatenate(labels)


def _by_place(views: Sequence[View]) -> list[View]:
    """The views with classes of records: members who may stand at the same places, each on its own.

    A group of households is, place by place, a group of such records, so that what bounds their loss bounds its own.
    """
    apart = []
    for view in views:
        assert isinstance(view.classes, HouseholdClasses)
        rows = [
            part.members[:, part.kinds == kind].ravel() for part in view.classes.parts for kind in np.unique(part.kinds)
        ]
        apart.append(replace(view, classes=Classes(rows, view.classes.blank)))
    return apart


def _match(
    sized: Sequence[tuple[int, _Matched]], points: Sequence[Points], labels: Sequence[Labels]
) -> list[tuple[int, _Matched]]:
    """Match members within groups of households."""
    return [(number, matched.match(points[number], own)) for (number, matched), own in zip(sized, labels, strict=True)]


def _as_records(
    views: Sequence[View], sized: Sequence[tuple[int, _Matched]], groups: Sequence[Labels], k: int
) -> list[Partition]:
    """Groups of households as groups of records, for each view."""
    labels = [np.empty(len(view.records), np.int64) for view in views]
    given = [0] * len(views)
    for (number, matched), own in zip(sized, groups, strict=True):
        members = np.concatenate([part.members for part in matched.parts])
        size = members.shape[1]
        labels[number][members] = given[number] + own[:, None] * size + np.arange(size)
        given[number] += (int(own.max()) + 1) * size
    return [partition_of(view.records, own, k) for view, own in zip(views, labels, strict=True)]


def join_members(records: Records, members: Members) -> Records:
    """Households as one vector each; what all members of every household share is there once.

    It then counts as much as it does in its members together: the loss is one of records.

    Parameters
    ----------
    records : Records
        All records.
    members : array of int, households × members
        The records of each household, in order.
    """
    size = members.shape[1]
    more = float(np.sqrt(size))
    numbers: list[NDArray[Any]] = []
    codes: list[NDArray[Any]] = []
    axes: list[Axis] = []
    columns = iter(range(records.numbers.shape[1])), iter(range(records.codes.shape[1]))
    for axis in records.axes:
        source, out = (records.codes, codes) if axis.nominal else (records.numbers, numbers)
        values: NDArray[Any] = source[:, next(columns[axis.nominal])][members]
        if (values == values[:, :1]).all():
            out.append(values[:, :1] if axis.nominal else values[:, :1] * more)
            axes.append(replace(axis, scale=axis.scale * more))
        else:
            out.append(values)
            axes += [axis] * size
    empty = np.zeros((len(members), 0))
    return Records(
        np.ascontiguousarray(np.hstack([empty, *numbers])),
        np.ascontiguousarray(np.hstack([empty.astype(np.int32), *codes]), np.int32),
        tuple(axes),
    )


def _sort_members(points: Points, part: HouseholdClass) -> Members:
    """The members in the order of their principal coordinate, those at places of one kind among themselves."""
    own = points[part.members]
    size = part.members.shape[1]
    if size == 1 or not points.shape[1]:
        return part.members
    centred = own.reshape(-1, points.shape[1])
    centred = centred - centred.mean(axis=0)
    direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    return _place(part, (centred @ direction).reshape(len(own), size))


def _place(part: HouseholdClass, keys: NDArray[Any]) -> Members:
    """The members in the order of their keys, those at places of one kind among themselves."""
    order = np.lexsort((keys, np.broadcast_to(part.kinds, keys.shape)), axis=1)
    # Members of a kind go to the places of that kind.
    places = np.argsort(part.kinds, kind="stable")
    placed = np.empty_like(order)
    placed[:, places] = order
    return np.take_along_axis(part.members, placed, axis=1)


def match_members(points: Points, part: HouseholdClass, labels: Labels) -> Members:
    """Let the members of each household stand at the places of its group that they are nearest to, all together.

    Parameters
    ----------
    points : array of float
        All records as vectors.
    part : HouseholdClass
        The households with their members in some order.
    labels : array of int
        The group of each household, 0 to g−1.
    """
    size = part.members.shape[1]
    members, best = part.members, np.inf
    if size == 1 or not points.shape[1]:
        return members
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    chunk = max(1, MOST_DISTANCES // (size * max(size, points.shape[1])))
    for _ in range(MOST_TURNS):
        # Place by place, so that no copy of all points is made.
        means = np.stack(
            [np.add.reduceat(points[members[order, place]], starts) / sizes[:, None] for place in range(size)], axis=1
        )
        moved, cost = np.empty_like(members), 0.0
        for begin in range(0, len(members), chunk):
            span = slice(begin, begin + chunk)
            goes, loss = _assign(means[labels[span]], points[members[span]], part.kinds)
            moved[span] = np.take_along_axis(members[span], goes, axis=1)
            cost += loss
        if not cost < best * (1.0 - LEAST_GAIN):
            break
        members, best = moved, cost
    return members


def _assign(means: Points, points: Points, kinds: Labels) -> tuple[Labels, float]:
    """For each household which member stands at each place so that squared distances are least, and their sum."""
    size = points.shape[1]
    squares = np.sum(means**2, axis=2)[:, :, None] + np.sum(points**2, axis=2)[:, None, :]
    squares -= 2.0 * np.einsum("hpw,hmw->hpm", means, points, optimize=True)
    if size <= FEW_MEMBERS:
        orders = np.array([one for one in permutations(range(size)) if (kinds[list(one)] == kinds).all()])
        costs = squares[:, np.arange(size), orders].sum(axis=2)
        best = np.argmin(costs, axis=1)
        return orders[best], float(costs[np.arange(len(best)), best].sum())
    squares[:, kinds[:, None] != kinds[None, :]] = np.inf
    goes = np.empty(squares.shape[:2], np.int64)
    cost = 0.0
    for household, own in enumerate(squares):
        places, chosen = linear_sum_assignment(own)
        goes[household] = chosen
        cost += float(own[places, chosen].sum())
    return goes, cost
