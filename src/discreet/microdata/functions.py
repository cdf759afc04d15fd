"""A function of the user's as a method: it is given the points and k, and returns the group of each point."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.microdata.given import check_sizes, number_groups
from discreet.microdata.method import Construction, Labels, Points, Run, describe_params
from discreet.plugins import name_of


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
