"""The two accounts of a release: the evidence, which is internal, and the record, which may be published.

Both follow a JSON schema that ships beside this module. Neither holds a value of a respondent.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl

from discreet._version import __version__
from discreet.data.files import format_of, sha256
from discreet.data.files.parts import find_parts
from discreet.data.files.source import Source
from discreet.measures.measure import Measures
from discreet.release.public_figures import PublicFigures, round_figure
from discreet.text import as_json
from discreet.verification.distributions import read_codes
from discreet.verification.outside import TableVerification
from discreet.verification.promise import Promise, Verification
from discreet.verification.verdict import Audit

EVIDENCE = "discreet/evidence/6"
RECORD = "discreet/release/4"


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of "evidence" or "release"."""
    text = files("discreet.release").joinpath("schemas", f"{name}.schema.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def evidence(
    kind: str,
    *,
    parameters: Mapping[str, Any],
    measures: Mapping[str, Any],
    given: Mapping[str, Any],
    notes: Sequence[str],
    search: Mapping[str, Any] | None = None,
    promise: Mapping[str, Any] | None = None,
    verification: Mapping[str, Any] | None = None,
    bound: Mapping[str, Any] | None = None,
    output: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """All that is known of how a release came about, or of how it was judged; internal."""
    return {
        "schema": EVIDENCE,
        "kind": kind,
        "version": __version__,
        "parameters": dict(parameters),
        "search": _plain(search),
        "measures": dict(measures),
        "bound": _plain(bound),
        "promise": _plain(promise),
        "verification": _plain(verification),
        "notes": list(notes),
        "input": dict(given),
        "output": _plain(output),
    }


def describe_input(source: Source | None, records: int, columns: int) -> dict[str, Any]:
    """What came in: the file and its digest, or a frame."""
    return {
        "file": source.name if source else None,
        "format": source.format if source else "frame",
        "sha256": source.sha256() if source else None,
        "records": records,
        "columns": columns,
        "dialect": asdict(source.dialect) if source and source.dialect else None,
    } | ({"database": dict(source.database)} if source and source.database else {})


def name_given(value: Any) -> str | list[str]:
    """The name of a file, or of each of several; of anything else only that it was given."""
    if isinstance(value, str | Path):
        return Path(value).name
    several = isinstance(value, list | tuple) and all(isinstance(one, str | Path) for one in value)
    return [Path(one).name for one in value] if several else "given"


def describe_distributions(frame: pl.DataFrame, promise: Promise, decimal: str) -> dict[str, Any]:
    """Digests of the distributions, in what came in, of the columns of which t-closeness is promised.

    The distance is measured to the distribution in the release; the digests show that it is the same.
    """
    found = {said.column: read_codes(frame[said.column], said.scale, decimal)[1] for said in promise.t}
    return {"distributions": found} if found else {}


def evidence_of_audit(found: Audit, table: Path, pattern: Path | None) -> dict[str, Any]:
    """The evidence of an audit of a table, with another pattern than its own or not."""
    return evidence(
        "audit",
        parameters={"pattern": pattern.name if pattern else None, "rules": dict(found.table.rules)},
        measures={},
        given={
            "file": table.name,
            "format": table.suffix.lstrip("."),
            "sha256": sha256(table),
            "records": len(found.table),
            "columns": len(found.table.dimensions),
            "dialect": None,
        },
        verification=found.as_dict(),
        notes=found.notes,
    )


def evidence_of_verification(
    verdict: Verification | TableVerification, release: Path | Source, promise: Path | None
) -> dict[str, Any]:
    """The evidence of a check of a release, by the record of its promise or by what was said."""
    if isinstance(release, Source):
        given = describe_input(release, verdict.records, 0)
    else:
        parts = release.is_dir()
        one = next(iter(find_parts(release)[0])) if parts else release
        given = {"file": release.name, "format": format_of(one), "sha256": None if parts else sha256(release)}
    return evidence(
        "verification",
        parameters={"promise": promise.name if promise else None},
        measures={},
        given=given | {"records": verdict.records, "columns": None, "dialect": None},
        promise=verdict.promise.as_dict(),
        verification=verdict.as_dict(),
        notes=verdict.notes,
    )


def evidence_of_measures(found: Measures, before: Source, after: Source) -> dict[str, Any]:
    """The evidence of measures of a release against the original."""
    return evidence(
        "measures",
        parameters={"alignment": found.alignment, "choices": asdict(found.choices)},
        measures=found.figures,
        given=describe_input(before, before.frame.height, before.frame.width),
        output=describe_input(after, after.frame.height, after.frame.width),
        notes=found.notes,
    )


# What the record says of the file.
PUBLISHED = (
    "file",
    "format",
    "dialect",
    "sha256",
    "records",
    "columns",
    "order",
    "coarsened",
    "recoded",
    "parts",
    "dimensions",
    "linked",
)


def _plain(part: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if part is None else dict(part)


def record(account: Mapping[str, Any]) -> dict[str, Any]:
    """What of the evidence may be published: promise, method, version, and the loss where it gives nothing away.

    How often linkage finds the right record is not published: it tells an intruder how far to trust a match.
    """
    output, notes = account["output"], []
    told = PublicFigures.of(account["measures"], output["records"])
    if not told.whole:
        notes.append(f"The loss is not published: {told.why}.")
    if len(account["promise"]["groups"]) > 1:
        notes.append(
            "Nothing is promised across the groups of quasi-identifiers: whoever combines them may find the right "
            "record of some respondents. How often was measured before the release and is not published."
        )
    if account["parameters"].get("sampling_weight"):
        notes.append("Means, medians and modes of groups are weighted by the sampling weights.")
    if "household" in account["promise"]:
        notes.append("Numbers of households are new: they follow what is released of a household, and nothing else.")
    # Whose a record is stands in no file that is published: without the original nobody can count persons again.
    persons = {"persons": "verified at writing"} if "person" in account["promise"] else {}
    measures = {"il": round_figure(account["measures"]["il"])} if told.whole else {}
    return _record(account, measures, notes) | persons


def table_record(account: Mapping[str, Any]) -> dict[str, Any]:
    """What of the evidence of a table may be published: that it is protected; no cost, no level, no count.

    Nor method, rule or version: whoever can repeat the choice of cells rules out the values that would give another.
    Of a partial release it says that it is one, and not which cells are not protected or how many.
    """
    found = {name: said for name, said in _record(account, {}, []).items() if name not in ("method", "version")}
    return found if found["verified"] else found | {"partial": True}


def _record(account: Mapping[str, Any], measures: Mapping[str, float], notes: Sequence[str]) -> dict[str, Any]:
    output = account["output"]
    return {
        "schema": RECORD,
        "kind": account["kind"],
        "version": account["version"],
        "promise": account["promise"],
        "method": account["search"]["method"],
        "measures": dict(measures),
        "verified": account["verification"]["passed"],
        "notes": list(notes),
        "output": {key: output[key] for key in PUBLISHED if key in output},
    }


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write an account, readable by people and programs."""
    path.write_text(as_json(content) + "\n", encoding="utf-8")
