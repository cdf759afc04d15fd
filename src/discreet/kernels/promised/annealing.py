"""Annealing of groups that keep further promises: swaps and moves of records, splits and mergers of groups.

At every moment all groups keep what is promised. The change of the loss by a swap or a move follows from the centroids
(O(d)) and, for categories, from a look at the two groups; what is promised is looked at only for changes that would be
accepted. A swap of two records with near values in a constrained column hardly changes its distribution: partners are
sought in neighbouring groups within a random distance of values, and the best of them is tried.
"""

import numpy as np

from discreet.kernels.arrays import Ints, Words, stable_order
from discreet.kernels.jit import borrower, helper, kernel
from discreet.kernels.mixed.groups import Mixed, loss_of
from discreet.kernels.promised.constraints import Promised, Room, keeps, room_for
from discreet.kernels.promised.slots import Groups, code_loss, copy, enter, leave
from discreet.kernels.random import below, uniform

# Shares of the changes that are tried; all others are swaps.
SPLITS, REDIVISIONS, DISSOLUTIONS, MOVES = 0.02, 0.01, 0.01, 0.28


@kernel
def anneal(
    mixed: Mixed,
    promised: Promised,
    near: Ints,
    temperature: float,
    steps: int,
    groups: Groups,
    rng: Words,
) -> float:
    """Try so many changes at a temperature; give what the loss has changed by.

    Parameters
    ----------
    mixed : Mixed
        The records.
    promised : Promised
        What groups must keep; they do when it begins.
    near : array of shape (n, m)
        The nearest records of each record, nearest first.
    temperature : float
        A change that adds x to the loss is made with the chance exp(−x / temperature).
    steps : int
        How many changes to try.
    groups : Groups
        The partition; changed in place.
    rng : array of 4 words
        The random state.
    """
    n = mixed.numbers.shape[0]
    room = room_for(promised)
    tally = np.zeros(mixed.levels, np.int64)
    total = 0.0
    for _ in range(steps):
        record = below(rng, n)
        limit = -temperature * np.log(1.0 - uniform(rng))
        kind = uniform(rng)
        if kind < SPLITS:
            total += _divide(mixed, promised, groups, groups.labels[record], -1, limit, room, tally, rng)
            continue
        if kind < SPLITS + DISSOLUTIONS:
            total += _dissolve(mixed, promised, near, groups, groups.labels[record], limit, room, tally)
            continue
        far = uniform(rng)
        other = groups.labels[near[record, int(far * far * near.shape[1])]]
        if other == groups.labels[record]:
            continue
        if kind < SPLITS + DISSOLUTIONS + REDIVISIONS:
            total += _divide(mixed, promised, groups, groups.labels[record], other, limit, room, tally, rng)
        elif kind < SPLITS + DISSOLUTIONS + REDIVISIONS + MOVES:
            total += _move(mixed, promised, groups, record, other, limit, room, tally)
        else:
            total += _swap(mixed, promised, groups, record, other, limit, room, tally, rng)
    return total


@borrower
def _move(
    mixed: Mixed, promised: Promised, groups: Groups, record: int, there: int, limit: float, room: Room, tally: Ints
) -> float:
    """Move a record to another group, if that adds no more than the limit and both keep what is promised."""
    here = groups.labels[record]
    s, r = groups.sizes[here], groups.sizes[there]
    if s <= promised.k or r == groups.members.shape[1]:
        return 0.0
    leaving, joining = 0.0, 0.0
    for j in range(mixed.numbers.shape[1]):
        x = mixed.numbers[record, j]
        leaving += (x - groups.sums[here, j] / s) ** 2
        joining += (x - groups.sums[there, j] / r) ** 2
    change = joining * r / (r + 1) - leaving * s / (s - 1)
    if change > limit + groups.losses[here]:
        return 0.0
    copy(groups, here, room.members)
    copy(groups, there, room.others)
    room.members[groups.places[record]], room.others[r] = room.members[s - 1], record
    change = _change(
        mixed, promised, groups, here, there, room.members[: s - 1], room.others[: r + 1], change, limit, room, tally
    )
    if change > limit:
        return 0.0
    leave(mixed, groups, record)
    enter(mixed, groups, record, there)
    return change


