"""The constructive methods as their papers print them: plain, slow, and written apart from the kernels."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distances_to(points: Floats, query: Floats) -> Floats:
    """Squared distances, summed attribute by attribute."""
    total = np.zeros(points.shape[0])
    for j in range(points.shape[1]):
        total += (points[:, j] - query[j]) ** 2
    return total


def farthest(points: Floats, among: Iterable[int], query: Floats) -> int:
    candidates = np.array(sorted(among))
    return int(candidates[np.argmax(distances_to(points[candidates], query))])


def nearest(points: Floats, among: Iterable[int], query: Floats, count: int) -> list[int]:
    candidates = np.array(sorted(among), dtype=int)
    return [int(i) for i in candidates[np.argsort(distances_to(points[candidates], query), kind="stable")[:count]]]


def form(points: Floats, centre: int, free: set[int], k: int, reserved: int = -1) -> list[int]:
    """Take a centre and its k−1 nearest out of the free records."""
    group = [centre, *nearest(points, free - {centre, reserved}, points[centre], k - 1)]
    free -= set(group)
    return group


def number(groups: list[list[int]], n: int) -> Ints:
    labels = np.full(n, -1)
    for label, members in enumerate(groups):
        labels[members] = label
    return labels


def mdav(points: Floats, k: int) -> Ints:
    free, groups = set(range(len(points))), []
    while len(free) >= 3 * k:
        r = farthest(points, free, points[sorted(free)].sum(axis=0) / len(free))
        s = farthest(points, free - {r}, points[r])
        groups.append(form(points, r, free, k, reserved=s))
        groups.append(form(points, s, free, k))
    if len(free) >= 2 * k:
        groups.append(form(points, farthest(points, free, points[sorted(free)].sum(axis=0) / len(free)), free, k))
    return number([*groups, sorted(free)], len(points))


def join(points: Floats, groups: list[list[int]], free: set[int]) -> None:
    """Let left-over records join the group of the nearest record."""
    owner = {record: group for group in groups for record in group}
    for record in free:
        owner[nearest(points, owner.keys() - free, points[record], 1)[0]].append(record)


def md(points: Floats, k: int) -> Ints:
    free, groups = set(range(len(points))), []
    while len(free) >= 2 * k:
        partner = {r: farthest(points, free - {r}, points[r]) for r in sorted(free)}
        r = max(partner, key=lambda r: (distances_to(points[[r]], points[partner[r]])[0], -r))
        s = partner[r]
        groups.append(form(points, r, free, k, reserved=s))
        groups.append(form(points, s, free, k))
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        join(points, groups, free)
    return number(groups, len(points))


def vmdav(points: Floats, k: int, gamma: float) -> Ints:
    free, groups = set(range(len(points))), []
    centroid = points.sum(axis=0) / len(points)
    while len(free) >= k:
        group = form(points, farthest(points, free, centroid), free, k)
        while len(group) < 2 * k - 1 and free:
            candidates = np.array(sorted(free))
            into = np.array([distances_to(points[group], points[i]).min() for i in candidates])
            joining = int(candidates[np.argmin(into)])
            others = sorted(free - {joining})
            out = distances_to(points[others], points[joining]).min() if others else np.inf
            if not into.min() < gamma * out:
                break
            group.append(joining)
            free.remove(joining)
        groups.append(group)
    join(points, groups, free)
    return number(groups, len(points))


def nearest_next(points: Floats) -> list[int]:
    free = set(range(len(points)))
    tour = [farthest(points, free, points.mean(axis=0))]
    free.remove(tour[0])
    while free:
        tour += nearest(points, free, points[tour[-1]], 1)
        free.remove(tour[-1])
    return tour


def merge_far(points: Floats, labels: Ints, far: Callable[[list[int]], float]) -> Ints:
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    while len(groups) > 1 and max(map(far, groups)) > 0:
        worst = groups.pop(int(np.argmax([far(group) for group in groups])))
        centres = np.array([points[group].mean(axis=0) for group in groups])
        groups[int(np.argmin(distances_to(centres, points[worst].mean(axis=0))))] += worst
    return number(groups, len(points))


def exchange_first(points: Floats, k: int, far: Callable[[list[int]], float]) -> Ints:
    free, groups = set(range(len(points))), []

    def take(centre: int, reserved: int = -1) -> None:
        waiting = nearest(points, free - {centre, reserved}, points[centre], len(points))
        group, waiting = [centre, *waiting[: k - 1]], waiting[k - 1 :]
        while waiting and far(group) > 0:
            record = waiting.pop(0)
            tried = [[record if at == place else member for at, member in enumerate(group)] for place in range(k)]
            group = min([group, *tried], key=far)
        groups.append(group)
        free.difference_update(group)

    while len(free) >= 3 * k:
        r = farthest(points, free, points[sorted(free)].mean(axis=0))
        s = farthest(points, free - {r}, points[r])
        take(r, reserved=s)
        take(s)
    if len(free) >= 2 * k:
        take(farthest(points, free, points[sorted(free)].mean(axis=0)))
    return number([*groups, sorted(free)] if free else groups, len(points))


def one_from_each(points: Floats, ranks: Ints, size: int, far: Callable[[list[int]], float]) -> Ints:
    n = len(points)
    parts = [{i for i in range(n) if ranks[i] * size // n == part} for part in range(size)]
    groups: list[list[int]] = []
    seed = -1
    for at in range(n // size):
        free = set().union(*parts)
        seed = farthest(points, free, points[seed] if at % 2 else points[sorted(free)].mean(axis=0))
        group = [nearest(points, part, points[seed], 1)[0] for part in parts]
        parts = [part - set(group) for part in parts]
        groups.append(group)
    centres = np.array([points[group].mean(axis=0) for group in groups])
    for record in sorted(set().union(*parts)):
        order = [int(group) for group in np.argsort(distances_to(centres, points[record]), kind="stable")]
        home = next((group for group in order if far([*groups[group], record]) == 0), order[0])
        groups[home].append(record)
    return number(groups, n)
