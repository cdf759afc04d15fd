"""What everybody knows of a table of counts before any of it is suppressed."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.tables import tabulate as tabulating
from discreet.tabular.files.formats import read_table
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, WEIGHTED, WHOLE, Table
from random_tables import generators

FRAME = pl.DataFrame({"town": ["a", "a", "b", "b", "b", "c"], "ill": ["x", "y", "y", "y", "y", "x"]})
TOWNS = Hierarchy.from_pairs([("a", "Total"), ("b", "Total"), ("c", "Total"), ("d", "Total")])


def held(table: Table, name: str) -> dict[tuple[str, ...], float]:
    """An attribute of each cell by its codes."""
    codes = zip(*(table.codes_of(axis) for axis in range(len(table.dimensions))), strict=True)
    return dict(zip(codes, getattr(table, name).tolist(), strict=True))


def test_a_table_of_counts_has_a_cell_for_everybody_who_could_be_there() -> None:
    table = discreet.tabulate(FRAME, by={"town": TOWNS, "ill": None})
    value = held(table, "value")
    assert len(value) == 5 * 3
    assert value["d", "x"] == value["c", "y"] == 0
    assert table.counts == WHOLE
    assert any("made with its 5 empty cells" in note for note in table.notes)


def test_a_code_that_is_listed_because_somebody_has_it_has_somebody() -> None:
    lower = held(discreet.tabulate(FRAME, by={"town": TOWNS, "ill": None}), "lower")
    assert {cell for cell, least in lower.items() if least} == {("Total", "x"), ("Total", "y")}
    lower = held(discreet.tabulate(FRAME, by=["town", "ill"]), "lower")
    margins = {("a", "Total"), ("b", "Total"), ("c", "Total"), ("Total", "x"), ("Total", "y")}
    assert {cell for cell, least in lower.items() if least} == margins


def test_in_a_table_of_what_exists_everybody_knows_that_somebody_is_there() -> None:
    table = discreet.tabulate(FRAME, by=["town", "ill"], existing_only=True)
    assert ("c", "y") not in held(table, "value")
    assert (table.lower == 1).all()


def test_with_sampling_weights_somebody_counts_the_least_weight() -> None:
    frame = FRAME.with_columns(w=pl.Series([2.5, 1.5, 3.0, 2.0, 2.0, 4.0]))
    table = discreet.tabulate(frame, by=["town", "ill"], weight="w", existing_only=True)
    assert table.counts == WEIGHTED
    assert not table.integral
    assert (table.lower == 1.5).all()


def test_sums_are_as_they_were() -> None:
    frame = FRAME.with_columns(v=pl.Series(range(6)))
    table = discreet.tabulate(frame, by=["town", "ill"], value="v")
    assert len(table) == 10
    assert table.counts is None
    assert not table.lower.any()


@given(generators, st.integers(1, 2), st.booleans())
def test_impossible_combinations_have_no_cell_and_all_others_have_one(
    rng: np.random.Generator, rows: int, names_all: bool
) -> None:
    towns = Hierarchy.from_pairs([("t", "Total"), ("a", "t"), ("b", "t"), ("c", "Total")])
    sizes = {"town": ["a", "b", "c"], "ill": ["x", "y", "z"], "sex": ["f", "m"]}
    every = list(product(*sizes.values()))
    codes = {"town": [*sizes["town"], "t"], "ill": sizes["ill"], "sex": sizes["sex"]}
    names = list(codes) if names_all else ["ill", "sex"]
    said = [{name: str(rng.choice(codes[name])) for name in names} for _ in range(rows)]
    above = {"a": {"a", "t"}, "b": {"b", "t"}}

    def is_impossible(cell: tuple[str, ...]) -> bool:
        mine = dict(zip(sizes, cell, strict=True))
        return any(all(code in above.get(mine[name], {mine[name]}) for name, code in row.items()) for row in said)

    possible = [cell for cell in every if not is_impossible(cell)]
    if not possible:
        return
    picked = [possible[at] for at in rng.integers(0, len(possible), 8).tolist()]
    flat = {name: Hierarchy.flat(sizes[name]) for name in ("ill", "sex")}
    frame = pl.DataFrame(picked, schema=list(sizes), orient="row")
    table = discreet.tabulate(frame, by={"town": towns, **flat}, structural=said)
    lines = {"a": ["a", "t", "Total"], "b": ["b", "t", "Total"]}
    expected = {sums for cell in possible for sums in product(*(lines.get(code, [code, "Total"]) for code in cell))}
    assert set(held(table, "value")) == expected


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"structural": [{"town": "a", "ill": "x"}]},
            r"1 record \(.*\) has a combination of codes that struct",
        ),
        ({"structural": [{"village": "a"}]}, "a column 'village', which is no dimension"),
        ({"structural": [{"town": "q"}]}, "a code of 'town' that is none of the table's"),
        ({"structural": [{}]}, "a list of mappings"),
        ({"structural": [{"town": "c", "ill": "y"}], "existing_only": True}, "no empty cell is made"),
        ({"complete": True, "existing_only": True}, "say one of the two"),
    ],
)
def test_what_contradicts_itself_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        discreet.tabulate(FRAME, by=["town", "ill"], **changes)


def test_a_record_that_cannot_be_is_told_by_its_own_place() -> None:
    frame = FRAME.with_columns(v=pl.Series([None, 1, 1, 1, 1, 1]))
    with pytest.raises(InputError, match=r"1 record \(row 5\) has a combination"):
        discreet.tabulate(frame, by=["town", "ill"], value="v", complete=True, structural=[{"town": "c"}])


def test_impossible_combinations_may_stand_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "never.csv"
    path.write_text("ill,town\ny,c\n")
    assert ("c", "y") not in held(discreet.tabulate(FRAME, by=["town", "ill"], structural=path), "value")
    path.write_text("ill,town\ny,a\n")
    with pytest.raises(InputError, match=r"1 record .* that never.csv calls impossible"):
        discreet.tabulate(FRAME, by=["town", "ill"], structural=path)


def test_empty_cells_that_are_too_many_are_left_out_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabulating, "ALWAYS_COMPLETED", 10)
    monkeypatch.setattr(tabulating, "GROWTH", 1)
    table = discreet.tabulate(FRAME, by=["town", "ill"])
    assert len(table) == 10
    assert any("so these are left out" in note for note in table.notes)
    assert len(discreet.tabulate(FRAME, by=["town", "ill"], complete=True)) == 12


def test_levels_of_counts_are_whole_and_what_is_not_below_is_above() -> None:
    existing = discreet.tabulate(FRAME, by=["town", "ill"], existing_only=True)
    levels = held(discreet.primary(existing, threshold=4), "lpl"), held(discreet.primary(existing, threshold=4), "upl")
    # One, of whom everybody knows, may be 1 to 3; three may be 2 to 4.
    assert (levels[0]["a", "x"], levels[1]["a", "x"]) == (0, 2)
    assert (levels[0]["b", "Total"], levels[1]["b", "Total"]) == (1, 1)
    full = discreet.primary(discreet.tabulate(FRAME, by={"town": TOWNS, "ill": None}), threshold=4)
    assert (held(full, "lpl")["a", "x"], held(full, "upl")["a", "x"]) == (1, 1)
    # Four of which 30 percent are 1.2: two either way.
    four = discreet.primary(discreet.tabulate(FRAME, by=["ill"], existing_only=True), threshold=5)
    assert (held(four, "lpl")[("y",)], held(four, "upl")[("y",)]) == (2, 2)


def test_zeros_of_counts_may_be_suppressed_and_cost_as_much_as_one() -> None:
    found = discreet.primary(discreet.tabulate(FRAME, by={"town": TOWNS, "ill": None}), threshold=2)
    empty = found.value == 0
    assert empty.any()
    assert not (found.status[empty] == FIXED).any()
    assert (found.cost[empty] == 1).all()


def test_zeros_that_are_always_published_tell_that_the_others_are_none() -> None:
    table = discreet.tabulate(FRAME, by={"town": TOWNS, "ill": None})
    zeros = [tuple(code) for code, value in held(table, "value").items() if value == 0]
    said = pl.DataFrame(zeros, schema=["town", "ill"], orient="row").with_columns(status=pl.lit("z"))
    fixed = discreet.primary(table, threshold=2, manual=said)
    assert not (fixed.status[fixed.value == 0] == PRIMARY).any()
    again = discreet.primary(fixed, threshold=2)
    assert (again.lower[again.value > 0] >= 1).all()


def test_cells_that_somebody_else_counted_are_as_they_are() -> None:
    rows = [
        ("Total", "Total", 4),
        ("Total", "x", 4),
        ("a", "Total", 3),
        ("a", "x", 3),
        ("b", "Total", 1),
        ("b", "x", 1),
    ]
    frame = pl.DataFrame(rows, schema=["town", "ill", "n"], orient="row")
    table = discreet.primary(frame, by=["town", "ill"], value="n", count="n", threshold=3)
    assert table.integral
    assert (table.lower == 1).all()
    zero = [*rows, ("c", "Total", 0), ("c", "x", 0)]
    frame = pl.DataFrame(zero, schema=["town", "ill", "n"], orient="row")
    table = discreet.primary(frame, by=["town", "ill"], value="n", count="n", threshold=3)
    assert not table.lower.any()


def test_a_rule_on_zeros_says_what_it_cannot_judge() -> None:
    existing = discreet.tabulate(FRAME, by=["town", "ill"], existing_only=True)
    found = discreet.primary(existing, threshold=2, zeros=3)
    assert any("zeros: 2 combinations of codes have no cell" in note for note in found.notes)
    full = discreet.primary(discreet.tabulate(FRAME, by=["town", "ill"]), threshold=2, zeros=3)
    assert (full.status[full.value == 0] == PRIMARY).all()
    assert not any("have no cell" in note for note in full.notes)


def test_what_everybody_knows_is_kept_in_a_file(tmp_path: Path) -> None:
    from discreet.release.atomic import write_table

    table = discreet.tabulate(FRAME, by=["town", "ill"])
    for name in ("t.parquet", "t.csv"):
        write_table(table, tmp_path / name)
        found = read_table(tmp_path / name)
        assert found.counts == WHOLE
        np.testing.assert_array_equal(found.lower, table.lower)
