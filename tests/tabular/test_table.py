"""A table that contradicts itself is refused: which relation, which cell, what to do; never with a value of a cell."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import build_relations
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table, decimals_of, usual_bounds
from random_tables import cell_of, tables

CANARY = 731609.4825
SIZE = Dimension("size", Hierarchy.flat(["small", "large"]))
REGION = Dimension("region", Hierarchy.flat(["n", "s"]))
CELLS = [[size, region] for size in range(3) for region in range(3)]


def small(**given: Any) -> Table:
    """Size × region, its values like nothing else."""
    base = np.array([[CANARY, 11], [13, 17]])
    value = np.zeros((3, 3))
    value[1:, 1:] = base
    value[0, 1:], value[1:, 0], value[0, 0] = base.sum(axis=0), base.sum(axis=1), base.sum()
    return Table.of(value.ravel(), dimensions=[SIZE, REGION], codes=CELLS, **given)


def at(cell: int, amount: float, rest: float = 0.0) -> np.ndarray:
    column = np.full(9, rest)
    column[cell] = amount
    return column


def status(cell: int, what: int = PRIMARY) -> np.ndarray:
    return at(cell, what).astype(np.uint8)


def test_what_is_not_given_is_filled_in() -> None:
    table = small()
    assert len(table) == 9
    assert len(table.relations) == 6
    assert (table.status == SAFE).all()
    np.testing.assert_array_equal(table.cost, table.value)
    np.testing.assert_array_equal(table.lower, np.zeros(9))
    np.testing.assert_array_equal(table.upper, np.full(9, 1.5 * table.value.max()))
    assert not table.lpl.any()
    assert not table.upl.any()
    assert not table.spl.any()
    assert table.decimals == 4
    assert table.count is None
    assert small(decimals=None).decimals is None
    assert small(decimals=3).decimals == 3
    table.check()


def test_a_table_that_does_not_add_up_names_the_relation_that_is_furthest_off() -> None:
    table = small()
    value = table.value.copy()
    value[cell_of(table, "small", "s")] += 2
    value[cell_of(table, "Total", "s")] += 2.5
    with pytest.raises(
        InputError,
        match=r"the table does not add up: 3 of 6 relations, most of all relation \d "
        r"\(the total size=Total × region=Total over 'region'\); correct the values, rounded ones too",
    ) as error:
        table.but(value=value).check_sums()
    assert "731609" not in str(error.value)


def test_a_cell_that_is_off_breaks_the_relations_it_is_in() -> None:
    table = small()
    value = table.value.copy()
    value[cell_of(table, "large", "n")] -= 4
    with pytest.raises(InputError, match=r"2 of 6 relations.*must add up$") as error:
        table.but(value=value).check()
    assert "731609" not in str(error.value)


@given(tables(most=3), st.integers(0, 10**6), st.floats(1e-6, 1e6))
def test_any_cell_that_is_changed_is_noticed(table: Table, which: int, by: float) -> None:
    cell = which % len(table)
    value = table.value.copy()
    value[cell] += by * max(1.0, float(np.abs(value).max()))
    with pytest.raises(InputError, match="does not add up"):
        table.but(value=value).check_sums()


def test_sums_may_miss_by_what_adding_decimals_costs() -> None:
    table = small()
    table.but(value=table.value * (1 + 1e-12 * np.arange(9))).check_sums()
    with pytest.raises(InputError, match="does not add up"):
        table.but(value=table.value * (1 + 1e-7 * np.arange(9))).check_sums()
    table.but(value=table.value * (1 + 1e-7 * np.arange(9))).check_sums(tolerance=1e-5)


def test_relations_with_a_value_that_is_not_known_are_passed_over() -> None:
    table = small()
    value = table.value.copy()
    value[4] = np.nan
    table.but(value=value).check()
    value[8] += 3
    with pytest.raises(InputError, match="2 of 6 relations"):
        table.but(value=value).check_sums()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"lower": at(4, 2 * CANARY), "upper": at(4, CANARY, 2 * CANARY)},
            "size=small × region=n has a lower bound above the upper bound",
        ),
        ({"lower": at(4, CANARY + 1)}, "size=small × region=n has a value below its lower bound; widen the bounds"),
        ({"upper": at(4, CANARY - 1, 2 * CANARY)}, "size=small × region=n has a value above its upper bound"),
        ({"lower": at(4, np.nan)}, "size=small × region=n has a bound that is missing"),
        ({"upper": at(4, np.nan, 2 * CANARY)}, "size=small × region=n has a bound that is missing"),
        ({"upl": at(4, -1)}, "size=small × region=n has a protection level that is negative or missing"),
        ({"lpl": at(5, np.nan)}, "size=small × region=s has a protection level that is negative or missing"),
        ({"spl": at(5, -1)}, "size=small × region=s has a protection level that is negative or missing"),
        (
            {"status": status(4), "lpl": at(4, CANARY + 1)},
            "size=small × region=n has a lower protection level beyond its lower bound; no suppression can protect it",
        ),
        (
            {"status": status(4), "upl": at(4, 3 * CANARY)},
            "size=small × region=n has an upper protection level beyond its upper bound",
        ),
        (
            {"status": status(4), "spl": at(4, 1), "lower": at(4, CANARY), "upper": at(4, CANARY, 2 * CANARY)},
            "size=small × region=n is to be protected, although its bounds fix its value",
        ),
    ],
)
def test_bounds_and_levels_that_contradict_are_refused_by_the_name_of_the_cell(
    given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words) as error:
        small(**given).check()
    assert "731609" not in str(error.value)


@pytest.mark.parametrize("what", [SAFE, SECONDARY, FIXED])
def test_levels_of_cells_that_are_not_primary_may_be_anything(what: int) -> None:
    small(status=status(4, what), lpl=at(4, 2 * CANARY), upl=at(4, 9 * CANARY)).check()


def test_levels_up_to_the_bounds_and_fixed_cells_without_levels_are_fine() -> None:
    table = small(status=status(4), lpl=at(4, CANARY))
    table.but(upl=table.upper - table.value).check()
    small(status=status(4), lower=at(4, CANARY), upper=at(4, CANARY, 2 * CANARY)).check()


def test_many_cells_are_counted_not_all_listed() -> None:
    with pytest.raises(InputError, match=r"size=Total × region=Total, .* and 4 more have a protection level"):
        small(upl=np.full(9, -1.0)).check()


def test_a_cell_that_occurs_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"some\.csv: cells that occur more than once: size=large × region=s; leave"):
        Table.of(np.zeros(10), dimensions=[SIZE, REGION], codes=[*CELLS, [2, 2]], source="some.csv")


def test_cells_and_relations_are_called_by_their_codes_or_numbers() -> None:
    table = small()
    assert table.name(5) == "size=small × region=s"
    told = {table.relation_name(at) for at in range(len(table.relations))}
    assert any("(the total size=small × region=Total over 'region')" in words for words in told)
    assert len(told) == 6
    bare = Table.of([3.0, 1.0, 2.0], relations=build_relations([0, 0, 0], [0, 1, 2], [-1, 1, 1], [0], 3))
    assert bare.name(2) == "cell 2"
    assert bare.relation_name(0) == "relation 0 (the total is cell 0)"
    odd = Table.of([3.0, 1.0, 2.0], relations=build_relations([0, 0, 0], [0, 1, 2], [1, 1, 1], [6], 3))
    assert odd.relation_name(0) == "relation 0 (of cell 0, cell 1, cell 2)"
    odd.check_sums()
    with pytest.raises(InputError, match="1 of 1 relation, most of all relation 0"):
        odd.but(value=np.array([4.0, 1.0, 2.0])).check_sums()


@given(st.lists(st.decimals(-(10**6), 10**6, places=3), max_size=20), st.integers(0, 3))
def test_decimals_are_the_digits_that_the_values_need(values: list[Decimal], places: int) -> None:
    rounded = [round(value, places) for value in values]
    needed = max((-int(value.normalize().as_tuple().exponent) for value in rounded if value), default=0)
    assert decimals_of(np.array([float(value) for value in rounded] + [np.nan])) == max(0, needed)


@pytest.mark.parametrize("values", [[1 / 3], [np.pi, 1.0], [2.0**54], [0.1234567]])
def test_values_that_are_not_decimal_have_no_decimals(values: list[float]) -> None:
    assert decimals_of(np.array(values)) is None


def test_the_usual_attacker_knows_signs_and_one_and_a_half_times_the_largest() -> None:
    lower, upper = usual_bounds(np.array([1.0, 10.0, np.nan]))
    assert lower.tolist() == [0, 0, 0]
    assert upper.tolist() == [15, 15, 15]
    lower, upper = usual_bounds(np.array([-20.0, 10.0]))
    assert lower.tolist() == [-30, -30]
    assert upper.tolist() == [30, 30]
    assert usual_bounds(np.array([]))[0].tolist() == []


@given(tables(most=3))
def test_usual_bounds_hold_every_value(table: Table) -> None:
    lower, upper = usual_bounds(table.value - 5)
    assert (lower <= table.value - 5).all()
    assert (table.value - 5 <= upper).all()


def test_suppressed_are_primary_and_secondary_cells() -> None:
    table = small(status=np.array([0, 1, 2, 3, 0, 1, 0, 0, 0], dtype=np.uint8))
    assert np.flatnonzero(table.suppressed).tolist() == [1, 2, 5]
    assert table.primary.tolist() == [1, 5]
    assert repr(table) == "Table of 9 cells and 6 relations over size × region, 2 primary and 1 secondary"


def test_the_frame_says_everything_of_every_cell() -> None:
    rule = np.zeros(9, np.int32)
    rule[4] = 1 << RULES.index("threshold") | 1 << RULES.index("p")
    table = small(
        status=status(4),
        rule=rule,
        count=np.arange(9.0),
        tops=np.arange(18.0).reshape(9, 2),
        asked=np.arange(9.0),
        sole=np.array([-1, 3, *[-1] * 7]),
    )
    frame = table.frame()
    assert frame.columns == [
        *("size", "region", "value", "count", "status", "rule", "cost", "lb", "ub", "lpl", "upl", "spl"),
        *("top1", "top2", "asked", "sole"),
    ]
    assert frame["size"].to_list() == table.codes_of(0)
    assert frame["region"].to_list() == ["Total", "n", "s"] * 3
    np.testing.assert_array_equal(frame["value"].to_numpy(), table.value)
    assert frame["status"].to_list() == ["s"] * 4 + ["u"] + ["s"] * 4
    assert frame["rule"].to_list() == [None] * 4 + ["threshold+p"] + [None] * 4
    assert frame["top2"].to_list() == list(range(1, 18, 2))
    assert frame["sole"].to_list() == [None, 3] + [None] * 7
    unknown = table.but(value=at(0, np.nan, 1.0)).frame()
    assert unknown["value"].null_count() == 1
    assert isinstance(frame, pl.DataFrame)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Table.of([CANARY], dimensions=[SIZE], codes=[[1]]),
        lambda: Table.of([CANARY, CANARY], dimensions=[SIZE], codes=[[0], [0]]),
        lambda: Table.of([CANARY, CANARY], dimensions=[SIZE], codes=[[0], [1]], upl=np.array([-1.0, 1])).check(),
    ],
)
def test_no_message_repeats_a_value(make: Callable[[], object]) -> None:
    with pytest.raises(InputError) as error:
        make()
    assert "731609" not in str(error.value)
