"""The cheapest way to move several cells at once by given amounts where cells are the arcs of a graph.

What the moved cells bring to a node too much must leave it along others, and what they take must come back: a flow from
many sources to many sinks. Successive shortest paths as in `least_cost`, each from whichever source to whichever sink
is nearest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel
from discreet.kernels.least_cost import Graph, Room, _left, _sift_down, _sift_up, enough, forget


@kernel
def able(
    graph: Graph, room: Room, price: Floats, cells: Ints, sides: Ints, levels: Floats, tolerance: float
) -> NDArray[np.bool_]:
    """Which cells can move by their levels, each by itself, along suppressed cells; parameters as in `group_flow`."""
    found = np.zeros(cells.size, np.bool_)
    for i in range(cells.size):
        amount, count = enough(graph, room, price, cells[i], sides[i], levels[i], tolerance)
        forget(room, count)
        found[i] = amount >= levels[i] - max(tolerance, 1e-9 * levels[i])
    return found


@kernel
def group_flow(
    graph: Graph, room: Room, price: Floats, cells: Ints, sides: Ints, levels: Floats, tolerance: float
) -> tuple[bool, int]:
    """Move some cells by their levels, all at once, at the least cost of the others.

    Parameters
    ----------
    graph : Graph
        The cells.
    room : Room
        Afterwards `room.flow` has the moves, `room.moved` the cells that move; `forget` clears both.
    price : array of float
        What a unit of each cell costs, 0 or more; infinite for one that must not move.
    cells, sides, levels : arrays
        The cells, each once; 1 or −1 for up or down; how far.
    tolerance : float
        Capacities up to this count as none.

    Returns
    -------
    possible : bool
        Whether all can move that far together.
    count : int
        How many cells stand in `room.moved`; the given ones are the first.
    """
    nodes = graph.starts.size - 1
    # What must leave a node along other cells; below zero, what must come to it.
    surplus = np.zeros(nodes)
    kept = np.empty(cells.size)
    possible = True
    total = 0.0
    for i in range(cells.size):
        cell, level = cells[i], levels[i]
        total += level
        if level > (graph.hi[cell] if sides[i] > 0 else -graph.lo[cell]) + tolerance:
            possible = False
        room.flow[cell] = sides[i] * level
        room.has_moved[cell] = True
        room.moved[i] = cell
        surplus[graph.head[cell]] += sides[i] * level
        surplus[graph.tail[cell]] -= sides[i] * level
        kept[i], price[cell] = price[cell], np.inf
    count = cells.size
    # Sums of levels that are no whole numbers leave rounding behind.
    dust = max(tolerance, 1e-12 * total)
    sources = np.flatnonzero(np.abs(surplus) > dust)
    while possible:
        reached, sink = _nearest(graph, room, price, surplus, sources, dust)
        if sink >= 0:
            count = _push(graph, room, surplus, sink, count)
            for i in range(reached):
                node = room.reached[i]
                if room.closed[node] and room.distance[node] < room.distance[sink]:
                    room.potential[node] += room.distance[node] - room.distance[sink]
        for i in range(reached):
            room.distance[room.reached[i]] = np.inf
            room.closed[room.reached[i]] = False
        if sink < 0:
            # No way on from any source: possible only if none has anything left.
            possible = reached == 0
            break
    room.potential[:] = 0.0
    for i in range(cells.size):
        price[cells[i]] = kept[i]
    return possible, count


@kernel
def _nearest(graph: Graph, room: Room, price: Floats, surplus: Floats, sources: Ints, dust: float) -> tuple[int, int]:
    """Distances by reduced prices from all sources until a sink is final; how many nodes were reached, and the sink."""
    distance, potential, closed = room.distance, room.potential, room.closed
    keys, nodes = room.keys, room.nodes
    reached, size = 0, 0
    # Sources with something left have all the same potential, sinks with something missing all have none.
    for node in sources:
        if surplus[node] > dust:
            distance[node] = 0.0
            room.before[node] = -1
            room.reached[reached] = node
            reached += 1
            _sift_up(keys, nodes, size, 0.0, node)
            size += 1
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        if size > 0:
            _sift_down(keys, nodes, size, keys[size], nodes[size])
        if closed[node] or key > distance[node]:
            continue
        closed[node] = True
        if surplus[node] < -dust:
            return reached, node
        for place in range(graph.starts[node], graph.starts[node + 1]):
            arc = graph.arcs[place]
            cost = price[arc]
            if cost == np.inf:
                continue
            if graph.tail[arc] == node:
                other, flow = graph.head[arc], room.flow[arc]
                left = graph.hi[arc] - flow
            else:
                other, flow = graph.tail[arc], -room.flow[arc]
                left = -graph.lo[arc] - flow
            if closed[other]:
                continue
            if flow < 0.0:
                left, cost = -flow, -cost
            if left <= dust:
                continue
            length = key + max(cost + potential[node] - potential[other], 0.0)
            if length < distance[other]:
                if distance[other] == np.inf:
                    room.reached[reached] = other
                    reached += 1
                distance[other] = length
                room.before[other] = arc
                _sift_up(keys, nodes, size, length, other)
                size += 1
    return reached, -1


@kernel
def _push(graph: Graph, room: Room, surplus: Floats, sink: int, count: int) -> int:
    """Fill the path that was found; tell how many cells have moved so far."""
    push, node = -surplus[sink], sink
    while room.before[node] >= 0:
        arc = room.before[node]
        push = min(push, _left(graph, room, arc, node))
        node = graph.tail[arc] if graph.head[arc] == node else graph.head[arc]
    push = min(push, surplus[node])
    surplus[node] -= push
    surplus[sink] += push
    node = sink
    while room.before[node] >= 0:
        arc = room.before[node]
        room.flow[arc] += push if graph.head[arc] == node else -push
        if not room.has_moved[arc]:
            room.has_moved[arc] = True
            room.moved[count] = arc
            count += 1
        node = graph.tail[arc] if graph.head[arc] == node else graph.head[arc]
    return count
