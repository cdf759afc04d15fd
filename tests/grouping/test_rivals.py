"""The ad-hoc groupings are what their names say."""

import numpy as np
import polars as pl
import pytest

from discreet.grouping.candidates import clone_key, count, groups
from discreet.grouping.rivals import correlations, rivals
from grouping.spaces import space_of


def pairs(seed: int = 0) -> pl.DataFrame:
    """Four pairs of columns that hang together closely, the pairs hardly."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(200, 4))
    columns = {
        f"{letter}{n}": base[:, j] + 0.1 * n * rng.normal(size=200) for j, letter in enumerate("abcd") for n in (0, 1)
    }
    return pl.DataFrame(columns)


def test_correlations_are_those_of_numpy() -> None:
    frame = pairs()
    expected = np.abs(np.corrcoef(frame.to_numpy().T))
    assert correlations(space_of(frame)) == pytest.approx(expected, abs=1e-9)


def test_categories_are_related_by_what_they_tell_of_each_other() -> None:
    rng = np.random.default_rng(1)
    town = rng.integers(0, 3, 300)
    frame = pl.DataFrame({
        "town": [f"t{t}" for t in town],
        "same": [f"s{t}" for t in town],
        "other": [f"o{t}" for t in rng.integers(0, 3, 300)],
        "number": town * 1.0 + 0.1 * rng.normal(size=300),
        "constant": [1] * 300,
    })  # fmt: skip
    found = correlations(space_of(frame))
    assert found[0, 1] == pytest.approx(1.0)
    assert found[0, 2] < 0.2
    assert found[0, 3] > 0.5
    assert found[4].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_correlated_columns_come_together_or_apart() -> None:
    found = rivals(space_of(pairs()))
    assert count(found["all together"]) == 1
    assert count(found["each alone"]) == 8
    assert groups(found["correlated together, 4 groups"]) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    for name, labels in found.items():
        if "apart" in name:
            assert all(labels[2 * pair] != labels[2 * pair + 1] for pair in range(4))
            assert f"{count(labels)} groups" in name
    assert len({clone_key(labels) for labels in found.values()}) == len(found)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_few_columns_have_few_rivals(columns: int) -> None:
    frame = pairs().select(pairs().columns[:columns])
    found = rivals(space_of(frame))
    assert all(len(labels) == columns for labels in found.values())
    assert len(found) in {1: (1,), 2: (2,), 3: (3, 4)}[columns]
