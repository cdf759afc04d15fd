"""The optimum is the optimum, and no bound is above it."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet.errors import InputError
from discreet.kernels.partitions.groups import within_sse
from discreet.microdata.method import Run
from discreet.microdata.set_partitioning import pricing, relaxation
from discreet.microdata.set_partitioning.branching import Cover, DualBound
from discreet.microdata.set_partitioning.columns import Columns, no_sets
from discreet.microdata.set_partitioning.exact import Exact, lower_bound
from discreet.microdata.set_partitioning.relaxation import complete
from discreet.solvers.highs import LinearProgram
from evolution.searches import same

Floats = NDArray[np.float64]


def optimum(points: Floats, k: int) -> float:
    """The least SSE over all partitions into groups of at least k, by plain recursion."""
    n = len(points)

    def cost(group: list[int]) -> float:
        own = points[group]
        return float(((own - own.mean(axis=0)) ** 2).sum())

    def best(free: tuple[int, ...]) -> float:
        if not free:
            return 0.0
        first, others = free[0], free[1:]
        least = np.inf
        for chosen in range(1 << len(others)):
            group = [first] + [other for i, other in enumerate(others) if chosen >> i & 1]
            if len(group) >= k and (len(group) == len(free) or len(free) - len(group) >= k):
                rest = tuple(record for record in others if record not in group)
                least = min(least, cost(group) + best(rest))
        return float(least)

    return best(tuple(range(n)))


# Small whole numbers, so that records coincide and costs tie.
cases = st.tuples(
    st.integers(2, 3),
    st.integers(1, 3).flatmap(
        lambda d: st.lists(st.lists(st.integers(0, 4), min_size=d, max_size=d), min_size=4, max_size=8)
    ),
).map(lambda case: (case[0], np.array(case[1], float)))


@settings(max_examples=30)
@given(cases)
def test_exact_and_exhaustive_find_the_optimum_and_no_bound_is_above_it(case: tuple[int, Floats]) -> None:
    k, points = case
    if len(points) < k:
        return
    least = optimum(points, k)
    for method in ("exhaustive", "exact"):
        # Far more than it takes: on a busy machine a short limit would end it before the proof.
        part = discreet.partition(points, k=k, method=method, time=60, threads=1)
        assert part.sse == pytest.approx(least, rel=1e-9, abs=1e-9)
        assert part.sizes.min() >= k
    labels = np.zeros(len(points), np.int64)
    assert lower_bound(points, k, labels=labels).value <= least * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_at_every_step(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(12, 3))
    least = discreet.partition(points, k=3, method="exhaustive").sse
    process = Exact().search(points, 3, Run())
    while not process.finished:
        assert process.bound <= least * (1 + 1e-9)
        next(process.epochs(), None)
    assert process.cost == pytest.approx(least)
    assert process.bound == pytest.approx(least)


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_a_hundred_records_are_proven(d: int) -> None:
    points = np.random.default_rng(d).normal(size=(100, d))
    part = discreet.partition(points, k=3, method="exact", steps=1_000)
    assert part.bound is not None
    assert part.bound["gap"] < 1e-6
    assert part.sizes.max() < 6
    again = discreet.partition(points, k=3, steps=60, threads=1)
    assert part.sse <= again.sse * (1 + 1e-9)


def test_one_attribute_is_as_the_shortest_path_has_it() -> None:
    points = np.random.default_rng(0).lognormal(size=(60, 1))
    path = discreet.partition(points, k=3, method="univariate")
    assert discreet.partition(points, k=3, method="exact", steps=1_000).sse == pytest.approx(path.sse)


@pytest.mark.parametrize(
    "points",
    [np.ones((9, 2)), np.vstack([np.zeros((8, 2)), [[1e6, 0.0]]]), np.repeat(np.eye(3), 4, axis=0)],
    ids=["constant", "outlier", "identical"],
)
def test_extreme_data_is_solved(points: Floats) -> None:
    exact = discreet.partition(points, k=3, method="exact")
    assert exact.sse == pytest.approx(discreet.partition(points, k=3, method="exhaustive").sse)


def test_too_many_records_for_exhaustive_name_the_way_out() -> None:
    with pytest.raises(InputError, match=r"at most 18 records, and there are 19; use the method exact"):
        discreet.partition(np.random.default_rng(0).normal(size=(19, 2)), k=3, method="exhaustive")


@pytest.mark.parametrize(("k", "method"), [(3, "column generation"), (8, "nearest neighbours")])
def test_a_bound_is_below_every_partition(k: int, method: str) -> None:
    points = np.random.default_rng(1).normal(size=(80, 3))
    labels = discreet.partition(points, k=k, steps=40, threads=1).labels
    bound = lower_bound(points, k, labels=labels)
    assert bound.method == method
    assert 0 < bound.value <= within_sse(points, labels)


def test_the_cover_is_the_best_of_the_given_groups() -> None:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(9, 2))
    groups = [list(group) for group in {tuple(sorted(rng.choice(9, 3, replace=False))) for _ in range(60)}]
    groups = [[0, 1, 2], [3, 4, 5], [6, 7, 8], *groups]
    costs = np.array([((points[g] - points[g].mean(axis=0)) ** 2).sum() for g in groups])
    members = np.concatenate(groups)
    starts = np.arange(0, 3 * len(groups) + 1, 3)
    incumbent = np.arange(3)
    cover = Cover(Columns(members, starts, costs), 9, DualBound(0.0, np.zeros(len(groups)), no_sets()), incumbent)
    while not cover.finished:
        complete(cover.advancing())
    least = min(
        costs[[a, b, c]].sum()
        for a in range(len(groups))
        for b in range(a)
        for c in range(b)
        if len({*groups[a], *groups[b], *groups[c]}) == 9
    )
    assert cover.cost == pytest.approx(least)
    assert cover.bound <= least * (1 + 1e-9)


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let searches pause as often as they can."""
    monkeypatch.setattr(relaxation, "UNINTERRUPTED_WORK", 0)
    monkeypatch.setattr(pricing, "UNINTERRUPTED_CANDIDATES", 0)
    monkeypatch.setattr(pricing, "FIRST_PIECE", 4)
    monkeypatch.setattr(pricing, "LISTED_PIECE", 1)


