"""No pattern lets a sole contributor learn too much of the others: against insiders counted from the records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.attack.insiders import insiders_of
from discreet.errors import PromiseNotKept
from discreet.evolution.loop import Interrupt
from discreet.tables.suppression import insiders as guarding
from discreet.tables.suppression import protection
from discreet.tables.suppression.bounds import lower_bound
from discreet.tables.suppression.insiders import GuardedSearch, Watch
from discreet.tables.suppression.problem import problem_of, settle_ranges
from discreet.tables.suppression.search.search import Search
from discreet.tabular.table import FIXED, PRIMARY, Table
from plain_insiders import RULES, PlainInsiders, records, tabulated

METHODS = ("search", "exact", "hypercube", "marginal", "ga-one-k", "ga-group-k", "ls-swap")
SHAPES = ((4, 3), (3, 4), (2, 2, 3), (3, 2, 2))


def drawn(seed: int, shape: tuple[int, ...], mean: float = 1.6) -> tuple[Table, PlainInsiders]:
    """A table of records and its insiders."""
    rng = np.random.default_rng(seed)
    holdings, rule = bool(seed % 2), RULES[seed % len(RULES)]
    frame = records(rng, shape, mean=mean, holdings=holdings)
    table = tabulated(frame, rule, holdings=holdings)
    return table, PlainInsiders(table, frame, rule)


def most(table: Table) -> Any:
    """Every cell that may be suppressed."""
    return table.status != FIXED


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_the_others_from_every_insider(method: str) -> None:
    protected = 0
    for seed in range(4):
        table, plain = drawn(100 + 4 * METHODS.index(method) + seed, SHAPES[seed])
        try:
            found = discreet.suppress(table, method=method, steps=3, seed=1)
        except PromiseNotKept:
            assert not plain.is_safe(most(table)), f"seed {seed}: it could be protected"
            continue
        assert plain.is_safe(found.table.suppressed), f"seed {seed}"
        assert found.audit
        assert found.audit.insiders == []
        protected += 1
    assert protected


@pytest.mark.parametrize("seed", range(6))
def test_linked_tables_know_what_an_insider_of_one_brings_to_the_other(seed: int) -> None:
    rng, rule = np.random.default_rng(seed), RULES[seed % len(RULES)]
    frame = records(rng, (3, 3, 2), mean=0.7, holdings=bool(seed % 2))
    table = tabulated(frame, rule, holdings=bool(seed % 2), parts=[["d0", "d1"], ["d0", "d2"]])
    plain = PlainInsiders(table, frame, rule)
    insiders = insiders_of(table)
    assert insiders is not None
    asked = {}
    for who, known in enumerate(insiders.known):
        found = insiders.asked(who, table.primary)
        asked[tuple(known.tolist())] = dict(
            zip(found.cells.tolist(), zip(found.down, found.up, strict=True), strict=True)
        )
    assert set(asked) == {tuple(insider.known) for insider in plain.insiders}
    for insider in plain.insiders:
        mine = asked[tuple(insider.known)]
        assert {cell: pytest.approx(levels) for cell, levels in insider.asked.items()} == mine


def cheapest(table: Table, plain: PlainInsiders, most_cost: float) -> float:
    """The least cost of any pattern that is safe, up to a cost."""
    free = [cell for cell in np.flatnonzero(table.status == 0).tolist() if table.upper[cell] > table.lower[cell]]
    unsafe = table.status == PRIMARY
    patterns = sorted(
        (table.cost[list(chosen)].sum(), chosen) for size in range(len(free) + 1) for chosen in combinations(free, size)
    )
    for cost, chosen in patterns:
        if cost >= most_cost - 1e-9:
            return most_cost
        hidden = unsafe.copy()
        hidden[list(chosen)] = True
        if plain.is_safe(hidden):
            return float(cost)
    return np.inf


@pytest.mark.parametrize("seed", range(6))
def test_the_proven_optimum_is_the_least_cost_of_all_patterns(seed: int) -> None:
    table, plain = drawn(300 + seed, (3, 2), mean=1.0)
    try:
        found = discreet.suppress(table, method="exact", time=60)
    except PromiseNotKept:
        assert not plain.is_safe(most(table))
        return
    assert found.bound is None or found.bound["gap"] == 0
    assert plain.is_safe(found.table.suppressed)
    assert found.cost == pytest.approx(cheapest(table, plain, found.cost))


def test_some_of_these_tables_cost_more_with_insiders() -> None:
    dearer = 0
    for seed in range(100, 112):
        table, _ = drawn(seed, (4, 3))
        try:
            both = [discreet.suppress(table, method="exact", time=60, singletons=on).cost for on in (False, True)]
        except PromiseNotKept:
            continue
        assert both[0] <= both[1]
        dearer += both[0] < both[1]
    assert dearer


@pytest.mark.parametrize(("seed", "steps"), [(seed, 1 + 3 * seed) for seed in range(8)])
def test_where_attacks_take_long_a_search_can_be_stopped_amid_them(
    seed: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarding, "QUICK", 1)
    attacks, attack = [], Watch.attack

    def count(self: Watch, hidden: Any, **how: Any) -> Any:
        attacks.append(hidden)
        return attack(self, hidden, **how)

    monkeypatch.setattr(Watch, "attack", count)
    table, plain = drawn(200 + seed, SHAPES[seed % 4])
    try:
        found = discreet.suppress(table, steps=steps, seed=1)
    except PromiseNotKept:
        assert not plain.is_safe(most(table))
        return
    assert plain.is_safe(found.table.suppressed)
    assert found.audit
    # The search looks once in an epoch at most; after it everybody is looked at three times at most.
    assert len(attacks) <= steps + 3


def test_a_search_that_is_kept_amid_a_look_goes_on_as_it_would_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "QUICK", 1)
    table, _ = drawn(100, SHAPES[0])

    def begin() -> GuardedSearch:
        problem, _ = settle_ranges(problem_of(table, strict=False, frozen=None, settle=False))
        insiders = insiders_of(table)
        assert insiders is not None
        watch = Watch(table, insiders, problem, strict=False, partial=True)
        return GuardedSearch(Search(), problem, watch, 1, None, 1)

    first, epochs = begin(), 0
    while not first._looks:
        state = first.save()
        next(first.epochs())
        epochs += 1
    assert epochs > 2
    assert state["since"] != 0
    second = begin()
    second.load(state)
    next(second.epochs())
    for _ in range(5):
        assert second.problem.requirements == first.problem.requirements
        assert np.array_equal(second.pattern(), first.pattern())
        next(first.epochs(), None)
        next(second.epochs(), None)


def crowded(seed: int) -> Table:
    """A table of counts with many ones, three dimensions and two hierarchical steps."""
    rng = np.random.default_rng(seed)
    frame = records(rng, (5, 4, 4), mean=1.2, holdings=False).drop("who", "sales")
    return discreet.primary(discreet.tabulate(frame, by=frame.columns, complete=True), threshold=4)


def never_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searched as a large table is, and left as the search leaves it."""
    monkeypatch.setattr(guarding, "QUICK", 1)
    monkeypatch.setattr(guarding, "LAST_PROGRAMS", 0)


