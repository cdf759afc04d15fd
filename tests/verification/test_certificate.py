"""A certificate is a proof: exact, checked by additions alone, and refused as soon as anything in it is wrong."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import discreet
from discreet.attack.attacker import Attacker
from discreet.attack.levels import levels_of
from discreet.errors import InputError, PromiseNotKept
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import build_relations
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.certificate import Certificate, Certifier, Move, find_flaws, read_certificate, recheck
from discreet.verification.exact_moves import common_denominator, make_exact
from plain_attacker import Case, case, fraction, lines, protected

SEEDS = range(160)


def proof_of(one: Case, *, strict: bool = False) -> Certificate:
    """The certificate of what is protected in a table."""
    said = audit(one.table, certificate=True, strict=strict)
    assert said.certificate is not None
    shown = one.cells[(said.verdict == "protected") & (one.table.status[one.cells] == PRIMARY)]
    assert said.certificate.cells.tolist() == shown.tolist()
    return said.certificate


def check(table: Table, proof: Certificate, *, strict: bool) -> None:
    """What the certificate says, in fractions and without the project's own check."""
    matrix = lines(table)
    hidden = table.suppressed
    moves = []
    for move in proof.moves:
        assert move.unit is not None
        moved = dict.fromkeys(range(len(table)), Fraction(0))
        for cell, whole in zip(move.cells.tolist(), move.amounts, strict=True):
            assert isinstance(whole, int)
            assert moved[cell] == 0
            moved[cell] = Fraction(whole, move.unit)
        for row in matrix:
            assert sum(Fraction(row[cell]) * moved[cell] for cell in np.flatnonzero(row).tolist()) == 0
        for cell, amount in moved.items():
            if not hidden[cell]:
                assert amount == 0
                continue
            slack = abs(amount) / 10**9
            now = fraction(table.value[cell]) + amount
            assert np.isinf(table.lower[cell]) or amount == 0 or now >= fraction(table.lower[cell]) - slack
            assert np.isinf(table.upper[cell]) or amount == 0 or now <= fraction(table.upper[cell]) + slack
        moves.append(moved)
    moves.append(dict.fromkeys(range(len(table)), Fraction(0)))
    for cell, down, up in zip(proof.cells.tolist(), proof.down.tolist(), proof.up.tolist(), strict=True):
        low, high = -moves[down][cell], moves[up][cell]
        slack = max(Fraction(1), abs(fraction(table.value[cell]))) / 10**9
        lpl, upl, spl = (fraction(level[cell]) for level in (table.lpl, table.upl, table.spl))
        assert low >= lpl - slack
        assert high >= upl - slack
        assert low + high >= spl - slack
        if lpl + upl + spl == 0:
            unit = Fraction(1, 10 ** (table.decimals or 0))
            known = float(table.upper[cell] - table.lower[cell])
            assert low + high >= (unit if known >= unit else fraction(known)) - slack
        elif strict and lpl + upl > 0:
            assert low > lpl
            assert high > upl


@pytest.mark.parametrize("strict", [False, True])
def test_certificates_stand_an_independent_check(strict: bool) -> None:
    moves = inexact = 0
    for seed in SEEDS:
        one = case(seed)
        proof = proof_of(one, strict=strict)
        exact = [at for at, move in enumerate(proof.moves) if move.unit is not None]
        moves, inexact = moves + len(proof.moves), inexact + len(proof.moves) - len(exact)
        if proof.exact:
            check(one.table, proof, strict=strict)
        assert find_flaws(one.table, one.table.suppressed, proof, cells=proof.cells, strict=strict) == []
        assert read_certificate(json.loads(proof.text())).text() == proof.text()
    # Bounds of any decimals at all leave a few that add up but for rounding.
    assert inexact <= moves / 50


