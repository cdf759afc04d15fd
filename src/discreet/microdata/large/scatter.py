"""The third step: scatter the records, piece by piece, into chunks: Arrow files with a batch for each block.

A batch has a checksum, which the block that uses it takes again. When all pieces are scattered, blocks that got too few
records are joined with a neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from discreet.data.files.parts import PIECE
from discreet.errors import InputError
from discreet.microdata.large.borders import load_borders
from discreet.microdata.large.gather import read_records
from discreet.microdata.large.look import PICTURE, Picture, load_picture
from discreet.microdata.large.request import RECORD, Request, load_request, read_values
from discreet.microdata.large.units import constrain, find_firsts, find_missing, key_patterns, read_units
from discreet.microdata.large.work import Work, checksum
from discreet.microdata.promises import Constraints, list_lacks

BLOCKS = "blocks.json"
CLASS, VALUES, KEPT, UNIT, VOTE = "class", "value {}", "kept {}", "unit", "vote"
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
    # Of a pile the numbers of records are those of all the input; of a piece they begin anew.
    ahead = 0
    if request.is_traced and request.unit is None:
        ahead = sum(work.read(f"look-{before:05}.json")["records"] for before in range(number))

    def empty() -> None:
        nonlocal height, chunk
        if waiting:
            name = f"chunk-{number:05}-{chunk}.arrow"
            batches.extend(_write_chunk(work, folder, name, pl.concat(waiting), np.concatenate(places)))
            height, chunk = 0, chunk + 1
            waiting.clear()
            places.clear()

    for dataset in read_records(request, number):
        values = [read_values(dataset, template) for template in picture.templates]
        units = read_units(request, dataset, number)
        keys = key_patterns(request, find_missing(values), units)
        classes = picture.classify(pl.DataFrame([*(dataset.frame[name] for name in request.columns.names("by")), keys]))
        columns = [pl.Series(CLASS, classes.astype(np.int32))]
        columns += [pl.Series(VALUES.format(i), column, nan_to_null=False) for i, column in enumerate(values)]
        columns += [dataset.frame[name].alias(KEPT.format(i)) for i, name in enumerate(request.kept)]
        columns += [] if units is None else [pl.Series(UNIT, units.numbers), pl.Series(VOTE, units.votes)]
        columns += [dataset.frame[RECORD] + ahead] if request.is_traced else []
        waiting.append(pl.DataFrame(columns))
        where = picture.coordinates(picture.fill(values))
        places.append(where if units is None else where[find_firsts(units, classes)])
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
    each = 8 * len(request.quasi) + 4 + (16 if request.unit else 0) + (8 if request.is_traced else 0)
    return TIMES_ON_DISK * float(seen["records"] * each + seen["bytes"]) + 1e7


def forget_lost(work: Work, kind: str) -> None:
    """Forget chunks or piles whose files are gone, so that they are made anew: a block that was lost needs them."""
    for facts in sorted(work.folder.glob(f"{kind}-?????.json")):
        if any(not work.has(batch[1]) for batch in work.read(facts.name)["batches"]):
            work.forget(facts.name)


def list_blocks(work: Work, folder: str) -> None:
    """Settle which batches make which block, and that nothing was lost on the way."""
    if work.has(BLOCKS):
        return
    request, picture, borders = load_request(folder), load_picture(folder), load_borders(folder)
    chunks = [work.read(f"chunk-{number:05}.json") for number in range(request.tasks)]
    seen = work.read(PICTURE)
    marks = sum(int(chunk["checksum"]) for chunk in chunks) % 2**64
    if sum(chunk["records"] for chunk in chunks) != picture.records or str(marks) != seen["checksum"]:
        for number in range(request.tasks):
            work.forget(f"chunk-{number:05}.json")
        raise InputError("the data changed while it was read; start anew with another output when nobody writes to it")
    batches: dict[int, list[list[Any]]] = {block: [] for block in range(borders.blocks)}
    for chunk in chunks:
        for block, *batch in chunk["batches"]:
            batches[block].append(batch)
    home: dict[int, int] = {}
    for number, tree in enumerate(borders.trees):
        judge = _Judge(work, request, picture, number, batches)
        for joined in _join_leaves(_leaves(tree), judge):
            home |= dict.fromkeys(joined, joined[0])
    blocks: dict[int, list[list[Any]]] = {}
    for block, own in batches.items():
        blocks.setdefault(home.get(block, block), []).extend(own)
    work.write(BLOCKS, {"blocks": [own for _, own in sorted(blocks.items()) if own]})


def _leaves(tree: Any) -> list[int]:
    """The blocks of a tree, neighbours beside each other."""
    return [tree] if isinstance(tree, int) else [*_leaves(tree[2]), *_leaves(tree[3])]


class _Judge:
    """Says whether some leaves of a class are enough for a block: records enough, which keep what groups must."""

    def __init__(
        self, work: Work, request: Request, picture: Picture, number: int, batches: dict[int, list[list[Any]]]
    ) -> None:
        self._work, self._request, self._picture, self._class = work, request, picture, number
        self._batches = batches

    def suffice(self, leaves: Sequence[int], *, alone: bool) -> bool:
        """Whether leaves are enough; those that are the whole class, alone, may be of k alone."""
        times = 1 if alone else 2
        least = times * self._request.settings["k"] * self._picture.widths[self._class]
        if sum(batch[2] for leaf in leaves for batch in self._batches[leaf]) < least:
            return False
        own = self._constraints(leaves)
        return own is None or own.keep(np.zeros(len(own), np.int64))

    def _constraints(self, leaves: Sequence[int]) -> Constraints | None:
        promise = self._request.promise
        assert promise is not None
        if promise.person is None and all(said.holds_anyway for said in promise.held):
            return None
        frames = []
        for name, place, *_ in (batch for leaf in leaves for batch in self._batches[leaf]):
            frame = self._work.read_batch(name, place)
            frames.append(frame.filter(pl.col(CLASS) == self._class).drop(cs.starts_with(VALUES.format(""))))
        return constrain_records(pl.concat(frames), self._request, self._picture)

    def refuse(self, leaves: Sequence[int]) -> InputError:
        """What to say where the class as a whole is not enough."""
        own = self._constraints(leaves)
        assert own is not None
        return InputError(
            f"{self._picture.sizes[self._class]:,} records of one stratum and pattern of missing values "
            f"{'; '.join(list_lacks(own))}. Merge strata, or fill gaps (impute)."
        )


def constrain_records(frame: pl.DataFrame, request: Request, picture: Picture) -> Constraints | None:
    """What groups of records of a chunk must keep besides their size."""
    assert request.promise is not None
    held = frame.select(pl.col(KEPT.format(i)).alias(name) for i, name in enumerate(request.kept))
    units, votes = (None, None) if request.unit is None else (frame[UNIT].to_numpy(), frame[VOTE].to_numpy())
    return constrain(held, request.promise, units, votes, picture.whole, request.decimal)


def _join_leaves(leaves: list[int], judge: _Judge) -> list[list[int]]:
    """Leaves that become one block: one that is not enough goes with those before, or behind, it."""
    if len(leaves) == 1:
        if not judge.suffice(leaves, alone=True):
            raise judge.refuse(leaves)
        return [leaves]
    joined: list[list[int]] = []
    pending: list[int] = []
    for leaf in leaves:
        pending.append(leaf)
        if judge.suffice(pending, alone=False):
            joined.append(pending)
            pending = []
        elif joined and judge.suffice([*joined[-1], *pending], alone=False):
            joined[-1] += pending
            pending = []
    while pending:
        pending = [*(joined.pop() if joined else []), *pending]
        is_all = not joined
        if judge.suffice(pending, alone=is_all):
            joined.append(pending)
            break
        if is_all:
            raise judge.refuse(leaves)
    return joined
