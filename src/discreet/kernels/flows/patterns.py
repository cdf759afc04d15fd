"""Suppression patterns of tables whose relations form a network: protecting and cleaning up.

A requirement is a primary cell that must be able to move to one side by its level while only suppressed cells move. The
secondary cells that move along are its certificate. A requirement whose certificate is whole is proven; nothing is
solved for it again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints, stable_order
from discreet.kernels.flows.graph import Graph, graph_of, put
from discreet.kernels.flows.least_cost import Room, enough, forget, goes_by_hubs, least_cost, room_for, shortfall
from discreet.kernels.jit import helper, kernel


class Requirements(NamedTuple):
    """What must be protected: cells, sides and levels; and the requirements of each cell up and down, −1 if none.

    A requirement may stand in the eyes of somebody who knows some cells: these do not move for it.
    """

    cell: Ints
    side: Ints
    level: Floats
    up: Ints
    down: Ints
    eyes: Ints  # requirement: in whose eyes; −1 in everybody's
    starts: Ints  # who knows: starts[eyes] to starts[eyes + 1] of …
    known: Ints  # … these cells


class Pattern(NamedTuple):
    """Which cells are suppressed, and each requirement's certificate: pool[first : first + size], −1 if not proven."""

    suppressed: NDArray[np.bool_]
    primary: NDArray[np.bool_]
    weight: Floats  # what each secondary cell costs; infinite if it must be published
    price: Floats  # what a move of each cell costs while protecting
    inside: Floats  # the same where nothing but suppressed cells may move
    uses: Ints  # cell: how many certificates it is part of
    witness: Ints  # cell: a requirement that could not do without it when last tried, −1 if none
    first: Ints
    size: Ints
    pool: Ints
    end: Ints  # one number: where the pool is free


@kernel
def begin(graph: Graph, pattern: Pattern, charge: float) -> None:
    """Set prices and the order of arcs by what is suppressed."""
    for cell in range(pattern.suppressed.size):
        price_of(pattern, cell, charge)
        put(graph, cell, pattern.suppressed[cell])


@helper
def put_in(graph: Graph, pattern: Pattern, cell: int, suppressed: bool, charge: float) -> None:
    """Suppress a cell, or publish it."""
    pattern.suppressed[cell] = suppressed
    price_of(pattern, cell, charge)
    put(graph, cell, suppressed)


@helper
def price_of(pattern: Pattern, cell: int, charge: float) -> None:
    """Primary cells move for nothing, suppressed ones for a small charge that keeps certificates off costly cells."""
    if pattern.primary[cell]:
        pattern.price[cell], pattern.inside[cell] = 0.0, 0.0
    elif pattern.suppressed[cell]:
        pattern.price[cell] = charge * pattern.weight[cell]
        pattern.inside[cell] = pattern.weight[cell]
    else:
        pattern.price[cell], pattern.inside[cell] = pattern.weight[cell], np.inf


@kernel
def protect(
    graph: Graph, room: Room, requirements: Requirements, pattern: Pattern, order: Ints, charge: float, tolerance: float
) -> int:
    """Protect requirements one after the other, each at the least additional cost; tell how many could not be.

    Once the pool has no room for a certificate of all cells, the requirements that are left are among these.

    This is the incremental attacker of Fischetti and Salazar (2001) as in Smith and others (2012, II.B), without the
    requirements that an earlier solution has proven.
    """
    failed = 0
    for index in order:
        if pattern.first[index] >= 0:
            continue
        if is_full(pattern):
            failed += 1
            continue
        level = requirements.level[index]
        short = level - shortfall(level, tolerance)
        prices, insides = hold(requirements, pattern, index)
        amount, count = _protect_one(graph, room, requirements, pattern, index, short, tolerance)
        release(requirements, pattern, index, prices, insides)
        if amount < short:
            forget(room, count)
            failed += 1
            continue
        for i in range(count):
            cell = room.moved[i]
            if not pattern.suppressed[cell] and abs(room.flow[cell]) > tolerance:
                put_in(graph, pattern, cell, True, charge)
        _certify(room, pattern, index, count, tolerance)
        _prove_others(graph, room, requirements, pattern, index, count, tolerance)
        forget(room, count)
    return failed


