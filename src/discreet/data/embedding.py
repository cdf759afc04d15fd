"""Records as vectors in which every attribute carries the same variance, times its weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.ancestry import Level
from discreet.data.attributes import Attribute, Values
from discreet.data.memory import available, write_size
from discreet.errors import InputError

# How many times the vectors of all records are held at once, at least.
COPIES = 2
# Coordinates of a category where indicators would need more than the memory they are allowed.
DIRECTIONS = 16


@dataclass(frozen=True, eq=False)
class Axis:
    """Where the values of one attribute lie: a line for numbers, dates and ranks, a simplex for categories.

    A missing value lies at the origin, which is the attribute's mean.
    """

    name: str
    center: NDArray[np.float64]
    scale: float
    positions: NDArray[np.float64] | None = None
    # Of categories that are compared by a hierarchy: an axis for each level, and the level.
    levels: tuple[tuple[Axis, Level], ...] = ()

    @property
    def width(self) -> int:
        """Number of coordinates; 0 for a constant attribute or one of weight 0."""
        return len(self.center)

    @property
    def nominal(self) -> bool:
        """Whether its values are categories, any two of them equally far from each other."""
        return self.positions is None and len(self.center) > 1

    @property
    def price(self) -> float:
        """The squared distance between two categories: what is lost when one is written for the other."""
        return 2.0 * self.scale**2

    @property
    def lengths(self) -> NDArray[np.float64]:
        """The squared distance of each category from the mean, where a missing value lies."""
        lengths: NDArray[np.float64] = self.scale**2 * (1.0 - 2.0 * self.center + np.sum(self.center**2))
        return lengths

    def sums(self, before: Values, after: Values) -> tuple[float, float]:
        """Squared distances from original to released values, none of the former missing, and to the mean; summed."""
        if not self.width:
            return 0.0, 0.0
        if self.levels:
            sums = [axis.sums(level.lift(before), level.lift(after)) for axis, level in self.levels]
            return sum(sse for sse, _ in sums), sum(sst for _, sst in sums)
        if not self.nominal:
            x, y = np.zeros((len(before), 1)), np.zeros((len(before), 1))
            self.place(before, x)
            self.place(after, y)
            return float(np.sum((x - y) ** 2)), float(np.sum(x**2))
        gone = np.isnan(after)
        own = self.lengths[before.astype(np.int64)]
        changed = int(np.count_nonzero(before[~gone] != after[~gone]))
        return self.price * changed + float(own[gone].sum()), float(own.sum())

    def place(self, values: Values, out: NDArray[np.float64]) -> None:
        """Write the coordinates of values into the columns of `out`."""
        if not self.width:
            return
        if self.levels:
            start = 0
            for axis, level in self.levels:
                axis.place(level.lift(values), out[:, start : start + axis.width])
                start += axis.width
            return
        missing = np.isnan(values)
        if self.nominal:
            codes = np.where(missing, 0, values).astype(np.int64)
            out[:] = -self.center * self.scale
            out[np.arange(len(codes)), codes] += self.scale
        else:
            numbers = (
                values if self.positions is None else self.positions[np.where(missing, 0, values).astype(np.int64)]
            )
            out[:, 0] = (numbers - self.center[0]) * self.scale
        out[missing] = 0.0


@dataclass(frozen=True, eq=False)
class Embedding:
    """The axes of all attributes, fixed by the original data."""

    axes: tuple[Axis, ...]

    def points(self, columns: Sequence[Values]) -> NDArray[np.float64]:
        """Vectors of records given the values of each attribute."""
        points = np.zeros((len(columns[0]), sum(axis.width for axis in self.axes)))
        for axis, values, span in zip(self.axes, columns, self.spans(), strict=True):
            axis.place(values, points[:, span])
        return points

    def check_memory(self, records: int) -> None:
        """Refuse records that would not fit into memory, a category being one number, and say what would."""
        width, there = len(self.leaves), available()
        needed = COPIES * 8 * records * width
        if there is None or needed <= there:
            return
        most = there // (COPIES * 8 * width)
        raise InputError(
            f"{records:,} records of {width:,} coordinates need some {write_size(needed)} of memory, and "
            f"{write_size(there)} are there. {most:,} records would fit, or fewer quasi-identifiers"
        )

    def split(self, columns: Sequence[Values]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Records with categories as codes: coordinates of the other attributes, and codes, each in their order.

        A missing category has the code that comes after all others. Attributes that carry nothing are left out. Those
        that are compared by a hierarchy have a code for each level.
        """
        kept = [
            (axis, values if level is None else level.lift(values))
            for whole, values in zip(self.axes, columns, strict=True)
            for axis, level in (whole.levels or [(whole, None)])
            if axis.width
        ]
        numbers = np.zeros((len(columns[0]), sum(not axis.nominal for axis, _ in kept)))
        codes = np.zeros((len(columns[0]), sum(axis.nominal for axis, _ in kept)), np.int32)
        number = code = 0
        for axis, values in kept:
            if axis.nominal:
                codes[:, code] = np.where(np.isnan(values), axis.width, values)
                code += 1
            else:
                axis.place(values, numbers[:, number : number + 1])
                number += 1
        return numbers, codes

    @property
    def leaves(self) -> tuple[Axis, ...]:
        """The axes that carry something, those of levels in place of their attribute's: as `split` has them."""
        parts = ([axis for axis, _ in whole.levels] or [whole] for whole in self.axes)
        return tuple(axis for part in parts for axis in part if axis.width)

    def spans(self) -> list[slice]:
        """The coordinates of each attribute."""
        spans, start = [], 0
        for axis in self.axes:
            spans.append(slice(start, start + axis.width))
            start += axis.width
        return spans


