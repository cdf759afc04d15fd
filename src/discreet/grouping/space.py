"""The records that groupings protect: as a partition method compares them, and as an intruder does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute
from discreet.data.dataset import Dataset
from discreet.data.embedding import Embedding, embed
from discreet.grouping.candidates import Group
from discreet.microdata.aggregate import fill
from discreet.microdata.classes import Classes, split

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """The attributes of a data set, and what follows from them for every group of them.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    attributes : tuple of Attribute
        Its quasi-identifiers.
    by : tuple of str
        Columns that divide it into strata.
    """

    dataset: Dataset
    attributes: tuple[Attribute, ...]
    by: tuple[str, ...] = ()
    _strata: dict[int, Classes] = field(default_factory=dict, init=False, repr=False)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.attributes[0].values)

    @property
    def names(self) -> list[str]:
        """Names of the attributes."""
        return [attribute.name for attribute in self.attributes]

    @cached_property
    def values(self) -> Floats:
        """Values of the attributes as they came in, NaN where missing."""
        return np.column_stack([attribute.values for attribute in self.attributes])

    @cached_property
    def lacking(self) -> list[bool]:
        """Whether an attribute has missing values."""
        return [bool(np.isnan(attribute.values).any()) for attribute in self.attributes]

    @cached_property
    def measured(self) -> Embedding:
        """The space in which loss and linkage are measured: all attributes with the same weight."""
        return embed([replace(attribute, weight=1.0, ancestry=()) for attribute in self.attributes])[0]

    @cached_property
    def points(self) -> Floats:
        """The original records in that space."""
        return self.measured.points([attribute.values for attribute in self.attributes])

    @cached_property
    def spans(self) -> list[slice]:
        """The columns of each attribute in that space."""
        return self.measured.spans()

    @cached_property
    def gaps(self) -> NDArray[np.bool_]:
        """Where the coordinates of a missing value stand; no rows if there is none."""
        gaps = np.zeros((self.records if any(self.lacking) else 0, self.points.shape[1]), bool)
        for attribute, span in zip(self.attributes, self.spans, strict=True):
            if len(gaps):
                gaps[:, span] = np.isnan(attribute.values)[:, None]
        return gaps

    @cached_property
    def weights(self) -> Floats:
        """How much each coordinate counts in the loss."""
        return np.repeat([a.weight for a in self.attributes], [axis.width for axis in self.measured.axes])

    @cached_property
    def variation(self) -> float:
        """SST: what there is to lose. Gaps stand at the mean, and so add nothing."""
        return float(np.sum(self.points**2 @ self.weights))

    def columns(self, group: Group) -> Ints:
        """The coordinates of a group of attributes in the measured space."""
        return _columns(self.spans, group)

    def classes(self, group: Group, k: int) -> Classes:
        """The records that are protected together where these attributes are: strata and missing patterns."""
        if not any(self.lacking[attribute] for attribute in group):
            return self.strata(k)
        return split(self.dataset, [self.attributes[a] for a in group], list(self.by), k)

    def strata(self, k: int) -> Classes:
        """The classes of records without missing values; an error where one is smaller than k."""
        if k not in self._strata:
            complete = replace(self.attributes[0], values=np.zeros(self.records))
            self._strata[k] = split(self.dataset, [complete], list(self.by), k)
        return self._strata[k]

    def kept(self, group: Group, classes: Classes) -> list[Attribute]:
        """The attributes of a group as they are aggregated: imputed, or blank where a missing pattern asks for it."""
        if not any(self.lacking[attribute] for attribute in group):
            return [self.attributes[a] for a in group]
        return [
            replace(
                attribute,
                values=fill(attribute)
                if attribute.missing == "impute"
                else np.where(classes.blank[:, column], np.nan, attribute.values),
            )
            for column, attribute in enumerate(self.attributes[a] for a in group)
        ]

    def to_partition(self, group: Group, kept: Sequence[Attribute]) -> Floats:
        """The records as a partition method compares them by these attributes, each with its weight."""
        if not any(self.lacking[attribute] for attribute in group):
            return np.ascontiguousarray(self._weighted_points[:, _columns(self._weighted.spans(), group)])
        axes = tuple(self._weighted.axes[a] for a in group)
        return Embedding(axes).points([attribute.values for attribute in kept])

    @cached_property
    def _weighted(self) -> Embedding:
        return embed(self.attributes)[0]

    @cached_property
    def _weighted_points(self) -> Floats:
        return self._weighted.points([attribute.values for attribute in self.attributes])


def _columns(spans: Sequence[slice], group: Group) -> Ints:
    return np.concatenate([np.arange(spans[a].start, spans[a].stop) for a in group])
