"""All insiders attacked together learn what each of them learns alone, by linear programs of his own."""

from typing import Any

import numpy as np
import pytest

import discreet
from discreet.attack import insiders as attacking
from discreet.attack.insiders import find_exposed, find_short, insiders_of
from discreet.tabular.table import PRIMARY, Table
from plain_insiders import RULES, records, tabulated


def drawn(seed: int, shape: tuple[int, ...] = (5, 4, 3)) -> tuple[Table, Any]:
    """A table and a pattern that protects it from outsiders alone."""
    rng = np.random.default_rng(seed)
    holdings = bool(seed % 2)
    frame = records(rng, shape, mean=1.3, holdings=holdings)
    table = tabulated(frame, RULES[seed % len(RULES)], holdings=holdings)
    found = discreet.suppress(table, steps=2, singletons=False, partial=True)
    return found.table, found.table.suppressed


def counts(seed: int) -> tuple[Table, Any]:
    """A table of counts with many ones, and such a pattern."""
    rng = np.random.default_rng(seed)
    frame = records(rng, (8, 6), mean=2.0, holdings=False).drop("who", "sales")
    table = discreet.primary(discreet.tabulate(frame, by=frame.columns, complete=True), threshold=4)
    found = discreet.suppress(table, steps=2, singletons=False, partial=True)
    return found.table, found.table.suppressed


def one_by_one(table: Table, hidden: Any, safe: Any) -> dict[int, list[int]]:
    """What each insider learns, by the exact attack of each."""
    insiders = insiders_of(table)
    assert insiders is not None
    found = {}
    for one in range(len(insiders)):
        cells = np.union1d(safe, insiders.taking_part(one)).astype(np.int64)
        asked = insiders.asked(one, cells[hidden[cells]])
        if len(asked.cells):
            asked = asked.only(find_short(insiders, one, asked, hidden, strict=False)[0])
        if len(asked.cells):
            found[one] = asked.cells.tolist()
    return found


@pytest.mark.parametrize("make", [drawn, counts])
@pytest.mark.parametrize("seed", range(5))
def test_all_insiders_together_learn_what_each_learns_alone(
    make: Any, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing is left to linear programs of single insiders but what no solution has shown.
    monkeypatch.setattr(attacking, "FEW_DOUBTS", 0)
    table, hidden = make(seed)
    safe = np.flatnonzero((table.status == PRIMARY) & ~np.isnan(table.value))
    insiders = insiders_of(table)
    assert insiders is not None
    together = {
        one[0]: one[1].cells.tolist() for one in find_exposed(insiders, hidden, safe, strict=False) if one is not None
    }
    assert together == one_by_one(table, hidden, safe)
    # What single relations tell is part of it.
    brief = [one for one in find_exposed(insiders, hidden, safe, strict=False, is_brief=True) if one is not None]
    for who, asked in brief:
        assert set(asked.cells.tolist()) <= set(together[who])


def test_blocks_of_insiders_learn_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table, hidden = counts(7)
    safe = np.flatnonzero(table.status == PRIMARY)
    insiders = insiders_of(table)
    assert insiders is not None
    assert len(insiders) > 4
    ends = []
    for most in (20_000_000, 2 * len(safe)):
        monkeypatch.setattr(attacking, "MOST_PAIRS", most)
        found = [one for one in find_exposed(insiders, hidden, safe, strict=False) if one is not None]
        ends.append({one: asked.cells.tolist() for one, asked in found})
    assert ends[0] == ends[1]


def test_what_is_in_doubt_counts_as_exposed_where_no_more_may_be_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MOST_SPREADS", "MOST_WHOLE"):
        monkeypatch.setattr(attacking, name, 0)
    table, hidden = counts(3)
    safe = np.flatnonzero(table.status == PRIMARY)
    insiders = insiders_of(table)
    assert insiders is not None
    exact = {one[0]: set(one[1].cells) for one in find_exposed(insiders, hidden, safe, strict=False) if one is not None}
    bounded = [one for one in find_exposed(insiders, hidden, safe, strict=False, most=0) if one is not None]
    assert sum(len(asked.cells) for _, asked in bounded) > sum(map(len, exact.values()))
    assert all(exact.get(one, set()) <= set(asked.cells) for one, asked in bounded)
