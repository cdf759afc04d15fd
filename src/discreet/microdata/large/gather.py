"""The records as tasks read them: pieces as they came in, or piles in which all records of a person or household are.

Where records belong together, whatever is found of them (how many a person has, how the members of a household look) is
found within a pile: a hash of the person or household says which one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from discreet.data.dataset import Dataset
from discreet.data.files.parts import PIECE
from discreet.data.rows import read_persons
from discreet.microdata.large.request import RECORD, Request, load_request
from discreet.microdata.large.work import Damaged, Work, checksum, describe_damage


def gather(folder: str, number: int) -> None:
    """Divide the records of one piece of the input among the piles."""
    work, request = Work(folder), load_request(folder)
    if work.has(f"gather-{number:05}.json"):
        return
    unit = request.unit
    assert unit is not None
    batches: list[list[Any]] = []
    waiting: list[pl.DataFrame] = []
    records = height = files = 0

    def empty() -> None:
        nonlocal height, files
        if waiting:
            frame = pl.concat(waiting)
            home = frame[unit].hash(seed=0) % request.tasks
            name = f"gather-{number:05}-{files}.arrow"
            piles = sorted(home.unique().to_list())
            parts = [frame.filter(home == pile) for pile in piles]
            work.write_frames(name, parts)
            batches.extend(
                [pile, name, place, part.height, str(checksum(part))]
                for place, (pile, part) in enumerate(zip(piles, parts, strict=True))
            )
            height, files = 0, files + 1
            waiting.clear()

    needed = list(dict.fromkeys([*request.quasi, *request.kept, unit]))
    for dataset in request.read(number, needed):
        read_persons(dataset, unit, "household" if request.household else "person")
        waiting.append(dataset.frame)
        records += dataset.frame.height
        height += dataset.frame.height
        if height >= PIECE:
            empty()
    empty()
    work.write(f"gather-{number:05}.json", {"records": records, "batches": batches})


def read_records(request: Request, number: int) -> Iterator[Dataset]:
    """The records of a task: of a piece batch by batch, of a pile at once; words for missing values blanked."""
    if request.unit is None:
        for dataset in request.read(number, list(dict.fromkeys([*request.quasi, *request.kept]))):
            yield request.blank(dataset)
        return
    frame = _read_pile(Work(request.folder), request, number)
    if frame.height:
        yield request.blank(request.dataset(frame, "the data", places=frame[RECORD]))


def _read_pile(work: Work, request: Request, number: int) -> pl.DataFrame:
    """All records of a pile, in the order of the input, with their numbers there."""
    frames, ahead = [], 0
    for piece in range(len(request.pieces)):
        facts = work.read(f"gather-{piece:05}.json")
        for pile, name, place, records, marks in facts["batches"]:
            if pile != number:
                continue
            try:
                frame = work.read_batch(name, place)
                if frame.height != records or str(checksum(frame)) != marks:
                    raise Damaged(describe_damage(name))
            except Damaged:
                work.forget(f"gather-{piece:05}.json")
                raise
            frames.append(frame.with_columns(pl.col(RECORD) + ahead))
        ahead += facts["records"]
    return pl.concat(frames) if frames else pl.DataFrame()
