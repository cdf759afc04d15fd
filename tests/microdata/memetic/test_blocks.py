"""Blocks: every pass draws other borders, and whatever is done the partition is whole and no worse."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats
from discreet.microdata.memetic import blocks as large
from discreet.microdata.memetic.blocks import Blocks
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Run
from evolution.searches import same
from partitions import any_partition, cases, check_cost, check_sizes, cloud, groups_of, no_worse, plain_sse

SEEDS = st.integers(0, 2**32)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small blocks, a few of them in an epoch."""
    monkeypatch.setattr(large, "START_BLOCK_RECORDS", 60)
    monkeypatch.setattr(large, "EPOCH_RECORDS", 200)


def begun(points: Floats, k: int, run: Run | None = None, epochs: int = 0) -> Blocks:
    process = Memetic(block=10)._blocks(points, k, run or Run())
    for _ in range(epochs):
        next(process.epochs(), None)
    return process


@pytest.mark.usefixtures("small")
@given(case=cases(300), seed=SEEDS, with_start=st.booleans())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_at_every_moment_the_partition_is_whole_and_costs_what_it_says(
    case: tuple[Floats, int], seed: int, with_start: bool
) -> None:
    points, k = case
    start = any_partition(len(points), k, seed) if with_start else None
    process = begun(points, k, Run(seed=seed, start=start))
    assert process.cost == np.inf
    cost = np.inf
    for _ in range(8):
        next(process.epochs(), None)
        labels = process.answer()
        check_sizes(labels, len(points), k)
        check_cost(process.cost, points, labels)
        assert process.cost <= cost
        assert start is None or no_worse(points, labels, start)
        cost = process.cost
    assert not process.finished


@pytest.mark.usefixtures("small")
def test_passes_draw_other_borders_and_go_through_all_blocks() -> None:
    points = cloud(1000, 2, "scattered", 1)
    process = begun(points, 3, epochs=1)
    drawn = []
    for _ in range(30):
        next(process.epochs(), None)
        blocks = len(process._starts) - 1
        assert blocks >= 32
        assert 0 < process._next <= blocks
        if process._next == blocks:
            drawn.append(process._starts.tolist())
    assert len(drawn) > 3
    assert all(one != other for one, other in pairwise(drawn))
    homes = []
    for process._passes in (5, 6, 5):
        homes.append(process._homes(points, 8)[0])
    assert (homes[0] != homes[1]).any()
    np.testing.assert_array_equal(homes[0], homes[2])


@pytest.mark.usefixtures("small")
def test_what_the_first_borders_cut_is_mended() -> None:
    points = cloud(1000, 2, "scattered", 2)
    process = begun(points, 3, epochs=1)
    first = process.cost
    for _ in range(60):
        next(process.epochs(), None)
    assert process.cost < 0.85 * first


@pytest.mark.usefixtures("small")
def test_the_number_of_threads_changes_nothing() -> None:
    points = cloud(700, 3, "scattered", 1)
    states = [begun(points, 4, Run(seed=2, threads=threads), 15).save() for threads in (1, 2, 5)]
    same(states[0], states[1])
    same(states[0], states[2])


@pytest.mark.usefixtures("small")
def test_a_search_saved_at_any_moment_goes_on_as_if_it_had_not_stopped() -> None:
    points = cloud(400, 2, "scattered", 3)
    process = begun(points, 3, Run(seed=4))
    kept = []
    for _ in range(12):
        kept.append((process.save(), process.cost))
        next(process.epochs(), None)
    for done, (state, cost) in enumerate(kept):
        resumed = begun(points, 3, Run(seed=4), done % 3)
        resumed.load(state)
        assert resumed.cost == cost
        for _ in range(done, 12):
            next(resumed.epochs(), None)
        same(resumed.save(), process.save())


def test_a_start_is_what_the_first_epoch_makes() -> None:
    points = cloud(100, 2, "scattered", 1)
    start = any_partition(100, 3, 1)
    assert groups_of(begun(points, 3, Run(start=start), 1).answer()) == groups_of(start)
    cut = begun(points, 3, Run(start=np.zeros(100, np.int64)), 1).answer()
    check_sizes(cut, 100, 3)


def spans(starts: Iterable[int], least: int) -> list[tuple[int, int]]:
    return [(span.start, span.stop) for span in large._spans(np.array(list(starts)), least)]


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.integers(1, 10))
def test_blocks_with_few_records_go_with_a_neighbour(sizes: list[int], least: int) -> None:
    starts = [0, *np.cumsum(sizes).tolist()]
    found = spans(starts, least)
    flat = [edge for span in found for edge in span]
    if sum(sizes):
        assert flat[0] == 0
        assert flat[-1] == sum(sizes)
    assert all(flat[i] == flat[i + 1] for i in range(1, len(flat) - 1, 2))
    assert set(flat) <= set(starts)
    assert all(end - begin >= min(least, sum(sizes)) for begin, end in found)


def test_data_of_one_place_is_one_block() -> None:
    points = np.ones((500, 3))
    process = begun(points, 5, epochs=6)
    check_sizes(process.answer(), 500, 5)
    assert process.cost == 0.0


def test_a_cost_that_falls_by_orders_of_magnitude_is_still_right() -> None:
    """Sums of gains lose what is left when almost everything is gained."""
    points = cloud(100, 2, "scattered", 1)
    points[:50] += 1e8
    start = np.random.default_rng(1).permutation(np.arange(100) // 2)
    process = begun(points, 2, Run(start=start), 10)
    assert plain_sse(points, start) > 1e15
    assert plain_sse(points, process.answer()) < 100
    check_cost(process.cost, points, process.answer())
