"""Where arcs of limited shares do not let a cell move far enough: the nodes on either side of a least cut."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.circulation import circulation
from discreet.kernels.jit import kernel

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
        The graph, as for `discreet.kernels.circulation.widest`.
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


@kernel
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
