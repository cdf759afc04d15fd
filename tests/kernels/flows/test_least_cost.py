"""The cheapest move of a cell, against a linear program; and the order of arcs that it relies on."""

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.kernels.flows.least_cost import Graph, enough, forget, graph_of, least_cost, put, room_for


def random_graph(rng: np.random.Generator) -> Graph:
    nodes, n = int(rng.integers(2, 9)), int(rng.integers(3, 25))
    tail, head = rng.integers(0, nodes, (2, n))
    return graph_of(tail, head, -rng.integers(0, 9, n).astype(float), rng.integers(0, 9, n).astype(float), nodes)


def cheapest(graph: Graph, price: np.ndarray, cell: int, amount: float) -> float:
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


@pytest.mark.parametrize("seed", range(150))
def test_no_program_finds_a_cheaper_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    room = room_for(graph)
    n = len(graph.tail)
    price = np.where(rng.random(n) < 0.15, np.inf, rng.integers(0, 6, n).astype(float))
    for _ in range(4):
        cell, side = int(rng.integers(n)), int(rng.choice([-1, 1]))
        level = float(rng.integers(1, 8))
        amount, count = least_cost(graph, room, price, False, cell, side, level, 0.0)
        flow = room.flow.copy()
        moved = set(room.moved[:count].tolist())
        forget(room, count)
        assert not room.flow.any()
        assert not room.has_moved.any()
        assert set(np.flatnonzero(flow)) <= moved
        assert flow[cell] == side * amount
        assert (flow >= graph.lo).all()
        assert (flow <= graph.hi).all()
        assert not flow[np.isinf(price) & (np.arange(n) != cell)].any()
        balance = np.bincount(graph.head, flow, len(graph.starts) - 1) - np.bincount(
            graph.tail, flow, len(graph.starts) - 1
        )
        assert not balance.any()
        rest = np.arange(n) != cell
        cost = float(np.abs(flow[rest]) @ np.where(np.isinf(price), 0.0, price)[rest])
        assert cost == pytest.approx(cheapest(graph, price, cell, side * amount))
        if amount < min(level, float(graph.hi[cell] if side > 0 else -graph.lo[cell])):
            assert cheapest(graph, price, cell, side * (amount + 0.01)) == np.inf


@pytest.mark.parametrize("seed", range(60))
def test_suppressed_cells_stand_in_front_and_searches_inside_see_no_others(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    room = room_for(graph)
    n = len(graph.tail)
    suppressed = np.zeros(n, dtype=bool)
    for _ in range(40):
        cell = int(rng.integers(n))
        suppressed[cell] = bool(rng.random() < 0.6)
        put(graph, cell, bool(suppressed[cell]))
    loops = graph.tail == graph.head
    for node in range(len(graph.starts) - 1):
        arcs = graph.arcs[graph.starts[node] : graph.starts[node + 1]]
        front = graph.arcs[graph.starts[node] : graph.ends[node]]
        assert sorted(arcs) == sorted(np.flatnonzero(((graph.tail == node) | (graph.head == node)) & ~loops))
        assert sorted(front) == sorted(arc for arc in arcs if suppressed[arc])
    price = np.ones(n)
    inside = np.where(suppressed, 1.0, np.inf)
    for cell in range(n):
        most, count = enough(graph, room, price, cell, 1, np.inf, 0.0)
        forget(room, count)
        same, count = least_cost(graph, room, price, True, cell, 1, np.inf, 0.0)
        forget(room, count)
        everywhere, count = least_cost(graph, room, inside, False, cell, 1, np.inf, 0.0)
        forget(room, count)
        assert most == same == everywhere
