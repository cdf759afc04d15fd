"""An audit misses nothing: patterns that lack one needed cell fail, and what contradicts itself is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.attack.levels import levels_of, slack_of, verdicts
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import jj
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import build_relations
from discreet.tabular.table import PRIMARY, SAFE, SECONDARY, Table
from discreet.verification.audit import audit
from discreet.verification.pattern import centre_of
from plain_attacker import bounded, case, extremes, protected
from random_tables import random_table

WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"intervals": True},
    {"certificate": True},
    {"certificate": True, "intervals": True},
)


def safe(table: Table, hidden: NDArray[np.bool_]) -> bool:
    """Whether plain linear programs find every primary cell protected."""
    down, up = extremes(table, hidden, table.primary)
    return bool(protected(table, table.primary, down, up).all())


def minimal(rng: np.random.Generator, table: Table) -> Table | None:
    """The table with secondary cells of which each is needed; None if no pattern protects it."""
    hidden = np.ones(len(table), dtype=np.bool_)
    if not safe(table, hidden):
        return None
    for cell in rng.permutation(len(table)).tolist():
        if table.status[cell] != PRIMARY:
            hidden[cell] = False
            hidden[cell] = not safe(table, hidden)
    status = np.where(table.status == PRIMARY, PRIMARY, np.where(hidden, SECONDARY, SAFE)).astype(np.uint8)
    return table.but(status=status)


def unsafe(rng: np.random.Generator, seed: int) -> Table:
    """A small table with a few primary cells."""
    sizes = ([2, 3], [3, 3], [2, 2, 2], [4, 2])
    table = random_table(
        rng, sizes[seed % 4], hierarchical=seed % 3 == 0, zeros=0.2, decimals=2 * (seed % 2), complete=True
    )
    chosen = rng.choice(np.flatnonzero(table.value > 0), int(rng.integers(1, 4)), replace=False)
    status = np.zeros(len(table), np.uint8)
    status[chosen] = PRIMARY
    levels = np.zeros(len(table))
    levels[chosen] = np.round(table.value[chosen] * rng.choice([0.1, 0.3, 0.8]), table.decimals or 0)
    return table.but(status=status, lpl=levels, upl=levels)


@pytest.mark.parametrize("seed", range(10))
def test_publishing_any_needed_cell_is_caught(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = None
    while table is None:
        table = minimal(rng, unsafe(rng, seed))
    for how in WAYS:
        assert audit(table, **how)
        for cell in np.flatnonzero(table.status == SECONDARY).tolist():
            status = table.status.copy()
            status[cell] = SAFE
            said = audit(table.but(status=status), **how)
            assert not said, (seed, cell)
            assert len(said.failed)
            assert not said.as_dict()["passed"]
            assert "NOT PROTECTED" in said.summary()


def test_tiny_by_hand(table_reference: Callable[[str], Path]) -> None:
    path = table_reference("jj/tiny.jj")
    alone = audit(path, intervals=True)
    assert not alone
    assert alone.cells.tolist() == [4]
    assert alone.verdict.tolist() == ["exposed"]
    assert alone.eliminated.tolist() == [4]
    assert (alone.lower[0], alone.upper[0]) == (15, 15)
    assert (alone.required_lower[0], alone.required_upper[0]) == (12, 18)
    table = jj.read(path)
    status = table.status.copy()
    status[[5, 7, 8]] = SECONDARY
    # Inside 15 30 / 40 20 moves by d, −d, −d, d: down until 15 or 20 is gone, up until 30 or 40 is.
    said = audit(table.but(status=status), intervals=True, certificate=True)
    assert said
    assert said.lower.tolist() == [0, 0, 10, 5]
    assert said.upper.tolist() == [45, 45, 55, 50]
    assert said.exact
    assert said.certificate is not None
    assert said.certificate.exact
    assert "protected: the interval of the judged cell reaches its level" in " ".join(said.summary().split())
    assert said.intervals()["verdict"].to_list() == ["protected", None, None, None]


def crossed(lpl: float = 0.0, upl: float = 0.0, spl: float = 0.0, **changes: Any) -> Table:
    """10 20 / 30 40 with totals, the inside suppressed, the first cell primary: it can go from 0 to 30."""
    sides = [Dimension(name, Hierarchy.flat(["1", "2"])) for name in "AB"]
    value = [100, 40, 60, 30, 10, 20, 70, 30, 40]
    codes = [[a, b] for a in range(3) for b in range(3)]
    status = np.array([0, 0, 0, 0, PRIMARY, SECONDARY, 0, SECONDARY, SECONDARY], np.uint8)
    table = Table.of(value, dimensions=sides, codes=codes, status=status)
    levels = {"lpl": lpl, "upl": upl, "spl": spl}
    held = {name: np.where(np.arange(9) == 4, level, 0.0) for name, level in levels.items()}
    return table.but(**held, **changes)


@pytest.mark.parametrize("how", [{}, {"certificate": True}, {"intervals": True}, {"singletons": True}])
@pytest.mark.parametrize(
    ("lpl", "upl", "spl", "strict", "verdict"),
    [
        (10, 20, 0, False, "protected"),
        (10, 20, 30, False, "protected"),
        (10, 20, 30.5, False, "too narrow"),
        (10, 20.5, 0, False, "too narrow"),
        (0, 0, 30, False, "protected"),
        (0, 0, 31, False, "too narrow"),
        (10, 20, 0, True, "too narrow"),
        (9, 20, 0, True, "too narrow"),
        (9.5, 19.5, 0, True, "protected"),
        (9, 19, 30, True, "protected"),
        (0, 0, 0, True, "protected"),
    ],
)
def test_levels_by_hand(lpl: float, upl: float, spl: float, strict: bool, verdict: str, how: dict[str, Any]) -> None:
    table = crossed(lpl, upl, spl, count=np.full(9, 5.0))
    said = audit(table, strict=strict, **how)
    assert said.verdict.tolist() == [verdict, "", "", ""]
    assert bool(said) == (verdict == "protected")


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("decimals", [None, 0, 2])
@pytest.mark.parametrize("value", [0.0, 1.0, 6_499_999_999.0, 1e13])
@pytest.mark.parametrize("level", [1e-6, 1e-4, 0.5, 1.0, 100.0])
def test_a_single_point_is_exposed_whatever_its_size(
    level: float, value: float, decimals: int | None, how: dict[str, Any]
) -> None:
    # Both cells follow by subtraction.
    relations = build_relations(
        np.array([0, 0, 0, 1, 1], np.int32), np.array([0, 1, 2, 0, 3]), np.array([1.0, 1, -1, 1, -1]), np.zeros(2), 4
    )
    table = Table.of(
        [value, 3.0, value + 3, value], relations=relations, status=np.array([PRIMARY, SECONDARY, SAFE, SAFE], np.uint8)
    )
    upper = 1.5 * table.upper + 1e4
    levels = np.array([level, 0.0, 0.0, 0.0])
    for lpl, upl, spl in ((0, 1, 0), (0, 0, 1), (0, 1, 1)):
        asked = table.but(decimals=decimals, upper=upper, lpl=lpl * levels, upl=upl * levels, spl=spl * levels)
        assert audit(asked, **how).verdict.tolist() == ["exposed", ""]
        assert audit(asked.but(lpl=upl * np.minimum(levels, value)), **how).verdict.tolist() == ["exposed", ""]


@given(st.floats(-1e14, 1e14), st.floats(0, 1e14, exclude_min=True), st.sampled_from([None, 0, 1, 3]), st.floats(-2, 2))
def test_a_level_is_missed_by_rounding_only(value: float, level: float, decimals: int | None, part: float) -> None:
    slack = min([1e-9 * max(1.0, abs(value)), level / 2, *([] if decimals is None else [0.5005 * 10.0**-decimals])])
    found = slack_of(np.array([value]), np.array([level]), decimals)[0]
    assert found == pytest.approx(slack, rel=1e-12)
    # Only a cell that moves at all reaches a level.
    assert level - found > 0
    table = crossed(0, 1, 0)
    table = table.but(value=np.full(9, value), upl=np.full(9, level), lpl=np.zeros(9), decimals=decimals)
    levels = levels_of(table, secondaries=False, strict=False)
    up = max(level + part * slack, 0.0)
    cells = table.primary
    said = verdicts(table, levels, cells, np.zeros(len(cells)), np.full(len(cells), up))
    assert set(said.tolist()) == ({"protected"} if up >= level - slack else {"exposed", "too narrow"} & set(said))


def test_bounds_of_halves_do_not_hinder_a_certificate() -> None:
    value = crossed().value
    table = crossed(5.5, 5.5, 11.0, lower=value - 5.5, upper=value + 5.5)
    for how in WAYS:
        said = audit(table, **how)
        assert said
        assert said.certificate is None or said.certificate.exact


def test_secondaries_must_not_be_known_either() -> None:
    table = crossed(3, 3)
    assert audit(table, secondaries=True)
    status = table.status.copy()
    status[3] = SECONDARY  # its column total and the rest of the column are published
    lone = audit(table.but(status=status), secondaries=True)
    assert not lone
    assert table.name(3) in lone.summary()
    assert lone.failed.tolist() == [3]
    assert audit(table.but(status=status))


def test_a_level_on_one_side_only() -> None:
    for how in WAYS:
        assert audit(crossed(lpl=10), **how)
        assert audit(crossed(upl=20), **how)
        assert not audit(crossed(lpl=10, upper=np.array([150.0] * 5 + [25.0] + [150.0] * 3)), **how)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lpl": 10.5}, "a lower protection level beyond its lower bound"),
        ({"upl": 141.0}, "an upper protection level beyond its upper bound|a upper protection level beyond its upper"),
        ({"lpl": -1.0}, "negative or missing"),
        ({"upl": float("nan")}, "negative or missing"),
        ({"lpl": 1.0, "lower": np.full(9, 1e3)}, "below its lower bound|above the upper bound"),
        ({"upl": 1.0, "upper": np.full(9, 11.0)}, "above its upper bound|beyond"),
        ({"value": np.array([100, 41, 60, 30, 10, 20, 70, 30, 40.0])}, "does not add up"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], words: str) -> None:
    levels = {name: changes.pop(name) for name in ("lpl", "upl") if name in changes}
    with pytest.raises(InputError, match=words) as told:
        audit(crossed(**levels, **changes))
    # The names of cells, never their values.
    assert not any(f" {number:g} " in str(told.value) for number in (10, 20, 30, 40, 60, 70))


def test_a_primary_cell_that_its_bounds_fix_is_refused() -> None:
    fixed = np.arange(9) == 4
    table = crossed(lower=np.where(fixed, 10.0, 0.0), upper=np.where(fixed, 10.0, 150.0))
    with pytest.raises(InputError, match="its bounds fix its value"):
        audit(table.but(spl=np.where(fixed, 1.0, 0.0)))


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="expected a Table or the path of one"):
        audit(3)


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_frames_and_counts_tell_the_same(seed: int) -> None:
    one = case(seed)
    said = audit(one.table, secondaries=True, intervals=True)
    frame = said.intervals()
    assert frame["cell"].to_list() == one.cells.tolist()
    counts = said.as_dict()
    assert counts["suppressed"] == counts["judged"] == len(one.cells)
    assert counts["protected"] + counts["too_narrow"] + counts["exposed"] == len(one.cells)
    assert bool(said) == (counts["protected"] == len(one.cells))
    exposed = said.verdict == "exposed"
    assert (one.down + one.up)[exposed].max(initial=0.0) <= 1e-6 * np.abs(one.table.value).max()
    assert set(said.eliminated.tolist()) <= set(one.cells[(one.down == 0) & (one.up == 0)].tolist())
    assert "value" in frame.columns


@pytest.mark.parametrize("seed", range(8))
def test_more_suppression_never_narrows_an_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = unsafe(rng, seed)
    table = table.but(**bounded(rng, table))
    before: dict[int, tuple[float, float]] = {}
    status = np.where(table.status == PRIMARY, SECONDARY, SAFE).astype(np.uint8)
    table = table.but(lpl=np.zeros(len(table)), upl=np.zeros(len(table)))
    for cell in [*rng.permutation(len(table))[:12].tolist(), *range(len(table))]:
        status[cell] = SECONDARY
        said = audit(table.but(status=status), intervals=True)
        now = dict(zip(said.cells.tolist(), zip(said.lower.tolist(), said.upper.tolist(), strict=True), strict=True))
        slack = 1e-6 * max(1.0, float(np.abs(table.value).max()))
        assert all(now[at][0] <= low + slack and now[at][1] >= high - slack for at, (low, high) in before.items())
        before = now


def unknown(table: Table, cells: Any = None) -> Table:
    """The table as it is published: no value where a cell is suppressed."""
    gone = table.suppressed if cells is None else np.isin(np.arange(len(table)), cells)
    return table.but(value=np.where(gone, np.nan, table.value))


@pytest.mark.parametrize("seeds", [range(start, start + 40) for start in (0, 40)], ids=str)
def test_intervals_need_no_values(seeds: range) -> None:
    for seed in seeds:
        one = case(seed)
        scale = 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
        centre = centre_of(unknown(one.table))
        assert np.abs(one.table.relations.residuals(centre)).max(initial=0.0) <= scale
        assert (centre >= one.table.lower - scale).all()
        assert (centre <= one.table.upper + scale).all()
        said = audit(unknown(one.table))
        assert said.exact
        assert said.cells.tolist() == one.cells.tolist()
        for found, true in (
            (said.lower, one.table.value[one.cells] - one.down),
            (said.upper, one.table.value[one.cells] + one.up),
        ):
            finite = np.isfinite(true)
            assert (found[~finite] == true[~finite]).all(), seed
            assert np.abs(found[finite] - true[finite]).max(initial=0.0) <= scale, seed
        assert (said.verdict == "").all()
        assert any("not known" in note for note in said.notes)


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_some_values_may_be_known(seed: int) -> None:
    one = case(seed)
    gone = one.cells[::2]
    centre = centre_of(unknown(one.table, gone))
    kept = np.setdiff1d(np.arange(len(one.table)), gone)
    assert (centre[kept] == one.table.value[kept]).all()
    assert np.abs(one.table.relations.residuals(centre)).max() <= 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
    said = audit(unknown(one.table, gone), secondaries=True)
    known = np.isin(said.cells, kept)
    assert (said.verdict[~known] == "").all()
    assert (said.verdict[known] != "").all()
    # Whoever audits may know some of the suppressed values; the attacker knows none.
    finite = np.isfinite(one.down)
    scale = 1e-6 * max(1.0, float(np.abs(one.table.value).max()))
    assert np.abs((one.table.value[one.cells] - one.down - said.lower)[finite]).max(initial=0.0) <= scale


def lines_of_three() -> Table:
    """A table of two dimensions with a whole line but for its total suppressed."""
    table = random_table(np.random.default_rng(3), [3, 3], complete=True)
    status = np.where((table.codes[:, 0] == 1) & (table.codes[:, 1] > 0), SECONDARY, 0)
    status[np.flatnonzero(status)[0]] = PRIMARY
    return table.but(status=status.astype(np.uint8))


def test_what_cannot_be_is_refused_with_the_relations() -> None:
    table = lines_of_three()
    value = table.value.copy()
    # What is published adds up, but only if a suppressed cell were negative.
    value[(table.codes <= 1).all(axis=1)] -= 1e5
    published = unknown(table.but(value=value, lower=np.where(table.suppressed, 0.0, -1e6)))
    with pytest.raises(InputError, match="no values of the suppressed cells fit") as told:
        audit(published)
    assert "over '" in str(told.value)
    assert "relation" in str(told.value)
    assert not any(f"{number:g}" in str(told.value) for number in value.tolist() if abs(number) > 10)


def test_bounds_may_leave_no_room() -> None:
    table = unknown(lines_of_three())
    with pytest.raises(InputError, match="widen the bounds"):
        audit(table.but(upper=np.where(np.isnan(table.value), 0.5, table.upper)))


def test_a_published_cell_must_have_a_value() -> None:
    table = lines_of_three()
    cell = int(np.flatnonzero(~table.suppressed)[3])
    with pytest.raises(InputError, match="is published, but has no value") as told:
        audit(unknown(table, [cell]))
    assert table.name(cell) in str(told.value)
