"""Reports for tests: data to report on, and charts that are their own descriptions, so that pages are quick to make."""

import json
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

# Longer than a chart is.
DRAWN = 7_000
ROLES: dict[str, Any] = {"quasi": ["age", "income", "town"], "confidential": ["ill"], "identifier": ["id"]}


def spell(chart: Any, _name: str) -> Markup:
    """A chart as all that is handed to the library that draws, which may tell no more than that; as long as a chart."""
    plain = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    return Markup("<svg>{}</svg>").format(f"{json.dumps(plain, ensure_ascii=False):<{DRAWN}}")


def survey(records: int = 60, seed: int = 0) -> pl.DataFrame:
    """Persons with an age, an income and a town."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": [f"id{i}" for i in range(records)],
            "age": rng.integers(18, 80, records),
            "income": np.round(rng.lognormal(10, 1, records), 2),
            "town": rng.choice(["Oak", "Elm", "Ash"], records),
            "ill": rng.choice(["yes", "no"], records),
        }
    )
