"""The partition of one attribute is optimal."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.kernels.partitions.groups import within_sse
from discreet.microdata.method import Run
from discreet.microdata.methods.univariate import Univariate


def partitions(records: tuple[int, ...], k: int) -> Iterator[list[tuple[int, ...]]]:
    """All partitions into groups of at least k: the first record's group, then those of the rest."""
    if not records:
        yield []
        return
    first, *others = records
    for size in range(k - 1, len(others) + 1):
        for company in combinations(others, size):
            for rest in partitions(tuple(i for i in others if i not in company), k):
                yield [(first, *company), *rest]


@pytest.mark.parametrize(("n", "k"), [(6, 3), (7, 2), (8, 2), (8, 3), (9, 3), (10, 4), (11, 5)])
def test_no_partition_is_better(n: int, k: int) -> None:
    rng = np.random.default_rng(n + k)
    for values in (rng.normal(size=n), rng.integers(0, 4, n).astype(np.float64), rng.standard_cauchy(n)):
        points = values[:, None].copy()
        best = np.inf
        for partition in partitions(tuple(range(n)), k):
            best = min(best, sum(values[list(group)].var() * len(group) for group in partition))
        found = within_sse(points, Univariate().assign(points, k, Run()))
        assert found == pytest.approx(best, abs=1e-9)


def test_more_attributes_are_refused() -> None:
    with pytest.raises(InputError, match=r"one attribute, these records have 2.*tour"):
        Univariate().assign(np.zeros((6, 2)), 3, Run())
