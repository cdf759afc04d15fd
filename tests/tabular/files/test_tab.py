"""Tables as τ-ARGUS takes them: what each column is, and what is refused with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.tabular.dimension import Dimension
from discreet.tabular.files import rda, tab
from discreet.tabular.hierarchy import Hierarchy
from discreet.tabular.table import FIXED, PRIMARY, RULES, SAFE, SECONDARY, Table

CANARY = "7316094825"
RDA = """<SEPARATOR> ";"
Size "99"
  <RECODEABLE>
Region
  <RECODEABLE>
  <TOTCODE> "All"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\R.HRC"
Turnover
  <NUMERIC> <DECIMALS> 2
N
  <FREQUENCY>
Shadow
  <NUMERIC> <SHADOW>
Price
  <NUMERIC> <COSTVAR>
First
  <MAXSCORE>
Second
  <MAXSCORE>
State
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
"""
TAB = """"Total";"All";30,50;5;1;30;9;8;S;0,1;0,2
"Total";"n";30,50;5;1;30;9;8;M;0;0
"Total";" 1";30,50;5;1;30;9;8;P;0;0
" 2";"All";30,50;5;1;30;9;8;U;3;4
" 2";"n";30,50;5;1;30;9;8;s;0;0
" 2";" 1";30,50;5;1;30;9;8;S;0;0
"99";"All";0,00;0;0;0;0;0;E;0;0
"99";"n";0,00;0;0;0;0;0;;0;0
"99";" 1";0,00;0;0;0;0;0;e;0;0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "r.hrc", "n\n@ 1\n@ 2\n")
    put(tmp_path / "a.rda", RDA)
    return tmp_path


def put(path: Path, content: str) -> Path:
    path.write_bytes(content.encode())
    return path


def read(folder: Path, content: str = TAB, described: str = RDA) -> Table:
    return tab.read(put(folder / "a.tab", content), rda.read(put(folder / "a.rda", described)))


def test_every_column_has_its_meaning(folder: Path) -> None:
    table = read(folder)
    size, region = table.dimensions
    assert size == Dimension("Size", Hierarchy.flat([" 2", "99"]), ["99"])
    assert region == Dimension(
        "Region", Hierarchy.from_pairs([("n", "All"), (" 1", "n"), (" 2", "n")], total="All"), []
    )
    assert table.codes_of(1)[:3] == ["All", "n", " 1"]
    assert table.value.tolist() == [30.5] * 6 + [0] * 3
    assert table.count is not None
    assert table.tops is not None
    assert table.count.tolist() == [5] * 6 + [0] * 3
    assert table.tops[0].tolist() == [9, 8]
    assert table.status.tolist() == [SAFE, SECONDARY, FIXED, PRIMARY, SAFE, SAFE, FIXED, FIXED, FIXED]
    assert table.rule.tolist() == [0, 0, 0, 1 << RULES.index("given"), 0, 0, 0, 0, 0]
    assert (table.cost[0], table.lpl[0], table.upl[0], table.lpl[3], table.upl[3]) == (30, 0.1, 0.2, 3, 4)
    assert (table.response, table.decimals) == ("Turnover", 1)
    assert table.notes == ("a.rda: the shadow variable Shadow is passed over",)
    table.check()


def test_the_decimal_sign_is_that_of_the_file(folder: Path) -> None:
    assert read(folder, TAB.replace(",", ".")).value.tolist() == read(folder).value.tolist()


def test_a_table_of_counts(folder: Path) -> None:
    table = read(folder, "Total;3\na;1\nb;2\n", '<SEPARATOR> ";"\nSize\n<RECODEABLE>\nN\n<FREQUENCY>\n')
    assert table.response is None
    assert table.count is not None
    assert table.value.tolist() == table.count.tolist() == [3, 1, 2]
    files = tab.files(table, "b")
    assert "<NUMERIC> " not in files["b.rda"]
    for name, text in files.items():
        put(folder / name, text)
    back = tab.read(folder / "b.tab", rda.read(folder / "b.rda"))
    assert (back.response, back.value.tolist()) == (None, [3, 1, 2])


def test_codes_by_levels(folder: Path) -> None:
    described = '<SEPARATOR> ","\nAct "99"\n<RECODEABLE>\n<HIERARCHICAL> <HIERLEVELS> 1 1\nValue\n<NUMERIC>\n'
    table = read(folder, "Act,Value\nTotal,6\n1,3\n11,1\n12,2\n2,3\n21,3\n99,0\n", described)
    assert table.dimensions[0].hierarchies[0].leaves == ("11", "12", "21", "99")
    assert table.dimensions[0].missing == {"99"}
    assert "names of the variables" in table.notes[0]
    table.check()


