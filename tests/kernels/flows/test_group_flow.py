"""Several cells move at once as cheaply as a linear program says, and only if it says that they can."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.least_cost import Graph, forget, graph_of, group_flow, least_cost, room_for

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def random_graph(rng: np.random.Generator, *, whole: bool) -> tuple[Graph, Floats]:
    """Any graph with loops and parallel arcs, or a table; with prices, some of them nothing, some forbidding."""
    if rng.random() < 0.5:
        rows, columns = rng.integers(2, 6, 2)
        tail, head = np.divmod(np.arange(rows * columns), columns)
        head, nodes = head + rows, int(rows + columns)
    else:
        nodes = int(rng.integers(1, 8))
        tail, head = rng.integers(0, nodes, (2, rng.integers(2, 25)))
    n = tail.size
    lo, hi = -rng.integers(0, 12, n).astype(np.float64), rng.integers(0, 12, n).astype(np.float64)
    if not whole:
        lo, hi = lo * rng.random(n), hi * rng.random(n)
    price = rng.integers(0, 9, n).astype(np.float64)
    price[rng.random(n) < 0.1] = np.inf
    return graph_of(tail.astype(np.int64), head.astype(np.int64), lo, hi, nodes), price


def random_group(rng: np.random.Generator, graph: Graph, *, whole: bool) -> tuple[Ints, Ints, Floats]:
    """Different cells, sides and levels, mostly within bounds."""
    cells = rng.permutation(graph.tail.size)[: rng.integers(1, 5)].astype(np.int64)
    sides = rng.choice(np.array([-1, 1]), cells.size)
    room = np.where(sides > 0, graph.hi[cells], -graph.lo[cells])
    levels = np.maximum(room * rng.random(cells.size) * rng.choice([0.5, 1.0, 1.1]), 0.01)
    return cells, sides, np.maximum(np.rint(levels), 1.0) if whole else levels


def cheapest(graph: Graph, price: Floats, cells: Ints, sides: Ints, levels: Floats) -> float | None:
    """The least cost by a linear program, None if the cells cannot move so far together."""
    n, nodes = graph.tail.size, graph.starts.size - 1
    matrix = np.zeros((nodes, n))
    for arc in range(n):
        matrix[graph.tail[arc], arc] += 1
        matrix[graph.head[arc], arc] -= 1
    still = np.isinf(price)
    hi, lo = np.where(still, 0.0, graph.hi), np.where(still, 0.0, -graph.lo)
    bounds = [(0.0, one) for one in hi] + [(0.0, one) for one in lo]
    cost = np.where(still, 0.0, price)
    cost[cells] = 0.0
    for cell, side, level in zip(cells, sides, levels, strict=True):
        if level > (graph.hi[cell] if side > 0 else -graph.lo[cell]):
            return None
        bounds[cell] = (level, level) if side > 0 else (0.0, 0.0)
        bounds[n + cell] = (level, level) if side < 0 else (0.0, 0.0)
    found = linprog(
        np.concatenate([cost, cost]), A_eq=np.hstack([matrix, -matrix]), b_eq=np.zeros(nodes), bounds=bounds
    )
    return float(found.fun) if found.status == 0 else None


@given(generators, st.booleans())
def test_as_cheap_as_a_linear_program(rng: np.random.Generator, whole: bool) -> None:
    graph, price = random_graph(rng, whole=whole)
    cells, sides, levels = random_group(rng, graph, whole=whole)
    room, before = room_for(graph), price.copy()
    possible, count = group_flow(graph, room, price, cells, sides, levels, 0.0 if whole else 1e-13)
    expected = cheapest(graph, price, cells, sides, levels)
    assert possible == (expected is not None)
    assert np.array_equal(price, before)
    if expected is not None:
        flow = room.flow
        assert np.array_equal(flow[cells], sides * levels)
        others = np.setdiff1d(np.arange(price.size), cells)
        assert (flow[others] <= graph.hi[others] + 1e-9).all()
        assert (flow[others] >= graph.lo[others] - 1e-9).all()
        assert (flow[others][np.isinf(price[others])] == 0).all()
        gain = np.zeros(graph.starts.size - 1)
        np.add.at(gain, graph.head, flow)
        np.subtract.at(gain, graph.tail, flow)
        assert np.abs(gain).max() <= 1e-9
        moving = others[flow[others] != 0]
        assert np.dot(price[moving], np.abs(flow[moving])) == pytest.approx(expected, abs=1e-7)
        assert set(np.flatnonzero(flow)) <= set(room.moved[:count])
    forget(room, count)
    assert not room.flow.any()
    assert not room.has_moved.any()
    assert not room.closed.any()
    assert not room.potential.any()
    assert np.isinf(room.distance).all()


@given(generators)
def test_a_group_of_one_costs_what_a_single_cell_costs(rng: np.random.Generator) -> None:
    graph, price = random_graph(rng, whole=True)
    cells, sides, levels = random_group(rng, graph, whole=True)
    cells, sides, levels = cells[:1], sides[:1], levels[:1]
    room = room_for(graph)
    amount, count = least_cost(graph, room, price, False, int(cells[0]), int(sides[0]), float(levels[0]), 0.0)
    others = np.flatnonzero(np.arange(price.size) != cells[0])
    others = others[room.flow[others] != 0]
    expected = np.dot(price[others], np.abs(room.flow[others]))
    forget(room, count)
    possible, count = group_flow(graph, room, price, cells, sides, levels, 0.0)
    assert possible == (amount == levels[0])
    if possible:
        others = np.flatnonzero(np.arange(price.size) != cells[0])
        others = others[room.flow[others] != 0]
        assert np.dot(price[others], np.abs(room.flow[others])) == expected
