"""What this user asked for is told from what came with a folder."""

import os
import stat
from pathlib import Path

import pytest

from discreet import own
from discreet.errors import InputError


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "discreet"


def test_the_folder_of_state_is_open_to_nobody_else(state: Path) -> None:
    assert not own.is_vouched("a", "b")
    assert not state.exists()  # asking makes nothing
    own.vouch("a", "b")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (state, *state.iterdir())}
    assert modes == {"discreet": 0o700, "key": 0o600, "signed": 0o700}
    assert own.is_vouched("a", "b")
    own.withdraw("a", "b")
    assert not own.is_vouched("a", "b")


def test_parts_are_not_run_together() -> None:
    own.vouch("ab", "c")
    assert not own.is_vouched("a", "bc")
    assert not own.is_vouched("abc")


def test_another_key_makes_what_was_signed_void(state: Path) -> None:
    own.vouch("a")
    (state / "key").unlink()
    own.vouch("b")
    assert own.is_vouched("b")
    assert not own.is_vouched("a")


@pytest.mark.parametrize("opened", [".", "signed"])
def test_a_folder_that_others_can_look_into_is_refused(state: Path, opened: str) -> None:
    own.vouch("a")
    (state / opened).chmod(0o755)
    assert not own.is_vouched("a")
    with pytest.raises(InputError, match="chmod 700"):
        own.vouch("b")


def test_a_key_that_is_a_link_is_refused(state: Path, tmp_path: Path) -> None:
    own.vouch("a")
    (state / "key").rename(tmp_path / "key")
    (state / "key").symlink_to(tmp_path / "key")
    with pytest.raises(InputError, match="link"):
        own.sign("a")


def test_a_folder_from_the_current_one_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert own.make_state() == tmp_path / "home" / ".local" / "state" / "discreet"


def test_links_pipes_and_folders_of_others_are_not_read(tmp_path: Path) -> None:
    file, link, pipe = (tmp_path / name for name in ("file", "link", "pipe"))
    file.write_bytes(b"a")
    link.symlink_to(file)
    os.mkfifo(pipe)
    assert own.read_plain(file) == b"a"
    for path in (link, pipe, tmp_path, tmp_path / "none"):
        with pytest.raises(OSError, match=r".*"):
            own.read_plain(path)
    with pytest.raises(OSError, match="no plain file"):
        own.read_plain(file, 0)
    tmp_path.chmod(0o700)
    assert own.read_closed(file) == b"a"
    tmp_path.chmod(0o750)
    with pytest.raises(InputError, match="open to others"):
        own.read_closed(file)


def test_processes_are_not_started_where_python_would_hand_nothing_on(monkeypatch: pytest.MonkeyPatch) -> None:
    class Flags:
        ignore_environment, safe_path = 1, False

    monkeypatch.setattr("sys.flags", Flags)
    with pytest.raises(InputError, match="-P"), own.safe_path():
        pass
