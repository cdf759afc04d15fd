"""The groups that a search has formed: each once, with its cost, as columns for the best way to put them together.

A group is known by the exclusive or of its records' random words; with 64 bits, two different groups of a run share
their key with a chance of less than one in a million, and then only one of them is kept.

Which groups lie round a point, and which known groups lie within a region.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words, stable_order
from discreet.kernels.jit import kernel
from discreet.kernels.random import seeded, word


class Pool(NamedTuple):
    """Groups in the order in which they were first formed."""

    words: Words  # record: its random word
    table: Words  # keys, hashed; 0 where free; four times as many places as groups
    members: Ints  # group, place: record
    sizes: Ints
    costs: Floats
    filled: Ints  # how many groups there are


@kernel
def pooled(records: int, k: int, room: int) -> Pool:
    """An empty pool with room for so many groups; with none it takes no note of anything."""
    places = 4
    while places < 4 * room:
        places *= 2
    words = np.empty(records if room else 0, np.uint64)
    state = seeded(records, room)
    for i in range(words.size):
        words[i] = word(state)
    return Pool(
        words,
        np.zeros(places, np.uint64),
        np.zeros((room, 2 * k - 1), np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(1, np.int64),
    )


@kernel
def note(pool: Pool, members: Ints, cost: float) -> None:
    """Take note of a group unless it is known or there is no room."""
    count = pool.filled[0]
    if count == pool.sizes.size:
        return
    key = np.uint64(0)
    for i in range(members.size):
        key ^= pool.words[members[i]]
    mask = pool.table.size - 1
    place = np.int64(key >> np.uint64(32)) & mask
    while pool.table[place] != 0:
        if pool.table[place] == key:
            return
        place = (place + 1) & mask
    pool.table[place] = key
    pool.sizes[count] = members.size
    pool.costs[count] = cost
    for i in range(members.size):
        pool.members[count, i] = members[i]
    pool.filled[0] = count + 1


@kernel
def thin(pool: Pool, duals: Floats, count: int) -> Pool:
    """A pool of so many of the groups, those that cost least beyond the duals of their records, with as much room."""
    filled = pool.filled[0]
    reduced = pool.costs[:filled].copy()
    for group in range(filled):
        for place in range(pool.sizes[group]):
            reduced[group] -= duals[pool.members[group, place]]
    chosen = np.sort(stable_order(reduced)[:count])
    thinned = Pool(
        pool.words,
        np.zeros_like(pool.table),
        np.zeros_like(pool.members),
        np.zeros_like(pool.sizes),
        np.zeros_like(pool.costs),
        np.zeros_like(pool.filled),
    )
    for group in chosen:
        note(thinned, pool.members[group, : pool.sizes[group]], pool.costs[group])
    return thinned


@kernel
def clear(pool: Pool) -> None:
    """Forget all groups."""
    pool.table[:] = 0
    pool.filled[0] = 0


@kernel
def region(points: Floats, labels: Ints, centre: Floats, reach: int) -> Ints:
    """The groups whose centroids are nearest to a point, until they have so many records."""
    n, d = points.shape
    groups = 0
    for i in range(n):
        groups = max(groups, labels[i] + 1)
    centroids, sizes = np.zeros((groups, d)), np.zeros(groups, np.int64)
    for i in range(n):
        sizes[labels[i]] += 1
        for j in range(d):
            centroids[labels[i], j] += points[i, j]
    distances = np.zeros(groups)
    for group in range(groups):
        for j in range(d):
            distances[group] += (centroids[group, j] / sizes[group] - centre[j]) ** 2
    order = stable_order(distances)
    taken, records = 0, 0
    while taken < groups and records < reach:
        records += sizes[order[taken]]
        taken += 1
    return order[:taken]


@kernel
def inside(members: Ints, sizes: Ints, position: Ints) -> Ints:
    """The groups all of whose members have a position (0 or more)."""
    found = np.empty(sizes.size, np.int64)
    count = 0
    for group in range(sizes.size):
        whole = True
        for place in range(sizes[group]):
            if position[members[group, place]] < 0:
                whole = False
                break
        if whole:
            found[count] = group
            count += 1
    return found[:count]
