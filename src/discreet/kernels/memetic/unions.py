"""Local search and annealing on unions of neighbouring groups.

A step takes a few neighbouring groups, perturbs or rebuilds the partition of their records, descends by moving and
swapping records, and keeps the outcome by the rule of annealing, with a temperature relative to the cost of the union
at hand. All of it happens on the small matrix of distances within the union: the SSE of a group is the sum of its
squared distances over its size, so the change by a move or a swap is known from a few sums (O(1) each).
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words
from discreet.kernels.jit import borrower, helper, kernel
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.pool import Pool, inside, note, pooled, region
from discreet.kernels.partitions.groups import group_costs, within_sse
from discreet.kernels.random import below, seeded, uniform

# Groups in a union: with 3 or fewer the search stalls, with more than 6 a step takes too long for what it finds.
FEWEST, MOST = 3, 6
# But far from a local optimum wide unions, mostly perturbed by swaps, gain half as much again in the same time.
WIDE, WIDE_KICK = 8, 0.9
# But no more records than this, or else two groups: the matrix of their distances must stay small.
ROOM = 600
# A step perturbs the union by a few swaps with this chance, otherwise it rebuilds it.
KICK = 0.6
# The first group of a union is drawn by its cost with this chance, otherwise each record is as likely as any other.
BY_COST = 0.3
# Part of a union's cost that rounding may seem to gain.
NOTHING = 1e-11


class Groups(NamedTuple):
    """A partition that can be changed: slots for at most n/k groups, some of them empty."""

    members: Ints  # slot, place: record
    sizes: Ints  # slot: number of members; 0 where empty
    labels: Ints  # record: its slot
    empty: Ints  # the empty slots, as a stack
    empties: Ints  # how many of them there are


class Union(NamedTuple):
    """The union at hand, and room for work; records are numbered 0, 1, … within it."""

    slots: Ints  # the groups' slots
    records: Ints
    labels: Ints  # record: its group, 0 to g−1
    near: Floats  # squared distances between the records
    ties: Floats  # group, record: sum of the record's distances to the group's members
    own: Floats  # record: its tie to its own group
    shares_of: Floats  # record: one over the size of its group
    columns: Floats  # three attributes of the records
    changes: Floats  # record: what the cost changes by if another changes places with it
    pairs: Floats  # group: sum of distances over its pairs
    sizes: Ints
    shares: Floats  # group: one over its size
    loose: Ints  # records without a group while a union is rebuilt
    sums: Floats
    mark: Ints  # slot: the last step that took it


@kernel
def slotted(labels: Ints, k: int) -> Groups:
    """The slots of a partition with labels 0 to g−1 and groups of k to 2k−1."""
    slots = labels.size // k
    groups = Groups(
        np.zeros((slots, 2 * k - 1), np.int64),
        np.zeros(slots, np.int64),
        labels.copy(),
        np.zeros(slots, np.int64),
        np.zeros(1, np.int64),
    )
    for i in range(labels.size):
        groups.members[labels[i], groups.sizes[labels[i]]] = i
        groups.sizes[labels[i]] += 1
    for slot in range(slots - 1, -1, -1):
        if groups.sizes[slot] == 0:
            groups.empty[groups.empties[0]] = slot
            groups.empties[0] += 1
    return groups


@kernel
def slot_costs(points: Floats, groups: Groups) -> Floats:
    """The SSE of each slot's group; 0 where there is none."""
    d = points.shape[1]
    costs = np.zeros(groups.sizes.size)
    mean = np.zeros(d)
    for slot in range(costs.size):
        size = groups.sizes[slot]
        if size == 0:
            continue
        first = groups.members[slot, 0]
        mean[:] = 0.0
        for place in range(size):
            for j in range(d):
                mean[j] += (points[groups.members[slot, place], j] - points[first, j]) / size
        for place in range(size):
            for j in range(d):
                difference = points[groups.members[slot, place], j] - points[first, j] - mean[j]
                costs[slot] += difference * difference
    return costs


