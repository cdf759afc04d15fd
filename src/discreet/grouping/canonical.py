"""A grouping of attributes in the one form that all its clones share.

The group of each attribute, in the order of the attributes; groups are numbered 0, 1, … as they first appear. In the
words of the paper this is the object part; the group part follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Labels = NDArray[np.int16]
Group = tuple[int, ...]
Name = TypeVar("Name")


def canonical(labels: ArrayLike) -> Labels:
    """Renumber the groups in order of first appearance.

    Parameters
    ----------
    labels : array of int
        The group of each attribute, under any numbers.
    """
    given = np.asarray(labels)
    _, first, inverse = np.unique(given, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int16)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int16)
    renumbered: Labels = rank[inverse.reshape(given.shape)]
    return renumbered


def key(labels: Labels) -> bytes:
    """Bytes that are the same for clones, and for them only."""
    return labels.tobytes()


def count(labels: Labels) -> int:
    """The number of groups."""
    return int(labels.max()) + 1


def groups(labels: Labels) -> list[Group]:
    """The attributes of each group, as ascending positions."""
    members: list[list[int]] = [[] for _ in range(count(labels))]
    for attribute, group in enumerate(labels.tolist()):
        members[group].append(attribute)
    return [tuple(group) for group in members]


def named(labels: Labels, names: Sequence[Name]) -> list[list[Name]]:
    """The names of the attributes of each group."""
    return [[names[attribute] for attribute in group] for group in groups(labels)]


def of_groups(members: Iterable[Iterable[int]], size: int) -> Labels:
    """The grouping of so many attributes that groups of positions make.

    Parameters
    ----------
    members : iterable of iterables of int
        The positions of the attributes of each group; each position is in one of them.
    size : int
        The number of attributes.
    """
    labels = np.full(size, -1)
    for number, group in enumerate(members):
        for attribute in group:
            labels[attribute] = number
    if (labels < 0).any():
        raise ValueError("an attribute is in no group")
    return canonical(labels)
