"""The public verb `group`: which quasi-identifiers to protect together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import ColumnKeywords, SearchKeywords, sort_keywords, takes
from discreet.configuration import Config, load
from discreet.errors import InputError, whole
from discreet.listening import shows_progress
from discreet.measures.choices import Choices, LinkageKeywords
from discreet.text import silent

if TYPE_CHECKING:
    from discreet.grouping.result import Grouping
    from discreet.microdata.options import Settings

# Above so many records linkage is estimated on a sample of so many, and `tour` is the partition method.
SAMPLED_ABOVE, SAMPLE = 10_000, 2_000
# Up to so many records a step has the paper's size; above, it has less the more there are, so that it does not last.
FULL_STEP_RECORDS = 2_000
# What may be kept of groups of columns that were met before.
MEGABYTES = 2_000


class GroupingKeywords(ColumnKeywords, LinkageKeywords, SearchKeywords, total=False):
    """The keywords of a grouping."""


@shows_progress
@takes(ColumnKeywords, LinkageKeywords, SearchKeywords, defaults=Choices)
def group(
    data: Any,
    *,
    k: int | Sequence[int] | None = None,
    method: str = "gomm",
    params: Mapping[str, Any] | None = None,
    inner: str | None = None,
    inner_params: Mapping[str, Any] | None = None,
    inner_steps: int | None = None,
    start: str | None = None,
    loss_weight: float = 1.0,
    risk_weight: float = 1.0,
    cache: int = MEGABYTES,
    memory: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[GroupingKeywords],
) -> Grouping:
    """Find out which quasi-identifiers to protect together, so that little is lost and little is risked.

    With many quasi-identifiers, one microaggregation over all of them destroys the data, and one for each protects
    nobody. The groups found here are given to `protect`, which makes the records k-anonymous within each group.

    Parameters
    ----------
    data : path or frame
        The microdata: a file, or a pandas, polars or Arrow frame.
    k : int or list of int
        How many records at least must share each combination of values within a group. Several for the method
        `pareto`, whose front then reaches over all of them.
    quasi : list of str
        Columns an intruder may know: they are grouped. `all` stands for those with no other role.
    identifier : list of str
        Columns that identify directly, such as names.
    by : list of str
        Columns that divide the data into strata; each stratum is protected on its own.
    aggregate : mapping of str to str
        What replaces the values of a group of records: `mean` (numbers and dates), `median` (also ordinals) or `mode`
        (any).
    method : {"gomm", "d-gomm", "pareto"}
        The genetic algorithm of the 2013 paper (the default), its quicker variant that drops idle operators, or a
        search for the whole front of loss and risk. Where there are at most 5,000 groupings all are judged instead.
    params : mapping
        Parameters of the method: `population` (200), `generations` (100), `crossovers` (25), `mutations` (10 of each
        of five), `copies` (20; 1 for pareto), `enumeration`, and of d-gomm `patience` (20). Above 2,000 records all
        but the last and the generations are smaller in proportion by default, so that a step does not last.
    inner : str
        How records are grouped for each group of columns; `discreet methods` lists the methods. By default `mdav`, as
        in the paper, and above 10,000 records `tour`, which takes far less time.
    inner_params : mapping
        Parameters of that method.
    inner_steps : int
        Steps of that method, where it is a search: 10 by default.
    start : {"rivals", "random"}
        Begin with the ad-hoc groupings among random ones (the default), so that the result is never worse than they
        are; or with random ones only, as in the paper.
    loss_weight : float
        How much the information loss counts in the score.
    risk_weight : float
        How much the disclosure risk counts in the score.
    sample : int
        How many records search in linkage: all by default, 2,000 above 10,000 records; always the same ones.
    config : path
        A TOML file of a protection, for roles, types and k; its method is taken for the inner one. What the call gives
        wins.
    time : float
        Seconds of search, 10 by default; the search may be finished before.
    steps : int
        Steps of search instead of a time: the first judges the groupings to begin with, each further one is a
        generation. The same steps and seed give the same grouping.
    threads : int
        Threads to use, by default one per processor; with the same steps the grouping does not depend on it.
    cache : int
        Megabytes for what is kept of groups of columns that were met before.
    memory : int
        The old name of `cache`.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        What the columns are, how linkage is taken, and how long to search: see ColumnKeywords, LinkageKeywords and
        SearchKeywords.

    Returns
    -------
    Grouping
        `groups`, `score`, `il`, `dr`, `front`, `rivals`, `operators`, `trace`, `summary()`, `pick(point)` and
        `write(path)`.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({
    ...     "age": [23, 24, 25, 26, 61, 62, 64, 66, 30, 31, 70, 71],
    ...     "pension": [0, 0, 0, 0, 100, 200, 400, 600, 0, 0, 1000, 1100],
    ...     "height": [171, 183, 160, 172, 182, 161, 159, 175, 180, 164, 166, 178],
    ... })
    >>> found = discreet.group(frame, k=3, quasi="all")
    >>> found.groups, round(found.il, 1), round(found.dr, 1)
    ([['age', 'pension', 'height']], 26.0, 44.4)
    >>> other = found.pick(2)  # of the front: less is lost and more is risked
    >>> other.groups, round(other.il, 1), round(other.dr, 1)
    ([['age', 'height'], ['pension']], 11.3, 62.5)
    >>> release = discreet.protect(frame, k=3, quasi="all", grouping=other, method="mdav")
    """

    from discreet.data.dataset import accept
    from discreet.grouping.objective import Weights
    from discreet.grouping.parts import Inner
    from discreet.grouping.result import Grouping
    from discreet.grouping.search import Plan, account, compile_kernels, search
    from discreet.grouping.space import Space
    from discreet.methods import make
    from discreet.microdata.protection import declare, read_attributes

    columns, linkage, options = sort_keywords(group, keywords, ColumnKeywords, LinkageKeywords, SearchKeywords)
    config, checkpoint = options.pop("config", None), options.pop("checkpoint", None)
    tell = progress or silent
    said = load(config)
    ks = _values_of_k(k, said, method)
    settings = _settings(said, k=ks[0], missing=columns.get("missing"), **options)
    given = dict(params or {}) | ({} if start is None else {"start": start})
    make(method, given, "grouping")
    room = whole("cache", cache if memory is None else memory, 0) * 1_000_000
    score = Weights(loss_weight, risk_weight)
    choices = Choices.of(linkage, settings.seed)
    if choices.interval == "scale":
        raise InputError("a grouping is searched for by one measure of all columns; interval: relative, rank or sd")
    tell("reading", 0.0)
    dataset = accept(data, **said.reading)
    declarations = declare(dataset, said, **columns)
    choices.check_known(declarations.names("quasi"))
    large = dataset.frame.height > SAMPLED_ABOVE
    name = inner or said.options.get("method") or ("tour" if large else "mdav")
    inside = Inner.named(
        name,
        inner_params if inner_params is not None else {} if inner else said.options.get("params", {}),
        inner_steps,
        settings.seed,
    )
    attributes, notes = read_attributes(dataset, declarations)
    space = Space(dataset, tuple(attributes), tuple(declarations.names("by")))
    for each in ks:
        space.strata(each)  # too large a k is told before the search
    given = _shrink_steps(dataset.frame.height, method) | given
    if large:
        choices = _sample_linkage(choices, notes)
    if not any(attribute.kind == "numeric" for attribute in attributes):
        notes.append("no quasi-identifier is numeric: the risk is linkage alone, without interval disclosure")
    plan = Plan(space, ks, method, make(method, given, "grouping"), inside, score, choices, settings)
    tell("compiling", 0.0)
    compile_kernels(space, inside, settings.k)
    kept = None if checkpoint is None else Path(checkpoint)
    found = search(plan, room, lambda share: tell("searching", share), kept)
    return Grouping(
        **asdict(found.best),
        front=found.front,
        hypervolume=found.hypervolume,
        rivals=found.rivals,
        operators=found.operators,
        evidence=account(plan, declarations, found, notes),
    )


def _values_of_k(k: int | Sequence[int] | None, said: Config, method: str) -> list[int]:
    """The values of k, ascending; more than one only where the front reaches over them."""
    given = said.options.get("k") if k is None else k
    if given is None:
        raise InputError("k is missing: say how many records at least must share each combination of values")
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not listed:
        raise InputError("k is an empty list; name at least one")
    ks = sorted({whole("k", each, 2) for each in listed})
    if len(ks) > 1 and method != "pareto":
        raise InputError(f"several k are for the method pareto; give one, not {', '.join(map(str, ks))}")
    return ks


def _settings(said: Config, **given: Any) -> Settings:
    """k, time, steps, seed and threads; what a configuration says of steps and method is about a protection."""

    from discreet.microdata.options import Settings

    kept = {name: value for name, value in said.options.items() if name in ("missing", "time", "seed", "threads")}
    return Settings.settle(replace(said, options=kept), **given)


def _shrink_steps(records: int, method: str) -> dict[str, int]:
    """Population, crossovers, mutations and clones where there are too many records for the paper's."""
    share = max(0.1, FULL_STEP_RECORDS / records)
    usual = {"population": 200, "crossovers": 25, "mutations": 10} | ({} if method == "pareto" else {"copies": 20})
    return {} if share >= 1 else {name: round(share * number) for name, number in usual.items()}


def _sample_linkage(choices: Any, notes: list[str]) -> Any:
    """Linkage on a sample, said so, unless the call has chosen its size."""

    if choices.sample is None:
        notes.append(f"linkage was estimated on {SAMPLE:,} records, always the same ones")
        return replace(choices, sample=SAMPLE)
    return choices