@kernel
def anneal(
    points: Floats,
    k: int,
    neighbours: Ints,
    temperature: float,
    steps: int,
    wide: bool,
    groups: Groups,
    pool: Pool,
    rng: Words,
) -> None:
    """Take so many steps at a temperature; 0 accepts nothing worse.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    k : int
        Least size of a group; the largest is 2k−1.
    neighbours : array of shape (n, m)
        The nearest records of each record, nearest first.
    temperature : float
        A union whose cost c grows by x is kept with the chance exp(−x / (temperature·c)).
    steps : int
        How many unions to work on.
    wide : bool
        Whether unions are wide.
    groups : Groups
        The partition; changed in place.
    pool : Pool
        Takes note of the groups that were formed; one without room takes none.
    rng : array of 4 words
        The random state.
    """
    most = max(WIDE * (2 * k - 1) if wide else 0, room_for(k, ROOM))
    union = room(min(most, max(ROOM, 4 * k - 2), points.shape[0]), k, groups.sizes.size)
    kicked = WIDE_KICK if wide else KICK
    odds = slot_costs(points, groups)
    total = 0.0
    for slot in range(odds.size):
        total += np.sqrt(odds[slot])
        odds[slot] = total
    for step in range(steps):
        first = _draw_first(points.shape[0], groups, odds, rng)
        wanted = WIDE if wide else FEWEST + below(rng, MOST - FEWEST + 1)
        count, size = gather(neighbours, groups, first, wanted, 6 * wanted, step + 1, union, rng)
        if count < 2:
            continue
        _distances(points, union, size)
        before = _gathered_cost(union, size)
        if uniform(rng) < kicked:
            kick(union, size, rng)
            after_count = count
        else:
            after_count = rebuild(union, size, count, k, False, rng)
        _sum_up(union, size, after_count)
        _descend(union, size, after_count, k)
        after = _cost(union, after_count)
        limit = before
        if temperature > 0.0:
            limit -= before * temperature * np.log(1.0 - uniform(rng))
        if after < limit and abs(after - before) > NOTHING * before:
            put_back(groups, union.slots, union.records, union.labels, size, count, after_count)
            for group in range(after_count):
                slot = union.slots[group]
                cost = union.pairs[group] / union.sizes[group]
                note(pool, groups.members[slot, : groups.sizes[slot]], cost)


@kernel
def room_for(k: int, most: int) -> int:
    """How many records a union has at most: `most`, or two groups."""
    return max(min(MOST * (2 * k - 1), most), 2 * (2 * k - 1))


@helper
def room(records: int, k: int, slots: int) -> Union:
    """Room for unions of at most so many records, in a partition with so many slots."""
    groups = records // k
    return Union(
        slots=np.zeros(groups, np.int64),
        records=np.zeros(records, np.int64),
        labels=np.zeros(records, np.int64),
        near=np.zeros((records, records)),
        ties=np.zeros((groups, records)),
        own=np.zeros(records),
        shares_of=np.zeros(records),
        columns=np.zeros((3, records)),
        changes=np.zeros(records),
        pairs=np.zeros(groups),
        sizes=np.zeros(groups, np.int64),
        shares=np.zeros(groups),
        loose=np.zeros(records, np.int64),
        sums=np.zeros(groups),
        mark=np.zeros(slots, np.int64),
    )


@borrower
def _draw_first(n: int, groups: Groups, odds: Floats, rng: Words) -> int:
    """Draw the record that a union begins with; `odds` are running sums over the slots."""
    first = below(rng, n)
    if uniform(rng) < BY_COST:
        slot = first_above(odds, uniform(rng) * odds[-1])
        if slot < odds.size and groups.sizes[slot] > 0:
            first = groups.members[slot, below(rng, groups.sizes[slot])]
    return first


@borrower
def gather(
    neighbours: Ints, groups: Groups, first: int, wanted: int, most_tries: int, step: int, union: Union, rng: Words
) -> tuple[int, int]:
    """Take the group of a record and groups near its members; tell how many groups and records that makes."""
    count, size, tries = 0, 0, 0
    slot = groups.labels[first]
    while True:
        if union.mark[slot] != step and size + groups.sizes[slot] <= union.records.size and count < union.slots.size:
            union.mark[slot] = step
            union.slots[count] = slot
            for place in range(groups.sizes[slot]):
                union.records[size] = groups.members[slot, place]
                union.labels[size] = count
                size += 1
            count += 1
        tries += 1
        if count == wanted or count == 0 or tries > most_tries:
            return count, size
        record = union.records[below(rng, size)] if uniform(rng) < 0.5 else first
        far = uniform(rng)
        slot = groups.labels[neighbours[record, int(far * far * neighbours.shape[1])]]


