"""The search on records with categories: it counts what will be written, and is never above simple ways to group."""

from itertools import islice
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.data.embedding import Axis, Embedding
from discreet.kernels.partitions.groups import total_sse, within_sse
from discreet.microdata import records as module
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Labels, Run
from discreet.microdata.records import Records, records_of
from partitions import any_partition, check_sizes


def frame(count: int, seed: int, levels: tuple[int, ...] = (3, 8, 40)) -> pl.DataFrame:
    """Types of people with values of their own, and every other value at random."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 12, count)
    columns: dict[str, Any] = {"age": np.round(rng.normal(40, 15, count) + kind)}
    for at, size in enumerate(levels):
        typical = rng.integers(0, size, 12)[kind]
        columns[f"c{at}"] = np.char.add(
            "v", np.where(rng.random(count) < 0.6, typical, rng.integers(0, size, count)).astype(str)
        )
    return pl.DataFrame(columns)


def records(count: int, seed: int) -> Records:
    """Records of one number and two categories; of a third of the cases one category is missing everywhere."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=count), rng.integers(0, 3, count).astype(float), rng.integers(0, 20, count).astype(float)]
    axes = [Axis("a", np.zeros(1), 1.0)]
    for at, levels in ((1, 3), (2, 20)):
        values[at][:2] = 0, 1  # a column of one category would carry nothing, and have no scale
        shares = np.bincount(values[at].astype(int), minlength=levels) / count
        axes.append(Axis(f"c{at}", shares, float(1 / np.sqrt(1 - (shares**2).sum()))))
    if seed % 3 == 0:
        values[1] = np.full(count, np.nan)
    return records_of(Embedding(tuple(axes)), values)


def lose(given: Records, labels: Labels) -> float:
    """What means and modes lose, group by group."""
    total = 0.0
    for group in range(labels.max() + 1):
        own = labels == group
        total += float(((given.numbers[own] - given.numbers[own].mean(axis=0)) ** 2).sum())
        for price, column in zip(given.prices, given.codes[own].T, strict=True):
            total += price * (own.sum() - np.bincount(column).max())
    return total


@given(st.integers(10, 80), st.integers(2, 5), st.integers(0, 2**32))
@settings(max_examples=20)
def test_the_cost_is_the_loss_of_what_is_written_and_never_rises(count: int, k: int, seed: int) -> None:
    given_records = records(max(count, 2 * k), seed)
    search = Memetic().search_records(given_records, k, Run(seed=seed % 100))
    costs = []
    for _ in islice(search.epochs(), 9):
        labels = search.answer()
        check_sizes(labels, len(given_records), k)
        assert search.cost == pytest.approx(lose(given_records, labels), abs=1e-9)
        assert given_records.loss(labels) == pytest.approx(search.cost, abs=1e-9)
        costs.append(search.cost)
    assert costs == sorted(costs, reverse=True)


@given(st.integers(20, 60), st.integers(2, 5), st.integers(0, 2**32))
@settings(max_examples=20)
def test_a_given_partition_never_gets_worse(count: int, k: int, seed: int) -> None:
    given_records = records(count, seed)
    start = any_partition(count, k, seed)
    search = Memetic().search_records(given_records, k, Run(start=start))
    for _ in islice(search.epochs(), 6):
        assert search.cost <= lose(given_records, start) + 1e-9


@given(st.integers(5, 60), st.integers(2, 6), st.integers(0, 2**32))
def test_sums_of_squares_are_those_of_the_points(count: int, k: int, seed: int) -> None:
    given_records = records(max(count, k), seed)
    labels = any_partition(len(given_records), k, seed)
    points = given_records.points()
    assert given_records.sse(labels) == pytest.approx(within_sse(points, labels), abs=1e-9)
    assert given_records.sst() == pytest.approx(total_sse(points), abs=1e-9)


def test_threads_and_a_break_change_nothing() -> None:
    found = frame(4_000, 1)
    one, two = (
        discreet.protect(found, k=3, quasi="all", steps=9, threads=threads, measures="none", params={"block": 200})
        for threads in (1, 2)
    )
    assert one.data.equals(two.data)
    given_records = records(600, 1)
    whole, first = (Memetic(block=50).search_records(given_records, 3, Run(seed=4)) for _ in range(2))
    for _ in islice(whole.epochs(), 12):
        pass
    for at in range(12):
        next(first.epochs())
        if at in (0, 2, 7):
            state = first.save()
            first = Memetic(block=50).search_records(given_records, 3, Run(seed=4))
            first.load(state)
    assert first.cost == whole.cost
    assert (first.answer() == whole.answer()).all()


@pytest.mark.parametrize("seed", range(2))
def test_the_default_loses_less_than_sorting_and_cutting_and_than_mdav(seed: int) -> None:
    found = frame(600, seed)
    best = discreet.protect(found, k=4, quasi="all", steps=25, measures="none").measures["il"]
    assert best < discreet.protect(found, k=4, quasi="all", method="mdav", measures="none").measures["il"]
    for columns in (found.columns, found.columns[::-1]):
        order = found.with_row_index().sort(columns)["index"].to_numpy()
        labels = np.empty(600, np.int64)
        labels[order] = np.arange(600) // 4
        cut = pl.concat(
            [
                found.select(pl.col("age").mean().over(pl.Series("g", labels))),
                found.select(pl.col(["c0", "c1", "c2"]).mode().first().over(pl.Series("g", labels))),
            ],
            how="horizontal",
        )
        assert best < discreet.measure(found, cut, quasi="all", measures=["il"])["il"]


def test_equal_records_lose_nothing() -> None:
    few = frame(40, 5)
    found = pl.concat([few] * 7).sample(fraction=1.0, shuffle=True, seed=1)
    release = discreet.protect(found, k=7, quasi="all", measures="none")
    assert release.measures["il"] == 0.0
    assert release.evidence["search"]["stopped"] == "finished"
    assert release.data.equals(found)


def test_no_matrix_of_indicators_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("indicators")

    monkeypatch.setattr(Embedding, "points", refuse)
    monkeypatch.setattr(Records, "points", refuse)
    found = frame(6_000, 2, (5, 4_000))
    release = discreet.protect(found, k=3, quasi="all", steps=5)
    assert release.verification
    assert release.measures["dld"] <= 100 / 3


def test_methods_by_name_have_few_coordinates_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_COORDINATES", 1_000)
    found = frame(300, 3)
    release = discreet.protect(found, k=5, quasi="all", method="mdav", measures="none")
    assert release.measures["smallest_group"] >= 5
    with pytest.raises(discreet.InputError, match="too many categories for a bound"):
        discreet.protect(found, k=5, quasi="all", method="mdav", bound=True)
    with pytest.raises(discreet.InputError, match="too many categories for a bound"):
        discreet.protect(found, k=5, quasi="all", labels=release.labels, bound=True)


@pytest.mark.parametrize("seed", range(2))
def test_refining_never_worsens_the_loss_of_medians_modes_and_digits(seed: int) -> None:
    found = frame(120, seed)
    options: dict[str, Any] = {"quasi": "all", "aggregate": {"age": "median"}, "digits": {"age": -1}}
    made = discreet.protect(found, k=4, method="mdav", measures="none", **options)
    better = discreet.refine(found, made.data, k=4, steps=3 + seed, measures="none", bound=True, **options)
    assert better.measures["start_il"] == pytest.approx(made.measures["il"])
    assert better.measures["il"] <= made.measures["il"] * (1 + 1e-9)
    bound, il = better.evidence["bound"], better.measures["partition_il"]
    assert bound["gap"] == pytest.approx(100 * (il / bound["value"] - 1))
