"""What an evidence says of a decision on its release, and whether that decision is of the bytes that are there now.

An evidence is a file that anybody may have written: what it says is read as text of the expected shape, or refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data.files import sha256
from discreet.errors import InputError

# No evidence of ours comes near it; a larger file is not read.
MOST_BYTES = 1 << 26
# How a decision stands to the bytes that are there.
NONE, OURS, VOID, NAMELESS = "none", "holds", "void", "names no bytes"
# The parts of an account that are read when a release is reviewed, and what each must be.
_PARTS: dict[str, tuple[type, ...]] = {
    "schema": (str,), "kind": (str,), "parameters": (dict,), "promise": (dict, type(None)),
    "verification": (dict, type(None)), "input": (dict,), "output": (dict,),
}  # fmt: skip
_WORDS = (
    "recipient", "purpose", "reviewer", "decision", "decided_on", "review_date", "remarks", "comment", "sha256",
    "same_person", "counted",
)  # fmt: skip


def read_account(path: Path) -> dict[str, Any]:
    """An evidence, or the error that says why the file cannot be one."""
    content = _read(path, "the evidence of a release", _PARTS)
    _check_review(path, content.get("review", {}))
    return content


def read_record(path: Path) -> dict[str, Any]:
    """A record, or the error that says why the file cannot be one."""
    return _read(path, "the record of a release", {"promise": (dict,), "output": (dict,)})


def _read(path: Path, what: str, parts: Mapping[str, tuple[type, ...]]) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: too large for {what} ({MOST_BYTES >> 20} MB at most)")
        content = json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except InputError:
        raise
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: not {what} (cannot be read as JSON)") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: not {what}")
    for name, kinds in parts.items():
        if not isinstance(content.get(name), kinds):
            raise InputError(f"{path}: not {what} ('{name}' is missing or of another type)")
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(name)  # NaN and infinity are no JSON


def _check_review(path: Path, review: Any) -> None:
    """Refuse a part `review` of another shape than ours."""
    wrong = InputError(f"{path}: not the evidence of a release ('review' is of another type)")
    if not isinstance(review, dict):
        raise wrong
    earlier = review.get("earlier", [])
    people = [review.get(name, {}) for name in ("five_safes", "author", "account")]
    if not isinstance(earlier, list) or not all(isinstance(one, dict) for one in [*people, *earlier]):
        raise wrong
    said = [one[name] for one in (review, *earlier) for name in _WORDS if name in one]
    said += [word for one in people for name, word in one.items() if name != "uid"]
    if not all(isinstance(word, str) for word in said):
        raise wrong


def released_files(release: Path, output: Mapping[str, Any]) -> list[Path]:
    """The files of a release by its record: one, the parts of a folder, or a table and those it was split into."""
    parts = output.get("parts") or []
    names = [part.get("file") if isinstance(part, Mapping) else None for part in parts] if _is_list(parts) else [None]
    if any(not isinstance(name, str) or Path(name).name != name for name in names):
        raise InputError(f"{release.name}: its record does not name its parts by plain names")
    inside = release if release.is_dir() else release.parent
    return [*([] if release.is_dir() else [release]), *(inside / str(name) for name in names)]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def digest(release: Path, output: Mapping[str, Any]) -> str:
    """The SHA-256 of a release as it is now: of its file, or of the list of its files with the SHA-256 of each."""
    files = released_files(release, output)
    absent = [path.name for path in files if not path.is_file()]
    if absent:
        raise InputError(f"{release.name}: {absent[0]}, which belongs to it, is not there")
    found = [(path.name, sha256(path)) for path in files]
    return _digest_of_list(found) if release.is_dir() or len(found) > 1 else found[0][1]


def recorded_digest(output: Mapping[str, Any]) -> str | None:
    """The same as the account of the release has it; None if it does not say."""
    parts = output.get("parts") or []
    files = [output, *parts] if _is_list(parts) else [None]
    said = [(one.get("file"), one.get("sha256")) for one in files if isinstance(one, Mapping)]
    if len(said) < len(files) or not all(isinstance(word, str) for one in said for word in one):
        return None
    listed = [(str(name), str(one)) for name, one in said]
    whole = listed[0][1]
    # What a folder has for its own SHA-256 is that of the list of its parts.
    return whole if len(listed) == 1 or whole == _digest_of_list(listed[1:]) else _digest_of_list(listed)


def _digest_of_list(files: Sequence[tuple[str, str]]) -> str:
    return hashlib.sha256("".join(f"{one}  {name}\n" for name, one in files).encode()).hexdigest()


def standing(review: Mapping[str, Any], now: str | None) -> str:
    """How a decision stands to the SHA-256 of the release now."""
    if not review.get("decision"):
        return NONE
    if not review.get("sha256"):
        return NAMELESS
    return OURS if review["sha256"] == now else VOID


def describe_standing(review: Mapping[str, Any], now: str | None) -> str:
    """What to know of a decision that is not of these bytes; nothing where it is, or where there is none."""
    how, said = standing(review, now), review.get("decision")
    if how == VOID:
        return f"the decision '{said}' is void: it is of other bytes than these (its SHA-256 differs)"
    if how == NAMELESS:
        return f"the decision '{said}' names no bytes: it was not made on the release as it is now"
    return ""


def note_decision(release: Path, now: str = "") -> tuple[str, ...]:
    """What the evidence beside a release says of a decision that is not of these bytes, for those who verify it.

    Parameters
    ----------
    release : Path
        The release; of a table of a database, what the files about it are called after.
    now : str
        The SHA-256 of the rows of such a table.
    """
    beside = release.with_name(f"{release.name}.evidence.json")
    if not beside.is_file():
        return ()
    try:
        account = read_account(beside)
        review = account.get("review", {})
        words = describe_standing(review, now or digest(release, account["output"])) if review.get("decision") else ""
    except InputError:
        return (f"{beside.name} cannot be read as the evidence of this release: whether it is approved is not known",)
    return (words,) if words else ()
