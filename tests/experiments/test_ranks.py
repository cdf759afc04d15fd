"""Methods are ranked and compared as scipy and scikit-posthocs do, and the critical difference is the published one."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InputError
from discreet.experiments.statistics import compare, holm

pytest.importorskip("scikit_posthocs")


def _long(matrix: np.ndarray) -> pl.DataFrame:
    cases, methods = matrix.shape
    return pl.DataFrame(
        {
            "method": [f"m{j}" for _ in range(cases) for j in range(methods)],
            "case": [i for i in range(cases) for _ in range(methods)],
            "loss": matrix.ravel(),
        }
    )


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(3, 5), st.integers(6, 12))
def test_as_scipy_does(seed: int, methods: int, cases: int) -> None:
    matrix = np.random.default_rng(seed).normal(size=(cases, methods)) + np.arange(methods)
    found = compare(_long(matrix), method="method", case="case", value="loss")
    expected = stats.friedmanchisquare(*matrix.T)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    ranks = dict(found.ranks.select("method", "rank").rows())
    assert [ranks[f"m{j}"] for j in range(methods)] == pytest.approx(stats.rankdata(matrix, axis=1).mean(axis=0))
    row = found.pairs.row(0, named=True)
    assert row["p"] == pytest.approx(stats.wilcoxon(matrix[:, 1] - matrix[:, 0]).pvalue)
    assert row["wins"] + row["ties"] + row["losses"] == cases == found.cases
    assert (found.pairs["holm"] >= found.pairs["p"]).all()


def test_the_critical_difference_is_the_published_one() -> None:
    # Demšar (2006), section 3.2.2: four classifiers, 14 data sets, alpha 0.05: 2.569·sqrt(4·5/(6·14)) = 1.25.
    matrix = np.random.default_rng(0).normal(size=(14, 4))
    found = compare(_long(matrix), method="method", case="case", value="loss")
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert found.critical_difference == pytest.approx(2.569 * np.sqrt(20 / 84), abs=5e-4)


def test_several_runs_count_with_their_median() -> None:
    frame = _long(np.arange(12.0).reshape(4, 3) % 5)
    outlier = frame.with_columns(loss=pl.when(pl.col("method") == "m1").then(1e6).otherwise(pl.col("loss")))
    once = compare(frame, method="method", case="case", value="loss")
    thrice = compare(pl.concat([frame, frame, outlier]), method="method", case="case", value="loss")
    assert once.ranks.equals(thrice.ranks)


def test_methods_that_never_differ() -> None:
    found = compare(_long(np.ones((5, 3))), method="method", case="case", value="loss")
    assert found.p == 1.0
    assert found.pairs["p"].to_list() == [1.0] * 3


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_what_cannot_be_compared_is_refused() -> None:
    frame = _long(np.ones((5, 3)))
    with pytest.raises(InputError, match="lack some cases"):
        compare(frame[:-1], method="method", case="case", value="loss")
    with pytest.raises(InputError, match="at least 3 methods"):
        compare(frame.filter(pl.col("method") != "m0"), method="method", case="case", value="loss")
