"""Probabilistic record linkage: patterns of agreement over all pairs, the EM algorithm over them, and the best links.

A pattern is a word: bit a tells whether the codes of attribute a agree. Pairs are never stored. Codes come attribute by
attribute (A × n), so that the compiler compares several records per instruction.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Progress, Words
from discreet.kernels.chunks import sweep
from discreet.kernels.jit import kernel

# Up to so many attributes every pattern has its place in a table; beyond, patterns are hashed.
DENSE = 16
TILE = 4096
BYTE = 8


def patterns(
    original: Ints, weights: Floats, released: Ints, multiplicities: Floats, progress: Progress
) -> tuple[Words, Floats]:
    """Count the pairs of each pattern of agreement: the patterns that occur, in ascending order, and their counts.

    Parameters
    ----------
    original, released : arrays of int, A × n
        Codes of the distinct records.
    weights, multiplicities : arrays of float
        How many records each of them stands for.
    progress : callable
        Told the fraction done.
    """
    count, size = original.shape[1], released.shape[1]
    if original.shape[0] <= DENSE:
        table = np.zeros(2 ** original.shape[0])
        sweep(
            lambda start, end: _tabulate(original[:, start:end], weights[start:end], released, multiplicities, table),
            count,
            progress,
        )
        found = np.flatnonzero(table)
        return found.astype(np.uint64), table[found]
    keys, totals, used = _empty(2**16)

    def step(start: int, end: int) -> None:
        nonlocal keys, totals, used
        for at in range(start, end):
            for tile in range(0, size, TILE):
                if 2 * (used + TILE) > keys.size:
                    larger = _empty(2 * keys.size)
                    used = _insert(keys[keys > 0] - np.uint64(1), totals[keys > 0], larger[0], larger[1], 0)
                    keys, totals = larger[:2]
                stretch = slice(tile, tile + TILE)
                words = np.zeros(min(TILE, size - tile), np.uint64)
                _compare(original[:, at], released[:, stretch], words)
                used = _insert(words, weights[at] * multiplicities[stretch], keys, totals, used)

    sweep(step, count, progress)
    order = np.argsort(keys[keys > 0])
    return (keys[keys > 0] - np.uint64(1))[order], totals[keys > 0][order]


def _empty(size: int) -> tuple[Words, Floats, int]:
    """Make a hash table of a power of two of places; a key is its pattern plus 1, and 0 an empty place."""
    return np.zeros(size, np.uint64), np.zeros(size), 0


@kernel
def _compare(record: Ints, released: Ints, words: Words) -> None:
    """Write the pattern of agreement of one record with each of the released."""
    words[:] = np.uint64(0)
    for a in range(record.size):
        code, column = record[a], released[a]
        bit = np.uint64(1) << np.uint64(a)
        for j in range(words.size):
            words[j] |= bit if column[j] == code else np.uint64(0)


@kernel
def _tabulate(original: Ints, weights: Floats, released: Ints, multiplicities: Floats, table: Floats) -> None:
    words = np.zeros(TILE, np.uint64)
    for tile in range(0, released.shape[1], TILE):
        end = min(tile + TILE, released.shape[1])
        for i in range(original.shape[1]):
            _compare(original[:, i], released[:, tile:end], words[: end - tile])
            for j in range(end - tile):
                table[words[j]] += weights[i] * multiplicities[tile + j]


@kernel
def _insert(words: Words, amounts: Floats, keys: Words, totals: Floats, used: int) -> int:
    """Add amounts to the patterns' places, making those that are new; give the number of patterns."""
    last = np.uint64(keys.size - 1)
    for j in range(words.size):
        key = words[j] + np.uint64(1)
        at = key * np.uint64(0x9E3779B97F4A7C15)
        at = (at ^ (at >> np.uint64(32))) & last
        while keys[at] != np.uint64(0) and keys[at] != key:
            at = (at + np.uint64(1)) & last
        if keys[at] == np.uint64(0):
            keys[at] = key
            used += 1
        totals[at] += amounts[j]
    return used


@kernel
def expect(words: Words, counts: Floats, agree: Floats, differ: Floats, prior: float, sums: Floats) -> None:
    """Do the E-step: sum the chance of being a match over all pairs, and over those that agree on each attribute.

    The log-odds of a pattern are looked up byte by byte, and its chance is added up byte by byte, so that the work per
    pattern is an eighth of its attributes.

    Parameters
    ----------
    words, counts : arrays
        Patterns and how many pairs have them.
    agree, differ : arrays of float
        The log-odds that agreement and disagreement on an attribute add.
    prior : float
        The log-odds of a match before comparing.
    sums : array of float, A + 1
        Filled: matches that agree on each attribute; last, all matches.
    """
    width = agree.size
    parts = (width + BYTE - 1) // BYTE
    odds = np.zeros((parts, 256))
    chances = np.zeros((parts, 256))
    for part in range(parts):
        for value in range(256):
            for a in range(part * BYTE, min(part * BYTE + BYTE, width)):
                odds[part, value] += agree[a] if (value >> (a - part * BYTE)) & 1 else differ[a]
    sums[:] = 0.0
    mask = np.uint64(255)
    for i in range(words.size):
        total = prior
        for part in range(parts):
            total += odds[part, (words[i] >> np.uint64(part * BYTE)) & mask]
        chance = counts[i] / (1.0 + np.exp(-total))
        sums[width] += chance
        for part in range(parts):
            chances[part, (words[i] >> np.uint64(part * BYTE)) & mask] += chance
    for a in range(width):
        part, bit = a // BYTE, a % BYTE
        for value in range(256):
            if (value >> bit) & 1:
                sums[a] += chances[part, value]


@kernel
def best(
    original: Ints,
    released: Ints,
    multiplicities: Floats,
    agree: Floats,
    differ: Floats,
    slack: float,
    tops: Floats,
    ties: Floats,
) -> None:
    """Find each original's highest weight over all released records, and how many of these reach it but for a slack."""
    width, size = released.shape
    work = np.zeros(size)
    for i in range(original.shape[1]):
        for tile in range(0, size, TILE):
            stretch = work[tile : tile + TILE]
            stretch[:] = 0.0
            for a in range(width):
                code, column = original[a, i], released[a, tile : tile + TILE]
                plus, minus = agree[a], differ[a]
                for j in range(stretch.size):
                    stretch[j] += plus if column[j] == code else minus
        top = -np.inf
        for j in range(size):
            top = max(top, work[j])
        tops[i], ties[i] = top, 0.0
        for j in range(size):
            if work[j] >= top - slack:
                ties[i] += multiplicities[j]


@kernel
def weigh(original: Ints, released: Ints, agree: Floats, differ: Floats, weights: Floats) -> None:
    """Sum the weight of each original with its own released record, in the order in which `best` sums."""
    weights[:] = 0.0
    for a in range(agree.size):
        for i in range(weights.size):
            weights[i] += agree[a] if original[a, i] == released[a, i] else differ[a]
