"""What a solver does not decide is not shown: it is neither called protected nor exposed; and bounds are exact."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from discreet.attack.attacker import Attacker
from discreet.attack.levels import EXPOSED, NARROW, NOT_SHOWN, PROTECTED, levels_of, verdicts
from discreet.attack.program import Program, add_up
from discreet.attack.system import Network, networks
from discreet.solvers.highs import LinearProgram, Status
from discreet.tabular.table import PRIMARY, Table
from discreet.verification.audit import audit
from plain_attacker import case, extremes, lines

BAD = [EXPOSED, NARROW, NOT_SHOWN]


def spread(table: Table, power: int, seed: int) -> Table:
    """The table in which some values and bounds are larger by powers of ten, and none is less exact."""
    rng = np.random.default_rng(seed)
    factor = 10.0 ** int(rng.integers(0, power + 1))
    names = ("value", "lower", "upper", "lpl", "upl", "spl")
    grown = table.but(**{name: getattr(table, name) * factor for name in names})
    # Some levels stay small beside the values, down to a unit.
    small = np.where(rng.random(len(table)) < 0.5, 1.0 / factor, 1.0)
    levels = {name: np.ceil(getattr(grown, name) * small) for name in ("lpl", "upl", "spl")}
    levels["lpl"] = np.minimum(levels["lpl"], grown.value - grown.lower)
    levels["upl"] = np.minimum(levels["upl"], grown.upper - grown.value)
    return grown.but(**levels)


@pytest.mark.parametrize("seed", range(60))
def test_an_audit_with_intervals_and_one_without_agree_at_every_scale(seed: int) -> None:
    table = spread(case(seed).table, 9, seed)
    quick, slow = audit(table), audit(table, intervals=True)
    assert quick.verdict.tolist() == slow.verdict.tolist()
    assert NOT_SHOWN not in quick.verdict
    # An interval does not contradict its verdict.
    good = slow.verdict == PROTECTED
    slack = 1e-6 * np.maximum(1.0, np.abs(table.value[slow.cells]))[good]
    assert (slow.lower[good] <= slow.required_lower[good] + slack).all()
    assert (slow.upper[good] >= slow.required_upper[good] - slack).all()


@pytest.mark.parametrize("seed", range(40))
def test_prices_prove_how_far_a_cell_goes_at_most_whatever_they_are(seed: int) -> None:
    one = case(seed)
    attacker = Attacker(one.table, one.table.suppressed, whole=True)
    if not attacker.whole or not attacker.free.any():
        return
    system = attacker.system
    down, up = (far * attacker.scale for far in extremes(one.table, one.table.suppressed, system.cells))
    rng = np.random.default_rng(seed)
    flat, signs = networks(system)
    program = Program(system, vertices=True)
    for column in range(min(len(system), 6)):
        for side, true in ((1, up[column]), (-1, down[column])):
            slack = 1e-6 * max(attacker.scale, abs(true))
            guessed = rng.integers(-2, 3, len(system.relations)).astype(np.float64)
            assert add_up(system, column, side, guessed, system.lo, system.hi) >= true - slack
            found = program.furthest(column, side, None, interior=False)
            if found is None or not np.isfinite(true) or true >= 1e11:
                continue
            assert program.most(column, side, np.inf, system.lo, system.hi) == pytest.approx(true, abs=slack)
            if flat.all():
                prices = Network(system, signs).cut(column, side, 1e12)
                most = add_up(system, column, side, prices, system.lo, system.hi)
                assert most == pytest.approx(true, abs=slack)


def test_a_bound_is_added_up_in_exact_arithmetic() -> None:
    every = (Attacker(one.table, one.table.suppressed, whole=True) for one in map(case, range(100)))
    system = next(one.system for one in every if one.free.sum() > 8)
    lo, hi = np.full(len(system), -(10.0**15)), np.full(len(system), 10.0**15) - 1
    prices = np.full(len(system.relations), 1 / 3)
    gain = [Fraction(0)] * len(system)
    gain[0] = Fraction(1)
    rows = np.repeat(np.arange(len(prices)), np.diff(system.starts))
    for _, column, part in zip(rows, system.columns.tolist(), system.coefficients.tolist(), strict=True):
        gain[column] -= Fraction(part) / 3
    exact = sum((g * Fraction(hi[at] if g > 0 else lo[at]) for at, g in enumerate(gain)), Fraction(0))
    found = add_up(system, 0, 1, prices, lo, hi)
    assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**51))


@pytest.mark.parametrize("undecided", ["always", "with a limit"])
@pytest.mark.parametrize("seed", range(12))
def test_what_the_solver_leaves_undecided_is_never_called_known(
    seed: int, undecided: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = case(seed).table
    true = dict(zip(*(lambda told: (told.cells.tolist(), told.verdict.tolist()))(audit(table)), strict=True))
    solve: Callable[..., Status] = LinearProgram.solve

    def fail(program: LinearProgram, *how: object) -> Status:
        status = solve(program, *how)
        has_limit = np.isfinite(program._highs.getLp().col_upper_).all() and undecided == "with a limit"
        return Status.UNDECIDED if undecided == "always" or has_limit else status

    monkeypatch.setattr(LinearProgram, "solve", fail)
    told = audit(table)
    for cell, verdict in zip(told.cells.tolist(), told.verdict.tolist(), strict=True):
        assert verdict in (true[cell], NOT_SHOWN)
    if NOT_SHOWN in told.verdict:
        assert not told
        assert told.as_dict()["not_shown"] == (told.verdict == NOT_SHOWN).sum()
        assert set(told.cells[told.verdict == NOT_SHOWN]) <= set(told.failed)
        assert "not shown" in " ".join(told.summary().split())


def test_a_verdict_without_a_proof_either_way_is_not_shown() -> None:
    table = case(3).table
    cells = np.flatnonzero(table.status == PRIMARY)[:1]
    levels = levels_of(table, secondaries=False, strict=False)
    nothing, level = np.zeros(1), np.maximum(levels.down[cells], levels.width[cells]) + 1
    far = np.maximum(levels.up[cells], levels.width[cells]) + 1
    assert verdicts(table, levels, cells, nothing, nothing).tolist() == [EXPOSED]
    assert verdicts(table, levels, cells, nothing, nothing, (nothing, nothing)).tolist() == [EXPOSED]
    assert verdicts(table, levels, cells, nothing, nothing, (level, far)).tolist() == [NOT_SHOWN]
    assert verdicts(table, levels, cells, level, far, (level, far)).tolist() == [PROTECTED]
    assert len(lines(table)) > 0
