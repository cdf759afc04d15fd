"""A survey of people who never were, with money, health and gaps: students, retired, self-employed and the rest.

Region, age, work, schooling and health hang together as they do among real people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.examples.draws import Draws, dates, label, number

# Region: part of the people, then the odds of living in a city, a town or the countryside.
REGIONS = {
    "capital": (22, (92, 8, 0)),
    "coast": (16, (45, 35, 20)),
    "north": (13, (40, 30, 30)),
    "south": (14, (35, 40, 25)),
    "plains": (13, (25, 35, 40)),
    "lakes": (9, (15, 45, 40)),
    "hills": (8, (10, 35, 55)),
    "islands": (5, (0, 45, 55)),
}
URBAN = ("city", "town", "rural")
SEXES = ("female", "male")
EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
MARITAL = ("single", "partnered", "married", "divorced", "widowed")

# Ages at which the share of younger people is as given; between them it grows evenly.
AGES = (16.0, 25.0, 35.0, 50.0, 65.0, 75.0, 85.0, 97.0)
YOUNGER = (0.0, 0.12, 0.28, 0.53, 0.78, 0.91, 0.98, 1.0)

# The bands of age behind the tables below: under 25, 35, 50, 65, 75, and over.
BANDS = (25.0, 35.0, 50.0, 65.0, 75.0)
EDUCATION_ODDS = (
    (18, 55, 15, 11, 1),
    (6, 24, 27, 26, 17),
    (7, 27, 31, 21, 14),
    (13, 33, 32, 14, 8),
    (25, 36, 27, 8, 4),
    (42, 33, 18, 5, 2),
)
# The least age for vocational, bachelor and master, and for living as a couple.
DEGREES = (19.0, 21.0, 23.0)
OF_AGE = 18.0
MARITAL_ODDS = (
    (86, 12, 2, 0, 0),
    (45, 27, 25, 3, 0),
    (18, 16, 54, 11, 1),
    (10, 8, 60, 18, 4),
    (6, 4, 60, 14, 16),
    (5, 2, 40, 8, 45),
)


@dataclass(frozen=True)
class Occupation:
    """What is usual for the people of one occupation."""

    name: str
    income: float  # median of a year, euros
    spread: float  # standard deviation of its logarithm
    tail: float  # the exponential of this times an exponential number is Pareto
    wealth: float  # in median incomes
    hours: float  # a week
    # The odds in each band of age, before schooling is looked at.
    odds: tuple[float, float, float, float, float, float]
    schooling: float = 0.0  # how much each step of education multiplies the odds, as a logarithm


OCCUPATIONS = (
    Occupation("student", 6_500, 0.55, 0.05, 0.2, 8, (60, 7, 0.5, 0, 0, 0)),
    Occupation("retired", 17_500, 0.40, 0.15, 6.0, 0, (0, 0, 0.5, 20, 92, 99)),
    Occupation("not working", 8_500, 0.60, 0.10, 1.0, 0, (9, 11, 11, 14, 3, 1), -0.4),
    Occupation("self-employed", 31_000, 0.80, 0.55, 5.0, 48, (1, 7, 11, 11, 3, 0.2)),
    Occupation("manager", 62_000, 0.38, 0.40, 3.5, 44, (0, 3, 7, 7, 0.6, 0), 0.5),
    Occupation("professional", 44_000, 0.32, 0.18, 2.0, 40, (1, 14, 14, 9, 0.5, 0), 1.1),
    Occupation("clerk", 29_000, 0.27, 0.08, 1.3, 38, (4, 12, 12, 9, 0.2, 0)),
    Occupation("sales", 23_000, 0.35, 0.12, 0.9, 34, (9, 13, 10, 7, 0.3, 0), -0.2),
    Occupation("care", 25_500, 0.28, 0.06, 1.0, 32, (5, 10, 11, 9, 0.3, 0)),
    Occupation("trade", 28_000, 0.28, 0.10, 1.5, 40, (6, 11, 10, 8, 0.2, 0), -0.5),
    Occupation("transport", 25_000, 0.28, 0.06, 1.2, 41, (3, 7, 8, 7, 0.3, 0), -0.7),
    Occupation("farmer", 19_000, 0.65, 0.35, 9.0, 52, (0.4, 1, 2, 3, 1.5, 0.3), -0.5),
)

DIAGNOSES = (
    "none",
    "asthma",
    "depression",
    "back pain",
    "diabetes",
    "hypertension",
    "arthritis",
    "heart disease",
    "cancer",
)
DIAGNOSIS_ODDS = (
    (82, 8, 6, 2.5, 0.6, 0.4, 0.1, 0.2, 0.2),
    (76, 7, 8, 6, 1, 1, 0.3, 0.4, 0.3),
    (64, 6, 8, 10, 3, 5, 2, 1, 1),
    (43, 5, 7, 11, 8, 14, 6, 4, 2),
    (28, 4, 4, 9, 13, 20, 11, 8, 3),
    (18, 3, 4, 7, 14, 22, 15, 13, 4),
)
# Visits to a doctor in a year, on average, for each diagnosis.
VISITS = (1.6, 4.0, 7.0, 5.0, 6.0, 4.5, 5.5, 8.0, 12.0)
Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

# Days since 1970 of 30 June 2024, the day of the survey.
_ASKED = 19904
# Parts of the records without education and income, without education, without income.
_GAPS = (0.010, 0.012, 0.030)
# A pattern of gaps in fewer records is not made: nobody could be hidden in it.
_FEWEST = 20
_STUDENT, _RETIRED, _SELF_EMPLOYED = 0, 1, 3


def survey(n: int = 4000, seed: int = 1) -> pl.DataFrame:
    """Generate a survey of persons; money in euros.

    Parameters
    ----------
    n : int
        Persons, from 1 to 10,000,000.
    seed : int
        The same seed gives the same persons.

    Returns
    -------
    polars.DataFrame
        `person_id` (identifier), `region`, `urban`, `sex`, `birth_date`, `household_size`, `education` (ordinal),
        `occupation`, `marital`, `income` of a year, `wealth`, `hours` of work a week, `diagnosis`, `visits` to a doctor
        in a year, and the survey's `weight`. Income is missing in 4 % of the records and education in 2 %; every
        pattern of missing values is shared by at least 20 records, and at an n too small for that it does not occur.
    """
    draws = Draws(n, seed)
    region = draws.choose([part for part, _ in REGIONS.values()])
    urban = draws.choose([odds for _, odds in REGIONS.values()], region)
    age = np.interp(draws.uniform(), YOUNGER, AGES)
    band = np.searchsorted(BANDS, age, side="right")
    # Women live longer: the odds of the last two bands.
    male = draws.uniform() < np.array([0.51, 0.5, 0.5, 0.49, 0.46, 0.39])[band]
    # A degree takes its years, and nobody marries as a child.
    education = np.minimum(draws.choose(EDUCATION_ODDS, band), 1 + np.searchsorted(DEGREES, age))
    occupation = _occupation(draws, band, education, urban)
    marital = np.where(age < OF_AGE, 0, draws.choose(MARITAL_ODDS, band))
    income, wealth = _money(draws, age, male, education, occupation, urban)
    diagnosis = draws.choose(DIAGNOSIS_ODDS, band)
    household = _household(draws, band, marital)
    hours = _hours(draws, occupation)
    visits = _visits(draws, age, diagnosis)
    weight = _weights(draws, region, urban, band)
    no_income, no_education = _gaps(draws, occupation, wealth)
    return pl.DataFrame(
        {
            "person_id": number("P", np.arange(1, n + 1), 8),
            "region": label(region, list(REGIONS)),
            "urban": label(urban, list(URBAN)),
            "sex": label(male.astype(np.int64), list(SEXES)),
            "birth_date": dates(np.floor(_ASKED - 365.25 * age).astype(np.int64)),
            "household_size": household,
            "education": label(education, list(EDUCATION)).set(pl.Series(no_education), None),
            "occupation": label(occupation, [one.name for one in OCCUPATIONS]),
            "marital": label(marital, list(MARITAL)),
            "income": pl.Series(income).set(pl.Series(no_income), None),
            "wealth": wealth,
            "hours": hours,
            "diagnosis": label(diagnosis, list(DIAGNOSES)),
            "visits": visits,
            "weight": weight,
        }
    )


def _usual(name: str) -> Numbers:
    """One property of all occupations."""
    return np.array([getattr(occupation, name) for occupation in OCCUPATIONS])


def _occupation(draws: Draws, band: Codes, education: Codes, urban: Codes) -> Codes:
    """What somebody does depends on age, schooling and place; the odds are tabulated for each combination."""
    by_age = np.array([one.odds for one in OCCUPATIONS]).T
    by_schooling = np.exp(np.outer(np.arange(len(EDUCATION)) - 2.0, _usual("schooling")))
    # Nobody farms in the city.
    by_place = np.ones((len(URBAN), len(OCCUPATIONS)))
    by_place[:, -1] = 0.0, 0.5, 4.0
    odds = by_age[:, None, None, :] * by_schooling[None, :, None, :] * by_place[None, None, :, :]
    kind = (band * len(EDUCATION) + education) * len(URBAN) + urban
    return draws.choose(odds.reshape(-1, len(OCCUPATIONS)), kind)


def _money(
    draws: Draws, age: Numbers, male: Mask, education: Codes, occupation: Codes, urban: Codes
) -> tuple[Codes, Codes]:
    """Income is lognormal with a Pareto tail; wealth more skewed still, growing with income and age, often nothing."""
    luck = draws.normal()
    logarithm = np.log(_usual("income"))[occupation] + _usual("spread")[occupation] * luck
    logarithm += _usual("tail")[occupation] * draws.exponential()
    logarithm += 0.09 * (education - 2.0) + np.where(male, 0.06, -0.06) + np.array([0.08, 0.0, -0.08])[urban]
    # Pay rises with experience, but pensions and grants do not.
    working = occupation > _RETIRED
    logarithm += np.where(working, 0.25 * np.tanh((age - 40) / 15), 0.0)
    income = np.minimum(np.exp(logarithm), 50e6)
    years = np.clip((age - 18) / 40, 0.02, 1.1)
    wealth = (
        _usual("wealth")[occupation] * income * years**1.3 * np.exp(1.2 * draws.normal() + 0.5 * draws.exponential())
    )
    poor = draws.uniform() < np.clip(0.42 - 0.30 * years - 0.08 * luck, 0.02, 0.95)
    wealth = np.where(poor, 0.0, np.minimum(wealth, 20e9))
    # Nobody knows the own fortune to the euro.
    return (10 * np.rint(income / 10)).astype(np.int64), (100 * np.rint(wealth / 100)).astype(np.int64)


def _household(draws: Draws, band: Codes, marital: Codes) -> Codes:
    """Couples are at least two; children are at home with the parents of middle age, and the young with theirs."""
    couple = (marital == 1) | (marital == 2)
    others = np.where(
        couple, np.array([0.5, 1.1, 1.5, 0.6, 0.15, 0.1])[band], np.array([2.0, 0.6, 0.6, 0.4, 0.2, 0.2])[band]
    )
    return np.where(couple, 2, 1) + np.minimum(_geometric(draws, others), 6)


def _hours(draws: Draws, occupation: Codes) -> Codes:
    """Hours a week: half of the employed have the usual contract, the others more or less."""
    usual = _usual("hours")[occupation]
    contract = (draws.uniform() < 0.5) & (occupation > _SELF_EMPLOYED)
    hours = np.rint(usual + np.where(contract, 0.0, (2 + 0.16 * usual) * draws.normal()))
    return np.where(usual > 0, np.clip(hours, np.where(occupation == _STUDENT, 0, 4), 90), 0).astype(np.int64)


def _visits(draws: Draws, age: Numbers, diagnosis: Codes) -> Codes:
    """Visits vary more between people than a Poisson count would."""
    mean = np.array(VISITS)[diagnosis] * (0.7 + 0.006 * age)
    visits: Codes = np.minimum(_geometric(draws, mean / 2) + _geometric(draws, mean / 2), 80)
    return visits


def _geometric(draws: Draws, mean: Numbers) -> Codes:
    """Counts from 0 with the given means."""
    counts: Codes = np.floor(np.log(draws.uniform()) / np.log(mean / (1 + mean))).astype(np.int64)
    return counts


def _weights(draws: Draws, region: Codes, urban: Codes, band: Codes) -> Numbers:
    """One weight for each stratum of region and urbanity, calibrated for age: the young answer least."""
    strata = (len(REGIONS), len(URBAN))
    design = 700 + 900 * draws.uniform(strata[0] * strata[1]).reshape(strata)
    weights: Numbers = np.round(design[region, urban] * np.array([1.35, 1.2, 1.0, 0.9, 0.8, 0.95])[band], 2)
    return weights


def _gaps(draws: Draws, occupation: Codes, wealth: Codes) -> tuple[Mask, Mask]:
    """Where income and where education is missing: mostly where there is something to be silent about."""
    silent = np.where(occupation == _SELF_EMPLOYED, 0.5, 1.0) / (1 + np.log10(1 + wealth / 10_000))
    # Taking a fixed number of the most silent keeps the promise about patterns for every seed.
    order = np.argsort(draws.uniform() * silent, kind="stable")
    no_income, no_education = np.zeros(draws.n, dtype=bool), np.zeros(draws.n, dtype=bool)
    start = 0
    for part, masks in zip(_GAPS, ((no_income, no_education), (no_education,), (no_income,)), strict=True):
        count = int(part * draws.n)
        if count < _FEWEST:
            continue
        for mask in masks:
            mask[order[start : start + count]] = True
        start += count
    return no_income, no_education
