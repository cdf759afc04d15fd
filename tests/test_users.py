"""The four users are played on small files, and the attacker who judges their tables finds what is open."""

from pathlib import Path

import polars as pl
import pytest

import users
from discreet.cli.app import run


@pytest.mark.parametrize("name", ["hospital", "linked"])
def test_a_user_is_served(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def in_this_process(*arguments: object) -> str:
        status = run([str(argument) for argument in arguments])
        said = capsys.readouterr()
        assert status == 0, said.err
        return said.out + said.err

    monkeypatch.setattr(users, "discreet", in_this_process)
    assert users.USERS[name](tmp_path, False).startswith(f"{name}: ")


def test_the_attacker_finds_a_cell_that_follows_by_subtraction() -> None:
    tree = {users.TOTAL: ["a", "b", "c"]}
    frame = pl.DataFrame({"one": ["a", "b", "b", "b", "c", "c", "c"], "value": [5, 1, 1, 1, 4, 2, 2]})
    values, counts = users.add_up(frame, (tree,), "value")
    assert values == {("a",): 5, ("b",): 3, ("c",): 8, (users.TOTAL,): 16}
    assert users.attack(values, counts, (tree,), [{(users.TOTAL,), ("b",), ("c",)}], 9) == ([("a",)], 1, 0)
    assert users.attack(values, counts, (tree,), [{(users.TOTAL,), ("b",)}], 9) == ([], 1, 0)
    assert ("a",) in users.attack(values, counts, (tree,), [set(values)], 9)[0]


def test_the_attacker_finds_what_a_sole_contributor_learns_of_another() -> None:
    tree = {users.TOTAL: ["a", "b", "c"]}
    frame = pl.DataFrame({"one": ["a", "b", "c", "c", "c"], "value": [5, 3, 4, 2, 2]})
    values, counts = users.add_up(frame, (tree,), "value")
    # Each of the two who are alone knows the other's value; from outside both are safe.
    assert users.attack(values, counts, (tree,), [{(users.TOTAL,), ("c",)}], 0) == ([], 2, 0)
    assert users.attack(values, counts, (tree,), [{(users.TOTAL,), ("c",)}], 9) == ([("a",), ("b",)], 2, 2)
    assert users.attack(values, counts, (tree,), [{(users.TOTAL,)}], 9) == ([], 2, 2)
