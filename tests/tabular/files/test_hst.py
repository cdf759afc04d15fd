"""τ-ARGUS's a-priori files: what is known of cells beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from canary import CANARY
from discreet.errors import InputError
from discreet.tabular.table import FIXED, PRIMARY, SAFE, Table

FRAME = pl.DataFrame(
    {"region": ["n", "n", "s", "s", "s"], "size": ["1", "2", "1", "2", "2"], "v": [10, 20, 30, 40, 50]}
)


@pytest.fixture
def table() -> Table:
    return discreet.tabulate(FRAME, by=["region", "size"], value="v")


def cell(table: Table, *codes: str) -> int:
    names = [table.codes_of(axis) for axis in range(len(table.dimensions))]
    return list(zip(*names, strict=True)).index(codes)


@pytest.mark.parametrize("sign", [",", ";"])
def test_status_cost_and_levels_are_taken(sign: str, table: Table, tmp_path: Path) -> None:
    lines = ['"n","1",u', "n , 2,p", '"s","2", s', "s,1,u", "s,1,pl,3,4.5", "n,1,C,7", ",1,c,9", "s,,PL,1,2"]
    path = tmp_path / "prior.hst"
    path.write_text("\n".join(line.replace(",", sign) for line in lines) + "\n")
    found = discreet.primary(table, manual=path, range=20)
    assert found.status[[cell(table, "n", "1"), cell(table, "s", "1")]].tolist() == [PRIMARY, PRIMARY]
    assert found.status[cell(table, "n", "2")] == FIXED
    assert found.status[cell(table, "s", "2")] == SAFE
    at = cell(table, "s", "1")
    assert (found.lpl[at], found.upl[at]) == (3, 4.5)
    at = cell(table, "n", "1")
    assert (found.lpl[at], found.upl[at], found.cost[at]) == (2, 2, 7)
    assert found.cost[cell(table, "Total", "1")] == 9
    # A level of a cell that nothing makes unsafe has no meaning, and its status stays as it is.
    at = cell(table, "s", "Total")
    assert (found.status[at], found.upl[at]) == (SAFE, 0)
    assert int((found.status == PRIMARY).sum()) == 2
    named = [cell(table, "n", "1"), cell(table, "Total", "1")]
    np.testing.assert_array_equal(np.delete(found.cost, named), np.delete(table.cost, named))


def test_levels_replace_those_of_a_rule(table: Table, tmp_path: Path) -> None:
    path = tmp_path / "prior.hst"
    path.write_text("n,1,pl,1,2\n")
    found = discreet.primary(table, threshold=2, manual=path)
    at = cell(table, "n", "1")
    assert (found.status[at], found.lpl[at], found.upl[at]) == (PRIMARY, 1, 2)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"n,{CANARY},u\n", "line 1: what names the cell is no code of 'size'"),
        ("n,1,u\n\nn,2\n", "line 3: a code of each of 2 dimensions"),
        (f"n,1,{CANARY}\n", "line 1: behind the codes must stand u"),
        ("n,1,u,3\n", "line 1: behind the codes must stand u"),
        ("n,1,c\n", "line 1: behind the codes must stand u"),
        (f"n,1,c,-{CANARY}\n", "line 1: a cost or protection level must be"),
        (f"n,1,pl,1,{CANARY}x\n", "line 1: a cost or protection level must be"),
        ("n,1,u\nn,1,s\n", "line 2: an earlier line says something else"),
        (f'n,"{CANARY},u\n', "line 1: the fields cannot be told apart"),
        ("\n\n", "no cell in it"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(content: str, told: str, table: Table, tmp_path: Path) -> None:
    path = tmp_path / "prior.hst"
    path.write_text(content)
    with pytest.raises(InputError, match=told) as error:
        discreet.primary(table, manual=path)
    assert "prior.hst" in str(error.value)
    assert CANARY not in str(error.value)
