"""The last step: prove that nothing was lost or doubled, recount all parts, and publish: the manifest comes last.

The release appears by one rename of a folder that holds everything already. Before that, nothing looks like one.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from discreet.errors import PLACED, PromiseNotKept
from discreet.evolution.checkpoint import flush_folder
from discreet.executors import Pool
from discreet.measures.contributions import Contributions
from discreet.microdata.households import tell_households
from discreet.microdata.large.look import PICTURE, Picture
from discreet.microdata.large.request import SOURCE, Request
from discreet.microdata.large.scatter import BLOCKS
from discreet.microdata.large.sort import RELEASE, ROWS, forget_block
from discreet.microdata.large.work import Damaged, Work, describe_damage
from discreet.microdata.protection import parameters
from discreet.release.atomic import AtomicFiles
from discreet.release.evidence import evidence, record, write_json
from discreet.release.reports.sign_off import begin_review
from discreet.verification.distributions import digest
from discreet.verification.folder import MANIFEST, verify_folder
from discreet.verification.promise import Promise, Verification


def balance(work: Work, parts: int) -> dict[str, Any]:
    """Compare what came in with what stands in the parts; every batch used once, every row of a block in one part."""
    seen = work.read(PICTURE)
    listed = work.read(BLOCKS)["blocks"]
    blocks = [work.read(f"block-{number:05}.json") for number in range(len(listed))]
    written = [work.read(f"part-{number:05}.json") for number in range(parts)]
    used = [tuple(batch) for block in blocks for batch in block["batches"]]
    meant = [(batch[0], batch[1]) for block in listed for batch in block]
    for number, block in enumerate(blocks):
        taken = [part["taken"][number] for part in written]
        marks = sum(int(mark) for _, mark in taken) % 2**64
        if sum(rows for rows, _ in taken) != block["records"] or str(marks) != block["written"]:
            forget_block(work, number)
            raise Damaged(describe_damage(f"block-{number:05}.arrow"))
    found = {
        "records": {
            "read": seen["records"],
            "in_blocks": sum(block["records"] for block in blocks),
            "written": sum(part["records"] for part in written),
        },
        "unchanged_columns": {
            "read": seen["checksum"],
            "in_blocks": str(sum(int(block["checksum"]) for block in blocks) % 2**64),
            "written": str(sum(int(part["checksum"]) for part in written) % 2**64),
        },
        "batches": {"made": len(meant), "used_once": len(set(used) & set(meant))},
    }
    kept = all(len(set(found[what].values())) == 1 for what in found)
    if not kept or len(used) != len(meant):
        raise PromiseNotKept("records were lost or doubled on the way; nothing was published. Start anew")
    return found


def seal(
    work: Work,
    request: Request,
    picture: Picture,
    promise: Promise,
    output: Path,
    *,
    parts: int,
    notes: Sequence[str],
    about: Mapping[str, Any],
    row_map: Path | None,
    pool: Pool,
    force: bool,
) -> tuple[dict[str, Any], Verification]:
    """Verify the parts, write the evidence and the manifest, and give the release its name."""
    conserved = balance(work, parts)
    written = [work.read(f"part-{number:05}.json") for number in range(parts)]
    blocks = [work.read(f"block-{number:05}.json") for number in range(len(work.read(BLOCKS)["blocks"]))]
    staged = work.path(RELEASE)
    with suppress(FileNotFoundError):
        (staged / MANIFEST).unlink()
    described = [
        {
            "file": part["file"],
            "format": request.format,
            "sha256": part["sha256"],
            "records": part["records"],
            "columns": request.released,
            "order": "sorted",
        }
        for part in written
    ]
    dialect = asdict(request.dialect) if request.dialect else None
    together = hashlib.sha256("".join(f"{part['sha256']}  {part['file']}\n" for part in written).encode()).hexdigest()
    out = {
        "file": output.name,
        "format": request.format,
        "sha256": together,
        "records": picture.records,
        "columns": request.released,
        "order": "sorted",
        "row_map": None if row_map is None else row_map.name,
        "dialect": dialect,
        "parts": described,
        "conservation": conserved,
        "blocks": [
            {name: block[name] for name in ("records", "groups", "cpu")} | {"steps": block["search"]["steps"]}
            for block in blocks
        ],
    }
    verdict = verify_folder(staged, promise, {**out, "parts": []}, room=work.folder, pool=pool)
    if promise.person is not None:
        # Whose a record is stands in no part: persons were counted block by block, and the union keeps what they keep.
        verdict = replace(verdict, persons=True)
    if not verdict or verdict.records != picture.records:
        raise PromiseNotKept(f"the release is refused, nothing was published. {verdict.words()}")
    settings = request.run_settings()
    measures = _measure(request, blocks)
    if request.household is not None:
        measures |= dict(zip(("households", "households_cut", "household_parts"), picture.units, strict=True))
    account = evidence(
        "microdata",
        parameters=parameters(settings, request.columns, list(picture.templates), promise.groups) | dict(about),
        search=_describe_search(blocks),
        measures=measures,
        promise=promise.as_dict(),
        verification=verdict.as_dict(),
        given={
            "file": Path(request.files[0][0]).name
            if len(request.files) == 1
            else Path(request.files[0][0]).parent.name,
            "format": request.format,
            "sha256": None,
            "records": picture.records,
            "columns": len(request.schema),
            "dialect": dialect,
        }
        | _describe_table(work)
        | ({"distributions": {name: digest(counts) for name, counts in picture.whole.items()}} if promise.t else {}),
        notes=[*notes, *picture.notes, *_tell_units(request, picture)],
        output=out,
    ) | begin_review(None)
    write_json(record(account), staged / MANIFEST)
    beside = output.with_name(output.name + ".evidence.json")
    with AtomicFiles([beside], force=True) as files:
        write_json(account, files.temporary(beside))
    if force and output.exists():
        old = work.path("replaced")
        shutil.rmtree(old, ignore_errors=True)
        output.rename(old)
    if row_map is not None:
        shutil.move(work.path(ROWS), row_map)
    staged.rename(output)
    flush_folder(output.parent)
    PLACED.append(output)
    work.remove()
    return account, verdict


def _describe_table(work: Work) -> dict[str, Any]:
    """Where the data is, if it was read from a database."""
    if not work.has(SOURCE):
        return {}
    known = work.read(SOURCE)
    return {"file": known["called"], "format": known["format"], "database": known["database"]}


def _tell_units(request: Request, picture: Picture) -> list[str]:
    """What to know of households."""
    if request.household is None:
        return []
    number, cut, parts = picture.units
    return tell_households(number, min(picture.widths), max(picture.widths), cut, parts)


def _describe_search(blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How the blocks were searched: the steps are those of one, the seconds of all."""
    first = max(blocks, key=lambda block: block["records"])["search"]
    return {
        **{name: first[name] for name in ("method", "params", "seed", "stopped")},
        "steps": max(block["search"]["steps"] for block in blocks),
        "seconds": round(sum(block["search"]["seconds"] for block in blocks), 3),
        "trace": [],
    }


def _measure(request: Request, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The loss, added up over all blocks."""
    lost = [sum(values) for values in zip(*(block["lost"] for block in blocks), strict=True)]
    there = [sum(values) for values in zip(*(block["there"] for block in blocks), strict=True)]
    shares = [100.0 * one / whole if whole > 0 else 0.0 for one, whole in zip(lost, there, strict=True)]
    total = sum(there)
    brought = [
        reduce(add, (Contributions(**one) for one in of_blocks)).as_dict()
        for of_blocks in zip(*(block["brought"] for block in blocks), strict=True)
    ]
    return {
        "il": 100.0 * sum(lost) / total if total > 0 else 0.0,
        "il_per_attribute": dict(zip(request.quasi, shares, strict=True)),
        "contributions": dict(zip(request.quasi, brought, strict=True)),
        "partition_il": 100.0 * sum(block["sse"] for block in blocks) / total if total > 0 else 0.0,
        "groups": sum(block["groups"] for block in blocks),
        "smallest_group": min(block["smallest_group"] for block in blocks),
        "largest_group": max(block["largest_group"] for block in blocks),
        "blanked": sum(block["blanked"] for block in blocks),
    }
