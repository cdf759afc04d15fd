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
from discreet.kernels.memetic.unions import KICK, MOST, NOTHING, Groups, first_above, put_back, slotted
from discreet.kernels.mixed.groups import Mixed, centres, loss_of
from discreet.kernels.random import below, uniform

# Groups whose mean and modes are nearest to a record: from them come the groups of a union.
AROUND = 10
# Temperatures in a pass that anneals.
STAGES = 6
# Records in a union, unless two groups have more: a step grows with their square.
ROOM = 200


class Union(NamedTuple):
    """The union at hand, and room for work; records and codes are numbered 0, 1, … within it."""

    slots: Ints  # the groups' slots
    records: Ints
    labels: Ints  # record: its group
    codes: Ints  # record, attribute
    used: Ints  # attribute: how many codes there are
    near: Floats  # distances between the records: squared ones of numbers, prices of codes
    apart: Floats  # those of numbers alone
    ties: Floats  # record, group: sum of the record's `apart` to the group's members
    pairs: Floats  # group: sum of `apart` over its pairs
    sizes: Ints
    tally: Ints  # group, attribute, code: how often
    top: Ints  # group, attribute: how often the mode
    holders: Ints  # group, attribute: how many codes are as frequent as the mode
    gains: Floats  # record: what its group's codes lose less without it
    loose: Ints  # records without a group while a union is rebuilt
    sums: Floats
    mark: Ints  # slot: the last step that took it


@kernel
def room_for(k: int) -> int:
    """How many records a union has at most."""
    return max(min(MOST * (2 * k - 1), ROOM), 2 * (2 * k - 1))


@helper
def _room(n: int, k: int, slots: int, q: int) -> Union:
    records = min(room_for(k), n)
    groups = records // k
    return Union(
        slots=np.zeros(groups, np.int64),
        records=np.zeros(records, np.int64),
        labels=np.zeros(records, np.int64),
        codes=np.zeros((records, q), np.int64),
        used=np.zeros(q, np.int64),
        near=np.zeros((records, records)),
        apart=np.zeros((records, records)),
        ties=np.zeros((records, groups)),
        pairs=np.zeros(groups),
        sizes=np.zeros(groups, np.int64),
        tally=np.zeros((groups, q, records), np.int64),
        top=np.zeros((groups, q), np.int64),
        holders=np.zeros((groups, q), np.int64),
        gains=np.zeros(records),
        loose=np.zeros(records, np.int64),
        sums=np.zeros(groups),
        mark=np.zeros(slots, np.int64),
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
    union = _room(records.size, k, groups.sizes.size, local.codes.shape[1])
    taken = 0
    for slot in range(count if sweep else 0):
        if before[slot] > 0.0 and groups.sizes[slot] > 0:
            taken += 1
            _step(local, k, near, groups, groups.members[slot, 0], MOST, 0.0, 0, taken, union, rng)
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
            _step(local, k, near, groups, first, wanted, heat * cold * cold, ruin, taken, union, rng)
    after = _slot_losses(local, groups, tally)
    if heat > 0.0:
        # What annealing has made worse somewhere is not taken.
        labels, _ = cross(labels, before, groups.labels, after)
        groups = slotted(labels, k)
        after = _slot_losses(local, groups, tally)
    place = start
    for slot in range(groups.sizes.size):
        for member in range(groups.sizes[slot]):
            order[place] = records[groups.members[slot, member]]
            heads[place] = member == 0
            place += 1
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
    rng: Words,
) -> None:
    """Take a union, leave it as it is (ruin 0), kick (1) or rebuild it (2), descend, and keep it or not."""
    count, size = _gather(near, groups, first, wanted, step, union, rng)
    if count < 2:
        return
    _compare(mixed, union, size)
    _sum_up(mixed, union, size, count)
    before = _loss(mixed, union, count)
    if before == 0.0:
        return
    after_count = count
    if ruin == 1:
        for _ in range(1 + below(rng, 3)):
            i, j = below(rng, size), below(rng, size)
            union.labels[i], union.labels[j] = union.labels[j], union.labels[i]
    elif ruin == 2:
        after_count = _rebuild(union, size, count, k, rng)
    if ruin > 0:
        _sum_up(mixed, union, size, after_count)
    changed = _descend(mixed, union, size, after_count, k, NOTHING * before)
    after = _loss(mixed, union, after_count)
    limit = before
    if temperature > 0.0:
        limit -= before * temperature * np.log(1.0 - uniform(rng))
    # Categories make plains of equal loss: whoever walks on them finds the way down.
    if (ruin > 0 or changed) and after <= limit:
        put_back(groups, union.slots, union.records, union.labels, size, count, after_count)


