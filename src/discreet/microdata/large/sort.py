"""The fifth step, a second scatter: a release that is sorted as a whole, so that the number of a part tells nothing.

Every block is sorted. Rows drawn of all of them part the release; a part takes from each block the rows between two of
them, sorts these, writes them and reads them back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.files import read_back, sha256, write
from discreet.data.files.source import Source
from discreet.errors import InputError, PromiseNotKept
from discreet.microdata.large.blocks import sort_rows
from discreet.microdata.large.request import RECORD, Request, load_request
from discreet.microdata.large.scatter import BLOCKS
from discreet.microdata.large.work import Damaged, Work, checksum

CUTS, RELEASE, ROWS = "cuts.json", "release", "rows"
# Rows that are drawn of a block.
DRAWN = 500
SUFFIXES = {"parquet": ".parquet", "csv": ".csv", "arrow": ".arrow"}


def draw_splitters(work: Work, folder: str) -> None:
    """Draw the rows that part the release into parts of about as many records as a block has."""
    if work.has(CUTS):
        return
    request = load_request(folder)
    blocks = len(work.read(BLOCKS)["blocks"])
    drawn, records = [], 0
    for number in range(blocks):
        frame = _read_block(work, number)
        step = max(1, math.ceil(frame.height / DRAWN))
        # Each stands for as many rows as the step is long.
        drawn.append(frame.gather_every(step, step // 2 if frame.height > step // 2 else 0).with_columns(_stands=step))
        records += frame.height
    sample = pl.concat(drawn)
    names = [name for name in sample.columns if name != "_stands"]
    sample = sample.sort(names, nulls_last=True, maintain_order=True)
    parts = max(1, math.ceil(records / request.block_records))
    reached = sample["_stands"].cum_sum().to_numpy() / max(1, int(sample["_stands"].sum()))
    places = sorted({int((reached < place / parts).sum()) for place in range(1, parts)})
    rows = sample.drop("_stands")[[place for place in places if place < sample.height]]
    rows = rows.unique(maintain_order=True)
    cuts = []
    for number in range(blocks):
        frame = _read_block(work, number)
        cuts.append([0, *(bisect(frame, row) for row in rows.iter_rows()), frame.height])
    work.write(CUTS, {"cuts": cuts})


def count_parts(work: Work) -> int:
    """How many parts the release has."""
    return len(work.read(CUTS)["cuts"][0]) - 1


def write_part(folder: str, number: int) -> None:
    """Write one part of the release."""
    work, request = Work(folder), load_request(folder)
    if work.has(f"part-{number:05}.json"):
        return
    slices, taken = [], []
    for block, cuts in enumerate(work.read(CUTS)["cuts"]):
        try:
            slices.append(work.read_rows(f"block-{block:05}.arrow", cuts[number], cuts[number + 1]))
        except Damaged:
            forget_block(work, block)
            raise
        taken.append([slices[-1].height, str(checksum(slices[-1]))])
        if request.is_traced:
            rows = work.read_rows(f"rows-{block:05}.arrow", cuts[number], cuts[number + 1])
            slices[-1] = slices[-1].with_columns(rows)
    frame = sort_rows(pl.concat(slices))
    del slices
    if request.is_traced:
        _write_rows(work, number, frame[RECORD])
        frame = frame.drop(RECORD)
    name = f"{RELEASE}/part-{number:05}{SUFFIXES[request.format]}"
    like = Source(pl.DataFrame(), Path(name), request.format, request.dialect)
    work.place(name, lambda path: _write(frame, path, request, like))
    back = read_back(work.path(name), request.format, like, columns=frame.columns) if frame.height else frame
    unchanged = checksum(back.select(request.unchanged))
    same = back.height == frame.height and unchanged == checksum(frame.select(request.unchanged))
    if not same or (request.format != "csv" and checksum(back) != checksum(frame)):
        work.forget(name)
        raise PromiseNotKept(f"{name} as written is not what was meant; it was refused, nothing was published")
    facts = {
        "file": Path(name).name,
        "records": back.height,
        "sha256": sha256(work.path(name)),
        "checksum": str(unchanged),
        "taken": taken,
    }
    work.write(f"part-{number:05}.json", facts)


def _write_rows(work: Work, number: int, records: pl.Series) -> None:
    """Write the row map of a part: rows are counted through all parts, and records through all files of the input."""
    ahead = sum(cuts[number] for cuts in work.read(CUTS)["cuts"])
    rows = pl.int_range(ahead + 1, ahead + len(records) + 1, dtype=pl.Int64, eager=True)
    linked = pl.DataFrame({"release_row": rows, "input_record": records + 1})
    work.place(f"{ROWS}/part-{number:05}.parquet", lambda path: linked.write_parquet(path))


def _write(frame: pl.DataFrame, path: Path, request: Request, like: Source) -> None:
    try:
        write(frame, path, format_name=request.format, like=like)
    except InputError as error:
        # The disk may be full; then the file system says so.
        raise OSError(28 if "No space" in str(error) else 5, "") from None


def _read_block(work: Work, number: int) -> pl.DataFrame:
    try:
        return work.read_frame(f"block-{number:05}.arrow")
    except Damaged:
        forget_block(work, number)
        raise


def forget_block(work: Work, number: int) -> None:
    """Forget a block, and what was made of it, so that it is made anew."""
    work.forget(f"block-{number:05}.json", f"block-{number:05}.arrow", CUTS)
    for facts in sorted(work.folder.glob("part-*.json")):
        work.forget(facts.name)


def bisect(frame: pl.DataFrame, row: Sequence[Any]) -> int:
    """How many rows of a sorted frame come before a row."""
    low, high = 0, frame.height
    key = [_key(value) for value in row]
    while low < high:
        middle = (low + high) // 2
        if [_key(value) for value in frame.row(middle)] < key:
            low = middle + 1
        else:
            high = middle
    return low


def _key(value: Any) -> tuple[bool, Any]:
    return (True, 0) if value is None else (False, value)
