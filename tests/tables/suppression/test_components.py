"""Independent components: each is searched in its own way, and together they are safe, bounded and repeatable."""

from functools import cache
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.methods import make
from discreet.tables.primary import primary
from discreet.tables.suppression import problem as problems
from discreet.tables.suppression.components import Components
from discreet.tables.suppression.pattern import pattern_of
from discreet.tables.suppression.problem import Problem, problem_of, settle_ranges
from discreet.tabular.table import FIXED, SAFE, Table
from random_tables import random_table

KINDS: dict[str, dict[str, Any]] = {
    "linked": {"dims": [5, 4, 3], "linked": True},
    "sparse with two hierarchies": {"dims": [6, 4, 3], "linked": True, "hierarchical": True, "second": True},
}


@cache
def mixed_tables(kind: str) -> list[tuple[Table, Problem]]:
    """Two sparse tables of which one component is a network and another is not, with their problems."""
    found = []
    for seed in range(1_000):
        rng = np.random.default_rng(seed)
        table = primary(random_table(rng, zeros=0.5, **KINDS[kind]), p=30, threshold=2)
        status = table.status.copy()
        status[(status == SAFE) & (rng.random(len(table)) < 0.6)] = FIXED
        table = table.but(status=status)
        problem, lost = settle_ranges(problem_of(table, settle=False))
        problem = problem.without(lost)
        components = problem.components()
        kinds = [part.is_network for part in components]
        if kinds == [True, False] and all(_needs_secondary_cells(part) for part in components):
            found.append((table, problem))
            if len(found) == 2:
                return found
    raise AssertionError("no such tables")


def _needs_secondary_cells(problem: Problem) -> bool:
    pattern = pattern_of(problem)
    pattern.protect(problem.by_level())
    pattern.clean()
    return pattern.cost > 0


@pytest.mark.parametrize("kind", KINDS)
def test_components_share_no_relation_and_have_every_requirement(kind: str) -> None:
    for _, problem in mixed_tables(kind):
        network, other = problem.components()
        assert network.is_network
        assert not other.is_network
        assert network.requirements + other.requirements == problem.requirements
        assert not set(network.system.relations.tolist()) & set(other.system.relations.tolist())
        assert not set(network.system.cells.tolist()) & set(other.system.cells.tolist())


@pytest.mark.parametrize("method", ["search", "exact", "ls-swap", "hypercube"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_mixed_table_is_safe_from_the_first_step_on_and_has_a_bound(kind: str, method: str) -> None:
    for table, _ in mixed_tables(kind):
        found = discreet.suppress(table, method=method, steps=40, seed=1, partial=True)
        assert bool(found.audit) != found.partial
        if method != "hypercube":
            step, _, cost = found.trace[0]
            assert step <= 1
            assert found.cost <= cost
        if method in ("search", "exact"):
            assert found.bound is not None
            assert 0 <= found.bound["value"] <= found.cost
            first = discreet.suppress(table, method=method, steps=1, seed=1, partial=True)
            assert bool(first.audit) != first.partial


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_makes_no_difference(kind: str) -> None:
    for table, _ in mixed_tables(kind)[:1]:
        ends = [discreet.suppress(table, steps=60, seed=2, partial=True, threads=threads) for threads in (1, 2)]
        assert np.array_equal(ends[0].table.status, ends[1].table.status)
        assert [point[::2] for point in ends[0].trace] == [point[::2] for point in ends[1].trace]


def test_costs_and_bounds_add_up_and_one_component_is_the_problem_itself() -> None:
    for _, problem in mixed_tables("linked"):
        search = Components(make("search", {}, "suppression"), problem, 1)
        for _, _ in zip(range(30), search.epochs(), strict=False):
            assert search.cost == pytest.approx(sum(one.cost for one in search.processes))
            assert problem.cost(search.pattern()) == pytest.approx(search.cost)
            assert search.bound is None or search.bound <= search.cost
        network = problem.components()[0]
        assert network.components() == [network]
        alone = Components(make("search", {}, "suppression"), network, 1)
        assert len(alone.processes) == 1
        # The first component has the seed itself.
        for _, _ in zip(range(30), alone.epochs(), strict=False):
            pass
        assert alone.cost == search.processes[0].cost


def test_connected_components_are_searched_one_by_one() -> None:
    for seed in range(100):
        rng = np.random.default_rng(seed)
        table = primary(random_table(rng, zeros=0.5, **KINDS["linked"]), p=30, threshold=2)
        status = np.where((table.status == SAFE) & (rng.random(len(table)) < 0.6), FIXED, table.status)
        problem, lost = settle_ranges(problem_of(table.but(status=status.astype(np.uint8)), settle=False))
        problem = problem.without(lost)
        parts = problem.components()
        if len(parts) != len({part.is_network for part in parts}):
            break
    # More than one of a kind, each without any relation to the others.
    assert len(parts) > len({part.is_network for part in parts})
    for part in parts:
        assert part.system.components[0] == 1
    search = Components(make("search", {}, "suppression"), problem, 1)
    for _ in zip(range(40), search.epochs(), strict=False):
        pass
    search.prove(40)
    assert search.bound is not None
    assert search.bound <= search.cost
    assert search.cost == pytest.approx(sum(one.cost for one in search.processes))


def test_many_tiny_components_are_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, problem = mixed_tables("linked")[0]
    monkeypatch.setattr(problems, "ALONE", 0)
    parts = problem.components()
    assert 1 <= len(parts) <= 2
    assert sum(part.requirements for part in parts) == problem.requirements


def test_the_bound_names_how_it_was_found() -> None:
    rng = np.random.default_rng(5)
    flat = primary(random_table(rng, [8, 7]), p=30)
    found = discreet.suppress(flat, steps=60, seed=1)
    assert found.bound is not None
    assert found.bound["method"] == "Benders cuts"
    cube = primary(random_table(rng, [6, 5, 4]), p=30)
    found = discreet.suppress(cube, steps=5, seed=1)
    assert found.bound is not None
    assert found.bound["method"] == "prices of relations"
    found = discreet.suppress(flat, method="hypercube")
    assert found.bound is not None
    assert found.bound["method"] == "prices of relations"


def test_parameters_that_do_nothing_are_told() -> None:
    rng = np.random.default_rng(5)
    flat, cube = primary(random_table(rng, [8, 7]), p=30), primary(random_table(rng, [6, 5, 4]), p=30)
    told = "do nothing on this table"
    for table, params, said in (
        (flat, {"starts": 3, "most": 2}, None),
        (cube, {"starts": 3, "proofs": False, "most": 2}, "starts, proofs of search"),
        (cube, {"most": 2}, None),
        (cube, {}, None),
    ):
        notes = " ".join(discreet.suppress(table, params=params, steps=2).evidence["notes"])
        assert (told in notes) == (said is not None)
        assert said is None or said in notes
