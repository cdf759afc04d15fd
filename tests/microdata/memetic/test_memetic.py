"""The memetic search: valid at any moment, never worse than its start, as good as brute force on tiny data."""

import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.kernels.arrays import Floats
from discreet.microdata.memetic.blocks import Blocks
from discreet.microdata.memetic.islands import Islands
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Construction, Run
from discreet.microdata.methods.mdav import Mdav
from discreet.microdata.methods.tour import Tour
from discreet.microdata.methods.vmdav import Vmdav
from partitions import KINDS, any_partition, cases, check_cost, check_sizes, cloud, no_worse, optimum, plain_sse

SEEDS = st.integers(0, 2**32)
ISLANDS = Memetic()
BLOCKS = Memetic(large=1)


@pytest.mark.parametrize("method", [ISLANDS, BLOCKS], ids=["islands", "blocks"])
@given(case=cases(), seed=SEEDS)
@settings(max_examples=25)
def test_every_partition_on_the_way_is_valid_and_costs_what_it_says(
    method: Memetic, case: tuple[Floats, int], seed: int
) -> None:
    points, k = case
    before = points.copy()
    process = method.search(points, k, Run(seed=seed))
    cost = np.inf
    for _ in range(6):
        next(process.epochs(), None)
        assert process.cost <= cost
        cost = process.cost
        labels = process.answer()
        check_sizes(labels, len(points), k)
        assert plain_sse(points, labels) <= cost * (1 + 1e-9)
    np.testing.assert_array_equal(points, before)


