"""What was chosen on the way to a release, choice by choice, kept in the folder so that the last can be undone.

Choices that came with a folder are nobody's: those of this user are signed.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.jobs.job import as_text, put, read_json
from discreet.jobs.queue import NUMBER
from discreet.own import is_own, sign

PLACE = Path(".discreet") / "history"
SCHEMA = "discreet/history/1"
# So many choices can be undone.
MOST = 100


class History:
    """The choices made for one file, from the first to the last.

    Parameters
    ----------
    path : Path
        The file that keeps them, `FOLDER/.discreet/history/NUMBER.json`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        said = read_json(path)
        places = (path.parents[1], path.parent)
        if said.get("schema") != SCHEMA or not said.get("past") or not all(map(is_own, places)):
            raise InputError(f"{path.name}: there are no such choices")
        if not hmac.compare_digest(str(said.get("signature")).encode(), _sign(path, said["past"]).encode()):
            raise InputError(f"{path.name}: these choices are not yours, or the folder was moved; open the file anew")
        self._past: list[str] = [json.dumps(one) for one in said["past"]]

    @property
    def id(self) -> str:
        """Its number among the histories of the folder."""
        return self.path.stem

    @property
    def now(self) -> dict[str, Any]:
        """The choices as they stand; a copy."""
        chosen: dict[str, Any] = json.loads(self._past[-1])
        return chosen

    def choose(self, **choices: Any) -> None:
        """Take note of choices; what was chosen before can be had again."""
        after = json.dumps(self.now | choices)
        if after != self._past[-1]:
            self._past = [*self._past, after][-MOST:]
            self._keep()

    @property
    def can_undo(self) -> bool:
        """Whether there is a choice to undo."""
        return len(self._past) > 1

    def undo(self) -> None:
        """Go back to before the last choice."""
        if self.can_undo:
            del self._past[-1]
            self._keep()

    def _keep(self) -> None:
        _put(self.path, [json.loads(one) for one in self._past])


def _put(path: Path, past: list[Any]) -> None:
    put(path, as_text({"schema": SCHEMA, "past": past, "signature": _sign(path, past)}))


def _sign(path: Path, past: list[Any]) -> str:
    return sign("history", str(path.resolve()), json.dumps(past))


def begin_history(folder: Path, first: Mapping[str, Any]) -> History:
    """The history of a file in a folder: the one there is (same `file`, `kind` and `built`), or a new one."""
    place = folder / PLACE
    for part in (place.parent, place):
        if not is_own(part) and os.path.lexists(part):
            raise InputError(
                f"{part}: it is a link, or another user's, or others can write to it, so that choices cannot be kept "
                "there. Close it if it is yours (chmod -R go-w), or work in a folder of your own"
            )
        part.mkdir(mode=0o700, exist_ok=True)
    for known in histories(folder):
        if all(known.now.get(key) == first.get(key) for key in ("file", "kind", "built")):
            return known
    taken = (int(path.stem) for path in place.glob("*.json") if re.fullmatch(NUMBER, path.stem))
    path = place / f"{max(taken, default=0) + 1:04d}.json"
    _put(path, [dict(first)])
    return History(path)


def histories(folder: Path) -> list[History]:
    """All histories of a folder."""
    found = []
    for path in sorted((folder / PLACE).glob("*.json")):
        try:
            found.append(History(path))
        except InputError:
            continue
    return found
