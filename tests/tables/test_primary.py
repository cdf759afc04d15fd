"""Primary cells are those that some rule or list makes unsafe, with the widest level, their reasons and bounds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.tabular import rules
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import codevalue
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table
from random_tables import cell_of, generators, random_table, tables

CANARY = 731609.25
RECORDS = [
    # One contributor, dominance, two contributors, safe, all nothing.
    *[("n", "1", CANARY)],
    *[("n", "2", x) for x in (90.0, 5.0, 3.0, 2.0)],
    *[("s", "1", x) for x in (50.0, 50.0)],
    *[("s", "2", x) for x in (30.0, 30.0, 30.0, 30.0)],
    *[("w", "1", x) for x in (0.0, 0.0, 0.0, 0.0)],
]


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame(RECORDS, schema=["region", "size", "sales"], orient="row")
    return discreet.tabulate(frame, by=["region", "size"], value="sales")


def unsafe(table: Table) -> set[tuple[str, ...]]:
    codes = list(zip(*(table.codes_of(axis) for axis in range(len(table.dimensions))), strict=True))
    return {codes[cell] for cell in table.primary}


@settings(max_examples=30)
@given(
    tables(weights=True, most=3),
    st.fixed_dictionaries(
        {},
        optional={
            "p": st.sampled_from([5, 15.5, 60]),
            "dominance": st.sampled_from([(1, 75), (2, 85), (3, 99)]),
            "threshold": st.sampled_from([2, 3, 4.5]),
            "zeros": st.sampled_from([1, 7.5]),
        },
    ).filter(bool),
)
def test_a_cell_is_unsafe_if_any_rule_says_so_and_its_widest_level_is_kept(table: Table, asked: dict[str, Any]) -> None:
    found = discreet.primary(table, **asked)
    applied = []
    if "p" in asked:
        applied.append(rules.p_percent(asked["p"], 1))
    if "dominance" in asked:
        applied.append(rules.dominance(*asked["dominance"]))
    if "threshold" in asked:
        applied.append(rules.threshold(asked["threshold"], 30))
    if "zeros" in asked:
        applied.append(rules.zeros(asked["zeros"]))
    assert table.count is not None
    assert table.decimals is not None
    empty = (table.count == 0) & ("zeros" not in asked)
    level, bits = np.zeros(len(table)), np.zeros(len(table), np.int64)
    for rule in applied:
        said, width = rule.judge(table)
        said &= ~empty
        level[said] = np.maximum(level[said], width[said])
        bits[said] += 2 ** RULES.index(rule.name)
    primary = bits > 0
    np.testing.assert_array_equal(found.status == PRIMARY, primary)
    np.testing.assert_array_equal(found.status == FIXED, empty)
    np.testing.assert_array_equal(found.rule, bits)
    np.testing.assert_allclose(found.upl[primary], np.maximum(level, 10.0**-table.decimals)[primary])
    assert not found.upl[~primary].any()
    assert not found.lpl[~primary].any()
    # Symmetric, but nothing is below zero.
    np.testing.assert_allclose(found.lpl, np.minimum(found.upl, table.value))
    assert (found.upper >= found.value + found.upl).all()
    assert (found.lower == 0).all()
    assert not found.spl.any()
    np.testing.assert_array_equal(found.value, table.value)
    found.check()


def test_rules_and_reasons_on_a_small_table(table: Table) -> None:
    found = discreet.primary(table, p=15, threshold=3)
    assert {("n", "1"), ("n", "2"), ("s", "1")} <= unsafe(found)
    assert not {("s", "2"), ("w", "1"), ("Total", "2")} & unsafe(found)
    reasons = dict(zip(zip(found.codes_of(0), found.codes_of(1), strict=True), found.rule_words(), strict=True))
    assert reasons["n", "1"] == "threshold+p"
    assert reasons["n", "2"] == "p"
    assert reasons["s", "1"] == "threshold+p"
    assert reasons["s", "2"] is None
    # 30 % of 100 for two contributors is wider than 15 % of 50.
    assert found.upl[cell_of(found, "s", "1")] == pytest.approx(30)
    # R = 5, and 15 % of 90 is 13.5.
    assert found.upl[cell_of(found, "n", "2")] == pytest.approx(8.5)
    assert found.rules["words"].keys() == {"p", "threshold"}
    assert found.rules["parameters"] == {"p": 15, "coalition": 1, "threshold": 3, "range": 30.0}


def test_prior_posterior_coalition_and_range_are_passed_on(table: Table) -> None:
    found = discreet.primary(table, p=15, q=30, coalition=2)
    assert RULES[int(np.log2(found.rule[found.primary[0]]))] == "pq"
    # R = 2 for a coalition of two, and 15/30 of 90 is 45.
    assert found.upl[cell_of(found, "n", "2")] == pytest.approx(43)
    wide = discreet.primary(table, threshold=3, range=80)
    assert wide.upl[cell_of(wide, "s", "1")] == pytest.approx(80)


def test_request_looks_at_who_asked() -> None:
    frame = pl.DataFrame(
        {"x": ["a", "a", "b", "b"], "y": [90, 10, 90, 10], "asked": [True, False, False, True]},
    )
    table = discreet.tabulate(frame, by=["x"], value="y", request="asked")
    found = discreet.primary(table, request=70)
    assert unsafe(found) == {("a",)}
    assert found.upl[cell_of(found, "a")] == pytest.approx(90 / 0.7 - 100)
    assert found.rule_words()[cell_of(found, "a")] == "request"


def test_the_unit_of_the_last_decimal_is_the_least_level() -> None:
    frame = pl.DataFrame({"x": ["a", "a", "b", "b", "b"], "y": [1.25, 0.0, 3.0, 3.0, 3.0]})
    table = discreet.tabulate(frame, by=["x"], value="y")
    assert discreet.primary(table, p=0.001).upl[cell_of(table, "a")] == 0.01
    assert discreet.primary(table.but(decimals=None), p=0.00001).upl[cell_of(table, "a")] == 1e-6
    assert discreet.primary(table.but(decimals=0), p=0.001).upl[cell_of(table, "a")] == 1
    # The same for a cell that is named by hand.
    named = discreet.primary(table.but(decimals=0), manual=[("a",)], range=0.1)
    assert named.upl[cell_of(table, "a")] == 1


def test_a_lower_level_ends_at_zero_and_it_is_told(table: Table) -> None:
    found = discreet.primary(table, zeros=5)
    cell = cell_of(found, "w", "1")
    assert found.status[cell] == PRIMARY
    assert found.lpl[cell] == 0
    assert found.upl[cell] == 5
    assert "the lower protection level of 2 cells ends at their lower bound" in found.notes
    assert discreet.primary(table, p=15).notes == table.notes


def test_a_level_above_what_anybody_expects_widens_the_bounds_of_every_cell(table: Table) -> None:
    found = discreet.primary(table, manual=pl.DataFrame({"region": ["s"], "size": ["2"], "upl": [9e6]}))
    assert (found.upper == 9e6 + 120).all()
    found.check()


def test_empty_cells_cannot_be_suppressed_unless_zeros_are_asked_for(table: Table) -> None:
    frame = pl.DataFrame(RECORDS, schema=["region", "size", "sales"], orient="row")
    full = discreet.tabulate(frame, by=["region", "size"], value="sales", complete=True)
    cell = cell_of(full, "w", "2")
    assert discreet.primary(full, threshold=9).status[cell] == FIXED
    assert discreet.primary(full, zeros=1).status[cell] == PRIMARY


def test_cells_of_a_missing_code_are_safe_unless_asked() -> None:
    frame = pl.DataFrame({"x": ["a", "a", "b", "9"], "y": [1, 1, 5, 7]})
    one = Dimension("x", Hierarchy.flat(["a", "b", "9"]), missing=["9"])
    table = discreet.tabulate(frame, by=[one], value="y")
    assert unsafe(discreet.primary(table, threshold=2)) == {("b",)}
    assert unsafe(discreet.primary(table, threshold=2, missing=True)) == {("b",), ("9",)}
    assert unsafe(discreet.primary(table, manual=[("9",)])) == {("9",)}


@settings(max_examples=20)
@given(generators)
def test_what_an_earlier_run_found_is_found_anew(rng: np.random.Generator) -> None:
    table = random_table(rng, 2)
    earlier = discreet.primary(table, p=70, threshold=4)
    again = discreet.primary(earlier.but(status=np.where(earlier.status == SAFE, SECONDARY, earlier.status)), p=10)
    once = discreet.primary(table, p=10)
    for name in ("status", "rule", "upl", "lpl", "cost"):
        np.testing.assert_array_equal(getattr(again, name), getattr(once, name))


def test_cells_that_may_not_be_suppressed_stay_so(table: Table) -> None:
    status = table.status.copy()
    status[cell_of(table, "n", "1")] = FIXED
    found = discreet.primary(table.but(status=status), threshold=3)
    assert found.status[cell_of(table, "n", "1")] == FIXED
    assert found.status[cell_of(table, "s", "1")] == PRIMARY


def test_a_list_has_the_last_word(table: Table) -> None:
    cells = pl.DataFrame(
        {
            "region": ["s", "n", "s", "n", "Total"],
            "size": ["2", "2", "1", "1", "2"],
            "status": ["u", "s", "u", "u", "z"],
            "upl": [None, None, None, 4.0, None],
            "lpl": [None, None, None, None, None],
        },
        schema_overrides={"lpl": pl.Float64},
    )
    found = discreet.primary(table, dominance=(1, 80), manual=cells, range=20)
    words = dict(zip(zip(found.codes_of(0), found.codes_of(1), strict=True), found.rule_words(), strict=True))
    at = {name: cell_of(found, *name) for name in words}
    assert found.status[at["s", "2"]] == PRIMARY
    assert words["s", "2"] == "manual"
    assert found.upl[at["s", "2"]] == pytest.approx(24)
    assert found.status[at["n", "2"]] == SAFE
    assert words["n", "2"] is None
    assert found.upl[at["n", "2"]] == 0
    assert found.upl[at["s", "1"]] == pytest.approx(20)
    # Unsafe by the rule too, which is remembered; the level that is named holds.
    assert words["n", "1"] == "dominance+manual"
    assert found.upl[at["n", "1"]] == 4
    assert found.lpl[at["n", "1"]] == 4
    assert found.status[at["Total", "2"]] == FIXED
    assert found.rules["words"]["manual"] == "cells named by hand"


def test_a_level_below_may_differ_from_the_level_above(table: Table) -> None:
    found = discreet.primary(table, manual=pl.DataFrame({"region": ["s"], "size": ["2"], "lpl": [3.0], "upl": [8.0]}))
    cell = cell_of(found, "s", "2")
    assert (found.lpl[cell], found.upl[cell]) == (3, 8)


def test_a_list_alone_is_enough_and_may_be_in_any_form(table: Table) -> None:
    cell = cell_of(table, "s", "2")
    for manual in ([cell], [("s", "2")], [{"region": "s", "size": "2"}]):
        assert unsafe(discreet.primary(table, manual=manual)) == {("s", "2")}


@pytest.mark.parametrize("word", ["u", "z"])
def test_what_is_unsafe_and_may_not_be_suppressed_is_refused(table: Table, word: str) -> None:
    cells = pl.DataFrame({"region": ["s"], "size": ["1"], "status": [word]})
    status = table.status.copy()
    if word == "u":
        status[cell_of(table, "s", "1")] = FIXED
    with pytest.raises(InputError, match="region=s × size=1 is unsafe and may not be suppressed either; take one"):
        discreet.primary(table.but(status=status), threshold=3, manual=cells)


def test_an_empty_cell_cannot_be_named_unsafe() -> None:
    frame = pl.DataFrame(RECORDS, schema=["region", "size", "sales"], orient="row")
    full = discreet.tabulate(frame, by=["region", "size"], value="sales", complete=True)
    with pytest.raises(InputError, match="region=w × size=2 is unsafe and may not be suppressed"):
        discreet.primary(full, manual=[("w", "2")])


@pytest.mark.parametrize(
    ("bounds", "lower", "upper"),
    [
        ("0,200%", 0.0, 240.0),
        ("50%,150%", 60.0, 180.0),
        ("150%, 50%", 60.0, 180.0),
        (("50%", 9e6), 60.0, 9e6),
        ([-1e7, 1e7], -1e7, 1e7),
        ((0, "inf"), 0.0, np.inf),
    ],
)
def test_bounds_are_numbers_or_percentages_of_the_value(table: Table, bounds: Any, lower: float, upper: float) -> None:
    found = discreet.primary(table, manual=[("s", "2")], range=10, bounds=bounds)
    cell = cell_of(table, "s", "2")
    assert found.lower[cell] == pytest.approx(lower)
    assert found.upper[cell] == pytest.approx(upper)


def test_percentages_of_a_negative_value_turn_round() -> None:
    frame = pl.DataFrame({"x": ["a", "b"], "y": [-100, 300]})
    table = discreet.tabulate(frame, by=["x"], value="y")
    found = discreet.primary(table, threshold=2, bounds="50%,150%", range=10)
    cell = cell_of(table, "a")
    assert (found.lower[cell], found.upper[cell]) == (-150, -50)
    assert found.lpl[cell] == found.upl[cell] == pytest.approx(10)
    with pytest.raises(InputError, match=r"negative values in 2 cells \(x=Total, x=a\)"):
        discreet.primary(table, p=10)


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("5", r"bounds must be two, LOWER,UPPER"),
        ((1, 2, 3), r"bounds must be two"),
        ("a,b", "bounds: 'a' is neither a number nor a percentage"),
        ("nan,5", "bounds: 'nan' is neither a number nor a percentage"),
        ("0,10", "have a value above its upper bound"),
        ("95%,105%", r"region=s × size=2 has a lower protection level beyond its lower bound"),
        ("0,105%", r"region=s × size=2 has an upper protection level beyond its upper bound"),
    ],
)
def test_bounds_that_cannot_be_are_refused(table: Table, bounds: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        discreet.primary(table, manual=[("s", "2")], bounds=bounds)
    assert "731609" not in str(error.value)


def test_costs_are_of_the_kind_asked_for(table: Table) -> None:
    assert table.count is not None
    costs = {kind: discreet.primary(table, p=15, cost=kind).cost for kind in ("value", "count", "unit", "log")}
    np.testing.assert_array_equal(costs["value"], table.value)
    np.testing.assert_array_equal(costs["count"], table.count)
    np.testing.assert_array_equal(costs["unit"], np.ones(len(table)))
    np.testing.assert_allclose(costs["log"], np.log(1 + table.value))
    with pytest.raises(InputError, match="cost must be value, count, unit or log, not 'size'"):
        discreet.primary(table, p=15, cost="size")
    with pytest.raises(InputError, match="does not say numbers of contributors, so they cannot be the cost"):
        discreet.primary(table.but(count=None), p=15, cost="count")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "no rule is given; say p, dominance, threshold, request, zeros or manual"),
        ({"p": 0}, "p must be a number above 0, not 0"),
        ({"p": "a"}, "p must be a number above 0, not 'a'"),
        ({"p": float("nan")}, "p must be a number above 0"),
        ({"p": float("inf")}, "p must be a number above 0"),
        ({"q": 50}, "q belongs to the prior-posterior rule, which needs p too"),
        ({"p": 50, "q": 20}, "p must be above 0 and below q, not p = 50 and q = 20"),
        ({"p": 20, "q": 20}, "p must be above 0 and below q"),
        ({"p": 10, "coalition": 0}, "coalition must be at least 1"),
        ({"p": 10, "coalition": 1.5}, "coalition must be a whole number"),
        ({"p": 10, "coalition": 3}, "holds the 3 largest contributions to each cell, .* looks at 4"),
        ({"dominance": (4, 80)}, "holds the 3 largest contributions to each cell, .* looks at 4"),
        ({"dominance": 75}, "dominance must be two numbers"),
        ({"dominance": "1,75"}, "dominance must be two numbers"),
        ({"dominance": (1, 2, 3)}, "dominance must be two numbers"),
        ({"dominance": (0, 75)}, "the number of dominance must be at least 1"),
        ({"dominance": (1, 101)}, "the percentage of dominance must be at most 100"),
        ({"dominance": (1, 0)}, "the percentage of dominance must be a number above 0"),
        ({"threshold": 0}, "threshold must be a number above 0"),
        ({"threshold": -2}, "threshold must be a number above 0"),
        ({"threshold": 3, "range": 0}, "range must be a number above 0"),
        ({"request": 70}, "does not say who asked for protection"),
        ({"request": 170}, "request must be at most 100"),
        ({"zeros": 0}, "zeros must be a number above 0"),
        ({"manual": [("x", "y")]}, "'x' is no code of 'region'"),
    ],
)
def test_rules_that_cannot_be_are_refused(table: Table, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        discreet.primary(table, **asked)
    assert "731609" not in str(error.value)


def test_a_table_that_does_not_add_up_is_refused_before_any_rule(table: Table) -> None:
    value = table.value.copy()
    value[cell_of(table, "s", "2")] += 1
    with pytest.raises(InputError, match="does not add up") as error:
        discreet.primary(table.but(value=value), p=10)
    assert "731609" not in str(error.value)


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected a Table or the path of one, not an object of type list"):
        discreet.primary([1, 2], p=10)
    with pytest.raises(InputError, match=r"none\.parquet"):
        discreet.primary(tmp_path / "none.parquet", p=10)


def test_size_by_region_has_the_primaries_that_tau_argus_finds(table_reference: Callable[[str], Path]) -> None:
    table = discreet.tabulate(
        table_reference("tau_testW/tau_testW.asc"),
        by=["Size", "Region"],
        value="Var2",
        meta=table_reference("tau_testW/Tau_TestW.rda"),
    )
    found = discreet.primary(table, p=15)
    theirs = codevalue.read(table_reference("tau_testW/expected_size_region_modular.txt"), found)
    assert len(found.primary) == 9
    assert found.primary.tolist() == np.flatnonzero(theirs == PRIMARY).tolist()
    assert (theirs == SECONDARY).sum() == 12
    assert round(float(found.value[theirs == SECONDARY].sum()), 2) == 2524351.00


def test_industry_by_size_has_506_primaries(table_reference: Callable[[str], Path]) -> None:
    table = discreet.tabulate(
        table_reference("tau_testW/tau_testW.asc"),
        by=["IndustryCode", "Size"],
        value="Var2",
        meta=table_reference("tau_testW/Tau_TestW.rda"),
    )
    assert len(discreet.primary(table, p=15, threshold=3).primary) == 506


def test_activity_by_product_has_the_primaries_that_tau_argus_finds(table_reference: Callable[[str], Path]) -> None:
    table = discreet.tabulate(
        table_reference("enterprise/example_enterprise.asc"),
        by=["act", "product"],
        value="turnover",
        holding="h_id",
        meta=table_reference("enterprise/example_enterprise.rda"),
    )
    found = discreet.primary(table, p=10)
    theirs = codevalue.read(table_reference("enterprise/expected_test_1.txt"), found)
    assert len(found.primary) == 283
    assert found.primary.tolist() == np.flatnonzero(theirs == PRIMARY).tolist()
    assert (theirs == SECONDARY).sum() == 133