@borrower
def _change(
    mixed: Mixed,
    promised: Promised,
    groups: Groups,
    here: int,
    there: int,
    mine: Ints,
    yours: Ints,
    change: float,
    limit: float,
    room: Room,
    tally: Ints,
) -> float:
    """What the loss changes by if two groups become others, given what it does by numbers; infinite if that may not be.

    What their codes lose is noted if it may.
    """
    first, second = 0.0, 0.0
    if mixed.codes.shape[1]:
        first, second = code_loss(mixed, mine, tally), code_loss(mixed, yours, tally)
        change += first + second - groups.losses[here] - groups.losses[there]
    if change > limit or not keeps(promised, mine, room) or not keeps(promised, yours, room):
        return np.inf
    groups.losses[here], groups.losses[there] = first, second
    return change


@borrower
def _swap(
    mixed: Mixed,
    promised: Promised,
    groups: Groups,
    record: int,
    there: int,
    limit: float,
    room: Room,
    tally: Ints,
    rng: Words,
) -> float:
    """Swap a record with the best of another group whose value is near, by the same rule."""
    here, p = groups.labels[record], mixed.numbers.shape[1]
    s, r = groups.sizes[here], groups.sizes[there]
    within, column = 0, -1
    if promised.kinds.size:
        column = below(rng, promised.kinds.size)
        levels = promised.firsts[column + 1] - promised.firsts[column]
        far = uniform(rng)
        within = int(far * far * levels)
    mine, yours = 1.0 / s, 1.0 / r
    best, partner = np.inf, -1
    for place in range(r):
        other = groups.members[there, place]
        if column >= 0 and abs(promised.middles[column, record] - promised.middles[column, other]) > within:
            continue
        across, square = 0.0, 0.0
        for j in range(p):
            e = mixed.numbers[other, j] - mixed.numbers[record, j]
            across += e * (groups.sums[here, j] * mine - groups.sums[there, j] * yours)
            square += e * e
        change = -2.0 * across - square * (mine + yours)
        if mixed.codes.shape[1]:
            # Roughly: whoever has the codes of his new group costs little there.
            change += 0.5 * _differ(mixed, record, other)
        if change < best:
            best, partner = change, other
    if partner < 0:
        return 0.0
    change = best
    if mixed.codes.shape[1]:
        change -= 0.5 * _differ(mixed, record, partner)
    if change > limit + groups.losses[here] + groups.losses[there]:
        return 0.0
    copy(groups, here, room.members)
    copy(groups, there, room.others)
    room.members[groups.places[record]], room.others[groups.places[partner]] = partner, record
    change = _change(
        mixed, promised, groups, here, there, room.members[:s], room.others[:r], change, limit, room, tally
    )
    if change > limit:
        return 0.0
    groups.members[here, groups.places[record]], groups.members[there, groups.places[partner]] = partner, record
    groups.places[record], groups.places[partner] = groups.places[partner], groups.places[record]
    groups.labels[record], groups.labels[partner] = there, here
    for j in range(p):
        e = mixed.numbers[partner, j] - mixed.numbers[record, j]
        groups.sums[here, j] += e
        groups.sums[there, j] -= e
    return change


@borrower
def _differ(mixed: Mixed, a: int, b: int) -> float:
    total = 0.0
    for j in range(mixed.codes.shape[1]):
        total += mixed.prices[j] * (mixed.codes[a, j] != mixed.codes[b, j])
    return total


@borrower
def _apart(mixed: Mixed, a: int, b: int) -> float:
    total = _differ(mixed, a, b)
    for j in range(mixed.numbers.shape[1]):
        total += (mixed.numbers[a, j] - mixed.numbers[b, j]) ** 2
    return total


