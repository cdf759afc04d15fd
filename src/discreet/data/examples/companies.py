"""An extract of a business register that never was: skewed amounts, clusters, and a few companies that dominate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.examples.draws import Draws, dates, label, number
from discreet.data.examples.economy import DISTRICTS, INDUSTRIES, odds

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

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
    import numpy as np
    import polars as pl

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
            "founded": dates(_founded(draws, size)),
            "employees": employees,
            **amounts,
            "holding": number("G", _holding(draws, numbers, size), 8),
            "weight": _weights(draws, industry, size),
        }
    )


def _usual(name: str) -> Numbers:
    """One property of all industries."""
    import numpy as np

    return np.array([getattr(industry, name) for industry in INDUSTRIES])


def _employees(draws: Draws, district: Codes, industry: Codes) -> Codes:
    """Lognormal with a Pareto tail; few companies tower above the rest, more of them where there are few companies."""
    import numpy as np

    parts = np.array(list(DISTRICTS.values()))
    towering = draws.uniform() < (0.002 + 0.012 / parts)[district]
    # The sample holds more of the larger companies than the country: the factor 1.6, undone by the weights.
    staff = _usual("staff")[industry] * np.exp(0.85 * draws.normal() + 0.55 * draws.exponential())
    staff *= np.where(towering, 16 * np.exp(0.5 * draws.exponential()), 1.6)
    # No company is larger than the largest there are.
    return np.maximum(1, np.rint(np.minimum(staff, 250_000))).astype(np.int64)


def _amounts(draws: Draws, district: Codes, industry: Codes, employees: Codes) -> dict[str, Codes]:
    """Turnover, costs, profit and exports: correlated through the size of the company."""
    import numpy as np

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


def _founded(draws: Draws, size: Codes) -> Codes:
    """Most companies are young, the larger ones older."""
    import numpy as np

    years = draws.exponential() * np.array([11.0, 16.0, 24.0, 34.0])[size] + 0.2
    # Nobody in this register is older than 150 years: fold the tail back instead of piling it up at one date.
    days: Codes = np.floor(_EXTRACTED - 365.25 * (years % 150)).astype(np.int64)
    return days


def _holding(draws: Draws, numbers: Codes, size: Codes) -> Codes:
    """The number of the group's head; the larger a company, the likelier it is in a group."""
    import numpy as np

    heads = -(-len(numbers) // _HEADS)
    # The square makes some groups much larger than others.
    head = np.floor(heads * draws.uniform() ** 2).astype(np.int64) * _HEADS + 1
    member = draws.uniform() < np.array([0.03, 0.12, 0.35, 0.6])[size]
    is_head = (numbers - 1) % _HEADS == 0
    return np.where(member & ~is_head, head, numbers)


def _weights(draws: Draws, industry: Codes, size: Codes) -> Numbers:
    """One weight for each stratum, the size classes within a section."""
    import numpy as np

    sections = sorted({one.code[0] for one in INDUSTRIES})
    section = np.array([sections.index(one.code[0]) for one in INDUSTRIES])[industry]
    response = 0.75 + 0.25 * draws.uniform(len(sections) * len(SIZES)).reshape(len(sections), len(SIZES))
    response[:, -1] = 1.0
    weights: Numbers = np.round(np.array(_SAMPLED) / response, 2)[section, size]
    return weights
