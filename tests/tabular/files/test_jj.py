"""Tables of numbered cells: numbers come back exactly, and what is wrong is told with its line and no value."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.files import jj
from discreet.tabular.relations import build_relations
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table

TINY = """0
4
0 60.5 60.5 s 0 158 0 0 0
1 20.5 20.5 u 0 158 3 3 0
2 30 30 m 0 158 0 0 0
3 10 10 z 0 158 0 0 0
2
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
0 2 : 2 (-1) 3 (3)
"""
NUMBERS = st.one_of(st.integers(-(10**6), 10**6).map(float), st.floats(allow_nan=False, allow_infinity=False))
COLUMNS = ("value", "cost", "lower", "upper", "lpl", "upl", "spl")


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """Any cells and relations at all; they need not add up to be written."""
    n = draw(st.integers(1, 12))
    held: dict[str, Any] = {name: np.array(draw(st.lists(NUMBERS, min_size=n, max_size=n))) for name in COLUMNS}
    held["upper"][draw(st.integers(0, n - 1))] = np.inf
    status = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.uint8)
    named = draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, unique=True), max_size=5))
    rows = [row for row, cells in enumerate(named) for _ in cells]
    cells = [cell for line in named for cell in line]
    coefficients = draw(st.lists(NUMBERS, min_size=len(cells), max_size=len(cells)))
    rhs = draw(st.lists(NUMBERS, min_size=len(named), max_size=len(named)))
    relations = build_relations(np.array(rows, dtype=np.int64), cells, coefficients, rhs, n)
    return Table.of(held.pop("value"), relations=relations, status=status, **held)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, content: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        jj.read(put(path, content))
    return str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), wide=st.booleans(), end=st.sampled_from(["\n", "\r\n"]), packed=st.booleans())
def test_a_table_comes_back_exactly(tmp_path: Path, table: Table, wide: bool, end: str, packed: bool) -> None:
    text = jj.text(table).replace("\n", end)
    if wide:
        text = text.replace(" (", "\t ( ").replace(")", " )").replace(" ", "  ")
    data = text.encode()
    back = jj.read(put(tmp_path / "a.jj", gzip.compress(data) if packed else data))
    for name in (*COLUMNS, "status"):
        assert np.array_equal(getattr(back, name), getattr(table, name)), name
    for name in ("starts", "cells", "coefficients", "rhs", "n"):
        assert np.array_equal(getattr(back.relations, name), getattr(table.relations, name)), name


def test_every_field_has_its_meaning(tmp_path: Path) -> None:
    table = jj.read(put(tmp_path / "a.jj", TINY))
    assert table.value.tolist() == [60.5, 20.5, 30, 10]
    assert table.status.tolist() == [SAFE, PRIMARY, SECONDARY, FIXED]
    assert table.rule.tolist() == [0, 1 << RULES.index("given"), 0, 0]
    assert (table.lpl[1], table.upl[1], table.upper[0]) == (3, 3, 158)
    assert table.decimals == 1
    assert table.relations.matrix.toarray().tolist() == [[-1, 1, 1, 1], [0, 0, -1, 3]]
    table.check()
    assert jj.text(table) == TINY


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0\n4", "0.0\n4"),
        ("0\n4", "\n0\n\n4"),
        ("60.5 60.5", "6.05e1 +60.50"),
        ("60.5 60.5", "605E-1  60.5  "),
        ("1 (1)", "1 ( 1.0 )"),
        ("1 (1)", "1(1)"),
        ("0 4 :", "0.0 4:"),
        ("2 (-1) 3 (3)\n", "2 (-1) 3 (3)"),
        ("2 (-1) 3 (3)\n", "2 (-1) 3 (3)\n\n  \n\x1a"),
        ("2 (1) 3 (1)", "2 (1)\n   3 (1)"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, old: str, new: str) -> None:
    assert old in TINY
    assert jj.text(jj.read(put(tmp_path / "a.jj", TINY.replace(old, new, 1)))) == TINY


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("0\n4\n", "7\n4\n", ["line 1", "constant", "0"]),
        ("0\n4\n", "0\nfour\n", ["line 2", "number of cells", "not a number"]),
        ("0\n4\n", "0\n4.5\n", ["line 2", "whole number"]),
        ("0\n4\n", "0\n0\n", ["number of cells", "1 or more"]),
        ("0\n4\n", "0\ninf\n", ["line 2", "whole number"]),
        ("0\n4\n", "0\n5\n", ["line 7", "cell 4", "fewer cells than announced"]),
        ("0\n4\n", "0\n3\n", ["line 6", "number of relations", "9 fields"]),
        ("2 30 30", "3 30 30", ["line 5", "cell 2", "in order"]),
        ("30 30 m", "30 30 x", ["line 5", "status", "s, u, m, z"]),
        ("30 30 m", "30 30 S", ["line 5", "status"]),
        ("30 30 m", "30 m 30", ["line 5", "cost of cell 2", "not a number"]),
        ("30 30 m", "30 30 mm", ["line 5", "status"]),
        ("30 30 m", "30 30m", ["line 5", "9 fields", "not 8"]),
        ("20.5 20.5", "20,5 20.5", ["line 4", "value of cell 1", "decimal comma"]),
        ("20.5 20.5", "20.5 2o.5", ["line 4", "cost of cell 1", "not a number"]),
        ("20.5 20.5", "nan 20.5", ["line 4", "value of cell 1", "finite"]),
        ("20.5 20.5", "2_0.5 20.5", ["line 4", "not a number"]),
        ("0 158 3 3 0", "0 nan 3 3 0", ["line 4", "upper bound of cell 1", "finite"]),
        ("\n2\n0 4", "\n3\n0 4", ["ends before relation 3;"]),
        ("\n2\n0 4", "\n1\n0 4", ["line 9", "data after the last relation"]),
        ("0 2 :", "0 3 :", ["line 9", "has 2 terms, which is not what it announces"]),
        ("0 2 :", "0 0 :", ["line 9", "has 2 terms, which is not what it announces"]),
        ("0 2 :", "0 2", ["line 9", "'rhs k : j (c)"]),
        ("0 2 :", "x 2 :", ["line 9", "right-hand side", "not a number"]),
        ("0 2 :", "inf 2 :", ["line 9", "right-hand side", "finite"]),
        ("3 (3)", "4 (3)", ["line 9", "not there", "0 to 3"]),
        ("3 (3)", "-1 (3)", ["line 9", "not there"]),
        ("3 (3)", "2.5 (3)", ["line 9", "not there"]),
        ("3 (3)", "2 (3)", ["line 9", "cell 2 twice"]),
        ("3 (3)", "3 3", ["line 9", "in brackets"]),
        ("3 (3)", "3 (nan)", ["line 9", "coefficient", "finite"]),
        ("3 (3)", "3 (3", ["line 9", "in brackets"]),
        ("3 (3)\n", "3 (3)\n5\n", ["line 10", "after the last", "twice"]),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    assert old in TINY
    message = refused(tmp_path / "bad.jj", TINY.replace(old, new, 1))
    assert all(words in message for words in ["bad.jj", *told]), message
    assert not any(value in message for value in ("60.5", "20.5", "20,5", "158"))


@pytest.mark.parametrize("lines", range(1, 9))
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, lines: int) -> None:
    assert "the file ends before" in refused(tmp_path / "a.jj", "".join(TINY.splitlines(keepends=True)[:lines]))


def test_a_file_that_is_cut_off_in_a_line_is_refused(tmp_path: Path) -> None:
    for at in range(2, len(TINY) - 2):
        refused(tmp_path / "a.jj", TINY[:at])


def test_a_file_written_twice_is_refused(tmp_path: Path) -> None:
    message = refused(tmp_path / "a.jj", TINY + TINY)
    assert "line 10" in message
    assert "written twice" in message


def test_a_damaged_compressed_file_is_refused(tmp_path: Path) -> None:
    data = gzip.compress(TINY.encode())
    for broken in (data[:-9], data[:30], b"\x1f\x8b" + TINY.encode()):
        assert "damaged or cut off" in refused(tmp_path / "a.jj.gz", broken)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(at=st.integers(0, len(TINY) - 1), new=st.text("0123456789.,-:() sumzxe\n", max_size=3), cut=st.integers(0, 3))
def test_whatever_is_changed_is_read_or_refused_in_our_words(tmp_path: Path, at: int, new: str, cut: int) -> None:
    path = put(tmp_path / "a.jj", TINY[:at] + new + TINY[at + cut :])
    try:
        table = jj.read(path)
    except InputError:
        return
    # What is read can be written and read again as the same.
    assert jj.text(jj.read(put(tmp_path / "b.jj", jj.text(table)))) == jj.text(table)


def test_unknown_values_have_no_place_in_the_file(tmp_path: Path) -> None:
    table = jj.read(put(tmp_path / "a.jj", TINY))
    with pytest.raises(InputError, match="not known"):
        jj.text(table.but(value=np.array([60.5, np.nan, 30, 10])))


@pytest.mark.parametrize(
    ("name", "cells", "relations", "primaries"),
    [
        ("tiny.jj", 9, 6, 1),
        ("t200x5.jj", 1206, 207, 90),
        ("t200x50.jj", 10251, 252, 1040),
        ("t10x10x10.jj.gz", 1331, 363, 100),
        ("t100x27x18.jj.gz", 48600, 4986, 13127),
    ],
)
def test_the_reference_tables(
    table_reference: Callable[[str], Path], name: str, cells: int, relations: int, primaries: int
) -> None:
    table = jj.read(table_reference(f"jj/{name}"))
    assert (len(table), len(table.relations), len(table.primary)) == (cells, relations, primaries)
    table.check()
