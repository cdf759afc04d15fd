"""A partition that can be changed record by record, with the sums from which the loss of a change follows."""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import borrower, kernel
from discreet.kernels.mixed.groups import Mixed, loss_of


class Groups(NamedTuple):
    """A partition that can be changed: slots for groups, some of them empty."""

    members: Ints  # slot, place: record
    places: Ints  # record: its place in its slot
    sizes: Ints  # slot: number of members; 0 where empty
    labels: Ints  # record: its slot
    sums: Floats  # slot, attribute: sum of numbers
    losses: Floats  # slot: what its codes lose


@kernel
def slotted(mixed: Mixed, labels: Ints, k: int, most: int) -> Groups:
    """The slots of a partition with labels 0 to g−1, with room for so many records in each."""
    n, p = mixed.numbers.shape
    slots = max(1, n // k)
    groups = Groups(
        np.zeros((slots, most), np.int64),
        np.zeros(n, np.int64),
        np.zeros(slots, np.int64),
        labels.copy(),
        np.zeros((slots, p)),
        np.zeros(slots),
    )
    for i in range(n):
        enter(mixed, groups, i, labels[i])
    tally = np.zeros(mixed.levels, np.int64)
    for slot in range(slots):
        groups.losses[slot] = code_loss(mixed, groups.members[slot, : groups.sizes[slot]], tally)
    return groups


@borrower
def enter(mixed: Mixed, groups: Groups, record: int, slot: int) -> None:
    """Let a record enter a group; what the codes of that lose is not changed."""
    place = groups.sizes[slot]
    groups.members[slot, place], groups.places[record], groups.labels[record] = record, place, slot
    groups.sizes[slot] += 1
    for j in range(mixed.numbers.shape[1]):
        groups.sums[slot, j] += mixed.numbers[record, j]


@borrower
def leave(mixed: Mixed, groups: Groups, record: int) -> None:
    """Let a record leave its group; what the codes of that lose is not changed."""
    slot = groups.labels[record]
    groups.sizes[slot] -= 1
    last = groups.members[slot, groups.sizes[slot]]
    groups.members[slot, groups.places[record]], groups.places[last] = last, groups.places[record]
    for j in range(mixed.numbers.shape[1]):
        groups.sums[slot, j] -= mixed.numbers[record, j]


@borrower
def code_loss(mixed: Mixed, members: Ints, tally: Ints) -> float:
    """What the codes of a group lose."""
    total = 0.0
    for j in range(mixed.codes.shape[1]):
        top = 0
        for place in range(members.size):
            code = mixed.codes[members[place], j]
            tally[code] += 1
            top = max(top, tally[code])
        for place in range(members.size):
            tally[mixed.codes[members[place], j]] = 0
        total += mixed.prices[j] * (members.size - top)
    return total


@kernel
def slot_losses(mixed: Mixed, groups: Groups) -> Floats:
    """What the group of each slot loses; 0 where there is none."""
    tally = np.zeros(mixed.levels, np.int64)
    losses = np.zeros(groups.sizes.size)
    for slot in range(losses.size):
        losses[slot] = loss_of(mixed, groups.members[slot, : groups.sizes[slot]], tally)
    return losses


@borrower
def copy(groups: Groups, slot: int, members: Ints) -> None:
    """Copy the members of a group."""
    for place in range(groups.sizes[slot]):
        members[place] = groups.members[slot, place]
