"""What sole contributors find out is what plain programs find without their cells; sums are judged like cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from discreet.attack.levels import unsafe_sums
from discreet.errors import InputError
from discreet.tables.primary import primary
from discreet.tabular.contributors import others_of
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from plain_attacker import extremes, hidden_at_random, lines, protected
from plain_insiders import RULES as RECORD_RULES
from plain_insiders import PlainInsiders, records, tabulated
from random_tables import generators, random_table

RULES: tuple[dict[str, Any], ...] = (
    {"p": 15},
    {"p": 10, "q": 50},
    {"p": 20, "coalition": 2},
    {"dominance": (1, 75)},
    {"dominance": (2, 80), "p": 5},
)


def plain(table: Table, rule: dict[str, Any]) -> set[frozenset[int]]:
    """Every set of suppressed parts under a published total that is unsafe by a rule."""
    found = set()
    assert table.tops is not None
    for row in lines(table):
        parts = [cell for cell in np.flatnonzero(row > 0).tolist() if table.suppressed[cell]]
        if len(parts) < 2 or table.suppressed[row < 0].any():
            continue
        total = sum(table.value[cell] for cell in parts)
        largest = sorted((float(top) for cell in parts for top in table.tops[cell]), reverse=True)
        bad = False
        if "p" in rule:
            rest = total - sum(largest[: 1 + rule.get("coalition", 1)])
            bad |= rest < rule["p"] / rule.get("q", 100) * largest[0] - 1e-9
        if "dominance" in rule:
            n, k = rule["dominance"]
            bad |= sum(largest[:n]) > k / 100 * total + 1e-9
        if bad:
            found.add(frozenset(parts))
    return found


@given(rng=generators)
def test_unsafe_sums_are_those_of_a_plain_count(rng: np.random.Generator) -> None:
    rule = RULES[int(rng.integers(len(RULES)))]
    table = primary(random_table(rng, int(rng.integers(2, 4)), hierarchical=rng.random() < 0.5, zeros=0.2), **rule)
    extra = (table.status == 0) & (rng.random(len(table)) < 0.4)
    table = table.but(status=np.where(extra, SECONDARY, table.status).astype(np.uint8))
    found = unsafe_sums(table, table.suppressed)
    assert {frozenset(cells.tolist()) for _, cells in found} == plain(table, rule)
    for row, cells in found:
        line = table.relations.of(row)
        assert set(cells.tolist()) == set(line[table.suppressed[line]].tolist())


def test_an_audit_fails_by_its_sums() -> None:
    failed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        table = primary(random_table(rng, [3, 4], complete=True), p=60)
        more = (table.codes.min(axis=1) > 0) & (rng.random(len(table)) < 0.5)
        status = np.where(table.status == PRIMARY, PRIMARY, np.where(more, SECONDARY, 0))
        said = audit(table.but(status=status.astype(np.uint8)), sums=True)
        if said.sums:
            assert not said
            assert "give away an unsafe sum" in " ".join(said.summary().split())
            failed += 1
    assert failed


def test_without_contributions_no_sum_can_be_judged() -> None:
    rng = np.random.default_rng(0)
    table = random_table(rng, [3, 3])
    with pytest.raises(InputError, match="does not hold the largest contributions and a rule"):
        audit(primary(table, threshold=3), sums=True)
    with pytest.raises(InputError, match="does not hold the largest contributions and a rule"):
        audit(primary(table, p=10).but(tops=None), sums=True)


def suppressed(seed: int) -> Table:
    """A table with sole contributors, suppressed at random, with levels that some of its cells reach."""
    rng = np.random.default_rng(seed)
    table = random_table(
        rng,
        [3, 3] if seed % 2 else [2, 2, 2],
        hierarchical=seed % 3 == 0,
        linked=False,
        zeros=0.3,
        holdings=seed % 4 == 0,
        complete=True,
    )
    hidden = hidden_at_random(rng, table, 18) | ((table.sole if table.sole is not None else np.full(1, -1)) >= 0)
    cells = np.flatnonzero(hidden)
    down, up = extremes(table, hidden)
    status = np.where(hidden, SECONDARY, 0).astype(np.uint8)
    status[cells[(down + up > 0) & (rng.random(len(cells)) < 0.6)]] = PRIMARY
    levels = np.zeros((3, len(table)))
    levels[0, cells], levels[1, cells] = (np.floor(far * rng.choice([0.2, 0.7, 1.0], len(cells))) for far in (down, up))
    wide = rng.random(len(cells)) < 0.3
    levels[2, cells[wide]] = np.floor((down + up)[wide] * 0.9)
    levels[:2, cells[wide & (rng.random(len(cells)) < 0.5)]] = 0.0
    return table.but(status=status, lpl=levels[0], upl=levels[1], spl=levels[2])


def parts_of(table: Table) -> set[tuple[int, int]]:
    """Pairs of a sole contributor and a cell that he has a part in."""
    held = others_of(table, np.ones(len(table), dtype=np.bool_))
    return set(zip(held.who.tolist(), held.cell.tolist(), strict=True))


def brute(table: Table, *, strict: bool) -> set[tuple[tuple[int, ...], int]]:
    """Each contributor's own cells with every primary cell that outsiders do not know, but this contributor does.

    Cells that a contributor has a part in are left out.
    """
    hidden = table.suppressed
    down, up = extremes(table, hidden, table.primary)
    outside = table.primary[protected(table, table.primary, down, up, strict=strict)]
    assert table.sole is not None
    found = set()
    parts = parts_of(table)
    for who in set(table.sole.tolist()) - {-1}:
        own = np.flatnonzero(table.sole == who)
        rest = hidden.copy()
        rest[own] = False
        others = np.setdiff1d(outside, [*own.tolist(), *(cell for one, cell in parts if one == who)])
        down, up = extremes(table, rest, others)
        for cell in others[~protected(table, others, down, up, strict=strict)].tolist():
            found.add((tuple(own.tolist()), cell))
    return found


@pytest.mark.parametrize("seed", range(24))
def test_insiders_are_those_of_brute_force(seed: int) -> None:
    table = suppressed(seed)
    strict = seed % 5 == 0
    said = audit(table, singletons=True, strict=strict, certificate=seed % 3 == 1, intervals=seed % 7 == 2)
    assert said.insiders is not None
    failed = set(said.failed.tolist())
    found = {(tuple(own.tolist()), cell) for own, cells in said.insiders for cell in cells.tolist()}
    parts = parts_of(table)
    assert table.sole is not None
    alone = {(own, cell) for own, cell in found if (int(table.sole[own[0]]), cell) not in parts}
    assert {pair for pair in alone if pair[1] not in failed} == brute(table, strict=strict)
    if not failed:
        assert bool(said) == (not found)
    assert ("NOT PROTECTED" in said.summary()) == bool(failed or found)


@pytest.mark.parametrize("seed", range(12))
def test_insiders_learn_of_others_what_those_counted_from_records_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    holdings, rule = bool(seed % 2), RECORD_RULES[seed % len(RECORD_RULES)]
    frame = records(rng, (3, 3) if seed % 3 else (2, 2, 2), mean=1.6, holdings=holdings)
    table = tabulated(frame, rule, holdings=holdings, top=4 if holdings else 5)
    more = (table.status == 0) & (rng.random(len(table)) < 0.7)
    table = table.but(status=np.where(more, SECONDARY, table.status).astype(np.uint8))
    said = audit(table, singletons=True)
    found = {(tuple(own.tolist()), cell) for own, cells in said.insiders or [] for cell in cells.tolist()}
    failed = set(said.failed.tolist())
    plain_ones = PlainInsiders(table, frame, rule).exposed(table.suppressed)
    assert {pair for pair in found if pair[1] not in failed} == {pair for pair in plain_ones if pair[1] not in failed}


def test_some_insiders_are_found() -> None:
    assert sum(bool(brute(suppressed(seed), strict=False)) for seed in range(24)) >= 4


def test_without_counts_nobody_knows_who_is_alone() -> None:
    table = suppressed(1).but(count=None, sole=None)
    with pytest.raises(InputError, match="does not say how many contribute"):
        audit(table, singletons=True)


def test_counts_tell_who_is_alone_where_a_total_and_its_part_are_one_contributors() -> None:
    table = suppressed(2)
    assert table.sole is not None
    counted = table.but(sole=None, others=None, count=np.where(table.sole >= 0, 1.0, 5.0))
    known = {tuple(cells.tolist()) for cells, _ in audit(counted, singletons=True).insiders or []}
    assert known
    relations, alone = table.relations, table.sole >= 0
    pairs = set()
    for row in range(len(relations)):
        inside = slice(relations.starts[row], relations.starts[row + 1])
        cells, signs = relations.cells[inside], relations.coefficients[inside]
        (total,) = cells[signs < 0].tolist()
        pairs |= {(total, part) for part in cells[signs > 0].tolist() if alone[total] and alone[part]}
    for own in known:
        # Every two cells of one contributor are joined by totals and parts that he is alone in, and by nothing else.
        reached = {own[0]}
        for _ in range(len(alone)):
            reached |= {b for a, b in pairs if a in reached} | {a for a, b in pairs if b in reached}
        assert reached == set(own)


def test_unknown_values_leave_nothing_to_judge() -> None:
    table = suppressed(2)
    unknown = np.where(table.suppressed, np.nan, table.value)
    for what in ("singletons", "certificate", "sums"):
        how: dict[str, Any] = {what: True}
        with pytest.raises(InputError, match="does not hold the suppressed values"):
            audit(table.but(value=unknown), **how)
