"""The four steps find the factors that matter, from runs that are the method's own."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.experiments.sensitivity import (
    analyse,
    check_grid,
    combinations,
    parse,
    proven,
    run_method,
    seed_of,
    sensitivity,
)
from discreet.microdata.method import Run
from discreet.microdata.methods.exhaustive import Exhaustive
from discreet.microdata.methods.genetic import Genetic
from discreet.microdata.partition import partition

pytest.importorskip("statsmodels")

POINTS = np.random.default_rng(3).normal(size=(11, 2))
GRID = {"mutation": (0.0, 0.1, 0.4), "population": (10, 40)}


def test_a_run_is_the_methods_own() -> None:
    settings = {"mutation": 0.2, "population": 20, "run": 1, "seed": 77}
    result = run_method(POINTS, 3, "genetic", {"generations": 300}, None, None, settings)
    process = Genetic(mutation=0.2, population=20, generations=300).search(POINTS, 3, Run(seed=77))
    while not process.finished:
        next(process.epochs())
    assert (result["sse"], result["converged"]) == (process.cost, process.converged)  # type: ignore[attr-defined]


@pytest.mark.parametrize("seed", range(5))
def test_ending_a_run_at_the_optimum_changes_nothing(seed: int) -> None:
    optimum = proven(POINTS, 3)
    assert optimum == pytest.approx(partition(POINTS, k=3, method="exact").sse)
    # Many records per epoch, so that the run would go on for several.
    settings = {"population": 100, "run": 1, "seed": seed}
    whole = run_method(POINTS, 3, "genetic", {"generations": 4_000}, None, None, settings)
    ended = run_method(POINTS, 3, "genetic", {"generations": 4_000}, None, optimum, settings)
    assert (whole["sse"], whole["converged"]) == (ended["sse"], ended["converged"])


def test_the_optimum_of_a_few_records_is_the_enumerated_one() -> None:
    labels = Exhaustive().assign(POINTS, 3, Run())
    sse = sum(((POINTS[labels == g] - POINTS[labels == g].mean(axis=0)) ** 2).sum() for g in set(labels.tolist()))
    assert proven(POINTS, 3) == pytest.approx(sse)
    assert proven(np.random.default_rng(0).normal(size=(101, 2)), 3) is None


def test_what_is_planted_is_found() -> None:
    rng = np.random.default_rng(0)
    rows = [
        {"rate": rate, "size": size, "noise": noise, "run": run}
        for rate in (0.0, 0.1, 0.5) for size in (10, 20, 30) for noise in (1, 2) for run in range(6)
    ]  # fmt: skip
    frame = pl.DataFrame(rows).with_columns(
        sse=pl.when(pl.col("rate") > 0).then(5.0).otherwise(9.0) + pl.Series(rng.normal(0, 0.1, len(rows))),
        converged=pl.when(pl.col("rate") == 0.1).then(100).otherwise(300)
        + 20 * pl.col("size")
        + pl.Series(rng.integers(0, 30, len(rows))),
    )
    found = analyse(frame, ("rate", "size", "noise"))
    assert found.quality.anova.significant == ["rate"]
    assert found.quality.best("rate") == [0.1, 0.5]
    assert found.speed.anova.significant == ["rate", "size"]
    assert found.best == {"rate": [0.1], "size": [10], "noise": [1, 2]}


def test_a_study_on_data(tmp_path: Path) -> None:
    study = {"k": 3, "method": "genetic", "grid": GRID, "runs": 4, "params": {"generations": 150}}
    found = sensitivity(POINTS, **study, store=tmp_path)  # type: ignore[arg-type]
    assert found.runs.height == 24
    assert found.quality.anova.significant[0] == "mutation"
    assert 0.0 not in found.best["mutation"]
    assert found.runs["sse"].min() >= found.optimum * (1 - 1e-9)  # type: ignore[operator]
    assert found.runs["seed"].n_unique() == 24
    again = sensitivity(POINTS, **study, store=tmp_path)  # type: ignore[arg-type]
    assert again.runs.equals(found.runs)
    fresh = sensitivity(POINTS, **study, threads=2)  # type: ignore[arg-type]
    assert fresh.runs.drop("seconds").equals(found.runs.drop("seconds"))
    with pytest.raises(InputError, match="another data"):
        sensitivity(POINTS + np.arange(11)[:, None] % 3, **study, store=tmp_path)  # type: ignore[arg-type]


def test_any_method_and_parameter_can_be_studied() -> None:
    points = np.random.default_rng(1).normal(size=(40, 3))
    found = sensitivity(points, k=3, method="vmdav", grid={"gamma": (0.1, 0.5, 1.5)}, runs=2)
    expected = [partition(points, k=3, method="vmdav", params={"gamma": gamma}).sse for gamma in (0.1, 0.5, 1.5)]
    assert found.runs["sse"].to_list() == pytest.approx(np.repeat(expected, 2))
    searched = sensitivity(points, k=3, method="memetic", grid={"islands": (1, 2)}, runs=2, steps=3)
    assert (searched.runs["converged"] <= 3).all()


def test_a_study_of_too_few_runs_is_refused_before_the_first() -> None:
    with pytest.raises(InputError, match="too few"):
        sensitivity(POINTS, k=3, method="genetic", grid={"mutation": (0.1, 0.5)}, runs=1)


def test_a_best_group_of_few_runs_is_no_obstacle() -> None:
    frame = pl.DataFrame({"a": [0, 0, 0, 1, 1, 1], "b": [1, 2, 3] * 2, "sse": [1.0, 1, 1.01, 9, 9, 9.01]})
    found = analyse(frame.with_columns(converged=pl.Series([5, 9, 2, 4, 4, 4])), ("a", "b"))
    assert found.best["a"] == [0]
    assert found.speed.anova.significant == []


def test_seeds_follow_from_settings_alone() -> None:
    assert seed_of({"a": 1, "b": 0.5}) == seed_of({"b": 0.5, "a": 1})
    assert seed_of({"a": 1, "run": 1}) != seed_of({"a": 1, "run": 2})


def test_ranges_have_both_ends_and_exact_decimals() -> None:
    grid = parse(["mutation=0:1:0.1", "population=10:100:10"], "genetic")
    assert grid["mutation"] == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert grid["population"] == tuple(range(10, 101, 10))
    assert all(isinstance(value, int) for value in grid["population"])


def test_lists_of_numbers_and_words() -> None:
    assert parse(["gamma=0.2, 1.1,auto"], "vmdav") == {"gamma": (0.2, 1.1, "auto")}
    assert parse(["elite=yes,no"], "genetic") == {"elite": (True, False)}


@given(st.integers(1, 50), st.integers(1, 40), st.integers(1, 9))
def test_a_range_is_an_arithmetic_progression(low: int, count: int, step: int) -> None:
    high = low + count * step
    assert parse([f"generations={low}:{high}:{step}"], "genetic")["generations"] == tuple(range(low, high + 1, step))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mutatoin=0:1:0.1", "did you mean 'mutation'"),
        ("mutation=0.1", "one value"),
        ("mutation=0.1,0.10", "one value"),
        ("mutation=0.5:0.5:0.1", "one value"),
        ("mutation", "write it as"),
        ("mutation=", "write it as"),
        ("=1,2", "write it as"),
        ("mutation=0:1", "low:high:step"),
        ("mutation=0:x:1", "low:high:step"),
        ("mutation=0:inf:1", "low:high:step"),
        ("mutation=1:0:0.1", "not below"),
        ("mutation=0:1:0", "above 0"),
        ("generations=1:10000000:1", "too many"),
        ("mutation=0.5,2", "mutation"),
        ("population=1.5,2", "whole number"),
    ],
)
def test_bad_grids_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse([text], "genetic")


def test_a_factor_twice_and_no_factor_are_refused() -> None:
    with pytest.raises(InputError, match="already"):
        parse(["mutation=0,1", "mutation=0.5,0.6"], "genetic")
    with pytest.raises(InputError, match="needs a grid"):
        check_grid({}, "genetic")
    with pytest.raises(InputError, match="no method"):
        parse(["mutation=0,1"], "genetics")


def test_combinations_are_all_and_each_once() -> None:
    grid = parse(["mutation=0,0.5", "population=10:30:10"], "genetic")
    every = combinations(grid, "genetic", {"generations": 5})
    assert len(every) == len({tuple(each.items()) for each in every}) == 6
    with pytest.raises(InputError, match="grid and a fixed value"):
        combinations(grid, "genetic", {"mutation": 0.1})
