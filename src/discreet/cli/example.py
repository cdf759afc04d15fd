"""`discreet example`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal


def example(
    name: Literal["companies", "survey", "sme"],
    folder: Path,
    /,
    *,
    records: int | None = None,
    seed: int = 1,
    force: bool = False,
) -> int:
    """Write an example data set with the declarations of its columns, to try things on.

    Parameters
    ----------
    name
        companies: a business register; survey: persons in households; sme: the 11 companies of the 2008 paper.
    folder
        Where to write it; made if it is not there.
    records
        How many records; as many as is usual for the example by default.
    seed
        The same seed gives the same data.
    force
        Replace files that exist already.
    """
    from discreet.cli.progress import Reporter
    from discreet.data.examples import make

    with Reporter() as report:
        report("writing", 0.0)
        paths = make(name, folder, n=records, seed=seed, force=force)
    for path in paths:
        print(path, file=sys.stderr)
    return 0
