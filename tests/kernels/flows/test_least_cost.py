"""The cheapest move of a cell, or of several at once, against a linear program; and the order of arcs they rely on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.graph import Graph, graph_of, put
from discreet.kernels.flows.least_cost import enough, forget, group_flow, least_cost, room_for
from kernels.flows.cheapest_moves import cheapest


def random_graph(rng: np.random.Generator) -> Graph:
    nodes, n = int(rng.integers(2, 9)), int(rng.integers(3, 25))
    tail, head = rng.integers(0, nodes, (2, n))
    return graph_of(tail, head, -rng.integers(0, 9, n).astype(float), rng.integers(0, 9, n).astype(float), nodes)


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


generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def random_arcs(rng: np.random.Generator, *, whole: bool) -> tuple[Graph, Floats]:
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


def cheapest_together(graph: Graph, price: Floats, cells: Ints, sides: Ints, levels: Floats) -> float | None:
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
    graph, price = random_arcs(rng, whole=whole)
    cells, sides, levels = random_group(rng, graph, whole=whole)
    room, before = room_for(graph), price.copy()
    possible, count = group_flow(graph, room, price, cells, sides, levels, 0.0 if whole else 1e-13)
    expected = cheapest_together(graph, price, cells, sides, levels)
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
    graph, price = random_arcs(rng, whole=True)
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
