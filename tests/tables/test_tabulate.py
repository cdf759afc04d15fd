"""A table from microdata is a plain group-by over every combination of a record's codes and what they are part of."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.tables import tabulation as tallying
from discreet.tables.tabulation import Contributions
from discreet.tabular.dimension import Dimension
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import Table
from random_tables import ancestors_of, cell_of, generators, names_of, random_contributions, random_dimensions

CANARY = "731609"
FRAME = pl.DataFrame(
    {
        "region": ["n", "n", "s", "s", "s"],
        "size": ["1", "2", "1", "1", "2"],
        "sales": [10.25, 20.5, 30.0, 0.05, 7.1],
        "weight": [1.0, 2.5, 1.0, 1.0, 1.0],
        "owner": ["x", "x", "y", "z", "y"],
        "wants": [False, True, False, True, False],
    }
)


def frame_of(dimensions: tuple[Dimension, ...], given: Contributions) -> pl.DataFrame:
    columns: dict[str, Any] = {
        one.name: [one.codes[code] for code in given.codes[:, axis]] for axis, one in enumerate(dimensions)
    }
    columns["amount"] = given.amount
    for name in ("weight", "holding", "asked"):
        if getattr(given, name) is not None:
            columns[name] = getattr(given, name)
    return pl.DataFrame(columns)


def plain_cells(
    dimensions: tuple[Dimension, ...], given: Contributions, decimals: int
) -> dict[tuple[str, ...], list[int]]:
    """The records of every cell."""
    found: dict[tuple[str, ...], list[int]] = {}
    for record, codes in enumerate(given.codes.tolist()):
        lines = [ancestors_of(one, one.codes[code]) for one, code in zip(dimensions, codes, strict=True)]
        for cell in product(*lines):
            found.setdefault(cell, []).append(record)
    return found


def exact(number: float, decimals: int) -> Fraction:
    return Fraction(round(number * 10**decimals), 10**decimals)


def agree(table: Table, dimensions: tuple[Dimension, ...], given: Contributions, decimals: int, top: int) -> None:
    """Compare every cell of a table with the records in it."""
    records = plain_cells(dimensions, given, decimals)
    names = names_of(table)
    assert set(names) == set(records)
    assert len(names) == len(records)
    assert table.count is not None
    assert table.tops is not None
    assert table.sole is not None
    owners: dict[int, object] = {}
    for cell, name in enumerate(names):
        inside = records[name]
        weight = [Fraction(1) if given.weight is None else Fraction(float(given.weight[at])) for at in inside]
        amount = [exact(float(given.amount[at]), decimals) for at in inside]
        assert table.value[cell] == float(sum(w * x for w, x in zip(weight, amount, strict=True)))
        who = [at if given.holding is None else int(given.holding[at]) for at in inside]
        summed: dict[int, Fraction] = {}
        heaviest: dict[int, Fraction] = {}
        wanted: set[int] = set()
        for at, one, w, x in zip(inside, who, weight, amount, strict=True):
            summed[one] = summed.get(one, Fraction(0)) + x
            heaviest[one] = max(heaviest.get(one, Fraction(0)), w)
            if given.asked is not None and given.asked[at]:
                wanted.add(one)
        assert table.count[cell] == float(sum(heaviest.values()))
        tops = [float(x) for x in sorted(summed.values(), reverse=True)]
        np.testing.assert_allclose(table.tops[cell], [*tops, *[0.0] * top][:top], rtol=1e-14)
        if given.asked is None:
            assert table.asked is None
        else:
            assert table.asked is not None
            largest = max((float(summed[one]) for one in wanted), default=0.0)
            np.testing.assert_allclose(table.asked[cell], largest, rtol=1e-14)
        assert (table.sole[cell] >= 0) == (len(summed) == 1)
        if len(summed) == 1:
            # The same contributor has the same number wherever it is alone, and no two share one.
            assert owners.setdefault(int(table.sole[cell]), who[0]) == who[0]
    assert len(set(owners.values())) == len(owners)


@settings(max_examples=30)
@given(
    generators,
    st.fixed_dictionaries({"hierarchical": st.booleans(), "second": st.booleans()}),
    st.fixed_dictionaries({"weights": st.booleans(), "holdings": st.booleans(), "asked": st.booleans()}),
    st.sampled_from([0, 1, 2, 4]),
    st.integers(1, 4),
)
def test_every_cell_is_what_the_records_in_it_come_to(
    rng: np.random.Generator, shape: dict[str, bool], held: dict[str, bool], decimals: int, top: int
) -> None:
    dimensions = random_dimensions(rng, int(rng.integers(1, 4)), **shape)
    given = random_contributions(rng, dimensions, zeros=0.5, decimals=decimals, **held)
    table = discreet.tabulate(
        frame_of(dimensions, given),
        by=list(dimensions),
        value="amount",
        weight="weight" if held["weights"] else None,
        holding="holding" if held["holdings"] else None,
        request="asked" if held["asked"] else None,
        top=top,
    )
    agree(table, dimensions, given, decimals, top)
    table.check()
    assert table.decimals is not None
    assert table.decimals <= decimals + (1 if held["weights"] else 0)
    assert table.response == "amount"


@settings(max_examples=20)
@given(generators)
def test_four_and_five_dimensions_are_no_other(rng: np.random.Generator) -> None:
    dimensions = random_dimensions(rng, int(rng.integers(4, 6)), hierarchical=True)
    given = random_contributions(rng, dimensions, zeros=1.6)
    some = rng.permutation(len(given.amount))[:15]
    few = Contributions(given.codes[some], given.amount[some])
    table = discreet.tabulate(frame_of(dimensions, few), by=list(dimensions), value="amount")
    agree(table, dimensions, few, 0, 3)


@given(generators, st.booleans())
def test_complete_adds_the_cells_to_which_nobody_contributes(rng: np.random.Generator, second: bool) -> None:
    dimensions = random_dimensions(rng, 2, hierarchical=True, second=second)
    given = random_contributions(rng, dimensions, zeros=1.0, asked=True)
    frame = frame_of(dimensions, given)
    sparse = discreet.tabulate(frame, by=list(dimensions), value="amount", request="asked")
    full = discreet.tabulate(frame, by=list(dimensions), value="amount", request="asked", complete=True)
    assert set(names_of(full)) == set(product(*(one.codes for one in dimensions)))
    assert len(full) == np.prod([len(one.codes) for one in dimensions])
    place = {name: at for at, name in enumerate(names_of(full))}
    same = np.array([place[name] for name in names_of(sparse)])
    rest = np.setdiff1d(np.arange(len(full)), same)
    for column, empty in (("value", 0.0), ("count", 0.0), ("tops", 0.0), ("asked", 0.0), ("sole", -1)):
        np.testing.assert_array_equal(getattr(full, column)[same], getattr(sparse, column))
        assert (getattr(full, column)[rest] == empty).all()
    full.check()


@settings(max_examples=30)
@given(generators, st.booleans())
def test_parts_are_tables_of_their_own_linked_by_what_they_share(rng: np.random.Generator, second: bool) -> None:
    dimensions = random_dimensions(rng, 3, hierarchical=True, second=second)
    given = random_contributions(rng, dimensions, zeros=0.5)
    frame = frame_of(dimensions, given)
    linked = discreet.tabulate(frame, by=list(dimensions), value="amount", parts=[["A", "B"], ["C", "A"]])
    whole = discreet.tabulate(frame, by=list(dimensions), value="amount")
    kept = [at for at, (_, b, c) in enumerate(names_of(whole)) if "Total" in (b, c)]
    assert sorted(names_of(linked)) == sorted(names_of(whole)[at] for at in kept)
    place = {name: at for at, name in enumerate(names_of(whole))}
    same = [place[name] for name in names_of(linked)]
    for column in ("value", "count", "tops", "sole"):
        np.testing.assert_array_equal(getattr(linked, column), getattr(whole, column)[same])
    linked.check()
    assert len(linked.parts) == 2


def test_decimals_are_exact() -> None:
    frame = pl.DataFrame({"x": ["a"] * 10 + ["b"], "y": [0.1] * 10 + [0.2]})
    table = discreet.tabulate(frame, by=["x"], value="y")
    assert table.value.tolist() == [1.2, 1.0, 0.2]
    assert table.decimals == 1
    weighted = discreet.tabulate(frame.with_columns(w=pl.lit(0.3)), by=["x"], value="y", weight="w")
    assert weighted.value.tolist() == [0.36, 0.3, 0.06]
    assert weighted.decimals == 2


def test_values_that_are_no_decimals_are_summed_as_they_are() -> None:
    frame = pl.DataFrame({"x": ["a", "a", "b"], "y": [1 / 3, 2 / 3, np.pi]})
    table = discreet.tabulate(frame, by=["x"], value="y")
    np.testing.assert_allclose(table.value, [1 + np.pi, 1, np.pi])
    assert table.decimals is None


def test_without_a_value_records_are_counted() -> None:
    table = discreet.tabulate(FRAME, by=["region", "size"])
    assert table.count is not None
    np.testing.assert_array_equal(table.value, table.count)
    assert table.value[cell_of(table, "s", "1")] == 2
    assert table.value[cell_of(table, "Total", "Total")] == 5
    assert table.response is None
    weighted = discreet.tabulate(FRAME, by="region", weight="weight")
    assert weighted.value[cell_of(weighted, "n")] == 3.5


def test_records_without_a_value_are_left_out_and_told() -> None:
    frame = FRAME.with_columns(sales=pl.when(pl.col("size") == "2").then(None).otherwise(pl.col("sales")))
    table = discreet.tabulate(frame, by=["region", "size"], value="sales")
    assert any("2 records without a value of 'sales' are left out" in note for note in table.notes)
    assert set(table.codes_of(1)) == {"Total", "1"}
    assert table.count is not None
    assert table.count[cell_of(table, "n", "Total")] == 1


def test_a_record_without_a_holding_is_its_own() -> None:
    frame = FRAME.with_columns(owner=pl.Series(["x", None, "y", None, "y"]))
    table = discreet.tabulate(frame, by=["region"], value="sales", holding="owner")
    assert table.count is not None
    assert table.sole is not None
    assert table.count.tolist() == [4, 2, 2]
    none = discreet.tabulate(
        FRAME.with_columns(owner=pl.lit(None, pl.String)), by=["region"], value="sales", holding="owner"
    )
    assert none.count is not None
    assert none.count.tolist() == [5, 2, 3]


@pytest.mark.parametrize(
    "wants",
    [
        [False, True, False, True, False],
        [0, 1, 0, 2, 0],
        ["0", "1", "no", "yes", ""],
        [None, "j", "N", "1", "false"],
        [None, True, None, True, None],
        [0.0, 1.0, None, 0.5, 0.0],
        ["0.0", "1.0", "00", "2", "-0"],
    ],
)
def test_who_asks_for_protection_may_say_so_in_many_ways(wants: list[Any]) -> None:
    table = discreet.tabulate(FRAME.with_columns(wants=pl.Series(wants)), by=["region"], value="sales", request="wants")
    assert table.asked is not None
    assert table.asked.tolist() == [20.5, 20.5, 0.05]


def test_hierarchies_may_be_files_digits_columns_or_objects(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "land": ["w", "w", "e", "e"],
            "town": ["11", "12", "21", "22"],
            "y": [1, 2, 4, 8],
        }
    )
    (tmp_path / "town.hrc").write_text("1\n@11\n@12\n2\n@21\n@22\n")
    (tmp_path / "odd.hrc").write_text("odd\n@11\n@21\neven\n@12\n@22\n")
    first = Hierarchy.from_digits(frame["town"], [1, 1])
    second = Hierarchy.from_hrc(tmp_path / "odd.hrc")
    one = discreet.tabulate(frame, by={"town": first}, value="y")
    for by in (
        ["town@1+1"],
        "town@1+1",
        [f"town@{tmp_path / 'town.hrc'}"],
        {"town": tmp_path / "town.hrc"},
        [Dimension("town", first)],
    ):
        same = discreet.tabulate(frame, by=by, value="y")
        assert same.dimensions == one.dimensions
        assert dict(zip(names_of(same), same.value, strict=True)) == dict(zip(names_of(one), one.value, strict=True))
    both = discreet.tabulate(frame, by=[f"town@1+1@{tmp_path / 'odd.hrc'}"], value="y")
    assert both.dimensions == (Dimension("town", [first, second]),)
    assert both.value[cell_of(both, "odd")] == 5
    assert discreet.tabulate(frame, by={"town": [first, second]}, value="y").dimensions == both.dimensions
    nested = discreet.tabulate(frame, by=["land>town"], value="y")
    assert dict(zip(nested.codes_of(0), nested.value, strict=True)) == {
        "Total": 15,
        "e": 12,
        "21": 4,
        "22": 8,
        "w": 3,
        "11": 1,
        "12": 2,
    }
    assert nested.dimensions[0].name == "town"


def test_numbers_are_codes_and_the_total_may_be_named() -> None:
    frame = pl.DataFrame({"a": [1, 2, 2], "b": [1.0, 2.0, 2.0]})
    table = discreet.tabulate(frame, by=["a", "b"], total="all")
    assert names_of(table)[0] == ("all", "all")
    assert set(table.codes_of(0)) == set(table.codes_of(1)) == {"all", "1", "2"}


def test_codes_of_the_hierarchy_that_are_not_in_the_data_make_no_cells() -> None:
    table = discreet.tabulate(FRAME, by={"region": Hierarchy.flat("nswe")}, value="sales")
    assert set(table.codes_of(0)) == {"Total", "n", "s"}


def test_a_dimension_keeps_its_missing_codes() -> None:
    given = Dimension("region", Hierarchy.flat("ns"), missing=["n"])
    assert discreet.tabulate(FRAME, by=[given], value="sales").dimensions == (given,)


def test_a_table_of_a_file_is_that_of_its_frame(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    FRAME.write_csv(path)
    table = discreet.tabulate(path, by=["region", "size"], value="sales", weight="weight", holding="owner")
    same = discreet.tabulate(FRAME, by=["region", "size"], value="sales", weight="weight", holding="owner")
    assert names_of(table) == names_of(same)
    np.testing.assert_array_equal(table.value, same.value)
    assert table.source == "the table of some.csv"


REGION = Hierarchy.from_pairs([("n", "Total"), ("a", "n"), ("s", "Total")], source="region.hrc")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"by": ["regoin"]}, "has no column 'regoin'; it has region, size"),
        ({"value": "sale"}, "has no column 'sale'"),
        ({"weight": "w"}, "has no column 'w'"),
        ({"holding": "h"}, "has no column 'h'"),
        ({"request": "r"}, "has no column 'r'"),
        ({"value": "owner"}, "'owner'"),
        ({"weight": "owner"}, "'owner'"),
        ({"value": "nothing"}, "no record has a value of 'nothing'|'nothing'"),
        ({"weight": "loss"}, "column 'loss' has weights that are negative or missing"),
        ({"weight": "gaps"}, "column 'gaps' has weights that are negative or missing"),
        ({"by": ["hole"]}, r"column 'hole' has no code in 2 records \(.*give them a code of their own"),
        ({"by": ["sales"]}, "column 'sales' holds numbers with decimals, which are no codes"),
        ({"by": {"size": Hierarchy.flat(["1", "3"])}}, r"1 code of column 'size' is not in the hierarchy \(row \d"),
        ({"by": {"region": REGION}}, r"'region' has 1 code that the hierarchy adds up from others \(row 0"),
        ({"by": {"total": Hierarchy.flat("ab")}}, r"1 code that the hierarchy adds up from others \(row 1\)"),
        ({"by": ["total"]}, "column 'total' has the code 'Total' of the total itself"),
        ({"by": ["region>nested"]}, "the code of the total is also a code below it"),
        ({"by": ["size>region"]}, "the columns are not nested"),
        (
            {"by": ["region@1+1"]},
            r"the digits of 'region': 2 codes do not have the 2 char.*\(row 0, row 1, row 2 and",
        ),
        ({"by": ["region@none.hrc"]}, "none.hrc"),
        ({"by": {"region": 3.5}}, "the hierarchy of 'region' must be a Hierarchy, a .hrc file or lengths"),
        ({"by": {"region": [REGION, None]}}, "the hierarchy of 'region' must be a Hierarchy, a .hrc file or lengths"),
        ({"by": []}, "by names no column"),
        ({"by": ["region", "region"]}, "by names region more than once"),
        ({"by": 5}, "by must name columns"),
        ({"by": [5]}, "by must name columns, not hold an object of type int"),
        ({"top": 0}, "top must be at least 1"),
        ({"parts": [["region"]]}, "no part spans size"),
        ({"parts": [["region", "size"], ["kind"]]}, "a part must list dimensions out of region, size"),
        ({"parts": [["region", "size"], []]}, "a part must list dimensions"),
        ({"parts": ["region", "size"]}, "a part must list dimensions"),
    ],
)
def test_what_cannot_be_tabulated_is_refused_without_a_value(changes: dict[str, Any], words: str) -> None:
    frame = FRAME.with_columns(
        sales=pl.Series([float(CANARY) + 0.5, *FRAME["sales"][1:]]),
        owner=pl.Series([f"{CANARY}x", *FRAME["owner"][1:]]),
        nothing=pl.lit(None, pl.Float64),
        loss=pl.Series([1.0, 1, -float(CANARY), 1, 1]),
        gaps=pl.Series([1.0, 1, None, 1, 1]),
        hole=pl.Series(["a", None, "a", None, "b"]),
        total=pl.Series(["a", "Total", "b", "a", "a"]),
        nested=pl.Series(["a", "Total", "b", "b", "b"]),
    )
    arguments: dict[str, Any] = {"by": ["region", "size"], "value": "sales", **changes}
    with pytest.raises(InputError, match=words) as error:
        discreet.tabulate(frame, **arguments)
    assert CANARY not in str(error.value)


def test_a_complete_table_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tallying, "MOST_CELLS", 8)
    assert len(discreet.tabulate(FRAME, by=["region", "size"], existing_only=True)) == 9
    with pytest.raises(InputError, match="the table would have 9 cells with its empty ones; leave the empty ones out"):
        discreet.tabulate(FRAME, by=["region", "size"], complete=True)


def test_a_frame_without_records_is_refused() -> None:
    with pytest.raises(InputError):
        discreet.tabulate(FRAME.clear(), by=["region"], value="sales")


def test_the_reference_table_is_the_published_one_to_the_cent(table_reference: Callable[[str], Path]) -> None:
    table = discreet.tabulate(
        table_reference("tau_testW/tau_testW.asc"),
        by=["Size", "Region"],
        value="Var2",
        meta=table_reference("tau_testW/Tau_TestW.rda"),
    )
    place = {tuple(code.strip() for code in name): at for at, name in enumerate(names_of(table))}
    compared = 0
    for line in table_reference("tau_testW/expected_size_region_modular.txt").read_text().splitlines():
        size, region, value, status = (field.strip().strip('"').strip() for field in line.split(","))
        if status == "14":
            assert (size, region) not in place
        elif value != "-":
            assert f"{table.value[place[size, region]]:.2f}" == value
            compared += 1
    assert compared >= len(table) - 9 - 12
    table.check()
