"""Files appear whole or not at all."""

import errno
import os
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.release.atomic import AtomicFiles, WriteError


def write(paths: list[Path], *, force: bool = False, fail: BaseException | None = None) -> None:
    with AtomicFiles(paths, force=force) as files:
        for path in paths:
            files.temporary(path).write_text("new")
        if fail:
            raise fail


def test_files_appear_with_owner_only_permission(tmp_path: Path) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "a.csv.json"]
    write(paths)
    assert [path.read_text() for path in paths] == ["new", "new"]
    assert {path.stat().st_mode & 0o777 for path in paths} == {0o600}
    assert sorted(tmp_path.iterdir()) == paths


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(InputError, match="exists already"):
        write([path])
    assert path.read_text() == "old"
    write([path], force=True)
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("fault", "raised", "said"),
    [
        (OSError(errno.ENOSPC, "x"), WriteError, "the disk is full"),
        (KeyboardInterrupt(), KeyboardInterrupt, ""),
        (RuntimeError(), RuntimeError, ""),
    ],
)
def test_a_fault_midway_leaves_the_old_file_and_no_trace(
    tmp_path: Path, fault: BaseException, raised: type[BaseException], said: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(raised, match=said or None):
        write([path, tmp_path / "b.csv"], force=True, fail=fault)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_fault_while_renaming_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, fresh, last = tmp_path / "old.csv", tmp_path / "fresh.csv", tmp_path / "last.csv"
    old.write_text("old")
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target == last:
            raise OSError(errno.EIO, "x")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(WriteError, match="could not be written"):
        write([old, fresh, last], force=True)
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_folders_are_checked_first(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        AtomicFiles([tmp_path / "none" / "a.csv"])
    with pytest.raises(InputError, match="is a folder"):
        AtomicFiles([tmp_path])
    with pytest.raises(InputError, match="same name"):
        AtomicFiles([tmp_path / "a", tmp_path / "a"])


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Root may write anywhere, so the system's answer is what is changed.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        AtomicFiles([tmp_path / "a.csv"])
