"""What is this user's own: folders that nobody else can change, and a record of what this user has asked for.

A folder of data may have come from anybody. What lies in it is read as data; what would be carried out, or believed,
is only taken from there if this user's own folder of state says that this user put it there:
`$XDG_STATE_HOME/discreet`, else `~/.local/state/discreet`, open to nobody else. It holds a key, made on first use, and
a file for each thing that was signed with it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.errors import InputError

KEY, SIGNED = "key", "signed"
# Others may not change a folder of ours; of a folder of secrets they may not even know what is in it.
CHANGEABLE, OPEN = 0o022, 0o077
# A file of ours in a folder of data is smaller; whatever is larger is none.
MOST_BYTES = 1_000_000_000


def is_own(folder: Path, *, closed: bool = False) -> bool:
    """Whether something is a folder of this user's that no other user can change, and no link to one.

    Parameters
    ----------
    folder : Path
        What may be one.
    closed : bool
        Whether others must not be able to look into it either.
    """
    try:
        found = folder.lstat()
    except OSError:
        return False
    # Windows tells neither; there folders of a user are closed by what they inherit.
    is_ours = not hasattr(os, "geteuid") or (
        found.st_uid == os.geteuid() and not found.st_mode & (OPEN if closed else CHANGEABLE)
    )
    return stat.S_ISDIR(found.st_mode) and is_ours


def read_plain(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; an OSError if it is a link, a pipe or the like, or larger than any of ours."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > most:
            raise OSError("no plain file of ours")
        return file.read()


def read_closed(path: Path) -> bytes:
    """The bytes of a file of this user's, in a folder into which nobody else can look; refused wherever it is not."""
    if not is_own(path.parent, closed=True):
        raise InputError(f"{path.parent} belongs to another user, or is open to others; nothing is read from there")
    try:
        return read_plain(path, sys.maxsize)
    except OSError:
        raise InputError(f"{path} cannot be read, or is a link; nothing is read from there") from None


def make_state() -> Path:
    """This user's folder of state, made if there is none; refused if others can look into it."""
    folder = _state()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        for part in (folder, folder / SIGNED):
            part.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise InputError(
            f"{folder}: what this user has asked for cannot be kept there ({why}); make that folder, or name another "
            "with XDG_STATE_HOME"
        ) from None
    if not all(is_own(part, closed=True) for part in (folder, folder / SIGNED)):
        raise InputError(f"{folder}: it belongs to another user, or is open to others; close it with chmod 700")
    return folder


def sign(*parts: str | bytes) -> str:
    """The signature of some parts, which only this user can make."""
    made = hmac.new(_key(make_state() / KEY), digestmod=hashlib.sha256)
    for part in parts:
        raw = part if isinstance(part, bytes) else os.fsencode(part)
        made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()


def vouch(*parts: str | bytes) -> None:
    """Write down that this user asked for something."""
    (make_state() / SIGNED / sign(*parts)).touch(mode=0o600)


def is_vouched(*parts: str | bytes) -> bool:
    """Whether this user asked for something; if not, or if that cannot be told, it is nobody's wish."""
    try:
        return (_state() / KEY).exists() and (make_state() / SIGNED / sign(*parts)).is_file()
    except (InputError, OSError):
        return False


def withdraw(*parts: str | bytes) -> None:
    """Forget that this user asked for something."""
    with suppress(OSError, InputError):
        (make_state() / SIGNED / sign(*parts)).unlink()


@contextmanager
def safe_path() -> Iterator[None]:
    """Let processes that start in the block import nothing from the current folder, whoever starts them."""
    if sys.flags.ignore_environment and not sys.flags.safe_path:
        raise InputError("started with -E, Python hands nothing on to its processes; start it with -P too, or with -I")
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


def _state() -> Path:
    said = os.environ.get("XDG_STATE_HOME", "")
    # As the standard has it, a path from the current folder is none.
    if os.path.isabs(said):  # noqa: PTH117 - of a text, not a path
        return Path(said) / "discreet"
    try:
        return Path.home() / ".local" / "state" / "discreet"
    except RuntimeError:
        raise InputError("this user has no home; name a folder for what was asked for with XDG_STATE_HOME") from None


def _key(path: Path) -> bytes:
    """The key; of two processes that make it at once, the first one's is taken."""
    if not path.exists():
        aside = path.with_name(f".{KEY}-{secrets.token_hex(4)}")
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(secrets.token_bytes(32))
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(aside, path)
        finally:
            aside.unlink()
    key = read_closed(path)
    if len(key) != 32:
        raise InputError(f"{path}: the key is damaged; remove it: what was signed with it is asked for anew")
    return key