def test_who_is_left_when_time_ends_is_named_and_nothing_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    never_widened(monkeypatch)
    table = crowded(3)
    with pytest.raises(PromiseNotKept, match=r"of \d+ sole contributors remain when the search ends") as refused:
        discreet.suppress(table, steps=1, seed=1)
    for way in ("--checkpoint", "--partial", "more time"):
        assert way in str(refused.value)


def test_partly_who_is_left_is_told_to_the_steward_and_never_in_the_record(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    never_widened(monkeypatch)
    found = discreet.suppress(crowded(3), steps=1, seed=1, partial=True)
    assert found.partial
    assert not found.audit
    files = found.write(tmp_path / "public.csv")
    evidence, record = (files[kind].read_text() for kind in ("evidence", "record"))
    assert "remain when the search ends" in evidence
    # The summary breaks its lines.
    assert "remain when the search ends" in " ".join(found.summary().split())
    assert "contributor" not in record.replace("sole_contributors", "")
    assert '"verified": false' in record
    # Left are cells that a sole contributor can work out: the exact attack of all finds no other.
    again = discreet.audit(found.table, singletons=True)
    assert {cell for _, cells in again.insiders or () for cell in cells.tolist()} <= set(found.audit.victims)


def test_a_search_that_ended_too_soon_goes_on_from_its_checkpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    never_widened(monkeypatch)
    table, kept = crowded(3), tmp_path / "kept"
    with pytest.raises(PromiseNotKept):
        discreet.suppress(table, steps=1, seed=1, checkpoint=kept)
    assert kept.exists()
    longer = discreet.suppress(table, steps=400, seed=1, checkpoint=kept)
    assert longer.audit
    assert longer.evidence["search"]["steps"] == 400 or longer.evidence["search"]["stopped"] == "finished"
    assert longer.cost == discreet.suppress(table, steps=400, seed=1).cost


@pytest.mark.parametrize("seed", range(4))
def test_a_large_table_is_kept_from_all_insiders_after_few_steps(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "QUICK", 1)
    found = discreet.suppress(crowded(seed), steps=5, seed=1)
    assert found.audit
    assert discreet.audit(found.table, singletons=True)


@pytest.mark.parametrize("seed", [1, 3])
def test_a_bound_knows_what_insiders_ask(seed: int) -> None:
    table = crowded(seed)
    watched = settle_ranges(problem_of(table, settle=False))[0]
    insiders = insiders_of(table)
    assert insiders is not None
    watch = Watch(table, insiders, watched, strict=False, partial=True)
    hidden = np.zeros(len(table), dtype=np.bool_)
    hidden[table.primary] = True
    wider = watch.require(watched, watch.find(hidden))
    assert wider.requirements > watched.requirements
    bounds = [lower_bound(problem, 10) for problem in (watched, wider)]
    assert bounds[0] < bounds[1] <= discreet.suppress(table, steps=60, seed=1).cost


def test_after_an_interrupt_in_the_last_look_everybody_is_left_and_the_pattern_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def interrupted() -> Iterator[Interrupt]:
        caught = Interrupt()
        caught(2, None)
        yield caught

    monkeypatch.setattr(protection, "interruptible", interrupted)
    table = crowded(3)
    with pytest.raises(PromiseNotKept, match=r"(\d+) of \1 sole contributors remain"):
        discreet.suppress(table, steps=1, seed=1)
    found = discreet.suppress(table, steps=1, seed=1, partial=True)
    assert found.audit.victims
    assert found.table.suppressed[table.primary].all()
