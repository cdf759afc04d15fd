"""The fourth step: protect each block by the chosen method; write it, read it back, verify it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.rows import read_weights
from discreet.errors import PromiseNotKept
from discreet.measures.contributions import contributions_of
from discreet.microdata.aggregate import aggregate
from discreet.microdata.classes import Classes
from discreet.microdata.households import HouseholdClass, HouseholdClasses
from discreet.microdata.large.look import Picture, load_picture
from discreet.microdata.large.request import RECORD, Request, load_request
from discreet.microdata.large.scatter import BLOCKS, CLASS, KEPT, UNIT, VALUES, VOTE, constrain_records
from discreet.microdata.large.units import find_missing, list_members
from discreet.microdata.large.work import Damaged, Work, checksum, describe_damage
from discreet.microdata.members import solve_households
from discreet.microdata.records import records_of
from discreet.microdata.solving import Solution, View, solve
from discreet.text import silent
from discreet.verification.promise import check


def protect_block(folder: str, number: int, steps: int | None) -> dict[str, Any]:
    """Protect one block; without a number of steps until its time is over. What is known of it.

    Households get their numbers when all blocks are done: then the block is kept as it is until `number_block`.
    """
    work, request = Work(folder), load_request(folder)
    done = f"{block_name(request, number)}.json"
    if work.has(done):
        return dict(work.read(done))
    began = time.process_time()
    batches = work.read(BLOCKS)["blocks"][number]
    frame = _gather(work, batches)
    released, solution, figures = _protect(frame, request, load_picture(folder), steps)
    sizes = np.concatenate([partition.sizes for partition in solution.partitions])
    before = frame.select(KEPT.format(i) for i in range(len(request.unchanged)))
    facts = figures | {
        "records": frame.height,
        "batches": [[batch[0], batch[1]] for batch in batches],
        "checksum": str(checksum(before.rename(dict(zip(before.columns, request.unchanged, strict=True))))),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "search": {name: value for name, value in solution.search.items() if name != "trace"},
    }
    extra = frame.select(name for name in (UNIT, VOTE, RECORD) if name in frame.columns)
    whole = pl.concat([released, extra], how="horizontal")
    if request.household is None:
        facts |= write_block(work, request, number, whole)
    else:
        facts |= write_homes(work, request, number, whole)
    facts["cpu"] = round(time.process_time() - began, 3)
    work.write(done, facts)
    return facts


def block_name(request: Request, number: int) -> str:
    """What a block is called when it is protected: of households, before they have their numbers, otherwise."""
    return f"{'block' if request.household is None else 'homes'}-{number:05}"


def write_block(work: Work, request: Request, number: int, frame: pl.DataFrame) -> dict[str, Any]:
    """Write the rows of a block in the order of the release, read them back, verify them; their checksum."""
    name = f"block-{number:05}"
    assert request.promise is not None
    unit, vote = frame.get_column(UNIT, default=None), frame.get_column(VOTE, default=None)
    rows = frame.select(*request.released, *([UNIT, VOTE] if unit is not None else []),
                        *([RECORD] if request.is_traced else []))  # fmt: skip
    written = sort_rows(rows)
    work.write_frame(f"{name}.arrow", written.select(request.released))
    if request.is_traced:
        work.write_frame(f"rows-{number:05}.arrow", written.select(RECORD))
    back = work.read_frame(f"{name}.arrow")
    is_person = request.settings.get("person") is not None
    verdict = check(
        back,
        request.promise,
        persons=written[UNIT] if is_person else None,
        decimal=request.decimal,
        votes=written[VOTE].to_numpy() if is_person and vote is not None else None,
        whole=load_picture(request.folder).whole,
    )
    marks = checksum(frame.select(request.unchanged))
    if not verdict or back.height != frame.height or checksum(back.select(request.unchanged)) != marks:
        work.forget(f"{name}.arrow")
        raise PromiseNotKept(f"a block of the release is refused, nothing was published. {verdict.words()}")
    return {"written": str(checksum(back))}


def _gather(work: Work, batches: list[list[Any]]) -> pl.DataFrame:
    """The records of a block, each batch as it was written."""
    frames = []
    for name, place, records, marks in batches:
        try:
            frame = work.read_batch(name, place)
            if frame.height != records or str(checksum(frame)) != marks:
                raise Damaged(describe_damage(name))
        except Damaged:
            work.forget(f"{name.rsplit('-', 1)[0]}.json", BLOCKS)
            raise
        frames.append(frame)
    return pl.concat(frames)


def _protect(
    frame: pl.DataFrame, request: Request, picture: Picture, steps: int | None
) -> tuple[pl.DataFrame, Solution, dict[str, Any]]:
    """The records as they will be written, how they were grouped, and what is lost."""
    came = [frame[VALUES.format(i)].to_numpy() for i in range(len(picture.templates))]
    missing = find_missing(came)
    values = [column.copy() for column in picture.fill(came)]
    units = np.arange(frame.height) if request.unit is None else frame[UNIT].to_numpy()
    parts, blanked = [], 0
    for number, rows in _list_classes(frame[CLASS].to_numpy()):
        members = list_members(request, rows, picture.widths[number], units, missing)
        held = np.zeros((members.shape[1], len(values)), bool)
        held.reshape(-1)[picture.blanks[number]] = True
        for place, column in zip(*np.nonzero(held), strict=True):
            own = members[:, place]
            blanked += int(np.count_nonzero(~np.isnan(values[column][own])))
            values[column][own] = np.nan
        parts.append(HouseholdClass(members, np.unique(held, axis=0, return_inverse=True)[1].ravel()))
    settings = request.run_settings(**({} if steps is None else {"steps": steps}))
    attributes = [replace(one, values=own) for one, own in zip(picture.templates, values, strict=True)]
    kept = request.dataset(
        frame.select(pl.col(KEPT.format(i)).alias(name) for i, name in enumerate(request.kept)), "a block"
    )
    if request.weight is not None:
        # The plain mean of the weights themselves keeps their sum.
        weights = read_weights(kept, request.weight)
        attributes = [one if one.name == request.weight else replace(one, sampling=weights) for one in attributes]
    nothing = np.zeros((frame.height, 0), bool)
    apart = [np.sort(part.members, axis=None) for part in parts]
    classes = Classes(apart, nothing) if request.household is None else HouseholdClasses(apart, nothing, parts)
    constraints = constrain_records(frame, request, picture)
    views = []
    for group in request.groups:
        places = [request.quasi.index(name) for name in group]
        embedding = replace(picture.embedding, axes=tuple(picture.embedding.axes[place] for place in places))
        views.append(View(records_of(embedding, [values[place] for place in places]), classes, constraints))
    solution = (solve if request.household is None else solve_households)(views, settings, silent)
    labels = {
        name: one.labels for group, one in zip(request.groups, solution.partitions, strict=True) for name in group
    }
    columns: dict[str, pl.Series] = {name: kept.frame[name] for name in request.unchanged}
    lost: list[float] = []
    there: list[float] = []
    brought: list[dict[str, Any]] = []
    for attribute, axis, before in zip(attributes, picture.embedding.axes, came, strict=True):
        after = attribute.round_values(aggregate(attribute, labels[attribute.name]))
        columns[attribute.name] = attribute.column(after)
        known = ~np.isnan(before)
        sse, sst = axis.sums(before[known], after[known])
        lost.append(sse)
        there.append(sst)
        brought.append(asdict(contributions_of(replace(attribute, values=before), axis, after, labels[attribute.name])))
    sse = sum(partition.sse for partition in solution.partitions)
    figures = {"lost": lost, "there": there, "brought": brought, "sse": sse, "blanked": blanked}
    names = [name for name in request.released if name != request.household]
    return pl.DataFrame([columns[name] for name in names]), solution, figures


def _list_classes(classes: NDArray[np.int32]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """The records of each class that a block has."""
    order = np.argsort(classes, kind="stable")
    numbers, starts = np.unique(classes[order], return_index=True)
    yield from zip(numbers.tolist(), np.split(order, starts[1:]), strict=True)


def sort_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of all released columns; equal rows cannot be told apart, so their order tells nothing.

    Sorted by the first column, most rows that tie are those of one group, all alike. Only the others, if they are few,
    are sorted by all columns, which takes many times as long.
    """
    first, *others = frame.columns
    frame = frame.sort(first, nulls_last=True, maintain_order=True)
    if not others or frame.height < 2:
        return frame
    changes = frame.select(pl.col(first).ne_missing(pl.col(first).shift()).alias("first"),
                           pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in others)
                           .alias("others"))  # fmt: skip
    runs = np.cumsum(changes["first"].to_numpy())
    mixed = np.zeros(runs[-1] + 1, bool)
    mixed[runs[1:][(changes["others"] & ~changes["first"]).to_numpy()[1:]]] = True
    rows = np.flatnonzero(mixed[runs])
    if not len(rows):
        return frame
    if 2 * len(rows) > frame.height:
        return frame.sort(frame.columns, nulls_last=True, maintain_order=True)
    order = np.arange(frame.height)
    within = frame[rows].select(pl.arg_sort_by(frame.columns, nulls_last=True, maintain_order=True)).to_series()
    order[rows] = rows[within.to_numpy()]
    return frame[order]


