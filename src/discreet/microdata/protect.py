"""The public verb `protect`: from a frame or a file to a verified release."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import PromiseNotKept

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations
    from discreet.microdata.classes import Classes
    from discreet.microdata.settings import Settings
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
    method: str | None = None,
    params: Mapping[str, Any] | None = None,
    config: str | Path | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
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
    method : str
        How records are grouped; `discreet methods` lists the methods. By default the best for the size of the data.
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
        Threads to use; the release does not depend on it.
    measures : str or list of str
        What to measure besides the loss: `fast` (the default: what takes about as long as the protection; linkage is
        estimated on a sample of large data), `all`, `none`, or names as in `measure`.
    progress : callable
        Told the stage and how far along it is, in [0, 1].

    Returns
    -------
    Release
        `data`, `labels`, `measures`, `evidence`, `summary()` and `write(path)`.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> release = discreet.protect(frame, k=3, quasi=["age"], confidential=["ill"])
    >>> release.data["age"].to_list()
    [24.0, 24.0, 24.0, 63.0, 63.0, 63.0]
    """
    from discreet.data.config import Config, load
    from discreet.data.dataset import accept
    from discreet.data.keywords import settle
    from discreet.data.reading import read_attribute
    from discreet.measures.choices import wanted
    from discreet.microdata.classes import split
    from discreet.microdata.settings import Settings

    tell = progress or _silent
    said = Config() if config is None else load(config)
    settings = Settings.settle(
        said, k=k, missing=missing, method=method, params=params, time=time, steps=steps, seed=seed, threads=threads
    )
    asked = () if measures in ("none", ["none"]) else wanted(measures)
    tell("reading", 0.0)
    dataset = accept(data)
    roles = {"quasi": quasi, "confidential": confidential, "identifier": identifier, "by": by, "ignore": ignore}
    declarations = settle(
        dataset.frame.columns,
        said,
        roles=roles,
        numeric=numeric,
        nominal=nominal,
        ordinal=ordinal,
        date=date,
        weights=weights,
        aggregate=aggregate,
        digits=digits,
        missing=missing,
        named=dataset.named,
        hint=dataset.hint,
    )
    attributes = []
    assumed: dict[str, list[str]] = {}
    for name in declarations.names("quasi"):
        attribute, assumption = read_attribute(dataset, declarations[name])
        attributes.append(attribute)
        assumed.setdefault(assumption, []).append(name)
    notes = [*dataset.notes, *(f"{what}: {', '.join(names)}" for what, names in assumed.items() if what)]
    classes = split(dataset, attributes, declarations.names("by"), settings.k)
    return _release(dataset, declarations, attributes, classes, settings, asked, notes, tell)


def _release(
    dataset: Dataset,
    declarations: Declarations,
    attributes: list[Attribute],
    classes: Classes,
    settings: Settings,
    asked: tuple[str, ...],
    notes: list[str],
    tell: Callable[[str, float], None],
) -> Release:
    """Group, aggregate, verify and measure."""
    import numpy as np

    from discreet.data.embedding import embed
    from discreet.microdata.account import parameters
    from discreet.microdata.aggregate import aggregate, fill
    from discreet.microdata.grouped import group
    from discreet.microdata.judged import judge
    from discreet.release.evidence import described, evidence
    from discreet.release.release import Release
    from discreet.verification.anonymity import check
    from discreet.verification.promise import Promise

    embedding, constant = embed(attributes)
    kept = [
        replace(
            attribute,
            values=fill(attribute)
            if attribute.missing == "impute"
            else np.where(classes.blank[:, column], np.nan, attribute.values),
        )
        for column, attribute in enumerate(attributes)
    ]
    partition, search = group(embedding.points([attribute.values for attribute in kept]), classes, settings, tell)
    released = [attribute.as_written(aggregate(attribute, partition.labels)) for attribute in kept]
    by = declarations.names("by")
    names = declarations.names("quasi", "confidential", "by")
    frame = dataset.frame.select(names).with_columns(
        # Zero and minus zero are one stratum, but two texts.
        *(column.set(column == 0.0, 0.0) for column in dataset.frame.select(by) if column.dtype.is_float()),
        *(attribute.column(values) for attribute, values in zip(attributes, released, strict=True)),
    )
    promise = Promise(settings.k, (tuple(attribute.name for attribute in attributes),), tuple(by))
    tell("verifying", 0.0)
    verification = check(frame, promise)
    if not verification:
        raise PromiseNotKept(f"the release is refused. {verification.words()}")
    sizes = partition.sizes
    measures = judge(dataset, declarations, attributes, released, asked, tell) | {
        "partition_il": partition.il,
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "blanked": classes.blanked,
    }
    account = evidence(
        "microdata",
        parameters=parameters(settings, declarations, attributes),
        search=search,
        measures=measures,
        promise=promise.as_dict(),
        verification=verification.as_dict(),
        given=described(dataset.source, dataset.frame.height, dataset.frame.width),
        notes=notes + constant,
    )
    data = dataset.restore(frame, declarations.names("confidential", "by"))
    return Release(data, partition.labels, measures, account, promise, verification, frame, dataset.source)


def _silent(_stage: str, _fraction: float) -> None:
    """Listen to nothing."""