@helper
def _divide(
    mixed: Mixed,
    promised: Promised,
    groups: Groups,
    here: int,
    there: int,
    limit: float,
    room: Room,
    tally: Ints,
    rng: Words,
) -> float:
    """Divide a group, or two together, in two round far members, by the same rule; a single group never loses by it."""
    k, size = promised.k, groups.sizes[here]
    if there < 0:
        there = 0
        while there < groups.sizes.size and groups.sizes[there] > 0:
            there += 1
        if size < 2 * k or there == groups.sizes.size:
            return 0.0
    before = loss_of(mixed, groups.members[here, :size], tally)
    before += loss_of(mixed, groups.members[there, : groups.sizes[there]], tally)
    whole = np.empty(size + groups.sizes[there], np.int64)
    for place in range(size):
        whole[place] = groups.members[here, place]
    for place in range(groups.sizes[there]):
        whole[size + place] = groups.members[there, place]
    size, most = whole.size, groups.members.shape[1]
    first = whole[below(rng, size)]
    second, farthest = first, -1.0
    for place in range(size):
        distance = _apart(mixed, first, whole[place])
        if distance > farthest:
            second, farthest = whole[place], distance
    keys = np.empty(size)
    for place in range(size):
        keys[place] = _apart(mixed, first, whole[place]) - _apart(mixed, second, whole[place])
    mine, yours = room.members, room.others
    count, rest = 0, 0
    if promised.kinds.size and uniform(rng) < 0.5:
        # Of each two that follow each other in the values of a column, one for either group.
        column = below(rng, promised.kinds.size)
        codes = np.empty(size)
        for place in range(size):
            codes[place] = promised.middles[column, whole[place]]
        order = stable_order(codes)
        for place in range(0, size - 1, 2):
            a, b = order[place], order[place + 1]
            if keys[a] > keys[b]:
                a, b = b, a
            mine[count], yours[rest] = whole[a], whole[b]
            count, rest = count + 1, rest + 1
        if size % 2:
            mine[count] = whole[order[size - 1]]
            count += 1
    else:
        order = stable_order(keys)
        share = k + below(rng, size - 2 * k + 1)
        for place in range(size):
            if place < share:
                mine[count] = whole[order[place]]
                count += 1
            else:
                yours[rest] = whole[order[place]]
                rest += 1
    if count > most or rest > most:
        return 0.0
    change = loss_of(mixed, mine[:count], tally) + loss_of(mixed, yours[:rest], tally) - before
    if change > limit or not keeps(promised, mine[:count], room) or not keeps(promised, yours[:rest], room):
        return 0.0
    for slot in (here, there):
        groups.sizes[slot] = 0
        for j in range(mixed.numbers.shape[1]):
            groups.sums[slot, j] = 0.0
    for place in range(count):
        enter(mixed, groups, mine[place], here)
    for place in range(rest):
        enter(mixed, groups, yours[place], there)
    groups.losses[here] = code_loss(mixed, mine[:count], tally)
    groups.losses[there] = code_loss(mixed, yours[:rest], tally)
    return change


@helper
def _dissolve(
    mixed: Mixed,
    promised: Promised,
    near: Ints,
    groups: Groups,
    slot: int,
    limit: float,
    room: Room,
    tally: Ints,
) -> float:
    """Give the members of a group to the groups of their neighbours where they cost least, by the same rule."""
    size, p = groups.sizes[slot], mixed.numbers.shape[1]
    members = groups.members[slot, :size].copy()
    takers, count, given = np.empty(size, np.int64), 0, 0
    change = -loss_of(mixed, members, tally)
    while given < size and change <= limit:
        record, best, least, added = members[given], -1, np.inf, 0.0
        for at in range(near.shape[1]):
            other = groups.labels[near[record, at]]
            r = groups.sizes[other]
            if other == slot or r == groups.members.shape[1]:
                continue
            joining = 0.0
            for j in range(p):
                joining += (mixed.numbers[record, j] - groups.sums[other, j] / r) ** 2
            joining *= r / (r + 1)
            # Whoever differs from a member of another group costs about half of that there.
            rough = joining + 0.5 * _differ(mixed, record, near[record, at])
            if rough < least:
                best, least, added = other, rough, joining
        if best < 0:
            break
        known = False
        for taker in range(count):
            known = known or takers[taker] == best
        if not known:
            takers[count] = best
            count += 1
        change += added
        leave(mixed, groups, record)
        enter(mixed, groups, record, best)
        given += 1
    kept = given == size and change <= limit
    losses = np.zeros(count)
    for taker in range(count):
        other = takers[taker]
        own = groups.members[other, : groups.sizes[other]]
        losses[taker] = code_loss(mixed, own, tally)
        change += losses[taker] - groups.losses[other]
        kept = kept and change <= limit and keeps(promised, own, room)
    if not kept:
        for place in range(given - 1, -1, -1):
            leave(mixed, groups, members[place])
            enter(mixed, groups, members[place], slot)
        return 0.0
    for taker in range(count):
        groups.losses[takers[taker]] = losses[taker]
    groups.losses[slot] = 0.0
    for j in range(p):
        groups.sums[slot, j] = 0.0
    return float(change)
