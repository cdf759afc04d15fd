"""The public verb `refine`: a better release from one that exists."""

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
    name_identifier,
    sort_keywords,
    takes,
)
from discreet.configuration import load
from discreet.errors import InputError
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.dataset import Dataset
    from discreet.measures.choices import Asked
    from discreet.microdata.classes import Classes
    from discreet.microdata.households import Households
    from discreet.release.release import Release

# A name that no column has.
ROW = "\0row"


@shows_progress
@takes(ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
def refine(
    data: Any,
    release: Any,
    *,
    key: str | None = None,
    row_map: Any = None,
    k: int | None = None,
    method: str | Callable[..., Any] | None = None,
    params: Mapping[str, Any] | None = None,
    bound: bool | None = None,
    split_households: int | None = None,
    measures: Asked | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[ProtectionKeywords],
) -> Release:
    """Make a better release from one that exists, whoever made it; the groups never get worse.

    Records that share all quasi-identifiers in the release are its groups, or households that look alike. They are
    where the search starts, and the new release is made from what it finds, as `protect` would.

    Parameters
    ----------
    data : path or frame
        The microdata: a file, or a pandas, polars or Arrow frame.
    release : path or frame
        The release to start from, with the same names for the quasi-identifiers.
    key : str
        A column that names each record in both; without it, records are compared by position.
    row_map : path or frame
        The row map of the release, instead of a key.
    k : int
        How many records at least must share each combination of the quasi-identifiers; by default as many as in the
        release.
    method : str
        How records are grouped; `discreet methods` lists the methods. By default `memetic`; it must be a search.
    params : mapping
        Parameters of the method.
    bound : bool
        Prove how far from the least possible loss the groups can be at most; it may take minutes.
    split_households : int
        Most members of a household, as in the release.
    measures : str or list of str or callable
        What to measure besides the loss: `fast` (the default: what takes about as long as the protection; linkage is
        estimated on a sample of large data), `all`, `none`, or names as in `measure`.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        What the columns are, what is promised beside k-anonymity, whether the data is a sample, and how long to search:
        see ColumnKeywords, PromiseKeywords, SamplingKeywords and SearchKeywords.

    Returns
    -------
    Release
        `data`, `labels`, `measures`, `evidence`, `summary()` and `write(path)`.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> made = pl.DataFrame({"age": [36, 36, 51, 36, 51, 51], "ill": [0, 1, 0, 1, 1, 0]})
    >>> better = discreet.refine(frame, made, quasi=["age"], confidential=["ill"], steps=5)
    >>> better.data["age"].to_list()
    [24.0, 24.0, 24.0, 63.0, 63.0, 63.0]
    """
    import numpy as np

    from discreet.data.dataset import accept
    from discreet.data.files import read_recorded, record_of
    from discreet.data.generalised import find_suppressed
    from discreet.data.groupings import parse_groups
    from discreet.measures.pair import align, leave_out
    from discreet.microdata.classes import attribute_groups
    from discreet.microdata.households import household_groups, read_households
    from discreet.microdata.options import Settings
    from discreet.microdata.protection import declare, read_attributes, release_of
    from discreet.microdata.solving import choose
    from discreet.recoding.extremes import recode_confidential

    kinds = (ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords)
    columns, promised, sampled, search = sort_keywords(refine, keywords, *kinds)
    config, checkpoint = search.pop("config", None), search.pop("checkpoint", None)
    tell = progress or silent
    said = load(config)
    tell("reading", 0.0)
    dataset = accept(data, "the original", **said.reading)
    if isinstance(release, str | Path) and (output := record_of(Path(release))):
        release = read_recorded(Path(release), output)
    given = accept(release, "the release")
    named = [promised.get(name) or said.options.get(name) for name in ("person", "household")]
    for name in (key, *named):
        if name in dataset.frame.columns:
            columns = name_identifier(name, columns, said)
    declarations = declare(dataset, said, **columns)
    names = declarations.names("quasi")
    if said.grouping is not None and len(parse_groups(said.grouping, names)) > 1:
        raise InputError("refine starts from groups over all quasi-identifiers; leave the grouping out, or use protect")
    if said.options.get("target", "il") != "il":
        raise InputError(
            "refine lowers the loss of the groups that it starts from; leave the target out, or use protect"
        )
    absent = [name for name in names if name not in given.frame.columns]
    if absent:
        raise InputError(f"{given.name}: there is no column '{absent[0]}'; a release must have all quasi-identifiers")
    rows, _ = align(dataset, given, names, key=key, row_map=row_map)
    suppressed = find_suppressed(given, names)
    if suppressed.all():
        raise InputError(f"{given.name}: all of its records are suppressed; there is nothing to refine")
    dataset, kept = leave_out(dataset, data, rows, suppressed)
    start = _groups(given, names)[rows[kept]]
    by_names = declarations.names("by")
    if by_names:  # the same values in two strata are two groups
        strata = _groups(dataset, by_names)
        start = np.unique(start * (strata.max() + 1) + strata, return_inverse=True)[1].astype(np.int64)
    households = None
    if named[1] is not None:
        most = split_households or said.options.get("split_households")
        households = read_households(dataset, named[1], by_names, most)
    if k is None and "k" not in said.options:
        k = int(_sizes(start, households).min())
        if k < 2:
            raise InputError(
                f"{given.name}: a record in it shares its quasi-identifiers with no other, so it has no groups to "
                "start from; name the k you want and use protect"
            )
    settings = Settings.settle(
        said,
        k=k,
        missing=columns.get("missing"),
        method=method,
        params=params,
        bound=bound,
        split_households=split_households,
        measures=measures,
        **promised,
        **sampled,
        **search,
    )
    chosen, optimiser = choose(settings.method, settings.params)
    if not optimiser.searches:
        raise InputError(
            f"the method {chosen} does not start from given groups; leave the method out, or name a search"
        )
    dataset, recoded = recode_confidential(dataset, declarations, settings.k)
    attributes, notes = read_attributes(dataset, declarations, settings.k, settings.sampling_weight)
    if households is None:
        groups = attribute_groups(dataset, attributes, [names], by_names, settings.k)
    else:
        groups = household_groups(dataset, attributes, [names], by_names, settings.k, households)
        notes += households.notes()
    return release_of(
        dataset,
        declarations,
        attributes,
        groups,
        settings,
        [*notes, *recoded],
        tell,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        start=_within(start, groups[0].classes, settings.k, given, households),
        households=households,
    )


def _groups(data: Dataset, names: list[str]) -> NDArray[np.int64]:
    """The group of each row: rows that share the values of these columns; a missing value equals a missing value."""
    import numpy as np
    import polars as pl

    groups = data.frame.select(names).with_row_index(ROW).group_by(names, maintain_order=True).agg(pl.col(ROW))
    listed = groups.select(ROW).with_row_index("group").explode(ROW)
    labels = np.empty(data.frame.height, np.int64)
    labels[listed[ROW].to_numpy()] = listed["group"].to_numpy()
    return labels


def _sizes(start: NDArray[np.int64], households: Households | None) -> NDArray[np.int64]:
    """The sizes of groups, in records or in households that look alike."""
    import numpy as np

    return np.bincount(start if households is None else households.group(start)[households.firsts])


def _within(
    start: NDArray[np.int64], classes: Classes, k: int, release: Dataset, households: Households | None
) -> NDArray[np.int64]:
    """The groups, each within its class; refused where one is then smaller than k."""
    from discreet.microdata.given import cut

    labels = cut(start, classes)
    sizes = _sizes(labels, households)
    if sizes.min() < k:
        unit = "records" if households is None else "households"
        raise InputError(
            f"{release.name}: {int((sizes < k).sum()):,} of its {len(sizes):,} groups have fewer than k = {k} {unit} "
            "within their stratum and pattern of missing values; choose a smaller k, or use protect"
        )
    return labels
