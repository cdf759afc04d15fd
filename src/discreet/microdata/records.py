"""Records as a search compares them: numbers as coordinates, categories as codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Values
from discreet.data.embedding import DIRECTIONS, Axis, Embedding
from discreet.kernels.mixed.groups import Codes, Mixed, group_losses, squares_within
from discreet.kernels.partitions.groups import total_sse, within_sse

Labels = NDArray[np.int64]
Points = NDArray[np.float64]

# Coordinates of records with all their indicators; with more, categories get 16 coordinates at most (128 MB).
MOST_COORDINATES = 16_000_000


@dataclass(frozen=True, eq=False)
class Records:
    """Records within which a value is missing for all or for none of a class.

    Parameters
    ----------
    numbers : array of n × p
        Coordinates of numbers, dates and ranks.
    codes : array of n × q
        Codes of categories; a missing value is a code of its own.
    axes : tuple of Axis
        The p + q axes, in the order of the attributes; none for plain points.
    """

    numbers: Points
    codes: Codes
    axes: tuple[Axis, ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def width(self) -> int:
        """Number of attributes that steer the grouping."""
        return int(self.numbers.shape[1] + self.codes.shape[1])

    @property
    def has_categories(self) -> bool:
        """Whether any attribute is nominal."""
        return bool(self.codes.shape[1])

    @property
    def prices(self) -> NDArray[np.float64]:
        """What a changed category costs, attribute by attribute."""
        return np.array([axis.price for axis in self.axes if axis.nominal])

    @cached_property
    def mixed(self) -> Mixed:
        """The same as kernels take it."""
        return Mixed(self.numbers, self.codes, self.prices, int(self.codes.max(initial=0)) + 1)

    @property
    def exact(self) -> bool:
        """Whether points are as far from each other as the records are: there is room for all indicators."""
        return not self.has_categories or len(self) * sum(axis.width for axis in self.axes) <= MOST_COORDINATES

    def points(self) -> Points:
        """The records as vectors: a category as its indicator, or as one of many directions if there is no room.

        Two random directions in 16 dimensions are about as far from each other as two indicators; memory is linear.
        """
        if not self.has_categories:
            return self.numbers
        exact = self.exact
        widths = [axis.width if exact else min(axis.width, DIRECTIONS) for axis in self.axes]
        points = np.zeros((len(self), sum(widths)))
        numbers, codes, start = iter(self.numbers.T), iter(self.codes.T), 0
        for axis, width in zip(self.axes, widths, strict=True):
            span = points[:, start : start + width]
            if not axis.nominal:
                span[:, 0] = next(numbers)
            elif width == axis.width:
                column = next(codes)
                axis.place(np.where(column == width, np.nan, column), span)
            else:
                span[:] = _directions(axis)[next(codes)]
            start += width
        return points

    def take(self, rows: Labels) -> Records:
        """Some of the records; all of them are not copied."""
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        return replace(self, numbers=np.ascontiguousarray(self.numbers[rows]), codes=self.codes[rows])

    def sse(self, labels: Labels) -> float:
        """Sum of squared distances to the centroids of groups, labels 0 to g−1."""
        squares = float(within_sse(self.numbers, labels)) if self.numbers.shape[1] or not self.has_categories else 0.0
        if self.has_categories:
            squares += float(squares_within(self.codes, self.prices / 2, *_list_by_group(labels), self.mixed.levels))
        return squares

    def sst(self) -> float:
        """The same to the centroid of all."""
        squares = float(total_sse(self.numbers)) if self.numbers.shape[1] or not self.has_categories else 0.0
        nominal = [axis for axis in self.axes if axis.nominal]
        for axis, column in zip(nominal, self.codes.T, strict=True):
            counts = np.bincount(column, minlength=axis.width)[: axis.width]
            known = counts.sum()
            mean = axis.scale * (counts - known * axis.center) / len(self)
            squares += float(counts @ axis.lengths - len(self) * np.sum(mean**2))
        return squares

    def loss(self, labels: Labels) -> float:
        """What is lost when means and modes of groups are written, labels 0 to g−1."""
        return float(self.losses(labels).sum())

    def losses(self, labels: Labels) -> NDArray[np.float64]:
        """What is lost in each group."""
        lost: NDArray[np.float64] = group_losses(self.mixed, *_list_by_group(labels))
        return lost


def renumber(labels: NDArray[Any]) -> Labels:
    """Labels 0 to g−1 in the order of the given ones."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def records_of(embedding: Embedding, columns: Sequence[Values]) -> Records:
    """Records given the values of each attribute; attributes that carry nothing are left out."""
    return Records(*embedding.split(columns), embedding.leaves)


def records_at(points: Points) -> Records:
    """Points as records without categories."""
    return Records(points, np.zeros((len(points), 0), np.int32))


def _directions(axis: Axis) -> Points:
    """A direction for each category, always the same ones, as long as an indicator; none for a missing value."""
    drawn = np.random.default_rng(0).normal(size=(axis.width + 1, DIRECTIONS))
    drawn *= axis.scale / np.linalg.norm(drawn, axis=1)[:, None]
    drawn[-1] = 0.0
    return drawn


def _list_by_group(labels: Labels) -> tuple[Labels, Labels]:
    """The records group by group, and where each group starts."""
    return np.argsort(labels, kind="stable"), np.r_[0, np.cumsum(np.bincount(labels))]
