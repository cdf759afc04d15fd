"""Every pattern of every method passes the independent audit: on random tables of two to five dimensions.

Hierarchical, of crossing hierarchies, linked; with zeros, ties, negative values, frozen cells, all kinds of bounds and
levels. Every method goes over every kind of table with and without each option; the campaign goes on where these end.
Seeds are fixed; a failure names its own.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.errors import PromiseNotKept
from discreet.methods import names
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from unsafe_tables import KINDS, Case, beyond_help, case, refute

METHODS = names("suppression")
EVERY = (*KINDS, "any")
# Tables where every step is a network flow, or few programs are needed: the exact method is soon through with them.
QUICK = ("plane", "tree", "crossed", "cube", "linked")
# Of the search: the first pattern only, in the middle of a build, and well into building anew and repairing. The other
# methods are run for a step.
STEPS = (1, 2, 4, 9, 50)
# One in so many is looked at by the plain attacker of scipy too.
PLAIN = 5
# Whether levels must be exceeded, and whether secondary cells are protected too.
OPTIONS = tuple(product((False, True), repeat=2))
# Two runs that have each option once on and once off, in one of the two ways.
HALVES = ((OPTIONS[0], OPTIONS[3]), (OPTIONS[1], OPTIONS[2]))
PAIRS = [(method, kind) for method in METHODS for kind in (QUICK if method == "exact" else EVERY)]


def released(one: Case, **options: Any) -> Any:
    # Some of the tables have no unsafe cell, and no rule that says so.
    asked = {"singletons": False, "no_rules": True} | options
    return discreet.suppress(one.table, frozen=one.frozen.tolist(), seed=1, partial=True, **asked)


@pytest.mark.parametrize(("method", "kind"), PAIRS)
def test_every_method_protects_every_table(method: str, kind: str) -> None:
    place = PAIRS.index((method, kind))
    if method == "search":
        runs = [(OPTIONS[(place + at) % 4], steps) for at, steps in enumerate(STEPS)]
    else:
        runs = [(options, 1) for options in HALVES[place % 2]]
    for seed, ((strict, secondaries), steps) in enumerate(runs, 100 * place):
        one = case(seed, kind)
        found = released(one, method=method, steps=steps, strict=strict, protect_secondaries=secondaries)
        wrong = refute(one, found, strict=strict, secondaries=secondaries, plain=seed % PLAIN == 0)
        assert not wrong, f"seed {seed}, {method}, {kind}: {wrong}"
        assert bool(found.audit) != found.partial


@pytest.mark.parametrize("kind", EVERY)
def test_preferred_and_avoided_cells_and_a_pattern_to_begin_with(kind: str, tmp_path: Path) -> None:
    runs = product(("search", "ga-one-k", "hypercube", "ls-swap"), (True, False))
    for seed, (method, begun) in enumerate(runs, 20_000 + 100 * EVERY.index(kind)):
        one = case(seed, kind)
        rng = np.random.default_rng(seed)
        some = rng.permutation(np.flatnonzero(one.table.status == SAFE))
        quarter = len(some) // 4
        options: dict[str, Any] = {"prefer": some[:quarter].tolist(), "avoid": some[quarter : 2 * quarter].tolist()}
        if begun:
            last = one.table.status.copy()
            last[rng.choice(some, quarter, replace=False)] = SECONDARY
            options["previous"] = tmp_path / f"{seed}.parquet"
            one.table.but(status=last).frame().write_parquet(options["previous"])
        wrong = refute(one, released(one, method=method, steps=2, **options))
        assert not wrong, f"seed {seed}, {method}, {kind}: {wrong}"


@pytest.mark.parametrize("kind", KINDS)
def test_sole_contributors_are_kept_at_bay(kind: str) -> None:
    methods = ("search", "marginal", "ga-group-k", "hypercube")
    runs = [(method, options) for at, method in enumerate(methods) for options in HALVES[at % 2]]
    for seed, (method, (strict, secondaries)) in enumerate(runs, 30_000 + 100 * EVERY.index(kind)):
        one = case(seed, kind)
        asked: dict[str, Any] = {"strict": strict, "singletons": True}
        try:
            found = released(one, method=method, steps=1, protect_secondaries=secondaries, **asked)
        except PromiseNotKept:
            # It cannot be done: with every cell suppressed that may be, somebody still knows too much.
            most = np.where((one.table.status == SAFE) & one.free, SECONDARY, one.table.status).astype(np.uint8)
            judged = audit(
                one.table.but(status=most, rules={"words": {}, **one.table.rules}), secondaries=secondaries, **asked
            )
            assert not judged, f"seed {seed}"
            continue
        wrong = refute(one, found, strict=strict, secondaries=secondaries)
        assert not wrong, f"seed {seed}, {method}, {kind}: {wrong}"
        insiders = audit(
            found.table.but(rules={"words": {}, **one.table.rules}), secondaries=secondaries, **asked
        ).insiders
        lost = beyond_help(one, strict=strict, secondaries=secondaries) | hopeless(one, found, strict=strict)
        wrongly = {int(cell) for _, cells in insiders or [] for cell in cells} - lost
        assert not wrongly, f"seed {seed}, {method}, {kind}: sole contributors know {sorted(wrongly)}"


def hopeless(one: Case, found: Any, *, strict: bool) -> set[int]:
    """The cells given up to sole contributors: with every cell suppressed that may be, they know too much of each."""
    victims = set(found.audit.victims)
    most = np.where((one.table.status == SAFE) & one.free, SECONDARY, one.table.status).astype(np.uint8)
    judged = audit(one.table.but(status=most, rules={"words": {}, **one.table.rules}), singletons=True, strict=strict)
    assert victims <= {int(cell) for _, cells in judged.insiders or [] for cell in cells}
    return victims


def line(**given: Any) -> Table:
    """Two cells and their total, which is published; the first of them is unsafe."""
    values = {"value": [8.0, 5.0, 3.0], "lower": [0.0] * 3, "upper": [99.0] * 3} | given
    held: dict[str, Any] = {name: np.array(amounts) for name, amounts in values.items() if name != "value"}
    status = np.array([FIXED, PRIMARY, SAFE], np.uint8)
    dimension = Dimension("A", Hierarchy.flat(["a", "b"]))
    return Table.of(values["value"], dimensions=[dimension], codes=[[0], [1], [2]], status=status, **held)


def test_cells_without_bounds_move() -> None:
    level = [0.0, 2.0, 0.0]
    table = line(lower=[-np.inf] * 3, upper=[np.inf] * 3, upl=level, lpl=level)
    assert discreet.suppress(table, steps=1).secondary.tolist() == [2]


def test_a_cell_at_its_bound_without_a_level_need_not_move_beyond_it() -> None:
    table = line(value=[3.0, 0.0, 3.0])
    assert discreet.suppress(table, steps=1, strict=True).secondary.tolist() == [2]


@pytest.mark.parametrize("range_", [0.0, 2.0])
def test_a_range_may_lie_on_either_side(range_: float) -> None:
    # It cannot go up, since the other cell cannot go down.
    table = line(lower=[0.0, 0.0, 3.0], spl=[0.0, range_, 0.0])
    assert discreet.suppress(table, steps=1).secondary.tolist() == [2]


@pytest.mark.parametrize("method", METHODS)
def test_a_table_of_which_nothing_may_be_suppressed_is_left_as_it_is(method: str) -> None:
    table = line().but(status=np.full(3, FIXED, np.uint8))
    assert not len(discreet.suppress(table, method=method, steps=1, no_rules=True).secondary)
