"""Sums of suppressed parts that a line gives away are judged like cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from discreet.errors import InputError
from discreet.tables.primary import primary
from discreet.tabular.table import PRIMARY, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.sums import unsafe_sums
from plain_attacker import lines
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
