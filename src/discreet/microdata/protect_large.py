"""The public verb `protect_large`: from files that need not fit into memory to a folder of verified parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import (
    ColumnKeywords,
    PromiseKeywords,
    ProtectionKeywords,
    SamplingKeywords,
    SearchKeywords,
    sort_keywords,
    takes,
)
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from discreet.microdata.large.driver import LargeRelease


@shows_progress
@takes(ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
def protect_large(
    data: str | Path,
    output: str | Path,
    *,
    k: int | None = None,
    grouping: Any = None,
    split_households: int | None = None,
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    block_records: int | None = None,
    workers: int | None = None,
    memory: int | str | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    reading: Mapping[str, Any] | None = None,
    row_map: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[ProtectionKeywords],
) -> LargeRelease:
    """Protect microdata that is in many files, or larger than memory, into a folder of parts.

    The records are scattered by space into blocks, each is protected and verified on its own, and the whole release is
    sorted, recounted and sealed. A run that was ended anywhere goes on when it is started again in the same way.

    Parameters
    ----------
    data : path
        A folder or a pattern of Parquet, CSV or Arrow files that have the same columns, or one such file.
    output : path
        The folder to be made: parts and `release.json`, publishable as they are. `OUTPUT.evidence.json`, internal, and
        while it goes on the folder `OUTPUT.work` appear beside it.
    k : int
        How many records at least must share each combination of the quasi-identifiers.
    grouping : list of lists of str, Grouping or path
        Groups of quasi-identifiers, as in `protect`.
    split_households : int
        Most members of a household, as in `protect`.
    method : str
        How records are grouped within a block; `memetic` by default.
    params : mapping
        Parameters of the method.
    block_records : int
        About how many records a block has, a million by default: larger ones lose less and take more memory.
    workers : int
        Processes that work side by side, by default one per processor as far as memory allows; the release does not
        depend on it.
    memory : int or str
        How much memory all processes together may take, in bytes or as 8GB; half of what is free by default.
    cluster : str
        The address of a Dask scheduler whose workers do the work, as tls://host:8786; they must see the same files.
    executor : concurrent.futures.Executor
        Whatever else does the work; its workers must see the same files.
    reading : mapping
        How CSV files are read: delimiter, encoding, decimal, header.
    row_map : path
        Also write a folder of internal files, one for each part, that link each row of the release to its record in the
        input, counted through all files.
    force : bool
        Replace a folder that exists already.
    time : float
        Seconds of search in each block, 10 by default: the largest block is searched so long, and all others for as
        many steps.
    steps : int
        Steps of search in each block instead of a time: the same steps and seed give the same release.
    threads : int
        Not used: each worker computes on one thread.
    checkpoint : path
        Not used: the work folder is one.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        What the columns are, what is promised beside k-anonymity, whether the data is a sample, and how long to search:
        see ColumnKeywords, PromiseKeywords, SamplingKeywords and SearchKeywords. Not for large data is recoding on the
        way in.

    Returns
    -------
    LargeRelease
        `folder`, `measures`, `evidence`, `verification` and `summary()`.

    Examples
    --------
    >>> import discreet
    >>> release = discreet.protect_large("claims/", "release", k=5, quasi=["age", "income"])  # doctest: +SKIP
    """
    from discreet.data.memory import parse_size
    from discreet.microdata.large.driver import BLOCK_RECORDS, protect_parts

    groups = (ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
    columns, promised, sampled, search = sort_keywords(protect_large, keywords, *groups)
    search = {name: value for name, value in search.items() if name != "threads"}
    return protect_parts(
        data,
        Path(output),
        columns,
        search,
        {"k": k, "method": method, "params": params, "split_households": split_households, **promised, **sampled},
        reading=reading or {},
        block_records=BLOCK_RECORDS if block_records is None else block_records,
        workers=workers,
        memory=None if memory is None else parse_size(memory),
        cluster=cluster,
        executor=executor,
        grouping=grouping,
        row_map=None if row_map is None else Path(row_map),
        force=force,
        tell=progress or silent,
    )
