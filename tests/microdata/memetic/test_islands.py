"""Islands: what they share and inherit, through all phases of the search."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.memetic.pool import Pool, note, pooled
from discreet.kernels.memetic.unions import anneal, slotted
from discreet.kernels.random import seeded
from discreet.kernels.space.lists import neighbour_lists
from discreet.microdata.memetic import islands, regions
from discreet.microdata.memetic.islands import Islands
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.memetic.regions import recombine
from discreet.microdata.method import Run, renumber
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.set_partitioning import relaxation
from discreet.microdata.set_partitioning.columns import Columns, columns_of, no_sets, share_costs
from discreet.microdata.set_partitioning.relaxation import RestrictedMaster, complete
from evolution.searches import same
from partitions import any_partition, cases, check_cost, check_sizes, cloud, groups_of, no_worse, optimum, plain_sse

# Short cycles, and a bit of a proof.
HASTY: dict[str, Any] = {"cycle": 2, "proofs": 3}
SEEDS = st.integers(0, 2**32)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cycle ends with regions and a proof."""
    monkeypatch.setattr(islands, "FIRST_REGION_CYCLE", 0)
    monkeypatch.setattr(islands, "PROVABLE", {3: (1000, 0)})


def noted(points: Floats, k: int, start: Ints, steps: int, seed: int) -> Pool:
    """The groups formed on the way from a start."""
    groups, pool = slotted(start, k), pooled(len(points), k, 40 * len(points))
    lists = neighbour_lists(points, min(12, len(points) - 1))
    anneal(points, k, lists, 0.05, steps, False, groups, pool, seeded(seed, 0))
    return pool


def spy(process: Islands, name: str, called: set[str]) -> None:
    """Take note when a method of a search is called."""
    method = getattr(process, name)

    def call(*arguments: Any, **named: Any) -> Any:
        called.add(name)
        return method(*arguments, **named)

    setattr(process, name, call)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", ["scattered", "crowded", "constant", "outlier"])
@pytest.mark.parametrize("k", [3, 5])
def test_the_best_never_gets_worse_and_costs_what_it_says_through_all_phases(kind: str, k: int) -> None:
    points = cloud(230, 2, kind, k)
    process = Memetic(islands=3, **HASTY)._islands(points, k, Run(seed=1))
    phases: set[str] = set()
    for name in ("_anneal", "_recombine_regions", "_prove"):
        spy(process, name, phases)
    cost = process.cost
    for _ in range(25):
        next(process.epochs(), None)
        best = process._best
        check_sizes(best, 230, k)
        check_cost(process.cost, points, best)
        assert process.cost <= cost
        cost = process.cost
        for island in process._islands:
            check_sizes(renumber(island.groups.labels), 230, k)
        answer = process.answer()
        check_sizes(answer, 230, k)
        assert no_worse(points, answer, best)
    assert phases == {"_anneal", "_recombine_regions"} | ({"_prove"} if k == 3 else set())


@pytest.mark.usefixtures("hasty")
def test_the_answer_can_be_asked_for_at_any_time_and_changes_nothing() -> None:
    points = cloud(230, 3, "scattered", 1)
    asked, left = (Memetic(**HASTY)._islands(points, 3, Run(seed=2)) for _ in range(2))
    for _ in range(10):
        next(asked.epochs(), None)
        np.testing.assert_array_equal(asked.answer(), asked.answer())
        next(left.epochs(), None)
    same(asked.save(), left.save())


@pytest.mark.usefixtures("hasty")
def test_the_number_of_threads_changes_nothing() -> None:
    points = cloud(230, 3, "scattered", 1)
    states = []
    for threads in (1, 2, 5):
        process = Memetic(islands=3, **HASTY)._islands(points, 3, Run(seed=2, threads=threads))
        for _ in range(15):
            next(process.epochs(), None)
        states.append(process.save())
    same(states[0], states[1])
    same(states[0], states[2])


@pytest.mark.usefixtures("hasty")
def test_a_search_saved_at_any_moment_goes_on_as_if_it_had_not_stopped() -> None:
    points = cloud(230, 2, "scattered", 3)
    method = Memetic(**HASTY)
    process = method._islands(points, 3, Run(seed=4))
    kept = []
    for _ in range(14):
        kept.append((process.save(), process.cost, process.answer()))
        next(process.epochs(), None)
    for begun, (state, cost, answer) in enumerate(kept):
        resumed = method._islands(points, 3, Run(seed=99))  # the seed is in the state
        resumed.load(state)
        assert resumed.cost == cost
        np.testing.assert_array_equal(resumed.answer(), answer)
        same(resumed.save(), state)
        for _ in range(begun, 14):
            next(resumed.epochs(), None)
        same(resumed.save(), process.save())
        np.testing.assert_array_equal(resumed._rng, process._rng)  # of which regions come next


def test_a_search_that_finds_nothing_more_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(islands, "PROVABLE", {})
    points = cloud(9, 2, "scattered", 1)
    process = Memetic(cycle=3, growth=1.0)._islands(points, 3, Run())
    epochs = 0
    while not process.finished:
        next(process.epochs(), None)
        epochs += 1
    assert epochs >= 3 * Memetic().patience
    assert process.bound is None
    assert process.cost == pytest.approx(optimum(points, 3))


