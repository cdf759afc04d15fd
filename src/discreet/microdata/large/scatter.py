"""The third step: scatter the records, piece by piece, into chunks: Arrow files with a batch for each block.

A batch has a checksum, which the block that uses it takes again. When all pieces are scattered, blocks that got too few
records are joined with a neighbour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from discreet.data.files.parts import PIECE
from discreet.errors import InputError
from discreet.microdata.large.borders import load_borders
from discreet.microdata.large.look import PICTURE, load_picture
from discreet.microdata.large.request import Request, load_request, read_values
from discreet.microdata.large.work import Work, checksum

BLOCKS = "blocks.json"
CLASS, VALUES, KEPT = "class", "value {}", "kept {}"
# How many times the records stand on the disk at most: as chunks and as blocks, or as blocks and as parts.
TIMES_ON_DISK = 2.2


def scatter(folder: str, number: int) -> None:
    """Scatter one piece of the input."""
    work, request = Work(folder), load_request(folder)
    if work.has(f"chunk-{number:05}.json"):
        return
    picture = load_picture(folder)
    waiting: list[pl.DataFrame] = []
    places: list[Any] = []
    batches: list[list[Any]] = []
    records = marks = height = chunk = 0

    def empty() -> None:
        nonlocal height, chunk
        if waiting:
            name = f"chunk-{number:05}-{chunk}.arrow"
            batches.extend(_write_chunk(work, folder, name, pl.concat(waiting), np.concatenate(places)))
            height, chunk = 0, chunk + 1
            waiting.clear()
            places.clear()

    for dataset in request.batches(request.pieces[number]):
        values = [read_values(dataset, template) for template in picture.templates]
        classes = picture.classify(dataset.frame, values, request.columns.names("by"))
        columns = [pl.Series(CLASS, classes.astype(np.int32))]
        columns += [pl.Series(VALUES.format(i), column, nan_to_null=False) for i, column in enumerate(values)]
        columns += [dataset.frame[name].alias(KEPT.format(i)) for i, name in enumerate(request.kept)]
        waiting.append(pl.DataFrame(columns))
        places.append(picture.coordinates(picture.fill(values)))
        records += dataset.frame.height
        marks = (marks + checksum(dataset.frame.select(request.unchanged))) % 2**64
        height += dataset.frame.height
        if height >= PIECE:
            empty()
    empty()
    facts = {"records": records, "checksum": str(marks), "batches": batches}
    work.write(f"chunk-{number:05}.json", facts)


def _write_chunk(work: Work, folder: str, name: str, frame: pl.DataFrame, places: Any) -> list[list[Any]]:
    """Write a chunk; for each of its batches the block, the file, the place in it, the records and their checksum."""
    routed = load_borders(folder).route(places, frame[CLASS].to_numpy())
    parts = [frame[rows] for rows in routed.values()]
    work.write_frames(name, parts)
    return [
        [block, name, place, part.height, str(checksum(part))]
        for place, (block, part) in enumerate(zip(routed, parts, strict=True))
    ]


def estimate_disk(work: Work, request: Request) -> float:
    """How many bytes the work takes on the disk at most."""
    seen = work.read(PICTURE)
    return TIMES_ON_DISK * float(seen["records"] * (8 * len(request.quasi) + 4) + seen["bytes"]) + 1e7


def forget_lost(work: Work) -> None:
    """Forget chunks whose files are gone, so that they are made anew: a block that was lost needs them again."""
    for facts in sorted(work.folder.glob("chunk-?????.json")):
        if any(not work.has(batch[1]) for batch in work.read(facts.name)["batches"]):
            work.forget(facts.name)


def list_blocks(work: Work, folder: str) -> None:
    """Settle which batches make which block, and that nothing was lost on the way."""
    if work.has(BLOCKS):
        return
    request, picture, borders = load_request(folder), load_picture(folder), load_borders(folder)
    chunks = [work.read(f"chunk-{number:05}.json") for number in range(len(request.pieces))]
    seen = work.read(PICTURE)
    marks = sum(int(chunk["checksum"]) for chunk in chunks) % 2**64
    if sum(chunk["records"] for chunk in chunks) != picture.records or str(marks) != seen["checksum"]:
        for number in range(len(request.pieces)):
            work.forget(f"chunk-{number:05}.json")
        raise InputError("the data changed while it was read; start anew with another output when nobody writes to it")
    batches: dict[int, list[list[Any]]] = {block: [] for block in range(borders.blocks)}
    for chunk in chunks:
        for block, *batch in chunk["batches"]:
            batches[block].append(batch)
    home: dict[int, int] = {}
    for tree in borders.trees:
        leaves = _leaves(tree)
        if len(leaves) > 1:
            home |= _join_small(leaves, {leaf: sum(one[2] for one in batches[leaf]) for leaf in leaves}, request)
    blocks: dict[int, list[list[Any]]] = {}
    for block, own in batches.items():
        blocks.setdefault(home.get(block, block), []).extend(own)
    work.write(BLOCKS, {"blocks": [own for _, own in sorted(blocks.items()) if own]})


def _leaves(tree: Any) -> list[int]:
    """The blocks of a tree, neighbours beside each other."""
    return [tree] if isinstance(tree, int) else [*_leaves(tree[2]), *_leaves(tree[3])]


def _join_small(leaves: list[int], sizes: dict[int, int], request: Request) -> dict[int, int]:
    """Where the records of each leaf go: those of fewer than 2k to the one before, or behind, it."""
    least = 2 * request.settings["k"]
    home: dict[int, int] = {}
    before: int | None = None
    pending: list[int] = []
    for leaf in leaves:
        if sizes[leaf] >= least:
            home |= dict.fromkeys([*pending, leaf], leaf)
            before, pending = leaf, []
        elif before is not None:
            home[leaf] = before
        else:
            pending.append(leaf)
    return home | dict.fromkeys(pending, pending[0] if pending else 0)