def held() -> tuple[Table, Certificate]:
    """A protected table with decimals and its certificate."""
    for seed in SEEDS:
        table = case(seed).table
        if table.decimals != 2 or len(table.primary) < 1:
            continue
        status = np.where(table.status == PRIMARY, SECONDARY, table.status)
        one = case(seed)
        far = (one.down > 0.05) & (one.up > 0.05) & np.isfinite(one.down + one.up) & (one.down + one.up < 1e4)
        if far.sum() < 2:
            continue
        status[one.cells[far]] = PRIMARY
        levels = np.zeros((2, len(table)))
        levels[:, one.cells[far]] = np.floor(np.stack([one.down, one.up])[:, far] * 100) / 100
        table = table.but(status=status, lpl=levels[0], upl=levels[1], spl=np.zeros(len(table)))
        said = audit(table, certificate=True)
        if said and said.certificate is not None and said.certificate.exact:
            return table, said.certificate
    raise AssertionError("no table will do")


def wrong(table: Table, content: dict[str, Any]) -> str:
    """What is said against a certificate."""
    return "; ".join(find_flaws(table, table.suppressed, read_certificate(content)))


def test_what_is_tampered_with_is_refuted() -> None:
    table, proof = held()
    sound = json.loads(proof.text())
    assert wrong(table, sound) == ""

    def tampered(change: Any) -> str:
        content = json.loads(proof.text())
        change(content)
        return wrong(table, content)

    shown = proof.cells.tolist()
    first = sound["proofs"][0]
    at = first["down"]
    where = sound["moves"][at]["cells"].index(shown[0])

    def broken(content: Any) -> None:
        content["moves"][at]["amounts"][where] -= 1

    assert "does not add up" in tampered(broken)

    published = int(np.flatnonzero(~table.suppressed)[0])

    def moved(content: Any) -> None:
        content["moves"][at]["cells"].append(published)
        content["moves"][at]["amounts"].append(1)

    assert "is published, and cannot move" in tampered(moved)

    def left(content: Any) -> None:
        content["moves"][at]["amounts"] = [1000 * amount for amount in content["moves"][at]["amounts"]]

    assert "leaves its bounds" in tampered(left)

    def twice(content: Any) -> None:
        content["moves"][at]["cells"].append(shown[0])
        content["moves"][at]["amounts"].append(0)

    assert "names a cell twice" in tampered(twice)

    def absent(content: Any) -> None:
        content["moves"][at]["cells"][where] = len(table)

    assert "not there" in tampered(absent)

    def missing(content: Any) -> None:
        del content["proofs"][0]

    assert f"{table.name(shown[0])}: nothing is shown" in tampered(missing)

    def idle(content: Any) -> None:
        content["proofs"][0]["up"] = -1

    assert "does not come far enough up" in tampered(idle)

    def swapped(content: Any) -> None:
        content["proofs"][0]["up"], content["proofs"][0]["down"] = first["down"], first["up"]

    assert "does not come far enough" in tampered(swapped)

    def beyond(content: Any) -> None:
        content["proofs"][0]["up"] = len(content["moves"])

    with pytest.raises(InputError, match="this is no certificate"):
        tampered(beyond)


def test_a_level_missed_by_one_unit_is_seen() -> None:
    table, proof = held()
    cell = int(proof.cells[0])
    for name in ("lpl", "upl"):
        levels = getattr(table, name).copy()
        reached = abs(float(proof.moves[int((proof.down if name == "lpl" else proof.up)[0])].by(cell)))
        levels[cell] = round(reached + 0.01, 2)
        assert "does not come far enough" in "; ".join(
            find_flaws(table.but(**{name: levels}), table.suppressed, proof, cells=proof.cells)
        )
        levels[cell] = reached
        kept = find_flaws(table.but(**{name: levels}), table.suppressed, proof)
        assert kept == []
        assert "far enough" in "; ".join(find_flaws(table.but(**{name: levels}), table.suppressed, proof, strict=True))


def test_a_cell_that_has_been_published_since_is_seen() -> None:
    table, proof = held()
    moved = {int(cell) for move in proof.moves for cell in move.cells}
    for cell in moved:
        hidden = table.suppressed
        hidden[cell] = False
        assert find_flaws(table, hidden, proof, cells=proof.cells)


