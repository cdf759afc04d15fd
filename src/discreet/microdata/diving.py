"""Diving: from a fractional solution to a partition.

Groups that are (nearly) whole in the linear relaxation are taken, the relaxation of the records that are left is solved
anew with further groups and odd set inequalities, and so on. Any k records or more can be partitioned, so it always
ends with a partition.
"""

from __future__ import annotations

import numpy as np

from discreet.kernels.mdav import mdav
from discreet.microdata.columns import Floats, Ints, columns_of
from discreet.microdata.group_pricing import GroupPricer
from discreet.microdata.relaxation import Relaxation

WHOLE = 0.9
ROUNDS = 6
CLOSE = 1e-4


def dive(points: Floats, k: int, relaxation: Relaxation) -> Ints:
    """Find a partition near the solution of a relaxation."""
    labels = np.full(len(points), -1)
    free = np.arange(len(points))
    groups = 0
    while len(free):
        taken = relaxation.columns.take(_whole(relaxation, k))
        if not len(taken):
            labels[free] = groups + mdav(points[free], k, False, lambda _: None)
            break
        labels[free[taken.members]] = groups + taken.owners
        groups += len(taken)
        left = np.setdiff1d(np.arange(len(free)), taken.members)
        free = free[left]
        if len(free) < 2 * k:
            labels[free] = groups
            break
        relaxation = _rest(points[free], k, relaxation, left)
    return labels


def _whole(relaxation: Relaxation, k: int) -> Ints:
    """The groups to take: those nearly whole, or the one nearest to it; k records or none must be left."""
    sizes, values = relaxation.columns.sizes, relaxation.values
    chosen = np.flatnonzero(values >= WHOLE)
    if not len(chosen):
        chosen = np.array([np.argmax(values)])
    while len(chosen) and 0 < len(relaxation.duals) - sizes[chosen].sum() < k:
        chosen = chosen[:-1]
    return chosen


def _rest(points: Floats, k: int, relaxation: Relaxation, left: Ints) -> Relaxation:
    """The relaxation of the records that are left."""
    some = columns_of(points, mdav(points, k, False, lambda _: None))
    known = relaxation.columns.within(left, len(relaxation.duals))
    rest = Relaxation(some.joined(known), relaxation.duals[left], GroupPricer(points, k))
    for _ in range(ROUNDS):
        rest.round()
        if rest.complete or rest.value - rest.bound <= CLOSE * abs(rest.value):
            break
    if rest.cut():
        rest.round()
        rest.round()
    return rest