@helper
def _protect_one(
    graph: Graph, room: Room, requirements: Requirements, pattern: Pattern, index: int, short: float, tolerance: float
) -> tuple[float, int]:
    """Move the cell of a requirement at the least additional cost; give how far, and how many cells move."""
    cell, side, level = requirements.cell[index], requirements.side[index], requirements.level[index]
    # What is suppressed already is a small part of the graph: whether it is enough is soon known, and by hubs the
    # least cost within it as well.
    inside, price = True, pattern.inside
    if not goes_by_hubs(graph, room, inside):
        amount, count = enough(graph, room, pattern.inside, cell, side, level, tolerance)
        forget(room, count)
        inside, price = amount >= short, pattern.price
    while True:
        amount, count = least_cost(graph, room, price, inside, cell, side, level, tolerance)
        if amount >= short or not inside:
            return amount, count
        forget(room, count)
        inside, price = False, pattern.price


@helper
def hold(requirements: Requirements, pattern: Pattern, index: int) -> tuple[Floats, Floats]:
    """Let the cells stay that are known in the eyes in which a requirement stands; give what their moves cost."""
    view = requirements.eyes[index]
    if view < 0:
        return np.empty(0), np.empty(0)
    begin, end = requirements.starts[view], requirements.starts[view + 1]
    prices, insides = np.empty(end - begin), np.empty(end - begin)
    for i in range(begin, end):
        cell = requirements.known[i]
        prices[i - begin], insides[i - begin] = pattern.price[cell], pattern.inside[cell]
        pattern.price[cell], pattern.inside[cell] = np.inf, np.inf
    return prices, insides


@helper
def release(requirements: Requirements, pattern: Pattern, index: int, prices: Floats, insides: Floats) -> None:
    """Let the cells move again that `hold` held."""
    for i in range(prices.size):
        cell = requirements.known[requirements.starts[requirements.eyes[index]] + i]
        pattern.price[cell], pattern.inside[cell] = prices[i], insides[i]


@helper
def is_full(pattern: Pattern) -> bool:
    """Whether there may be no room for one more certificate."""
    return bool(pattern.pool.size - pattern.end[0] < pattern.suppressed.size)


@helper
def _certify(room: Room, pattern: Pattern, index: int, count: int, tolerance: float) -> None:
    """Write down the secondary cells that move as the certificate of a requirement."""
    first = pattern.end[0]
    size = 0
    for i in range(count):
        cell = room.moved[i]
        if not pattern.primary[cell] and abs(room.flow[cell]) > tolerance:
            pattern.pool[first + size] = cell
            pattern.uses[cell] += 1
            size += 1
    pattern.first[index], pattern.size[index] = first, size
    pattern.end[0] = first + size


@helper
def _prove_others(
    graph: Graph, room: Room, requirements: Requirements, pattern: Pattern, proven: int, count: int, tolerance: float
) -> None:
    """Prove what else the moves at hand prove: they may be stretched along and against themselves.

    All that they prove rests on one certificate, that of the requirement they were made for: moves of a thousand
    cells may prove a hundred requirements.
    """
    first, size = pattern.first[proven], pattern.size[proven]
    along, against = np.inf, np.inf
    for i in range(count):
        cell = room.moved[i]
        flow = room.flow[cell]
        if flow > tolerance:
            along = min(along, graph.hi[cell] / flow)
            against = min(against, -graph.lo[cell] / flow)
        elif flow < -tolerance:
            along = min(along, graph.lo[cell] / flow)
            against = min(against, -graph.hi[cell] / flow)
    for i in range(count):
        cell = room.moved[i]
        flow = room.flow[cell]
        if not pattern.primary[cell] or abs(flow) <= tolerance:
            continue
        for side in (1, -1):
            index = requirements.up[cell] if side > 0 else requirements.down[cell]
            if index < 0 or pattern.first[index] >= 0:
                continue
            stretch = along if flow * side > 0 else against
            if stretch * abs(flow) >= requirements.level[index]:
                pattern.first[index], pattern.size[index] = first, size
                for at in range(first, first + size):
                    pattern.uses[pattern.pool[at]] += 1


