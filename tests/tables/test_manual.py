"""Cells named by hand, in whatever form: by number, by codes, in a frame or a file."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tables.manual import read_cells
from discreet.tables.tabulate import tabulate
from discreet.tabular.relations import build_relations
from discreet.tabular.table import FIXED, PRIMARY, SAFE, Table
from random_tables import cell_of, names_of, tables

FRAME = pl.DataFrame({"region": ["n", "n", "s"], "size": ["1", "2", "1"], "sales": [731609, 20, 30]})


@pytest.fixture
def table() -> Table:
    return tabulate(FRAME, by=["region", "size"], value="sales")


@given(tables(most=3), st.data())
def test_all_forms_name_the_same_cells(table: Table, data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=5, unique=True))
    names = [names_of(table)[cell] for cell in wanted]
    dimensions = [one.name for one in table.dimensions]
    rows = [dict(zip(dimensions, codes, strict=True)) for codes in names]
    for form in (
        wanted,
        np.array(wanted),
        names,
        rows,
        [{name: code for name, code in row.items() if code != "Total"} for row in rows],
        pl.DataFrame(rows),
        pl.DataFrame({"cell": wanted}),
    ):
        found = read_cells(table, form)
        assert found.cells.tolist() == wanted
        assert (found.status == PRIMARY).all()
        assert np.isnan(found.lpl).all()
        assert np.isnan(found.upl).all()


def test_a_file_says_status_and_levels(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("region,size,status,lpl,upl\nn,1,u,5,7.5\nn,2, Z ,,\ns,Total,safe,,\nTotal,1,unsafe,,2\n")
    found = read_cells(table, path)
    assert found.cells.tolist() == [
        cell_of(table, *codes) for codes in (("n", "1"), ("n", "2"), ("s", "Total"), ("Total", "1"))
    ]
    assert found.status.tolist() == [PRIMARY, FIXED, SAFE, PRIMARY]
    np.testing.assert_array_equal(found.lpl, [5, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(found.upl, [7.5, np.nan, np.nan, 2])
    assert read_cells(table, str(path)).cells.tolist() == found.cells.tolist()


def test_numbers_name_the_cells_of_a_table_without_dimensions() -> None:
    bare = Table.of([3.0, 1.0, 2.0], relations=build_relations([0, 0, 0], [0, 1, 2], [-1, 1, 1], [0], 3))
    assert read_cells(bare, [2, np.int64(0)]).cells.tolist() == [2, 0]
    assert read_cells(bare, pl.DataFrame({"cell": [1], "status": ["z"]})).status.tolist() == [FIXED]
    mistaken: list[Any] = [[("n",)], [{}]]
    for wrong in mistaken:
        with pytest.raises(InputError, match="has no named dimensions; name its cells by their numbers"):
            read_cells(bare, wrong)
    with pytest.raises(InputError, match=r"has no column cell; a list of cells names them by cell"):
        read_cells(bare, pl.DataFrame({"n": [1]}))


def test_one_code_names_a_cell_of_one_dimension() -> None:
    table = tabulate(FRAME, by=["region"], value="sales")
    assert read_cells(table, ["n", ("s",)]).cells.tolist() == [cell_of(table, "n"), cell_of(table, "s")]


def test_codes_that_are_numbers_are_taken_as_text(table: Table) -> None:
    assert read_cells(table, [("n", 1)]).cells.tolist() == [cell_of(table, "n", "1")]
    assert read_cells(table, pl.DataFrame({"region": ["n"], "size": [2]})).cells.tolist() == [cell_of(table, "n", "2")]


@pytest.mark.parametrize(
    ("manual", "words"),
    [
        (5, "manual must be a file, a frame, or a list of cells"),
        ([99], "there is no cell 99; the cells of the table of .* are 0 to 7"),
        ([-1], "there is no cell -1"),
        ([("n",)], "a cell must be named by a code for each of region, size"),
        ([("n", "1", "2")], "a cell must be named by a code for each of region, size"),
        (["n1"], "a cell must be named by a code for each of region, size"),
        ([1.5], "a cell must be named by a code for each of region, size"),
        ([("x", "1")], "'x' is no code of 'region'"),
        ([("s", "2")], "has no cell s × 2; nobody contributes to it"),
        ([{"regoin": "n"}], "has no dimension regoin; it has region, size"),
        (pl.DataFrame({"region": ["n"]}), "the list of cells has no column size"),
        (
            pl.DataFrame({"region": ["n", "x"], "size": ["1", "1"]}),
            "row 1: what names the cell is no code of",
        ),
        (pl.DataFrame({"region": ["n", "n"], "size": ["1", "1"]}), "names a cell more than once"),
        (pl.DataFrame({"cell": [1.5]}), "the number of a cell is no whole number"),
        (pl.DataFrame({"cell": [None]}, schema={"cell": pl.Int64}), "the number of a cell is no whole number"),
        (pl.DataFrame({"cell": ["first"]}), "the number of a cell is no whole number"),
        (pl.DataFrame({"cell": [1], "status": ["x"]}), "the status must be u, s or z"),
        (pl.DataFrame({"cell": [1], "status": [None]}), "the status must be u, s or z"),
        (pl.DataFrame({"cell": [1], "upl": [-731609.0]}), "upl is a distance, 0 or more"),
        (pl.DataFrame({"cell": [1], "lpl": ["731609x"]}), "'lpl'"),
        (Path("no such list.csv"), "no such list.csv"),
    ],
)
def test_what_names_no_cell_is_refused(table: Table, manual: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        read_cells(table, manual)
    assert "731609" not in str(error.value)


def test_a_wrong_line_of_a_file_is_named(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("region,size,status\nn,1,u\nn,3,u\n")
    with pytest.raises(InputError, match=r"cells\.csv, line 3: what names the cell is no code of 'size'"):
        read_cells(table, path)
    path.write_text("region,size,status\nn,1,u\nn,2,?\n")
    with pytest.raises(InputError, match=r"cells\.csv, line 3: the status must be u, s or z"):
        read_cells(table, path)
