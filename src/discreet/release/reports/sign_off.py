"""What those who decide on a release have said: a TOML file, every key checked, for the evidence and the report."""

from __future__ import annotations

import getpass
import os
from datetime import date
from pathlib import Path
from typing import Any

from discreet.data import toml
from discreet.errors import InputError

FIELDS = ("author", "recipient", "purpose", "reviewer", "decision", "decided_on", "review_date", "remarks")
# T. Desai, F. Ritchie and R. Welpton, Five Safes: designing data access for research, 2016.
FIVE_SAFES = ("projects", "people", "settings", "data", "outputs")


def read_sign_off(path: str | Path) -> dict[str, Any]:
    """Read a sign-off as the part `review` of the evidence holds it; keys that mean nothing are refused."""
    path = Path(path)
    content = toml.read(path)
    found: dict[str, Any] = {}
    for key, value in content.items():
        if key == "five_safes":
            found[key] = _read_safes(path, value)
        elif key in FIELDS:
            found[key] = _read_text(path, key, value)
        else:
            allowed = (*FIELDS, "five_safes")
            raise toml.unknown_key(f"{path}{toml.place_of_key(str(path), key)}", key, allowed)
    return found


def begin_review(sign_off: str | Path | None) -> dict[str, Any]:
    """The part `review` of an evidence when the release is written: who writes it, and the sign-off if there is one."""
    said = {} if sign_off is None else read_sign_off(sign_off)
    name = said.pop("author", "").strip()
    return {"review": {**said, "author": ({"name": name} if name else {}) | user_account()}}


def user_account() -> dict[str, Any]:
    """The account of the operating system by which this process runs: its login name and number."""
    if not hasattr(os, "getuid"):
        return {"login": getpass.getuser(), "uid": None}
    return account_of(os.getuid())


def account_of(uid: int) -> dict[str, Any]:
    """An account by its number, since anybody can set the variables of the environment."""
    try:
        import pwd

        login = pwd.getpwuid(uid).pw_name
    except (ImportError, KeyError):
        login = str(uid)
    return {"login": login, "uid": uid}


def _read_safes(path: Path, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InputError(f"{path}: five_safes must be a table, as [five_safes] with {', '.join(FIVE_SAFES)}")
    for key in value:
        if key not in FIVE_SAFES:
            raise toml.unknown_key(f"{path}: [five_safes]", key, FIVE_SAFES)
    return {key: _read_text(path, f"five_safes.{key}", text) for key, text in value.items()}


def _read_text(path: Path, key: str, value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise InputError(f"{path}: '{key}' must be a text or a date")
    return value
