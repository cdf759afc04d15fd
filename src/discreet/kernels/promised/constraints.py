"""What each group must keep besides its size, and how far a group is from keeping it.

A group of records is judged by persons (at least k different ones) and by columns, each in one of four ways: so many
different values, shared out among as many persons (distinct l-diversity); so much entropy (entropy l-diversity); and an
earth mover's distance to the distribution of all records that is not above a limit (t-closeness), over values in their
order or all equally far apart. In entropies and distributions a record counts by its vote.

What is grouped are units: records, or households of one size, which are persons whose records are those of the members.

All of it is closed under union: if two groups keep it, so does their union.

The ordered distance is (1/(m−1))·Σ |C(i) − F(i)| over all but the last of m values, C and F the cumulated shares of the
group and of all. Between two values of the group C is constant and F rises, so with sums of F from the beginning each
stretch takes one look-up of where they cross: O(s log m) for s records. Where all votes are equal, C has so few heights
that the crossings are known beforehand.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import borrower, helper, kernel

# How a column is judged.
DISTINCT, ENTROPY, ORDERED, EQUAL = 0, 1, 2, 3
# What rounding may add to a distance or take from an entropy.
ROUNDING = 1e-10
# Up to so many records are sorted by insertion, and crossings known beforehand.
FEW = 48


class Promised(NamedTuple):
    """What groups must keep; the reference is over all records of a file, whatever part of them is at hand."""

    k: int  # least number of persons
    width: int  # records of a unit, which stand one after the other: 1, or the members of a household
    several: bool  # whether a person may have several records
    equal: bool  # whether all records have the same vote
    persons: Ints  # record: its person, 0, 1, …
    votes: Floats  # record: what it counts
    codes: Ints  # column, record: the value, 0, 1, … in its order
    middles: Ints  # column, unit: its value; of several records the middle one
    kinds: Ints  # column: DISTINCT, ENTROPY, ORDERED or EQUAL
    limits: Floats  # column: the least number, the least entropy or the greatest distance
    firsts: Ints  # column: where its reference begins; one more at the end
    shares: Floats  # column and code: share of all votes
    cumulated: Floats  # the same, cumulated
    prefixes: Floats  # sum of `cumulated` of all lower codes
    looks: Ints  # column, share in 1024ths: the first code at which at least this share is reached
    crossings: Ints  # column, number of records, some of these: the first code at which their share is reached


class Room(NamedTuple):
    """Room for work: counts that are 0 before and after, and lists."""

    tally: Floats  # code: votes
    persons: Ints  # person: 1 if counted
    codes: Ints
    votes: Floats
    matched: Ints  # person: the place of the value that he stands for, and one more
    queue: Ints
    before: Ints
    records: Ints  # of units
    members: Ints  # of a group as it would be
    others: Ints


@helper
def room_for(promised: Promised) -> Room:
    """Room to judge groups of these records."""
    n = promised.persons.size
    levels, persons = 1, 0
    for column in range(promised.kinds.size):
        levels = max(levels, promised.firsts[column + 1] - promised.firsts[column])
    for i in range(n):
        persons = max(persons, promised.persons[i] + 1)
    lists = n if promised.several else 0
    return Room(
        np.zeros(levels),
        np.zeros(persons if promised.several else 0, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n),
        np.zeros(persons if promised.several else 0, np.int64),
        np.zeros(lists, np.int64),
        np.zeros(lists, np.int64),
        np.zeros(n if promised.width > 1 else 0, np.int64),
        np.zeros(n // promised.width, np.int64),
        np.zeros(n // promised.width, np.int64),
    )


@borrower
def _list_records(promised: Promised, units: Ints, room: Room) -> None:
    """List the records of some units."""
    width = promised.width
    for place in range(units.size):
        for member in range(width):
            room.records[place * width + member] = units[place] * width + member


@borrower
def keeps(promised: Promised, units: Ints, room: Room) -> bool:
    """Whether a group keeps all that is promised."""
    if units.size < promised.k:
        return False
    records = units
    if promised.width > 1:
        _list_records(promised, units, room)
        records = room.records[: units.size * promised.width]
    if promised.several and promised.width == 1 and _count_persons(promised, records, room) < promised.k:
        return False
    kept = True
    for column in range(promised.kinds.size):
        kept = kept and lack(promised, column, records, room) == 0.0
    return kept


@borrower
def excess(promised: Promised, units: Ints, room: Room) -> float:
    """How far a group is from keeping all that is promised, in parts of each limit; 0 if it does."""
    records = units
    if promised.width > 1:
        _list_records(promised, units, room)
        records = room.records[: units.size * promised.width]
    persons = _count_persons(promised, records, room) if promised.several else records.size
    total = max(0.0, (promised.k - persons) / promised.k)
    for column in range(promised.kinds.size):
        total += lack(promised, column, records, room) / max(promised.limits[column], ROUNDING)
    return total


@kernel
def group_excesses(promised: Promised, order: Ints, starts: Ints) -> Floats:
    """The excess of each group; group g has the units order[starts[g] : starts[g + 1]]."""
    room = room_for(promised)
    found = np.zeros(starts.size - 1)
    for group in range(found.size):
        found[group] = excess(promised, order[starts[group] : starts[group + 1]], room)
    return found


@kernel
def measured(promised: Promised, column: int, records: Ints) -> float:
    """What a column comes to in a group: number of values, entropy or distance."""
    return measure(promised, column, records, room_for(promised))


@kernel
def count_persons(promised: Promised, records: Ints) -> int:
    """The number of different persons in a group."""
    return _count_persons(promised, records, room_for(promised)) if promised.several else records.size


@borrower
def lack(promised: Promised, column: int, members: Ints, room: Room) -> float:
    """How far a group of records is from a column's limit; 0 if it keeps it."""
    found, limit = measure(promised, column, members, room), promised.limits[column]
    short = found - limit if promised.kinds[column] >= ORDERED else limit - found
    return short if short > ROUNDING else 0.0