@pytest.mark.parametrize("kind", ["scattered", "crowded", "constant", "outlier"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_bound_is_never_above_the_optimum_and_ends_the_search_where_it_meets_it(
    monkeypatch: pytest.MonkeyPatch, kind: str, k: int
) -> None:
    monkeypatch.setattr(islands, "PROVABLE", {k: (100, 0)})
    points = cloud(9, 2, kind, k)
    least = optimum(points, k)
    process = Memetic(cycle=2, growth=1.0)._islands(points, k, Run())
    for _ in range(400):
        next(process.epochs(), None)
        assert process.bound is None or process.bound <= least * (1 + 1e-9)
        assert process.cost >= least * (1 - 1e-9)
        if process.finished:
            break
    assert process.finished
    assert process.cost <= least * (1 + 1e-7)
    assert process.bound is not None
    assert process.bound >= process.cost * (1 - 1e-7)


def test_a_memory_that_is_nearly_full_keeps_what_costs_least_beyond_the_duals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(islands, "GROUPS_PER_RECORD", 1)
    island = Islands(cloud(60, 2, "scattered", 1), 3, Run(), Memetic())._islands[0]
    rng = np.random.default_rng(1)
    while island.pool.filled[0] < 55:
        note(island.pool, rng.choice(60, 3, replace=False), float(rng.random()))
    before, duals = island.pool, rng.random(60)
    island.make_room(duals)
    reduced = before.costs[:55] - duals[before.members[:55, :3]].sum(axis=1)
    kept = island.pool.members[:20]
    assert island.pool.filled[0] == 20
    assert {tuple(group) for group in kept} == {tuple(group) for group in before.members[np.argsort(reduced)[:20]]}


def recombined(points: Floats, k: int, labels: Ints, pools: list[Pool], centre: int) -> Ints:
    """A partition with a region of it put together anew."""
    duals = share_costs(columns_of(points, labels), labels)
    *_, outcome = recombine(points, k, labels, pools, duals, centre)
    assert outcome is not None
    assert np.isfinite(outcome.duals).all()
    return outcome.labels


@given(cases(), SEEDS, st.sampled_from([0, 500]))
@settings(max_examples=30)
def test_a_region_put_together_anew_is_made_of_known_groups(case: tuple[Floats, int], seed: int, few: int) -> None:
    points, k = case
    labels = any_partition(len(points), k, seed)
    pools = [noted(points, k, labels, 60, seed), noted(points, k, any_partition(len(points), k, seed + 1), 60, seed)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regions, "FEW_GROUPS", few)  # 0: by a dive
        new = recombined(points, k, labels, pools, seed % len(points))
    check_sizes(new, len(points), k)
    known = {frozenset(pool.members[i, : pool.sizes[i]].tolist()) for pool in pools for i in range(pool.filled[0])}
    known |= groups_of(labels)
    # Records that a dive leaves alone join known groups.
    assert all(any(group <= larger for group in known) for larger in groups_of(new))
    if few:
        assert no_worse(points, new, labels)


def test_outside_the_region_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "REGION_RECORDS", 30)
    points = cloud(150, 2, "scattered", 1)
    labels, pool = Mdav().assign(points, 3, Run()), noted(points, 3, any_partition(150, 3, 1), 2000, 1)
    new = recombined(points, 3, labels, [pool], 7)
    changed = {record for group in groups_of(labels) - groups_of(new) for record in group}
    assert 0 < len(changed) < 35


def test_the_best_of_all_known_groups_is_chosen() -> None:
    """All groups that there can be are known, so the optimum is put together."""
    from itertools import combinations

    points = cloud(9, 2, "scattered", 5)
    labels = any_partition(9, 3, 5)
    pool = pooled(9, 3, 1000)
    for size in (3, 4, 5):
        for members in combinations(range(9), size):
            note(pool, np.array(members), 0.0)  # what it costs is found out
    assert plain_sse(points, recombined(points, 3, labels, [pool], 0)) == pytest.approx(optimum(points, 3))


def test_the_cost_falls_within_a_cycle() -> None:
    process = Islands(cloud(300, 3, "scattered", 1), 3, Run(), Memetic())
    costs = [process.cost]
    for _ in range(20):  # the first cycle has 32
        next(process.epochs())
        costs.append(process.cost)
    assert len(set(costs)) > 5


@pytest.mark.parametrize("primal", [False, True])
def test_a_linear_program_in_pieces_has_the_same_solution(monkeypatch: pytest.MonkeyPatch, primal: bool) -> None:
    points = cloud(120, 2, "scattered", 1)
    labels = any_partition(120, 3, 1)
    pool = noted(points, 3, labels, 3000, 1)
    filled = int(pool.filled[0])
    members = pool.members[:filled][np.arange(5) < pool.sizes[:filled, None]]
    starts = np.concatenate([[0], np.cumsum(pool.sizes[:filled])])
    columns = columns_of(points, labels).join(Columns(members, starts, pool.costs[:filled]))
    whole = complete(RestrictedMaster(columns, no_sets(), 120).solving())
    monkeypatch.setattr(relaxation, "UNINTERRUPTED_WORK", 0)  # ten iterations a piece
    master = RestrictedMaster(columns, no_sets(), 120)
    pieces = master.solving(primal=primal)
    assert sum(1 for _ in pieces) > 3
    assert master.columns.costs @ master.values == pytest.approx(whole)