def test_a_primary_cell_without_levels_must_be_shown_to_move() -> None:
    table, proof = held()
    cell = int(proof.cells[0])
    bare = table.but(
        **{name: np.where(np.arange(len(table)) == cell, 0.0, getattr(table, name)) for name in ("lpl", "upl")}
    )
    idle = Certificate(proof.moves, proof.cells, proof.down.copy(), proof.up.copy())
    idle.down[0] = idle.up[0] = -1
    assert find_flaws(bare, bare.suppressed, proof) == []
    assert "does not come far enough in all" in "; ".join(find_flaws(bare, bare.suppressed, idle))


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"schema": "discreet/certificate/1"},
        {"schema": "discreet/certificate/0", "moves": [], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [{"unit": 1, "cells": [0]}], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [], "proofs": [{"cell": 0}]},
        {"schema": "discreet/certificate/1", "moves": [], "proofs": [{"cell": "x", "down": 0, "up": 0}]},
        {"schema": "discreet/certificate/1", "moves": [{"unit": 1, "cells": [0, 1], "amounts": [1]}], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [{"unit": 0, "cells": [0], "amounts": [1]}], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [{"unit": "1", "cells": [0], "amounts": [1]}], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [{"unit": 1, "cells": [0], "amounts": ["1"]}], "proofs": []},
        {"schema": "discreet/certificate/1", "moves": [{"unit": 1, "cells": [0], "amounts": [0.5]}], "proofs": []},
        {
            "schema": "discreet/certificate/1",
            "moves": [{"unit": None, "cells": [0], "amounts": [float("nan")]}],
            "proofs": [],
        },
        [],
    ],
)
def test_what_is_no_certificate_is_refused(content: Any) -> None:
    with pytest.raises(InputError, match="this is no certificate"):
        read_certificate(content)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"{", b"\xed\xa0\x80"], ids=["deep", "short", "bytes"])
def test_a_file_that_is_no_json_is_refused_however_deep_it_goes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "proof.json"
    path.write_bytes(content)
    values = pl.DataFrame({"a": ["x", "y"], "v": [3.0, 4.0]})
    with pytest.raises(InputError, match=r"proof\.json is no JSON file"):
        recheck(discreet.tabulate(values, by="a", value="v"), path)


def loosened(proof: Certificate) -> Certificate:
    """The same moves in units of the table."""
    moves = [Move(move.cells, [amount / (move.unit or 1) for amount in move.amounts], None) for move in proof.moves]
    return Certificate(moves, proof.cells, proof.down, proof.up)


def test_approximate_moves_are_checked_too() -> None:
    table, proof = held()
    loose = loosened(proof)
    assert not loose.exact
    # In a table of decimals there is no need for them.
    assert "not in whole parts" in "; ".join(find_flaws(table, table.suppressed, loose))
    table = table.but(decimals=None)
    assert find_flaws(table, table.suppressed, loose) == []
    loose.moves[0].amounts[0] = float(loose.moves[0].amounts[0]) + 0.01  # type: ignore[call-overload]
    assert "does not add up" in "; ".join(find_flaws(table, table.suppressed, loose))


def scaled(table: Table, by: float) -> Table:
    """The table with all values larger, levels as they are."""
    return table.but(value=table.value * by, lower=table.lower * by, upper=table.upper * by)


