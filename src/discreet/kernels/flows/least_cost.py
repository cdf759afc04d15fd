"""Flows of least cost that move one cell, or several at once, by given amounts where cells are the arcs of a graph.

Successive shortest paths with node potentials: a path from one end of the cell back to its other end, along arcs that
cost what their cell costs, is filled up; then the next. In nearly all cases the first path is wide enough, but a cell
of one very large contribution takes thousands. Where the graph has hubs, as a long table has, each is found by these.

What several moved cells bring to a node too much must leave it along others, and what they take must come back: a flow
from many sources to many sinks, each path from whichever source to whichever sink is nearest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.graph import Graph
from discreet.kernels.flows.hubs import Hubs, catch_up, clear, find_path, hubs_of, set_costs, settle
from discreet.kernels.jit import helper, kernel

# Up to so many hubs, and from so many spokes for each, paths by hubs are quicker than a search of the whole graph.
MOST_HUBS, SPOKES_OF_A_HUB = 16, 10
# The same of a search among suppressed cells alone, from so many for each hub.
SUPPRESSED_OF_A_HUB = 64


class Room(NamedTuple):
    """Room for searches; nothing in it outlives one but the prices for which paths by hubs are prepared."""

    flow: Floats  # arc: the flow so far
    moved: Ints  # arcs that carry flow, or did
    has_moved: NDArray[np.bool_]
    distance: Floats  # node
    potential: Floats  # node
    before: Ints  # node: the arc on which it was reached; −1 where paths begin
    reached: Ints  # nodes that have a distance
    shifted: Ints  # nodes that have a potential
    closed: NDArray[np.bool_]  # node: whether its distance is final
    is_sink: NDArray[np.bool_]  # node: whether paths may end there
    keys: Floats  # heap
    nodes: Ints  # heap
    hubs: Hubs


def room_for(graph: Graph) -> Room:
    """Room for searches in a graph."""
    nodes, n = graph.starts.size - 1, graph.tail.size
    return Room(
        flow=np.zeros(n),
        moved=np.zeros(n, dtype=np.int64),
        has_moved=np.zeros(n, dtype=np.bool_),
        distance=np.full(nodes, np.inf),
        potential=np.zeros(nodes),
        before=np.zeros(nodes, dtype=np.int64),
        reached=np.zeros(nodes, dtype=np.int64),
        shifted=np.zeros(nodes + 1, dtype=np.int64),
        closed=np.zeros(nodes, dtype=np.bool_),
        is_sink=np.zeros(nodes, dtype=np.bool_),
        keys=np.zeros(graph.arcs.size + 2),
        nodes=np.zeros(graph.arcs.size + 2, dtype=np.int64),
        hubs=hubs_of(graph, MOST_HUBS, SPOKES_OF_A_HUB),
    )


@helper
def goes_by_hubs(graph: Graph, room: Room, inside: bool) -> bool:
    """Whether paths of least cost are found by hubs, along all cells or along suppressed ones."""
    nodes = room.hubs.nodes
    suppressed = 0
    for node in nodes:
        suppressed += graph.ends[node] - graph.starts[node]
    return nodes.size > 0 and (not inside or suppressed >= SUPPRESSED_OF_A_HUB * nodes.size)


@helper
def least_cost(
    graph: Graph, room: Room, price: Floats, inside: bool, cell: int, side: int, level: float, tolerance: float
) -> tuple[float, int]:
    """Move a cell by a level at the least cost.

    Parameters
    ----------
    graph : Graph
        The cells.
    room : Room
        Afterwards `room.flow` has the moves, `room.moved` the cells that move; `forget` clears both.
    price : array of float
        What a unit of each cell costs, 0 or more; infinite for one that must not move.
    inside : bool
        Whether only suppressed cells may move.
    cell : int
        The cell.
    side : int
        1: up; −1: down.
    level : float
        How far.
    tolerance : float
        Capacities up to this count as none.

    Returns
    -------
    amount : float
        How far it could be moved.
    count : int
        How many cells stand in `room.moved`; the cell itself is the first.
    """
    if side > 0:
        source, sink, enough = graph.head[cell], graph.tail[cell], min(graph.hi[cell], level)
    else:
        source, sink, enough = graph.tail[cell], graph.head[cell], min(-graph.lo[cell], level)
    room.moved[0] = cell
    room.has_moved[cell] = True
    count, shifted, amount = 1, 0, 0.0
    if source == sink:
        room.flow[cell] = side * max(enough, 0.0)
        return max(enough, 0.0), count
    if goes_by_hubs(graph, room, inside):
        return _least_cost_by_hubs(graph, room, price, inside, cell, side, enough, tolerance)
    room.is_sink[sink] = True
    while enough - amount > tolerance:
        _begin(room, source, 0)
        reached, end = _shortest(graph, room, price, inside, cell, 1, tolerance)
        if end >= 0:
            push, _ = _capacity(graph, room, sink, enough - amount)
            count = _push(graph, room, sink, push, count)
            amount += push
            if enough - amount > tolerance:
                # Further paths may take flow back: potentials keep those arcs from having a negative price.
                for i in range(reached):
                    node = room.reached[i]
                    if room.closed[node] and room.distance[node] < room.distance[sink]:
                        if room.potential[node] == 0.0:
                            room.shifted[shifted] = node
                            shifted += 1
                        room.potential[node] += room.distance[node] - room.distance[sink]
        _end(room, reached)
        if end < 0:
            break
    room.is_sink[sink] = False
    for i in range(shifted):
        room.potential[room.shifted[i]] = 0.0
    room.flow[cell] = side * amount
    return amount, count


@helper
def _least_cost_by_hubs(
    graph: Graph, room: Room, price: Floats, inside: bool, cell: int, side: int, enough: float, tolerance: float
) -> tuple[float, int]:
    """Move a cell at the least cost as `least_cost` does, in a graph that has hubs."""
    hubs, layer = room.hubs, int(inside)
    catch_up(graph, hubs, layer, price, tolerance)
    # No path goes along the cell itself.
    set_costs(hubs, layer, cell, np.inf, np.inf)
    own = hubs.nodes.size
    spoke = hubs.spoke[cell]
    source, sink = hubs.hub[cell], own
    if (graph.head[cell] if side > 0 else graph.tail[cell]) != hubs.nodes[source]:
        source, sink = sink, source
    for place in range(own + 1):
        hubs.potential[place] = 0.0
    count, amount = 1, 0.0
    while enough - amount > tolerance:
        steps = find_path(hubs, layer, spoke, source, sink)
        if steps == 0:
            break
        push = enough - amount
        for step in range(steps):
            arc, node = hubs.path[step, 0], hubs.path[step, 1]
            push = min(push, _left(room.flow[arc], graph.lo[arc], graph.hi[arc], graph.head[arc] == node))
        for step in range(steps):
            arc, node = hubs.path[step, 0], hubs.path[step, 1]
            room.flow[arc] += push if graph.head[arc] == node else -push
            count = _note(room.moved, room.has_moved, arc, count)
            settle(graph, hubs, layer, arc, room.flow[arc], tolerance)
        amount += push
    clear(graph, hubs, layer, room.moved, count, tolerance)
    room.flow[cell] = side * amount
    return amount, count


@helper
def enough(
    graph: Graph, room: Room, price: Floats, cell: int, side: int, level: float, tolerance: float
) -> tuple[float, int]:
    """Move a cell by a level along suppressed cells, on any paths; as `least_cost`, which finds the cheapest.

    Shortest augmenting paths by breadth. To fail is the usual answer, and this fails soonest.
    """
    if side > 0:
        source, sink, wanted = graph.head[cell], graph.tail[cell], min(graph.hi[cell], level)
    else:
        source, sink, wanted = graph.tail[cell], graph.head[cell], min(-graph.lo[cell], level)
    room.moved[0] = cell
    room.has_moved[cell] = True
    count, amount = 1, 0.0
    if source == sink:
        room.flow[cell] = side * max(wanted, 0.0)
        return max(wanted, 0.0), count
    closed, reached, before = room.closed, room.reached, room.before
    while wanted - amount > tolerance:
        closed[source] = True
        before[source] = -1
        reached[0] = source
        done, size = 0, 1
        while done < size and not closed[sink]:
            node = reached[done]
            done += 1
            for place in range(graph.starts[node], graph.ends[node]):
                arc = graph.arcs[place]
                if arc == cell or price[arc] == np.inf:
                    continue
                if graph.tail[arc] == node:
                    other, left = graph.head[arc], graph.hi[arc] - room.flow[arc]
                else:
                    other, left = graph.tail[arc], room.flow[arc] - graph.lo[arc]
                if closed[other] or left <= tolerance:
                    continue
                closed[other] = True
                before[other] = arc
                reached[size] = other
                size += 1
                if other == sink:
                    break
        found = closed[sink]
        for i in range(size):
            closed[reached[i]] = False
        if not found:
            break
        push = wanted - amount
        node = sink
        while node != source:
            arc = before[node]
            if graph.head[arc] == node:
                push = min(push, graph.hi[arc] - room.flow[arc])
                node = graph.tail[arc]
            else:
                push = min(push, room.flow[arc] - graph.lo[arc])
                node = graph.head[arc]
        count = _push(graph, room, sink, push, count)
        amount += push
    room.flow[cell] = side * amount
    return amount, count


@kernel
def forget(room: Room, count: int) -> None:
    """Take back all moves."""
    for i in range(count):
        room.flow[room.moved[i]] = 0.0
        room.has_moved[room.moved[i]] = False


@helper
def _left(flow: float, lo: float, hi: float, along: bool) -> float:
    """What may yet flow along an arc, or against it, at its present price: flow the other way is taken back first."""
    if along:
        return -flow if flow < 0.0 else hi - flow
    return flow if flow > 0.0 else flow - lo


@helper
def _begin(room: Room, node: int, reached: int) -> None:
    """Let shortest paths begin at a node as well."""
    room.distance[node] = 0.0
    room.before[node] = -1
    room.reached[reached] = node
    _sift_up(room.keys, room.nodes, reached, 0.0, node)


@helper
def _shortest(
    graph: Graph, room: Room, price: Floats, inside: bool, cell: int, reached: int, tolerance: float
) -> tuple[int, int]:
    """Distances by reduced prices (Dijkstra) from as many sources as were reached until a sink is final.

    Gives how many nodes were reached and the sink, −1 if none was; no path goes along the cell itself.
    """
    distance, potential, closed = room.distance, room.potential, room.closed
    keys, nodes = room.keys, room.nodes
    size = reached
    while size > 0:
        key, node = keys[0], nodes[0]
        size -= 1
        if size > 0:
            _sift_down(keys, nodes, size, keys[size], nodes[size])
        if closed[node] or key > distance[node]:
            continue
        closed[node] = True
        if room.is_sink[node]:
            return reached, node
        for place in range(graph.starts[node], graph.ends[node] if inside else graph.starts[node + 1]):
            arc = graph.arcs[place]
            cost = price[arc]
            if arc == cell or cost == np.inf:
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
            if left <= tolerance:
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


@helper
def _end(room: Room, reached: int) -> None:
    """Take back what shortest paths have left at the nodes they reached."""
    for i in range(reached):
        room.distance[room.reached[i]] = np.inf
        room.closed[room.reached[i]] = False


@helper
def _capacity(graph: Graph, room: Room, sink: int, most: float) -> tuple[float, int]:
    """How much may flow along the path that was found, up to so much; and its source."""
    node = sink
    while room.before[node] >= 0:
        arc = room.before[node]
        most = min(most, _left(room.flow[arc], graph.lo[arc], graph.hi[arc], graph.head[arc] == node))
        node = graph.tail[arc] if graph.head[arc] == node else graph.head[arc]
    return most, node


@helper
def _push(graph: Graph, room: Room, sink: int, push: float, count: int) -> int:
    """Let so much flow along the path that was found; give how many cells have moved so far."""
    node = sink
    while room.before[node] >= 0:
        arc = room.before[node]
        room.flow[arc] += push if graph.head[arc] == node else -push
        count = _note(room.moved, room.has_moved, arc, count)
        node = graph.tail[arc] if graph.head[arc] == node else graph.head[arc]
    return count


@helper
def _note(moved: Ints, has_moved: NDArray[np.bool_], arc: int, count: int) -> int:
    """Note that a cell moves; give how many have moved so far."""
    if has_moved[arc]:
        return count
    has_moved[arc] = True
    moved[count] = arc
    return count + 1


@helper
def _sift_up(keys: Floats, nodes: Ints, at: int, key: float, node: int) -> None:
    """Add to the heap; of equal keys the lower node is first."""
    while at > 0:
        above = (at - 1) // 2
        if keys[above] < key or (keys[above] == key and nodes[above] <= node):
            break
        keys[at], nodes[at] = keys[above], nodes[above]
        at = above
    keys[at], nodes[at] = key, node


@helper
def _sift_down(keys: Floats, nodes: Ints, size: int, key: float, node: int) -> None:
    """Put an entry in place of the top."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and (
            keys[child + 1] < keys[child] or (keys[child + 1] == keys[child] and nodes[child + 1] < nodes[child])
        ):
            child += 1
        if key < keys[child] or (key == keys[child] and node <= nodes[child]):
            break
        keys[at], nodes[at] = keys[child], nodes[child]
        at = child
    keys[at], nodes[at] = key, node