def test_of_several_responses_the_first_is_taken_and_the_rest_said(folder: Path) -> None:
    table = read(folder, "Total;3;9\na;3;9\n", '<SEPARATOR> ";"\nSize\n<RECODEABLE>\nOne\n<NUMERIC>\nTwo\n<NUMERIC>\n')
    assert table.response == "One"
    assert table.notes == ("a.rda: the response is One; Two passed over",)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (";M;", ";X;", ["line 2", "status", "S (safe)"]),
        ('"Total";"n";30,50', f'"Total";"n";{CANARY}x', ["line 2", "'Turnover'", "not a number"]),
        ('"Total";"n";30,50', '"Total";"n";', ["line 2", "'Turnover'", "not a number"]),
        ('"Total";"n";30,50', '"Total";"n";30.5', ["comma in line 1", "point in line 2"]),
        ('"Total";"n";30,50', f'"Total";"n";{CANARY};1', ["line 2", "12 fields", "11 variables"]),
        ('"Total";"n"', '"Total";"x"', ["a.tab", "r.hrc lacks 1 code of variable 'Region' (line 2)"]),
        ('"Total";"n"', '"Total;"n"', ["quotation mark"]),
        ('"Total";"n"', '"Total";"All"', ["a.tab", "more than once: line 2;"]),
        (
            '"Total";"n";30,50;5;1;30;9;8;M;0;0\n',
            "",
            ["a.tab", "not the totals", "'Size': line 4, line 7;"],
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder: Path, old: str, new: str, told: list[str]) -> None:
    assert old in TAB
    with pytest.raises(InputError) as caught:
        read(folder, TAB.replace(old, new, 1))
    message = str(caught.value)
    assert all(words in message for words in told), message
    assert CANARY not in message


@pytest.mark.parametrize(
    ("described", "content", "told"),
    [
        ("Size 1 2\nValue 3 4\n<NUMERIC>\n", "a  1\n", ["a.rda", "<SEPARATOR>"]),
        ('<SEPARATOR> ";"\nValue\n<NUMERIC>\n', "1\n", ["a.rda", "dimension"]),
        ('<SEPARATOR> ";"\nSize\n<RECODEABLE>\n', "Total\na\n", ["a.rda", "<NUMERIC> or <FREQUENCY>"]),
        ('<SEPARATOR> ";"\nSize\nValue\n<NUMERIC>\n', "a;1\nb;2\n", ["'Size'", "code of the total", "<TOTCODE>"]),
        ('<SEPARATOR> ";"\nSize\nValue\n<NUMERIC>\n', "Size;Value\n", ["no records"]),
        ('<SEPARATOR> ";"\nSize\nValue\n<NUMERIC>\n', "Total;1\n;1\n", ["'Size'", "no code"]),
    ],
)
def test_metadata_that_do_not_make_a_table(folder: Path, described: str, content: str, told: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read(folder, content, described)
    assert all(words in str(caught.value) for words in told), str(caught.value)


def test_names_that_our_own_columns_have_are_kept_apart(folder: Path) -> None:
    dimension = Dimension("Status", Hierarchy.flat(["a"]))
    table = Table.of([1, 1], dimensions=(dimension,), codes=[[0], [1]], response="Cost")
    for name, text in tab.files(table, "b.tab").items():
        put(folder / name, text)
    back = tab.read(folder / "b.tab", rda.read(folder / "b.rda"))
    assert back.dimensions == (dimension,)
    assert back.response == "Cost"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4),
    status=st.lists(st.integers(0, 3), min_size=4, max_size=4),
)
def test_numbers_come_back_exactly(tmp_path: Path, values: list[float], status: list[int]) -> None:
    dimension = Dimension("d", Hierarchy.from_pairs([("@", "Total"), ("#1", "@"), ("%", "@")]))
    table = Table.of(
        values,
        dimensions=(dimension,),
        codes=[[0], [1], [2], [3]],
        status=np.array(status, np.uint8),
        upl=np.abs(values),
    )
    for name, text in tab.files(table, "b").items():
        put(tmp_path / name, text)
    back = tab.read(tmp_path / "b.tab", rda.read(tmp_path / "b.rda"))
    assert back.value.tolist() == values
    assert back.upl.tolist() == table.upl.tolist()
    assert back.status.tolist() == status
    assert back.dimensions == table.dimensions


def test_tables_that_the_files_cannot_hold_are_refused() -> None:
    from discreet.tabular.relations import build_relations

    two = Dimension("d", [Hierarchy.flat(["a", "b"]), Hierarchy.from_pairs([("c", "Total"), ("a", "c"), ("b", "c")])])
    with pytest.raises(InputError, match="several hierarchies"):
        tab.files(Table.of([1, 1, 0, 1], dimensions=(two,), codes=[[0], [1], [2], [3]]), "a")
    flat = Dimension("d", Hierarchy.flat(["a"]))
    pair = (Dimension("e", Hierarchy.flat(["a"])), flat)
    linked = Table.of([1, 1, 1], dimensions=pair, codes=[[0, 0], [1, 0], [0, 1]], parts=(((0, (0,)),), ((1, (0,)),)))
    with pytest.raises(InputError, match="linked"):
        tab.files(linked, "a")
    with pytest.raises(InputError, match="no named dimensions"):
        tab.files(Table.of([1.0], relations=build_relations(np.empty(0, int), [], [], [], 1)), "a")
    with pytest.raises(InputError, match="not known"):
        tab.files(Table.of([np.nan, 1], dimensions=(flat,), codes=[[0], [1]]), "a")
    blank = Dimension("d", Hierarchy.flat(["a "]))
    with pytest.raises(InputError, match="blank"):
        tab.files(Table.of([1, 1], dimensions=(blank,), codes=[[0], [1]]), "a")