@helper
def _gather(
    near: Ints, groups: Groups, first: int, wanted: int, step: int, union: Union, rng: Words
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
        if count == wanted or count == 0 or tries > 4 * wanted:
            return count, size
        record = union.records[below(rng, size)] if uniform(rng) < 0.5 else first
        far = uniform(rng)
        slot = groups.labels[near[record, int(far * far * near.shape[1])]]


@helper
def _compare(mixed: Mixed, union: Union, size: int) -> None:
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
            union.codes[i, j] = found
        union.used[j] = used
    for i in range(size):
        union.near[i, i] = 0.0
        union.apart[i, i] = 0.0
        for other in range(i):
            total = 0.0
            for j in range(p):
                difference = mixed.numbers[union.records[i], j] - mixed.numbers[union.records[other], j]
                total += difference * difference
            union.apart[i, other] = total
            union.apart[other, i] = total
            for j in range(q):
                total += mixed.prices[j] * (union.codes[i, j] != union.codes[other, j])
            union.near[i, other] = total
            union.near[other, i] = total


@helper
def _sum_up(mixed: Mixed, union: Union, size: int, count: int) -> None:
    """Compute sizes, ties, pairs, counts of codes and gains from the labels."""
    p, q = mixed.numbers.shape[1], mixed.codes.shape[1]
    labels, tally = union.labels, union.tally
    for group in range(count):
        union.pairs[group] = 0.0
        union.sizes[group] = 0
        for j in range(q):
            union.top[group, j] = 0
            union.holders[group, j] = 0
            for code in range(union.used[j]):
                tally[group, j, code] = 0
    for i in range(size):
        union.sizes[labels[i]] += 1
        for j in range(q):
            _count_in(union, labels[i], j, union.codes[i, j])
    if p:
        for i in range(size):
            for group in range(count):
                union.ties[i, group] = 0.0
            for other in range(size):
                union.ties[i, labels[other]] += union.apart[i, other]
            union.pairs[labels[i]] += 0.5 * union.ties[i, labels[i]]
    for i in range(size):
        _weigh(mixed, union, i)


@helper
def _count_in(union: Union, group: int, j: int, code: int) -> None:
    """A group gets a code."""
    union.tally[group, j, code] += 1
    if union.tally[group, j, code] > union.top[group, j]:
        union.top[group, j] += 1
        union.holders[group, j] = 1
    elif union.tally[group, j, code] == union.top[group, j]:
        union.holders[group, j] += 1


@helper
def _count_out(union: Union, group: int, j: int, code: int) -> None:
    """A group gives a code away."""
    if union.tally[group, j, code] == union.top[group, j]:
        union.holders[group, j] -= 1
    union.tally[group, j, code] -= 1
    if union.holders[group, j] == 0:
        union.top[group, j] -= 1
        for other in range(union.used[j]):
            union.holders[group, j] += union.tally[group, j, other] == union.top[group, j]


@helper
def _weigh(mixed: Mixed, union: Union, i: int) -> None:
    """What the codes of its group lose less without a record: the prices of those that are not the only mode."""
    group, gain = union.labels[i], 0.0
    for j in range(mixed.prices.size):
        alone = union.tally[group, j, union.codes[i, j]] == union.top[group, j] and union.holders[group, j] == 1
        gain += mixed.prices[j] * (not alone)
    union.gains[i] = gain


@helper
def _loss(mixed: Mixed, union: Union, count: int) -> float:
    total = 0.0
    for group in range(count):
        total += union.pairs[group] / union.sizes[group]
        for j in range(mixed.prices.size):
            total += mixed.prices[j] * (union.sizes[group] - union.top[group, j])
    return total


@helper
def _rebuild(union: Union, size: int, count: int, k: int, rng: Words) -> int:
    """Form groups anew, one more or fewer or as many: k nearest records each, the rest where they cost least."""
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
            found, most_far = 0, -1.0
            for place in range(left):
                if near[centre, loose[place]] > most_far:
                    found, most_far = place, near[centre, loose[place]]
            centre = loose[found]
        for _ in range(k):
            found, least = 0, np.inf
            for place in range(left):
                if near[centre, loose[place]] < least:
                    found, least = place, near[centre, loose[place]]
            labels[loose[found]] = group
            left -= 1
            loose[found] = loose[left]
        sizes[group] = k
    for place in range(left):
        _settle(union, loose[place], size, count, most)
    return count


@helper
def _settle(union: Union, record: int, size: int, count: int, most: int) -> None:
    """Put a loose record into the group with room to whose members it is nearest on average."""
    sums = union.sums
    for group in range(count):
        sums[group] = 0.0
    for other in range(size):
        if union.labels[other] >= 0:
            sums[union.labels[other]] += union.near[record, other]
    found, least = 0, np.inf
    for group in range(count):
        members = union.sizes[group]
        if members < most and sums[group] < least * members:
            found, least = group, sums[group] / members
    union.labels[record] = found
    union.sizes[found] += 1


@helper
def _descend(mixed: Mixed, union: Union, size: int, count: int, k: int, least: float) -> bool:
    """Move and swap records, the best for each in turn, until nothing lowers the loss; tell whether anything did."""
    labels, sizes = union.labels, union.sizes
    changed, improved = False, True
    while improved:
        improved = False
        for i in range(size):
            home = labels[i]
            if sizes[home] > k:
                target = _best_move(mixed, union, i, count, 2 * k - 1, least)
                if target >= 0:
                    _transfer(mixed, union, i, target, size)
                    sizes[home] -= 1
                    sizes[target] += 1
                    for j in range(size):
                        if labels[j] == home or labels[j] == target:
                            _weigh(mixed, union, j)
                    improved = True
            other = _best_swap(mixed, union, i, size, least)
            if other >= 0:
                home, target = labels[i], labels[other]
                _transfer(mixed, union, i, target, size)
                _transfer(mixed, union, other, home, size)
                for j in range(size):
                    if labels[j] == home or labels[j] == target:
                        _weigh(mixed, union, j)
                improved = True
        changed = changed or improved
    return changed


@helper
def _best_move(mixed: Mixed, union: Union, i: int, count: int, most: int, least: float) -> int:
    """The group that gains most by taking a record over; -1 if none does."""
    ties, pairs, sizes = union.ties, union.pairs, union.sizes
    home = union.labels[i]
    members = sizes[home]
    leaving = (pairs[home] - ties[i, home]) / (members - 1) - pairs[home] / members - union.gains[i]
    best, target = -least, -1
    for group in range(count):
        members = sizes[group]
        if group != home and members < most:
            change = leaving + (pairs[group] + ties[i, group]) / (members + 1) - pairs[group] / members
            for j in range(mixed.prices.size):
                if change >= best:
                    break
                change += mixed.prices[j] * (union.tally[group, j, union.codes[i, j]] < union.top[group, j])
            if change < best:
                best, target = change, group
    return target


@helper
def _best_swap(mixed: Mixed, union: Union, i: int, size: int, least: float) -> int:
    """The record with which to change places; -1 if none gains."""
    labels, ties, gains = union.labels, union.ties, union.gains
    home = labels[i]
    own, share = ties[i, home], 1.0 / union.sizes[home]
    best, other = -least, -1
    for j in range(size):
        group = labels[j]
        if group == home:
            continue
        apart = union.apart[i, j]
        change = (ties[j, home] - own - apart) * share
        change += (ties[i, group] - ties[j, group] - apart) / union.sizes[group]
        # No swap gains more than both gain by leaving.
        if change - gains[i] - gains[j] >= best:
            continue
        for column in range(mixed.prices.size):
            mine, yours = union.codes[i, column], union.codes[j, column]
            if mine != yours:
                change += mixed.prices[column] * (
                    _exchange(union, home, column, mine, yours) + _exchange(union, group, column, yours, mine)
                )
        if change < best:
            best, other = change, j
    return other


@helper
def _exchange(union: Union, group: int, j: int, gone: int, come: int) -> int:
    """How many more values of a group are not its mode when one code takes the place of another."""
    top = union.top[group, j]
    left = top - (union.tally[group, j, gone] == top and union.holders[group, j] == 1)
    return int(top - max(left, union.tally[group, j, come] + 1))


@helper
def _transfer(mixed: Mixed, union: Union, i: int, target: int, size: int) -> None:
    """Let a record go to another group: ties, pairs and counts, but not the sizes nor the gains."""
    home = union.labels[i]
    union.labels[i] = target
    if mixed.numbers.shape[1]:
        union.pairs[home] -= union.ties[i, home]
        union.pairs[target] += union.ties[i, target]
        for j in range(size):
            union.ties[j, home] -= union.apart[i, j]
            union.ties[j, target] += union.apart[i, j]
    for j in range(mixed.prices.size):
        _count_out(union, home, j, union.codes[i, j])
        _count_in(union, target, j, union.codes[i, j])