@helper
def shortfall(level: float, tolerance: float) -> float:
    """What a flow may lack of a level: rounding in parts of the level, but no whole unit."""
    return max(tolerance, min(1e-9 * level, 0.5))


@kernel
def able(
    graph: Graph, room: Room, price: Floats, cells: Ints, sides: Ints, levels: Floats, tolerance: float
) -> NDArray[np.bool_]:
    """Which cells can move by their levels, each by itself, along suppressed cells; parameters as in `group_flow`."""
    found = np.zeros(cells.size, np.bool_)
    for i in range(cells.size):
        amount, count = enough(graph, room, price, cells[i], sides[i], levels[i], tolerance)
        forget(room, count)
        found[i] = amount >= levels[i] - shortfall(levels[i], tolerance)
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
    rounding = max(tolerance, 1e-12 * total)
    sources: Ints = np.flatnonzero(surplus > rounding)
    sinks: Ints = np.flatnonzero(surplus < -rounding)
    for node in sinks:
        room.is_sink[node] = True
    while possible:
        # Sources with something left have all the same potential, sinks with something missing all have none.
        begun = 0
        for node in sources:
            if surplus[node] > rounding:
                _begin(room, node, begun)
                begun += 1
        reached, sink = _shortest(graph, room, price, False, -1, begun, rounding)
        if sink >= 0:
            push, source = _capacity(graph, room, sink, -surplus[sink])
            push = min(push, surplus[source])
            surplus[source] -= push
            surplus[sink] += push
            room.is_sink[sink] = surplus[sink] < -rounding
            count = _push(graph, room, sink, push, count)
            for i in range(reached):
                node = room.reached[i]
                if room.closed[node] and room.distance[node] < room.distance[sink]:
                    room.potential[node] += room.distance[node] - room.distance[sink]
        _end(room, reached)
        if sink < 0:
            # No way on from any source: possible only if none has anything left.
            possible = reached == 0
            break
    room.potential[:] = 0.0
    for node in sinks:
        room.is_sink[node] = False
    for i in range(cells.size):
        price[cells[i]] = kept[i]
    return possible, count
