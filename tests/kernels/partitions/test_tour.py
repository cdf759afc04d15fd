"""The curve passes through every cell and only steps to neighbours."""

import itertools

import numpy as np
import pytest

from discreet.kernels.partitions import tour as hilbert


@pytest.mark.parametrize(("m", "bits"), [(1, 5), (2, 1), (2, 4), (3, 3), (5, 2), (10, 1)])
def test_neighbours_on_the_curve_are_neighbours_in_space(m: int, bits: int) -> None:
    cells = np.array(list(itertools.product(range(2**bits), repeat=m)), dtype=np.float64)
    keys = np.zeros(len(cells), np.uint64)
    hilbert._locate(cells, np.eye(m), np.zeros(m), 1.0, bits, keys)
    order = np.argsort(keys)
    assert keys[order].tolist() == list(range(2 ** (bits * m)))
    assert (np.abs(np.diff(cells[order], axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("d", [1, 3, 40])
def test_the_order_holds_every_record_once(d: int) -> None:
    points = np.random.default_rng(d).normal(size=(500, d))
    assert sorted(hilbert.curve_order(points, lambda _: None)) == list(range(500))


def test_one_attribute_is_simply_sorted() -> None:
    points = np.random.default_rng(1).normal(size=(500, 1))
    values = points[hilbert.curve_order(points, lambda _: None), 0]
    assert (np.diff(values) >= 0).all()


def test_equal_records_keep_their_order() -> None:
    assert hilbert.curve_order(np.ones((7, 3)), lambda _: None).tolist() == list(range(7))
