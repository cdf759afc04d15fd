"""The groups that a search has formed: each once, with its cost, as columns for the best way to put them together.

A group is known by the exclusive or of its records' random words; with 64 bits, two different groups of a run share
their key with a chance of less than one in a million, and then only one of them is kept.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words
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
def clear(pool: Pool) -> None:
    """Forget all groups."""
    pool.table[:] = 0
    pool.filled[0] = 0