def forge(rng: np.random.Generator, table: Table, content: Any, wanted: int) -> None:
    """Change a certificate as somebody would who wants a cell to pass as protected, or by chance."""
    moves, proofs = content["moves"], content["proofs"]
    hidden = np.flatnonzero(table.suppressed)
    move: Any = moves[int(rng.integers(len(moves)))] if moves else {"unit": 1, "cells": [], "amounts": []}
    at = int(rng.integers(len(move["cells"]))) if move["cells"] else -1
    kind = int(rng.integers(10))
    if kind == 0:
        move["amounts"] = [amount / (move["unit"] or 1) for amount in move["amounts"]]
        move["unit"] = None
    elif kind == 1:
        move["unit"] = int(rng.choice([1, 7, 10, 1000]))
    elif kind == 2 and at >= 0:
        move["amounts"][at] += int(rng.choice([-1, 1]))
    elif kind == 3:
        move["amounts"] = [amount * int(rng.integers(-3, 4)) for amount in move["amounts"]]
    elif kind == 4 and at >= 0:
        move["cells"][at] = int(rng.integers(len(table)))
    elif kind == 5 and at >= 0:
        del move["cells"][at], move["amounts"][at]
    elif kind == 6 and proofs:
        proofs[int(rng.integers(len(proofs)))]["up"] = int(rng.integers(-1, len(moves)))
    elif kind == 7 and len(proofs) > 1:
        del proofs[int(rng.integers(len(proofs)))]
    else:
        # The cell alone, as far as its levels, beside large moves that make a sum look small.
        others = [int(cell) for cell in rng.permutation(hidden) if cell != wanted][: int(rng.integers(0, 3))]
        size = float(rng.choice([0.0, 1.0, 1e6, 1e12]))
        far = float(rng.choice([1e-9, 1.0, 1.0, 2.0]))
        levels = {"down": -max(table.lpl[wanted], table.spl[wanted]), "up": max(table.upl[wanted], table.spl[wanted])}
        proof = {"cell": wanted}
        for side, level in levels.items():
            proof[side] = len(moves)
            amounts = [far * float(level), *(size * (-1) ** place for place in range(len(others)))]
            unit = None if rng.random() < 0.8 else 1
            whole = amounts if unit is None else [round(amount) for amount in amounts]
            moves.append({"unit": unit, "cells": [wanted, *others], "amounts": whole})
        content["proofs"] = [one for one in proofs if one["cell"] != wanted] + [proof]


@pytest.mark.parametrize("decimal", [True, False])
@pytest.mark.parametrize("by", [1.0, 1e9])
def test_a_forged_certificate_proves_what_is_true_or_nothing(by: float, decimal: bool) -> None:
    accepted = refused = 0
    for seed in range(0, 160, 4):
        rng = np.random.default_rng([seed, 17])
        one = case(seed)
        table = scaled(one.table, by)
        table = table.but(decimals=table.decimals if decimal else None)
        # Of lower levels an honest certificate, so that all that can be shown is shown.
        lower = {name: getattr(table, name) / 2 for name in ("lpl", "upl", "spl")}
        proof = audit(table.but(**lower), certificate=True).certificate
        assert proof is not None
        down, up = by * one.down, by * one.up
        more = 1e-7 * np.maximum(1.0, np.abs(table.value[one.cells]))
        more = np.minimum(more, 0.1 * np.maximum(table.lpl + table.upl, table.spl)[one.cells])
        primary = table.status[one.cells] == PRIMARY
        truly = protected(table, one.cells, down + more, up + more)
        exposed = one.cells[primary & ~truly]
        for _ in range(12):
            content = json.loads(proof.text())
            wanted = int(rng.choice(exposed if len(exposed) else one.cells))
            for _ in range(int(rng.integers(1, 4))):
                forge(rng, table, content, wanted)
            shown = np.array([cell for cell in table.primary if any(p["cell"] == cell for p in content["proofs"])], int)
            try:
                flaws = "; ".join(find_flaws(table, table.suppressed, read_certificate(content), cells=shown))
            except InputError as error:
                flaws = str(error)
            false = [cell for cell in shown.tolist() if cell in exposed]
            if false:
                assert flaws
                refused += 1
            accepted += not flaws
    assert refused > 60
    assert accepted > 20


