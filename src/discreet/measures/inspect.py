"""The public verb `inspect`: what a file holds and how risky it is, before anything is decided."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import Names, TypeKeywords, as_names, sort_keywords, takes
from discreet.configuration import load
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    from discreet.measures.inspection import Inspection


@shows_progress
@takes(TypeKeywords)
def inspect(
    data: Any,
    *,
    quasi: Names = None,
    config: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[TypeKeywords],
) -> Inspection:
    """Look at microdata before anything is decided: what its columns are, and how easily its records are told apart.

    Each column is counted (levels, gaps, values that nobody shares) and a role is proposed with its reason. Proposals
    are for you to decide on; nothing is applied. No value of a respondent is shown.

    Parameters
    ----------
    data : path or frame
        The microdata: a file, or a pandas, polars or Arrow frame.
    quasi : list of str
        The quasi-identifiers, for the risk. By default those of the configuration, or else those that are proposed.
    numeric : list of str
        Columns whose values are numbers, where the data would say otherwise.
    nominal : list of str
        Columns whose values are categories without order, also where they are numbers.
    ordinal : mapping of str to list of str
        Columns whose values are ordered categories, each with its order from lowest to highest.
    date : list of str
        Columns whose values are dates.
    coarsen : mapping of str to str
        Columns to look at as if they were coarsened, as in `protect`: prefix:2, icd.hrc:2 or width:5.
    config : path
        A TOML file of a protection, for roles, types and how the file is read; what the call gives wins.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        Types of columns: see TypeKeywords.

    Returns
    -------
    Inspection
        `columns`, `risk`, `risk_by_column`, `summary()` to read, `toml()` for a configuration to review, and
        `as_dict()` for JSON.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 23, 25, 61, 61, 66], "town": list("aabccc")})
    >>> found = discreet.inspect(frame)
    >>> [column.levels for column in found.columns]
    [4, 3]
    >>> print(found.columns[0].proposal.role)
    quasi
    >>> found.risk[2], found.risk[3]
    (2, 6)
    """
    from discreet.data.dataset import accept
    from discreet.measures.inspection import look

    said = load(config)
    types = sort_keywords(inspect, keywords, TypeKeywords)[0]
    tell = progress or silent
    tell("reading", 0.0)
    dataset = accept(data, **said.reading)
    return look(dataset, said, as_names("quasi", quasi), types, tell)
