"""Whatever happens on the way: nothing is lost, doubled or published, no message quotes a value, and it goes on."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet
from canary import CANARY
from discreet import executors
from discreet.errors import DiscreetError, InputError
from discreet.microdata.large import driver, work
from discreet.microdata.large.work import Work
from microdata.large.registers import ROLES, read_bytes, register, write_parts

HOW: dict[str, Any] = {"k": 3, "method": "tour", "block_records": 300, "workers": 1, "time": 1, **ROLES}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A register in parts, and its release made without any fault."""
    folder = tmp_path_factory.mktemp("whole")
    data = write_parts(register(700), folder / "in", parts=3)
    discreet.protect_large(data, folder / "out", **HOW)
    return data, read_bytes(folder / "out")


class Ended(BaseException):
    """The process was killed here."""


def _go_on(data: Path, out: Path, most: int = 200, **how: Any) -> int:
    """Start again and again until it is done; how often it took. Meanwhile nothing looks like a release."""
    for starts in range(1, most):
        try:
            discreet.protect_large(data, out, **HOW | how)
        except (DiscreetError, Ended) as error:
            told = str(error)
        else:
            assert not (out.parent / f"{out.name}.work").exists()
            return starts
        assert CANARY not in told
        assert not out.exists()
    raise AssertionError("it does not come to an end")


