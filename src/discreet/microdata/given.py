"""Partitions made elsewhere, by labels or by a function of the user's, checked before they count as groups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.dataset import accept
from discreet.errors import InputError
from discreet.microdata.classes import AttributeGroup, Classes
from discreet.microdata.households import Households
from discreet.microdata.method import Construction, Labels, Points, Run, describe_params
from discreet.plugins import name_of
from discreet.text import count

# What stands in the place of a method.
LABELS = "labels"


def read_labels(labels: Any, groups: int, records: int) -> tuple[Labels, ...]:
    """The labels of each group of quasi-identifiers, numbered from 0; a file has a column for each, with a name."""
    where = "labels"
    if isinstance(labels, str | Path):
        dataset = accept(labels, header=True)
        labels, where = dataset.frame.to_numpy(), dataset.name
    array = np.asarray(labels)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or array.shape[1] != groups:
        each = "" if groups == 1 else f", in a column for each of the {groups} groups of quasi-identifiers"
        raise InputError(f"{where}: there must be one label for each record{each}")
    return tuple(number_groups(array[:, column], records, where) for column in range(groups))


def number_groups(labels: NDArray[Any], records: int, where: str) -> Labels:
    """Labels of any kind as numbers from 0; refused if one is missing."""
    if labels.shape != (records,):
        got = f"{len(labels):,} were given" if labels.ndim == 1 else f"an array of {labels.ndim} dimensions was given"
        raise InputError(f"{where}: there must be one label for each of the {records:,} records; {got}")
    missing = labels != labels
    if labels.dtype == object:
        missing = missing | np.array([label is None for label in labels], bool)
        labels = labels.astype(str)
    if np.any(missing):
        raise InputError(f"{where}: {int(np.sum(missing)):,} of the {records:,} records have no label")
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def check_sizes(labels: Labels, k: int, where: str, within: str = "", unit: str = "record") -> None:
    """Refuse groups of fewer than k records, with counts."""
    sizes = np.bincount(labels)
    if sizes.min() < k:
        raise InputError(
            f"{where}: {int((sizes < k).sum()):,} of {len(sizes):,} groups have fewer than k = {k} {unit}s{within}, "
            f"the smallest {int(sizes.min()):,}; merge such groups, or choose a smaller k"
        )


def cut(labels: Labels, classes: Classes) -> Labels:
    """The groups, each within its class: one that lies in several strata or patterns of gaps becomes several."""
    home = np.empty(len(labels), np.int64)
    for number, rows in enumerate(classes.rows):
        home[rows] = number
    parts: Labels = np.unique(labels * len(classes.rows) + home, return_inverse=True)[1].astype(np.int64)
    return parts


def fit(
    labels: Sequence[Labels], groups: Sequence[AttributeGroup], k: int, households: Households | None = None
) -> tuple[list[Labels], list[str]]:
    """The labels of each group of quasi-identifiers within its classes, and what was done to them."""
    fitted, notes = [], []
    unit, units = ("record", slice(None)) if households is None else ("household", households.firsts)
    sized = "" if households is None else "size, "
    for own, group in zip(labels, groups, strict=True):
        if households is not None:
            torn = len(np.unique(households.codes[own[households.firsts][households.codes] != own]))
            if torn:
                raise InputError(
                    f"labels: members of {count(torn, 'household')} have different ones; households are grouped as "
                    "wholes: give all members the same label"
                )
        check_sizes(own[units], k, "labels", unit=unit)
        parts = cut(own, group.classes)
        check_sizes(parts[units], k, "labels", f" within their {sized}stratum and pattern of missing values", unit)
        fitted.append(parts)
        more = int(parts.max() - own.max())
        if more:
            notes.append(
                f"groups of the labels were cut at {sized}strata and patterns of missing values: {more:,} more"
            )
    return fitted, notes


@dataclass(frozen=True)
class Function(Construction):
    """Partitions made by a function, checked as everything that comes from outside.

    Parameters
    ----------
    function : callable
        Given the points of a class of records and k, it returns a label for each point.
    params : mapping
        Further keywords of the function.
    """

    function: Callable[..., Any]
    params: Mapping[str, Any] = field(default_factory=dict)

    def assign(self, points: Points, k: int, run: Run) -> Labels:
        """Ask the function for the groups, and refuse what is no partition into groups of k."""
        shown = points.view()
        shown.setflags(write=False)  # what it returns is judged by these points
        where = f"the method {name_of(self.function)}"
        found = number_groups(np.asarray(self.function(shown, k, **self.params)), len(points), where)
        check_sizes(found, k, where)
        return found

    def rehearse(self, points: Points, k: int, sizes: Collection[int]) -> None:
        """Nothing of it is compiled by us, and a function is called for its answer alone."""

    def parameters(self) -> dict[str, Any]:
        """The keywords of the function."""
        return describe_params(self.params)