@pytest.mark.usefixtures("interrupted")
def test_an_epoch_is_one_piece_of_work_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the data, an epoch runs the simplex method, prices or lists once, each within its limit."""
    done: list[str] = []

    def count(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def call(*arguments: Any) -> Any:
            done.append(name)
            return original(*arguments)

        monkeypatch.setattr(owner, name, call)

    for name in ("price", "lower", "all_below"):
        count(pricing, name)
    count(LinearProgram, "run")
    process = Exact().search(np.random.default_rng(0).normal(size=(16, 8)), 3, Run())
    seen = set()
    for _ in process.epochs():
        assert len(done) <= 1
        seen.update(done)
        done.clear()
    assert seen == {"price", "lower", "all_below", "run"}


@pytest.mark.parametrize("pauses", ["few", "all"])
def test_a_search_saved_at_any_moment_goes_on_as_if_it_had_not_stopped(
    pauses: str, request: pytest.FixtureRequest
) -> None:
    """On data for which all stages are needed, branch and bound too."""
    if pauses == "all":
        request.getfixturevalue("interrupted")
    points = np.random.default_rng(0).normal(size=(16, 8))
    whole = Exact().search(points, 3, Run())
    kept = [(whole.save(), whole.cost, whole.bound)]
    stages = {whole._stage}
    for _ in whole.epochs():
        kept.append((whole.save(), whole.cost, whole.bound))
        stages.add(whole._stage)
    assert stages == {"relax", "dive", "tighten", "branch", "done"}
    every = 1 if pauses == "few" else len(kept) // 20
    for done, (state, cost, bound) in list(enumerate(kept))[::every]:
        resumed = Exact().search(points, 3, Run())
        resumed.load(state)
        assert (resumed.cost, resumed.bound) == (cost, bound)
        assert len(list(resumed.epochs())) == len(kept) - 1 - done
        same(resumed.save(), whole.save())
