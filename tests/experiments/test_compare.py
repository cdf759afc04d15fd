"""A comparison runs every method on every case, tells them apart as scipy does, and never counts a run twice."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

from discreet.errors import InputError
from discreet.experiments.compare import analyse, compare
from discreet.experiments.page import Made
from discreet.experiments.study_pages import comparison_page, curves
from discreet.microdata.partition import partition

pytest.importorskip("scikit_posthocs")
pytest.importorskip("altair")

METHODS = ["mdav", "tour", "two-step:generations=20,K=12"]


def records(count: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    return {f"d{i}": rng.normal(size=(40 + 10 * i, 2)) for i in range(count)}


def _not_again(*_arguments: object) -> None:
    raise AssertionError("a run was done again")


def long(matrix: np.ndarray) -> pl.DataFrame:
    """Runs with given values: cases × methods × seeds."""
    return pl.DataFrame(
        [
            {
                "data": f"c{i}",
                "method": f"m{j}",
                "seed": s,
                "value": float(value),
                "seconds": 1.0,
                "trace": json.dumps([[0.5, value + 1.0], [1.0, value]]),
            }
            for (i, j, s), value in np.ndenumerate(matrix)
        ]
    )


def test_every_method_runs_on_every_case_with_every_seed() -> None:
    data = records()
    found = compare(data, methods=METHODS, ks=[3, 4], seeds=2, steps=3)
    assert found.runs.height == 3 * 3 * 2 * 2
    assert found.methods == METHODS
    assert len(found.cases) == 6
    assert found.tests is not None
    assert found.tests.cases == 6
    for row in found.runs.filter(pl.col("method") == "mdav").to_dicts():
        expected = partition(data[row["data"]], k=row["k"], method="mdav").il
        assert row["value"] == pytest.approx(expected, rel=1e-9)
    # Lemma 1 of the 2008 chapter.
    wide = found.runs.pivot("method", index=["case", "seed"], values="value")
    assert (wide[METHODS[2]] <= wide["mdav"] * (1 + 1e-9)).all()


def test_the_number_of_processes_does_not_matter() -> None:
    one, two = (compare(records(2), methods=METHODS, ks=[3], seeds=2, steps=2, threads=n) for n in (1, 2))
    assert one.runs.drop("seconds", "processor").equals(two.runs.drop("seconds", "processor"))


def test_runs_are_kept_and_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compare(records(2), methods=METHODS, ks=[3], seeds=1, steps=2, store=tmp_path)
    monkeypatch.setattr("discreet.experiments.compare.run_partition", _not_again)
    again = compare(records(2), methods=METHODS, ks=[3], seeds=1, steps=2, store=tmp_path)
    assert again.runs.equals(first.runs)
    with pytest.raises(InputError, match="another limit"):
        compare(records(2), methods=METHODS, ks=[3], seeds=1, steps=3, store=tmp_path)


def test_an_interrupted_run_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.evolution.loop import Outcome

    monkeypatch.setattr("discreet.experiments.compare.run", lambda *_a, **_n: Outcome(1, 0.1, "interrupted", ()))
    with pytest.raises(KeyboardInterrupt):
        compare(records(2), methods=METHODS, ks=[3], seeds=1, steps=2, store=tmp_path)
    assert (tmp_path / "runs.jsonl").read_text().count("\n") == 1  # what the runs are about, and no run


def test_medians_and_spreads() -> None:
    matrix = np.random.default_rng(1).uniform(1, 2, size=(4, 3, 5))
    found = analyse(long(matrix), "cost")
    for row in found.summary().to_dicts():
        own = matrix[int(row["case"][1:]), int(row["method"][1:])]
        assert (row["low"], row["median"], row["high"]) == pytest.approx(tuple(np.percentile(own, (25, 50, 75))))
        best = np.median(matrix[int(row["case"][1:])], axis=1).min()
        assert row["above"] == pytest.approx(100 * (np.median(own) / best - 1), abs=1e-9)
    assert found.tests is not None
    expected = stats.friedmanchisquare(*np.median(matrix, axis=2).T)
    assert found.tests.p == pytest.approx(expected.pvalue)


def test_two_methods_have_wilcoxons_test() -> None:
    matrix = np.random.default_rng(2).uniform(1, 2, size=(8, 2, 3))
    matrix[:, 0] -= 0.5
    found = analyse(long(matrix), "cost")
    middle = np.median(matrix, axis=2)
    assert found.tests is None
    assert found.pair is not None
    assert found.pair["p"] == pytest.approx(stats.wilcoxon(middle[:, 1] - middle[:, 0]).pvalue)
    assert found.pair["wins"] + found.pair["ties"] + found.pair["losses"] == 8
    assert "Wilcoxon" in comparison_page(found, "title", Made("c", 1, 1, 1.0)).markdown(None)


def test_one_case_has_no_test_and_says_so() -> None:
    found = analyse(long(np.ones((1, 3, 2))), "cost")
    assert found.tests is None
    assert "One case only" in comparison_page(found, "title", Made("c", 1, 1, 1.0)).markdown(None)


def test_curves_never_rise_and_end_at_the_gap_of_the_last_value() -> None:
    matrix = np.array([[[10.0], [12.0]], [[20.0], [20.0]]])
    table = curves(analyse(long(matrix), "cost").traces)
    for (method,), own in table.group_by("method"):
        assert (own["gap"].diff().drop_nulls() <= 1e-12).all(), method
        assert own["seconds"].is_sorted()
    last = dict(table.group_by("method", maintain_order=True).agg(pl.col("gap").last()).rows())
    assert last == {"m0": 0.0, "m1": pytest.approx(10.0)}


def test_a_curve_begins_when_every_run_has_a_value() -> None:
    rows = [("a", "m", 1, 0.1, 5.0), ("a", "m", 2, 2.0, 5.0), ("a", "n", 1, 0.01, 6.0), ("a", "n", 2, 0.01, 6.0)]
    table = curves(pl.DataFrame(rows, schema=["case", "method", "seed", "seconds", "value"], orient="row"))
    assert table.filter(pl.col("method") == "m")["seconds"].min() >= 2.0  # type: ignore[operator]
    assert table.filter(pl.col("method") == "n")["gap"].to_list() == pytest.approx([20.0] * 60)


def test_tables_are_compared_by_the_cost_of_audited_patterns(table_reference: Callable[[str], Path]) -> None:
    table = table_reference("jj/tiny.jj")
    found = compare({"tiny": table}, methods=["search", "hypercube", "marginal"], seeds=2, steps=3)
    assert found.unit == "cost"
    assert found.runs.height == 6
    least = found.runs.filter(pl.col("method") == "search")["value"].max()
    assert (found.runs["value"] >= least).all()


@pytest.mark.parametrize(
    ("methods", "ks", "message"),
    [
        (["mdav"], [3], "nothing to compare with 1 method"),
        (["mdav", "mdva"], [3], "did you mean 'mdav'"),
        (["mdav", "mdav"], [3], "named twice"),
        (["mdav", "two-step:K"], [3], "write it as"),
        (["mdav", "two-step:L=3"], [3], "no parameter 'L'"),
        (["mdav", "hypercube"], [3], "method for tables"),
        (["mdav", "tour"], [], "methods for microdata need k"),
        (["mdav", "tour"], [3, 3], "k is named twice"),
    ],
)
def test_what_cannot_be_compared_is_refused(methods: list[str], ks: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(records(1), methods=methods, ks=ks)


def test_a_method_that_fails_is_named_with_its_case() -> None:
    with pytest.raises(InputError, match="univariate on d0"):
        compare(records(1), methods=["mdav", "univariate"], ks=[3], seeds=1, steps=1)
