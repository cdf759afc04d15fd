"""Deviations of tables of any number of axes keep every sum, and come as cheap as another solver finds them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.kernels.arrays import Bools, Floats, Ints
from discreet.kernels.splitting import Terms, Trees, balance, nearest, step, trees


class Shape(NamedTuple):
    """Axes, and a basis of all deviations that keep every sum, written down without any thought of structure."""

    axes: Trees
    basis: Floats


def ancestors(parent: Ints, code: int) -> list[int]:
    """A code and every code it is part of."""
    return [0] if code == 0 else [code, *ancestors(parent, int(parent[code]))]


def shape_of(parents: list[Ints]) -> Shape:
    """The axes with these parents."""
    basis: Floats = np.ones((1, 1))
    for parent in parents:
        leaves = sorted(set(range(len(parent))) - set(parent[1:].tolist()))
        sums = np.zeros((len(parent), len(leaves)))
        for column, leaf in enumerate(leaves):
            sums[ancestors(parent, leaf), column] = 1.0
        basis = np.asarray(np.kron(basis, sums), dtype=np.float64)
    return Shape(trees(parents), basis)


@st.composite
def shapes(draw: st.DrawFn) -> Shape:
    """One to three axes, flat ones and trees of any form."""
    parents = []
    for _ in range(draw(st.integers(1, 3))):
        codes = draw(st.integers(2, 6))
        parents.append(np.array([0, *(draw(st.integers(0, at)) for at in range(codes - 1))], dtype=np.int64))
    return shape_of(parents)


FLAT, TREE = np.array([0, 0, 0, 0], np.int64), np.array([0, 0, 0, 1, 1, 2, 2, 2], np.int64)


def distance(shape: Shape, cells: Floats) -> float:
    """By how much deviations miss the nearest ones that keep every sum."""
    found, *_ = np.linalg.lstsq(shape.basis, cells, rcond=None)
    return float(np.abs(shape.basis @ found - cells).max())


@given(shapes(), st.integers(0, 2**32 - 1))
def test_the_nearest_deviations_are_those_of_least_squares(shape: Shape, seed: int) -> None:
    given_ones = np.random.default_rng(seed).normal(size=len(shape.basis))
    best, *_ = np.linalg.lstsq(shape.basis, given_ones, rcond=None)
    found = given_ones.copy()
    nearest(shape.axes, found)
    assert found == pytest.approx(shape.basis @ best, abs=1e-9)


def draw_terms(shape: Shape, seed: int) -> Terms:
    """Bounds and prices of cells, with targets for some; one cell is moved."""
    random = np.random.default_rng(seed)
    count = len(shape.basis)
    low, high = -random.uniform(0.1, 2.0, count), random.uniform(0.1, 2.0, count)
    low[0] = high[0] = 1.0
    price, worth = random.uniform(0.5, 2.0, count), random.uniform(0.0, 2.0, count)
    target = np.where(random.random(count) < 0.5, random.uniform(-1.0, 1.0, count), 0.0)
    price[0] = target[0] = 0.0
    return Terms(low, high, price, target, np.where(target == 0.0, 0.0, worth))


def cost(terms: Terms, cells: Floats) -> float:
    """What deviations cost by the unit, less what they are worth, with what they are worth at their targets."""
    lacking = np.abs(terms.target) - np.clip(np.sign(terms.target) * cells, -np.inf, np.abs(terms.target))
    return float(terms.price @ np.abs(cells) + terms.worth @ np.where(terms.target == 0.0, 0.0, lacking))


def least_cost(shape: Shape, terms: Terms) -> float | None:
    """The same at the least, by another solver: moves, and how much each lacks of its target; None without any."""
    count, free = shape.basis.shape
    side = np.where(terms.target < 0.0, -1.0, 1.0)
    wanted = terms.target != 0.0
    # Variables: leaves of the table, up and down of each cell, what it lacks.
    costs = np.concatenate([np.zeros(free), terms.price, terms.price, np.where(wanted, terms.worth, 0.0)])
    nothing, every = np.zeros((count, count)), np.eye(count)
    equal = np.hstack([shape.basis, -every, every, nothing])
    lacks = np.hstack([-side[:, None] * shape.basis, nothing, nothing, -every])[wanted]
    bounds = [(None, None)] * free + [(0.0, None)] * (3 * count)
    within = np.hstack([np.vstack([shape.basis, -shape.basis]), np.zeros((2 * count, 3 * count))])
    found = linprog(
        costs,
        A_eq=equal,
        b_eq=np.zeros(count),
        A_ub=np.vstack([lacks, within]),
        b_ub=np.concatenate([-np.abs(terms.target[wanted]), terms.high, -terms.low]),
        bounds=bounds,
    )
    return float(found.fun) if found.status == 0 else None


@settings(max_examples=40)
@given(st.sampled_from([(FLAT, FLAT), (FLAT, TREE), (FLAT, FLAT, FLAT)]), st.integers(0, 2**32 - 1))
def test_steps_come_to_the_least_cost_that_another_solver_finds(parents: tuple[Ints, ...], seed: int) -> None:
    shape = shape_of(list(parents))
    terms = draw_terms(shape, seed)
    best = least_cost(shape, terms)
    cells, prices = np.zeros(len(shape.basis)), np.zeros(len(shape.basis))
    missed, _ = step(shape.axes, terms, 2.0, cells, prices, 20_000)
    if best is None:
        assert missed > 1e-6
        return
    assert missed < 1e-6
    assert (terms.low <= cells).all()
    assert (cells <= terms.high).all()
    assert distance(shape, cells) < 1e-5
    assert cost(terms, cells) == pytest.approx(best, rel=1e-4, abs=1e-4)


@given(shapes(), st.integers(0, 2**32 - 1))
def test_what_is_balanced_keeps_every_sum_and_its_bounds(shape: Shape, seed: int) -> None:
    random = np.random.default_rng(seed)
    count, leaves = shape.basis.shape
    exact = shape.basis @ random.normal(size=leaves)
    exact /= np.abs(exact).max()
    low, high = exact - random.uniform(0.0, 0.1, count), exact + random.uniform(0.0, 0.1, count)
    able: Bools = np.asarray(random.random(count) < 0.8)
    cells = np.clip(exact + np.where(able, random.normal(0.0, 0.01, count), 0.0), low, high)
    before, could = cells.copy(), able.copy()
    if balance(shape.axes, low, high, able, cells, 30, 500):
        assert distance(shape, cells) < 1e-8
        assert (low <= cells).all()
        assert (cells <= high).all()
        assert (cells[~could] == before[~could]).all()


def test_what_can_be_balanced_mostly_is() -> None:
    balanced = 0
    shape = shape_of([FLAT, TREE, FLAT])
    for seed in range(20):
        random = np.random.default_rng(seed)
        exact = shape.basis @ random.normal(size=shape.basis.shape[1])
        exact /= np.abs(exact).max()
        cells = exact + random.normal(0.0, 1e-4, exact.size)
        free = np.ones(exact.size, dtype=np.bool_)
        balanced += balance(shape.axes, exact - 0.05, exact + 0.05, free, cells, 20, 500)
    assert balanced == 20


def test_what_nothing_can_make_up_for_is_not_balanced() -> None:
    shape = shape_of([FLAT, FLAT])
    cells = np.zeros(16)
    cells[5] = 1.0
    able = np.zeros(16, dtype=np.bool_)
    able[6] = True
    assert not balance(shape.axes, np.full(16, -2.0), np.full(16, 2.0), able, cells, 5, 100)


def test_a_charge_counts_cells_once_and_what_others_gain() -> None:
    terms = Terms(
        low=np.full(4, -9.0),
        high=np.full(4, 9.0),
        price=np.array([0.0, 7.0, 11.0, 13.0]),
        target=np.array([0.0, 3.0, -1.0, 0.0]),
        worth=np.array([0.0, 4.0, 4.0, 0.0]),
    )
    assert terms.charge(np.array([-2.0, 1.0, -9.0, 0.0])) == 18.0 - 4.0 * (1.0 + 1.0)
    assert terms.charge(np.array([-2.0, 1.0, -9.0, 0.5]), 0.5) == 18.0 - 4.0 * (1.0 + 1.0)
