"""The invented country of the companies: where they are, what they do, and how districts specialise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Industry:
    """What is usual for the companies of one industry."""

    code: str
    share: float  # of all companies, in parts of the sum
    staff: float  # median number of employees
    output: float  # turnover per employee, thousand euros
    margin: float  # profit as a part of turnover
    exporting: float  # how readily they export, 0 to 1


# A code begins with the code of its group, and that with the code of its section.
INDUSTRIES = (
    Industry("A11", 30, 1.6, 95, 0.09, 0.10),
    Industry("A12", 26, 1.5, 110, 0.07, 0.08),
    Industry("A21", 6, 2.2, 130, 0.10, 0.15),
    Industry("A22", 3, 2.6, 120, 0.06, 0.30),
    Industry("C11", 22, 5.0, 190, 0.05, 0.30),
    Industry("C12", 6, 6.0, 260, 0.08, 0.40),
    Industry("C13", 9, 4.5, 120, 0.05, 0.45),
    Industry("C21", 20, 6.0, 140, 0.07, 0.50),
    Industry("C22", 12, 9.0, 190, 0.08, 0.75),
    Industry("C23", 5, 14.0, 310, 0.06, 0.85),
    Industry("C31", 4, 16.0, 420, 0.10, 0.85),
    Industry("C32", 2, 20.0, 520, 0.14, 0.90),
    Industry("F11", 44, 3.0, 130, 0.06, 0.03),
    Industry("F12", 9, 8.0, 170, 0.05, 0.06),
    Industry("F21", 52, 2.4, 95, 0.09, 0.04),
    Industry("F22", 30, 2.2, 85, 0.09, 0.03),
    Industry("G11", 46, 3.5, 480, 0.03, 0.45),
    Industry("G12", 18, 3.2, 390, 0.04, 0.35),
    Industry("G21", 70, 2.2, 150, 0.04, 0.08),
    Industry("G22", 34, 1.8, 120, 0.05, 0.12),
    Industry("H11", 30, 3.2, 120, 0.05, 0.30),
    Industry("H12", 3, 7.0, 340, 0.09, 0.70),
    Industry("H21", 40, 3.4, 55, 0.05, 0.02),
    Industry("H22", 16, 3.8, 75, 0.08, 0.15),
    Industry("J11", 26, 2.4, 140, 0.13, 0.40),
    Industry("J12", 8, 2.6, 210, 0.17, 0.45),
    Industry("J21", 7, 3.0, 160, 0.08, 0.25),
    Industry("J22", 3, 6.0, 330, 0.12, 0.20),
    Industry("M11", 36, 1.8, 100, 0.18, 0.10),
    Industry("M12", 28, 1.9, 95, 0.15, 0.12),
    Industry("M21", 22, 2.4, 120, 0.12, 0.25),
    Industry("M22", 9, 3.4, 130, 0.08, 0.30),
)

# District and its part of the companies; a district's code begins with its region's. R1 is the capital, R6 the
# smallest region, where one company can be most of a cell.
DISTRICTS = {
    "R11": 20, "R12": 9, "R13": 7,
    "R21": 9, "R22": 7, "R23": 4, "R24": 3,
    "R31": 8, "R32": 5, "R33": 3,
    "R41": 6, "R42": 5, "R43": 3,
    "R51": 4, "R52": 2.5, "R53": 1.5,
    "R61": 2, "R62": 1,
}  # fmt: skip

# What a region or district is known for: codes that begin so are that many times as frequent there.
CLUSTERS = {
    "R1": {"J": 2.5, "M": 2.0, "A": 0.1, "C": 0.5},
    "R11": {"J2": 3.0, "M2": 2.0},
    "R2": {"C2": 3.0, "C3": 2.0},
    "R22": {"C23": 5.0},
    "R3": {"H12": 8.0, "A22": 6.0, "G1": 1.5},
    "R41": {"C13": 6.0},
    "R43": {"H2": 2.5},
    "R5": {"A": 3.0, "C11": 2.5},
    "R6": {"A": 2.5, "H2": 2.0, "J": 0.3},
}


def odds() -> NDArray[np.float64]:
    """How frequent each industry is in each district, up to a factor."""
    import numpy as np

    table = np.array([[industry.share for industry in INDUSTRIES] for _ in DISTRICTS], dtype=np.float64)
    for place, known_for in CLUSTERS.items():
        for row, district in enumerate(DISTRICTS):
            for column, industry in enumerate(INDUSTRIES):
                if district.startswith(place):
                    for code, times in known_for.items():
                        table[row, column] *= times if industry.code.startswith(code) else 1.0
    return table


def region_hierarchy() -> str:
    """Regions and their districts as the text of an `.hrc` file."""
    return _hierarchy(list(DISTRICTS), lengths=(2, 3))


def industry_hierarchy() -> str:
    """Sections, groups and industries as the text of an `.hrc` file."""
    return _hierarchy([industry.code for industry in INDUSTRIES], lengths=(1, 2, 3))


def _hierarchy(codes: list[str], lengths: tuple[int, ...]) -> str:
    """One code a line, each level of depth marked by one more `@`; the total is not listed."""
    lines: dict[str, None] = {}
    for code in sorted(codes):
        for depth, length in enumerate(lengths):
            lines["@" * depth + code[:length]] = None
    return "\n".join(lines) + "\n"