@pytest.mark.parametrize("moment", ["before the name", "half-written", "after the name"])
def test_ended_at_every_write_it_goes_on_to_the_same_bytes(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    place, chance = work.Work.place, random.Random(moment)

    def fail(self: work.Work, name: str, fill: Callable[[Path], None]) -> None:
        if chance.random() > 0.3:
            place(self, name, fill)
            return

        def cut(path: Path) -> None:
            fill(path)
            if moment == "half-written":
                os.truncate(path, path.stat().st_size // 2)
            raise Ended

        if moment == "after the name":
            place(self, name, fill)
            raise Ended
        place(self, name, cut)

    monkeypatch.setattr(work.Work, "place", fail)
    assert _go_on(whole[0], tmp_path / "out") > 2
    assert read_bytes(tmp_path / "out") == whole[1]


def fill_disk(patched: pytest.MonkeyPatch, step: str) -> None:
    """Let the disk be full as soon as a file of a step was written."""
    place = work.Work.place

    def fail(self: work.Work, name: str, fill: Callable[[Path], None]) -> None:
        def refuse(path: Path) -> None:
            fill(path)
            raise OSError(28, "no space", CANARY)

        place(self, name, refuse if name.startswith(step) else fill)

    patched.setattr(work.Work, "place", fail)


@pytest.mark.parametrize("step", ["look-", "chunk-", "block-", "part-", "release/part", "request", "borders"])
def test_a_full_disk_is_told_and_nothing_is_published(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patched:
        fill_disk(patched, step)
        with pytest.raises(DiscreetError, match="the disk is full") as told:
            discreet.protect_large(whole[0], tmp_path / "out", **HOW)
    assert CANARY not in str(told.value)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "out.work").rglob(".*"))
    discreet.protect_large(whole[0], tmp_path / "out", **HOW)
    assert read_bytes(tmp_path / "out") == whole[1]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A disk of so many kilobytes; it can be made larger."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted: list[Path] = []

    def size(kilobytes: int) -> Path:
        how = f"size={kilobytes}k" if not mounted else f"remount,size={kilobytes}k"
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", how, "discreet", folder], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("only root may mount a small disk")
        mounted.append(folder)
        return folder

    yield size
    if mounted:
        subprocess.run(["umount", "--lazy", folder], check=False)


def test_a_disk_that_is_really_full(
    whole: tuple[Path, dict[str, bytes]],
    small_disk: Callable[[int], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work.Work, "check_room", lambda *_given: None)
    failed = []
    for kilobytes in (40, 120, 200, 300, 420, 8000):
        folder = small_disk(kilobytes)
        try:
            discreet.protect_large(whole[0], folder / "out", **HOW)
        except DiscreetError as error:
            failed.append(str(error))
        else:
            break
        assert not (folder / "out").exists()
    assert len(failed) >= 3
    assert all("full" in told and CANARY not in told for told in failed)
    assert read_bytes(folder / "out") == whole[1]


def _end_before(monkeypatch: pytest.MonkeyPatch, function: str) -> None:
    def end(*_given: Any, **_more: Any) -> None:
        raise Ended

    monkeypatch.setattr(driver, function, end)


@pytest.mark.parametrize(
    ("stop", "which"),
    [
        ("_protect_blocks", "chunk-*-0.arrow"),
        ("_protect_blocks", "chunk-00001.json"),
        ("draw_splitters", "block-00001.arrow"),
        ("seal", "block-00000.arrow"),
        ("draw_borders", "picture.json"),
        ("draw_borders", "classes.arrow"),
        ("draw_picture", "look-00001-classes.arrow"),
        ("seal", "cuts.json"),
    ],
)
@pytest.mark.parametrize("how", ["other", "short", "gone"])
def test_a_damaged_file_is_noticed_and_made_anew(
    tmp_path: Path,
    whole: tuple[Path, dict[str, bytes]],
    monkeypatch: pytest.MonkeyPatch,
    stop: str,
    which: str,
    how: str,
) -> None:
    with monkeypatch.context() as patched:
        _end_before(patched, stop)
        with pytest.raises(Ended):
            discreet.protect_large(whole[0], tmp_path / "out", **HOW)
    path = sorted((tmp_path / "out.work").glob(which))[0]
    content = path.read_bytes()
    if how == "other":
        middle = len(content) // 2
        path.write_bytes(
            content[:middle] + bytes(byte ^ 255 for byte in content[middle : middle + 64]) + content[middle + 64 :]
        )
    elif how == "short":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.unlink()
    assert _go_on(whole[0], tmp_path / "out", most=6) <= 4
    assert read_bytes(tmp_path / "out") == whole[1]


HOMES: dict[str, Any] = {"household": "home", "identifier": ["id"], "by": None, "ignore": ["stratum"]}


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """Households of two, and their release made without any fault."""
    folder = tmp_path_factory.mktemp("homes")
    frame = register(600, gaps=0.0).with_columns(home=pl.int_range(600) % 300)
    data = write_parts(frame, folder / "in", parts=2)
    discreet.protect_large(data, folder / "out", **HOW | HOMES)
    return data, read_bytes(folder / "out")


@pytest.mark.parametrize(
    ("stop", "which"),
    [
        ("look", "gather-00001-0.arrow"),
        ("draw_picture", "gather-00000.json"),
        ("draw_splitters", "homes-00000.arrow"),
        ("number_block", "homes-00001-marks.arrow"),
        ("number_block", "homes-00000.arrow"),
    ],
)
def test_damage_on_the_way_of_households_is_noticed(
    tmp_path: Path, homes: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch, stop: str, which: str
) -> None:
    with monkeypatch.context() as patched:
        _end_before(patched, stop)
        with pytest.raises((Ended, DiscreetError)):
            discreet.protect_large(homes[0], tmp_path / "out", **HOW | HOMES)
    path = tmp_path / "out.work" / which
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        content[:middle] + bytes(byte ^ 255 for byte in content[middle : middle + 64]) + content[middle + 64 :]
    )
    assert _go_on(homes[0], tmp_path / "out", most=6, **HOMES) <= 4
    assert read_bytes(tmp_path / "out") == homes[1]


@pytest.mark.parametrize("step", ["gather-", "homes-", "block-"])
def test_a_full_disk_on_the_way_of_households(
    tmp_path: Path, homes: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    with monkeypatch.context() as patched:
        fill_disk(patched, step)
        with pytest.raises(DiscreetError, match="the disk is full"):
            discreet.protect_large(homes[0], tmp_path / "out", **HOW | HOMES)
    assert not (tmp_path / "out").exists()
    discreet.protect_large(homes[0], tmp_path / "out", **HOW | HOMES)
    assert read_bytes(tmp_path / "out") == homes[1]


def test_an_input_that_changes_meanwhile_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_parts(register(700), tmp_path / "in", parts=3)

    def change(*_given: Any) -> None:
        register(233, 9).write_parquet(data / "in-1.parquet")

    monkeypatch.setattr(driver, "draw_borders", change)
    with pytest.raises(DiscreetError) as told:
        discreet.protect_large(data, tmp_path / "out", **HOW)
    assert CANARY not in str(told.value)
    assert not (tmp_path / "out").exists()
    monkeypatch.undo()
    with pytest.raises(DiscreetError, match="holds work of another kind: it differs in files"):
        discreet.protect_large(data, tmp_path / "out", **HOW)
    shutil.rmtree(tmp_path / "out.work")
    discreet.protect_large(data, tmp_path / "out", **HOW)


def test_other_settings_do_not_go_on_from_old_work(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        _end_before(patched, "seal")
        with pytest.raises(Ended):
            discreet.protect_large(whole[0], tmp_path / "out", **HOW)
    with pytest.raises(DiscreetError, match="differs in settings"):
        discreet.protect_large(whole[0], tmp_path / "out", **HOW | {"k": 4})


def test_workers_killed_at_random_moments(
    tmp_path: Path, whole: tuple[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, over = executors.make_processes, threading.Event()
    made: list[ProcessPoolExecutor] = []
    killed: list[int] = []
    chance = random.Random(os.environ.get("DISCREET_KILLS"))
    wanted = int(os.environ.get("DISCREET_KILLS", "2"))

    def note(*given: Any) -> ProcessPoolExecutor:
        made.append(make(*given))
        return made[-1]

    def kill() -> None:
        while not over.is_set() and len(killed) < wanted:
            time.sleep(chance.uniform(0.0, 0.3))
            for pid in list(getattr(made[-1], "_processes", None) or {})[:1] if made else []:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)

    monkeypatch.setattr(executors, "make_processes", note)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        while len(killed) < wanted:
            _go_on(whole[0], tmp_path / "out", workers=2, force=True)
            assert read_bytes(tmp_path / "out") == whole[1]
            shutil.rmtree(tmp_path / "out")
    finally:
        over.set()
        killer.join()


RUN = """
import sys, discreet
from microdata.large.test_faults import HOW
if __name__ == "__main__":
    discreet.protect_large(sys.argv[1], sys.argv[2], **HOW)
"""


def test_the_whole_process_killed_at_random_moments(tmp_path: Path, whole: tuple[Path, dict[str, bytes]]) -> None:
    chance = random.Random(0)
    for _ in range(int(os.environ.get("DISCREET_KILLS", "2"))):
        process = subprocess.Popen([sys.executable, "-c", RUN, whole[0], tmp_path / "out"], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        # Not before it works.
        while not (tmp_path / "out.work").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.4))
        process.kill()
        process.wait()
        if (tmp_path / "out").exists():
            break
    if not (tmp_path / "out").exists():
        discreet.protect_large(whole[0], tmp_path / "out", **HOW)
    assert read_bytes(tmp_path / "out") == whole[1]


def test_work_that_somebody_else_has_begun_is_not_gone_on_with(tmp_path: Path) -> None:
    folder, other = tmp_path / "out.work", tmp_path / "copy.work"
    Work(folder).make()
    Work(folder).write("look-00000.json", {})
    Work(folder).make()  # it goes on
    shutil.copytree(folder, other)
    with pytest.raises(InputError, match="you have not begun this work"):
        Work(other).make()
    (folder / "release").symlink_to(tmp_path)
    with pytest.raises(InputError, match="remove it to begin anew"):
        Work(folder).make()
    (folder / "release").unlink()
    folder.chmod(0o755)
    with pytest.raises(InputError, match="opened to others"):
        Work(folder).make()
    folder.chmod(0o700)
    Work(folder).make()
    Work(folder).remove()
    assert not folder.exists()
    (tmp_path / "link.work").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(DiscreetError):
        Work(tmp_path / "link.work").make()
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_folder_of_state_the_work_is_done_but_does_not_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    folder = Work(tmp_path / "out.work")
    folder.make()
    folder.write("look-00000.json", {})
    with pytest.raises(InputError, match="you have not begun this work"):
        folder.make()
