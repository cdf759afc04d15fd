"""The graph whose arcs are the cells of a table and whose nodes are its relations; suppressed cells stand in front."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import helper, kernel


class Graph(NamedTuple):
    """Arcs (cells) between nodes (relations), with bounds of their flow and the arcs at each node.

    At each node the arcs of suppressed cells stand in front, so that searches among these alone see no others.
    """

    tail: Ints
    head: Ints
    lo: Floats
    hi: Floats
    starts: Ints
    arcs: Ints
    places: Ints  # arc, end: where it stands at its tail and at its head
    ends: Ints  # node: where its arcs of suppressed cells end


@kernel
def graph_of(tail: Ints, head: Ints, lo: Floats, hi: Floats, nodes: int) -> Graph:
    """A graph with no cell suppressed; loops stand at no node."""
    n = tail.size
    starts = np.zeros(nodes + 1, np.int64)
    for arc in range(n):
        if tail[arc] != head[arc]:
            starts[tail[arc] + 1] += 1
            starts[head[arc] + 1] += 1
    for node in range(nodes):
        starts[node + 1] += starts[node]
    free = starts[:-1].copy()
    arcs, places = np.empty(starts[nodes], np.int64), np.full((n, 2), -1)
    for arc in range(n):
        if tail[arc] != head[arc]:
            for end in range(2):
                node = tail[arc] if end == 0 else head[arc]
                arcs[free[node]], places[arc, end] = arc, free[node]
                free[node] += 1
    return Graph(tail, head, lo, hi, starts, arcs, places, starts[:-1].copy())


@helper
def put(graph: Graph, arc: int, suppressed: bool) -> None:
    """Move an arc to the suppressed ones at both its nodes, or away from them."""
    if graph.places[arc, 0] < 0:
        return
    for end in range(2):
        node = graph.tail[arc] if end == 0 else graph.head[arc]
        place = graph.places[arc, end]
        if suppressed == (place < graph.ends[node]):
            continue
        border = graph.ends[node] if suppressed else graph.ends[node] - 1
        other = graph.arcs[border]
        graph.arcs[border], graph.arcs[place] = arc, other
        graph.places[other, 0 if graph.tail[other] == node else 1] = place
        graph.places[arc, end] = border
        graph.ends[node] += 1 if suppressed else -1
