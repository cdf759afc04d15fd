"""The two accounts of a release: the evidence, which is internal, and the record, which may be published.

Both follow a JSON schema that ships beside this module. Neither holds a value of a respondent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from discreet._version import __version__

EVIDENCE = "discreet/evidence/1"
RECORD = "discreet/release/1"


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of "evidence" or "release"."""
    text = files("discreet.release").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def evidence(
    kind: str,
    *,
    parameters: Mapping[str, Any],
    search: Mapping[str, Any],
    measures: Mapping[str, Any],
    promise: Mapping[str, Any],
    verification: Mapping[str, Any],
    given: Mapping[str, Any],
    notes: list[str],
    bound: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """All that is known of how a release came about; internal."""
    return {
        "schema": EVIDENCE,
        "kind": kind,
        "version": __version__,
        "parameters": dict(parameters),
        "search": dict(search),
        "measures": dict(measures),
        "bound": None if bound is None else dict(bound),
        "promise": dict(promise),
        "verification": dict(verification),
        "notes": notes,
        "input": dict(given),
        "output": None,
    }


def record(account: Mapping[str, Any]) -> dict[str, Any]:
    """What of the evidence may be published: promise, method, version and loss."""
    output = account["output"]
    return {
        "schema": RECORD,
        "kind": account["kind"],
        "version": account["version"],
        "promise": account["promise"],
        "method": account["search"]["method"],
        "measures": {"il": account["measures"]["il"]},
        "verified": account["verification"]["passed"],
        "output": {key: output[key] for key in ("file", "format", "dialect", "sha256", "records", "columns")},
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write an account, readable by people and programs."""
    path.write_text(as_json(content) + "\n", encoding="utf-8")


def as_json(content: Mapping[str, Any]) -> str:
    """An account as JSON text."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
