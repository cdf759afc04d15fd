"""A run ends when it is told to, gives a verified answer however short it is, and says how it went."""

import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.evolution.process import Together
from discreet.kernels.arrays import Floats, Ints
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Method, Run, begin
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.options import Settings
from discreet.microdata.records import records_at
from discreet.microdata.solving import begin_parts
from discreet.running import SearchOptions, run
from partitions import any_partition, check_sizes, cloud, no_worse

FRAME = pl.DataFrame(cloud(40, 3, "scattered", 1), schema=["a", "b", "c"]).with_columns(
    d=pl.Series(range(40)), stratum=pl.Series(["n", "s"] * 20)
)


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    """Interrupts are heard, also where the tests run in the background of a script, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def partition(**options: Any) -> object:
    return discreet.partition(FRAME.select("a", "b", "c").to_numpy(), k=3, **options)


def protect(**options: Any) -> object:
    return discreet.protect(FRAME, k=3, quasi=["a", "b", "c"], confidential=["d", "stratum"], **options)


def refine(**options: Any) -> object:
    made = discreet.protect(FRAME, k=3, quasi=["a", "b", "c"], confidential=["d", "stratum"], method="mdav")
    return discreet.refine(FRAME, made.data, quasi=["a", "b", "c"], confidential=["d", "stratum"], **options)


@pytest.mark.parametrize("verb", [partition, protect, refine])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"time": 0}, "time must be a positive number of seconds, not 0"),
        ({"time": -1}, "time must be a positive number of seconds, not -1"),
        ({"time": float("nan")}, "time must be a positive number of seconds, not nan"),
        ({"time": float("inf")}, "time must be a positive number of seconds, not inf"),
        ({"time": "10"}, "time must be a positive number of seconds, not '10'"),
        ({"steps": 0}, "steps must be at least 1, not 0"),
        ({"steps": -3}, "steps must be at least 1, not -3"),
        ({"steps": 2.5}, "steps must be a whole number of at least 1, not 2.5"),
        ({"threads": 0}, "threads must be at least 1, not 0"),
        ({"seed": -1}, "seed must be at least 0, not -1"),
        ({"method": "mdva"}, "no method 'mdva'"),
        ({"params": {"island": 3}}, "memetic has no parameter 'island' .did you mean 'islands'"),
        ({"params": {"heat": "hot"}}, "heat is 'hot'"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(
    verb: Callable[..., object], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        verb(**options)


@pytest.mark.parametrize("params", [{}, {"large": 10}])
@pytest.mark.parametrize("time", [1e-6, 1e-300])
def test_the_shortest_time_still_gives_a_verified_answer(time: float, params: dict[str, Any]) -> None:
    points = cloud(200, 2, "scattered", 1)
    part = discreet.partition(points, k=3, time=time, params=params)
    check_sizes(part.labels, 200, 3)
    assert part.search["stopped"] == "time"
    assert no_worse(points, part.labels, discreet.partition(points, k=3, method="mdav").labels)
    release = discreet.protect(
        FRAME, k=3, quasi=["a", "b", "c"], confidential=["d", "stratum"], time=time, params=params
    )
    assert release.verification
    assert release.evidence["verification"]["passed"]
    assert release.data.select("a", "b", "c").group_by(pl.all()).len()["len"].min() >= 3


def test_the_evidence_says_how_the_search_went() -> None:
    release = discreet.protect(
        FRAME, k=3, quasi=["a", "b", "c"], confidential=["d", "stratum"], steps=7, seed=5, params={"heat": 0.1}
    )
    search = release.evidence["search"]
    assert {key: search[key] for key in ("method", "seed", "steps", "stopped")} == {
        "method": "memetic",
        "seed": 5,
        "steps": 7,
        "stopped": "steps",
    }
    assert search["params"]["heat"] == 0.1
    assert search["seconds"] >= 0
    steps, seconds, costs = zip(*search["trace"], strict=True)
    assert list(steps) == sorted(steps)
    assert list(seconds) == sorted(seconds)
    assert list(costs) == sorted(costs, reverse=True)


def test_a_construction_is_over_at_once() -> None:
    part = discreet.partition(cloud(50, 2, "scattered", 1), k=3, method="mdav", time=1e-6)
    assert (part.search["stopped"], part.search["steps"]) == ("finished", 0)


def test_an_interrupt_during_the_search_keeps_what_was_found() -> None:
    points = cloud(300, 2, "scattered", 1)
    heard: list[float] = []

    def interrupt(stage: str, share: float) -> None:
        if stage == "grouping":
            heard.append(share)
            if len(heard) == 3:
                signal.raise_signal(signal.SIGINT)

    part = discreet.partition(points, k=3, time=600, progress=interrupt)
    assert part.search["stopped"] == "interrupted"
    assert part.search["steps"] == 3
    check_sizes(part.labels, 300, 3)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    # It is what the same number of steps gives.
    np.testing.assert_array_equal(part.labels, discreet.partition(points, k=3, steps=3).labels)


@pytest.mark.parametrize("stage", ["compiling", "grouping", "verifying", "measuring"])
def test_an_interrupt_elsewhere_ends_the_call(stage: str) -> None:
    """While the groups are searched for it takes a second one."""
    done: list[str] = []

    def interrupt(now: str, share: float) -> None:
        if now.split()[0] == stage and (now != "grouping" or share > 0):
            done.append(now)
            signal.raise_signal(signal.SIGINT)
            if now == "grouping":
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        protect(steps=5, progress=interrupt)
    assert [name.split()[0] for name in done] == [stage]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_strata_are_searched_side_by_side_and_threads_change_nothing() -> None:
    releases = [
        discreet.protect(FRAME, k=3, quasi=["a", "b", "c"], confidential=["d"], by="stratum", steps=6, threads=threads)
        for threads in (1, 2)
    ]
    assert releases[0].data.equals(releases[1].data)
    for release in releases:
        for group in set(release.labels):
            assert FRAME["stratum"].gather(np.flatnonzero(release.labels == group)).n_unique() == 1


def begun(
    method: Method, parts: list[Floats], starts: list[Ints | None] | None = None, heard: list[float] | None = None
) -> Together[Ints]:
    tell = (lambda _: None) if heard is None else heard.append
    return begin_parts(method, [records_at(part) for part in parts], Settings(3), tell, starts or [None] * len(parts))


def test_every_part_has_its_own_groups_and_its_own_start() -> None:
    parts = [cloud(n, 2, "scattered", n) for n in (4, 30, 50)]
    process = begun(Memetic(), parts, [np.zeros(4, np.int64), any_partition(30, 3, 1), None])
    run(process, SearchOptions(steps=4))
    labels = process.answer()
    assert [len(own) for own in labels] == [4, 30, 50]
    assert labels[0].tolist() == [0, 0, 0, 0]  # fewer than 2k: no choice
    check_sizes(labels[1], 30, 3)
    assert no_worse(parts[1], labels[1], any_partition(30, 3, 1))
    assert process.bound is None


def test_all_parts_without_a_choice_are_finished_before_they_begin() -> None:
    process = begun(Memetic(), [cloud(5, 2, "scattered", 1), np.zeros((9, 0))])
    outcome = run(process, SearchOptions(steps=4))
    assert process.answer()[0].tolist() == [0] * 5
    assert np.bincount(process.answer()[1]).tolist() == [3, 3, 3]
    assert (outcome.stopped, outcome.steps) == ("finished", 0)


def test_a_construction_tells_how_far_along_all_parts_are() -> None:
    heard: list[float] = []
    assert begun(Mdav(), [cloud(n, 2, "scattered", n) for n in (30, 50)], heard=heard).finished
    assert heard == sorted(heard)
    assert 30 / 80 in heard
    assert heard[-1] == 1.0


def test_a_case_without_a_choice_is_begun_and_over() -> None:
    for count in (3, 4, 5):
        process = begin(Memetic(), cloud(count, 2, "scattered", 1), 3, Run())
        assert process.finished
        assert process.answer().tolist() == [0] * count


def test_a_lower_bound_is_told_where_it_is_asked_for() -> None:
    points = cloud(60, 2, "scattered", 1)
    part = discreet.partition(points, k=3, steps=100, bound=True)
    assert part.bound is not None
    assert 0 <= part.bound["value"] <= part.il * (1 + 1e-9)
    # How far above the optimum the partition may be, in percent of the least that the optimum can be.
    assert part.bound["gap"] == pytest.approx(100 * (part.il - part.bound["value"]) / part.bound["value"], abs=1e-6)
    release = discreet.protect(FRAME, k=3, quasi=["a", "b", "c"], confidential=["d", "stratum"], steps=20, bound=True)
    bound = release.evidence["bound"]
    assert 0 <= bound["value"] <= release.measures["partition_il"] * (1 + 1e-9)
    assert bound["method"]
