"""A release of ours, read as its record says it was written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.digest import sha256
from discreet.data.files import format_of, read

if TYPE_CHECKING:
    from discreet.data.source import Source


def record_of(path: Path) -> Mapping[str, Any] | None:
    """What the record beside a release says of it, if there is one and it speaks of this very file."""
    try:
        output = json.loads(path.with_name(path.name + ".release.json").read_text(encoding="utf-8"))["output"]
        return output if isinstance(output, dict) and output["sha256"] == sha256(path) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def read_recorded(path: Path, output: Mapping[str, Any]) -> Source:
    """Read a release: delimited text in the dialect of its record, and not in one that would be found out."""
    how = output.get("dialect")
    if format_of(path) != "csv" or not isinstance(how, Mapping):
        return read(path)
    source = read(path, **{name: how.get(name) for name in ("delimiter", "encoding", "decimal", "header")})
    columns = output.get("columns", [])
    if not how.get("header") and len(columns) == source.frame.width:
        source = replace(source, frame=source.frame.rename(dict(zip(source.frame.columns, columns, strict=True))))
    return source
