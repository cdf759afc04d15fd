"""A release in the form of ACRO's output record, so that output checkers can review it in the viewer they know.

Internal: the folder is for checkers, not for users of the data.
The form is that of ACRO 1.0 (`results.json`, a copy of each file, and a checksum of each in `checksums/`), whose
documentation says what each field means. Checkers see what would be published and our verdict on it, and no more.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl

from discreet._version import __version__
from discreet.data.databases.address import is_address
from discreet.data.files import sha256
from discreet.errors import InputError
from discreet.release.evidence import write_json

# The version of ACRO's form; its viewer compares the first two numbers.
ACRO_VERSION = "1.0.2"


def check_acro(folder: str | Path, release: str | Path) -> Path:
    """Refuse a folder for checkers that exists already or has no place to be made in, and a release without a file."""
    if is_address(release):
        raise InputError("output checkers look at files; write the release to a file to make a folder for them")
    folder = Path(folder)
    if os.path.lexists(folder):
        raise InputError(f"{folder} exists already; name a new folder for the output checkers")
    if not folder.parent.is_dir():
        raise InputError(f"{folder.parent}: there is no such folder; make it first or choose another")
    return folder


def write_acro(release: str | Path, evidence: Mapping[str, Any], folder: str | Path, *, command: str = "") -> Path:
    """Make a folder for output checkers: the release, ACRO's record of it and checksums; whole or not at all.

    Parameters
    ----------
    release : path
        The release as it was written.
    evidence : dict
        Its evidence.
    folder : path
        The folder to be made.
    command : str
        The command that repeats the release.
    """
    folder, release = check_acro(folder, release), Path(release)
    copies = [release.with_name(part["file"]) for part in evidence["output"].get("parts", ())] or [release]
    making = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        (making / "checksums").mkdir(parents=True, mode=0o700)
        making.chmod(0o700)
        for one in copies:
            shutil.copy(one, making / one.name)
        write_json(_results(evidence, copies, command), making / "results.json")
        for path in [one for one in making.iterdir() if one.is_file()]:
            (making / "checksums" / f"{path.name}.txt").write_text(sha256(path), encoding="utf-8")
        making.rename(folder)
    except OSError as error:
        raise InputError(f"{folder} could not be made: {error.strerror}; nothing was left behind") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return folder


def _results(evidence: Mapping[str, Any], files: list[Path], command: str) -> dict[str, Any]:
    table = evidence["kind"] == "table"
    passed = evidence["verification"]["passed"]
    status = "pass" if passed else "review"
    # As in the record, nothing here says how the cells of a table were chosen.
    how = {} if table else {"method": evidence["search"]["method"]}
    version = {} if table else {"version": __version__}
    output = {
        "uid": "output_0",
        "status": status,
        "type": "table" if table and files[0].suffix.lower() == ".csv" else "custom",
        "properties": {**how, "promise": evidence["promise"]},
        "files": [{"name": path.name, "sdc": _marks(path) if table else {}} for path in files],
        "outcome": {},
        "command": command,
        "summary": f"{status}; {'verified from the bytes' if passed else 'released in part, not verified'}",
        "timestamp": datetime.now().isoformat(),
        "comments": [" ".join(["Made and verified by discreet", *([] if table else [evidence["version"]])]) + "."],
        # What is not in order needs a reason to be released, which somebody has to give.
        "exception": "",
        "fair": {},
    }
    tool = {"@type": "SoftwareApplication", "name": "discreet", **version}
    return {"version": ACRO_VERSION, "tool": tool, "results": {output["uid"]: output}}


def _marks(path: Path) -> dict[str, Any]:
    """Where a published table has its marks, as the viewer counts: rows from 0, columns from 0 after the first."""
    if path.suffix.lower() != ".csv":
        return {}
    frame = pl.read_csv(path, infer_schema=False)
    hidden = frame[frame.columns[-1]].cast(pl.Float64, strict=False).is_null().arg_true().to_list()
    return {"summary": {"suppressed": len(hidden)}, "cells": {"suppressed": [[row, frame.width - 2] for row in hidden]}}
