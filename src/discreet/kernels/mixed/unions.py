"""Local search on unions of neighbouring groups of records with numbers and categories.

As for points, a step takes a few neighbouring groups, perturbs or rebuilds them, descends by moving and swapping
records, and keeps the outcome by the rule of annealing. But the loss counted is that of means and modes. Numbers go by
the sums of squared distances within the union. Of categories it is known how often each occurs in each group, the count
of the mode (top) and how many categories share it (holders), from which the change by a move or a swap follows in O(1)
per attribute: whoever leaves takes nothing along but the price of his value, if that was not the only mode.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, Words
from discreet.kernels.jit import helper, kernel
from discreet.kernels.memetic.crossover import cross
from discreet.kernels.memetic.unions import (
    KICK,
    MOST,
    NOTHING,
    Groups,
    Union,
    first_above,
    gather,
    kick,
    put_back,
    rebuild,
    room,
    room_for,
    slotted,
    write_order,
)
from discreet.kernels.mixed.groups import Mixed, centres, loss_of
from discreet.kernels.random import below, uniform

# Groups whose mean and modes are nearest to a record: from them come the groups of a union.
AROUND = 10
# Temperatures in a pass that anneals.
STAGES = 6
# Records in a union, unless two groups have more: a step grows with their square.
ROOM = 200


class Values(NamedTuple):
    """What a union has beside distances, which count categories too in `near`, but not in `ties` and `pairs`."""

    codes: Ints  # record, attribute; codes are numbered 0, 1, … within the union
    used: Ints  # attribute: how many codes there are
    apart: Floats  # squared distances between the numbers of records
    tally: Ints  # group, attribute, code: how often
    top: Ints  # group, attribute: how often the mode
    holders: Ints  # group, attribute: how many codes are as frequent as the mode
    gains: Floats  # record: what its group's codes lose less without it


@helper
def _values(records: int, k: int, q: int) -> Values:
    groups = records // k
    return Values(
        codes=np.zeros((records, q), np.int64),
        used=np.zeros(q, np.int64),
        apart=np.zeros((records, records)),
        tally=np.zeros((groups, q, records), np.int64),
        top=np.zeros((groups, q), np.int64),
        holders=np.zeros((groups, q), np.int64),
        gains=np.zeros(records),
    )


@kernel
def improve(
    mixed: Mixed,
    order: Ints,
    heads: Ints,
    start: int,
    end: int,
    k: int,
    sweep: bool,
    steps: int,
    heat: float,
    rng: Words,
) -> float:
    """Search within one block, which stands from `start` to `end` in the order; give what it loses.

    Parameters
    ----------
    mixed : Mixed
        All records.
    order, heads : arrays of n ints
        The partition; changed within the block.
    start, end : int
        The block.
    k : int
        Least size of a group.
    sweep : bool
        Whether to descend from each group with its neighbours first.
    steps : int
        Unions to perturb or rebuild.
    heat : float
        The temperature to begin with; it falls to 0.
    rng : array of 4 words
        The random state.
    """
    records = order[start:end].copy()
    local = Mixed(mixed.numbers[records], mixed.codes[records], mixed.prices, mixed.levels)
    labels = np.cumsum(heads[start:end]) - 1
    groups = slotted(labels, k)
    tally = np.zeros(mixed.levels, np.int64)
    before = _slot_losses(local, groups, tally)
    count = labels[-1] + 1
    if count < 2 or before.sum() == 0.0:
        return float(before.sum())
    near = _near_groups(local, labels, count)
    most = min(room_for(k, ROOM), records.size)
    union, values = room(most, k, groups.sizes.size), _values(most, k, local.codes.shape[1])
    taken = 0
    for slot in range(count if sweep else 0):
        if before[slot] > 0.0 and groups.sizes[slot] > 0:
            taken += 1
            _step(local, k, near, groups, groups.members[slot, 0], MOST, 0.0, 0, taken, union, values, rng)
    stages = 1 if heat == 0.0 else STAGES
    for stage in range(stages):
        odds = np.cumsum(np.sqrt(_slot_losses(local, groups, tally)))
        cold = 1.0 - stage / max(1, stages - 1)
        for _ in range(steps // stages):
            taken += 1
            slot = first_above(odds, uniform(rng) * odds[-1])
            first = below(rng, records.size)
            if slot < odds.size and groups.sizes[slot] > 0:
                first = groups.members[slot, below(rng, groups.sizes[slot])]
            ruin = 1 if uniform(rng) < KICK else 2
            wanted = 2 + below(rng, MOST - 1)
            _step(local, k, near, groups, first, wanted, heat * cold * cold, ruin, taken, union, values, rng)
    after = _slot_losses(local, groups, tally)
    if heat > 0.0:
        # What annealing has made worse somewhere is not taken.
        labels, _ = cross(labels, before, groups.labels, after)
        groups = slotted(labels, k)
        after = _slot_losses(local, groups, tally)
    write_order(groups, records, start, order, heads)
    return float(after.sum())


@helper
def _slot_losses(mixed: Mixed, groups: Groups, tally: Ints) -> Floats:
    losses = np.zeros(groups.sizes.size)
    for slot in range(losses.size):
        losses[slot] = loss_of(mixed, groups.members[slot, : groups.sizes[slot]], tally)
    return losses


@helper
def _near_groups(mixed: Mixed, labels: Ints, count: int) -> Ints:
    """For each record a member of each of the groups, its own aside, whose mean and modes are nearest to it."""
    n, p, q = labels.size, mixed.numbers.shape[1], mixed.codes.shape[1]
    starts = np.full(count + 1, n)
    for i in range(n - 1, -1, -1):
        starts[labels[i]] = i
    means, modes = centres(mixed, np.arange(n), starts)
    width = min(AROUND, count - 1)
    near = np.zeros((n, width), np.int64)
    distances = np.zeros(width)
    for i in range(n):
        found = 0
        for group in range(count):
            if group == labels[i]:
                continue
            limit = distances[width - 1] if found == width else np.inf
            distance = 0.0
            for j in range(p):
                distance += (mixed.numbers[i, j] - means[group, j]) ** 2
            for j in range(q):
                distance += mixed.prices[j] * (mixed.codes[i, j] != modes[group, j])
            if distance >= limit:
                continue
            place = min(found, width - 1)
            while place > 0 and distances[place - 1] > distance:
                distances[place], near[i, place] = distances[place - 1], near[i, place - 1]
                place -= 1
            distances[place], near[i, place] = distance, starts[group] + i % (starts[group + 1] - starts[group])
            found = min(found + 1, width)
    return near


@helper
def _step(
    mixed: Mixed,
    k: int,
    near: Ints,
    groups: Groups,
    first: int,
    wanted: int,
    temperature: float,
    ruin: int,
    step: int,
    union: Union,
    values: Values,
    rng: Words,
) -> None:
    """Take a union, leave it as it is (ruin 0), kick (1) or rebuild it (2), descend, and keep it or not."""
    count, size = gather(near, groups, first, wanted, 4 * wanted, step, union, rng)
    if count < 2:
        return
    _compare(mixed, union, values, size)
    _sum_up(mixed, union, values, size, count)
    before = _loss(mixed, union, values, count)
    if before == 0.0:
        return
    after_count = count
    if ruin == 1:
        kick(union, size, rng)
    elif ruin == 2:
        after_count = rebuild(union, size, count, k, True, rng)
    if ruin > 0:
        _sum_up(mixed, union, values, size, after_count)
    changed = _descend(mixed, union, values, size, after_count, k, NOTHING * before)
    after = _loss(mixed, union, values, after_count)
    limit = before
    if temperature > 0.0:
        limit -= before * temperature * np.log(1.0 - uniform(rng))
    # Categories make plains of equal loss: whoever walks on them finds the way down.
    if (ruin > 0 or changed) and after <= limit:
        put_back(groups, union.slots, union.records, union.labels, size, count, after_count)


@helper
def _compare(mixed: Mixed, union: Union, values: Values, size: int) -> None:
    """Number the codes of the union, and compute the distances between its records."""
    p, q = mixed.numbers.shape[1], mixed.codes.shape[1]
    for j in range(q):
        used = 0
        for i in range(size):
            code = mixed.codes[union.records[i], j]
            found = 0
            while found < used and union.loose[found] != code:
                found += 1
            if found == used:
                union.loose[used] = code
                used += 1
            values.codes[i, j] = found
        values.used[j] = used
    for i in range(size):
        union.near[i, i] = 0.0
        values.apart[i, i] = 0.0
        for other in range(i):
            total = 0.0
            for j in range(p):
                difference = mixed.numbers[union.records[i], j] - mixed.numbers[union.records[other], j]
                total += difference * difference
            values.apart[i, other] = total
            values.apart[other, i] = total
            for j in range(q):
                total += mixed.prices[j] * (values.codes[i, j] != values.codes[other, j])
            union.near[i, other] = total
            union.near[other, i] = total


@helper
def _sum_up(mixed: Mixed, union: Union, values: Values, size: int, count: int) -> None:
    """Compute sizes, ties, pairs, counts of codes and gains from the labels."""
    p, q = mixed.numbers.shape[1], mixed.codes.shape[1]
    labels, tally = union.labels, values.tally
    for group in range(count):
        union.pairs[group] = 0.0
        union.sizes[group] = 0
        for j in range(q):
            values.top[group, j] = 0
            values.holders[group, j] = 0
            for code in range(values.used[j]):
                tally[group, j, code] = 0
    for i in range(size):
        union.sizes[labels[i]] += 1
        for j in range(q):
            _count_in(values, labels[i], j, values.codes[i, j])
    if p:
        for i in range(size):
            for group in range(count):
                union.ties[group, i] = 0.0
            for other in range(size):
                union.ties[labels[other], i] += values.apart[i, other]
            union.pairs[labels[i]] += 0.5 * union.ties[labels[i], i]
    for i in range(size):
        _weigh(mixed, union, values, i)


@helper
def _count_in(values: Values, group: int, j: int, code: int) -> None:
    """A group gets a code."""
    values.tally[group, j, code] += 1
    if values.tally[group, j, code] > values.top[group, j]:
        values.top[group, j] += 1
        values.holders[group, j] = 1
    elif values.tally[group, j, code] == values.top[group, j]:
        values.holders[group, j] += 1


@helper
def _count_out(values: Values, group: int, j: int, code: int) -> None:
    """A group gives a code away."""
    if values.tally[group, j, code] == values.top[group, j]:
        values.holders[group, j] -= 1
    values.tally[group, j, code] -= 1
    if values.holders[group, j] == 0:
        values.top[group, j] -= 1
        for other in range(values.used[j]):
            values.holders[group, j] += values.tally[group, j, other] == values.top[group, j]


@helper
def _weigh(mixed: Mixed, union: Union, values: Values, i: int) -> None:
    """What the codes of its group lose less without a record: the prices of those that are not the only mode."""
    group, gain = union.labels[i], 0.0
    for j in range(mixed.prices.size):
        alone = values.tally[group, j, values.codes[i, j]] == values.top[group, j] and values.holders[group, j] == 1
        gain += mixed.prices[j] * (not alone)
    values.gains[i] = gain


@helper
def _loss(mixed: Mixed, union: Union, values: Values, count: int) -> float:
    total = 0.0
    for group in range(count):
        total += union.pairs[group] / union.sizes[group]
        for j in range(mixed.prices.size):
            total += mixed.prices[j] * (union.sizes[group] - values.top[group, j])
    return total


@helper
def _descend(mixed: Mixed, union: Union, values: Values, size: int, count: int, k: int, least: float) -> bool:
    """Move and swap records, the best for each in turn, until nothing lowers the loss; tell whether anything did."""
    labels, sizes = union.labels, union.sizes
    changed, improved = False, True
    while improved:
        improved = False
        for i in range(size):
            home = labels[i]
            if sizes[home] > k:
                target = _best_move(mixed, union, values, i, count, 2 * k - 1, least)
                if target >= 0:
                    _transfer(mixed, union, values, i, target, size)
                    sizes[home] -= 1
                    sizes[target] += 1
                    for j in range(size):
                        if labels[j] == home or labels[j] == target:
                            _weigh(mixed, union, values, j)
                    improved = True
            other = _best_swap(mixed, union, values, i, size, least)
            if other >= 0:
                home, target = labels[i], labels[other]
                _transfer(mixed, union, values, i, target, size)
                _transfer(mixed, union, values, other, home, size)
                for j in range(size):
                    if labels[j] == home or labels[j] == target:
                        _weigh(mixed, union, values, j)
                improved = True
        changed = changed or improved
    return changed


@helper
def _best_move(mixed: Mixed, union: Union, values: Values, i: int, count: int, most: int, least: float) -> int:
    """The group that gains most by taking a record over; -1 if none does."""
    ties, pairs, sizes = union.ties, union.pairs, union.sizes
    home = union.labels[i]
    members = sizes[home]
    leaving = (pairs[home] - ties[home, i]) / (members - 1) - pairs[home] / members - values.gains[i]
    best, target = -least, -1
    for group in range(count):
        members = sizes[group]
        if group != home and members < most:
            change = leaving + (pairs[group] + ties[group, i]) / (members + 1) - pairs[group] / members
            for j in range(mixed.prices.size):
                if change >= best:
                    break
                change += mixed.prices[j] * (values.tally[group, j, values.codes[i, j]] < values.top[group, j])
            if change < best:
                best, target = change, group
    return target


@helper
def _best_swap(mixed: Mixed, union: Union, values: Values, i: int, size: int, least: float) -> int:
    """The record with which to change places; -1 if none gains."""
    labels, ties, gains = union.labels, union.ties, values.gains
    home = labels[i]
    own, share = ties[home, i], 1.0 / union.sizes[home]
    best, other = -least, -1
    for j in range(size):
        group = labels[j]
        if group == home:
            continue
        apart = values.apart[i, j]
        change = (ties[home, j] - own - apart) * share
        change += (ties[group, i] - ties[group, j] - apart) / union.sizes[group]
        # No swap gains more than both gain by leaving.
        if change - gains[i] - gains[j] >= best:
            continue
        for column in range(mixed.prices.size):
            mine, yours = values.codes[i, column], values.codes[j, column]
            if mine != yours:
                change += mixed.prices[column] * (
                    _exchange(values, home, column, mine, yours) + _exchange(values, group, column, yours, mine)
                )
        if change < best:
            best, other = change, j
    return other


@helper
def _exchange(values: Values, group: int, j: int, gone: int, come: int) -> int:
    """How many more values of a group are not its mode when one code takes the place of another."""
    top = values.top[group, j]
    left = top - (values.tally[group, j, gone] == top and values.holders[group, j] == 1)
    return int(top - max(left, values.tally[group, j, come] + 1))


@helper
def _transfer(mixed: Mixed, union: Union, values: Values, i: int, target: int, size: int) -> None:
    """Let a record go to another group: ties, pairs and counts, but not the sizes nor the gains."""
    home = union.labels[i]
    union.labels[i] = target
    if mixed.numbers.shape[1]:
        union.pairs[home] -= union.ties[home, i]
        union.pairs[target] += union.ties[target, i]
        for j in range(size):
            union.ties[home, j] -= values.apart[i, j]
            union.ties[target, j] += values.apart[i, j]
    for j in range(mixed.prices.size):
        _count_out(values, home, j, values.codes[i, j])
        _count_in(values, target, j, values.codes[i, j])
