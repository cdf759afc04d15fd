"""Unpicking finds what plain elimination finds, in an order in which a reader can follow it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from discreet.kernels.propagation import unpick

Relations = list[set[int]]
Indices = NDArray[np.integer]


def eliminate(relations: Relations, hidden: set[int]) -> set[int]:
    """Go through all relations again and again."""
    left = set(hidden)
    while True:
        single = [relation & left for relation in relations if len(relation & left) == 1]
        if not single:
            return hidden - left
        left -= single[0]


def packed(relations: Relations, n: int, index: DTypeLike = np.int64) -> tuple[Indices, Indices, Indices, Indices]:
    """The relations and their transpose as arrays."""
    rows = [r for r, relation in enumerate(relations) for _ in relation]
    columns = [cell for relation in relations for cell in sorted(relation)]
    matrix = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(relations), n))
    turned = matrix.T.tocsr()
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(index),
        turned.indptr.astype(np.int64),
        turned.indices.astype(index),
    )


@st.composite
def systems(draw: st.DrawFn) -> tuple[Relations, int, set[int]]:
    n = draw(st.integers(1, 25))
    cells = st.integers(0, n - 1)
    relations = draw(st.lists(st.sets(cells, max_size=6), min_size=1, max_size=25))
    return relations, n, draw(st.sets(cells))


@given(systems(), st.sampled_from([np.int32, np.int64]))
@settings(max_examples=60, deadline=None)
def test_the_same_cells_as_by_plain_elimination(system: tuple[Relations, int, set[int]], index: DTypeLike) -> None:
    relations, n, hidden = system
    mask = np.array([cell in hidden for cell in range(n)])
    before = mask.copy()
    found = unpick(*packed(relations, n, index), mask).tolist()
    assert len(found) == len(set(found))
    assert set(found) == eliminate(relations, hidden)
    assert np.array_equal(mask, before)
    # Each cell is the only one that is not yet known in one of its relations.
    left = set(hidden)
    for cell in found:
        assert any(relation & left == {cell} for relation in relations)
        left.discard(cell)


@pytest.mark.parametrize("length", [1, 2, 1000])
def test_a_chain_is_followed_to_its_end(length: int) -> None:
    relations = [{i, i + 1} for i in range(length - 1)] + [{length - 1}]
    found = unpick(*packed(relations, length), np.ones(length, np.bool_))
    assert found.tolist() == list(range(length - 1, -1, -1))


def test_two_hidden_cells_in_every_relation_are_safe_from_it() -> None:
    relations = [{0, 1}, {2, 3}, {0, 2}, {1, 3}]
    assert unpick(*packed(relations, 4), np.ones(4, np.bool_)).size == 0


def test_nothing_hidden_and_no_relations() -> None:
    assert unpick(*packed([{0, 1}], 2), np.zeros(2, np.bool_)).size == 0
    assert unpick(*packed([set()], 2), np.ones(2, np.bool_)).size == 0
