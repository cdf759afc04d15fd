"""Counts of the 2006 paper: its own numbers, and enumeration where everything can be looked at."""

import itertools
from collections import Counter
from fractions import Fraction
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.experiments.papers.p2006.published import EXAMPLE_BOUND, EXAMPLE_MU, TABLE_1
from discreet.experiments.papers.p2006.runs import bound, largest, probability, recursion, representatives


@pytest.mark.parametrize("n", TABLE_1)
@pytest.mark.parametrize("k", [3, 4, 5])
def test_table_1_in_all_entries(n: int, k: int) -> None:
    assert representatives(n, k) == TABLE_1[n][k - 3]


@given(st.integers(2, 6), st.integers(0, 90))
def test_the_count_is_equation_4_as_printed(k: int, more: int) -> None:
    n = k + more
    assert representatives(n, k) == recursion(n, k, k)


def test_example_1() -> None:
    assert largest(30, 3) == EXAMPLE_MU == factorial(30) // factorial(3) ** 10 // factorial(10)
    assert bound(30, 3) == Fraction(11 * EXAMPLE_MU, 10**30)
    assert float(bound(30, 3) * 10**12) == pytest.approx(EXAMPLE_BOUND, rel=1e-15)
    # With the formula as it is printed, 3 in place of 3!, the number would be another one.
    assert factorial(30) // 3**10 // factorial(10) != EXAMPLE_MU


@pytest.mark.parametrize(("n", "k"), [(4, 2), (6, 2), (7, 2), (7, 3), (9, 3), (11, 3)])
def test_the_probability_is_the_share_of_all_chromosomes(n: int, k: int) -> None:
    alleles = n // k
    good = sum(
        all(k <= size <= 2 * k - 1 for size in Counter(chromosome).values())
        for chromosome in itertools.product(range(alleles), repeat=n)
    )
    assert probability(n, k) == Fraction(good, alleles**n)