@borrower
def measure(promised: Promised, column: int, members: Ints, room: Room) -> float:
    """What a column comes to in a group of records: number of values, entropy or distance."""
    kind = promised.kinds[column]
    if kind == ORDERED:
        return _distance(promised, column, members, room)
    if kind == DISTINCT and promised.several:
        return float(_count_pairs(promised, column, members, room))
    codes, tally, first = promised.codes[column], room.tally, promised.firsts[column]
    if kind == DISTINCT:
        return float(_count_values(codes, promised.limits[column], members, tally, room.codes))
    distinct, total = 0, 0.0
    for place in range(members.size):
        code = codes[members[place]]
        if tally[code] == 0.0:
            room.codes[distinct] = code
            distinct += 1
        tally[code] += promised.votes[members[place]]
        total += promised.votes[members[place]]
    found = 0.0
    for place in range(distinct):
        code = room.codes[place]
        share = tally[code] / total
        tally[code] = 0.0
        if kind == ENTROPY:
            found -= share * np.log(share)
        else:
            found += max(0.0, share - promised.shares[first + code])
    return found


@borrower
def _count_values(codes: Ints, limit: float, members: Ints, tally: Floats, seen: Ints) -> int:
    """The number of different values; it is not sought beyond the limit."""
    distinct = 0
    for place in range(members.size):
        if distinct >= limit:
            break
        code = codes[members[place]]
        if tally[code] == 0.0:
            tally[code], seen[distinct] = 1.0, code
            distinct += 1
    for place in range(distinct):
        tally[seen[place]] = 0.0
    return distinct


@borrower
def _distance(promised: Promised, column: int, members: Ints, room: Room) -> float:
    """The earth mover's distance of a group over values in their order."""
    codes, first = promised.codes[column], promised.firsts[column]
    levels = promised.firsts[column + 1] - first
    size = members.size
    if levels < 2:
        return 0.0
    if promised.equal and size <= FEW and levels > 2 * size:
        prefixes, crossings = promised.prefixes[first : first + levels], promised.crossings[column, size]
        return _distance_of_few(codes, prefixes, crossings, members, room.codes)
    total = 0.0
    for place in range(size):
        total += promised.votes[members[place]]
    if levels <= 2 * size:
        # Few values: their counts need no sorting.
        for place in range(size):
            room.tally[codes[members[place]]] += promised.votes[members[place]]
        held, distance = 0.0, 0.0
        for code in range(levels - 1):
            held += room.tally[code]
            room.tally[code] = 0.0
            distance += abs(held / total - promised.cumulated[first + code])
        room.tally[levels - 1] = 0.0
        return float(distance / (levels - 1))
    _sort(promised, column, members, room)
    held, distance, at = 0.0, 0.0, 0
    for place in range(size):
        end = room.codes[place]
        if end > at:
            distance += _stretch(promised, column, first, at, end, held / total)
            at = end
        held += room.votes[place]
    if levels - 1 > at:
        distance += _stretch(promised, column, first, at, levels - 1, held / total)
    return float(distance / (levels - 1))


