"""Our own table files: nothing is lost, what is wrong is told with its place, and a file made by hand needs little."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import own
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.relations import build_relations
from discreet.tabular.table import RULES, Table
from random_tables import random_table

CANARY = "7316094825"
REGION = Dimension(
    "region",
    [
        Hierarchy.from_pairs([("n", "All"), ("s", "All"), (" 1", "n"), ("2", "n"), ("3", "s")], source="r.hrc"),
        Hierarchy.from_pairs([("coast", "All"), ("inland", "All"), (" 1", "coast"), ("2", "inland"), ("3", "coast")]),
    ],
    missing=["3"],
)
SIZE = Dimension("size", Hierarchy.flat(["small", "large, or so"]))


def linked() -> Table:
    """Region by size under one hierarchy, region alone under the other."""
    parts = (((0, (0,)), (1, (0,))), ((0, (1,)),))
    base = {(" 1", "small"): 1.1, ("2", "large, or so"): 2.2, ("3", "small"): 3.3}
    sums: dict[tuple[str, str], float] = {}
    for (region, size), value in base.items():
        for above in REGION.ancestors[REGION.position[region]].tolist():
            for whole in ("Total", size):
                if whole == "Total" or REGION.codes[above] not in ("coast", "inland"):
                    key = (REGION.codes[above], whole)
                    sums[key] = sums.get(key, 0.0) + value
    n = len(sums)
    return Table.of(
        list(sums.values()),
        dimensions=(REGION, SIZE),
        codes=[(REGION.position[one], SIZE.position[other]) for one, other in sums],
        parts=parts,
        count=np.arange(n) / 4,
        status=(np.arange(n) % 4).astype(np.uint8),
        rule=(np.arange(n) % (1 << len(RULES))).astype(np.int32),
        tops=np.arange(3.0 * n).reshape(n, 3),
        asked=np.arange(n) / 3,
        sole=np.arange(n) - 1,
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        spl=np.arange(n) / 7,
        decimals=None,
        response="turnover",
        rules={"p": {"p": 15, "n": np.int64(1)}},
        notes=("an assumption",),
    )


def written(table: Table, path: Path) -> Path:
    for file, data in own.render(table, path).items():
        file.write_bytes(data)
    return path


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        own.read(path)
    assert CANARY not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_linked_tables_come_back_whole(tmp_path: Path, suffix: str) -> None:
    table = linked()
    back = own.read(written(table, tmp_path / f"a{suffix}"))
    for name in ("value", "count", "status", "rule", "tops", "asked", "sole", "lower", "upper", "spl", "cost", "codes"):
        assert np.array_equal(getattr(back, name), getattr(table, name)), name
    assert back.dimensions == table.dimensions
    assert [way.source for way in back.dimensions[0].hierarchies] == ["r.hrc", "the hierarchy"]
    assert (back.parts, back.decimals, back.response) == (table.parts, None, "turnover")
    assert (back.rules, back.notes, back.source) == ({"p": {"p": 15, "n": 1}}, ("an assumption",), f"a{suffix}")
    assert (back.relations.matrix != table.relations.matrix).nnz == 0


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.floats(allow_nan=True, allow_infinity=False), min_size=3, max_size=3),
    suffix=st.sampled_from([".csv", ".parquet"]),
)
def test_numbered_cells_come_back_exactly(tmp_path: Path, values: list[float], suffix: str) -> None:
    relations = build_relations([0, 0, 1], [0, 2, 1], [-1, 0.1, 1], [0, 1e-300], 3)
    table = Table.of(values, relations=relations, cost=np.ones(3))
    back = own.read(written(table, tmp_path / f"a{suffix}"))
    assert np.array_equal(back.value, table.value, equal_nan=True)
    for name in ("starts", "cells", "coefficients", "rhs", "n"):
        assert np.array_equal(getattr(back.relations, name), getattr(relations, name)), name
    assert back.dimensions == ()


def test_the_metadata_say_first_that_the_file_is_internal(tmp_path: Path) -> None:
    files = own.render(linked(), tmp_path / "a.csv")
    said = json.loads(files[tmp_path / "a.table.json"])
    assert list(said.items())[:2] == [
        ("internal", "holds confidential values; not for publication"),
        ("schema", "discreet/table/3"),
    ]


def test_a_file_of_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for name, content in own.render(linked(), path).items():
        name.write_bytes(content.replace(b"discreet/table/2", b"discreet/table/1"))
    assert np.array_equal(own.read(path).value, linked().value)


def test_what_is_left_without_a_holding_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    for seed, suffix in enumerate((".csv", ".parquet")):
        table = random_table(rng, [3, 3], holdings=True, linked=bool(seed))
        assert table.others is not None
        path = tmp_path / f"a{suffix}"
        for name, content in own.render(table, path).items():
            name.write_bytes(content)
        again = own.read(path).others
        assert again is not None
        for column in ("who", "cell", "value", "count", "tops"):
            assert np.array_equal(getattr(again, column), getattr(table.others, column))


def test_the_columns(tmp_path: Path) -> None:
    header = own.render(linked(), tmp_path / "a.csv")[tmp_path / "a.csv"].decode().splitlines()[0]
    assert header == "region,size,value,count,status,rule,cost,lb,ub,lpl,upl,spl,top1,top2,top3,asked,sole"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_made_by_hand_needs_dimensions_and_values(tmp_path: Path, suffix: str) -> None:
    frame = pl.DataFrame({"size": ["Total", " s", "l"], "value": ["3.5", "1", "2.5"]})
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.cast({"value": pl.Float64}).write_parquet(path)
    table = own.read(path)
    assert table.dimensions == (Dimension("size", Hierarchy.flat([" s", "l"])),)
    assert table.value.tolist() == [3.5, 1, 2.5]
    assert "flat" in table.notes[0]
    table.check()


def test_a_file_made_by_hand_may_have_a_decimal_comma(tmp_path: Path) -> None:
    table = own.read(put(tmp_path / "a.csv", "size;value;cost\nTotal;3,5;1,25\ns;1,0;2\nl;2,5;3\n"))
    assert table.value.tolist() == [3.5, 1, 2.5]
    assert table.cost.tolist() == [1.25, 2, 3]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("size,cost\nTotal,1\na,1\n", ["no column 'value'"]),
        (f"Total,{CANARY}\na,{CANARY}\n", ["no column 'value'"]),
        ("value\n1\n2\n", ["no dimensions"]),
        ("size,value\na,1\nb,2\n", ["'size'", "'Total'", "a.table.json"]),
        ("size,value\nTotal,1\na,1\na,1\n", ["more than once: line 4;"]),
        (f"size,value\nTotal,1\na,{CANARY}x\n", ["line 3", "'value'", "not a number"]),
        (f'size,value\nTotal,1\na,"{CANARY},5"\nb,1.5\n', ["line 3", "'value'", "decimal comma"]),
        ("size,value\nTotal,1\na,inf\n", ["line 3", "'value'", "finite"]),
        ("size,value,status\nTotal,1,s\na,1,x\n", ["line 3", "'status'", "s, u, m, z"]),
        ("size,value,rule\nTotal,1,p\na,1,p+magic\n", ["line 3", "'rule'", "threshold"]),
        ("size,value,lpl\nTotal,1,\na,1,2\n", ["line 2", "'lpl'", "blank"]),
        ("size,value,top2\nTotal,1,1\na,1,2\n", ["top1, top2"]),
        ("size,value\n,1\nTotal,1\na,1\n", ["'size'", "line 2"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, content: str, told: list[str]) -> None:
    message = refused(put(tmp_path / "a.csv", content))
    assert all(words in message for words in ["a.csv", *told]), message


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("region,size", "Region,size", ["no column", "region"]),
        ("asked,sole", "asked,extra", ["no dimension", "extra"]),
        ("\nAll,", "\nall,", ["'region'", "line 2"]),
        ("\nn,Total,", "\nAll,Total,", ["more than once: line 4;"]),
        ("\nAll,Total,", "\nAll,none,", ["'size'", "line 2"]),
    ],
)
def test_a_file_that_does_not_fit_its_metadata_is_refused(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    path = written(linked(), tmp_path / "a.csv")
    text = path.read_text()
    assert old in text
    message = refused(put(path, text.replace(old, new, 1)))
    assert all(words in message for words in ["a.csv", *told]), message


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("{", "no JSON"),
        ("[]", "schema"),
        ('{"schema": "discreet/table/1", "dimensions": [], "decimals": "two"}', "incomplete"),
        ('{"schema": "discreet/table/1", "dimensions": [], "parts": [[[0, [0]]]]}', "incomplete"),
        ('{"schema": "discreet/table/9"}', "schema"),
        ('{"schema": "discreet/table/1"}', "incomplete"),
        ('{"schema": "discreet/table/1", "dimensions": [{"name": "a"}]}', "incomplete"),
        (
            '{"schema": "discreet/table/1", "dimensions": [{"name": "a", "hierarchies": [{"codes": ["T", "b"], '
            '"parents": [-1, 1]}]}]}',
            "stands before",
        ),
        (
            '{"schema": "discreet/table/1", "dimensions": [], "relations": {"starts": [0, 5], "cells": [0], '
            '"coefficients": [1], "rhs": [0], "n": 1}}',
            "incomplete",
        ),
    ],
)
def test_metadata_that_are_wrong_are_refused(tmp_path: Path, change: str, told: str) -> None:
    path = written(linked(), tmp_path / "a.csv")
    put(tmp_path / "a.table.json", change)
    message = refused(path)
    assert "a.table.json" in message
    assert told in message


def test_cells_without_dimensions_keep_their_order_and_number(tmp_path: Path) -> None:
    table = Table.of([2.0, 1.0, 1.0], relations=build_relations([0, 0, 0], [0, 1, 2], [-1, 1, 1], [0], 3))
    path = written(table, tmp_path / "a.csv")
    head, *lines = path.read_text().splitlines(keepends=True)
    assert "do not sort" in refused(put(path, "".join([head, *lines[::-1]])))
    assert "added or deleted" in refused(put(path, "".join([head, *lines[:-1]])))


def test_a_dimension_cannot_have_the_name_of_another_column(tmp_path: Path) -> None:
    for name in ("value", "top3", "cell", "lb"):
        dimension = Dimension(name, Hierarchy.flat(["a"]))
        table = Table.of([1, 1], dimensions=(dimension,), codes=[[0], [1]])
        with pytest.raises(InputError, match=name):
            own.render(table, tmp_path / "a.csv")


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    path = written(linked(), tmp_path / "a.parquet")
    assert "Parquet" in refused(put(path, path.read_bytes()[:200]))
    assert "Parquet" in refused(put(path, "size,value\n"))


def test_counts_that_an_earlier_version_has_judged_are_told(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y"]})
    table = discreet.primary(discreet.tabulate(frame, by=["a"], existing_only=True), threshold=2)
    path = tmp_path / "t.csv"
    for target, content in own.render(table, path).items():
        target.write_bytes(content)
    assert not any("earlier version" in note for note in own.read(path).notes)
    beside = own.beside(path)
    said = json.loads(beside.read_text()) | {"schema": "discreet/table/2"}
    beside.write_text(json.dumps(said))
    assert any("earlier version" in note for note in own.read(path).notes)
