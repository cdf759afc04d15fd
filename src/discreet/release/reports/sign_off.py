"""What those who decide on a release have said: a TOML file, every key checked, for the evidence and the report."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

from discreet.data import toml
from discreet.errors import InputError, suggest

FIELDS = ("recipient", "purpose", "reviewer", "decision", "decided_on", "review_date", "remarks")
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
            place = toml.place_of_key(str(path), key)
            raise InputError(f"{path}{place}: unknown key{suggest(key, allowed)}; allowed are {', '.join(allowed)}")
    return found


def _read_safes(path: Path, value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise InputError(f"{path}: five_safes must be a table, as [five_safes] with {', '.join(FIVE_SAFES)}")
    for key in value:
        if key not in FIVE_SAFES:
            raise InputError(
                f"{path}: [five_safes]: unknown key{suggest(key, FIVE_SAFES)}; allowed are {', '.join(FIVE_SAFES)}"
            )
    return {key: _read_text(path, f"five_safes.{key}", text) for key, text in value.items()}


def _read_text(path: Path, key: str, value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if not isinstance(value, str):
        raise InputError(f"{path}: '{key}' must be a text or a date")
    return value