@borrower
def _distance_of_few(codes: Ints, prefixes: Floats, crossings: Ints, members: Ints, ordered: Ints) -> float:
    """The same of a few records whose votes are equal.

    From a to b, the codes of two that follow each other, C is constant, and F reaches it at x: the stretch adds
    C·(2x − a − b) + S(a) + S(b) − 2·S(x), with S the sums of F.
    """
    size, last = members.size, prefixes.size - 1
    for place in range(size):
        code, at = codes[members[place]], place
        while at > 0 and ordered[at - 1] > code:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = code
    share = 1.0 / size
    start = ordered[0]
    distance = prefixes[start]
    for place in range(1, size):
        end = ordered[place]
        cross = min(max(crossings[place], start), end)
        distance += share * place * (2 * cross - start - end) + prefixes[start] + prefixes[end] - 2.0 * prefixes[cross]
        start = end
    distance += (last - start) - (prefixes[last] - prefixes[start])
    return float(distance / last)


@borrower
def _sort(promised: Promised, column: int, members: Ints, room: Room) -> None:
    """List the codes of a group in their order, with their votes (by insertion over gaps that get smaller)."""
    codes, votes, size = room.codes, room.votes, members.size
    for place in range(size):
        codes[place], votes[place] = promised.codes[column, members[place]], promised.votes[members[place]]
    gap = size // 2
    while gap > 0:
        for place in range(gap, size):
            code, vote, at = codes[place], votes[place], place
            while at >= gap and codes[at - gap] > code:
                codes[at], votes[at] = codes[at - gap], votes[at - gap]
                at -= gap
            codes[at], votes[at] = code, vote
        gap //= 2


@borrower
def _stretch(promised: Promised, column: int, first: int, start: int, end: int, held: float) -> float:
    """The sum of |held − F(i)| for the codes from start to end−1."""
    cumulated, prefixes = promised.cumulated, promised.prefixes
    all_of_it = prefixes[first + end] - prefixes[first + start]
    if cumulated[first + start] >= held:
        return float(all_of_it - held * (end - start))
    if cumulated[first + end - 1] <= held:
        return float(held * (end - start) - all_of_it)
    looks = promised.looks[column]
    bin_of = int(held * (looks.size - 2))
    low, high = max(start, looks[bin_of]), min(end, looks[bin_of + 1])
    while low < high:
        middle = (low + high) // 2
        if cumulated[first + middle] >= held:
            high = middle
        else:
            low = middle + 1
    below_it = prefixes[first + low] - prefixes[first + start]
    return float(held * (low - start) - below_it + (all_of_it - below_it) - held * (end - low))


@borrower
def _count_persons(promised: Promised, members: Ints, room: Room) -> int:
    count = 0
    for place in range(members.size):
        person = promised.persons[members[place]]
        count += 1 - room.persons[person]
        room.persons[person] = 1
    for place in range(members.size):
        room.persons[promised.persons[members[place]]] = 0
    return count


@borrower
def _count_pairs(promised: Promised, column: int, members: Ints, room: Room) -> int:
    """The most different values that as many different persons stand for: a maximum matching, by augmenting paths.

    It is not sought beyond the limit.
    """
    codes, persons, matched, size = promised.codes[column], promised.persons, room.matched, members.size
    pairs = 0
    for first in range(size):
        if pairs >= promised.limits[column]:
            break
        code = codes[members[first]]
        if room.tally[code] > 0.0:
            continue  # the value was sought a person for before, and will not get one by others
        room.tally[code] = 1.0
        # Search from the value, in breadth, for a person who stands for none yet.
        room.queue[0], room.before[0] = first, -1
        head, tail, free = 0, 1, -1
        while head < tail and free < 0:
            code = codes[members[room.queue[head]]]
            for place in range(size):
                if codes[members[place]] != code:
                    continue
                person = persons[members[place]]
                if room.persons[person]:
                    continue
                room.persons[person] = head + 1
                if matched[person] == 0:
                    free = person
                    break
                room.queue[tail], room.before[tail] = matched[person] - 1, head
                tail += 1
            head += 1
        if free >= 0:
            pairs += 1
            at = room.persons[free] - 1
            while at >= 0:
                value = room.queue[at]
                # The person whom this value stood with before, if any, becomes free for the value before it.
                earlier = -1
                for place in range(size):
                    if matched[persons[members[place]]] == value + 1:
                        earlier = persons[members[place]]
                matched[free] = value + 1
                free, at = earlier, room.before[at]
        for place in range(size):
            room.persons[persons[members[place]]] = 0
    for place in range(size):
        room.tally[codes[members[place]]] = 0.0
        matched[persons[members[place]]] = 0
    return pairs
