"""The random numbers of the kernels against their definition, and what every caller relies on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from discreet.kernels.arrays import Words
from discreet.kernels.jit import kernel
from discreet.kernels.random import below, seeded, uniform, word

MASK = 2**64 - 1


def splitmix(x: int) -> tuple[int, int]:
    """The next state and number of splitmix64, as published."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    z = x
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return x, z ^ (z >> 31)


def xoshiro(s: list[int]) -> int:
    """The next number of xoshiro256+, as published; the state goes on."""
    result = (s[0] + s[3]) & MASK
    t = (s[1] << 17) & MASK
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = ((s[3] << 45) | (s[3] >> 19)) & MASK
    return result


@kernel
def draw(state: Words) -> int:
    """A word, as kernels draw it: in Python its sum would not wrap round without a warning."""
    return word(state)


def test_the_numbers_are_those_of_xoshiro() -> None:
    state, plain = np.array([1, 2, 3, 4], np.uint64), [1, 2, 3, 4]
    drawn = [int(draw(state)) for _ in range(1000)]
    assert drawn == [xoshiro(plain) for _ in range(1000)]
    assert drawn[:3] == [5, 211106232532999, 211106635186183]  # of the published code
    assert state.tolist() == plain


def test_the_first_seed_is_that_of_splitmix() -> None:
    x, words = 0, []
    for _ in range(4):
        x, z = splitmix(x)
        words.append(z)
    assert words[0] == 0xE220A8397B1DCDAF  # of the published code
    assert seeded(0, 0).tolist() == words


@given(st.integers(0, 2**62), st.integers(0, 2**31), st.integers(0, 2**62), st.integers(0, 2**31))
def test_each_seed_and_stream_has_its_own_state(seed: int, stream: int, other_seed: int, other_stream: int) -> None:
    same = (seed, stream) == (other_seed, other_stream)
    assert (seeded(seed, stream).tolist() == seeded(other_seed, other_stream).tolist()) == same


@pytest.mark.parametrize(("one", "two"), [((7, 0), (7, 1)), ((7, 0), (8, 0)), ((0, 0), (1, 1)), ((3, 5), (5, 3))])
def test_neighbouring_states_are_not_correlated(one: tuple[int, int], two: tuple[int, int]) -> None:
    a, b = seeded(*one), seeded(*two)
    x, y = (np.array([uniform(state) for _ in range(20_000)]) - 0.5 for state in (a, b))
    for lag in range(-4, 5):
        products = x[max(lag, 0) : len(x) + min(lag, 0)] * y[max(-lag, 0) : len(y) - max(lag, 0)]
        assert abs(products.mean()) < 5 / 12 / np.sqrt(len(products))


def test_numbers_are_uniform() -> None:
    state = seeded(11, 0)
    numbers = np.array([uniform(state) for _ in range(100_000)])
    assert numbers.min() >= 0.0
    assert numbers.max() < 1.0
    counts = np.histogram(numbers, 256, (0.0, 1.0))[0]
    expected = len(numbers) / 256
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 255)


@given(st.integers(1, 2**40), st.integers(0, 2**32))
def test_choices_are_below_their_bound(bound: int, seed: int) -> None:
    state = seeded(seed, 0)
    assert all(0 <= below(state, bound) < bound for _ in range(50))


def test_every_choice_is_as_likely() -> None:
    state = seeded(5, 0)
    counts = np.bincount([below(state, 7) for _ in range(70_000)], minlength=7)
    assert ((counts - 10_000) ** 2 / 10_000).sum() < chi2.isf(1e-6, 6)


def test_a_copy_of_the_state_goes_on_as_the_original() -> None:
    state = seeded(1, 2)
    uniform(state)
    copy = state.copy()
    assert [uniform(state) for _ in range(20)] == [uniform(copy) for _ in range(20)]
