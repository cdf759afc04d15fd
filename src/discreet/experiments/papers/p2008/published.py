"""Published figures of the 2008 chapter; those that it reprints from the 2006 paper are there."""

from __future__ import annotations

from typing import NamedTuple

# Table 3: seconds and SSE of exhaustive search, MDAV and the genetic algorithm, and the runs that reach the optimum.
TABLE_3 = {"exhaustive": ("717 s", 14.82), "mdav": ("< 1 s", 18.29), "genetic": ("14 s", 14.82)}
SHARE = "91 %"
FIGURE_3 = "most converge in less than 5,000 generations"


class Hybrid(NamedTuple):
    """A line of Table 7: SSE of MDAV, number of macro-groups, SSE of two-step, its improvement in percent."""

    mdav: float
    macro: int
    two_step: float
    gain: int | None


TABLE_7 = {
    ("Scattered", 12): Hybrid(4.71, 83, 4.28, 9),
    ("Scattered", 18): Hybrid(4.71, 56, 4.33, 8),
    ("Scattered", 27): Hybrid(4.71, 38, 4.58, 3),
    ("Clustered", 12): Hybrid(3.57, 84, 2.84, 20),
    ("Clustered", 18): Hybrid(3.57, 56, 2.14, 40),
    ("Clustered", 27): Hybrid(3.57, 41, 2.09, 41),
    ("Census", 12): Hybrid(799, 91, 768, 4),
    ("Census", 18): Hybrid(799, 61, 767, 4),
    ("Census", 27): Hybrid(799, 41, 789, None),  # the last figure of this line is not in the text we have
    ("EIA", 12): Hybrid(217, 342, 189, 13),
    ("EIA", 18): Hybrid(217, 228, 186, 14),
    ("EIA", 27): Hybrid(217, 152, 197, 9),
}