@borrower
def first_above(rising: Floats, value: float) -> int:
    """The first place of a number above a value, by bisection; the number of places if there is none."""
    low, high = 0, rising.size
    while low < high:
        middle = (low + high) // 2
        if rising[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@borrower
def _distances(points: Floats, union: Union, size: int) -> None:
    """Compute the squared distances, three attributes at a time, in loops that are done several records at a time."""
    columns, d = union.columns, points.shape[1]
    for first in range(0, d, 3):
        for t in range(3):
            for i in range(size):
                columns[t, i] = points[union.records[i], first + t] if first + t < d else 0.0
        xs, ys, zs = columns[0], columns[1], columns[2]
        for i in range(size):
            row, x, y, z = union.near[i], xs[i], ys[i], zs[i]
            if first == 0:
                row[:size] = 0.0
            for j in range(size):
                row[j] = row[j] + (x - xs[j]) * (x - xs[j]) + (y - ys[j]) * (y - ys[j]) + (z - zs[j]) * (z - zs[j])


@borrower
def _sum_up(union: Union, size: int, count: int) -> None:
    """Compute sizes, ties and pairs from the labels."""
    labels, ties = union.labels, union.ties
    for group in range(count):
        union.pairs[group] = 0.0
        union.sizes[group] = 0
        row = ties[group]
        for i in range(size):
            row[i] = 0.0
    for j in range(size):
        union.sizes[labels[j]] += 1
        row, distances = ties[labels[j]], union.near[j]
        for i in range(size):
            row[i] += distances[i]
    for i in range(size):
        union.pairs[labels[i]] += 0.5 * ties[labels[i], i]


@borrower
def _gathered_cost(union: Union, size: int) -> float:
    """The cost of the union as it was gathered, the members of a group one after the other."""
    total, pairs, first = 0.0, 0.0, 0
    for i in range(size + 1):
        if i == size or union.labels[i] != union.labels[first]:
            total += pairs / (i - first)
            pairs, first = 0.0, i
        if i < size:
            for j in range(first, i):
                pairs += union.near[i, j]
    return total


@borrower
def _cost(union: Union, count: int) -> float:
    total = 0.0
    for group in range(count):
        total += union.pairs[group] / union.sizes[group]
    return total


@borrower
def kick(union: Union, size: int, rng: Words) -> None:
    """Swap one to three random pairs of records."""
    for _ in range(1 + below(rng, 3)):
        i, j = below(rng, size), below(rng, size)
        union.labels[i], union.labels[j] = union.labels[j], union.labels[i]


@borrower
def rebuild(union: Union, size: int, count: int, k: int, average: bool, rng: Words) -> int:
    """Form groups anew, one more or fewer or as many: k nearest records each, the others as `_settle` says."""
    most = 2 * k - 1
    count = min(max(count - 1 + below(rng, 3), (size + most - 1) // most), size // k)
    labels, near, loose, sizes = union.labels, union.near, union.loose, union.sizes
    left = size
    for i in range(size):
        loose[i] = i
        labels[i] = -1
    for group in range(count):
        centre = loose[below(rng, left)]
        if uniform(rng) < 0.5:
            centre = loose[_extreme(near[centre], loose, left, True)]
        for _ in range(k):
            place = _extreme(near[centre], loose, left, False)
            labels[loose[place]] = group
            left -= 1
            loose[place] = loose[left]
        sizes[group] = k
    for place in range(left):
        _settle(union, loose[place], size, count, most, average)
    return count


@borrower
def _extreme(distances: Floats, loose: Ints, left: int, farthest: bool) -> int:
    """Find the place of the loose record at the least distance, or at the greatest."""
    found, extreme = 0, distances[loose[0]]
    for place in range(1, left):
        distance = distances[loose[place]]
        if (distance > extreme) if farthest else (distance < extreme):
            found, extreme = place, distance
    return found


@borrower
def _settle(union: Union, record: int, size: int, count: int, most: int, average: bool) -> None:
    """Put a loose record into the group with room whose members are nearest on average, or where it costs least."""
    sums = union.sums
    for group in range(count):
        sums[group] = 0.0
    for j in range(size):
        if union.labels[j] >= 0:
            sums[union.labels[j]] += union.near[record, j]
    found, least = 0, np.inf
    for group in range(count):
        members = union.sizes[group]
        factor = 1 if average else members + 1
        if members < most and sums[group] < least * members * factor:
            found, least = group, sums[group] / (members * factor)
    union.labels[record] = found
    union.sizes[found] += 1


@borrower
def _descend(union: Union, size: int, count: int, k: int) -> None:
    """Move and swap records, the best for each in turn, until nothing lowers the cost."""
    labels, near, ties, pairs, sizes = union.labels, union.near, union.ties, union.pairs, union.sizes
    most = 2 * k - 1
    shares, changes = union.shares, union.changes
    for group in range(count):
        shares[group] = 1.0 / sizes[group]
    _look_up(union, size)
    # Rounding cannot keep the descent going: a step must gain a part of the cost there was.
    least = NOTHING * _cost(union, count)
    # When all records in a row have found nothing, nobody would.
    i, unimproved = 0, 0
    while unimproved < size:
        unimproved += 1
        home = labels[i]
        if sizes[home] > k:
            leaving = (pairs[home] - ties[home, i]) / (sizes[home] - 1) - pairs[home] * shares[home]
            best, target = -least, -1
            for group in range(count):
                if group != home and sizes[group] < most:
                    members = sizes[group]
                    change = leaving + (pairs[group] + ties[group, i]) / (members + 1) - pairs[group] * shares[group]
                    if change < best:
                        best, target = change, group
            if target >= 0:
                pairs[home] -= ties[home, i]
                pairs[target] += ties[target, i]
                sizes[home] -= 1
                sizes[target] += 1
                shares[home] = 1.0 / sizes[home]
                shares[target] = 1.0 / sizes[target]
                labels[i] = target
                for j in range(size):
                    ties[home, j] -= near[i, j]
                    ties[target, j] += near[i, j]
                _look_up(union, size)
                home = target
                unimproved = 0
        _weigh_swaps(union, i, size)
        best, other = -least, -1
        for j in range(size):
            if changes[j] < best and labels[j] != home:
                best, other = changes[j], j
        if other >= 0:
            group = labels[other]
            pairs[home] += ties[home, other] - ties[home, i] - near[i, other]
            pairs[group] += ties[group, i] - ties[group, other] - near[i, other]
            labels[i], labels[other] = group, home
            for j in range(size):
                difference = near[i, j] - near[other, j]
                ties[home, j] -= difference
                ties[group, j] += difference
            _look_up(union, size)
            unimproved = 0
        i = i + 1 if i + 1 < size else 0


@borrower
def _look_up(union: Union, size: int) -> None:
    """Keep for each record what belongs to its group, so that swaps are weighed without looking it up."""
    for j in range(size):
        group = union.labels[j]
        union.own[j], union.shares_of[j] = union.ties[group, j], union.shares[group]


@borrower
def _weigh_swaps(union: Union, i: int, size: int) -> None:
    """Compute what the cost changes by if a record changes places with each other one, its own group's included."""
    home = union.labels[i]
    own, share = union.own[i], union.shares[home]
    there, apart, yours, shares = union.ties[home], union.near[i], union.own, union.shares_of
    changes, labels, ties = union.changes, union.labels, union.ties
    for j in range(size):
        changes[j] = ties[labels[j], i]
    for j in range(size):
        change = (there[j] - own - apart[j]) * share
        changes[j] = change + (changes[j] - yours[j] - apart[j]) * shares[j]


@borrower
def put_back(groups: Groups, slots: Ints, records: Ints, labels: Ints, size: int, before: int, after: int) -> None:
    """Write the groups of a union into their slots, taking or leaving slots where their number has changed."""
    for group in range(before):
        groups.sizes[slots[group]] = 0
    for group in range(before, after):
        groups.empties[0] -= 1
        slots[group] = groups.empty[groups.empties[0]]
    for group in range(after, before):
        groups.empty[groups.empties[0]] = slots[group]
        groups.empties[0] += 1
    for i in range(size):
        slot = slots[labels[i]]
        groups.members[slot, groups.sizes[slot]] = records[i]
        groups.sizes[slot] += 1
        groups.labels[records[i]] = slot


@helper
def write_order(groups: Groups, records: Ints, start: int, order: Ints, heads: Ints) -> None:
    """Write groups of a block, whose records these are, into an order and its marks, from `start` on."""
    place = start
    for slot in range(groups.sizes.size):
        for member in range(groups.sizes[slot]):
            order[place] = records[groups.members[slot, member]]
            heads[place] = member == 0
            place += 1


def rehearse() -> None:
    """Compile what a search on islands needs besides its first partitions, on eight points."""
    points = np.arange(16.0).reshape(8, 2)
    labels, near, k = np.arange(8) // 2, np.zeros((8, 1), np.int64), 2
    pool = pooled(8, k, 4)
    anneal(points, k, near, 0.1, 2, False, slotted(labels, k), pool, seeded(0, 0))
    costs = slot_costs(points, slotted(labels, k))
    cross(labels, costs, labels, costs)
    within_sse(points, labels)
    region(points, labels, points[0], 4)
    inside(pool.members[:1], pool.sizes[:1], labels)
    group_costs(points, np.arange(8), np.arange(0, 10, 2))
