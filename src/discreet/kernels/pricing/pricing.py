"""Pricing: the groups that cost less than the duals of their records, found exactly by branch and bound.

The reduced cost of a group S of s records is SSE(S), the sum of the squared distances of its pairs divided by s, less
its duals; an odd set C of weight w (see `microdata/odd_sets.py`) adds w·⌊|S ∩ C|/2⌋. Every group is looked for at its
first record in a given order, and for each size apart.

Let P be the records chosen so far and q = s − |P| those still to come. What a record j to come adds is at least

    v(j) = (sum of d(i, j) over i in P)/s − dual(j) + (sum of its q−1 least distances)/(2s) + half the weight of each
           odd set of j that has an odd number of records in P

since two that come share the distance between them, and m of an odd set that come add at least m/2 to it if P has an
odd number of its records. So a group costs no less than P does with the q least v: candidates are kept in ascending
order of v, and the search leaves a list where this sum no longer falls below what it looks for. With one record to come
v is exact (and the odd sets count in full).

All terms but the duals are positive and nothing is subtracted that is large beside the result, so what is computed for
a group errs by a few units in the last place of its SSE and its duals; `microdata/group_pricing.py` allows for it.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, stable_order
from discreet.kernels.jit import helper, kernel
from discreet.kernels.space.lists import near_sums


class Prices(NamedTuple):
    """A pricing problem; records are numbered in the order of the search."""

    points: Floats  # attribute × record
    near: Floats  # record × t: sum of its t least squared distances
    duals: Floats
    weights: Floats  # odd set
    set_starts: Ints  # record: where its odd sets begin in `sets`
    sets: Ints
    set_members: Ints  # the records of odd set c from set_member_starts[c] on
    set_member_starts: Ints


class Lists(NamedTuple):
    """Scratch space: the candidates of each level, ascending by v."""

    records: Ints  # level × place
    sums: Floats  # level × place: sum of distances to the chosen
    values: Floats  # level × place: v
    counts: Ints  # odd set: how many of its records are chosen
    chosen: Ints  # level
    floors: Floats  # size × record: the least that any later record adds to a group, without its distance to the first
    close: Ints  # the records that may join the first, and their distances to it
    distances: Floats
    all_distances: Floats
    places: Ints  # record: its place in `close`, or -1


@helper
def _room(prices: Prices, k: int) -> Lists:
    """Make room for a search."""
    n = len(prices.duals)
    floors = np.full((k, n + 1), np.inf)
    for size in range(k, 2 * k):
        for j in range(n - 1, -1, -1):
            least = prices.near[j, size - 2] / (2 * size) - prices.duals[j]
            floors[size - k, j] = min(least, floors[size - k, j + 1])
    return Lists(
        np.zeros((2 * k, n), np.int64),
        np.zeros((2 * k, n)),
        np.zeros((2 * k, n)),
        np.zeros(len(prices.weights), np.int64),
        np.zeros(2 * k, np.int64),
        floors,
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(n),
        np.full(n, -1),
    )


@kernel
def price(
    prices: Prices,
    k: int,
    first: int,
    end: int,
    threshold: float,
    budget: int,
    groups: Ints,
    values: Floats,
    bounds: Floats,
) -> int:
    """Find the group of lowest reduced cost of each first record and size.

    Parameters
    ----------
    prices : Prices
        Distances, duals and odd sets.
    k : int
        Least size of a group.
    first, end : int
        First records: from `first` to `end`−1.
    threshold : float
        What a reduced cost must be below.
    budget : int
        Candidates that the search of one first record and size may look at.
    groups, values, bounds : arrays
        Receive, for first record i and size s in row (i − `first`)·k + s − k, the group found, its reduced cost and a
        lower bound for all groups of that first record and size, which is the same unless the budget was spent. The
        cost is the threshold where no group below it was found.

    Returns
    -------
    int
        The candidates looked at.
    """
    lists = _room(prices, k)
    work = 0
    for record in range(first, end):
        close = _gather(prices, lists, k, record, threshold)
        for size in range(k, 2 * k):
            row = (record - first) * k + size - k
            values[row], bounds[row], looked = _explore(
                prices, lists, record, close, size, threshold, budget, groups[row : row + 1], False
            )
            work += looked
    return work


@kernel
def lower(prices: Prices, k: int, records: Ints, threshold: float, budget: int, tries: int) -> int:
    """Lower the duals, in place, until no group of the given first records has a reduced cost below the threshold.

    A group that costs too little takes the lack from the duals of its records in equal parts; after so many tries, or
    where only a bound tells that something may be lacking, the first record takes it all.

    Returns
    -------
    int
        The candidates looked at.
    """
    lists = _room(prices, k)
    group, best = np.zeros((1, 2 * k - 1), np.int64), np.zeros(2 * k - 1, np.int64)
    work = 0
    for record in records:
        close = _gather(prices, lists, k, record, threshold)
        for attempt in range(tries + 1):
            least, bound, lacking = threshold, threshold, 0
            for size in range(k, 2 * k):
                value, below, looked = _explore(
                    prices, lists, record, close, size, min(least, bound), budget, group, False
                )
                work += looked
                bound = min(bound, below)
                if value < least:
                    least, lacking = value, size
                    for t in range(size):  # to assign the array at once takes a second to compile
                        best[t] = group[0, t]
            if lacking == 0 or attempt == tries:
                if bound < threshold:
                    prices.duals[record] += bound
                break
            for t in range(lacking):
                prices.duals[best[t]] += least / lacking
    return work


@kernel
def all_below(prices: Prices, k: int, first: int, threshold: float, groups: Ints, sizes: Ints) -> int:
    """Collect all groups of a first record with a reduced cost below the threshold.

    Returns
    -------
    int
        How many there are; those for which there is no room are not kept.
    """
    lists = _room(prices, k)
    close = _gather(prices, lists, k, first, threshold)
    count = 0
    for size in range(k, 2 * k):
        room = groups[min(count, len(groups)) :]
        found, _, _ = _explore(prices, lists, first, close, size, threshold, np.iinfo(np.int64).max, room, True)
        sizes[count : count + int(found)] = size
        count += int(found)
    return count


@helper
def _explore(
    prices: Prices,
    lists: Lists,
    first: int,
    close: int,
    size: int,
    threshold: float,
    budget: int,
    groups: Ints,
    every: bool,
) -> tuple[float, float, int]:
    """Search the groups of a first record and size.

    Either for the one of lowest reduced cost: given are its cost (or the threshold, if none below it was found) and a
    lower bound for all. Or for all below the threshold: given is their number. Last the candidates looked at.
    """
    records, sums, values, chosen = lists.records, lists.sums, lists.values, lists.chosen
    duals, near = prices.duals, prices.near
    lengths = np.zeros(size, np.int64)
    places = np.zeros(size, np.int64)
    bases = np.zeros(size)
    found, work = 0, 0
    least = np.inf  # of what was left unexplored
    chosen[0] = first
    _count(prices, lists, first, 1)
    bases[0] = -duals[first]
    lengths[0] = _candidates(prices, lists, first, close, size, threshold)
    level = 0
    while level >= 0:
        # Level l has l+1 records chosen; q are to come.
        place, q = places[level], size - 1 - level
        over = place + q > lengths[level]
        if not over:
            bound = bases[level]
            for t in range(q):
                bound += values[level, place + t]
            over = bound >= threshold
            if not over and work >= budget:
                least = min(least, bound)
                over = True
        if over:
            _count(prices, lists, chosen[level], -1)
            level -= 1
            continue
        places[level] += 1
        record = records[level, place]
        base = bases[level] + sums[level, place] / size - duals[record] + _completed(prices, lists, record)
        if q == 1:
            chosen[level + 1] = record
            if base < threshold:
                found, threshold = _keep(chosen, size, groups, found, every, threshold, base)
            continue
        _count(prices, lists, record, 1)
        chosen[level + 1] = record
        # A candidate comes with the one just chosen and q−2 more, which add at least the least v of this list.
        others = bases[level]
        for t in range(q - 1):
            others += values[level, place + t]
        count = 0
        for at in range(place + 1, lengths[level]):
            if others + values[level, at] >= threshold:
                break
            work += 1
            j = records[level, at]
            total = sums[level, at]
            for c in range(prices.points.shape[0]):
                difference = prices.points[c, j] - prices.points[c, record]
                total += difference * difference
            value = total / size - duals[j] + near[j, q - 2] / (2 * size)
            completed = _completed(prices, lists, j)
            if q > 2:
                records[level + 1, count] = j
                sums[level + 1, count] = total
                values[level + 1, count] = value + completed / 2
                count += 1
            elif base + value + completed < threshold:
                chosen[level + 2] = j
                found, threshold = _keep(chosen, size, groups, found, every, threshold, base + value + completed)
        if q == 2:
            _count(prices, lists, record, -1)
            continue
        level += 1
        bases[level] = base
        places[level] = 0
        lengths[level] = _sift(lists, level, count, q - 1, threshold - base)
    return (float(found) if every else threshold), min(threshold, least), work


@helper
def _keep(
    chosen: Ints, size: int, groups: Ints, found: int, every: bool, threshold: float, value: float
) -> tuple[int, float]:
    """Keep a group; where only the best is wanted, it becomes what others must be below."""
    if found < len(groups):
        for t in range(size):
            groups[found, t] = chosen[t]
    if every:
        return found + 1, threshold
    return found, value


@helper
def _count(prices: Prices, lists: Lists, record: int, step: int) -> None:
    """Count a record as chosen, or no longer, in its odd sets."""
    for at in range(prices.set_starts[record], prices.set_starts[record + 1]):
        lists.counts[prices.sets[at]] += step


@helper
def _completed(prices: Prices, lists: Lists, record: int) -> float:
    """The weight of the odd sets in which the record makes a pair."""
    total = 0.0
    for at in range(prices.set_starts[record], prices.set_starts[record + 1]):
        if lists.counts[prices.sets[at]] & 1:
            total += prices.weights[prices.sets[at]]
    return total


@helper
def _gather(prices: Prices, lists: Lists, k: int, first: int, threshold: float) -> int:
    """List the later records that are close enough to the first to join it in a group of any size; give their number.

    A group of size s with a record at distance d costs at least d/s, less the first one's dual, and the floor for each
    other record.
    """
    n = len(prices.duals)
    radius = -np.inf
    for size in range(k, 2 * k):
        floor = lists.floors[size - k, first + 1]
        if floor < np.inf:
            radius = max(radius, size * (threshold + prices.duals[first] - (size - 1) * floor))
    distances = lists.all_distances
    distances[first + 1 :] = 0.0
    for c in range(prices.points.shape[0]):
        x = prices.points[c, first]
        row = prices.points[c]
        for j in range(first + 1, n):
            difference = row[j] - x
            distances[j] += difference * difference
    count = 0
    for j in range(first + 1, n):
        if distances[j] < radius:
            lists.close[count] = j
            lists.distances[count] = distances[j]
            count += 1
    return count


@helper
def _candidates(prices: Prices, lists: Lists, first: int, close: int, size: int, threshold: float) -> int:
    """List the records that may join the first one in a group of a size; give their number."""
    q = size - 1
    records, sums, values = lists.records[0], lists.sums[0], lists.values[0]
    for t in range(close):
        j = lists.close[t]
        lists.places[j] = t
        records[t] = j
        sums[t] = lists.distances[t]
        values[t] = lists.distances[t] / size - prices.duals[j] + prices.near[j, q - 1] / (2 * size)
    for at in range(prices.set_starts[first], prices.set_starts[first + 1]):
        c = prices.sets[at]
        for member in range(prices.set_member_starts[c], prices.set_member_starts[c + 1]):
            place = lists.places[prices.set_members[member]]
            if place >= 0:
                values[place] += prices.weights[c] * (1.0 if q == 1 else 0.5)
    for t in range(close):
        lists.places[lists.close[t]] = -1
    return _sift(lists, 0, close, q, threshold + prices.duals[first])


@helper
def _least_sum(values: Floats, count: int) -> float:
    """Sum the least values, as many as told."""
    least = np.full(count + 1, np.inf)
    for value in values:
        if value < least[count]:
            place = count
            while place > 0 and value < least[place - 1]:
                least[place] = least[place - 1]
                place -= 1
            least[place] = value
    total = 0.0
    for t in range(count):
        total += least[t]
    return total


@helper
def _sift(lists: Lists, level: int, count: int, q: int, limit: float) -> int:
    """Keep the candidates that stay below the limit with the q−1 best of the list, and sort them; give their number."""
    if count < q:
        return 0
    records, sums, values = lists.records[level], lists.sums[level], lists.values[level]
    least = _least_sum(values[:count], q - 1)
    kept = 0
    for t in range(count):
        if values[t] + least < limit:
            records[kept], sums[kept], values[kept] = records[t], sums[t], values[t]
            kept += 1
    order = stable_order(values[:kept])
    # A cycle of places at a time, so that nothing is copied aside but one candidate.
    for start in range(kept):
        if order[start] < 0:
            continue
        record, total, value = records[start], sums[start], values[start]
        place = start
        while order[place] != start:
            source = order[place]
            records[place], sums[place], values[place] = records[source], sums[source], values[source]
            order[place] = -1
            place = source
        records[place], sums[place], values[place] = record, total, value
        order[place] = -1
    return kept


def rehearse() -> None:
    """Compile the search for groups, on four points."""
    near_sums(np.arange(8.0).reshape(4, 2), 2, lambda _fraction: None)
    k, nothing = 2, np.zeros(0, np.int64)
    duals, groups = np.ones(4), np.zeros((8, 3), np.int64)
    prices = Prices(
        np.arange(8.0).reshape(2, 4),
        np.zeros((4, 3)),
        duals,
        np.zeros(0),
        np.zeros(5, np.int64),
        nothing,
        nothing,
        np.zeros(1, np.int64),
    )
    price(prices, k, 0, 4, -1e-9, 10, groups, np.zeros(8), np.zeros(8))
    all_below(prices, k, 0, -1e-9, groups, np.zeros(8, np.int64))
    lower(prices, k, np.arange(2), -1e-9, 10, 1)
