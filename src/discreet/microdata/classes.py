"""Classes of records that are protected apart: strata, within them patterns of missing values; per attribute group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute
from discreet.data.dataset import Dataset
from discreet.data.missing import pattern_classes
from discreet.errors import InputError


@dataclass(frozen=True, eq=False)
class Classes:
    """Rows of each class, and where values have to be blanked so that a class shares one missing pattern."""

    rows: list[NDArray[np.int64]]
    blank: NDArray[np.bool_]

    @property
    def blanked(self) -> int:
        """Number of values that were there and are blanked."""
        return int(self.blank.sum())


def split(dataset: Dataset, attributes: Sequence[Attribute], by: list[str], k: int) -> Classes:
    """Split the records by stratum and missing pattern into classes of at least k."""
    strata = _strata(dataset, by)
    small = [rows for rows in strata if len(rows) < k]
    if small:
        raise InputError(_too_small(dataset, by, small, len(strata), k))
    missing = np.column_stack([np.isnan(attribute.values) for attribute in attributes])
    for column, attribute in enumerate(attributes):
        if attribute.missing == "error" and missing[:, column].any():
            first = int(np.argmax(missing[:, column]))
            raise InputError(
                f"{dataset.name}: column '{attribute.name}' has {missing[:, column].sum():,} missing values, the first "
                f"at {dataset.place(first)}; fill them, or choose missing 'separate' or 'impute'"
            )
        if attribute.missing == "impute":
            missing[:, column] = False
    names = [attribute.name for attribute in attributes]
    parts: list[NDArray[np.int64]] = []
    blank = np.zeros_like(missing)
    for rows in strata:
        for pattern, members in pattern_classes(missing[rows], k, names):
            parts.append(rows[members])
            blank[np.ix_(rows[members], np.array(sorted(pattern), np.int64))] = True
    return Classes(parts, blank & ~missing)


def _strata(dataset: Dataset, by: list[str]) -> list[NDArray[np.int64]]:
    if not by:
        return [np.arange(dataset.frame.height)]
    groups = dataset.frame.select(by).with_row_index("\0row").group_by(by, maintain_order=True).agg("\0row")
    return [np.asarray(rows, dtype=np.int64) for rows in groups["\0row"].to_list()]


def _too_small(dataset: Dataset, by: list[str], small: list[NDArray[np.int64]], strata: int, k: int) -> str:
    if not by:
        return (
            f"{dataset.name}: k = {k} is more than the {dataset.frame.height:,} records there are; choose a smaller k"
        )
    least = min(small, key=len)
    return (
        f"{dataset.name}: {len(small)} of {strata} strata of {', '.join(by)} have fewer than k = {k} records; the "
        f"smallest has {len(least)} (its first record: {dataset.place(int(least[0]))}). Merge strata, or name "
        "fewer columns as by."
    )


@dataclass(frozen=True, eq=False)
class AttributeGroup:
    """Attributes that are protected together.

    Parameters
    ----------
    columns : tuple of int
        Their positions among all attributes.
    classes : Classes
        The classes of records by stratum and by the pattern of missing values in these attributes alone.
    """

    columns: tuple[int, ...]
    classes: Classes


def attribute_groups(
    dataset: Dataset, attributes: Sequence[Attribute], groups: Sequence[Sequence[str]], by: list[str], k: int
) -> list[AttributeGroup]:
    """Groups of columns as groups of attributes, each with its classes of at least k records."""
    position = {attribute.name: column for column, attribute in enumerate(attributes)}
    members = [tuple(position[name] for name in group) for group in groups]
    return [
        AttributeGroup(columns, split(dataset, [attributes[column] for column in columns], by, k))
        for columns in members
    ]


def blanks(groups: Sequence[AttributeGroup], records: int) -> NDArray[np.bool_]:
    """Where values have to be blanked, records × attributes."""
    blank = np.zeros((records, sum(len(group.columns) for group in groups)), bool)
    for group in groups:
        blank[:, list(group.columns)] = group.classes.blank
    return blank
