"""An office's secret, which keys the choice of secondary cells: without it nobody can repeat the choice.

Who knows method and rules can rule out all values for which they would give another pattern. The secret keys the seed
and the breaking of ties, by the response, the dimensions and their codes and by nothing else: a table that is corrected
keeps its pattern as far as its values allow, and next year's is chosen alike.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.attack.system import Floats
from discreet.errors import InputError
from discreet.tabular.table import Table

LEAST_BYTES, MOST_BYTES = 32, 4096
# How much less a cell may cost in the search than it does, as a share: what breaks ties, and no more than that.
TILT = 1e-3


@dataclass(frozen=True)
class Secret:
    """The key of an office.

    Parameters
    ----------
    key : bytes
        The content of its file.
    path : Path
        The file.
    is_new : bool
        Whether the file was made just now.
    """

    key: bytes = field(repr=False)
    path: Path
    is_new: bool = False

    @property
    def fingerprint(self) -> str:
        """What names the secret without telling it."""
        return hmac.new(self.key, b"discreet fingerprint", hashlib.sha256).hexdigest()[:16]

    def seed(self, table: Table, given: int) -> int:
        """The seed for a table, in place of the one that was given."""
        codes = [sorted(table.dimensions[axis].codes) for axis in _axes(table)]
        digest = self._digest(self._key_of(table), ["seed", given, codes])
        return int.from_bytes(digest[:8], "big") >> 1

    def tilt(self, table: Table) -> Floats:
        """For each cell a factor of its cost in (1 − TILT, 1], by its codes; of a table without codes, its number."""
        key, axes = self._key_of(table), _axes(table)
        # Quoted as JSON, so that no code can look like two.
        texts = [[json.dumps(code) for code in table.dimensions[axis].codes] for axis in axes]
        places = [table.codes[:, axis].tolist() for axis in axes]
        names = zip(*([text[at] for at in own] for text, own in zip(texts, places, strict=True)), strict=True)
        cells = (",".join(name) for name in names) if axes else map(str, range(len(table)))
        drawn = [hmac.digest(key, cell.encode(), "sha256")[:8] for cell in cells]
        return np.asarray(1.0 - TILT * np.frombuffer(b"".join(drawn), ">u8") / 2.0**64, dtype=np.float64)

    def _key_of(self, table: Table) -> bytes:
        """A key for all tables of this response by these dimensions, whatever their codes."""
        return self._digest(self.key, ["table", table.response, [table.dimensions[axis].name for axis in _axes(table)]])

    @staticmethod
    def _digest(key: bytes, what: list[object]) -> bytes:
        return hmac.digest(key, json.dumps(what).encode(), "sha256")


def _axes(table: Table) -> list[int]:
    """The dimensions by their names: their order in the file does not count."""
    return sorted(range(len(table.dimensions)), key=lambda axis: table.dimensions[axis].name)


def open_secret(path: str | Path) -> Secret:
    """Read the secret of a file, which only its owner may read; a file that is not there is made, with a random key."""
    path = Path(path)
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _make(path)
    except OSError as error:
        raise InputError(
            f"{path}: the secret cannot be read ({error.strerror}); name a file of your own that is no link"
        ) from None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{path}: the secret must be a file")
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise InputError(
                f"{path}: a secret must be your own file that nobody else may read or write (mode 0600); as it is, "
                "others may know it. Make a new one, or if it was never readable to others: chmod 600"
            )
        key = os.read(handle, MOST_BYTES + 1).strip()
    finally:
        os.close(handle)
    if not LEAST_BYTES <= len(key) <= MOST_BYTES:
        raise InputError(
            f"{path}: a secret has {LEAST_BYTES} to {MOST_BYTES:,} bytes; name a file that is not there yet to have "
            "one made"
        )
    return Secret(key, path)


def _make(path: Path) -> Secret:
    key = secrets.token_hex(LEAST_BYTES).encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(f"{path}: the secret cannot be made ({error.strerror}); name another place") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key + b"\n")
            file.flush()
            os.fsync(handle)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise InputError(f"{path}: the secret could not be written ({error.strerror}); nothing was kept") from None
    return Secret(key, path, is_new=True)
