"""The figures of a grouping are those of the release it makes, whatever the data, the method and the cache."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.grouping.candidates import Labels, canonical, name_groups, random_grouping
from discreet.grouping.evaluator import NOT_POSSIBLE, Cache, Evaluator, Figures
from discreet.grouping.parts import Inner
from discreet.measures.choices import Choices
from grouping.spaces import space_of
from random_frames import ORDER, frames

QUASI = ["age", "income", "town", "size", "born"]
TYPES: dict[str, Any] = {"ordinal": {"size": ORDER}}
MEASURES = ["il", "dld", "id"]
CHOICES = [
    Choices(),
    Choices(nearest=2),
    Choices(direction="released", nearest=2),
    Choices(interval="rank"),
    Choices(interval="rank", records=False),
    Choices(interval="sd", width=0.5),
    Choices(width=25.0, records=True),
    Choices(known=("age", "town"), choose=1),
]


def released(frame: pl.DataFrame, groups: list[list[str]], k: int, **said: Any) -> pl.DataFrame:
    """The release, made group by group with the public verb."""
    columns = []
    for group in groups:
        release = discreet.protect(frame, k=k, quasi=group, ignore="rest", measures="none", **said)
        columns.append(pl.DataFrame(release.data).select(group))
    return pl.concat(columns, how="horizontal")


def numbers(seed: int, n: int, d: int) -> pl.DataFrame:
    """Numbers that hang together."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d) * 3
    return pl.DataFrame({f"a{j}": values[:, j] for j in range(d)})


@given(
    frames(least=6, most=40),
    st.integers(2, 4),
    st.lists(st.integers(0, 4), min_size=5, max_size=5),
    st.sampled_from(CHOICES),
    st.sampled_from(["separate", "impute"]),
    st.booleans(),
    st.sampled_from([0, 10_000_000]),
)
@settings(max_examples=30)
def test_figures_are_those_of_the_release(
    frame: pl.DataFrame, k: int, group: list[int], choices: Choices, missing: str, strata: bool, memory: int
) -> None:
    labels = canonical(group)
    said: dict[str, Any] = {"missing": missing, "by": ["stratum"] if strata else None} | TYPES
    try:
        release = released(frame, name_groups(labels, QUASI), k, method="mdav", **said)
    except InputError:
        release = None
    try:
        space = space_of(frame, QUASI, **said)
    except InputError:
        assume(False)
    evaluator = Evaluator(space, k, Inner.named("mdav", {}), choices, memory=memory)
    (found,) = evaluator.figures([labels])
    if release is None:
        assert found == NOT_POSSIBLE
        assert evaluator.refusal is not None
        return
    options = {name: value for name, value in vars(choices).items() if name != "seed"}
    options["known"] = list(choices.known) or None
    # With a key: rows that come out sorted by chance are no sign that their order was destroyed.
    before, after = frame.select("id", *QUASI), release.select(frame["id"], *QUASI)
    measured = discreet.measure(before, after, key="id", quasi=QUASI, measures=MEASURES, **options, **TYPES)
    assert found.il == pytest.approx(measured["il"], abs=1e-9)
    assert found.dld == pytest.approx(measured["dld"], abs=1e-9)
    assert found.id == pytest.approx(measured["id"], abs=1e-9)


@pytest.mark.parametrize(
    ("inner", "params"), [("mdav", {}), ("vmdav", {"gamma": 0.2}), ("tour", {}), ("memetic", {}), ("mst", {})]
)
def test_any_method_can_be_inside(inner: str, params: dict[str, Any]) -> None:
    frame, labels, k = numbers(1, 60, 5), canonical([0, 1, 0, 1, 2]), 4
    space = space_of(frame)
    evaluator = Evaluator(space, k, Inner.named(inner, params, steps=2, seed=3), Choices())
    (found,) = evaluator.figures([labels])
    groups = name_groups(labels, frame.columns)
    release = released(frame, groups, k, method=inner, params=params, steps=2, seed=3)
    measured = discreet.measure(frame, release.select(frame.columns), quasi="all", measures=["score", *MEASURES])
    assert (found.il + found.dr) / 2 == pytest.approx(measured["score"], abs=1e-9)


