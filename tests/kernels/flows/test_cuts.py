"""What a move lacks, and the cuts that say why, against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given, settings

from discreet.kernels.flows.circulation import adjacency, shortfalls
from tabulated import generators


@settings(max_examples=200, deadline=None)
@given(rng=generators)
def test_a_shortfall_is_a_least_cut(rng: np.random.Generator) -> None:
    nodes, n = int(rng.integers(2, 8)), int(rng.integers(2, 20))
    tail, head = rng.integers(0, nodes, n), rng.integers(0, nodes, n)
    lo, hi = -rng.integers(0, 9, n).astype(float), rng.integers(0, 9, n).astype(float)
    share = rng.choice([0.0, 0.25, 0.5, 1.0], n)
    cells, sides = rng.integers(0, n, 4), rng.choice([-1, 1], 4)
    wanted, caps = rng.integers(1, 12, 4).astype(float), rng.integers(1, 12, 4).astype(float)
    lacking, near, far = shortfalls(
        tail, head, lo, hi, share, *adjacency(tail, head, nodes), cells, sides, wanted, caps, 1e-9
    )
    for at, (cell, side) in enumerate(zip(cells.tolist(), sides.tolist(), strict=True)):
        down, up = np.minimum(-lo, caps[at]) * share, np.minimum(hi, caps[at]) * share
        down[cell] = up[cell] = 0.0
        source, sink = (head[cell], tail[cell]) if side > 0 else (tail[cell], head[cell])
        if source == sink:
            assert lacking[at] == 0
            continue
        graph = nx.DiGraph()
        graph.add_nodes_from(range(nodes))
        for arc in range(n):
            for begin, end, room in ((tail[arc], head[arc], up[arc]), (head[arc], tail[arc], down[arc])):
                before = graph.get_edge_data(begin, end, {"capacity": 0.0})["capacity"]
                graph.add_edge(begin, end, capacity=before + room)
        most = nx.maximum_flow_value(graph, source, sink)
        assert np.isclose(lacking[at], max(wanted[at] - most, 0.0))
        if lacking[at] > 0:
            assert (near[at] <= far[at]).all()
            for inside in (near[at], far[at]):
                assert inside[source]
                assert not inside[sink]
                leaving = up[inside[tail] & ~inside[head]].sum() + down[inside[head] & ~inside[tail]].sum()
                assert np.isclose(leaving, most)
