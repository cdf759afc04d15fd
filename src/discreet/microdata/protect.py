"""The public verbs `protect`, from a frame or a file to a verified release, and `plan`, which only tries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

    from discreet.measures.choices import Asked
    from discreet.microdata.planning import Plan
    from discreet.release.release import Release


@shows_progress
@takes(ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
def protect(
    data: Any,
    *,
    k: int | None = None,
    grouping: Any = None,
    labels: Any = None,
    split_households: int | None = None,
    method: str | Callable[..., Any] | None = None,
    params: Mapping[str, Any] | None = None,
    target: str | None = None,
    bound: bool | None = None,
    measures: Asked | None = None,
    previous_release: Any = None,
    previous_row_map: Any = None,
    seeds: int | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[ProtectionKeywords],
) -> Release:
    """Protect microdata so that every combination of its quasi-identifiers is shared by at least k records.

    Records are put into groups of at least k that are alike, and the quasi-identifiers of a group are replaced by one
    value each: the mean, the median or the mode. Confidential values stay with their record, unchanged.

    Parameters
    ----------
    data : path or frame
        The microdata: a file, or a pandas, polars or Arrow frame.
    k : int
        How many records at least must share each combination of the quasi-identifiers.
    grouping : list of lists of str, Grouping or path
        Groups of quasi-identifiers, as `[["age", "income"], ["region"]]`: the records are grouped for each anew, and at
        least k share each combination within a group of columns, not across them; what an intruder who combines them
        finds is always measured. Or what `group` found, or the TOML file it was written to. By default all
        quasi-identifiers are one group.
    labels : array, frame or path
        The group of each record, by position, if the groups were made elsewhere: nothing is searched then. Groups of
        fewer than k records are refused. Of several groups of quasi-identifiers a column for each.
    split_households : int
        Cut households of more members than this into parts, each with a number of its own: sizes that fewer than k
        households have cannot be protected. The promise is of the parts then.
    method : str or callable
        How records are grouped; `discreet methods` lists the methods. By default `memetic`, the best there is. Or a
        function that is given the points and k, and returns the group of each point.
    params : mapping
        Parameters of the method.
    target : {"il", "score"}
        What is minimised: the loss (the default), or the score, the mean of loss and risk. For the score sizes of
        groups from k on are tried first, and the one of the least score is taken.
    bound : bool
        Prove how far from the least possible loss the groups can be at most; it may take minutes.
    measures : str or list of str or callable
        What to measure besides the loss: `fast` (the default: what takes about as long as the protection; linkage is
        estimated on a sample of large data), `all`, `none`, or names as in `measure`. Functions in the list are given
        the original and the release, and return a number or a mapping of names to numbers.
    previous_release : path or frame
        An earlier release of (some of) the same respondents: tells how many records stand in both releases in classes
        that have fewer than k in common. Without its row map, records are linked by values that both release unchanged.
    previous_row_map : path or frame
        The row map of the earlier release, if both were made from the same records; or a file with its column
        release_row and a column of the data that names respondents.
    seeds : int
        Search so many times, with the seeds from `seed` on, and keep what loses least; each takes the time or the steps
        asked for.
    workers : int
        Processes that do these searches side by side; by default one per processor.
    cluster : str
        The address of a Dask scheduler whose workers do them, as tls://host:8786; they must see the current folder.
    executor : concurrent.futures.Executor
        Whatever else does them; its workers must see the current folder.
    progress : callable
        Told the stage and how far along it is, in [0, 1]; in a notebook a bar is shown by default (`False`: none).
    **keywords
        What the columns are, what is promised beside k-anonymity, whether the data is a sample, and how long to search:
        see ColumnKeywords, PromiseKeywords, SamplingKeywords and SearchKeywords.

    Returns
    -------
    Release
        `data`, `labels` (a column for each group of quasi-identifiers, where there are several), `measures`,
        `evidence`, `summary()` and `write(path)`.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> release = discreet.protect(frame, k=3, quasi=["age"], confidential=["ill"])
    >>> release.data["age"].to_list()
    [24.0, 24.0, 24.0, 63.0, 63.0, 63.0]
    """
    from discreet.configuration import load
    from discreet.errors import InputError
    from discreet.microdata.preparation import prepare
    from discreet.microdata.seeds import open_workers
    from discreet.verification.previous import read_previous

    groups = (ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
    columns, promised, sampled, search = sort_keywords(protect, keywords, *groups)
    options = {"k": k, "method": method, "params": params, "target": target, "bound": bound, "measures": measures}
    options |= promised | sampled | {"split_households": split_households, "seeds": seeds}
    tell = progress or silent
    prepared = prepare(data, columns, search, grouping=grouping, labels=labels, tell=tell, **options)
    previous = read_previous(previous_release, previous_row_map, load(search.get("config")).previous)
    several = prepared.settings.seeds
    if several > 1 and (prepared.labels is not None or prepared.checkpoint is not None or prepared.settings.bound):
        raise InputError("several seeds are searched without labels, checkpoint and bound; leave these out, or seeds")
    with open_workers(several, workers, cluster, executor) as where:
        return prepared.choose(tell).release(tell, previous=previous, workers=where)


@shows_progress
@takes(ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
def plan(
    data: Any,
    *,
    k: int | None = None,
    grouping: Any = None,
    labels: Any = None,
    split_households: int | None = None,
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
    split_households : int
        Most members of a household, as in `protect`.
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
        What the columns are, what is promised beside k-anonymity, whether the data is a sample, and how long to search:
        see ColumnKeywords, PromiseKeywords, SamplingKeywords and SearchKeywords.

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

    groups = (ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
    columns, promised, sampled, search = sort_keywords(plan, keywords, *groups)
    options = {"k": k, "method": method, "params": params, "target": target, "bound": bound, "measures": measures}
    options |= promised | sampled | {"split_households": split_households}
    tell = progress or silent
    return lay_out(lambda: prepare(data, columns, search, grouping=grouping, labels=labels, tell=tell, **options))