@helper
def drop(pattern: Pattern, index: int) -> None:
    """Give up the certificate of a requirement."""
    for i in range(pattern.first[index], pattern.first[index] + pattern.size[index]):
        pattern.uses[pattern.pool[i]] -= 1
    pattern.first[index], pattern.size[index] = -1, 0


@helper
def users_of(pattern: Pattern, cell: int, found: Ints) -> int:
    """The requirements whose certificate has a cell in it; tell how many."""
    count = 0
    left = pattern.uses[cell]
    for index in range(pattern.first.size):
        if left == 0:
            break
        for i in range(pattern.first[index], pattern.first[index] + pattern.size[index]):
            if pattern.pool[i] == cell:
                found[count] = index
                count += 1
                left -= 1
                break
    return count


@kernel
def clean(
    graph: Graph,
    room: Room,
    requirements: Requirements,
    pattern: Pattern,
    order: Ints,
    charge: float,
    tolerance: float,
    share: float,
) -> int:
    """Publish each secondary cell without which all requirements can still be proven; tell how many.

    Only requirements with the cell in their certificate are looked at again, among the cells that stay suppressed.
    Gaps in the pool are closed once it is full to a share; above 1 never, for who keeps places in it. Without room a
    cell stays.
    """
    number = pattern.first.size
    users, firsts, sizes = (
        np.empty(number, np.int64),
        np.empty(number, np.int64),
        np.empty(number, np.int64),
    )
    gone = 0
    for cell in order:
        if pattern.primary[cell] or not pattern.suppressed[cell]:
            continue
        count = users_of(pattern, cell, users)
        # Whoever could not do without the cell before is asked first.
        for i in range(count):
            if users[i] == pattern.witness[cell]:
                users[0], users[i] = users[i], users[0]
                break
        kept = pattern.inside[cell]
        pattern.inside[cell] = np.inf
        for i in range(count):
            firsts[i], sizes[i] = pattern.first[users[i]], pattern.size[users[i]]
            pattern.first[users[i]], pattern.size[users[i]] = -1, 0
        whole = True
        for i in range(count):
            index = users[i]
            level = requirements.level[index]
            prices, insides = hold(requirements, pattern, index)
            amount, moved = enough(
                graph, room, pattern.inside, requirements.cell[index], requirements.side[index], level, tolerance
            )
            release(requirements, pattern, index, prices, insides)
            forget(room, moved)
            if amount < level - shortfall(level, tolerance):
                pattern.witness[cell] = index
                whole = False
                break
        for i in range(count):
            index = users[i]
            level = requirements.level[index]
            if not whole or pattern.first[index] >= 0:
                continue
            if is_full(pattern):
                whole = False
                break
            prices, insides = hold(requirements, pattern, index)
            _, moved = least_cost(
                graph, room, pattern.inside, True, requirements.cell[index], requirements.side[index], level, tolerance
            )
            release(requirements, pattern, index, prices, insides)
            _certify(room, pattern, index, moved, tolerance)
            # What proves one requirement proves many of the others that lost the cell.
            _prove_others(graph, room, requirements, pattern, index, moved, tolerance)
            forget(room, moved)
        for i in range(count):
            if whole:
                for at in range(firsts[i], firsts[i] + sizes[i]):
                    pattern.uses[pattern.pool[at]] -= 1
            else:
                if pattern.first[users[i]] >= 0:
                    drop(pattern, users[i])
                pattern.first[users[i]], pattern.size[users[i]] = firsts[i], sizes[i]
        if whole:
            put_in(graph, pattern, cell, False, charge)
            gone += 1
        else:
            pattern.inside[cell] = kept
        compact(pattern, share)
    return gone


