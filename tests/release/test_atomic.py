"""Files appear whole or not at all."""

import contextlib
import errno
import gc
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.errors import InputError
from discreet.release.atomic import AtomicFiles, WriteError, make_folder


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


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("links", [True, False])
def test_without_force_nobody_is_replaced_however_late_he_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    """Somebody without our lock makes a file just before ours gets the name; with and without hard links."""
    if not links:
        monkeypatch.setattr(os, "link", lambda *_: (_ for _ in ()).throw(OSError(errno.EPERM, "no links here")))
    out, record = tmp_path / "out.csv", tmp_path / "out.csv.json"
    write([tmp_path / "other.csv", tmp_path / "other.csv.json"])
    check = AtomicFiles._check

    def late(self: AtomicFiles, target: Path) -> None:
        check(self, target)
        if target == out and self._temporary:
            out.write_text("somebody else's")

    monkeypatch.setattr(AtomicFiles, "_check", late)
    with pytest.raises(InputError, match="exists already"):
        write([out, record])
    assert out.read_text() == "somebody else's"
    assert names(tmp_path) == ["other.csv", "other.csv.json", "out.csv"]


@pytest.mark.parametrize("force", [False, True])
def test_two_runs_to_one_output_do_not_mix_their_sets(tmp_path: Path, force: bool) -> None:
    paths = [tmp_path / name for name in ("out.csv", "out.csv.release.json", "out.csv.evidence.json")]
    ready = threading.Barrier(4)
    refused = []

    def run(who: str) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            try:
                with AtomicFiles(paths, force=force) as files:
                    for path in paths:
                        files.temporary(path).write_text(who)
                    ready.wait(20)
            except InputError:
                refused.append(who)

    for _ in range(5):
        threads = [threading.Thread(target=run, args=(who,)) for who in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({path.read_text() for path in paths}) == 1
        assert names(tmp_path) == sorted(path.name for path in paths)
        if not force:
            assert len(refused) == 3
            break


def test_the_release_comes_last_and_what_a_killed_run_left_is_swept(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from typing import Any
from discreet.release import atomic
place = atomic._place
def kill(path, target, *, replace):
    if target.name == "out.csv":
        os.kill(os.getpid(), 9)
    place(path, target, replace=replace)
atomic._place = kill
paths = [Path(sys.argv[1]) / name for name in ("out.csv", "out.csv.release.json")]
with atomic.AtomicFiles(paths) as files:
    for path in paths:
        files.temporary(path).write_text("new")
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert "out.csv" not in names(tmp_path)
    assert "out.csv.release.json" in names(tmp_path)
    assert any(name.startswith(".discreet-") for name in names(tmp_path))
    paths = [tmp_path / "out.csv", tmp_path / "out.csv.release.json"]
    with pytest.raises(InputError, match=r"though out\.csv does not: perhaps a run was ended"):
        write(paths)
    write(paths, force=True)
    assert names(tmp_path) == ["out.csv", "out.csv.release.json"]


def test_temporary_files_of_a_living_process_are_left_alone(tmp_path: Path) -> None:
    with AtomicFiles([tmp_path / "a.csv"]) as files:
        files.temporary(tmp_path / "a.csv").write_text("new")
        write([tmp_path / "b.csv"])
    assert names(tmp_path) == ["a.csv", "b.csv"]


def test_a_link_that_leads_nowhere_is_not_replaced_without_force(tmp_path: Path) -> None:
    link = tmp_path / "a.csv"
    link.symlink_to(tmp_path / "gone.csv")
    with pytest.raises(InputError, match="exists already"):
        write([link])
    assert link.is_symlink()
    write([link], force=True)
    assert link.read_text() == "new"


def test_folders_are_made_for_their_owner_only(tmp_path: Path) -> None:
    make_folder(tmp_path / "study" / "runs")
    make_folder(tmp_path / "study" / "runs")
    assert {folder.stat().st_mode & 0o777 for folder in (tmp_path / "study", tmp_path / "study" / "runs")} == {0o700}


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx", ".sav", ".dta", ".xpt"])
def test_where_there_is_no_room_every_format_says_so_and_leaves_nothing(
    suffix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    n = 3000
    records = {
        "x": np.random.default_rng(1).normal(size=n),
        "s": [f"some text {at} that takes room" for at in range(n)],
    }
    said: dict[str, Any] = {"k": 3, "quasi": ["x"], "confidential": ["s"], "method": "mdav", "measures": "none"}
    release = discreet.protect(pl.DataFrame(records), **said)
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))  # nothing waits in another folder
            with pytest.raises(WriteError, match=r"File too large|grew too large"):
                release.write(tmp_path / f"out{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    gc.collect()
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in capfd.readouterr().err


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    release = discreet.protect(pl.DataFrame({"x": [1.0, 2.0, 3.0] * 3}), k=3, quasi="all", measures="none")
    with pytest.raises(InputError, match=r"aaa….* has a name that is too long for a file"):
        release.write(tmp_path / f"{'a' * 245}.csv")  # that of its evidence, in fact
    assert list(tmp_path.iterdir()) == []
