"""The attacker finds what plain linear programs find, by whatever way it goes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.attack import attacker as attacking
from discreet.attack import program as programming
from discreet.attack.attacker import Attacker, Reach
from discreet.attack.proofs import Proofs
from discreet.attack.system import System, networks
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import jj
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import build_relations
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from plain_attacker import Case, Floats, Ints, case, close, extremes, protected
from random_tables import random_table

WAYS: tuple[dict[str, Any], ...] = ({}, {"certificate": True}, {"strict": True}, {"intervals": True})
BLOCKS = [range(start, start + 40) for start in range(0, 120, 40)]


def agree(one: Case, down: Floats, up: Floats) -> bool:
    """Whether intervals are those of the plain programs."""
    scale = 1e-6 * np.maximum(1.0, np.abs(one.table.value[one.cells]))

    def same(found: Floats, true: Floats) -> NDArray[np.bool_]:
        finite = np.isfinite(found) & np.isfinite(true)
        off = np.abs(np.where(finite, found, 0.0) - np.where(finite, true, 0.0))
        near: NDArray[np.bool_] = (found == true) | (
            finite & (off <= np.maximum(scale, 1e-6 * np.where(finite, np.abs(true), 0.0)))
        )
        return near

    return bool((same(down, one.down) & same(up, one.up)).all())


def exact(table: Table) -> Reach:
    """The true extremes of all suppressed cells."""
    attacker = Attacker(table, table.suppressed)
    nothing = np.zeros(len(attacker.cells))
    return attacker.reach(nothing, nothing, exact=True)


def judged_alike(one: Case, table: Table, **how: Any) -> bool:
    """Whether the verdict is that of the plain intervals, cell by cell."""
    said = audit(table, **how)
    strict = how.get("strict", False)
    expected = protected(one.table, one.cells, one.down, one.up, strict=strict)
    judged = (one.table.status[one.cells] == PRIMARY) | how.get("secondaries", False)
    told = judged & ~close(one.table, one.cells, one.down, one.up)
    assert (said.verdict[~judged] == "").all()
    return bool(((said.verdict == "protected")[told] == expected[told]).all())


def without_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no component count as a network: everything goes to linear programs."""
    found = networks

    def none(system: System) -> tuple[NDArray[np.bool_], Ints]:
        flat, signs = found(system)
        return np.zeros_like(flat), signs

    monkeypatch.setattr(attacking, "networks", none)