def test_weights_count_in_groups_and_in_the_loss_as_in_a_protection() -> None:
    frame, k = numbers(2, 50, 4), 3
    weights = {"a0": 4.0, "a2": 0.0}
    (found,) = Evaluator(space_of(frame, weights=weights), k, Inner.named("mdav", {}), Choices()).figures(
        [canonical([0, 0, 0, 0])]
    )
    release = discreet.protect(frame, k=k, quasi="all", method="mdav", weights=weights)
    assert found.il == pytest.approx(release.measures["il"], abs=1e-9)
    assert found.dld == pytest.approx(release.measures["dld"], abs=1e-9)


def test_neither_memory_nor_threads_change_a_figure() -> None:
    space = space_of(numbers(3, 150, 6))
    rng = np.random.default_rng(4)
    groupings = [random_grouping(6, rng) for _ in range(40)]

    def judged(choices: Choices, **options: Any) -> list[Figures]:
        return Evaluator(space, 5, Inner.named("mdav", {}), choices, **options).figures(groupings)

    for choices in (Choices(), Choices(nearest=2), Choices(sample=30)):
        usual = judged(choices)
        small = 8 * 150 * 30 * 8  # room for six tables of distances, as many as there are attributes
        for other in (judged(choices, memory=0), judged(choices, memory=small)):
            assert [f.dld for f in other] == pytest.approx([f.dld for f in usual], abs=1e-9)
            assert [(f.il, f.id) for f in other] == [(f.il, f.id) for f in usual]
        assert judged(choices, threads=2) == usual


def test_a_group_is_protected_once() -> None:
    evaluator = Evaluator(space_of(numbers(5, 40, 4)), 4, Inner.named("mdav", {}), Choices())
    evaluator.figures([canonical([0, 0, 1, 1]), canonical([0, 0, 1, 2])])
    assert evaluator.protected == 4
    evaluator.figures([canonical([0, 0, 1, 1]), canonical([0, 1, 2, 3])])
    assert evaluator.protected == 6


def test_a_constant_and_a_repeated_attribute_are_no_trouble() -> None:
    frame = numbers(6, 30, 2).with_columns(pl.lit(7.0).alias("c"), pl.col("a0").alias("twin"))
    evaluator = Evaluator(space_of(frame), 3, Inner.named("mdav", {}), Choices())
    every: list[Labels] = [canonical([0, 0, 0, 0]), canonical([0, 1, 2, 3]), canonical([0, 1, 2, 0])]
    for labels, found in zip(every, evaluator.figures(every), strict=True):
        release = released(frame, name_groups(labels, frame.columns), 3, method="mdav").select(frame.columns)
        measured = discreet.measure(frame, release, quasi="all", measures=MEASURES, interval="relative")
        assert [found.il, found.dld, found.id] == pytest.approx([measured[name] for name in MEASURES], abs=1e-9)


def test_without_numbers_linkage_is_the_risk() -> None:
    frame = pl.DataFrame({"town": ["a", "b", "b", "a", "c", "c"], "job": ["x", "x", "y", "y", "x", "y"]})
    (found,) = Evaluator(space_of(frame), 2, Inner.named("mdav", {}), Choices()).figures([canonical([0, 1])])
    assert found.id is None
    assert found.dr == found.dld
    assert replace(found, id=50.0).dr == (found.dld + 50.0) / 2


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6)), max_size=60), st.integers(0, 15))
def test_the_limit_holds_and_the_latest_stay(asked: list[tuple[int, int]], limit: int) -> None:
    cache: Cache[int, int] = Cache(limit)
    order: list[tuple[int, int]] = []  # by the last time it was asked for or put
    for key, size in asked:
        kept = dict(order)
        assert cache.get(key) == (key if key in kept else None)
        if key in kept:
            order.remove((key, kept[key]))
            order.append((key, kept[key]))
        else:
            cache.put(key, key, size)
            if size <= limit:
                order.append((key, size))
        while sum(own for _, own in order) > limit:
            order.pop(0)
        assert cache.size == sum(own for _, own in order) <= limit
        assert len(cache) == len(order)
