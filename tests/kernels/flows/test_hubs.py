"""Moves by hubs: as cheap as a linear program says, whatever was searched before, and only where a graph has hubs."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.graph import Graph, graph_of, put
from discreet.kernels.flows.hubs import hubs_of
from discreet.kernels.flows.least_cost import Room, forget, goes_by_hubs, least_cost, room_for
from kernels.flows.cheapest_moves import cheapest, cost_of_moves

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def long_graph(rng: np.random.Generator, *, whole: bool, rows: int) -> Graph:
    """A long table some cells of which are missing, arcs turned at random; loops, too, and a node without arcs."""
    columns = int(rng.integers(2, 5))
    tail, head = (side.ravel() for side in np.indices((rows, columns)))
    head = head + rows
    kept = rng.random(tail.size) < 0.9
    tail, head = tail[kept], head[kept]
    turned = rng.random(tail.size) < 0.5
    tail, head = np.where(turned, head, tail), np.where(turned, tail, head)
    loops = rng.integers(0, rows, rng.integers(0, 3))
    tail, head = np.concatenate([tail, loops]), np.concatenate([head, loops])
    # Some arcs have no room one way, or none at all; few have enough for most moves.
    lo, hi = -rng.integers(0, 9, tail.size).astype(np.float64), rng.integers(0, 9, tail.size).astype(np.float64)
    if not whole:
        lo, hi = lo * rng.random(tail.size), hi * rng.random(tail.size)
    return graph_of(tail.astype(np.int64), head.astype(np.int64), lo, hi, rows + columns + 1)


def room_with_hubs(graph: Graph) -> Room:
    room = room_for(graph)._replace(hubs=hubs_of(graph, 4, 0))
    assume(goes_by_hubs(graph, room, False))
    return room


def room_without_hubs(graph: Graph) -> Room:
    return room_for(graph)._replace(hubs=hubs_of(graph, 0, 0))


def random_price(rng: np.random.Generator, n: int) -> Floats:
    """Prices with many equal ones, some of them nothing, some forbidding."""
    price: Floats = rng.integers(0, 5, n) * rng.choice([1.0, 1e-3], n)
    price[rng.random(n) < 0.1] = np.inf
    return price


@given(generators, st.booleans())
def test_no_program_finds_a_cheaper_move(rng: np.random.Generator, whole: bool) -> None:
    graph = long_graph(rng, whole=whole, rows=int(rng.integers(5, 12)))
    room, n = room_with_hubs(graph), graph.tail.size
    price = random_price(rng, n)
    for _ in range(3):
        cell, side, level = int(rng.integers(n)), int(rng.choice([-1, 1])), float(rng.choice([1.0, 5.0, 1e6]))
        if not whole:
            level *= rng.random()
        amount, count = least_cost(graph, room, price, False, cell, side, level, 0.0 if whole else 1e-12)
        flow, moved = room.flow.copy(), set(room.moved[:count].tolist())
        forget(room, count)
        assert set(np.flatnonzero(flow)) <= moved
        assert not room.flow.any()
        assert not room.has_moved.any()
        assert flow[cell] == side * amount
        assert cost_of_moves(graph, price, cell, flow) == pytest.approx(cheapest(graph, price, cell, side * amount))
        if amount < min(level, float(graph.hi[cell] if side > 0 else -graph.lo[cell])):
            assert cheapest(graph, price, cell, side * (amount + 1e-3)) == np.inf


@given(generators, st.booleans())
def test_searches_before_make_no_difference(rng: np.random.Generator, inside: bool) -> None:
    graph = long_graph(rng, whole=True, rows=100 if inside else 8)
    room, n = room_with_hubs(graph), graph.tail.size
    price = random_price(rng, n)
    for arc in range(n):
        put(graph, arc, bool(rng.random() < 0.9))
    for _ in range(8):
        # As when a pattern changes: few prices do, or all, and a cell is suppressed or published.
        price = np.where(rng.random(n) < rng.choice([0.02, 1.0]), random_price(rng, n), price)
        put(graph, int(rng.integers(n)), bool(rng.random() < 0.8))
        cell = int(rng.integers(n))
        assert goes_by_hubs(graph, room, inside)
        found = []
        for other in (room, room_with_hubs(graph), room_without_hubs(graph)):
            amount, count = least_cost(graph, other, price, inside, cell, 1, 20.0, 0.0)
            found.append((amount, other.flow.copy()))
            forget(other, count)
        (amount, flow), (again, same), (usual, plain) = found
        assert amount == again == usual
        assert np.array_equal(flow, same)
        cost = cost_of_moves(graph, price, cell, flow)
        assert cost == pytest.approx(cost_of_moves(graph, price, cell, plain))


def test_a_move_of_thousands_of_paths_is_the_cheapest() -> None:
    rng = np.random.default_rng(3)
    rows, columns = 300, 5
    tail, head = table_arcs(rows, columns)
    # Cells are small; those of the first row and the first column, in which the cell is, are as large as it.
    most = rng.integers(1, 9, tail.size).astype(np.float64)
    most[:columns] = most[::columns] = 1e6
    graph = graph_of(tail, head, -most, most, rows + columns)
    price = rng.integers(0, 50, tail.size).astype(np.float64)
    room = room_for(graph)
    assert goes_by_hubs(graph, room, False)
    amount, _ = least_cost(graph, room, price, False, 0, 1, 1e6, 0.0)
    assert cost_of_moves(graph, price, 0, room.flow) == pytest.approx(cheapest(graph, price, 0, amount))
    assert np.count_nonzero(room.flow) > 1000


def table_arcs(rows: int, columns: int) -> tuple[Ints, Ints]:
    tail, head = (side.ravel().astype(np.int64) for side in np.indices((rows, columns)))
    return tail, head + rows


def count_hubs(tail: Ints, head: Ints, nodes: int, most: int = 4, spokes_of_a_hub: int = 2) -> int:
    bounds = np.ones(tail.size)
    return hubs_of(graph_of(tail, head, -bounds, bounds, nodes), most, spokes_of_a_hub).nodes.size


def test_the_columns_of_a_long_table_are_its_hubs() -> None:
    tail, head = table_arcs(9, 3)
    hubs = hubs_of(graph_of(tail, head, -np.ones(27), np.ones(27), 12), 4, 2)
    assert hubs.nodes.tolist() == [9, 10, 11]
    assert hubs.spokes.tolist() == list(range(9))
    assert count_hubs(head, tail, 12) == 3


def test_a_graph_has_no_hubs_if_they_are_many_or_spokes_are_few() -> None:
    assert count_hubs(*table_arcs(9, 3), 12, most=2) == 0
    assert count_hubs(*table_arcs(9, 3), 12, spokes_of_a_hub=4) == 0
    assert count_hubs(*table_arcs(9, 9), 18) == 0


def test_a_graph_has_no_hubs_if_arcs_are_parallel_or_join_two_of_a_kind() -> None:
    tail, head = table_arcs(9, 3)
    for start, end in ((0, 9), (0, 1), (9, 10)):
        assert count_hubs(np.append(tail, start), np.append(head, end), 12) == 0
