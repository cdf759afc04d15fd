"""What moves of a cell cost at least, and whether they are moves at all: by a linear program and by adding up."""

import numpy as np
from scipy.optimize import linprog

from discreet.kernels.arrays import Floats
from discreet.kernels.flows.graph import Graph


def cheapest(graph: Graph, price: Floats, cell: int, amount: float) -> float:
    """The least cost of moving a cell by an amount, ups and downs of the others as variables of their own."""
    n, nodes = len(graph.tail), len(graph.starts) - 1
    matrix = np.zeros((nodes, n))
    np.add.at(matrix, (graph.head, np.arange(n)), 1.0)
    np.add.at(matrix, (graph.tail, np.arange(n)), -1.0)
    usable = np.isfinite(price)
    low = np.where(usable, -graph.lo, 0.0)
    high = np.where(usable, graph.hi, 0.0)
    bounds = [(0.0, float(top)) for top in (*high, *low)]
    bounds[cell] = (max(amount, 0.0),) * 2
    bounds[n + cell] = (max(-amount, 0.0),) * 2
    cost = np.where(usable, price, 0.0)
    cost[cell] = 0.0
    found = linprog(
        np.concatenate([cost, cost]), A_eq=np.hstack([matrix, -matrix]), b_eq=np.zeros(nodes), bounds=bounds
    )
    return float(found.fun) if found.status == 0 else np.inf


def cost_of_moves(graph: Graph, price: Floats, cell: int, flow: Floats) -> float:
    """What moves cost, that of the cell left out; they must keep all bounds and relations."""
    rest = np.flatnonzero((flow != 0.0) & (np.arange(flow.size) != cell))
    assert (flow >= graph.lo - 1e-9).all()
    assert (flow <= graph.hi + 1e-9).all()
    nodes = len(graph.starts) - 1
    assert np.allclose(np.bincount(graph.head, flow, nodes), np.bincount(graph.tail, flow, nodes), atol=1e-9)
    return float(np.abs(flow[rest]) @ price[rest])
