"""The invented people of the survey: how region, age, work, schooling and health hang together."""

from __future__ import annotations

from dataclasses import dataclass

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