def test_a_cell_that_follows_by_subtraction_passes_by_no_certificate() -> None:
    # The sum of the two others is off by as much as the cell must move, and far below what they themselves move by.
    relations = build_relations(
        np.zeros(4, np.int32), np.arange(4, dtype=np.int32), np.array([1.0, 1.0, 1.0, -1.0]), np.zeros(1), 4
    )
    table = Table.of([5.0, 1e9, 1e9, 2e9 + 5], relations=relations, status=np.array([1, 2, 2, 0], np.uint8))
    table = table.but(lower=np.array([5.0, 0, 0, 0]), upper=np.array([5.0 + 1e-3, 1e10, 1e10, 1e10]))
    table = table.but(lpl=np.zeros(4), upl=np.array([1e-3, 0, 0, 0]))
    tight = table.but(upper=np.array([5.0 + 1e-3, 1e9, 1e9, 1e10]), lower=np.array([5.0, 1e9, 1e9, 0]))
    for unit, decimals in ((None, 0), (None, None), (1000, 0), (1000, None)):
        amounts: list[Any] = [1e-3, 1e9, -1e9] if unit is None else [1, 10**12, -(10**12)]
        move = {"unit": unit, "cells": [0, 1, 2], "amounts": amounts}
        content = {
            "schema": "discreet/certificate/1",
            "moves": [move],
            "proofs": [{"cell": 0, "down": -1, "up": 0}],
        }
        for held_to in (table, tight):
            assert wrong(held_to.but(decimals=decimals), content)


