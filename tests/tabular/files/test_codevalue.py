"""Code-value output: statuses find their cells, and a file of another table is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import codevalue
from discreet.tabular.files.asc import dimension_of
from discreet.tabular.files.asc import read as read_records
from discreet.tabular.files.rda import read as read_metadata
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, SAFE, SECONDARY, Table

CANARY = "7316094825"
SIZE = Dimension("size", Hierarchy.flat([" 1", "10"]))
KIND = Dimension("kind", Hierarchy.flat(["a", 'b"c', "a,b"]))


def table_of(value: list[float], **given: Any) -> Table:
    codes = [(row, column) for row in range(3) for column in range(4)]
    return Table.of(value, dimensions=(SIZE, KIND), codes=codes, **given)


VALUES = [30.25, 10, 20.25, 0, 10, 10, 0, 0, 20.25, 0, 20.25, 0]
TABLE = table_of(VALUES, status=np.array([0, 1, 2, 3, 3] + [0] * 7, np.uint8))


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path, content: str, table: Table = TABLE) -> str:
    with pytest.raises(InputError) as caught:
        codevalue.read(put(path, content), table)
    assert CANARY not in str(caught.value)
    return str(caught.value)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    units=st.lists(st.integers(-(10**9), 10**9), min_size=12, max_size=12),
    digits=st.integers(0, 3),
    status=st.lists(st.integers(0, 3), min_size=12, max_size=12),
)
def test_statuses_come_back(tmp_path: Path, units: list[int], digits: int, status: list[int]) -> None:
    table = table_of([unit / 10**digits for unit in units], status=np.array(status, np.uint8))
    read = codevalue.read(put(tmp_path / "a.txt", codevalue.text(table)), table)
    assert read.tolist() == status
    assert read.dtype == np.uint8


def test_every_cell_is_written_in_its_way() -> None:
    lines = codevalue.text(TABLE).splitlines()
    assert lines[:5] == [
        '"Total","Total",30.25,1',
        '"Total","a",10.00,3',
        '"Total","b""c",20.25,11',
        '"Total","a,b",-,14',
        '" 1","Total",10.00,10',
    ]


@pytest.mark.parametrize(
    ("number", "status"),
    [
        *((number, SAFE) for number in (1, 2)),
        *((number, PRIMARY) for number in range(3, 10)),
        *((number, SECONDARY) for number in (11, 12)),
        *((number, FIXED) for number in (10, 13, 14)),
    ],
)
def test_the_numbers_of_statuses(tmp_path: Path, number: int, status: int) -> None:
    text = codevalue.text(TABLE).replace('"Total","a",10.00,3', f'"Total","a",10.00,{number}')
    assert codevalue.read(put(tmp_path / "a.txt", text), TABLE)[1] == status


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"Total","Total",', "Total,Total,"),
        ('"Total","a",10.00', '"Total","a ",10.00'),
        ('" 1","a",10.00', "1,a,10.00"),
        ("30.25", "30.3"),
        ("30.25", "3e1"),
        ('"Total","a",10.00,3', '"Total","a",x,3'),
        ('"Total","a",10.00,3', '"Total","a",-,3'),
        ('"10","a",0.00,1\n', '"10","a",,1\n'),
        ('"10","a",0.00,1\n', ""),
        ('"10","a",0.00,1\n', '"10","a",0.00,1\n\n"10","new",-,14\n'),
        ("\n", "\r\n"),
    ],
)
def test_other_ways_to_write_the_same(tmp_path: Path, old: str, new: str) -> None:
    text = codevalue.text(TABLE)
    assert old in text
    read = codevalue.read(put(tmp_path / "a.txt", text.replace(old, new)), TABLE)
    expected = TABLE.status.copy()
    if not new:
        expected[9] = FIXED  # an empty cell that the file does not have
    assert read.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"10","a",0.00,1', f'"10","new",{CANARY},1', ["line 10", "no such cell", "not empty"]),
        ('"10","a",0.00,1', '"10","a",0.00,15', ["line 10", "status", "1 to 14"]),
        ('"10","a",0.00,1', '"10","a",0.00,x', ["line 10", "status"]),
        ('"10","a",0.00,1', '"10","a",0.00', ["line 10", "3 fields", "are 4"]),
        ('"10","a",0.00,1', '"10","Total",20.25,1', ["line 10", "size=10 × kind=Total", "line 9"]),
        ('"10","a",0.00,1', f'"10","a",{CANARY},1', ["1 cell", "size=10 × kind=a", "line 10"]),
        ('"10","a",0.00,1', '"10","a",0.006,1', ["1 cell", "size=10 × kind=a"]),
        ('"10","a",0.00,1', f'"10","a","{CANARY},5",1', ["line 10", "not a number"]),
        ('"10","a",0.00,1', '"10","a",.,1', ["line 10", "not a number"]),
        ("30.25", "-", ["1 cell", "size=Total × kind=Total"]),
        ("30.25", "30.2", []),
        ("30.25", "30.1", ["1 cell", "size=Total × kind=Total"]),
        ('"10","b""c",20.25,1\n', "", ["lacks cells", 'size=10 × kind=b"c']),
        ('"10","a",0.00,1', '"10,a,0.00,1', ["quotation mark"]),
    ],
)
def test_a_file_that_does_not_fit_is_refused(tmp_path: Path, old: str, new: str, told: list[str]) -> None:
    text = codevalue.text(TABLE)
    assert old in text
    changed = text.replace(old, new)
    if not told:
        codevalue.read(put(tmp_path / "a.txt", changed), TABLE)
        return
    message = refused(tmp_path / "a.txt", changed)
    assert all(words in message for words in ["a.txt", *told]), message


def test_differences_are_counted(tmp_path: Path) -> None:
    message = refused(tmp_path / "a.txt", codevalue.text(table_of([2 * value for value in VALUES])))
    assert "7 cells published with another value" in message  # all that are not 0
    assert "size=Total × kind=Total" in message


def test_blanks_are_not_passed_over_where_that_is_ambiguous(tmp_path: Path) -> None:
    table = Table.of([3, 1, 2], dimensions=(Dimension("d", Hierarchy.flat(["1", " 1"])),), codes=[[0], [1], [2]])
    assert codevalue.read(put(tmp_path / "a.txt", codevalue.text(table)), table).tolist() == [0, 0, 0]
    assert "line 3" in refused(tmp_path / "a.txt", codevalue.text(table).replace('" 1"', '"  1"'), table)


def test_a_table_of_numbered_cells_has_no_codes(tmp_path: Path) -> None:
    from discreet.tabular.relations import build_relations

    bare = Table.of([1.0], relations=build_relations(np.empty(0, int), [], [], [], 1))
    with pytest.raises(InputError, match="no named dimensions"):
        codevalue.text(bare)
    assert "no named dimensions" in refused(tmp_path / "a.txt", "a,1,1\n", bare)


@pytest.mark.parametrize(
    ("folder", "names", "response", "expected", "counts"),
    [
        (
            "tau_testW",
            ("Tau_TestW.rda", "tau_testW.asc", "expected_size_region_modular.txt"),
            "Var2",
            ("Size", "Region"),
            (9, 12),
        ),
        (
            "enterprise",
            ("example_enterprise.rda", "example_enterprise.asc", "expected_test_1.txt"),
            "turnover",
            ("act", "product"),
            (283, 133),
        ),
    ],
)
def test_the_output_of_tau_argus_for_the_reference_data(
    table_reference: Callable[[str], Path],
    folder: str,
    names: tuple[str, str, str],
    response: str,
    expected: tuple[str, str],
    counts: tuple[int, int],
) -> None:
    described, records, output = (table_reference(f"{folder}/{name}") for name in names)
    meta = read_metadata(described)
    frame = read_records(records, meta).frame
    dimensions = [dimension_of(meta[name], frame[name].unique()) for name in expected]
    sums = np.zeros([len(one.codes) for one in dimensions])
    for *codes, value in frame.select(*expected, response).rows():
        above = (one.ancestors[one.position[code]] for one, code in zip(dimensions, codes, strict=True))
        sums[np.ix_(*above)] += value
    places = np.argwhere(np.ones_like(sums))
    table = Table.of(sums.ravel().round(2), dimensions=dimensions, codes=places)
    status = codevalue.read(output, table)
    assert (int((status == PRIMARY).sum()), int((status == SECONDARY).sum())) == counts
