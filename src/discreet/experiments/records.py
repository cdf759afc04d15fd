"""Records that studies work on: a user's own, and data sets of the literature, which are not part of this package."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from discreet.columns import ColumnKeywords
from discreet.configuration import load
from discreet.data.dataset import accept
from discreet.data.embedding import embed
from discreet.errors import InputError, whole
from discreet.microdata.method import Points
from discreet.microdata.protection import declare, read_attributes


def records(data: Any, *, k: int, config: Path | None = None, **columns: Unpack[ColumnKeywords]) -> Points:
    """Read data and embed its quasi-identifiers, as a protection does.

    Parameters
    ----------
    data : path or frame
        The microdata.
    k : int
        Least size of a group; there must be at least 2k records, or nothing is to be chosen.
    config : Path, optional
        A TOML file with roles and types of the columns.
    **columns
        Roles and types of columns. Without quasi-identifiers, and without a configuration, these are all columns that
        have no other role.
    """
    if config is None and columns.get("quasi") is None:
        columns["quasi"] = "all"
    said = load(config)
    dataset = accept(data, **said.reading)
    declarations = declare(dataset, said, **columns)
    attributes, _ = read_attributes(dataset, declarations)
    for attribute in attributes:
        if np.isnan(attribute.values).any():
            rows = np.flatnonzero(np.isnan(attribute.values))
            raise InputError(
                f"{dataset.name}: '{attribute.name}' is missing in {dataset.places(rows)}; a study needs complete "
                "records: leave the column out with --ignore, or the records"
            )
    count = dataset.frame.height
    if count < 2 * whole("k", k, 2):
        raise InputError(f"{dataset.name} has {count} records; with k = {k} a study needs at least {2 * k}")
    points = embed(attributes)[0].points([attribute.values for attribute in attributes])
    if not points.shape[1]:
        raise InputError(f"{dataset.name}: all quasi-identifiers are constant; there is nothing to study")
    return np.ascontiguousarray(points)


VARIABLE = "DISCREET_REFERENCE_DATA"


def reference(name: str) -> Path:
    """Find a file of the reference data.

    Parameters
    ----------
    name : str
        Its path within the reference data, such as `microdata/census.csv`.
    """
    said = os.environ.get(VARIABLE)
    # Beside the project, if it is used from its own folder.
    folder = Path(said) if said else Path(__file__).resolve().parents[4] / "shared" / "data"
    path = folder / name
    if not path.is_file():
        raise InputError(
            f"the reference data set {name} is not here: it was looked for at {path}; name the folder that holds it in "
            f"the environment variable {VARIABLE}"
        )
    return path


# Of EIA's 15 columns the literature uses 11: the utility's number, and its revenue and sales.
USED_COLUMNS = {"eia": ("ID", "REVENUE", "SALES")}


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
    endings = USED_COLUMNS.get(name, ("",))
    return frame.select(pl.col(column).cast(pl.Float64) for column in frame.columns if column.endswith(endings))


def standardise(values: Points) -> Points:
    """Z-scores, with the standard deviation of the papers (ddof 0)."""
    return np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))
