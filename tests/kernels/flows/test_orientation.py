"""A component is found to be a network exactly where some choice of signs makes every column an arc."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from discreet.kernels.flows.circulation import orient
from tabulated import generators, random_dimension, random_table


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


@settings(max_examples=200)
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
