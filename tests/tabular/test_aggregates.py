"""Tables of cells that are summed up already are the tables that the microdata make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet
from canary import CANARY
from discreet.errors import InputError
from discreet.tabular import Hierarchy, Table
from discreet.tabular.contributors import sole_contributors

REGION = Hierarchy.from_pairs([("n", "Total"), ("1", "n"), ("2", "n"), ("s", "Total"), ("3", "s"), ("4", "s")])
RECORDS = st.lists(
    st.tuples(st.sampled_from("1234"), st.sampled_from("ab"), st.integers(0, 99)), min_size=1, max_size=12
)
CELLS = pl.DataFrame(
    {"size": ["All", "a", "b"], "sales": [60.5, 10.25, 50.25], "n": [5, 1, 4], "most": [40.0, 10.25, 40]}
)


def partition(table: Table, names: list[str]) -> dict[Any, set[Any]]:
    """Which cells have the same sole contributor."""
    sole, groups = sole_contributors(table), dict[Any, set[Any]]()
    assert sole is not None
    for who, cell in zip(sole.tolist(), table.frame().select(names).iter_rows(), strict=True):
        if who >= 0:
            groups.setdefault(who, set()).add(cell)
    return groups


@given(RECORDS, st.randoms())
def test_cells_make_the_table_that_their_microdata_make(records: list[tuple[str, str, int]], random: Any) -> None:
    microdata = pl.DataFrame(records, schema=["region", "size", "sales"], orient="row")
    made = discreet.tabulate(microdata, by={"region": REGION, "size": None}, value="sales")
    rows = list(range(len(made)))
    random.shuffle(rows)
    cells = made.frame().select("region", "size", "value", "count", "top1", "top2")[rows]
    table = Table.from_frame(
        cells, by={"region": REGION, "size": None}, value="value", count="count", max=["top1", "top2"]
    )
    names = ["region", "size"]
    both = table.frame().join(made.frame(), on=names, validate="1:1")
    assert both.height == len(table) == len(made)
    for name in ("value", "count", "top1", "top2", "lb", "ub", "cost"):
        assert both[name].to_list() == both[f"{name}_right"].to_list()
    assert len(table.relations) == len(made.relations)
    assert table.decimals == made.decimals
    # Where everybody is in one cell of the lowest level, counts tell who is alone as the microdata do.
    assert sorted(map(sorted, partition(table, names).values())) == sorted(map(sorted, partition(made, names).values()))
    unsafe = [discreet.primary(one, threshold=3, p=10).frame().filter(status="u").height for one in (table, made)]
    assert unsafe[0] == unsafe[1]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv"])
def test_frames_of_any_kind_and_files_are_taken(kind: str, tmp_path: Path) -> None:
    data: Any = {"pandas": CELLS.to_pandas, "polars": lambda: CELLS, "arrow": CELLS.to_arrow}.get(
        kind, lambda: tmp_path / "cells.csv"
    )()
    CELLS.write_csv(tmp_path / "cells.csv")
    table = discreet.primary(data, by="size", value="sales", count="n", max="most", total="All", threshold=3)
    assert table.value.tolist() == [60.5, 10.25, 50.25]
    assert table.name(int(table.primary[0])) == "size=a"
    assert table.response == "sales"
    assert isinstance(discreet.primary(pd.DataFrame(CELLS.to_dict(as_series=False)), by="size", value="sales",
                                       total={"size": "All"}, zeros=1), Table)  # fmt: skip


def test_the_total_is_the_code_that_the_hierarchy_does_not_list(tmp_path: Path) -> None:
    (tmp_path / "r.hrc").write_text("n\n@1\n@2\ns\n@3\n")
    cells = {"region": ["East", "n", "1", "2"], "value": [3, 3, 1, 2]}
    table = Table.from_frame(pl.DataFrame(cells), by=[f"region@{tmp_path / 'r.hrc'}"])
    assert table.dimensions[0].codes == ("East", "n", "1", "2")  # without the codes that the table never has
    assert "does not list" in table.notes[-1]
    nested = tmp_path / "r.csv"
    nested.write_text("region,district\nn,1\nn,2\ns,3\n")
    assert Table.from_frame(pl.DataFrame(cells), by=[f"region@{nested}"]).dimensions == table.dimensions
    nested.write_text("code,parent\nn,\n1,n\n2,n\n")
    assert Table.from_frame(pl.DataFrame(cells), by=[f"region@{nested}"]).dimensions == table.dimensions


def test_a_table_may_end_above_the_lowest_level(tmp_path: Path) -> None:
    (tmp_path / "r.hrc").write_text("n\n@1\n@2\ns\n@3\n")
    cells = pl.DataFrame({"region": ["Total", "n", "s"], "value": [3, 1, 2]})
    table = Table.from_frame(cells, by=[f"region@{tmp_path / 'r.hrc'}"])
    assert table.dimensions[0].base.tolist() == [False, True, True]


def test_digits_make_the_levels_of_cells_too() -> None:
    cells = pl.DataFrame({"act": ["Total", "1", "11", "12", "2", "21"], "value": [6, 3, 1, 2, 3, 3]})
    table = Table.from_frame(cells, by=["act@1+1"])
    assert dict(table.dimensions[0].hierarchies[0].pairs())["12"] == "1"


def test_decimals_take_away_dust_and_nothing_else() -> None:
    dusty = pl.DataFrame({"size": ["Total", "a", "b"], "value": [0.1 + 0.2, 0.1, 0.2]})
    noted = Table.from_frame(dusty, by="size")
    assert noted.decimals is None
    assert "--decimals 1" in noted.notes[-1]
    table = Table.from_frame(dusty, by="size", decimals=1)
    assert (table.decimals, table.value.tolist()) == (1, [0.3, 0.1, 0.2])
    held = discreet.primary(Table.from_frame(dusty, by="size"), zeros=1, decimals=2)
    assert (held.decimals, held.value.tolist()) == (2, [0.3, 0.1, 0.2])
    with pytest.raises(InputError, match=r"2 cells have more than 0 decimals \(row 1, row 2\); sums cannot be cut off"):
        Table.from_frame(pl.DataFrame({"size": ["Total", "a", "b"], "value": [1.0, 0.5, 0.5]}), by="size", decimals=0)


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({}, {"by": "kind"}, "has no column 'kind'"),
        ({}, {"value": "kind"}, "has no column 'kind'"),
        ({}, {"total": "Sum"}, r"never has the code 'Sum' of the total; say what it is, .* --total size=CODE"),
        ({}, {"total": None}, "never has the code 'Total'"),
        ({"sales": [60.5, None, 50.25]}, {}, r"'sales' has no number in 1 cell \(row 1\)"),
        ({"n": [5, -1, 4]}, {}, "negative numbers of contributors"),
        ({"size": ["All", "a", "a"]}, {}, "more than once: row 2; leave"),
        ({"sales": [float(CANARY), 10.25, 50.25]}, {}, "does not add up"),
        ({"size": ["All", "a", f"{CANARY}x"]}, {"by": {"size": Hierarchy.flat(["a", "b"], total="All")}}, r"\(row 2\)"),
        ({}, {"max": ["most", "sales"]}, "name the largest first"),
        ({}, {"by": "kind>size"}, "nested columns"),
        ({}, {"decimals": -1}, "decimals must be at least 0"),
    ],
)
def test_what_is_no_table_is_refused_without_a_value(
    changes: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    arguments: dict[str, Any] = {"by": "size", "value": "sales", "count": "n", "total": "All", **options}
    with pytest.raises(InputError, match=words) as error:
        Table.from_frame(CELLS.with_columns(**{name: pl.Series(said) for name, said in changes.items()}), **arguments)
    assert CANARY not in str(error.value)


def test_what_belongs_to_cells_is_refused_for_tables() -> None:
    table = Table.from_frame(CELLS, by="size", value="sales", total="All")
    with pytest.raises(InputError, match="value, count: name the columns of the codes too"):
        discreet.primary(table, value="sales", count="n", zeros=1)
    with pytest.raises(InputError, match="leave it out for a table"):
        discreet.primary(table, by="size", zeros=1)
    with pytest.raises(InputError, match=r"Table\.from_frame"):
        discreet.primary(CELLS, zeros=1)


@given(RECORDS)
def test_linked_cells_know_who_is_alone_in_several_tables(records: list[tuple[str, str, int]]) -> None:
    microdata = pl.DataFrame(records, schema=["region", "size", "sales"], orient="row").with_columns(
        form=pl.Series([chr(ord("x") + at % 3) for at in range(len(records))])
    )
    apart = []
    for other in ("size", "form"):
        made = discreet.tabulate(microdata, by={"region": REGION, other: None}, value="sales")
        cells = made.frame().select("region", other, "value", "count")
        by: dict[str, Any] = {"region": REGION, other: None}
        apart.append(Table.from_frame(cells, by=by, value="value", count="count"))
    linked = discreet.link(apart)
    names = ["region", "size", "form"]
    groups = partition(linked, names)
    assert linked.count is not None
    assert sum(map(len, groups.values())) == (linked.count == 1).sum()
    below = {code: {code, *REGION.codes} if code == "Total" else {code} for code in REGION.codes}
    below |= {"n": {"n", "1", "2"}, "s": {"s", "3", "4"}}

    def contributors(cell: tuple[str, ...]) -> set[int]:
        region, *rest = cell
        return {
            at
            for at, row in enumerate(microdata.select(names).iter_rows())
            if row[0] in below[region] and all(code in ("Total", own) for code, own in zip(rest, row[1:], strict=True))
        }

    owners = {who: {one for cell in cells for one in contributors(cell)} for who, cells in groups.items()}
    assert all(len(found) == 1 for found in owners.values())  # cells of one number are one contributor's
    assert len({min(found) for found in owners.values()}) <= len(owners)
    # Whoever is alone in a total and in a part of it, in whichever table, has one number.
    number = {cell: who for who, cells in groups.items() for cell in cells}
    for region in REGION.codes:
        if (region, "Total", "Total") in number:
            parts = [cell for cell in number if cell[0] == region]
            assert {number[cell] for cell in parts} == {number[region, "Total", "Total"]}


def test_a_part_above_the_whole_tells_of_negative_contributions() -> None:
    cells = CELLS.with_columns(most=pl.Series([70.0, 10.25, 50.25]))
    with pytest.raises(InputError, match="1 negative contributions"):
        discreet.primary(cells, by="size", value="sales", max="most", total="All", dominance=(1, 75))


def test_the_turnover_of_the_reference(table_reference: Callable[[str], Path]) -> None:
    table = discreet.primary(
        table_reference("rtauargus/turnover_act_nuts_size.csv"),
        by=[
            f"ACTIVITY@{table_reference('rtauargus/activity_corr_table.csv')}",
            f"NUTS@{table_reference('rtauargus/nuts23_fr_corr_table.csv')}",
            "SIZE",
        ],
        value="TOT",
        count="N_OBS",
        max="MAX",
        decimals=4,
        threshold=3,
        dominance=(1, 85),
    )
    assert (len(table), len(table.primary), table.decimals) == (3168, 1249, 4)
    sole = sole_contributors(table)
    assert sole is not None
    assert table.count is not None
    assert np.array_equal(sole >= 0, table.count == 1)
