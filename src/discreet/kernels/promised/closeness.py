"""The published ways to classes that are t-close: merging, k-anonymity first, t-closeness first.

J. Soria-Comas, J. Domingo-Ferrer, D. Sánchez, S. Martínez, t-closeness through microaggregation: strict privacy with
enhanced utility preservation, IEEE Transactions on Knowledge and Data Engineering 27 (2015) 3098-3110. Where they speak
of classes that are too far, we take any that does not keep what is promised.
"""

import numpy as np

from discreet.kernels.arrays import Floats, Ints, stable_order
from discreet.kernels.jit import helper, kernel
from discreet.kernels.promised.constraints import Promised, Room, excess, room_for
from discreet.kernels.promised.mending import join, list_groups, listed, nearest_group, number_lists, square


@kernel
def merge_far(points: Floats, promised: Promised, labels: Ints) -> Ints:
    """Merge the class that is farthest from what it must keep with the class of the nearest centroid, until all do."""
    lists, room = list_groups(points, labels), room_for(promised)
    count = lists.sizes.size
    far = np.zeros(count)
    for group in range(count):
        far[group] = excess(promised, listed(lists, group, room.members), room)
    left = count
    while left > 1:
        worst = int(np.argmax(far))
        if far[worst] == 0.0:
            break
        near = nearest_group(lists, worst)
        join(lists, worst, near)
        far[near], far[worst] = 0.0, excess(promised, listed(lists, worst, room.members), room)
        left -= 1
    return number_lists(lists)


@kernel
def exchange_first(points: Floats, promised: Promised, k: int) -> Ints:
    """As `mdav`, but a class that is too far exchanges members for the nearest free records, as long as it helps."""
    n = points.shape[0]
    room = room_for(promised)
    labels = np.full(n, -1)
    left, count = n, 0
    while left >= 3 * k:
        r = _farthest(points, labels, _centroid(points, labels))
        labels[r] = count  # so that it is not the farthest from itself
        s = _farthest(points, labels, points[r])
        labels[r], labels[s] = -1, count + 1
        _form(points, promised, k, r, count, labels, room)
        labels[s] = -1
        _form(points, promised, k, s, count + 1, labels, room)
        count, left = count + 2, left - 2 * k
    if left >= 2 * k:
        _form(points, promised, k, _farthest(points, labels, _centroid(points, labels)), count, labels, room)
        count += 1
    for i in range(n):
        if labels[i] < 0:
            labels[i] = count
    return labels


@helper
def _centroid(points: Floats, labels: Ints) -> Floats:
    """The mean of the free records."""
    centre, free = np.zeros(points.shape[1]), 0
    for i in range(labels.size):
        if labels[i] < 0:
            free += 1
            for j in range(centre.size):
                centre[j] += points[i, j]
    return centre / free


@helper
def _farthest(points: Floats, labels: Ints, place: Floats) -> int:
    """The free record farthest from a place, the first of equal ones."""
    found, most = -1, -1.0
    for i in range(labels.size):
        if labels[i] < 0:
            distance = square(points[i], place)
            if distance > most:
                found, most = i, distance
    return found


@helper
def _form(points: Floats, promised: Promised, k: int, centre: int, number: int, labels: Ints, room: Room) -> None:
    """Form a class of the k free records nearest to a centre, and exchange members while it is too far."""
    free, distances, count = np.empty(labels.size, np.int64), np.empty(labels.size), 0
    for i in range(labels.size):
        if labels[i] < 0:
            # The centre comes before those that are where it is.
            free[count], distances[count] = i, -1.0 if i == centre else square(points[i], points[centre])
            count += 1
    order = stable_order(distances[:count])
    members = room.members
    for place in range(k):
        members[place] = free[order[place]]
    far = excess(promised, members[:k], room)
    for place in range(k, count):
        if far == 0.0:
            break
        record, best = free[order[place]], -1
        for member in range(k):
            kept = members[member]
            members[member] = record
            other = excess(promised, members[:k], room)
            members[member] = kept
            if other < far:
                far, best = other, member
        if best >= 0:
            members[best] = record
    for place in range(k):
        labels[members[place]] = number


@kernel
def one_from_each(points: Floats, promised: Promised, ranks: Ints, size: int) -> Ints:
    """Classes of one record from each of so many equal parts of the order by rank, the nearest to a far record.

    Records that are over join the nearest class that still keeps what is promised, or else the nearest.
    """
    n, d = points.shape
    room = room_for(promised)
    labels = np.full(n, -1)
    parts, filled = np.empty((size, n // size + 1), np.int64), np.zeros(size, np.int64)
    for i in range(n):
        part = ranks[i] * size // n
        parts[part, filled[part]] = i
        filled[part] += 1
    count = n // size
    members = np.empty((count, size + n % size), np.int64)
    sizes, centres = np.zeros(count, np.int64), np.zeros((count, d))
    seed = -1
    for number in range(count):
        # Every other class is formed at the far end from the one before.
        place = points[seed] if number % 2 == 1 else _centroid(points, labels)
        seed = _farthest(points, labels, place)
        for part in range(size):
            found, least = 0, np.inf
            for at in range(filled[part]):
                distance = -1.0 if parts[part, at] == seed else square(points[parts[part, at]], points[seed])
                if distance < least:
                    found, least = at, distance
            record = parts[part, found]
            filled[part] -= 1
            parts[part, found] = parts[part, filled[part]]
            members[number, part] = record
            labels[record] = number
            for j in range(d):
                centres[number, j] += points[record, j] / size
        sizes[number] = size
    for record in range(n):
        if labels[record] < 0:
            labels[record] = _join(promised, points[record], record, members, sizes, centres, room)
    return labels


@helper
def _join(
    promised: Promised, point: Floats, record: int, members: Ints, sizes: Ints, centres: Floats, room: Room
) -> int:
    distances = np.empty(sizes.size)
    for group in range(sizes.size):
        distances[group] = square(point, centres[group])
    order = stable_order(distances)
    home = order[0]
    for at in range(order.size):
        group = order[at]
        members[group, sizes[group]] = record
        if excess(promised, members[group, : sizes[group] + 1], room) == 0.0:
            home = group
            break
    members[home, sizes[home]] = record
    sizes[home] += 1
    return int(home)
