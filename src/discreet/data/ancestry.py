"""How far categories are from each other where they are codes of a hierarchy: by the levels at which they differ.

Two codes differ at a level if different codes stand above them there. Their distance is the share of the levels at
which they differ: 0 for equal codes, 1 for those that have nothing in common. So a code is compared as one category per
level, each with a part of the distance, and no table of distances is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Codes = NDArray[np.int64]


class Level(NamedTuple):
    """A level of a hierarchy: its share of the distance, and the code above each category there, 0, 1, …"""

    share: float
    above: Codes

    def lift(self, values: Values) -> Values:
        """The codes above some categories; a missing value stays missing."""
        missing = np.isnan(values)
        lifted: Values = np.where(missing, np.nan, self.above[np.where(missing, 0, values).astype(np.int64)])
        return lifted


Ancestry = tuple[Level, ...]


def rank_levels(names: Sequence[Sequence[str]]) -> Ancestry:
    """The levels of a hierarchy given, from the coarsest, the name of the code above each category.

    Levels that divide the categories alike are one, with the share of both; whoever compares them saves time.
    """
    levels: list[Level] = []
    for level in names:
        above = np.unique(np.asarray(level, dtype=object).astype(str), return_inverse=True)[1].ravel().astype(np.int64)
        if levels and np.array_equal(levels[-1].above, above):
            above, share = levels[-1].above, levels.pop().share
        else:
            share = 0.0
        levels.append(Level(share + 1.0 / len(names), above))
    return tuple(levels)


def distances(ancestry: Ancestry, before: Values, after: Values) -> Values:
    """The distance of each category from another, 0 to 1; from a missing value 1."""
    total = np.zeros(len(before))
    for level in ancestry:
        total += level.share * (level.lift(before) != level.lift(after))
    return total
