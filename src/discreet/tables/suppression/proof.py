"""The method `exact`: branch and cut, begun with a cleaned-up pattern."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.tables.suppression.exact import Exact
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.protector import Protector
from discreet.verification.attack.system import Bools


@dataclass(frozen=True)
class Proof:
    """The cheapest pattern, with a proof: the model of Fischetti and Salazar by Benders cuts in a tree.

    References
    ----------
    M. Fischetti, J. J. Salazar González, Solving the cell suppression problem on tabular data with linear constraints,
    Management Science 47 (2001) 1008-1027.
    """

    def begin(self, problem: Problem, protector: Protector, seed: int, previous: Bools | None) -> Exact:
        """The method as a process."""
        protector.start(previous)
        protector.protect(problem.by_level())
        protector.clean()
        nothing = np.empty(0, dtype=np.int64)
        return Exact(problem, protector, protector.suppressed, nothing)
