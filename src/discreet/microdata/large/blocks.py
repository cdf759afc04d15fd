"""The fourth step: protect each block by the chosen method; write it, read it back, verify it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from discreet.errors import PromiseNotKept
from discreet.microdata.aggregate import aggregate
from discreet.microdata.classes import Classes
from discreet.microdata.large.look import Picture, load_picture
from discreet.microdata.large.request import Request, load_request
from discreet.microdata.large.scatter import BLOCKS, CLASS, KEPT, VALUES
from discreet.microdata.large.work import Damaged, Work, checksum, describe_damage
from discreet.microdata.promises import constraints_of
from discreet.microdata.records import records_of
from discreet.microdata.solving import Solution, View, solve
from discreet.text import silent
from discreet.verification.promise import Promise, check

# What the promise says of the confidential columns it speaks of.
PROMISE = "promise.json"


def protect_block(folder: str, number: int, steps: int | None) -> dict[str, Any]:
    """Protect one block; without a number of steps until its time is over. What is known of it."""
    work, request = Work(folder), load_request(folder)
    name = f"block-{number:05}"
    if work.has(f"{name}.json"):
        return dict(work.read(f"{name}.json"))
    began = time.process_time()
    picture = load_picture(folder)
    promise = Promise.from_dict(work.read(PROMISE))
    batches = work.read(BLOCKS)["blocks"][number]
    frame = _gather(work, batches)
    released, solution, figures = _protect(frame, request, picture, promise, steps)
    person = request.settings.get("person")
    columns = released.columns if person is None else [*released.columns, "\x01person"]
    if person is not None:
        whose = frame[KEPT.format(len(request.kept) - 1)]
        released = released.with_columns(whose.alias("\x01person"))
    written = sort_rows(released)
    work.write_frame(f"{name}.arrow", written.select(request.released))
    back = work.read_frame(f"{name}.arrow")
    persons = None if person is None else written[columns[-1]]
    verdict = check(back, promise, persons=persons, decimal=request.decimal)
    before = frame.select(KEPT.format(i) for i in range(len(request.unchanged)))
    marks = checksum(before.rename(dict(zip(before.columns, request.unchanged, strict=True))))
    if not verdict or back.height != frame.height or checksum(back.select(request.unchanged)) != marks:
        work.forget(f"{name}.arrow")
        raise PromiseNotKept(f"a block of the release is refused, nothing was published. {verdict.words()}")
    sizes = solution.partitions[0].sizes
    facts = figures | {
        "records": back.height,
        "batches": [[batch[0], batch[1]] for batch in batches],
        "checksum": str(marks),
        "written": str(checksum(back)),
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "search": {name: value for name, value in solution.search.items() if name != "trace"},
        "cpu": round(time.process_time() - began, 3),
    }
    work.write(f"{name}.json", facts)
    return facts


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
    frame: pl.DataFrame, request: Request, picture: Picture, promise: Promise, steps: int | None
) -> tuple[pl.DataFrame, Solution, dict[str, Any]]:
    """The records as they will be written, how they were grouped, and what is lost."""
    came = [frame[VALUES.format(i)].to_numpy() for i in range(len(picture.templates))]
    classes = frame[CLASS].to_numpy()
    order = np.argsort(classes, kind="stable")
    numbers, starts = np.unique(classes[order], return_index=True)
    rows = np.split(order, starts[1:])
    values = picture.fill(came)
    blanked = 0
    for number, own in zip(numbers.tolist(), rows, strict=True):
        for place in picture.blanks[number]:
            blanked += int(np.count_nonzero(~np.isnan(values[place][own])))
            values[place] = values[place].copy()
            values[place][own] = np.nan
    attributes = [replace(one, values=own) for one, own in zip(picture.templates, values, strict=True)]
    records = records_of(picture.embedding, values)
    settings = request.run_settings(**({} if steps is None else {"steps": steps}))
    kept = request.dataset(
        frame.select(pl.col(KEPT.format(i)).alias(name) for i, name in enumerate(request.kept)), "a block"
    )
    person = settings.person
    persons = None if person is None else kept.frame[person]
    constraints = constraints_of(kept, request.columns, promise, persons) if promise.held or person else None
    view = View(records, Classes(rows, np.zeros((frame.height, 0), bool)), constraints)
    solution = solve([view], settings, silent)
    labels = solution.partitions[0].labels
    columns: dict[str, pl.Series] = {name: kept.frame[name] for name in request.unchanged}
    lost: list[float] = []
    there: list[float] = []
    for attribute, axis, before in zip(attributes, picture.embedding.axes, came, strict=True):
        after = attribute.round_values(aggregate(attribute, labels))
        columns[attribute.name] = attribute.column(after)
        known = ~np.isnan(before)
        sse, sst = axis.sums(before[known], after[known])
        lost.append(sse)
        there.append(sst)
    figures = {"lost": lost, "there": there, "sse": solution.partitions[0].sse, "blanked": blanked}
    return pl.DataFrame([columns[name] for name in request.released]), solution, figures


def sort_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Rows in the order of all released columns; equal rows cannot be told apart, so their order tells nothing."""
    return frame.sort(frame.columns, nulls_last=True, maintain_order=True)
