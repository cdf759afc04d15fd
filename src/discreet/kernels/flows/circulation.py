"""How far one cell can move when the relations form a graph: a maximum flow.

Where each cell stands in two relations with opposite signs, cells are the arcs of a directed graph, relations its nodes
and deviations that obey all relations are circulations. A cell moves up by what can flow back from its head to its
tail through the other arcs (Dinic's algorithm: shortest augmenting paths, all those of one length at a time).

Flows start at 0, and amounts are only ever added and subtracted: from integers come integers, exactly.

Where arcs of limited shares do not let a cell move far enough: the nodes on either side of a least cut.

Whether relations form a network: each cell in two at most, with opposite signs once rows are turned round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel


class Adjacency(NamedTuple):
    """The arcs at each node, leaving or entering: node v has arcs[starts[v] : starts[v + 1]]; loops are left out."""

    starts: Ints
    arcs: Ints


class Network(NamedTuple):
    """Residual capacities in the order of the adjacency, and room for a search.

    A place is an arc as seen from one of its two nodes; going from there to the other node uses the place's capacity.
    """

    starts: Ints  # node: its first place
    targets: Ints  # place: the node at the other end
    mates: Ints  # place: the same arc seen from there
    arcs: Ints  # place: the arc
    places: Ints  # arc, end: its place at its tail and at its head; −1 for loops
    capacities: Floats  # place: what may yet flow from here to the target
    flows: Floats  # arc: the flow so far, from tail to head
    levels: Ints  # node: arcs from the source, −1 if not reached
    nexts: Ints  # node: the place to try next on the way back to the source
    queue: Ints  # nodes reached
    path: Ints  # places from the sink towards the source
    changed: Ints  # arcs that carried flow
    is_changed: NDArray[np.bool_]


@kernel
def adjacency(tail: NDArray[np.integer], head: NDArray[np.integer], nodes: int) -> Adjacency:
    """List the arcs at each node, in ascending order.

    Parameters
    ----------
    tail, head : arrays of ints
        Arc i goes from tail[i] to head[i], both from 0 to nodes − 1.
    nodes : int
        The number of nodes.
    """
    starts = np.zeros(nodes + 1, np.int64)
    for arc in range(tail.size):
        if tail[arc] != head[arc]:
            starts[tail[arc] + 1] += 1
            starts[head[arc] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    arcs = np.empty(starts[nodes], np.int64)
    free = starts[:-1].copy()
    for arc in range(tail.size):
        if tail[arc] != head[arc]:
            arcs[free[tail[arc]]] = arc
            free[tail[arc]] += 1
            arcs[free[head[arc]]] = arc
            free[head[arc]] += 1
    return Adjacency(starts, arcs)


@kernel
def widest(
    tail: NDArray[np.integer],
    head: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    starts: Ints,
    arcs: Ints,
    which: Ints,
    side: int,
    limits: Floats,
    tolerance: float,
    listed: bool,
) -> tuple[Floats, Ints, Ints, Floats]:
    """Find how far each of some cells can move to one side, the others following within their bounds.

    Parameters
    ----------
    tail, head : arrays of n ints
        The two nodes of each cell; a cell with tail = head moves freely within its bounds.
    lo, hi : arrays of n floats
        Bounds of the deviations, lo ≤ 0 ≤ hi; may be infinite.
    starts, arcs : arrays of ints
        The `Adjacency` of the graph.
    which : array of ints
        The cells asked for.
    side : int
        +1: the largest d_i; −1: the largest −d_i.
    limits : array of floats
        For each cell asked for, what is enough: the search stops there. Infinite: the exact maximum.
    tolerance : float
        Residual capacities up to this count as none.
    listed : bool
        Whether to list the deviations that bring each cell so far; none are listed where there is no end to it.

    Returns
    -------
    amounts : array of floats
        The amount for each cell asked for, at most its limit; never more than possible, except for rounding.
    offsets, moved, deviations : arrays
        Those listed for cell i are `offsets[i]` to `offsets[i + 1]`: which cells move, and by how much.
    """
    network = _network(tail, head, lo, hi, starts, arcs)
    amounts = np.empty(which.size)
    offsets = np.zeros(which.size + 1, np.int64)
    moved, deviations = np.empty(64, np.int64), np.empty(64)
    for i in range(which.size):
        amounts[i], changes = _move(tail, head, lo, hi, network, which[i], side, limits[i], tolerance)
        end = offsets[i]
        if listed and 0.0 < amounts[i] < np.inf:
            if end + changes + 1 > moved.size:
                longer, further = np.empty(2 * (end + changes + 1), np.int64), np.empty(2 * (end + changes + 1))
                for at in range(end):
                    longer[at], further[at] = moved[at], deviations[at]
                moved, deviations = longer, further
            moved[end], deviations[end] = which[i], side * amounts[i]
            end += 1
            for j in range(changes):
                arc = network.changed[j]
                if network.flows[arc] != 0.0:
                    moved[end], deviations[end] = arc, network.flows[arc]
                    end += 1
        offsets[i + 1] = end
        _reset(lo, hi, network, changes)
    return amounts, offsets, moved[: offsets[-1]].copy(), deviations[: offsets[-1]].copy()


@kernel
def circulation(
    tail: NDArray[np.integer],
    head: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    starts: Ints,
    arcs: Ints,
    cell: int,
    side: int,
    limit: float,
    tolerance: float,
) -> Floats:
    """Move one cell as far as `widest` says and give the deviations of all cells.

    Parameters
    ----------
    tail, head, lo, hi, starts, arcs, tolerance : see `widest`
        The graph.
    cell : int
        The cell to move.
    side : int
        +1: up; −1: down.
    limit : float
        What is enough; finite where neither the cell nor a way round is bounded.

    Returns
    -------
    array of n floats
        Deviations that obey all relations; that of the cell is side times the amount. Exact for integer bounds.
    """
    network = _network(tail, head, lo, hi, starts, arcs)
    amount, _ = _move(tail, head, lo, hi, network, cell, side, limit, tolerance)
    network.flows[cell] = side * amount
    return network.flows


@helper
def _network(
    tail: NDArray[np.integer], head: NDArray[np.integer], lo: Floats, hi: Floats, starts: Ints, arcs: Ints
) -> Network:
    """Lay out the residual capacities of the flow 0."""
    n, nodes, size = tail.size, starts.size - 1, arcs.size
    network = Network(
        starts,
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        arcs,
        np.full((n, 2), -1),
        np.zeros(size),
        np.zeros(n),
        np.full(nodes, -1),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes + 1, np.int64),
        np.zeros(n, np.int64),
        np.zeros(n, np.bool_),
    )
    for node in range(nodes):
        for place in range(starts[node], starts[node + 1]):
            arc = arcs[place]
            if tail[arc] == node:
                network.targets[place], network.capacities[place] = head[arc], hi[arc]
                network.places[arc, 0] = place
            else:
                network.targets[place], network.capacities[place] = tail[arc], -lo[arc]
                network.places[arc, 1] = place
    for arc in range(n):
        here, there = network.places[arc, 0], network.places[arc, 1]
        if here >= 0:
            network.mates[here], network.mates[there] = there, here
    return network


@helper
def _move(
    tail: NDArray[np.integer],
    head: NDArray[np.integer],
    lo: Floats,
    hi: Floats,
    network: Network,
    cell: int,
    side: int,
    limit: float,
    tolerance: float,
) -> tuple[float, int]:
    """Send flow round through a cell; tell how much and how many arcs were changed (besides the cell)."""
    if side > 0:
        source, sink, enough = head[cell], tail[cell], min(hi[cell], limit)
    else:
        source, sink, enough = tail[cell], head[cell], min(-lo[cell], limit)
    if source == sink:
        return max(enough, 0.0), 0
    if enough <= tolerance:
        return 0.0, 0
    here, there = network.places[cell, 0], network.places[cell, 1]
    network.capacities[here] = network.capacities[there] = 0.0
    # The cuts round either end are the most frequent ones; to know them saves the last search, which would fail.
    leaving, entering = 0.0, 0.0
    for place in range(network.starts[source], network.starts[source + 1]):
        leaving += network.capacities[place]
    for place in range(network.starts[sink], network.starts[sink + 1]):
        entering += network.capacities[network.mates[place]]
    enough = min(enough, min(leaving, entering))
    amount, changes = 0.0, 0
    while enough - amount > tolerance:
        reached = _level(network, source, sink, tolerance)
        if network.levels[sink] >= 0:
            amount, changes = _block(network, source, sink, amount, enough, tolerance, changes)
        for i in range(reached):
            network.levels[network.queue[i]] = -1
        if network.queue[reached - 1] != sink:
            break
    network.capacities[here], network.capacities[there] = hi[cell], -lo[cell]
    return amount, changes


@helper
def _level(network: Network, source: int, sink: int, tolerance: float) -> int:
    """Number the nodes by their distance from the source until the sink is reached, as the last; count them."""
    starts, targets, capacities, levels = network.starts, network.targets, network.capacities, network.levels
    queue, nexts = network.queue, network.nexts
    levels[source] = 0
    queue[0] = source
    done, reached = 0, 1
    while done < reached:
        node = queue[done]
        done += 1
        for place in range(starts[node], starts[node + 1]):
            target = targets[place]
            if levels[target] < 0 and capacities[place] > tolerance:
                levels[target] = levels[node] + 1
                nexts[target] = starts[target]
                queue[reached] = target
                reached += 1
                if target == sink:
                    return reached
    return reached


@helper
def _block(
    network: Network, source: int, sink: int, amount: float, enough: float, tolerance: float, changes: int
) -> tuple[float, int]:
    """Send flow along shortest paths until none is left or it is enough; tell the amount and the arcs changed so far.

    Paths are looked for backwards: every node that has a level can be reached from the source, so that dead ends come
    only from flow sent in this round.
    """
    starts, targets, mates, capacities = network.starts, network.targets, network.mates, network.capacities
    levels, nexts, path = network.levels, network.nexts, network.path
    dead = levels.size + 1
    node, length = sink, 0
    while True:
        if node == source:
            push = enough - amount
            for i in range(length):
                push = min(push, capacities[mates[path[i]]])
            if push == np.inf:
                return np.inf, changes
            changes = _send(network, length, push, changes)
            if push == enough - amount:
                return enough, changes
            amount += push
            # Go on from the full arc that is nearest to the sink.
            kept = 0
            while capacities[mates[path[kept]]] > tolerance:
                kept += 1
            length = kept
            node = targets[mates[path[kept]]]
        end, below = starts[node + 1], levels[node] - 1
        place = nexts[node]
        while place < end and not (levels[targets[place]] == below and capacities[mates[place]] > tolerance):
            place += 1
        nexts[node] = place
        if place < end:
            path[length] = place
            length += 1
            node = targets[place]
        elif length == 0:
            return amount, changes
        else:
            levels[node] = dead
            length -= 1
            node = targets[mates[path[length]]]


@helper
def _send(network: Network, length: int, push: float, changes: int) -> int:
    """Send flow along the path at hand; tell how many arcs have been changed so far."""
    for i in range(length):
        place = network.path[i]
        mate, arc = network.mates[place], network.arcs[place]
        network.capacities[mate] -= push
        network.capacities[place] += push
        network.flows[arc] += push if network.places[arc, 0] == mate else -push
        if not network.is_changed[arc]:
            network.is_changed[arc] = True
            network.changed[changes] = arc
            changes += 1
    return changes


@helper
def _reset(lo: Floats, hi: Floats, network: Network, changes: int) -> None:
    """Take back all flow."""
    for i in range(changes):
        arc = network.changed[i]
        network.capacities[network.places[arc, 0]] = hi[arc]
        network.capacities[network.places[arc, 1]] = -lo[arc]
        network.flows[arc] = 0.0
        network.is_changed[arc] = False


Bools = NDArray[np.bool_]


@kernel
def shortfalls(
    tail: Ints,
    head: Ints,
    lo: Floats,
    hi: Floats,
    share: Floats,
    starts: Ints,
    arcs: Ints,
    cells: Ints,
    sides: Ints,
    wanted: Floats,
    caps: Floats,
    tolerance: float,
) -> tuple[Floats, Bools, Bools]:
    """How much each of some cells falls short of a move, and the nodes that a least cut has on the side of the source.

    Parameters
    ----------
    tail, head, lo, hi, starts, arcs : arrays
        The graph, as for `discreet.kernels.flows.circulation.widest`.
    share : array of floats
        Which share of the bounds of each arc may be used.
    cells, sides, wanted : arrays
        The moves: a cell, +1 for up or −1 for down, and how far; the cell itself is not bounded.
    caps : array of floats
        For each move, what any other arc carries at most when it is used in full.
    tolerance : float
        Residual capacities up to this part of a move count as none, and so do shortfalls.

    Returns
    -------
    lacking : array of floats
        What is missing of each move; 0 if nothing.
    near, far : arrays of bools, move × node
        For moves that lack something, the smallest and the largest set of nodes on the side of the source.
    """
    n, nodes, count = tail.size, starts.size - 1, cells.size
    lacking = np.zeros(count)
    near, far = np.zeros((count, nodes), np.bool_), np.zeros((count, nodes), np.bool_)
    low, high = np.empty(n), np.empty(n)
    queue = np.empty(nodes, np.int64)
    for i in range(count):
        cell, enough, cap = cells[i], wanted[i], caps[i]
        for arc in range(n):
            low[arc] = -min(-lo[arc], cap) * share[arc]
            high[arc] = min(hi[arc], cap) * share[arc]
        low[cell], high[cell] = -enough, enough
        dust = tolerance * enough
        flows = circulation(tail, head, low, high, starts, arcs, cell, sides[i], enough, dust)
        missing = enough - abs(flows[cell])
        if missing <= dust:
            continue
        lacking[i] = missing
        low[cell], high[cell], flows[cell] = 0.0, 0.0, 0.0
        source, sink = (head[cell], tail[cell]) if sides[i] > 0 else (tail[cell], head[cell])
        _spread(tail, head, low, high, flows, starts, arcs, source, 1, dust, near[i], queue)
        _spread(tail, head, low, high, flows, starts, arcs, sink, -1, dust, far[i], queue)
        for node in range(nodes):
            far[i, node] = not far[i, node]
    return lacking, near, far


@helper
def _spread(
    tail: Ints,
    head: Ints,
    low: Floats,
    high: Floats,
    flows: Floats,
    starts: Ints,
    arcs: Ints,
    origin: int,
    way: int,
    dust: float,
    reached: Bools,
    queue: Ints,
) -> None:
    """Mark the nodes to which more could flow from the origin (way 1), or from which more could flow to it (−1)."""
    reached[origin] = True
    queue[0] = origin
    done, count = 0, 1
    while done < count:
        node = queue[done]
        done += 1
        for place in range(starts[node], starts[node + 1]):
            arc = arcs[place]
            forward = (tail[arc] == node) == (way > 0)
            room = high[arc] - flows[arc] if forward else flows[arc] - low[arc]
            target = head[arc] if tail[arc] == node else tail[arc]
            if room > dust and not reached[target]:
                reached[target] = True
                queue[count] = target
                count += 1


@kernel
def orient(
    starts: Ints,
    columns: Ints,
    by_starts: Ints,
    by_rows: Ints,
    by_coefficients: Floats,
    component: Ints,
    components: int,
) -> tuple[Ints, NDArray[np.bool_]]:
    """Find signs of the rows that make the columns of a component arcs, where there are any.

    Parameters
    ----------
    starts, columns : arrays of int
        The columns of each row.
    by_starts, by_rows, by_coefficients : arrays
        The rows of each column, and its coefficients there.
    component : array of int
        The component of each column.
    components : int
        Their number.

    Returns
    -------
    signs : array of int
        1 or −1 for each row; of no meaning where the component is no network.
    networks : array of bool
        Which components are networks.
    """
    rows = starts.size - 1
    signs = np.zeros(rows, np.int64)
    networks = np.ones(components, np.bool_)
    for column in range(component.size):
        first, end = by_starts[column], by_starts[column + 1]
        if end - first > 2:
            networks[component[column]] = False
        for entry in range(first, end):
            if abs(by_coefficients[entry]) != 1.0:
                networks[component[column]] = False
    stack = np.empty(rows, np.int64)
    for start in range(rows):
        if signs[start] != 0 or starts[start] == starts[start + 1]:
            continue
        signs[start] = 1
        stack[0] = start
        size = 1
        while size > 0:
            size -= 1
            row = stack[size]
            for at in range(starts[row], starts[row + 1]):
                column = columns[at]
                first, end = by_starts[column], by_starts[column + 1]
                if end - first != 2:
                    continue
                here, there = (first, first + 1) if by_rows[first] == row else (first + 1, first)
                other = by_rows[there]
                if other == row:
                    networks[component[column]] = False
                    continue
                wanted = -signs[row] if by_coefficients[here] == by_coefficients[there] else signs[row]
                if signs[other] == 0:
                    signs[other] = wanted
                    stack[size] = other
                    size += 1
                elif signs[other] != wanted:
                    networks[component[column]] = False
    return signs, networks


def rehearse() -> None:
    """Compile cuts, on two arcs between two nodes."""
    tail, head, both = np.zeros(2, np.int64), np.ones(2, np.int64), np.ones(2)
    one, level = np.zeros(1, np.int64), np.ones(1)
    shortfalls(tail, head, -both, both, both, *adjacency(tail, head, 2), one, one + 1, level, level, 0.0)
