"""A release that was looked at before it is written: what is written must be that one."""

from __future__ import annotations

from pathlib import Path

from discreet.data.files import sha256
from discreet.errors import InputError, PromiseNotKept


def check_expected(path: str | Path) -> None:
    """Refuse what cannot be compared: only files as .csv have the same bytes whenever they are written."""
    path = Path(path)
    if path.suffix.lower() != ".csv":
        raise InputError(f"{path.name}: a release is compared as .csv; name the .csv file that was looked at")
    if not path.is_file():
        raise InputError(f"{path} does not exist; name the release that was looked at, as .csv")


def refuse_other(digest: str, expected: Path) -> None:
    """Refuse a release that has another SHA-256 as .csv than the expected one."""
    if digest != sha256(expected):
        raise PromiseNotKept(
            f"the release is not the one in {expected.name} (their SHA-256 differ), so nothing was written. The data, "
            "the configuration, seed and steps, or the version of discreet are not those that made it: make it again, "
            "and look at it"
        )
