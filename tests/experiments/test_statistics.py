"""The tests of statistics and of ranks agree with the libraries that can do the same, and with published figures."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import InputError
from discreet.experiments.statistics import anova, compare, groups, holm, need

pytest.importorskip("statsmodels")


def _one_way(seed: int, levels: int, runs: int, shift: float) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    level = np.repeat(np.arange(levels), runs)
    return pl.DataFrame({"level": level, "y": rng.normal(size=level.size) + shift * (level // 2)})


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(3, 6), st.floats(0, 3))
def test_one_factor_is_scipys_analysis(seed: int, levels: int, runs: int, shift: float) -> None:
    frame = _one_way(seed, levels, runs, shift)
    expected = stats.f_oneway(*(part["y"].to_numpy() for part in frame.partition_by("level")))
    row = anova(frame, "y", ["level"]).table.row(0, named=True)
    assert row["F"] == pytest.approx(expected.statistic)
    assert row["p"] == pytest.approx(expected.pvalue)
    assert row["df"] == levels - 1


def test_balanced_factors_share_the_variance_as_by_hand() -> None:
    rng = np.random.default_rng(0)
    a, b = np.repeat([0, 1, 2], 8), np.tile(np.repeat([0, 1], 4), 3)
    y = 2.0 * a + rng.normal(size=24)
    found = anova(pl.DataFrame({"a": a, "b": b, "y": y}), "y", ["a", "b"])
    within = sum(8 * (y[a == value].mean() - y.mean()) ** 2 for value in range(3))
    other = sum(12 * (y[b == value].mean() - y.mean()) ** 2 for value in range(2))
    rest = ((y - y.mean()) ** 2).sum() - within - other
    assert found.table["sum_of_squares"].to_list() == pytest.approx([within, other])
    assert found.df == 20
    assert found.error == pytest.approx(rest / 20)
    assert found.significant == ["a"]


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.integers(3, 5), st.floats(0, 3))
def test_pairs_are_told_apart_as_the_libraries_do(seed: int, levels: int, shift: float) -> None:
    from scikit_posthocs import posthoc_scheffe
    from statsmodels.stats.multicomp import pairwise_tukeyhsd

    frame = _one_way(seed, levels, 5, shift)
    found = anova(frame, "y", ["level"])
    tukey = pairwise_tukeyhsd(frame["y"].to_numpy(), frame["level"].to_numpy())
    apart = np.zeros((levels, levels), bool)
    apart[np.triu_indices(levels, 1)] = tukey.pvalues < 0.05
    scheffe = posthoc_scheffe(frame.to_pandas(), val_col="y", group_col="level").to_numpy() < 0.05
    for test, told in (("tukey", apart | apart.T), ("scheffe", scheffe)):
        table = groups(frame, "y", "level", found, test)  # type: ignore[arg-type]
        order = table["value"].to_list()
        letters = [set(text) for text in table["groups"]]
        assert table["mean"].is_sorted()
        for i, one in enumerate(order):
            for j, other in enumerate(order):
                # Equal numbers of runs: two values share a letter exactly if no test tells them apart.
                assert bool(letters[i] & letters[j]) == (not told[one, other])
        assert table["best"].to_list() == ["a" in letter for letter in letters]


def test_a_response_that_never_varies_has_no_significant_factor() -> None:
    frame = pl.DataFrame({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "y": [6.83] * 4})
    found = anova(frame, "y", ["a", "b"])
    assert found.significant == []
    assert found.table["p"].to_list() == [1.0, 1.0]


def test_a_response_without_chance_tells_all_apart() -> None:
    frame = pl.DataFrame({"a": [0, 0, 1, 1, 2, 2], "y": [1.0, 1.0, 2.0, 2.0, 2.0, 2.0]})
    found = anova(frame, "y", ["a"])
    assert found.significant == ["a"]
    assert groups(frame, "y", "a", found)["groups"].to_list() == ["a", "b", "b"]


def test_a_factor_of_one_value_explains_nothing() -> None:
    frame = _one_way(1, 3, 4, 5.0).with_columns(same=pl.lit(1))
    found = anova(frame, "y", ["same", "level"])
    assert found.significant == ["level"]


def test_too_few_runs_tell_nothing() -> None:
    found = anova(pl.DataFrame({"a": [0, 1], "y": [1.0, 2.0]}), "y", ["a"])
    assert found.significant == []
    assert found.df == 0


def test_a_missing_library_is_named() -> None:
    with pytest.raises(InputError, match=r"discreet\[stats\]"):
        need("a_library_that_is_not_here")


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
