"""The second step: draw the borders of blocks, from the sample: by space within large classes, small classes together.

They depend on the data, k, the seed and the wanted size of blocks, and never on memory or workers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.microdata.large.look import Picture, load_picture, read_sample
from discreet.microdata.large.request import load_request
from discreet.microdata.large.work import Work

BORDERS = "borders.json"
# A leaf is a number of a block; a cut is an axis, a threshold, and what lies at most at it and above it.
Tree = Any


@dataclass(frozen=True, eq=False)
class Borders:
    """Which block a record belongs to.

    Parameters
    ----------
    blocks : int
        How many there are.
    trees : list
        For each class a tree of cuts through space; of a small class a leaf.
    """

    blocks: int
    trees: list[Tree]

    def route(self, places: NDArray[np.float64], classes: NDArray[np.int64]) -> dict[int, NDArray[np.int64]]:
        """The records of each block, in their order."""
        found: dict[int, list[NDArray[np.int64]]] = {}
        order = np.argsort(classes, kind="stable")
        ends = np.searchsorted(classes[order], np.arange(len(self.trees) + 1))
        for number in np.unique(classes).tolist():
            self._descend(self.trees[number], order[ends[number] : ends[number + 1]], places, found)
        return {block: np.sort(np.concatenate(rows)) for block, rows in sorted(found.items())}

    def _descend(
        self,
        tree: Tree,
        rows: NDArray[np.int64],
        places: NDArray[np.float64],
        found: dict[int, list[NDArray[np.int64]]],
    ) -> None:
        if not len(rows):
            return
        if isinstance(tree, int):
            found.setdefault(tree, []).append(rows)
            return
        axis, threshold, low, high = tree
        below = places[rows, axis] <= threshold
        self._descend(low, rows[below], places, found)
        self._descend(high, rows[~below], places, found)


def draw_borders(work: Work, folder: str) -> None:
    """Draw the borders from the sample."""
    if work.has(BORDERS):
        return
    request, picture = load_request(folder), load_picture(folder)
    large = [number for number, size in enumerate(picture.sizes) if size > request.block_records]
    places, classes = read_sample(work, request, picture) if large else (np.zeros((0, 0)), np.zeros(0, np.int64))
    nominal = _nominal(picture)
    trees: list[Tree] = []
    blocks, waiting = 0, 0
    for number, size in enumerate(picture.sizes):
        if number in large:
            own = places[classes == number]
            tree, blocks = _cut(own, nominal, math.ceil(size / request.block_records), blocks)
            trees.append(tree)
            continue
        if not waiting or waiting + size > request.block_records:
            packed, blocks, waiting = blocks, blocks + 1, 0
        trees.append(packed)
        waiting += size
    work.write(BORDERS, {"blocks": blocks, "trees": trees})


def _nominal(picture: Picture) -> list[float | None]:
    """For each coordinate None if it is a number; of categories what their squares count."""
    leaves = picture.embedding.leaves
    return [None for axis in leaves if not axis.nominal] + [axis.scale**2 for axis in leaves if axis.nominal]


def _cut(places: NDArray[np.float64], nominal: Sequence[float | None], leaves: int, block: int) -> tuple[Tree, int]:
    """Cut space into so many leaves with about as many records each, always across the widest direction."""
    if leaves == 1 or not len(places):
        return block, block + 1
    share = (leaves // 2) / leaves
    for axis in np.argsort([-_spread(column, own) for column, own in zip(places.T, nominal, strict=True)]):
        found = _threshold(places[:, axis], share)
        if found is not None:
            below = places[:, axis] <= found
            low, block = _cut(places[below], nominal, leaves // 2, block)
            high, block = _cut(places[~below], nominal, leaves - leaves // 2, block)
            return [int(axis), found, low, high], block
    return block, block + 1  # all alike


def _spread(column: NDArray[np.float64], square: float | None) -> float:
    if square is None:
        return float(column.var())
    shares = np.unique(column, return_counts=True)[1] / len(column)
    return square * (1.0 - float(np.sum(shares**2)))


def _threshold(column: NDArray[np.float64], share: float) -> float | None:
    """A number that about this share of the sample is at most at; None if all are alike."""
    values, sizes = np.unique(column, return_counts=True)
    if len(values) == 1:
        return None
    below = np.cumsum(sizes)[:-1] / len(column)
    place = int(np.argmin(np.abs(below - share)))
    return float(values[place])


@lru_cache(maxsize=2)
def load_borders(folder: str) -> Borders:
    """The borders of a work folder."""
    said = Work(folder).read(BORDERS)
    return Borders(said["blocks"], said["trees"])
