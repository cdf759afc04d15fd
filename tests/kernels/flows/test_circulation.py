"""Cells move as far as a linear program and a maximum flow say, cuts say what a move lacks, networks are found."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.flows.circulation import adjacency, circulation, orient, shortfalls, widest
from random_tables import generators, random_dimension, random_table


class Graph(NamedTuple):
    """Arcs with bounds."""

    tail: Ints
    head: Ints
    lo: Floats
    hi: Floats
    nodes: int

    def relations(self) -> Floats:
        """One row per node: what leaves minus what enters."""
        matrix = np.zeros((self.nodes, self.tail.size))
        for arc in range(self.tail.size):
            matrix[self.tail[arc], arc] += 1
            matrix[self.head[arc], arc] -= 1
        return matrix

    def amounts(self, which: Ints, side: int, limits: Floats, tolerance: float = 1e-9) -> Floats:
        around = adjacency(self.tail, self.head, self.nodes)
        return widest(self.tail, self.head, self.lo, self.hi, *around, which, side, limits, tolerance, False)[0]

    def deviations(self, cell: int, side: int, limit: float, tolerance: float = 1e-9) -> Floats:
        around = adjacency(self.tail, self.head, self.nodes)
        return circulation(self.tail, self.head, self.lo, self.hi, *around, cell, side, limit, tolerance)


def graph(rng: np.random.Generator, shape: str, *, whole: bool, index: DTypeLike = np.int64) -> Graph:
    """A table of rows and columns, or any graph with loops and parallel arcs; some cells cannot move (to one side)."""
    if shape == "table":
        rows, columns = rng.integers(1, 8, 2)
        taken = np.flatnonzero(rng.random(rows * columns) < rng.choice([0.3, 0.7, 1.0]))
        # Some cells stand in one relation only: their other end is the ground, node 0.
        tail = np.where(rng.random(taken.size) < 0.1, 0, 1 + taken // columns)
        head = np.where((rng.random(taken.size) < 0.1) & (tail > 0), 0, 1 + rows + taken % columns)
        nodes = int(1 + rows + columns)
    else:
        nodes = int(rng.integers(1, 9))
        tail, head = rng.integers(0, nodes, (2, rng.integers(0, 20)))
    n = tail.size
    lo, hi = (-rng.integers(0, 12, n)).astype(np.float64), rng.integers(0, 12, n).astype(np.float64)
    if not whole:
        lo, hi = lo * rng.random(n), hi * rng.random(n) * 1e3
    fixed = rng.random(n) < 0.1
    lo[fixed] = hi[fixed] = 0.0
    return Graph(tail.astype(index), head.astype(index), lo, hi, nodes)


def by_program(system: Graph, cell: int, side: int) -> float:
    cost = np.zeros(system.tail.size)
    cost[cell] = -side
    bounds = np.column_stack([system.lo, system.hi])
    found = linprog(cost, A_eq=system.relations(), b_eq=np.zeros(system.nodes), bounds=bounds, method="highs")
    return float(-found.fun)


def by_networkx(system: Graph, cell: int, side: int) -> float:
    tail, head = int(system.tail[cell]), int(system.head[cell])
    most = float(system.hi[cell] if side > 0 else -system.lo[cell])
    if tail == head:
        return most
    network = nx.DiGraph()
    network.add_nodes_from(range(system.nodes))
    for arc in range(system.tail.size):
        if arc != cell:
            ends = int(system.tail[arc]), int(system.head[arc])
            for (start, end), capacity in ((ends, system.hi[arc]), (ends[::-1], -system.lo[arc])):
                old = network.get_edge_data(start, end, {"capacity": 0.0})["capacity"]
                network.add_edge(start, end, capacity=old + float(capacity))
    source, sink = (head, tail) if side > 0 else (tail, head)
    return min(most, float(nx.maximum_flow_value(network, source, sink)))


graphs = st.builds(
    lambda seed, shape, whole, index: graph(np.random.default_rng(seed), shape, whole=whole, index=index),
    st.integers(0, 2**32),
    st.sampled_from(["table", "any"]),
    st.booleans(),
    st.sampled_from([np.int32, np.int64]),
)


@given(graphs, st.sampled_from([1, -1]))
@settings(max_examples=40, deadline=None)
def test_amounts_are_those_of_other_solvers(system: Graph, side: int) -> None:
    n = system.tail.size
    amounts = system.amounts(np.arange(n), side, np.full(n, np.inf))
    for cell in range(n):
        assert amounts[cell] == pytest.approx(by_networkx(system, cell, side), abs=1e-6)
    for cell in range(0, n, 7):
        assert amounts[cell] == pytest.approx(by_program(system, cell, side), abs=1e-6)


@given(graphs, st.sampled_from([1, -1]), st.sampled_from([0.0, 1.0, 5.0, np.inf]))
@settings(max_examples=40, deadline=None)
def test_the_circulation_is_one_and_moves_the_cell_by_the_amount(system: Graph, side: int, limit: float) -> None:
    n = system.tail.size
    relations = system.relations()
    exact = bool(np.all(system.lo == np.floor(system.lo)) and np.all(system.hi == np.floor(system.hi)))
    slack = 0.0 if exact else 1e-9
    most = system.amounts(np.arange(n), side, np.full(n, np.inf))
    amounts = system.amounts(np.arange(n), side, np.full(n, limit))
    assert np.allclose(amounts, np.minimum(most, limit), rtol=0, atol=slack * 10)
    for cell in range(n):
        deviations = system.deviations(cell, side, limit)
        assert deviations[cell] == side * amounts[cell]
        assert np.all(np.abs(relations @ deviations) <= slack)
        assert np.all(deviations >= system.lo - slack)
        assert np.all(deviations <= system.hi + slack)


def test_a_larger_table_with_few_wide_cells() -> None:
    rng = np.random.default_rng(3)
    rows, columns = 40, 30
    taken = np.flatnonzero(rng.random(rows * columns) < 0.15)
    values = np.ceil(np.exp(rng.normal(3, 2, taken.size)))
    system = Graph(taken // columns, rows + taken % columns, -values, np.floor(values / 2), rows + columns)
    which = rng.choice(taken.size, 60, replace=False)
    for side in (1, -1):
        amounts = system.amounts(which, side, np.full(which.size, np.inf))
        assert amounts.tolist() == [by_networkx(system, int(cell), side) for cell in which]


def test_two_parts_that_do_not_touch_and_a_bridge() -> None:
    # Two cycles of three arcs and an arc between them, which cannot move.
    tail, head = np.array([0, 1, 2, 3, 4, 5, 2]), np.array([1, 2, 0, 4, 5, 3, 3])
    system = Graph(tail, head, np.full(7, -2.0), np.full(7, 3.0), 6)
    assert system.amounts(np.arange(7), 1, np.full(7, np.inf)).tolist() == [3.0] * 6 + [0.0]
    assert system.amounts(np.arange(7), -1, np.full(7, np.inf)).tolist() == [2.0] * 6 + [0.0]


def test_a_loop_moves_within_its_own_bounds() -> None:
    system = Graph(np.array([0]), np.array([0]), np.array([-2.0]), np.array([7.0]), 1)
    assert system.amounts(np.array([0, 0]), 1, np.array([np.inf, 4.0])).tolist() == [7.0, 4.0]
    assert system.deviations(0, -1, np.inf).tolist() == [-2.0]


def test_without_bounds_there_is_no_end_but_the_limit() -> None:
    system = Graph(np.array([0, 1]), np.array([1, 0]), np.full(2, -np.inf), np.full(2, np.inf), 2)
    assert system.amounts(np.array([0, 1]), 1, np.array([np.inf, 4.0])).tolist() == [np.inf, 4.0]
    assert system.deviations(0, -1, 4.0).tolist() == [-4.0, -4.0]


def test_capacities_within_the_tolerance_count_as_none() -> None:
    system = Graph(np.array([0, 1]), np.array([1, 0]), np.full(2, -1e-12), np.array([1.0, 1e-12]), 2)
    assert system.amounts(np.array([0]), 1, np.array([np.inf])).tolist() == [0.0]
    assert system.amounts(np.array([0]), -1, np.array([np.inf])).tolist() == [0.0]


@settings(max_examples=60, deadline=None)
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


def components_of(matrix: NDArray[np.float64]) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """The number of components, and the component of each column and of each row."""
    rows, columns = matrix.shape
    graph = np.zeros((rows + columns,) * 2)
    graph[:rows, rows:] = matrix != 0
    count, label = connected_components(csr_array(graph), directed=False)
    return int(count), label[rows:].astype(np.int64), label[:rows].astype(np.int64)


def oriented(matrix: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    by_row, by_column = csr_array(matrix), csr_array(matrix).tocsc()
    count, component, _ = components_of(matrix)
    return orient(
        by_row.indptr.astype(np.int64),
        by_row.indices.astype(np.int64),
        by_column.indptr.astype(np.int64),
        by_column.indices.astype(np.int64),
        by_column.data,
        component,
        count,
    )


def arcs(matrix: NDArray[np.float64]) -> bool:
    """Whether every column leaves one row at most and enters one at most."""
    return bool(((matrix > 0).sum(axis=0) <= 1).all() and ((matrix < 0).sum(axis=0) <= 1).all())


@settings(max_examples=60)
@given(
    st.integers(1, 6).flatmap(
        lambda rows: st.lists(
            st.lists(st.sampled_from([0, 0, 0, 0, 0, 1, 1, -1, -1, 2]), min_size=rows, max_size=rows),
            min_size=1,
            max_size=7,
        )
    )
)
def test_networks_are_those_that_some_choice_of_signs_makes(columns: list[list[int]]) -> None:
    matrix = np.array(columns, dtype=np.float64).T
    signs, networks = oriented(matrix)
    count, of_column, of_row = components_of(matrix)
    for component in range(count):
        inside = matrix[of_row == component][:, of_column == component]
        if not inside.shape[1]:
            continue
        possible = bool(np.isin(np.abs(inside), [0, 1]).all()) and any(
            arcs(inside * np.array(choice)[:, None]) for choice in product((1, -1), repeat=len(inside))
        )
        assert networks[component] == possible
        if possible:
            assert arcs(inside * signs[of_row == component][:, None])


@given(generators)
def test_tables_of_two_dimensions_with_one_flat_are_networks(rng: np.random.Generator) -> None:
    dimensions = [random_dimension(rng, "A", 5, hierarchical=True), random_dimension(rng, "B", 3)]
    table = random_table(rng, dimensions, zeros=0.4)
    assert table.relations.implied is not None
    matrix = table.relations.matrix.toarray()[~table.relations.implied]
    signs, networks = oriented(matrix)
    assert networks.all()
    assert arcs(matrix * signs[:, None])
