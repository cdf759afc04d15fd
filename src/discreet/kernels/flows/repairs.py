"""Suppression patterns of networks taken apart and repaired: iterated, with what is cheaper kept."""

from __future__ import annotations

import numpy as np

from discreet.kernels.arrays import Ints, Words
from discreet.kernels.flows.graph import Graph
from discreet.kernels.flows.least_cost import Room
from discreet.kernels.flows.patterns import (
    Pattern,
    Requirements,
    clean,
    compact,
    cost_of,
    costliest_first,
    drop,
    price_of,
    protect,
    put_in,
    smallest_pattern,
    users_of,
)
from discreet.kernels.jit import helper, kernel
from discreet.kernels.random import below, seeded, uniform


@kernel
def ruin_and_repair(
    graph: Graph,
    room: Room,
    requirements: Requirements,
    pattern: Pattern,
    state: Words,
    rounds: int,
    most: int,
    heat: float,
    charge: float,
    tolerance: float,
) -> tuple[float, int]:
    """Take secondary cells away, protect again what that lays open, clean up, and keep what is cheaper.

    Parameters
    ----------
    graph, room, requirements, pattern, charge, tolerance
        As in `protect`.
    state : array of words
        Random state, which is moved on.
    rounds : int
        How often.
    most : int
        How many cells are taken away at once at most.
    heat : float
        How much dearer a pattern may be, as a share of the cost, to be kept all the same.

    Returns
    -------
    cost : float
        The cost of the pattern that is kept at the end.
    improved : int
        How many times it fell.
    """
    cost = cost_of(pattern)
    improved = 0
    n, number = pattern.suppressed.size, pattern.first.size
    users = np.empty(number, np.int64)
    opened = np.empty(number, np.int64)
    for _ in range(rounds):
        compact(pattern, 0.3)
        cells = costliest_first(pattern)
        if cells.size == 0:
            break
        suppressed, uses = pattern.suppressed.copy(), pattern.uses.copy()
        first, size = pattern.first.copy(), pattern.size.copy()
        # A dear cell and some that share a certificate with it; these are banned while the gap is closed.
        taken = np.empty(most, np.int64)
        wanted = 1 + below(state, most)
        place = int(cells.size * uniform(state) ** 1.5)
        taken[0] = cells[min(place, cells.size - 1)]
        got = 1
        open_count = 0
        i = 0
        while i < got:
            cell = taken[i]
            i += 1
            count = users_of(pattern, cell, users)
            for j in range(count):
                index = users[j]
                if got < wanted:
                    near = pattern.pool[pattern.first[index] + below(state, pattern.size[index])]
                    fresh = pattern.suppressed[near]
                    for t in range(got):
                        fresh = fresh and taken[t] != near
                    if fresh:
                        taken[got] = near
                        got += 1
                drop(pattern, index)
                opened[open_count] = index
                open_count += 1
            put_in(graph, pattern, cell, False, charge)
        banned = 1 + below(state, got)
        for t in range(banned):
            pattern.price[taken[t]] = np.inf
        for t in range(open_count - 1, 0, -1):
            other = below(state, t + 1)
            opened[t], opened[other] = opened[other], opened[t]
        failed = protect(graph, room, requirements, pattern, opened[:open_count], charge, tolerance)
        if failed > 0:
            for t in range(banned):
                price_of(pattern, taken[t], charge)
            failed = protect(graph, room, requirements, pattern, opened[:open_count], charge, tolerance)
        for t in range(banned):
            price_of(pattern, taken[t], charge)
        if failed == 0:
            # What was kept of the certificates above are places in the pool.
            clean(graph, room, requirements, pattern, costliest_first(pattern), charge, tolerance, 2.0)
        now = cost_of(pattern)
        if failed == 0 and now <= cost * (1.0 + heat * uniform(state)):
            if now < cost:
                improved += 1
            cost = now
        else:
            for cell in range(n):
                if pattern.suppressed[cell] != suppressed[cell]:
                    put_in(graph, pattern, cell, suppressed[cell], charge)
            _overwrite(pattern.uses, uses)
            _overwrite(pattern.first, first)
            _overwrite(pattern.size, size)
    return cost, improved


@helper
def _overwrite(array: Ints, kept: Ints) -> None:
    """Make an array what it was, one by one: assigning it takes a second to compile, for the words of an error."""
    for place in range(array.size):
        array[place] = kept[place]


def rehearse() -> None:
    """Compile repairs, on three arcs between two nodes."""
    graph, room, requirements, pattern = smallest_pattern()
    ruin_and_repair(graph, room, requirements, pattern, seeded(0, 0), 2, 2, 0.1, 1e-3, 0.0)
