"""The spanning tree is minimal, and no edge that could be cut is left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from discreet.kernels.arrays import Ints
from discreet.kernels.partitions.mst import Span, cut, forest, span


def quiet(_: float) -> None:
    """Listen to nothing."""


@pytest.mark.parametrize("n", [2, 50, 2100])
def test_the_tree_is_minimal(n: int) -> None:
    points = np.random.default_rng(n).normal(size=(n, 3))
    tree = span(points, quiet)
    assert sorted(tree.order) == list(range(n))
    assert np.count_nonzero(tree.parent < 0) == 1
    assert np.sqrt(tree.length).sum() == pytest.approx(minimum_spanning_tree(cdist(points, points)).sum())


def cut_plainly(tree: Span, k: int) -> set[frozenset[int]]:
    """Try each edge from the longest on by counting both sides anew."""
    kept = {i: int(p) for i, p in enumerate(tree.parent) if p >= 0}

    def component(start: int) -> frozenset[int]:
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            for child, parent in kept.items():
                if here in (child, parent):
                    there = parent if here == child else child
                    if there not in seen:
                        seen.add(there)
                        todo.append(there)
        return frozenset(seen)

    for child in sorted(kept, key=lambda i: (-tree.length[i], i)):
        parent = kept.pop(child)
        if min(len(component(child)), len(component(parent))) < k:
            kept[child] = parent
    return {component(i) for i in range(len(tree.parent))}


def as_sets(labels: Ints) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


@given(n=st.integers(4, 30), k=st.integers(2, 4), levels=st.sampled_from([2, 5, 100]), seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_removable_edges_are_cut_longest_first(n: int, k: int, levels: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, levels, (n, 2)).astype(np.float64)
    expected = cut_plainly(span(points, quiet), k)
    assert as_sets(cut(span(points, quiet), k, quiet)) == expected
    assert as_sets(forest(points, k, quiet)) == expected
