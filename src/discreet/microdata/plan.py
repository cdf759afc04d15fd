"""The public verb `plan`: what a protection would do, and what it would take, without doing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import ColumnKeywords, ProtectionKeywords, SearchKeywords, sort_keywords, takes
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    from discreet.measures.choices import Asked
    from discreet.microdata.planning import Plan


@shows_progress
@takes(ColumnKeywords, SearchKeywords)
def plan(
    data: Any,
    *,
    k: int | None = None,
    grouping: Any = None,
    labels: Any = None,
    method: str | Callable[..., Any] | None = None,
    params: Mapping[str, Any] | None = None,
    target: str | None = None,
    bound: bool | None = None,
    measures: Asked | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[ProtectionKeywords],
) -> Plan:
    """Try out a protection without protecting: roles, promise, whether it can be kept, memory and time.

    Takes what `protect` takes, reads the data, and refuses what `protect` would refuse; nothing is searched or written.

    Parameters
    ----------
    data : path or frame
        The microdata: a file, or a pandas, polars or Arrow frame.
    k : int
        How many records at least must share each combination of the quasi-identifiers.
    grouping : list of lists of str, Grouping or path
        Groups of quasi-identifiers, as in `protect`.
    labels : array, frame or path
        The group of each record, if the groups were made elsewhere, as in `protect`.
    method : str or callable
        How records are grouped; `memetic` by default.
    params : mapping
        Parameters of the method.
    target : {"il", "score"}
        What is to be minimised.
    bound : bool
        Whether a bound is to be proven.
    measures : str or list of str or callable
        What is to be measured.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        What the columns are, and how long to search: see ColumnKeywords and SearchKeywords.

    Returns
    -------
    Plan
        `promise`, `parameters`, `memory` in bytes, `seconds`, `notes`, and `summary()` to read.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> print(discreet.plan(frame, k=3, quasi=["age"], confidential=["ill"]).promise.words())
    every value of the quasi-identifier occurs at least 3 times
    """
    from discreet.microdata.planning import lay_out
    from discreet.microdata.preparation import prepare

    columns, search = sort_keywords(plan, keywords, ColumnKeywords, SearchKeywords)
    options = {"k": k, "method": method, "params": params, "target": target, "bound": bound, "measures": measures}
    tell = progress or silent
    return lay_out(lambda: prepare(data, columns, search, grouping=grouping, labels=labels, tell=tell, **options))
