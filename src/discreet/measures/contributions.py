"""How much single groups of records bring to the figures of a release: a figure that a few make up tells of those few.

Loss is a quotient of sums over groups. Whoever knows it and the release has an equation for the values of the groups
that bring most; where none brings much, the unknown rest of the sum leaves all of them open.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values
from discreet.data.embedding import Axis, embed

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Contributions:
    """What the groups bring to the sums behind the figures of one column.

    Parameters
    ----------
    sums : dict of str to float
        lost: Σ|x − y|² (SSE); spread: Σ|x − mean|² (SST). Of numbers also variance: Σ(x − mean)² − (y − mean)²; and
        where groups are not replaced by their means mean: Σ|c_g| with c_g = Σ(y − x) of a group, and total: Σ|x|.
    largest : dict of str to float
        The largest that one group brings to each sum, in absolute value.
    densest : float
        The largest n_g·y_g² of a group, of numbers; of dates, whose zero means nothing, n_g·(y_g − mean)².
    """

    sums: Mapping[str, float]
    largest: Mapping[str, float]
    densest: float

    def __add__(self, other: Contributions) -> Contributions:
        """Those of two parts of the data that have no group in common."""
        names = dict.fromkeys((*self.sums, *other.sums))
        return Contributions(
            {name: self.sums.get(name, 0.0) + other.sums.get(name, 0.0) for name in names},
            {name: max(self.largest.get(name, 0.0), other.largest.get(name, 0.0)) for name in names},
            max(self.densest, other.densest),
        )

    def as_dict(self) -> dict[str, float | bool | None]:
        """Shares and reach, as they stand in the evidence.

        `constant` where the column has one value only. Of each sum the largest share of a group, which cancelling makes
        more than 1; None where the sum is 0. `reach`: √(SSE/n_g)/|y_g| of the group where that is least; if the whole
        loss were this group's, its values would lie about so far from the released one, in parts of it. None of
        categories.
        """
        moved = self.largest.get("mean", 0.0) > 0
        shares = {
            name: self.largest[name] / abs(total) if total else None
            for name, total in self.sums.items()
            if moved or name not in ("mean", "total")
        }
        reach = math.sqrt(self.sums["lost"] / self.densest) if self.densest > 0 else None
        return {"constant": not self.sums.get("spread"), **shares, "reach": reach}


def contributions(
    attributes: Sequence[Attribute], released: Sequence[Values], labels: Sequence[Labels]
) -> dict[str, dict[str, float | bool | None]]:
    """What the groups bring to the figures of each column, as it stands in the evidence.

    Parameters
    ----------
    attributes : sequence of Attribute
        The original.
    released : sequence of arrays
        The released values of each attribute.
    labels : sequence of arrays
        The group of each record, for each attribute.
    """
    embedding, _ = embed([replace(attribute, weight=1.0, ancestry=()) for attribute in attributes])
    return {
        attribute.name: contributions_of(attribute, axis, after, own).as_dict()
        for attribute, axis, after, own in zip(attributes, embedding.axes, released, labels, strict=True)
    }


def contributions_of(attribute: Attribute, axis: Axis, after: Values, labels: Labels) -> Contributions:
    """What the groups bring to the figures of one column.

    Parameters
    ----------
    attribute : Attribute
        The original values; a value that is missing takes no part.
    axis : Axis
        Where they lie.
    after : array
        The released values; one that is missing lies at the mean.
    labels : array of int
        The group of each record.
    """
    known = ~np.isnan(attribute.values)
    groups, x, y = labels[known], attribute.values[known], after[known]
    parts: dict[str, Values] = {}
    densest = 0.0
    if attribute.fine is not None:
        fine, coarse = attribute.fine.values[known], np.unique(y, return_inverse=True)[1].ravel()
        if attribute.fine.categories is None:
            # A coarse value stands for the mean of the records that have it.
            x, y = fine, (np.bincount(coarse, fine) / np.bincount(coarse))[coarse]
            parts = {"lost": (x - y) ** 2, "spread": (x - x.mean()) ** 2}
        else:
            codes = fine.astype(np.int64)
            pairs = np.unique(coarse * (codes.max() + 1) + codes, return_inverse=True, return_counts=True)
            within = pairs[2][pairs[1].ravel()] / np.bincount(coarse)[coarse]
            parts = {"lost": 1.0 - within, "spread": 1.0 - np.bincount(codes)[codes] / len(codes)}
    elif axis.nominal or axis.levels:
        codes = x.astype(np.int64)
        shares = np.bincount(codes) / len(codes)
        parts = {"lost": (x != y).astype(np.float64), "spread": 1.0 - shares[codes]}
    elif axis.width:
        before, behind = np.zeros((len(x), 1)), np.zeros((len(x), 1))
        axis.place(x, before)
        axis.place(y, behind)
        deviation, kept = before[:, 0] / axis.scale, behind[:, 0] / axis.scale
        parts = {"lost": (deviation - kept) ** 2, "spread": deviation**2}
        if axis.positions is None:
            parts["variance"] = deviation**2 - kept**2
            # Of plain means only rounding is left.
            if attribute.aggregate != "mean" or attribute.sampling is not None or np.isnan(y).any():
                parts |= {"mean": kept - deviation, "total": np.abs(x)}
            centre = 0.0 if attribute.kind == "date" else float(axis.center[0])
            sizes = np.bincount(groups)
            means = np.bincount(groups, kept) / np.maximum(sizes, 1)
            densest = float((sizes * (means + centre) ** 2).max(initial=0.0))
    sums, largest = {}, {}
    for name, values in parts.items():
        brought = np.bincount(groups, values)
        sums[name] = float((np.abs(brought) if name == "mean" else brought).sum())
        largest[name] = float(np.abs(brought).max(initial=0.0))
    return Contributions(sums, largest, densest)
