"""Shortest paths in a graph with few hubs, nodes of which every arc has just one: the columns of a long table.

Between two hubs a path goes through one other node, a spoke. Which spoke is the cheapest is kept for each ordered pair
of hubs, as the winner of a tournament of all spokes. A shortest path is then one among a handful of hubs, and flow
along it changes the few matches in which its spokes take part: in a table of 4,000 rows and 11 columns a path takes
some microseconds, for which a search of the whole graph takes a millisecond.

Of equally cheap spokes the lowest wins, whatever was played before: paths depend on prices and flows alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.graph import Graph
from discreet.kernels.jit import helper

# From which part of all arcs, one in so many, to play all matches is quicker than to play those of the arcs again.
ONE_IN = 20


class Hubs(NamedTuple):
    """The hubs and spokes of a graph, what it costs to go between them, and room for a search; empty if it has no hubs.

    There are two layers: in 0 all cells may move, in 1 only suppressed ones. Costs are those of the flow at hand during
    a search, and of no flow between searches.
    """

    nodes: Ints  # hub: its node
    spokes: Ints  # spoke: its node
    hub: Ints  # arc: the hub at one of its ends; −1 for loops
    spoke: Ints  # arc: the spoke at the other
    arcs: Ints  # hub, spoke: the arc between them; −1 if there is none
    into: Floats  # layer, hub, spoke: what a unit costs from the hub to the spoke; infinite if none may flow
    out_of: Floats  # layer, hub, spoke: the same from the spoke to the hub
    winners: NDArray[np.int32]  # layer, hub, hub, match: the cheaper spoke; 1 is the final, 2i and 2i + 1 lead to i
    price: Floats  # layer, arc: the price that costs were taken from
    tolerance: Floats  # layer: what counted as no capacity then; not a number if all matches are to be played
    changed: Ints  # arcs whose price has changed since
    distance: Floats  # hub, and behind all hubs the spoke at which a path begins or ends
    potential: Floats  # the same
    closed: NDArray[np.bool_]  # the same: whether its distance is final
    before: Ints  # the same: the one on the path before it, and the spoke between the two
    path: Ints  # step, the last first: the arc, the node it leads to, and if that is a spoke, which; else −1


def hubs_of(graph: Graph, most: int, spokes_of_a_hub: int) -> Hubs:
    """Find the hubs of a graph, if it has any.

    Parameters
    ----------
    graph : Graph
        The graph; one with parallel arcs has no hubs.
    most : int
        How many hubs there may be. A node of more arcs is one, for a spoke has an arc to each hub at most.
    spokes_of_a_hub : int
        How many spokes there must be for each hub.
    """
    arcs = np.diff(graph.starts)
    is_hub, is_loop = arcs > most, graph.tail == graph.head
    nodes, spokes = np.flatnonzero(is_hub), np.flatnonzero(~is_hub & (arcs > 0))
    number = np.full(arcs.size, -1, dtype=np.int64)
    number[nodes], number[spokes] = np.arange(nodes.size), np.arange(spokes.size)
    leaves = is_hub[graph.tail]
    hub = np.where(is_loop, -1, number[np.where(leaves, graph.tail, graph.head)])
    spoke = np.where(is_loop, -1, number[np.where(leaves, graph.head, graph.tail)])
    suits = 2 <= nodes.size <= most and spokes.size >= spokes_of_a_hub * nodes.size
    suits = suits and bool((leaves ^ is_hub[graph.head])[~is_loop].all())
    suits = suits and np.unique((hub * arcs.size + spoke)[~is_loop]).size == int((~is_loop).sum())
    hubs = nodes.size if suits else 0
    # A tournament has a power of two of players; those that do not exist never win.
    players = 2 ** max(1, (spokes.size - 1).bit_length()) if suits else 2
    between = np.full((hubs, players), -1, dtype=np.int64)
    if suits:
        between[hub[~is_loop], spoke[~is_loop]] = np.flatnonzero(~is_loop)
    return Hubs(
        nodes=nodes[:hubs].astype(np.int64),
        spokes=spokes.astype(np.int64),
        hub=hub.astype(np.int64),
        spoke=spoke.astype(np.int64),
        arcs=between,
        into=np.full((2, hubs, players), np.inf),
        out_of=np.full((2, hubs, players), np.inf),
        winners=np.zeros((2, hubs, hubs, players), dtype=np.int32),
        price=np.full((2, graph.tail.size if suits else 0), np.inf),
        tolerance=np.full(2, np.nan),
        changed=np.zeros(graph.tail.size if suits else 0, dtype=np.int64),
        distance=np.zeros(hubs + 1),
        potential=np.zeros(hubs + 1),
        closed=np.zeros(hubs + 1, dtype=np.bool_),
        before=np.zeros((hubs + 1, 2), dtype=np.int64),
        path=np.zeros((2 * hubs + 2, 3), dtype=np.int64),
    )


@helper
def catch_up(graph: Graph, hubs: Hubs, layer: int, price: Floats, tolerance: float) -> None:
    """Take the costs of no flow over from prices, of which few have changed since the last time."""
    n = price.size
    # Arrays by names of their own: to pass all of a graph on for every arc would take longer than all else here.
    tail, places, ends, known = graph.tail, graph.places, graph.ends, hubs.price[layer]
    changed = 0
    for arc in range(n):
        now = price[arc]
        if now < np.inf and layer and places[arc, 0] >= ends[tail[arc]]:
            now = np.inf
        if now != known[arc]:
            known[arc] = now
            if hubs.hub[arc] >= 0:
                hubs.changed[changed] = arc
                changed += 1
    if hubs.tolerance[layer] != tolerance or ONE_IN * changed > n:
        hubs.tolerance[layer] = tolerance
        for arc in range(n):
            hub, spoke = hubs.hub[arc], hubs.spoke[arc]
            if hub >= 0:
                along, against = _costs(known[arc], graph.lo[arc], graph.hi[arc], 0.0, tolerance)
                is_from_hub = tail[arc] == hubs.nodes[hub]
                hubs.into[layer, hub, spoke] = along if is_from_hub else against
                hubs.out_of[layer, hub, spoke] = against if is_from_hub else along
        _play_all(hubs.into[layer], hubs.out_of[layer], hubs.winners[layer])
        return
    for i in range(changed):
        settle(graph, hubs, layer, hubs.changed[i], 0.0, tolerance)


@helper
def clear(graph: Graph, hubs: Hubs, layer: int, moved: Ints, count: int, tolerance: float) -> None:
    """Go back from the costs of a flow, which has moved so many arcs, to those of no flow."""
    if ONE_IN * count > hubs.price.shape[1]:
        hubs.tolerance[layer] = np.nan
        return
    for i in range(count):
        settle(graph, hubs, layer, moved[i], 0.0, tolerance)


@helper
def settle(graph: Graph, hubs: Hubs, layer: int, arc: int, flow: float, tolerance: float) -> None:
    """Take the costs of an arc over from its flow."""
    along, against = _costs(hubs.price[layer, arc], graph.lo[arc], graph.hi[arc], flow, tolerance)
    is_from_hub = graph.tail[arc] == hubs.nodes[hubs.hub[arc]]
    set_costs(hubs, layer, arc, along if is_from_hub else against, against if is_from_hub else along)


@helper
def _costs(price: float, lo: float, hi: float, flow: float, tolerance: float) -> tuple[float, float]:
    """What a further unit costs along an arc, and against it: to take flow back returns its price."""
    if price == np.inf:
        return np.inf, np.inf
    along, against = -price if flow < 0.0 else price, -price if flow > 0.0 else price
    if (-flow if flow < 0.0 else hi - flow) <= tolerance:
        along = np.inf
    if (flow if flow > 0.0 else flow - lo) <= tolerance:
        against = np.inf
    return along, against


@helper
def set_costs(hubs: Hubs, layer: int, arc: int, into: float, out_of: float) -> None:
    """Set the costs from the hub of an arc to its spoke and back, and play the matches again that this changes."""
    hub, spoke = hubs.hub[arc], hubs.spoke[arc]
    is_in_changed, is_out_changed = into != hubs.into[layer, hub, spoke], out_of != hubs.out_of[layer, hub, spoke]
    hubs.into[layer, hub, spoke], hubs.out_of[layer, hub, spoke] = into, out_of
    for other in range(hubs.nodes.size):
        if is_in_changed:
            _play(hubs.into[layer, hub], hubs.out_of[layer, other], hubs.winners[layer, hub, other], spoke)
        if is_out_changed:
            _play(hubs.into[layer, other], hubs.out_of[layer, hub], hubs.winners[layer, other, hub], spoke)


@helper
def _play_all(into: Floats, out_of: Floats, winners: NDArray[np.int32]) -> None:
    """Play all tournaments."""
    hubs, players = into.shape
    for start in range(hubs):
        for end in range(hubs):
            there, back, won = into[start], out_of[end], winners[start, end]
            for match in range(players - 1, 0, -1):
                first = 2 * match
                one, two = (won[first], won[first + 1]) if first < players else (first - players, first - players + 1)
                won[match] = one if there[one] + back[one] <= there[two] + back[two] else two


@helper
def _play(into: Floats, out_of: Floats, winners: NDArray[np.int32], spoke: int) -> None:
    """Play the matches of a spoke whose cost has changed, up to one that it loses as it did before."""
    one, two = spoke & ~1, spoke | 1
    match = (into.size + spoke) // 2
    while True:
        winner = one if into[one] + out_of[one] <= into[two] + out_of[two] else two
        if winner != spoke and winner == winners[match]:
            return
        winners[match] = winner
        match //= 2
        if match == 0:
            return
        one, two = winners[2 * match], winners[2 * match + 1]


@helper
def find_path(hubs: Hubs, layer: int, spoke: int, source: int, sink: int) -> int:
    """Find a shortest path between a hub and a spoke by reduced costs (Dijkstra), and raise potentials by its lengths.

    Parameters
    ----------
    hubs : Hubs
        Afterwards `hubs.path` has the steps.
    layer : int
        Along which cells.
    spoke : int
        The spoke, whose place is behind all hubs.
    source, sink : int
        The places of the two.

    Returns
    -------
    int
        The number of steps; 0 if there is no path.
    """
    own = hubs.nodes.size
    distance, potential, closed = hubs.distance, hubs.potential, hubs.closed
    into, out_of, winners = hubs.into[layer], hubs.out_of[layer], hubs.winners[layer]
    for place in range(own + 1):
        distance[place], closed[place] = np.inf, False
    distance[source] = 0.0
    nearest = source
    while nearest != sink:
        closed[nearest] = True
        following = -1
        for other in range(own + 1):
            if closed[other]:
                continue
            between = spoke if nearest == own or other == own else winners[nearest, other, 1]
            cost = into[nearest, between] if nearest < own else 0.0
            if other < own:
                cost += out_of[other, between]
            if cost < np.inf:
                length = distance[nearest] + max(cost + potential[nearest] - potential[other], 0.0)
                if length < distance[other]:
                    distance[other] = length
                    hubs.before[other, 0], hubs.before[other, 1] = nearest, between
            if distance[other] < np.inf and (following < 0 or distance[other] < distance[following]):
                following = other
        if following < 0:
            return 0
        nearest = following
    # Further paths may take flow back: potentials keep what that returns from being a negative length.
    for place in range(own + 1):
        if closed[place]:
            potential[place] += distance[place] - distance[sink]
    return _trace(hubs, source, sink)


@helper
def _trace(hubs: Hubs, source: int, sink: int) -> int:
    """List the steps of the path that was found; give their number."""
    own, path = hubs.nodes.size, hubs.path
    steps, place = 0, sink
    while place != source:
        start, through = hubs.before[place]
        # Where rounding leads a path through a spoke twice, the way between is left out: it is worth nothing.
        earlier = 0
        while earlier < steps and path[earlier, 2] != through:
            earlier += 1
        if earlier < steps:
            steps = earlier
        elif place < own:
            path[steps, 0], path[steps, 1], path[steps, 2] = hubs.arcs[place, through], hubs.nodes[place], -1
            steps += 1
        if start < own:
            path[steps, 0], path[steps, 1], path[steps, 2] = hubs.arcs[start, through], hubs.spokes[through], through
            steps += 1
        place = start
    return steps
