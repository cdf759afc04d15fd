"""The method `search`: iterated destroy and repair, which takes as long as it is given."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.attack.system import Bools
from discreet.errors import InputError, whole
from discreet.tables.suppression.problem import Problem
from discreet.tables.suppression.program_pattern import LinearProgramPattern
from discreet.tables.suppression.search.incumbent import PatternSearch
from discreet.tables.suppression.search.network import NetworkSearch
from discreet.tables.suppression.search.programs import LinearProgramSearch


@dataclass(frozen=True)
class Search:
    """Iterated destroy and repair with clean-up.

    Several orders of the incremental attacker are tried first, each cleaned up. Then costly secondary cells are taken
    away, what that lays open is protected again at the least cost, and all that has become needless is published; what
    is cheaper is kept. In cycles a pattern that is a little costlier may be kept too, less and less so.

    Parameters
    ----------
    starts : int
        How many orders to begin with: by falling and rising level, by falling and rising weight, then random ones.
    most : int
        How many cells are taken away at once at most.
    heat : float
        How much costlier a pattern may be, as a share of the cost, at the beginning of a cycle.
    proofs : bool
        Whether to let `exact` go on beside it where the relations form a network: its linear relaxation leads to
        patterns that no repair finds, and it proves how good they are.

    References
    ----------
    Ours, by the principle of G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt, G. Dueck, Record breaking optimization
    results using the ruin and recreate principle, Journal of Computational Physics 159 (2000) 139-171.
    """

    starts: int = 6
    most: int = 4
    heat: float = 0.01
    proofs: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", whole("starts", self.starts, 1))
        object.__setattr__(self, "most", whole("most", self.most, 1))
        if not 0 <= self.heat <= 1:
            raise InputError(f"heat must be between 0 and 1, not {self.heat!r}")

    def search(self, problem: Problem, seed: int, previous: Bools | None = None) -> PatternSearch:
        """The search of one component of a problem."""
        if problem.is_network:
            return NetworkSearch(
                problem, seed, previous, starts=self.starts, most=self.most, heat=self.heat, proofs=self.proofs
            )
        # Where every step is a linear program, one start takes as long as many repairs, and is built up by itself.
        return LinearProgramSearch(LinearProgramPattern(problem), seed, previous, most=self.most, heat=self.heat)


def unused_parameters(problem: Problem) -> list[str]:
    """The parameters of `search` that do nothing in a problem."""
    parts = problem.components()
    in_networks = ["starts", "proofs"] if not any(part.is_network for part in parts) else []
    # Where a linear program takes long, costly cells are replaced one by one, and nothing costlier is ever kept.
    in_repairs = (
        ["most", "heat"] if all(not part.is_network and LinearProgramPattern(part).is_slow for part in parts) else []
    )
    return in_networks + in_repairs
