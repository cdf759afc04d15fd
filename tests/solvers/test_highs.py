"""The wrapper round HiGHS: statuses, ways that follow one another, bases and rows that come and go."""

import numpy as np

from discreet.solvers.highs import (
    FINE_SIMPLEX,
    PRESOLVED_INTERIOR,
    Basis,
    LinearProgram,
    Matrix,
    Status,
)

DECIDED = {Status.OPTIMAL, Status.INFEASIBLE, Status.UNBOUNDED}


def knapsack(*, maximise: bool = True) -> LinearProgram:
    """2x + 3y at most, where x + y <= 4 and both are within 0 and 3."""
    return LinearProgram(
        cost=np.array([2.0, 3.0]),
        lower=np.zeros(2),
        upper=np.full(2, 3.0),
        row_lower=np.array([-np.inf]),
        row_upper=np.array([4.0]),
        matrix=Matrix(np.array([0, 2]), np.array([0, 1]), np.ones(2), by_rows=True),
        maximise=maximise,
        presolve="off",
    )


def test_solves_in_every_way() -> None:
    for way in (FINE_SIMPLEX, PRESOLVED_INTERIOR):
        linear = knapsack()
        assert linear.solve([way], DECIDED) is Status.OPTIMAL
        assert np.allclose(linear.values, [1.0, 3.0])
        assert np.allclose(linear.row_values, [4.0])
        assert np.isclose(linear.objective, 11.0)
        assert np.isclose(abs(linear.duals[0]), 2.0)


def test_goes_on_to_the_next_way_until_a_status_is_final() -> None:
    linear = knapsack()
    assert linear.solve([FINE_SIMPLEX, FINE_SIMPLEX], {Status.INFEASIBLE}) is Status.UNDECIDED


def test_tells_infeasible_and_unbounded_apart() -> None:
    linear = knapsack(maximise=False)
    linear.add_rows(np.array([7.0]), np.array([np.inf]), Matrix(np.array([0]), np.array([0, 1]), np.ones(2)))
    assert linear.run() is Status.INFEASIBLE
    ray = linear.dual_ray
    assert ray is not None
    assert len(ray) == 2
    linear.delete_rows(np.array([0, 1]))
    linear.change_bounds(np.full(2, -np.inf), np.full(2, np.inf))
    assert linear.run() is Status.UNBOUNDED


def test_a_basis_goes_out_and_in_again() -> None:
    linear, other = knapsack(), knapsack()
    assert not linear.has_basis
    linear.run()
    found = linear.basis
    other.basis = found
    other.set(simplex_iteration_limit=0)
    assert other.run() is Status.OPTIMAL
    assert np.array_equal(other.values, linear.values)
    grown = found.grow(3, 2)
    assert isinstance(grown, Basis)
    assert (len(grown.columns), len(grown.rows)) == (3, 2)


def test_goes_back_to_a_mark() -> None:
    linear = knapsack()
    linear.run()
    here, values = linear.mark(), linear.values
    linear.change_bound(1, 0.0, 0.0)
    linear.run()
    assert np.allclose(linear.values, [3.0, 0.0])
    linear.change_bound(1, 0.0, 3.0)
    linear.go_back(here)
    linear.set(simplex_iteration_limit=0)
    assert linear.run() is Status.OPTIMAL
    assert np.array_equal(linear.values, values)