def large(rows: int = 120, columns: int = 100) -> Table:
    """A table of more suppressed cells than anybody would keep a certificate of: two in every line at least."""
    rng = np.random.default_rng(1)
    inner = rng.integers(10, 1000, (rows, columns)).astype(np.float64)
    value = np.zeros((rows + 1, columns + 1))
    value[1:, 1:] = inner
    value[0, 1:], value[1:, 0], value[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    sides = [
        Dimension(name, Hierarchy.flat([f"{code:03}" for code in range(size)]))
        for name, size in (("A", rows), ("B", columns))
    ]
    codes = np.stack([axis.ravel() for axis in np.indices(value.shape)], axis=1)
    status = np.where(rng.random(value.shape) < 0.7, SECONDARY, 0)
    status[0], status[:, 0] = 0, 0
    primary = (status == SECONDARY) & (rng.random(value.shape) < 0.3)
    level = np.where(primary, np.round(0.15 * value, 2), 0.0).ravel()
    table = Table.of(
        value.ravel(), dimensions=sides, codes=codes, status=np.where(primary, PRIMARY, status).ravel().astype(np.uint8)
    )
    return table.but(lpl=level, upl=level)


def test_every_cell_of_a_large_table_is_certified_and_nothing_is_kept() -> None:
    table = large()
    assert table.suppressed.sum() > 5_000
    said = audit(table)
    assert said
    counts = said.as_dict()
    assert counts["certified"] == counts["protected"] == (table.status == PRIMARY).sum()
    assert counts["by_solver_only"] == 0
    assert counts["certificate"] == "exact"
    assert said.certificate is None
    assert "by solver only" not in said.summary()


class Forger:
    """Changes what an attacker shows before it is checked."""

    def __init__(self, certifier: Certifier, at: int, by: float) -> None:
        self.certifier, self.at, self.by = certifier, at, by

    def show(self, starts: Any, cells: Any, deviations: NDArray[np.float64], scale: float) -> None:
        if len(deviations) > self.at:
            deviations = deviations.copy()
            deviations[self.at] += self.by
        self.certifier.show(starts, cells, deviations, scale)


@pytest.mark.parametrize("at", [0, 1, 5_001])
def test_a_move_of_a_large_table_that_is_off_by_one_unit_is_refused(at: int) -> None:
    table = large()
    levels = levels_of(table, secondaries=False, strict=False)
    attacker = Attacker(table, table.suppressed, whole=True)
    cells = attacker.cells
    certifier = Certifier(table, table.suppressed, levels)
    attacker.reach(levels.seek_down[cells], levels.seek_up[cells], witness=certifier)
    assert np.array_equal(certifier.certified, levels.judged)
    forger = Forger(Certifier(table, table.suppressed, levels), at, 1.0)
    with pytest.raises(PromiseNotKept, match="do not stand their check"):
        attacker.reach(levels.seek_down[cells], levels.seek_up[cells], witness=forger)


def test_moves_that_leave_bounds_name_a_published_cell_or_fall_short_certify_nothing() -> None:
    table, proof = held()
    levels = levels_of(table, secondaries=False, strict=False)
    at = int(proof.up[0])
    move, cell = proof.moves[at], int(proof.cells[0])
    unit = float(move.unit or 1)
    starts = np.array([0, len(move.cells)])
    amounts = np.array(move.amounts, dtype=np.float64)

    def certified(cells: NDArray[np.int64], deviations: NDArray[np.float64], hidden: NDArray[np.bool_]) -> bool:
        certifier = Certifier(table, hidden, levels)
        certifier.show(starts, cells, deviations, unit)
        certifier.show(starts, cells, -deviations, unit)
        return bool(certifier.certified[cell])

    wide = np.abs(table.value) * 10 + 1e6
    loose = table.but(lower=table.value - wide, upper=table.value + wide)
    free = Certifier(loose, table.suppressed, levels)
    for way in (1e3, -1e3):
        free.show(starts, move.cells, way * amounts, unit)
    assert free.certified[cell]
    assert not certified(move.cells, 1e3 * amounts, table.suppressed)
    assert not certified(move.cells, 0 * amounts, table.suppressed)
    hidden = table.suppressed
    hidden[move.cells[-1]] = False
    assert not certified(move.cells, amounts, hidden)


@pytest.mark.parametrize("certificate", [False, True])
def test_what_whole_numbers_do_not_show_is_certified_in_fractions_where_it_is_little(certificate: bool) -> None:
    table = large(12, 10)
    odd = table.but(value=table.value / 7, lower=table.lower / 7, upper=table.upper / 7, decimals=None)
    for held in (table.but(decimals=None), odd.but(lpl=table.lpl / 7, upl=table.upl / 7)):
        told = audit(held, certificate=certificate)
        assert told.as_dict()["certified"] == told.as_dict()["protected"] == len(table.primary)
        if told.certificate is not None:
            assert told.certificate.exact
            check(held, told.certificate, strict=False)
            assert find_flaws(held, held.suppressed, told.certificate) == []


@given(st.integers(0, 10**6))
def test_moves_near_a_solution_obey_every_relation_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = large(5, 4)
    hidden = np.flatnonzero(table.suppressed)
    matrix = lines(table)[:, hidden]
    kernel = np.linalg.svd(matrix)[2][np.linalg.matrix_rank(matrix) :]
    if not len(kernel):
        return
    deviations = rng.normal(size=len(kernel)) @ kernel * rng.choice([1.0, 100.0])
    found = make_exact(table, hidden, deviations + rng.normal(size=len(hidden)) * 1e-10, 1.0)
    assert found is not None
    assert np.abs(np.array([float(move) for move in found]) - deviations).max() < 1e-5
    for row in matrix:
        assert sum((Fraction(part) * move for part, move in zip(row.tolist(), found, strict=True)), Fraction(0)) == 0


def test_what_no_whole_numbers_show_is_protected_by_solver_only() -> None:
    table = large(40, 30)
    assert audit(table).as_dict()["by_solver_only"] == 0
    # Values that are no whole numbers of a decimal, of more cells than are worked out in fractions.
    told = audit(table.but(decimals=None))
    assert told
    assert told.as_dict()["by_solver_only"] == told.as_dict()["protected"] > 0
    assert f"{told.as_dict()['protected']} by solver only" in " ".join(told.summary().split())
    assert told.as_dict()["certificate"] == "approximate"


def test_numbers_that_are_nearly_whole_have_no_denominator_in_common() -> None:
    assert common_denominator(np.array([5.0001, 1.0])) == 1
    assert common_denominator(np.array([0.5, 1 / 3])) == 6
    assert common_denominator(np.array([2.0, 1.0 + 1e-12])) == 1