def embed(attributes: Sequence[Attribute]) -> tuple[Embedding, list[str]]:
    """Fix the axes by the original values, and say which attributes carry nothing."""
    axes, notes = [], []
    for attribute in attributes:
        axis = _axis(attribute)
        if not axis.width and attribute.weight > 0:
            notes.append(f"'{attribute.name}' is constant: it gets weight 0 and does not steer the grouping")
        axes.append(axis)
    return Embedding(tuple(axes)), notes


def _axis(attribute: Attribute) -> Axis:
    seen = attribute.values[~np.isnan(attribute.values)]
    nothing = Axis(attribute.name, np.zeros(0), 0.0)
    if attribute.weight == 0 or seen.min() == seen.max():
        return nothing
    strength = float(np.sqrt(attribute.weight))
    if attribute.ancestry:
        return _tree(attribute, seen, strength)
    if attribute.kind == "nominal":
        return _simplex(attribute, seen, strength)
    positions = None
    if attribute.kind == "ordinal":
        positions = _mid_ranks(seen, len(attribute.categories if attribute.categories is not None else ()))
        seen = positions[seen.astype(np.int64)]
    center = float(seen.mean())
    with np.errstate(over="ignore"):
        spread = float(np.sqrt(np.mean((seen - center) ** 2)))
    if not np.isfinite(spread) or spread == 0:
        raise InputError(
            f"column '{attribute.name}' has numbers too large or too close together to compute with; rescale it"
        )
    return Axis(attribute.name, np.array([center]), strength / spread, positions)


def _simplex(attribute: Attribute, seen: Values, strength: float) -> Axis:
    count = len(attribute.categories if attribute.categories is not None else ())
    shares = np.bincount(seen.astype(np.int64), minlength=count) / len(seen)
    return Axis(attribute.name, shares, strength / float(np.sqrt(1.0 - np.sum(shares**2))))


def _tree(attribute: Attribute, seen: Values, strength: float) -> Axis:
    """An axis for each level, by its share, of those that tell any two records apart; together of variance 1."""
    found = []
    for level in attribute.ancestry:
        shares = np.bincount(level.above[seen.astype(np.int64)], minlength=int(level.above.max()) + 1) / len(seen)
        if shares.max() < 1.0:
            found.append((level, shares))
    variance = sum(level.share * (1.0 - float(np.sum(shares**2))) for level, shares in found)
    levels = tuple(
        (Axis(attribute.name, shares, strength * float(np.sqrt(level.share / variance))), level)
        for level, shares in found
    )
    return Axis(attribute.name, np.concatenate([shares for _, shares in found]), 0.0, levels=levels)


def _mid_ranks(seen: Values, count: int) -> NDArray[np.float64]:
    """The mid-rank of each category: the mean rank of the records that have it."""
    sizes = np.bincount(seen.astype(np.int64), minlength=count)
    return np.cumsum(sizes) - (sizes - 1) / 2.0
