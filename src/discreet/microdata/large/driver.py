"""A large protection from top to bottom: look, borders, scatter, blocks, sort, seal.

Each step leaves files in the work folder beside the output, and skips what is there: a run that was ended anywhere goes
on when it is started again, and ends with the same bytes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet._version import __version__
from discreet.columns import name_identifier
from discreet.configuration import load
from discreet.data.attributes import kind_of, read_attribute
from discreet.data.databases import copy
from discreet.data.databases.address import is_address
from discreet.data.dataset import Dataset, accept
from discreet.data.files.parts import PIECE, cut, describe_parts, estimate_records, find_parts, read_head
from discreet.data.groupings import parse_groups
from discreet.data.memory import available
from discreet.data.profile import BEWARE, warn_of_revealing
from discreet.data.roles import RECODINGS, Declarations
from discreet.data.rows import read_persons, read_weights
from discreet.errors import InputError, whole
from discreet.executors import Pool, open_pool
from discreet.methods import make
from discreet.microdata.large.blocks import number_block, protect_block
from discreet.microdata.large.borders import draw_borders, load_borders
from discreet.microdata.large.gather import gather
from discreet.microdata.large.look import MOST_QUASI, draw_picture, load_picture, look
from discreet.microdata.large.request import PROMISE, REQUEST, SCHEMA, SOURCE, Request, load_request
from discreet.microdata.large.scatter import BLOCKS, estimate_disk, forget_lost, list_blocks, scatter
from discreet.microdata.large.seal import seal
from discreet.microdata.large.sort import RELEASE, ROWS, count_parts, draw_splitters, write_part
from discreet.microdata.large.work import Work
from discreet.microdata.options import Settings
from discreet.microdata.protection import declare, promise_of
from discreet.release.summary import summarize_release
from discreet.running import count_processors
from discreet.verification.promise import Promise, Verification

BLOCK_RECORDS = 1_000_000
# The settings that tasks need.
KEPT_SETTINGS = {
    "k", "method", "params", "missing", "seed", "steps", "time", "l", "t", "person", "household", "split_households",
    "sampling_weight",
}  # fmt: skip
# What a worker takes beside its records, and bytes for each value of a block.
IDLE, PER_VALUE = 400_000_000, 150

Tell = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class LargeRelease:
    """A release that was written to a folder.

    Parameters
    ----------
    folder : Path
        The folder, publishable as it is: parts and `release.json`.
    evidence : dict
        The internal account of how it came about; it stands beside the folder.
    promise : Promise
        What the release keeps to.
    verification : Verification
        The recount of all parts.
    """

    folder: Path
    evidence: dict[str, Any]
    promise: Promise
    verification: Verification

    @property
    def measures(self) -> dict[str, Any]:
        """What was measured."""
        return dict(self.evidence["measures"])

    @property
    def files(self) -> dict[str, Path]:
        """What was written."""
        beside = self.folder.with_name(self.folder.name + ".evidence.json")
        return {"release": self.folder, "record": self.folder / "release.json", "evidence": beside}

    def summary(self) -> str:
        """The release in words."""
        return summarize_release(self.evidence, self.promise, self.verification, self.files)

    def __repr__(self) -> str:
        records = self.evidence["output"]["records"]
        loss = self.measures["il"]
        return f"Release of {records:,} records in {self.folder.name}, k = {self.promise.k}, IL {loss:.2f} %"


def protect_parts(
    data: str | Path,
    output: Path,
    columns: Mapping[str, Any],
    search: Mapping[str, Any],
    options: Mapping[str, Any],
    *,
    reading: Mapping[str, Any],
    block_records: int,
    workers: int | None,
    memory: int | None,
    cluster: str | None,
    executor: Executor | None,
    grouping: Any,
    row_map: Path | None,
    force: bool,
    tell: Tell,
) -> LargeRelease:
    """Protect files into a folder; see `protect_large`."""
    output = Path(output)
    work = Work(output.with_name(output.name + ".work"))
    _check_output(output, work, row_map, force=force)
    work.make()
    work.sweep()
    if is_address(data):
        data, reading = _copy_table(data, work, reading), {}
    request, notes = _state(
        data, work, columns, search, options, reading, block_records, grouping, is_traced=row_map is not None
    )
    promise = request.promise
    assert promise is not None
    folder = str(work.folder)
    workers = _count_workers(workers, memory, request)
    with ExitStack() as stack:
        stack.callback(_forget_cached)
        pool = stack.enter_context(open_pool(workers, cluster=cluster, executor=executor, shared=work.folder))
        _agree(work, request, promise, pool)
        pieces = [(folder, number) for number in range(request.tasks)]
        if request.unit is not None and not _are_blocks_done(work):
            forget_lost(work, "gather")
            given = [(folder, number) for number in range(len(request.pieces))]
            pool.run(gather, given, lambda share: tell("gathering", share))
        pool.run(look, pieces, lambda share: tell("looking", share))
        _check_files(request)
        draw_picture(work, request)
        draw_borders(work, folder)
        if not _are_blocks_done(work):
            work.check_room(estimate_disk(work, request))
            forget_lost(work, "chunk")
            pool.run(scatter, pieces, lambda share: tell("scattering", share))
            _check_files(request)
            list_blocks(work, folder)
            _protect_blocks(work, folder, request, pool, tell)
        for done in sorted([*work.folder.glob("chunk-*.arrow"), *work.folder.glob("gather-*.arrow")]):
            done.unlink()
        draw_splitters(work, folder)
        for staged in (RELEASE, *([ROWS] if request.is_traced else [])):
            work.path(staged).mkdir(mode=0o700, exist_ok=True)
        parts = count_parts(work)
        pool.run(write_part, [(folder, number) for number in range(parts)], lambda share: tell("sorting", share))
        tell("verifying", 0.0)
        about = {"block_records": request.block_records, "versions": pool.versions, "workers": pool.workers}
        account, verdict = seal(
            work,
            request,
            load_picture(folder),
            promise,
            output,
            parts=parts,
            notes=notes,
            about=about,
            row_map=row_map,
            pool=pool,
            force=force,
        )
    return LargeRelease(output, account, promise, verdict)


def _copy_table(data: str | Path, work: Work, reading: Mapping[str, Any]) -> Path:
    """Read a table of a database into files of the work folder, once; a run that goes on has the same rows."""
    query = reading.get("query")
    asked = {"source": str(data), "query": None if query is None else Path(query).read_text(encoding="utf-8")}
    folder = work.path("source")
    if work.has(SOURCE):
        if work.read(SOURCE)["asked"] != asked:
            raise InputError(f"{work.folder} holds work on another table; remove that folder to begin anew")
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    work.write(SOURCE, copy(data, folder, PIECE, query=query, query_time=reading.get("query_time")) | {"asked": asked})
    return folder


def _are_blocks_done(work: Work) -> bool:
    if not work.has(BLOCKS):
        return False
    blocks = len(work.read(BLOCKS)["blocks"])
    return all(work.has(f"block-{number:05}.json") for number in range(blocks))


def _protect_blocks(work: Work, folder: str, request: Request, pool: Pool, tell: Tell) -> None:
    """Protect all blocks; a time is turned into steps by the largest, which is the first and the pilot."""
    listed = work.read(BLOCKS)["blocks"]
    order = sorted(range(len(listed)), key=lambda number: -sum(batch[2] for batch in listed[number]))
    steps = request.settings["steps"]
    searches = make("memetic" if request.settings["method"] == "auto" else request.settings["method"],
                    request.settings["params"]).searches  # fmt: skip
    if steps is None and searches:
        steps = pool.run(protect_block, [(folder, order[0], None)])[0]["search"]["steps"]
        order = order[1:]
    if order:
        pool.run(protect_block, [(folder, number, steps) for number in order], lambda share: tell("protecting", share))
    if request.household is not None:
        pool.run(number_block, [(folder, number) for number in range(len(listed))])


def _check_output(output: Path, work: Work, row_map: Path | None, *, force: bool) -> None:
    if not output.name:
        raise InputError("output must be the name of a folder to be made")
    if not output.parent.is_dir():
        raise InputError(f"{output.parent}: there is no such folder; make it first or choose another")
    if output.exists() and not force:
        raise InputError(f"{output} exists already; choose another name, or replace it with --force (force=True)")
    if row_map is not None and (row_map.exists() or not row_map.parent.is_dir()):
        raise InputError(f"{row_map}: the row map of a release in parts is a new folder; choose another name")
    if work.folder.exists() and not work.folder.is_dir():
        raise InputError(f"{work.folder} is no folder, and the work needs one of that name; choose another output")


def _state(
    data: str | Path,
    work: Work,
    columns: Mapping[str, Any],
    search: Mapping[str, Any],
    options: Mapping[str, Any],
    reading: Mapping[str, Any],
    block_records: int,
    grouping: Any,
    *,
    is_traced: bool,
) -> tuple[Request, list[str]]:
    """What is asked for, from the call, the configuration and the first records."""
    said = load(search.get("config"))
    asked = {name: value for name, value in search.items() if name not in ("config", "checkpoint")}
    settings = Settings.settle(said, missing=columns.get("missing"), **options, **asked)
    _refuse_options(settings, search)
    paths, format_name = find_parts(data)
    head = accept(read_head(paths[0], format_name, work.folder, **{**said.reading, **reading}))
    head = replace(head, name=describe_parts(paths))
    if work.has(SOURCE):
        head = replace(head, name=work.read(SOURCE)["called"], notes=tuple(work.read(SOURCE)["notes"]))
    for unit in (settings.person, settings.household):
        if unit in head.frame.columns:
            columns = name_identifier(unit, columns, said)
    declared = declare(head, said, **columns)
    quasi = declared.names("quasi")
    _refuse_columns(declared, settings, quasi)
    where = f"{search.get('config')}: grouping"
    groups = parse_groups(said.grouping, quasi, where) if grouping is None else parse_groups(grouping, quasi)
    declared, forms, notes = _settle_kinds(head, declared)
    if settings.sampling_weight is not None:
        read_weights(head, settings.sampling_weight)
        if declared[settings.sampling_weight].role == "confidential":
            notes.append(
                f"{BEWARE}the sampling weights '{settings.sampling_weight}' are released unchanged: whoever knows one "
                "that is unique in its class finds the record"
            )
    if settings.household is not None:
        read_persons(head, settings.household, "household")
    promise, _ = promise_of(head, declared, settings, groups)
    given = {name: value for name, value in vars(settings).items() if name in KEPT_SETTINGS}
    given |= {"params": dict(settings.params), "l": dict(settings.l), "t": dict(settings.t)}
    stats = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths]
    pieces = cut([Path(path) for path, _, _ in stats], format_name)
    has_units = settings.person is not None or settings.household is not None
    request = Request(
        stats,
        format_name,
        head.frame.schema,
        head.source.dialect if head.source else None,
        pieces,
        declared,
        forms,
        given,
        whole("block_records", block_records, max(2 * settings.k, 100)),
        [list(group) for group in groups],
        -(-estimate_records(paths, format_name) // PIECE) if has_units else len(pieces),
        is_traced,
        str(work.folder),
        promise,
    )
    return request, [*head.notes, *declared.notes, *notes]


def _refuse_options(settings: Settings, search: Mapping[str, Any]) -> None:
    """Refuse what takes all records at once."""
    named = {
        "a method that is a function": not isinstance(settings.method, str),
        "several seeds": settings.seeds > 1,
        "target score": settings.target != "il",
        "bound": settings.bound,
        "measures of your own": bool(settings.own),
        "order kept": settings.order != "sorted",
        "a checkpoint (the work folder is one)": search.get("checkpoint") is not None,
    }
    asked = [what for what, is_asked in named.items() if is_asked]
    if asked:
        raise InputError(
            f"{', '.join(asked)}: not for data in parts or larger than memory; leave it out, or allow more memory"
        )


def _refuse_columns(declared: Declarations, settings: Settings, quasi: Sequence[str]) -> None:
    if len(quasi) > MOST_QUASI:
        raise InputError(f"data in parts can have {MOST_QUASI} quasi-identifiers at most, not {len(quasi)}")
    for column in declared.columns:
        for how in ("coarsen", "hierarchy", *RECODINGS):
            if getattr(column, how) is not None:
                raise InputError(
                    f"column '{column.name}': {how} is not for data in parts or larger than memory; recode it first"
                )
        if column.missing == "impute" and settings.sampling_weight is not None:
            raise InputError(
                f"column '{column.name}': data in parts with sampling weights cannot have missing values imputed"
            )


def _settle_kinds(head: Dataset, declared: Declarations) -> tuple[Declarations, dict[str, Any], list[str]]:
    """The declarations with the kinds of quasi-identifiers, by the first records; forms of dates; what was assumed."""
    columns, forms, assumed = [], {}, dict[str, list[str]]()
    for said in declared.columns:
        if said.role == "quasi":
            if head.frame[said.name].null_count() == head.frame.height and said.kind is None:
                raise InputError(f"column '{said.name}' has no values in the first records; declare its type")
            kind, order, note = kind_of(head, said)
            said = replace(said, kind=kind, order=order)
            if kind == "date":
                attribute = read_attribute(head, said)[0]
                assert attribute.form is not None
                forms[said.name] = attribute.form
                said = replace(said, form=attribute.form.pattern or None)
            elif kind == "numeric":
                read_attribute(head, replace(said, na=())) if not said.na else None
            if note:
                assumed.setdefault(note, []).append(said.name)
        columns.append(said)
    notes = [f"{what}, by the first records: {', '.join(names)}" for what, names in assumed.items()]
    return Declarations(tuple(columns), declared.notes), forms, [*notes, *warn_of_revealing(head, declared)]


def _agree(work: Work, request: Request, promise: Promise, pool: Pool) -> None:
    """Write down what is asked, or see that it is what was asked before."""
    asked = json.loads(json.dumps({"request": request.as_dict(), "version": __version__, "versions": pool.versions}))
    if work.has(REQUEST):
        before = work.read(REQUEST)
        differs = [name for name in asked if before.get(name) != asked[name]]
        if differs:
            inner = before.get("request", {})
            parts = [name for name in asked["request"] if inner.get(name) != asked["request"][name]]
            raise InputError(
                f"{work.folder} holds work of another kind: it differs in {', '.join(parts or differs)}. Start with "
                "the same data and settings to go on, or remove that folder to begin anew"
            )
    else:
        work.write_frame(SCHEMA, request.schema.to_frame())
        work.write(PROMISE, promise.as_dict())
        work.write(REQUEST, asked)
    _forget_cached()


def _forget_cached() -> None:
    """Let go of what was read of a work folder: another may get its name, and a map of a file keeps its disk busy."""
    for cached in (load_request, load_picture, load_borders):
        cached.cache_clear()


def _check_files(request: Request) -> None:
    """See that nobody wrote to the input meanwhile."""
    for name, size, changed in request.files:
        path = Path(name)
        found = path.stat() if path.exists() else None
        if found is None or (found.st_size, found.st_mtime_ns) != (size, changed):
            raise InputError(f"{path.name} was changed while it was read; nothing was published. Start anew")


def _count_workers(workers: int | None, memory: int | None, request: Request) -> int:
    """As many workers as were asked for; else as there are processors, and as fit into the memory."""
    if workers is not None:
        return whole("workers", workers, 1)
    free = available()
    room = memory if memory is not None else None if free is None else free // 2
    each = IDLE + PER_VALUE * request.block_records * (len(request.quasi) + len(request.kept))
    fit = count_processors() if room is None else max(1, room // each)
    return int(min(count_processors(), fit))
