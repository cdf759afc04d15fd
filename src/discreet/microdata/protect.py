"""The public verb `protect`: from a frame or a file to a verified release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.release.release import Release

    Names = str | Sequence[str]


def protect(
    data: Any,
    *,
    k: int | None = None,
    quasi: Names | None = None,
    confidential: Names | None = None,
    identifier: Names | None = None,
    by: Names | None = None,
    ignore: Names | None = None,
    numeric: Names | None = None,
    nominal: Names | None = None,
    ordinal: Mapping[str, Sequence[str] | None] | Sequence[str] | None = None,
    date: Names | None = None,
    weights: Mapping[str, float] | None = None,
    aggregate: Mapping[str, str] | None = None,
    digits: Mapping[str, int] | None = None,
    missing: str | None = None,
    grouping: Any = None,
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    bound: bool = False,
    checkpoint: str | Path | None = None,
    measures: Names = "fast",
    progress: Callable[[str, float], None] | None = None,
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
    quasi : list of str
        Columns an intruder may know: they are protected. `all` stands for those with no other role.
    confidential : list of str
        Columns to be released unchanged. `rest` stands for those with no other role.
    identifier : list of str
        Columns that identify directly, such as names: they are not released.
    by : list of str
        Columns that divide the data into strata, released unchanged; each stratum is protected on its own.
    ignore : list of str
        Further columns that are not released. `rest` stands for those with no other role.
    numeric : list of str
        Columns whose values are numbers, where the data would say otherwise.
    nominal : list of str
        Columns whose values are categories without order, also where they are numbers.
    ordinal : mapping of str to list of str
        Columns whose values are ordered categories, each with its order from lowest to highest.
    date : list of str
        Columns whose values are dates.
    weights : mapping of str to float
        How much a quasi-identifier counts when records are compared; 1 where nothing is said.
    aggregate : mapping of str to str
        What replaces the values of a group: `mean` (numbers and dates), `median` (also ordinals) or `mode` (any).
    digits : mapping of str to int
        Decimal digits to round a column's aggregates to; 0 keeps whole numbers whole.
    missing : {"separate", "impute", "error"}
        Group records within their pattern of missing values (the default); fill missing values with the aggregate of
        their column first; or refuse them.
    grouping : list of lists of str, Grouping or path
        Groups of quasi-identifiers, as `[["age", "income"], ["region"]]`: the records are grouped for each anew, and at
        least k share each combination within a group of columns, not across them; what an intruder who combines them
        finds is always measured. Or what `group` found, or the TOML file it was written to. By default all
        quasi-identifiers are one group.
    method : str
        How records are grouped; `discreet methods` lists the methods. By default `memetic`, the best there is.
    params : mapping
        Parameters of the method.
    config : path
        A TOML file with any of these settings; what the call gives wins.
    time : float
        Seconds of search, 10 by default. Methods that are no search run to their end.
    steps : int
        Steps of search instead of a time: the same steps and seed give the same release.
    seed : int
        Seed of every random choice, 0 by default.
    threads : int
        Threads to use, by default one per processor; with the same steps the release does not depend on it.
    bound : bool
        Prove how far from the least possible loss the groups can be at most; it may take minutes.
    checkpoint : path
        A file in which the search is kept; if it exists already, the search goes on from it. Internal.
    measures : str or list of str
        What to measure besides the loss: `fast` (the default: what takes about as long as the protection; linkage is
        estimated on a sample of large data), `all`, `none`, or names as in `measure`.
    progress : callable
        Told the stage and how far along it is, in [0, 1].

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
    from discreet.columns import Config, load
    from discreet.data.dataset import accept
    from discreet.data.groupings import given_groups
    from discreet.measures.choices import wanted
    from discreet.microdata.classes import attribute_groups
    from discreet.microdata.options import Settings
    from discreet.microdata.protection import declare, read_attributes, release_of

    tell = progress or _silent
    said = Config() if config is None else load(config)
    settings = Settings.settle(
        said, k=k, missing=missing, method=method, params=params, time=time, steps=steps, seed=seed, threads=threads
    )
    asked = () if measures in ("none", ["none"]) else wanted(measures)
    tell("reading", 0.0)
    dataset = accept(data)
    declarations = declare(
        dataset,
        said,
        roles={"quasi": quasi, "confidential": confidential, "identifier": identifier, "by": by, "ignore": ignore},
        numeric=numeric,
        nominal=nominal,
        ordinal=ordinal,
        date=date,
        weights=weights,
        aggregate=aggregate,
        digits=digits,
        missing=missing,
    )
    names = declarations.names("quasi")
    groups = (
        given_groups(said.grouping, names, f"{config}: grouping") if grouping is None else given_groups(grouping, names)
    )
    attributes, notes = read_attributes(dataset, declarations)
    return release_of(
        dataset,
        declarations,
        attributes,
        attribute_groups(dataset, attributes, groups, declarations.names("by"), settings.k),
        settings,
        asked,
        notes,
        tell,
        bound=bound,
        checkpoint=None if checkpoint is None else Path(checkpoint),
    )


def _silent(_stage: str, _fraction: float) -> None:
    """Listen to nothing."""
