"""An extract of a business register that never was: skewed amounts, clusters, and a few companies that dominate.

Its companies stand in an invented country whose districts specialise. Beside it are the eleven companies on which the
field tries its algorithms by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.examples.draws import Draws, dates, label, number


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


Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]

SIZES = ("micro", "small", "medium", "large")
LEGAL_FORMS = ("sole proprietor", "partnership", "limited company", "cooperative", "public company")

_SIZE_LIMITS = (10, 50, 250)
# Rows: the size classes.
_LEGAL_ODDS = ((55, 12, 30, 3, 0), (6, 12, 74, 6, 2), (0, 5, 77, 6, 12), (0, 1, 55, 4, 40))
# One record stands for about so many companies of its size class; all the large ones are in the sample.
_SAMPLED = (18.0, 6.0, 2.0, 1.0)
# Days since 1970 of 31 December 2024, the day of the extract.
_EXTRACTED = 20088
# Every so many companies one heads a group.
_HEADS = 25


def companies(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    """Generate a business register extract; amounts in thousand euros.

    Parameters
    ----------
    n : int
        Companies, from 1 to 10,000,000.
    seed : int
        The same seed gives the same companies.

    Returns
    -------
    polars.DataFrame
        Identifiers `company_id` and `name`; nested codes `region` and `district`; `industry`, whose first letter is
        its section and first two characters its group; `legal_form`; `size_class`, which follows from `employees`;
        `founded`; `turnover`, `costs` and `profit`, their difference; `exports`, mostly 0; `holding`, the number of
        the group's head, a company alone being its own; and the sampling `weight`.
    """
    draws = Draws(n, seed)
    district = draws.choose(list(DISTRICTS.values()))
    industry = draws.choose(odds(), district)
    employees = _employees(draws, district, industry)
    size = np.searchsorted(_SIZE_LIMITS, employees, side="right")
    amounts = _amounts(draws, district, industry, employees)
    districts = label(district, list(DISTRICTS))
    numbers = np.arange(1, n + 1)
    return pl.DataFrame(
        {
            "company_id": number("C", numbers, 8),
            "name": number("Company ", numbers, 5),
            "region": districts.str.slice(0, 2),
            "district": districts,
            "industry": label(industry, [one.code for one in INDUSTRIES]),
            "legal_form": label(draws.choose(_LEGAL_ODDS, size), list(LEGAL_FORMS)),
            "size_class": label(size, list(SIZES)),
            "founded": dates(_draw_founding(draws, size)),
            "employees": employees,
            **amounts,
            "holding": number("G", _draw_holding(draws, numbers, size), 8),
            "weight": _weights(draws, industry, size),
        }
    )


def _usual(name: str) -> Numbers:
    """One property of all industries."""
    return np.array([getattr(industry, name) for industry in INDUSTRIES])


def _employees(draws: Draws, district: Codes, industry: Codes) -> Codes:
    """Lognormal with a Pareto tail; few companies tower above the rest, more of them where there are few companies."""
    parts = np.array(list(DISTRICTS.values()))
    towering = draws.uniform() < (0.002 + 0.012 / parts)[district]
    # The sample holds more of the larger companies than the country: the factor 1.6, undone by the weights.
    staff = _usual("staff")[industry] * np.exp(0.85 * draws.normal() + 0.55 * draws.exponential())
    staff *= np.where(towering, 16 * np.exp(0.5 * draws.exponential()), 1.6)
    # No company is larger than the largest there are.
    return np.maximum(1, np.rint(np.minimum(staff, 250_000))).astype(np.int64)


def _amounts(draws: Draws, district: Codes, industry: Codes, employees: Codes) -> dict[str, Codes]:
    """Turnover, costs, profit and exports: correlated through the size of the company."""
    # The capital is the dearest place, and the last regions are the poorest.
    wealth = np.array([1.25 if code < "R2" else 1.0 if code < "R5" else 0.8 for code in DISTRICTS])[district]
    turnover = _usual("output")[industry] * wealth * employees**1.04 * np.exp(0.55 * draws.normal() - 0.15)
    turnover = np.maximum(1, np.rint(turnover))
    # Large companies are steadier.
    spread = 0.11 / (1 + 0.25 * np.log(employees))
    costs = np.rint(turnover * np.clip(1 - _usual("margin")[industry] + spread * draws.normal(), 0.3, 1.8))
    readiness = np.clip(_usual("exporting")[industry] * (0.25 + 0.25 * np.log10(employees)), 0, 0.97)
    exporter = draws.uniform() < readiness
    exports = np.where(exporter, np.rint(turnover * 0.95 * draws.uniform() ** 1.6), 0)
    whole = {"turnover": turnover, "costs": costs, "profit": turnover - costs, "exports": exports}
    return {name: values.astype(np.int64) for name, values in whole.items()}


def _draw_founding(draws: Draws, size: Codes) -> Codes:
    """Most companies are young, the larger ones older."""
    years = draws.exponential() * np.array([11.0, 16.0, 24.0, 34.0])[size] + 0.2
    # Nobody in this register is older than 150 years: fold the tail back instead of piling it up at one date.
    days: Codes = np.floor(_EXTRACTED - 365.25 * (years % 150)).astype(np.int64)
    return days


def _draw_holding(draws: Draws, numbers: Codes, size: Codes) -> Codes:
    """The number of the group's head; the larger a company, the likelier it is in a group."""
    heads = -(-len(numbers) // _HEADS)
    # The square makes some groups much larger than others.
    head = np.floor(heads * draws.uniform() ** 2).astype(np.int64) * _HEADS + 1
    member = draws.uniform() < np.array([0.03, 0.12, 0.35, 0.6])[size]
    is_head = (numbers - 1) % _HEADS == 0
    return np.where(member & ~is_head, head, numbers)


def _weights(draws: Draws, industry: Codes, size: Codes) -> Numbers:
    """One weight for each stratum, the size classes within a section."""
    sections = sorted({one.code[0] for one in INDUSTRIES})
    section = np.array([sections.index(one.code[0]) for one in INDUSTRIES])[industry]
    response = 0.75 + 0.25 * draws.uniform(len(sections) * len(SIZES)).reshape(len(sections), len(SIZES))
    response[:, -1] = 1.0
    weights: Numbers = np.round(np.array(_SAMPLED) / response, 2)[section, size]
    return weights


def sme() -> pl.DataFrame:
    """Read the table of eleven small and medium-sized companies, small enough to enumerate all its partitions.

    Returns
    -------
    polars.DataFrame
        `company` (identifier), `surface` in m², `employees`, `turnover` and `net_profit` in euros. Standardised with
        ddof 0 and k = 3, MDAV has SSE 18.292 and the optimum is 14.827 (printed as 18.29 and 14.82).

    References
    ----------
    A. Solanas, "Privacy Protection with Genetic Algorithms", 2008, Table 1. The amounts are printed with irregular
    separators; the one of company H is read as 777,882, which is what gives the SSE of the paper.
    """
    return pl.read_csv((files("discreet.examples") / "sme.csv").read_bytes())
