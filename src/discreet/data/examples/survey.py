"""A survey of people who never were: students, retired, self-employed and the rest, with money, health and gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.examples import population as people
from discreet.data.examples.draws import Draws, dates, label, number

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

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
    import numpy as np
    import polars as pl

    draws = Draws(n, seed)
    region = draws.choose([part for part, _ in people.REGIONS.values()])
    urban = draws.choose([odds for _, odds in people.REGIONS.values()], region)
    age = np.interp(draws.uniform(), people.YOUNGER, people.AGES)
    band = np.searchsorted(people.BANDS, age, side="right")
    # Women live longer: the odds of the last two bands.
    male = draws.uniform() < np.array([0.51, 0.5, 0.5, 0.49, 0.46, 0.39])[band]
    # A degree takes its years, and nobody marries as a child.
    education = np.minimum(draws.choose(people.EDUCATION_ODDS, band), 1 + np.searchsorted(people.DEGREES, age))
    occupation = _occupation(draws, band, education, urban)
    marital = np.where(age < people.OF_AGE, 0, draws.choose(people.MARITAL_ODDS, band))
    income, wealth = _money(draws, age, male, education, occupation, urban)
    diagnosis = draws.choose(people.DIAGNOSIS_ODDS, band)
    household = _household(draws, band, marital)
    hours = _hours(draws, occupation)
    visits = _visits(draws, age, diagnosis)
    weight = _weights(draws, region, urban, band)
    no_income, no_education = _gaps(draws, occupation, wealth)
    return pl.DataFrame(
        {
            "person_id": number("P", np.arange(1, n + 1), 8),
            "region": label(region, list(people.REGIONS)),
            "urban": label(urban, list(people.URBAN)),
            "sex": label(male.astype(np.int64), list(people.SEXES)),
            "birth_date": dates(np.floor(_ASKED - 365.25 * age).astype(np.int64)),
            "household_size": household,
            "education": label(education, list(people.EDUCATION)).set(pl.Series(no_education), None),
            "occupation": label(occupation, [one.name for one in people.OCCUPATIONS]),
            "marital": label(marital, list(people.MARITAL)),
            "income": pl.Series(income).set(pl.Series(no_income), None),
            "wealth": wealth,
            "hours": hours,
            "diagnosis": label(diagnosis, list(people.DIAGNOSES)),
            "visits": visits,
            "weight": weight,
        }
    )


def _usual(name: str) -> Numbers:
    """One property of all occupations."""
    import numpy as np

    return np.array([getattr(occupation, name) for occupation in people.OCCUPATIONS])


def _occupation(draws: Draws, band: Codes, education: Codes, urban: Codes) -> Codes:
    """What somebody does depends on age, schooling and place; the odds are tabulated for each combination."""
    import numpy as np

    by_age = np.array([one.odds for one in people.OCCUPATIONS]).T
    by_schooling = np.exp(np.outer(np.arange(len(people.EDUCATION)) - 2.0, _usual("schooling")))
    # Nobody farms in the city.
    by_place = np.ones((len(people.URBAN), len(people.OCCUPATIONS)))
    by_place[:, -1] = 0.0, 0.5, 4.0
    odds = by_age[:, None, None, :] * by_schooling[None, :, None, :] * by_place[None, None, :, :]
    kind = (band * len(people.EDUCATION) + education) * len(people.URBAN) + urban
    return draws.choose(odds.reshape(-1, len(people.OCCUPATIONS)), kind)


def _money(
    draws: Draws, age: Numbers, male: Mask, education: Codes, occupation: Codes, urban: Codes
) -> tuple[Codes, Codes]:
    """Income is lognormal with a Pareto tail; wealth more skewed still, growing with income and age, often nothing."""
    import numpy as np

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
    import numpy as np

    couple = (marital == 1) | (marital == 2)
    others = np.where(
        couple, np.array([0.5, 1.1, 1.5, 0.6, 0.15, 0.1])[band], np.array([2.0, 0.6, 0.6, 0.4, 0.2, 0.2])[band]
    )
    return np.where(couple, 2, 1) + np.minimum(_geometric(draws, others), 6)


def _hours(draws: Draws, occupation: Codes) -> Codes:
    """Hours a week: half of the employed have the usual contract, the others more or less."""
    import numpy as np

    usual = _usual("hours")[occupation]
    contract = (draws.uniform() < 0.5) & (occupation > _SELF_EMPLOYED)
    hours = np.rint(usual + np.where(contract, 0.0, (2 + 0.16 * usual) * draws.normal()))
    return np.where(usual > 0, np.clip(hours, np.where(occupation == _STUDENT, 0, 4), 90), 0).astype(np.int64)


def _visits(draws: Draws, age: Numbers, diagnosis: Codes) -> Codes:
    """Visits vary more between people than a Poisson count would."""
    import numpy as np

    mean = np.array(people.VISITS)[diagnosis] * (0.7 + 0.006 * age)
    visits: Codes = np.minimum(_geometric(draws, mean / 2) + _geometric(draws, mean / 2), 80)
    return visits


def _geometric(draws: Draws, mean: Numbers) -> Codes:
    """Counts from 0 with the given means."""
    import numpy as np

    counts: Codes = np.floor(np.log(draws.uniform()) / np.log(mean / (1 + mean))).astype(np.int64)
    return counts


def _weights(draws: Draws, region: Codes, urban: Codes, band: Codes) -> Numbers:
    """One weight for each stratum of region and urbanity, calibrated for age: the young answer least."""
    import numpy as np

    strata = (len(people.REGIONS), len(people.URBAN))
    design = 700 + 900 * draws.uniform(strata[0] * strata[1]).reshape(strata)
    weights: Numbers = np.round(design[region, urban] * np.array([1.35, 1.2, 1.0, 0.9, 0.8, 0.95])[band], 2)
    return weights


def _gaps(draws: Draws, occupation: Codes, wealth: Codes) -> tuple[Mask, Mask]:
    """Where income and where education is missing: mostly where there is something to be silent about."""
    import numpy as np

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
