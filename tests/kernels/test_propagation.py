"""Propagated bounds contain every solution, and single relations can tighten them no further."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.kernels.arrays import Floats
from discreet.kernels.propagation import propagate


class System(NamedTuple):
    """Relations M d = 0 within bounds."""

    matrix: Floats
    lo: Floats
    hi: Floats

    def tightened(self, rounds: int = 1000) -> tuple[Floats, Floats]:
        rows = sp.csr_array(self.matrix)
        turned = rows.T.tocsr()
        return propagate(
            rows.indptr.astype(np.int64),
            rows.indices,
            rows.data,
            turned.indptr,
            turned.indices,
            self.lo,
            self.hi,
            rounds,
        )

    def extremes(self) -> tuple[Floats, Floats]:
        """The true bounds, by two linear programs per cell."""
        n = self.lo.size
        found = np.zeros((2, n))
        bounds = [
            (None if a == -np.inf else a, None if b == np.inf else b) for a, b in zip(self.lo, self.hi, strict=True)
        ]
        for cell in range(n):
            for row, side in enumerate((1.0, -1.0)):
                cost = np.zeros(n)
                cost[cell] = side
                answer = linprog(cost, A_eq=self.matrix, b_eq=np.zeros(len(self.matrix)), bounds=bounds, method="highs")
                # 0 is always a solution, so without an optimum there is no bound.
                found[row, cell] = side * (answer.fun if answer.status == 0 else -np.inf)
        return found[0], found[1]


def system(seed: int, *, relations: int, coefficients: list[float], scale: float, endless: float) -> System:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    matrix = rng.choice(coefficients, (relations, n)) * (rng.random((relations, n)) < 0.6)
    lo, hi = -np.round(rng.random(n) * scale), np.round(rng.random(n) ** 4 * scale)
    lo[rng.random(n) < endless] = -np.inf
    hi[rng.random(n) < endless] = np.inf
    return System(matrix, lo, hi)


systems = st.builds(
    system,
    st.integers(0, 2**32),
    relations=st.integers(1, 6),
    coefficients=st.sampled_from([[1.0, 1.0, -1.0], [1.0, -1.0, 2.0, -0.3]]),
    scale=st.sampled_from([10.0, 1e5]),
    endless=st.sampled_from([0.0, 0.3]),
)


@given(systems, st.sampled_from([0, 1, 2, 1000]))
@settings(max_examples=40, deadline=None)
def test_no_solution_is_cut_off(case: System, rounds: int) -> None:
    lo, hi = case.tightened(rounds)
    least, most = case.extremes()
    slack = 1e-6 * np.maximum(1.0, np.where(np.isfinite(case.hi - case.lo), case.hi - case.lo, 1.0))
    assert np.all(lo <= least + slack)
    assert np.all(hi >= most - slack)
    assert np.all((case.lo <= lo) & (lo <= 0.0) & (hi >= 0.0) & (hi <= case.hi))


@given(systems)
@settings(max_examples=30, deadline=None)
def test_one_relation_gives_the_true_bounds(case: System) -> None:
    case = case._replace(matrix=case.matrix[:1])
    lo, hi = case.tightened(1)
    least, most = case.extremes()
    assert lo == pytest.approx(least, rel=1e-6, abs=1e-6)
    assert hi == pytest.approx(most, rel=1e-6, abs=1e-6)


@given(systems)
@settings(max_examples=40, deadline=None)
def test_at_the_end_no_single_relation_says_more(case: System) -> None:
    lo, hi = case.tightened(100_000)
    for row in case.matrix:
        for cell in np.flatnonzero(row):
            others = [j for j in np.flatnonzero(row) if j != cell]
            ends = [(-row[j] / row[cell] * lo[j], -row[j] / row[cell] * hi[j]) for j in others]
            low, high = sum(min(pair) for pair in ends), sum(max(pair) for pair in ends)
            assert lo[cell] >= low - 1e-8 * max(1.0, -low)
            assert hi[cell] <= high + 1e-8 * max(1.0, high)


def test_bounds_travel_through_a_chain() -> None:
    # d0 = d1 = … = d9, only the last is bounded.
    matrix = np.zeros((9, 10))
    matrix[np.arange(9), np.arange(9)] = 1.0
    matrix[np.arange(9), np.arange(1, 10)] = -1.0
    lo, hi = np.full(10, -np.inf), np.full(10, np.inf)
    lo[9], hi[9] = -2.0, 3.0
    before = lo.copy(), hi.copy()
    tight = System(matrix, lo, hi).tightened()
    assert tight[0].tolist() == [-2.0] * 10
    assert tight[1].tolist() == [3.0] * 10
    assert np.array_equal((lo, hi), before)
    assert System(matrix, lo, hi).tightened(rounds=3)[1].tolist() == [np.inf] * 6 + [3.0] * 4


def test_a_small_rest_beside_a_huge_term_keeps_its_digits() -> None:
    # The huge cell can make up for nothing upwards: the first is held by the third alone.
    case = System(np.array([[1.0, 1.0, -1.0]]), np.array([-5.0, -1e18, -1.0]), np.array([5.0, 0.0, 0.125]))
    lo, hi = case.tightened()
    assert lo[0] == -1.0
    assert hi[0] == 5.0
    assert hi[1] == 0.0
    assert lo[1] == -6.0


@given(st.integers(0, 2**32), st.sampled_from([1.0, 1e9]))
@settings(max_examples=30, deadline=None)
def test_a_table_that_just_fits_its_bounds_still_fits(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 12, 2)
    # Values of very different size, whole so that the totals are exact.
    inner = np.round(rng.normal(size=(rows, columns)) * scale ** rng.random((rows, columns)) * 10)
    table = np.vstack([inner, inner.sum(axis=0)])
    table = np.column_stack([table, table.sum(axis=1)])
    place = np.arange(table.size).reshape(table.shape)
    matrix = np.zeros((rows + columns + 2, table.size))
    for row in range(rows + 1):
        matrix[row, place[row]] = [1.0] * columns + [-1.0]
    for column in range(columns + 1):
        matrix[rows + 1 + column, place[:, column]] = [1.0] * rows + [-1.0]
    values = table.ravel()
    assert not (matrix @ values).any()
    others = rng.random(values.size) < 0.2
    lo = np.minimum(values, 0.0) - others * rng.random(values.size) * scale
    hi = np.maximum(values, 0.0) + others * rng.random(values.size) * scale
    tight = System(matrix, lo, hi).tightened()
    slack = 1e-9 * np.maximum(1.0, np.abs(values))
    assert np.all(tight[0] <= values + slack)
    assert np.all(tight[1] >= values - slack)
