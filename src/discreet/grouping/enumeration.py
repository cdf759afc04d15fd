"""All groupings, where they are few enough to be looked at one by one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.grouping.canonical import Labels


def bell(size: int) -> int:
    """The number of groupings of so many attributes (the Bell number).

    Parameters
    ----------
    size : int
        The number of attributes.
    """
    row = [1]  # the triangle of Aitken: each row begins with the end of the one before
    for _ in range(size - 1):
        following = [row[-1]]
        for number in row:
            following.append(following[-1] + number)
        row = following
    return row[-1]


def every_grouping(size: int) -> Iterator[Labels]:
    """All groupings of so many attributes in canonical form, from all together to each alone.

    Parameters
    ----------
    size : int
        The number of attributes.
    """
    labels = np.zeros(size, np.int16)
    while True:
        yield labels.copy()
        # The last attribute that can go one group further; those after it start anew.
        highest = np.maximum.accumulate(labels)
        may = np.flatnonzero(labels[1:] <= highest[:-1]) + 1
        if not len(may):
            return
        place = may[-1]
        labels[place] += 1
        labels[place + 1 :] = 0