def write_homes(work: Work, request: Request, number: int, frame: pl.DataFrame) -> dict[str, Any]:
    """Keep a block of households, which are numbered by a hash of what is released of them and of nothing else."""
    names = [name for name in request.released if name != request.household]
    hashed = frame.select(names).hash_rows(seed=0).to_numpy()
    code = np.unique(frame[UNIT].to_numpy(), return_inverse=True)[1]
    marks = np.zeros(int(code.max()) + 1, np.uint64)
    np.add.at(marks, code, hashed)
    order = np.argsort(marks, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    work.write_frame(f"homes-{number:05}-marks.arrow", pl.DataFrame({"mark": marks[order]}))
    work.write_frame(f"homes-{number:05}.arrow", frame.with_columns(pl.Series(UNIT, place[code])))
    return {"homes": str(checksum(frame.with_columns(pl.Series(UNIT, place[code])))), "households": len(marks)}


def number_block(folder: str, number: int) -> None:
    """Give the households of a block their numbers, by the rank of their marks among those of all blocks; write it."""
    work, request = Work(folder), load_request(folder)
    if work.has(f"block-{number:05}.json"):
        return
    assert request.household is not None
    facts = work.read(f"homes-{number:05}.json")
    try:
        frame = work.read_frame(f"homes-{number:05}.arrow")
        if str(checksum(frame)) != facts["homes"]:
            raise Damaged(describe_damage(f"homes-{number:05}.arrow"))
    except Damaged:
        work.forget(f"homes-{number:05}.json")
        raise
    own = _read_marks(work, number)
    # Households of which the same is released cannot be told apart, so that their order tells nothing.
    ranks = np.arange(1, len(own) + 1)
    for other in range(len(work.read(BLOCKS)["blocks"])):
        if other != number:
            ranks += np.searchsorted(_read_marks(work, other), own, side="right" if other < number else "left")
    numbers = pl.Series(request.household, ranks[frame[UNIT].to_numpy()])
    facts |= write_block(work, request, number, frame.with_columns(numbers))
    work.write(f"block-{number:05}.json", facts)


def _read_marks(work: Work, number: int) -> NDArray[np.uint64]:
    try:
        marks = work.read_frame(f"homes-{number:05}-marks.arrow")["mark"].to_numpy()
        if len(marks) != work.read(f"homes-{number:05}.json")["households"] or (marks[1:] < marks[:-1]).any():
            raise Damaged(describe_damage(f"homes-{number:05}-marks.arrow"))
    except Damaged:
        work.forget(f"homes-{number:05}.json")
        raise
    return marks