@pytest.mark.parametrize("seeds", BLOCKS, ids=str)
def test_exact_intervals_are_those_of_plain_linear_programs(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        one.table.check()
        found = exact(one.table)
        assert (found.cells == one.cells).all()
        assert found.exact.all()
        assert agree(one, found.down, found.up), seed


@pytest.mark.parametrize("seeds", BLOCKS, ids=str)
def test_what_is_said_to_be_out_of_reach_is(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    without_networks(monkeypatch)
    told = 0
    for seed in seeds:
        one = case(seed)
        attacker = Attacker(one.table, one.table.suppressed, whole=True)
        wanted_down, wanted_up = (np.minimum(1.3 * reached + 1.0, 1e9) for reached in (one.down, one.up))
        found = attacker.reach(wanted_down, wanted_up)
        for limit, reached in zip(attacker.limit(found), (one.down, one.up), strict=True):
            slack = 1e-6 * np.maximum(1.0, np.minimum(reached, 1e9))
            assert (limit >= np.minimum(reached, 1e9) - slack).all(), seed
            told += int((limit <= 1.01 * reached + slack).sum())
        # The least moves go as far as is wanted of what can be had, and prove it.
        simple = attacker.reach_simply(0.7 * found.down, 0.7 * found.up, found)
        for far, reached in ((simple.down, found.down), (simple.up, found.up)):
            assert (far >= 0.7 * np.minimum(reached, 1e9) * (1 - 1e-6) - 1e-9).all(), seed
    assert told > 100


@pytest.mark.parametrize("seeds", BLOCKS, ids=str)
def test_every_kind_of_audit_says_what_the_plain_intervals_say(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        how = {
            "strict": bool(seed & 1),
            "secondaries": bool(seed & 2),
            "certificate": bool(seed & 4),
            "intervals": bool(seed & 8),
        }
        assert judged_alike(one, one.table, **how), (seed, how)
        assert judged_alike(one, one.table, strict=not how["strict"], certificate=not how["certificate"]), seed


@pytest.mark.parametrize("seeds", BLOCKS[:2], ids=str)
def test_flows_and_linear_programs_say_the_same(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    without_networks(monkeypatch)
    for seed in seeds:
        one = case(seed)
        found = exact(one.table)
        assert agree(one, found.down, found.up), seed
        assert judged_alike(one, one.table, certificate=bool(seed & 1)), seed


@pytest.mark.parametrize("seeds", BLOCKS[2:], ids=str)
def test_relations_alone_say_what_dimensions_say(seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        one = case(seed)
        path = tmp_path / "table.jj"
        path.write_text(jj.text(one.table), encoding="utf-8")
        numbered = jj.read(path)
        assert not numbered.dimensions
        found = exact(numbered)
        assert agree(one, found.down, found.up), seed
        assert judged_alike(one, numbered, certificate=bool(seed & 1)), seed


@pytest.mark.parametrize("seeds", BLOCKS[:2], ids=str)
def test_relations_may_weigh_cells(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        held = one.table.relations
        rng = np.random.default_rng(seed)
        factors = rng.choice([-3.0, -1.0, 0.5, 2.0], len(held))[held.rows]
        order = rng.permutation(len(held.cells))
        shuffled = build_relations(
            held.rows[order], held.cells[order], (held.coefficients * factors)[order], held.rhs, len(one.table)
        )
        plain = Table.of(
            one.table.value, relations=shuffled, status=one.table.status, lower=one.table.lower, upper=one.table.upper
        )
        found = exact(plain)
        assert agree(one, found.down, found.up), seed


@pytest.mark.parametrize("seeds", BLOCKS[1:], ids=str)
def test_solutions_obey_relations_and_bounds_and_prove_what_is_claimed(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        table = one.table
        attacker = Attacker(table, table.suppressed, whole=bool(seed & 1))
        wanted = [np.minimum(level[attacker.cells], 1e6) for level in (table.lpl, table.upl)]
        found = attacker.reach(*wanted, keep=True)
        proofs = found.proofs
        assert proofs.solutions is not None
        for by, reached, side in ((proofs.down_by, proofs.down, -1.0), (proofs.up_by, proofs.up, 1.0)):
            for column in np.flatnonzero(by >= 0).tolist():
                solution = proofs.solutions[int(by[column])]
                moved = np.zeros(len(table))
                moved[attacker.cells[solution.columns]] = solution.deviations / found.scale
                size = max(1.0, np.abs(moved).max())
                assert np.abs(table.relations.matrix @ moved).max(initial=0.0) <= 1e-7 * size, seed
                room = 1e-7 * np.maximum(size, np.abs(table.value))
                assert (table.value + moved >= table.lower - room).all(), seed
                assert (table.value + moved <= table.upper + room).all(), seed
                assert side * moved[attacker.cells[column]] * found.scale == pytest.approx(reached[column]), seed


def square(**changes: NDArray[np.float64]) -> Table:
    """Two rows and two columns of decimals with their totals, all of the inside suppressed."""
    sides = [Dimension(name, Hierarchy.flat(["1", "2"])) for name in "AB"]
    codes = [[a, b] for a in range(3) for b in range(3)]
    inside = np.array([[1.5, 2.5], [3.5, 4.5]])
    whole = np.block([[inside.sum(keepdims=True), inside.sum(axis=0)[None, :]], [inside.sum(axis=1)[:, None], inside]])
    status = np.zeros(9, np.uint8)
    status[[4, 5, 7, 8]] = PRIMARY, SECONDARY, SECONDARY, SECONDARY
    return Table.of(whole.ravel(), dimensions=sides, codes=codes, status=status).but(**changes)


def test_cells_without_bounds_go_on_for_ever() -> None:
    table = square(lower=np.full(9, -np.inf), upper=np.full(9, np.inf))
    found = exact(table)
    assert np.isinf(found.down).all()
    assert np.isinf(found.up).all()
    levels = np.zeros(9)
    levels[4] = 1e5
    for how in WAYS:
        assert audit(table.but(lpl=levels, upl=levels, spl=3 * levels), **how)


def test_a_cell_that_counts_nothing_in_a_relation_is_not_bound_by_it() -> None:
    relations = build_relations([0, 0, 0, 0], [0, 1, 2, 3], [-1.0, 1.0, 1.0, 0.0], [0.0], 4)
    table = Table.of([10, 4, 6, 5], relations=relations, status=np.array([0, 0, 0, PRIMARY], np.uint8))
    found = exact(table)
    assert (found.down.tolist(), found.up.tolist()) == ([5.0], [10.0])


def test_totals_without_parts_keep_what_is_said_of_them() -> None:
    for seed in (17, 113, 120):
        rng = np.random.default_rng(seed)
        full = random_table(rng, [[4, 3], [4, 2, 2], [5, 4]][seed % 3], hierarchical=True, zeros=0.6, complete=True)
        base = np.all([one.base[full.codes[:, axis]] for axis, one in enumerate(full.dimensions)], axis=0)
        kept = ~((full.value == 0) & (rng.random(len(full)) < 0.8) & base)
        table = Table.of(full.value[kept], dimensions=full.dimensions, codes=full.codes[kept])
        hidden = rng.random(len(table)) < 0.5
        over = np.flatnonzero(hidden)
        hidden[rng.choice(over, max(0, len(over) - 25), replace=False)] = False
        table = table.but(status=np.where(hidden, SECONDARY, 0).astype(np.uint8))
        down, up = extremes(table, hidden)
        found = exact(table)
        assert agree(Case(table, found.cells, down, up), found.down, found.up), seed


def test_one_side_without_bounds() -> None:
    found = exact(square(upper=np.full(9, np.inf)))
    assert found.up.tolist() == [2.5, 1.5, 1.5, 2.5]
    assert found.down.tolist() == [1.5, 2.5, 2.5, 1.5]


def test_what_is_given_away() -> None:
    table = square(upper=np.where(np.arange(9) == 4, 1.5, 20.0), lower=np.where(np.arange(9) == 5, 2.5, 0.0))
    attacker = Attacker(table, table.suppressed)
    # Cell 4 cannot rise and cell 5 not fall, which is one and the same move; the other way is open.
    assert len(attacker.given_away) == 0
    tight = table.but(lower=np.where(np.arange(9) == 4, 1.5, 0.0))
    assert Attacker(tight, tight.suppressed).given_away.tolist() == [4, 5, 7, 8]
    assert not audit(tight.but(status=np.roll(tight.status, 1)))


def test_whole_stretches_never_leave_the_bounds() -> None:
    ends, far = np.full(2, 137_365_526.0), np.full(2, 1e9)
    proofs = Proofs(-ends, ends, far, far, 1e-9 * far, 1e-9 * far, keep=True, whole=True)
    proofs.learn(np.arange(2), np.array([1.0, -1.0]))
    assert proofs.up.tolist() == [137_365_526.0] * 2


@pytest.mark.parametrize("seeds", BLOCKS[:2], ids=str)
def test_interior_points_say_the_same(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    without_networks(monkeypatch)
    monkeypatch.setattr(programming, "LARGE", 1)
    monkeypatch.setattr(attacking, "FEW_COLUMNS", 2)
    monkeypatch.setattr(programming, "FEW_OPEN", 1)
    for seed in seeds:
        one = case(seed)
        found = exact(one.table)
        assert agree(one, found.down, found.up), seed
        assert judged_alike(one, one.table, strict=bool(seed & 1)), seed


def test_noise_is_no_direction() -> None:
    ends = np.full(3, 100.0)
    proofs = Proofs(-ends, ends, ends, ends, 1e-9 * ends, 1e-9 * ends)
    proofs.learn(np.arange(3), np.array([1e-12, 2e-12, -1e-12]), missed=1e-12)
    assert not proofs.up.any()
    assert not proofs.down.any()
