"""Where the data sets of the literature are; they are not part of this package."""

from __future__ import annotations

import os
from pathlib import Path

from discreet.errors import InputError

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
