"""The numeric data sets on which the field compares its methods, with the attributes that the literature uses."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import polars as pl

from discreet.experiments.records import reference
from discreet.microdata.method import Points

# Of EIA's 15 columns the literature uses 11: the utility's number, and its revenue and sales.
SOME = {"eia": ("ID", "REVENUE", "SALES")}


@lru_cache(maxsize=8)
def literature(name: str) -> pl.DataFrame:
    """Read a data set: `census`, `tarragona` or `eia`.

    Parameters
    ----------
    name : str
        Its name; the file is `microdata/NAME.csv` of the reference data. A file that is not there is an error that says
        where it was looked for.
    """

    frame = pl.read_csv(reference(f"microdata/{name}.csv"))
    endings = SOME.get(name, ("",))
    return frame.select(pl.col(column).cast(pl.Float64) for column in frame.columns if column.endswith(endings))


def standardised(values: Points) -> Points:
    """Z-scores, with the standard deviation of the papers (ddof 0)."""

    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))