@kernel
def compact(pattern: Pattern, share: float) -> None:
    """Close the gaps in the pool once it is full to a share."""
    if pattern.end[0] < share * pattern.pool.size:
        return
    old = pattern.pool[: pattern.end[0]].copy()
    # Several requirements may have one certificate: where each begins now.
    begins = np.full(pattern.end[0], -1)
    end = 0
    for index in range(pattern.first.size):
        first, size = pattern.first[index], pattern.size[index]
        if first < 0 or size == 0:
            continue
        if begins[first] < 0:
            begins[first] = end
            # One by one: assigning a slice would compile the message of an error that cannot occur.
            for i in range(size):
                pattern.pool[end + i] = old[first + i]
            end += size
        pattern.first[index] = begins[first]
    for index in range(pattern.first.size):
        if pattern.first[index] >= 0 and pattern.size[index] == 0:
            pattern.first[index] = 0
    pattern.end[0] = end


@kernel
def cost_of(pattern: Pattern) -> float:
    """What the secondary cells cost together."""
    total = 0.0
    for cell in range(pattern.suppressed.size):
        if pattern.suppressed[cell] and not pattern.primary[cell]:
            total += pattern.weight[cell]
    return total


@kernel
def costliest_first(pattern: Pattern) -> Ints:
    """The secondary cells by falling cost, of equal ones the lower first."""
    count = 0
    for cell in range(pattern.suppressed.size):
        if pattern.suppressed[cell] and not pattern.primary[cell]:
            count += 1
    cells, costs, ordered = np.empty(count, np.int64), np.empty(count), np.empty(count, np.int64)
    count = 0
    for cell in range(pattern.suppressed.size):
        if pattern.suppressed[cell] and not pattern.primary[cell]:
            cells[count], costs[count] = cell, -pattern.weight[cell]
            count += 1
    order = stable_order(costs)
    for i in range(count):
        ordered[i] = cells[order[i]]
    return ordered


def smallest_pattern() -> tuple[Graph, Room, Requirements, Pattern]:
    """A requirement of one of three arcs between two nodes, to compile kernels on."""
    nothing = np.zeros(3, np.int64)
    graph = graph_of(nothing, np.ones(3, np.int64), np.full(3, -5.0), np.full(3, 5.0), 2)
    requirements = Requirements(
        np.zeros(1, np.int64),
        np.ones(1, np.int64),
        np.ones(1),
        np.array([0, -1, -1]),
        np.full(3, -1),
        np.full(1, -1),
        np.zeros(1, np.int64),
        np.zeros(0, np.int64),
    )
    primary = np.array([True, False, False])
    pattern = Pattern(
        suppressed=primary.copy(),
        primary=primary,
        weight=np.ones(3),
        price=np.zeros(3),
        inside=np.zeros(3),
        uses=nothing.copy(),
        witness=np.full(3, -1),
        first=np.full(1, -1),
        size=np.zeros(1, np.int64),
        pool=np.zeros(100, np.int64),
        end=np.zeros(1, np.int64),
    )
    begin(graph, pattern, 1e-3)
    return graph, room_for(graph), requirements, pattern


def rehearse() -> None:
    """Compile what makes patterns of networks and cleans them up."""
    graph, room, requirements, pattern = smallest_pattern()
    protect(graph, room, requirements, pattern, np.zeros(1, np.int64), 1e-3, 0.0)
    clean(graph, room, requirements, pattern, costliest_first(pattern), 1e-3, 0.0, 0.75)
    compact(pattern, 0.3)
