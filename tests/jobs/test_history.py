"""Choices are kept in the folder, and the last of them can be undone."""

import stat
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.jobs.history import MOST, History, begin_history, histories


def test_choices_are_kept_and_undone_one_by_one(tmp_path: Path) -> None:
    history = begin_history(tmp_path, {"kind": "microdata", "file": "a.csv", "k": 5})
    history.choose(k=10)
    history.choose(k=10)  # no choice
    history.choose(columns={"age": {"role": "quasi"}})
    again = begin_history(tmp_path, {"kind": "microdata", "file": "a.csv", "k": 3})
    assert again.id == history.id
    assert again.now == {"kind": "microdata", "file": "a.csv", "k": 10, "columns": {"age": {"role": "quasi"}}}
    again.undo()
    assert "columns" not in History(history.path).now
    again.undo()
    assert again.now["k"] == 5
    again.undo()
    assert not again.can_undo
    assert begin_history(tmp_path, {"kind": "table", "file": "a.csv"}).id != history.id
    assert len(histories(tmp_path)) == 2
    assert stat.S_IMODE(history.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(history.path.parent.stat().st_mode) == 0o700


def test_a_history_is_no_longer_than_need_be_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    history = begin_history(tmp_path, {"kind": "microdata", "file": "a.csv"})
    for k in range(2 * MOST):
        history.choose(k=k)
    undone = 0
    while history.can_undo:
        history.undo()
        undone += 1
    assert undone == MOST - 1
    history.path.write_text("{")
    with pytest.raises(InputError):
        History(history.path)
    assert histories(tmp_path) == []
