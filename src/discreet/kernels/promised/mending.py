"""Groups that do not keep what is promised are merged with others, until all do.

A group is merged with the one that ends most of what both lack for what it costs. A union keeps what its parts keep, so
one round suffices.
"""

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints, stable_order
from discreet.kernels.jit import helper, kernel
from discreet.kernels.promised.constraints import Promised, Room, excess, room_for

# Groups from all over the data with which a merger is looked at too: what a group lacks may be far away.
FAR = 24


class Lists(NamedTuple):
    """Groups as lists that can be joined."""

    first: Ints  # group: its first record; −1 once it has joined another
    after: Ints  # record: the next of its group; −1 for the last
    sizes: Ints
    centres: Floats
    joined: Ints  # group: the one it has joined; itself if none


@kernel
def centroids_of(points: Floats, labels: Ints) -> Floats:
    """The centroid of each group, labels 0 to g−1."""
    return list_groups(points, labels).centres


@kernel
def merge_lacking(points: Floats, promised: Promised, labels: Ints, near: Ints) -> Ints:
    """Merge groups until all keep what is promised, the one that lacks most first.

    Parameters
    ----------
    points : array of shape (n, d)
        The records.
    promised : Promised
        What groups must keep; all records together do.
    labels : array of n ints
        The group of each record, 0 to g−1.
    near : array of shape (g, m)
        The groups of the nearest centroids of each group.
    """
    n = points.shape[0]
    lists, room = list_groups(points, labels), room_for(promised)
    count = lists.sizes.size
    members, lacks = np.empty(n, np.int64), np.zeros(count)
    for group in range(count):
        lacks[group] = excess(promised, listed(lists, group, members), room)
    order = stable_order(-lacks)
    around = np.empty(near.shape[1], np.int64)
    left = count
    for at in range(count):
        group = order[at]
        while lists.first[group] >= 0 and left > 1:
            if lacks[group] == 0.0:
                break
            neighbours = _look_round(lists, near, group, around)
            join(lists, group, _best_merger(promised, lists, group, around[:neighbours], lacks, members, room))
            lacks[group] = excess(promised, listed(lists, group, members), room)
            left -= 1
    return number_lists(lists)


@helper
def number_lists(lists: Lists) -> Ints:
    """The group of each record, 0 to g−1."""
    labels, number = np.empty(lists.after.size, np.int64), 0
    for group in range(lists.first.size):
        record = lists.first[group]
        while record >= 0:
            labels[record] = number
            record = lists.after[record]
        number += lists.first[group] >= 0
    return labels


@helper
def list_groups(points: Floats, labels: Ints) -> Lists:
    """The groups of labels 0 to g−1 as lists, each in the order of its records."""
    n, d = points.shape
    count = 0
    for i in range(n):
        count = max(count, labels[i] + 1)
    lists = Lists(
        np.full(count, -1),
        np.full(n, -1),
        np.zeros(count, np.int64),
        np.zeros((count, d)),
        np.arange(count),
    )
    for i in range(n - 1, -1, -1):
        group = labels[i]
        lists.after[i], lists.first[group] = lists.first[group], i
        lists.sizes[group] += 1
        for j in range(d):
            lists.centres[group, j] += (points[i, j] - lists.centres[group, j]) / lists.sizes[group]
    return lists


@helper
def listed(lists: Lists, group: int, members: Ints) -> Ints:
    """The members of a group, written into an array that has room for them."""
    record, size = lists.first[group], 0
    while record >= 0:
        members[size] = record
        size += 1
        record = lists.after[record]
    return members[:size]


@helper
def _look_round(lists: Lists, near: Ints, group: int, around: Ints) -> int:
    """List the neighbours of a group as they are now; if all have joined it, the nearest of all groups."""
    found = 0
    for at in range(near.shape[1]):
        other = near[group, at]
        while lists.joined[other] != other:
            other = lists.joined[other]
        known = other == group
        for place in range(found):
            known = known or around[place] == other
        if not known:
            around[found] = other
            found += 1
    if found == 0:
        around[0], found = nearest_group(lists, group), 1
    return found


@helper
def nearest_group(lists: Lists, group: int) -> int:
    """The group of the nearest centroid, of equal ones the first."""
    found, least = -1, np.inf
    for other in range(lists.sizes.size):
        if other != group and lists.first[other] >= 0:
            distance = square(lists.centres[group], lists.centres[other])
            if distance < least or found < 0:
                found, least = other, distance
    return found


@helper
def square(a: Floats, b: Floats) -> float:
    """The squared distance of two places."""
    total = 0.0
    for j in range(a.size):
        total += (a[j] - b[j]) ** 2
    return total


@helper
def _best_merger(
    promised: Promised, lists: Lists, group: int, around: Ints, lacks: Floats, members: Ints, room: Room
) -> int:
    """The group with which to merge at the least cost for what is no longer lacking."""
    count = lists.sizes.size
    size = listed(lists, group, members).size
    partner, least, price = around[0], np.inf, np.inf
    for at in range(around.size + FAR):
        other = around[at] if at < around.size else (group + (at - around.size + 1) * count // (FAR + 1)) % count
        if other == group or lists.first[other] < 0:
            continue
        record, end = lists.first[other], size
        while record >= 0:
            members[end] = record
            end += 1
            record = lists.after[record]
        r = end - size
        cost = square(lists.centres[group], lists.centres[other]) * size * r / end
        gain = lacks[group] + lacks[other] - excess(promised, members[:end], room)
        # One that is no help is taken only if there is no other, and then the nearest.
        ratio = cost / gain if gain > 0.0 else np.inf
        if ratio < least or (least == np.inf and cost < price):
            partner, least, price = other, ratio, cost
    return int(partner)


@helper
def join(lists: Lists, group: int, other: int) -> None:
    """Let a group join another one."""
    last = lists.first[group]
    while lists.after[last] >= 0:
        last = lists.after[last]
    lists.after[last] = lists.first[other]
    share = lists.sizes[other] / (lists.sizes[group] + lists.sizes[other])
    for j in range(lists.centres.shape[1]):
        lists.centres[group, j] += (lists.centres[other, j] - lists.centres[group, j]) * share
    lists.sizes[group] += lists.sizes[other]
    lists.first[other], lists.sizes[other], lists.joined[other] = -1, 0, group