@given(cases(), SEEDS)
@settings(max_examples=25)
def test_it_is_never_worse_than_the_constructions(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    process = ISLANDS.search(points, k, Run(seed=seed))
    for rival in (Mdav(), Vmdav(gamma=0.2), Tour(order="mdav")):
        labels = rival.assign(points, k, Run())
        assert process.cost <= plain_sse(points, labels) * (1 + 1e-9)
        next(process.epochs(), None)
        assert no_worse(points, process.answer(), labels)


@given(cases(), SEEDS)
@settings(max_examples=25)
def test_in_blocks_it_is_never_worse_than_mdav(case: tuple[Floats, int], seed: int) -> None:
    points, k = case
    process = BLOCKS.search(points, k, Run(seed=seed))
    for _ in range(3):
        next(process.epochs(), None)
        assert no_worse(points, process.answer(), Mdav().assign(points, k, Run()))


@pytest.mark.parametrize("method", [ISLANDS, BLOCKS], ids=["islands", "blocks"])
@given(case=cases(), seed=SEEDS, large=st.booleans())
@settings(max_examples=25)
def test_it_is_never_worse_than_the_start(method: Memetic, case: tuple[Floats, int], seed: int, large: bool) -> None:
    points, k = case
    # A start may have groups of 2k and more, as that of a release made elsewhere.
    start = np.zeros(len(points), np.int64) if large else any_partition(len(points), k, seed)
    for _ in range(2):
        process = method.search(points, k, Run(seed=seed, start=start))
        next(process.epochs(), None)
        answer = process.answer()
        check_sizes(answer, len(points), k)
        assert no_worse(points, answer, start)
        start = answer  # the best there is by now


@pytest.mark.parametrize("method", ["memetic", "genetic", "two-step"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_verb_never_gives_back_less_than_it_was_given(method: str, kind: str) -> None:
    points = cloud(240, 2, kind, 1)
    best = discreet.partition(points, k=3, steps=100).labels  # more than a step can find
    again = discreet.partition(points, k=3, method=method, steps=1, seed=9, start=best)
    assert no_worse(points, again.labels, best)
    assert again.sizes.max() <= 5


@pytest.mark.parametrize("method", [ISLANDS, BLOCKS, Memetic(regions=False, islands=1)], ids=repr)
def test_on_tiny_data_it_finds_the_optimum(method: Memetic) -> None:
    found = 0
    tries = [(n, k, kind) for n, k in ((9, 2), (9, 3), (8, 3), (8, 2), (9, 4), (7, 2)) for kind in KINDS]
    for seed, (n, k, kind) in enumerate(tries):
        points = cloud(n, 2, kind, seed)
        process = method.search(points, k, Run(seed=seed))
        for _ in range(200):
            next(process.epochs(), None)
        least = optimum(points, k)
        cost = plain_sse(points, process.answer())
        assert cost >= least * (1 - 1e-9)
        found += cost <= least * (1 + 1e-9)
    assert found >= len(tries) - 1


@pytest.mark.parametrize("params", [{}, {"large": 50}, {"islands": 3, "heat": 0.1, "regions": False}])
def test_the_same_steps_and_seed_give_the_same_on_any_number_of_threads(params: dict[str, Any]) -> None:
    points = cloud(400, 3, "scattered", 1)
    one, two, again, other = (
        discreet.partition(points, k=4, steps=12, params=params, threads=threads, seed=seed)
        for threads, seed in ((1, 5), (2, 5), (1, 5), (1, 6))
    )
    for run in (two, again):
        np.testing.assert_array_equal(one.labels, run.labels)
        assert run.sse == one.sse
        assert [(step, cost) for step, _, cost in run.search["trace"]] == [
            (step, cost) for step, _, cost in one.search["trace"]
        ]
    assert (one.labels != other.labels).any()


def test_more_steps_are_never_worse() -> None:
    points = cloud(300, 2, "scattered", 2)
    for params in ({}, {"large": 50}):
        costs = [discreet.partition(points, k=3, steps=steps, params=params).search["trace"] for steps in (2, 8, 40)]
        finals = [trace[-1][2] for trace in costs]
        assert finals == sorted(finals, reverse=True)
        # A run is the beginning of every longer one.
        for shorter, longer in pairwise(costs):
            assert [(step, cost) for step, _, cost in shorter] == [
                (step, cost) for step, _, cost in longer[: len(shorter)]
            ]


def test_it_beats_the_constructions_where_there_is_something_to_gain() -> None:
    points = cloud(300, 2, "scattered", 3)
    rivals: list[Construction] = [Mdav(), Vmdav(gamma=0.2), Tour(order="mdav")]
    best = min(plain_sse(points, rival.assign(points, 3, Run())) for rival in rivals)
    for params in ({}, {"large": 50}):
        assert discreet.partition(points, k=3, steps=60, params=params).sse < 0.95 * best


def test_many_records_are_searched_in_blocks() -> None:
    points = cloud(60, 2, "scattered", 1)
    assert isinstance(Memetic(large=59).search(points, 3, Run()), Blocks)
    assert isinstance(Memetic(large=60).search(points, 3, Run()), Islands)
    # So is data of many attributes, and with groups too large for unions.
    assert isinstance(Memetic(large=60).search(cloud(60, 11, "scattered", 1), 3, Run()), Blocks)
    assert isinstance(Memetic(large=60).search(cloud(60, 10, "scattered", 1), 3, Run()), Islands)
    assert isinstance(Memetic().search(cloud(1100, 1, "scattered", 1), 501, Run()), Blocks)


REHEARSED = """
import importlib, pkgutil, sys
import numpy as np
from discreet import kernels
from discreet.microdata.memetic import islands
from discreet.microdata.solving import warm_up
from discreet.microdata.memetic.memetic import Memetic
from discreet.microdata.method import Run

modules = [importlib.import_module(found.name)
           for found in pkgutil.walk_packages(kernels.__path__, "discreet.kernels.")]
compiled = lambda: {f"{m.__name__}.{n}": len(f.signatures) for m in modules for n, f in vars(m).items()
                    if isinstance(getattr(f, "signatures", None), list)}
islands.FIRST_REGION_CYCLE, islands.PROVABLE = 0, {3: (1000, 0)}
method = Memetic(large=int(sys.argv[1]), cycle=2, growth=1.0)
warm_up(method, 2, 3, {120})
islands.rehearse_proof()
before = compiled()
points = np.random.default_rng(0).normal(size=(120, 2))
for start in (None, np.arange(120) // 4):
    process = method.search(points, 3, Run(start=start))
    for _ in range(60):
        next(process.epochs(), None)
    process.answer()
print({name: count for name, count in compiled().items() if count != before[name]})
"""


@pytest.mark.parametrize("large", [50, 5000])
def test_nothing_is_left_to_compile_when_the_search_begins(large: int) -> None:
    """Compiling is no part of the time of a search, and cannot be interrupted."""
    done = subprocess.run([sys.executable, "-c", REHEARSED, str(large)], capture_output=True, text=True)
    assert done.stdout.strip() == "{}", done.stderr


@pytest.mark.parametrize("k", [700, 1500])
def test_a_large_k_takes_no_more_memory_than_there_is(k: int) -> None:
    points = cloud(3000, 1, "scattered", 1)
    for params in ({}, {"large": 50}):
        part = discreet.partition(points, k=k, steps=1, params=params)
        check_sizes(part.labels, 3000, k)
        check_cost(part.sse, points, part.labels)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"islands": 0}, "islands must be at least 1, not 0"),
        ({"islands": 1.5}, "islands must be a whole number"),
        ({"heat": -0.1}, "heat is -0.1; it must be a finite number of at least 0"),
        ({"heat": float("inf")}, "heat is inf"),
        ({"neighbours": 0}, "neighbours must be at least 1, not 0"),
        ({"large": 0}, "large must be at least 1, not 0"),
        ({"regions": 1}, "regions is 1; it must be True or False"),
    ],
)
def test_parameters_are_checked_when_made(params: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Memetic(**params)


@pytest.mark.parametrize(
    "params", [{"neighbours": 1}, {"neighbours": 1000}, {"islands": 7}, {"heat": 0.0}, {"heat": 50}]
)
def test_any_parameters_give_a_valid_partition(params: dict[str, Any]) -> None:
    points = cloud(50, 2, "crowded", 1)
    for large in (1, 1000):
        part = discreet.partition(points, k=3, steps=8, params={"large": large, **params})
        check_sizes(part.labels, 50, 3)
        check_cost(part.sse, points, part.labels)
        assert no_worse(points, part.labels, Mdav().assign(points, 3, Run()))
