"""From a declared data set to a verified release: group, aggregate, verify, measure, and give an account of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.columns import ColumnKeywords, resolve
from discreet.configuration import Config
from discreet.data.attributes import Attribute, Values, read_confidential
from discreet.data.dataset import Dataset, Packed
from discreet.data.embedding import Embedding, embed
from discreet.data.files.csv import assign_types
from discreet.data.memory import give_back
from discreet.data.profile import BEWARE, find_units, warn_of_revealing
from discreet.data.roles import RECODINGS, Declarations
from discreet.data.rows import read_persons, read_weights
from discreet.errors import InputError, PromiseNotKept, suggest
from discreet.listening import LISTENERS, announce_moment
from discreet.measures.choices import JUDGED
from discreet.measures.contributions import contributions
from discreet.measures.judge import Judge, show, take_own
from discreet.measures.loss import information_loss
from discreet.measures.pair import Pair
from discreet.measures.risk import attribute_disclosure
from discreet.microdata.aggregate import aggregate, fill
from discreet.microdata.classes import AttributeGroup, attribute_groups, blanks
from discreet.microdata.gaps import MOST_CONSTRUCTED, MOST_SEARCHED, Trials, tell_gaps
from discreet.microdata.households import Households, household_groups, number_households
from discreet.microdata.members import solve_households
from discreet.microdata.method import describe_params
from discreet.microdata.options import Settings
from discreet.microdata.promises import Constraints, check_possible, constraints_of
from discreet.microdata.records import Records, records_of
from discreet.microdata.seeds import Workers, solve_best
from discreet.microdata.solving import Partition, View, adopt, choose, solve
from discreet.plugins import name_of
from discreet.recoding.extremes import as_it_came, is_recoded, read_recoded
from discreet.release.evidence import describe_distributions, describe_input, evidence
from discreet.release.release import Release
from discreet.text import count, silent
from discreet.verification.confidential import Scale, parse_l, parse_t
from discreet.verification.previous import Previous, intersect
from discreet.verification.promise import Promise, check


def declare(dataset: Dataset, said: Config, **columns: Unpack[ColumnKeywords]) -> Declarations:
    """Roles and types of all columns, from the call, else from the configuration."""
    return resolve(dataset.frame.columns, said, hint=dataset.hint, **columns)


def read_attributes(
    dataset: Dataset, declarations: Declarations, k: int = 2, sampling_weight: str | None = None
) -> tuple[list[Attribute], list[str]]:
    """The quasi-identifiers, and what was assumed on the way."""
    attributes = []
    weights = None if sampling_weight is None else read_weights(dataset, sampling_weight)
    assumed: dict[str, list[str]] = {}
    for name in declarations.names("quasi"):
        attribute, assumption = read_recoded(dataset, declarations[name], k)
        # The plain mean of the weights themselves keeps their sum.
        attributes.append(attribute if name == sampling_weight else replace(attribute, sampling=weights))
        assumed.setdefault(assumption, []).append(name)
    assumptions = [f"{what}: {', '.join(names)}" for what, names in assumed.items() if what]
    return attributes, [*dataset.notes, *declarations.notes, *assumptions, *warn_of_revealing(dataset, declarations)]


def release_of(
    dataset: Dataset,
    declarations: Declarations,
    attributes: list[Attribute],
    groups: Sequence[AttributeGroup],
    settings: Settings,
    notes: list[str],
    tell: Callable[[str, float], None],
    *,
    checkpoint: Path | None = None,
    start: NDArray[np.int64] | None = None,
    labels: Sequence[NDArray[np.int64]] | None = None,
    households: Households | None = None,
    compare_gaps: bool = True,
    previous: Previous | None = None,
    workers: Workers | None = None,
) -> Release:
    """Group the records of each class for each group of attributes; aggregate, verify, measure.

    Households, if there are any, are grouped as wholes. Groups of records to start from are for a single group of
    attributes; labels, one array for each group of attributes, are groups that nothing is searched for. Of households
    both say how members look. The ways to treat missing values are compared by short searches if that is asked for.
    """
    named = tuple(tuple(attributes[column].name for column in group.columns) for group in groups)
    promise, persons = promise_of(dataset, declarations, settings, named)
    by = list(promise.by)
    constraints = None
    if labels is None:
        constraints = constraints_of(dataset, declarations, promise, persons, households)
    if constraints is not None:
        check_possible(dataset, groups, constraints)
    kept, views, constant = _lay_out(attributes, groups, constraints)
    say = _say_loss(attributes, kept) if LISTENERS else None
    # A release is measured against the numbers as they came in.
    came = [as_it_came(attribute) for attribute in attributes]
    chosen: list[str] = []
    if workers is not None and labels is None:
        solution, chosen = solve_best(views, settings, workers, tell, are_households=households is not None)
    elif households is not None:
        looks = labels if start is None else [start]
        solution = solve_households(
            views, settings, tell, checkpoint=checkpoint, looks=looks, is_given=labels is not None, say=say
        )
    elif labels is None:
        solution = solve(
            views,
            settings,
            tell,
            start=None if start is None else [start],
            checkpoint=checkpoint,
            bound=settings.bound,
            say=say,
        )
    else:
        solution = adopt(views, labels, settings, tell)
    released = _released(kept, groups, solution.partitions)
    started = float("nan")
    if solution.start is not None:
        before = _released(kept, groups, solution.start)
        started = information_loss(came, before)[0]
        # Medians and digits are not what a search counts: what it found may lose more once they are written.
        if solution.start_keeps and _counted(came, before) < _counted(came, released):
            solution, released = solution.stay(), before
    if LISTENERS:
        # A search counts centroids and filled gaps: the last that is told of it is the loss of what will be written.
        bound = None if solution.bound is None else solution.bound["value"]
        steps, seconds = solution.search["steps"], solution.search["seconds"]
        announce_moment(steps, seconds, information_loss(came, released)[0], bound)
    names = declarations.names("quasi", "confidential", "by")
    frame = dataset.frame.select(names).with_columns(
        # Zero and minus zero are one stratum, but two texts.
        *(column.set(column == 0.0, 0.0) for column in dataset.frame.select(by) if column.dtype.is_float()),
        *(attribute.column(values) for attribute, values in zip(attributes, released, strict=True)),
    )
    # Of a million records they are a tenth of the memory.
    del kept, views
    give_back(frame.height)
    # A release knows its file, but does not hold the original records: only their types.
    source = None if dataset.source is None else replace(dataset.source, frame=dataset.source.frame.clear())
    if households is not None:
        if source is not None and source.labels is not None:
            # A label of an old number, the name of a family perhaps, must not stand beside a new one.
            source = replace(source, labels=source.labels.forget(households.name))
        at = [name for name in dataset.frame.columns if name in (*names, households.name)].index(households.name)
        frame.insert_column(at, pl.Series(households.name, number_households(frame, households)))
    tell("verifying", 0.0)
    verification = check(frame, promise, persons=persons, decimal=dataset.decimal)
    if not verification:
        raise PromiseNotKept(f"the release is refused. {verification.words()}")
    sizes = np.concatenate([partition.sizes for partition in solution.partitions])
    asked = tuple(cast("Sequence[str]", settings.measures))
    if len(groups) > 1:
        # Nothing is promised across groups: what an intruder who combines them finds is always told.
        asked = (*asked, "dld")
    weights = None if settings.sampling_weight is None else read_weights(dataset, settings.sampling_weight)
    told = [name for name in asked if name != "ad"]
    home = {column: number for number, group in enumerate(groups) for column in group.columns}
    grouped = [solution.partitions[home[column]].labels for column in range(len(came))]
    measures = judge(dataset, declarations, came, released, told, tell, weights) | {
        "contributions": contributions(came, released, grouped),
        "partition_il": solution.il,
        "groups": len(sizes),
        "smallest_group": int(sizes.min()),
        "largest_group": int(sizes.max()),
        "blanked": sum(group.classes.blanked for group in groups),
    }
    if households is not None:
        measures |= households.counts()
    if "ad" in asked and (held := declarations.names("confidential")):
        measures["ad"] = attribute_disclosure(frame.select(declarations.names("quasi", "by")), frame.select(held))
    if previous is not None:
        measures["previous"] = intersect(
            previous,
            frame,
            dataset,
            declarations.names("quasi", "by"),
            declarations.names("confidential", "by"),
            settings.k,
        )
    # A float of a stratum may have been minus zero.
    held = [name for name in declarations.names("confidential") if not is_recoded(declarations[name])]
    untouched = [*held, *(name for name in by if not frame.schema[name].is_float())]
    data = dataset.restore(frame, untouched, [] if households is None else [households.name])
    if settings.own:
        tell("measuring", 0.0)
        shown = assign_types(frame, dataset.decimal) if dataset.textual else data
        measures |= take_own(settings.own, show(dataset, came), shown)
    if solution.start is not None:
        measures["start_il"] = started
    account = evidence(
        "microdata",
        parameters=parameters(settings, declarations, attributes, promise.groups),
        search=solution.search,
        bound=solution.bound,
        measures=measures,
        promise=promise.as_dict(),
        verification=verification.as_dict(),
        given=describe_input(dataset.source, dataset.frame.height, dataset.frame.width)
        | describe_distributions(dataset.frame, promise, dataset.decimal),
        notes=notes
        + chosen
        + _warn_of_weights(frame, declarations, settings)
        + _warn_of_units(frame, dataset, declarations, promise)
        + constant
        + _tell_gaps(
            dataset,
            attributes,
            groups,
            by,
            settings,
            constraints,
            households,
            # What began from given groups has done more than its steps.
            solution.search if compare_gaps and labels is None and start is None else None,
            measures["il"],
        ),
    )
    found = [partition.labels for partition in solution.partitions]
    return Release(
        data,
        found[0] if len(found) == 1 else np.column_stack(found),
        measures,
        account,
        promise,
        verification,
        frame,
        source,
        settings.order,
        persons,
        (Packed.of(dataset), declarations),
    )


def _warn_of_weights(frame: pl.DataFrame, declarations: Declarations, settings: Settings) -> list[str]:
    """What released sampling weights give away: those that are unique in their class tell its records apart."""
    name = settings.sampling_weight
    if name is None or declarations[name].role != "confidential":
        return []
    keys = [frame[key].alias(str(place)) for place, key in enumerate(declarations.names("by", "quasi"))]
    pairs = pl.DataFrame([*keys, frame[name].alias("weight")])
    alone = pairs.group_by(pl.all()).len("records").filter(pl.col("records") == 1).height
    return [
        f"{BEWARE}the sampling weights '{name}' are released unchanged: {100 * alone / frame.height:.0f} % of the "
        "records have one that is unique in their class, and whoever knows it finds the record"
    ]


def _warn_of_units(frame: pl.DataFrame, dataset: Dataset, declarations: Declarations, promise: Promise) -> list[str]:
    """What the promise leaves open where a column that is left out names persons with several records, or households.

    Told is in how many of the classes that are released there are fewer than k of them.
    """
    if promise.person is not None or promise.household is not None:
        return []
    told = []
    for name in find_units(dataset, declarations):
        units = (
            dataset.frame[name].rank("dense").fill_null(-pl.int_range(dataset.frame.height, eager=True).cast(pl.Int64))
        )
        classes = records = below = 0
        for group in promise.groups:
            keys = [frame[key].alias(str(place)) for place, key in enumerate((*promise.by, *group))]
            found = pl.DataFrame([*keys, units.alias("unit")]).group_by([key.name for key in keys])
            sizes = found.agg(pl.col("unit").n_unique(), pl.len().alias("records"))
            few = sizes.filter(pl.col("unit") < promise.k)
            classes, below, records = classes + sizes.height, below + few.height, records + int(few["records"].sum())
        if below:
            levels = dataset.frame[name].drop_nulls().n_unique()
            told.append(
                f"{BEWARE}'{name}' is left out, and its {levels:,} values repeat in {frame.height:,} records: if it "
                f"says whose a record is, {below:,} of {count(classes, 'class', 'classes')} "
                f"({count(records, 'record')}) are of fewer than k = {promise.k} of them; --person {name} asks for k "
                f"persons in each, --household {name} for k households that look alike"
            )
    return told


def promise_of(
    dataset: Dataset, declarations: Declarations, settings: Settings, groups: tuple[tuple[str, ...], ...]
) -> tuple[Promise, pl.Series | None]:
    """What is promised of a release, and whose each record is, where persons have several; refused where it makes no
    sense."""
    by = tuple(declarations.names("by"))
    diverse, close = parse_l(settings.l), parse_t(settings.t)
    promise = Promise(settings.k, groups, by, diverse, close, settings.person, settings.household)
    known = [said.name for said in declarations.columns]
    scales = {}
    for name in dict.fromkeys(said.column for said in promise.held):
        if name not in known or declarations[name].role != "confidential":
            role = f"it is {declarations[name].role}" if name in known else f"there is none{suggest(name, known)}"
            raise InputError(f"{dataset.name}: l and t are promised of confidential columns; of '{name}' {role}")
        attribute = read_confidential(dataset, declarations[name])
        scales[name] = Scale() if attribute is None else Scale.of(attribute, declarations[name].na)
    if settings.household is not None and declarations[settings.household].role not in ("identifier", "ignore"):
        raise InputError(
            f"column '{settings.household}' says which records are one household, and released as "
            f"{declarations[settings.household].role} it would be no new number; name it as identifier"
        )
    if settings.person is None:
        return promise.with_scales(scales), None
    persons = read_persons(dataset, settings.person)
    if declarations[settings.person].role not in ("identifier", "ignore"):
        raise InputError(
            f"column '{settings.person}' says whose a record is, and released as {declarations[settings.person].role} "
            "it would bring together what was kept apart; name it as identifier"
        )
    return promise.with_scales(scales), persons


def _lay_out(
    attributes: Sequence[Attribute], groups: Sequence[AttributeGroup], constraints: Constraints | None
) -> tuple[list[Attribute], list[View], list[str]]:
    """The attributes as they are grouped, the records of each group of them, and which attributes carry nothing."""
    embedding, constant = embed(attributes)
    records = len(attributes[0].values)
    embedding.check_memory(records)
    blank = blanks(groups, records)
    kept = [_keep(attribute, blank[:, column]) for column, attribute in enumerate(attributes)]
    views = [View(_records(embedding, kept, group.columns), group.classes, constraints) for group in groups]
    return kept, views, constant


def _say_loss(attributes: Sequence[Attribute], kept: Sequence[Attribute]) -> Callable[[float], float]:
    """What the cost of groups is as a loss in percent: with the values that are blanked, of the variance of all."""
    axes = embed(attributes)[0].axes
    blanked, whole = 0.0, 0.0
    for axis, attribute, own in zip(axes, attributes, kept, strict=True):
        lost = attribute.values[np.isnan(own.values) & ~np.isnan(attribute.values)]
        blanked += axis.sums(lost, np.full(len(lost), np.nan))[0]
        whole += attribute.weight * np.count_nonzero(~np.isnan(attribute.values)) if axis.width else 0.0
    return lambda cost: 100.0 * (cost + blanked) / whole if whole > 0 else 0.0


def _released(
    kept: Sequence[Attribute], groups: Sequence[AttributeGroup], partitions: Sequence[Partition]
) -> list[Values]:
    """The values that will be written, by the groups of records that were found."""
    home = {column: number for number, group in enumerate(groups) for column in group.columns}
    return [
        attribute.round_values(aggregate(attribute, partitions[home[column]].labels))
        for column, attribute in enumerate(kept)
    ]


def _tell_gaps(
    dataset: Dataset,
    attributes: Sequence[Attribute],
    groups: Sequence[AttributeGroup],
    by: list[str],
    settings: Settings,
    constraints: Constraints | None,
    households: Households | None,
    search: Mapping[str, Any] | None,
    loss: float,
) -> list[str]:
    """What missing values cost, as they are treated; after a search that can be repeated as they might be, too."""
    searches = search is not None and choose(settings.method, settings.params)[1].searches
    if (
        search is None
        or search["stopped"] == "interrupted"
        or dataset.frame.height > (MOST_SEARCHED if searches else MOST_CONSTRUCTED)
    ):
        return tell_gaps(attributes, groups)
    names = [[attributes[column].name for column in group.columns] for group in groups]

    def try_out(attributes: Sequence[Attribute], groups: Sequence[AttributeGroup], steps: int) -> float | None:
        if constraints is not None:
            check_possible(dataset, groups, constraints)
        kept, views, _ = _lay_out(attributes, groups, constraints)
        short = replace(settings, steps=max(1, steps), measures="none", own=(), bound=False, seeds=1)
        found = (solve if households is None else solve_households)(views, short, silent)
        if found.search["stopped"] == "interrupted":
            return None
        return information_loss(attributes, _released(kept, groups, found.partitions))[0]

    def reached(steps: int) -> float:
        earlier = [cost for step, _, cost in search["trace"] if step <= steps]
        last = search["trace"][-1][2] if search["trace"] else 0.0
        return loss * earlier[-1] / last if earlier and last > 0 else loss

    def divide(turned: Sequence[Attribute]) -> Sequence[AttributeGroup]:
        if households is None:
            return attribute_groups(dataset, turned, names, by, settings.k)
        return household_groups(dataset, turned, names, by, settings.k, households)

    return tell_gaps(attributes, groups, Trials(divide, try_out, search["steps"], reached))


def _keep(attribute: Attribute, blank: NDArray[np.bool_]) -> Attribute:
    """The attribute as it is grouped and released: filled, or without the values that have to be blanked."""
    if attribute.missing == "impute":
        return replace(attribute, values=fill(attribute))
    return replace(attribute, values=np.where(blank, np.nan, attribute.values)) if blank.any() else attribute


def _counted(attributes: Sequence[Attribute], released: Sequence[Values]) -> float:
    """The loss that is minimised: by distances in hierarchies, where any were given."""
    return information_loss(attributes, released, by_hierarchy=True)[0]


def _records(embedding: Embedding, attributes: Sequence[Attribute], columns: Sequence[int]) -> Records:
    """The records in the space of some of the attributes."""
    axes = tuple(embedding.axes[column] for column in columns)
    return records_of(replace(embedding, axes=axes), [attributes[column].values for column in columns])


# What can be asked for beside k.
FURTHER = ("l", "t", "person", "household", "split_households", "sampling_weight")

# In the worst case a search looks at every record: so many coordinates take about a second on one core.
LINKAGE_COORDINATES, LEAST_SAMPLE = 45_000_000_000, 2_000
# How many coordinates a category counts for.
PER_CATEGORY = 3


def judge(
    dataset: Dataset,
    declarations: Declarations,
    attributes: Sequence[Attribute],
    released: Sequence[Values],
    asked: Sequence[str],
    tell: Callable[[str, float], None],
    weights: Values | None = None,
) -> dict[str, Any]:
    """The loss, always, and the measures asked for, with the choices they depend on."""
    held = declarations.names("confidential") if {"l", "t"} & set(asked) else []
    columns = (read_confidential(dataset, declarations[name]) for name in held)
    confidential = tuple(column for column in columns if column is not None)
    pair = Pair(tuple(attributes), tuple(released), confidential, weights)
    # Categories are compared one by one, numbers many at once.
    width = sum(PER_CATEGORY if axis.nominal else axis.width for axis in pair.embedding.axes)
    affordable = max(LEAST_SAMPLE, LINKAGE_COORDINATES // max(1, pair.records * width))
    # A sample of most records saves little.
    choices = replace(JUDGED, sample=affordable if affordable < pair.records / 2 else None)
    return Judge(pair, choices, tell).measure(dict.fromkeys(("il", *asked))) | {"choices": asdict(choices)}


def parameters(
    settings: Settings, declarations: Declarations, attributes: list[Attribute], groups: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Everything that was asked for, with the defaults that filled the gaps."""
    by_name = {attribute.name: attribute for attribute in attributes}
    columns: dict[str, dict[str, Any]] = {}
    for said in declarations.columns:
        recoded = {name: how for name in RECODINGS if (how := getattr(said, name)) is not None}
        columns[said.name] = {"role": said.role} | recoded
        if said.name in by_name:
            attribute = by_name[said.name]
            columns[said.name] |= {
                "type": attribute.kind,
                "weight": attribute.weight,
                "aggregate": attribute.aggregate,
                "missing": attribute.missing,
            }
            columns[said.name] |= {"order": list(said.order)} if said.order else {}
            columns[said.name] |= {} if said.digits is None else {"digits": said.digits}
            files = {name: how for name in ("coarsen", "hierarchy") if (how := getattr(said, name)) is not None}
            columns[said.name] |= {name: Path(how).name for name, how in files.items()}
    return {
        "k": settings.k,
        "missing": settings.missing,
        "method": name_of(settings.method),
        "params": describe_params(settings.params),
        "time": settings.time,
        "steps": settings.steps,
        "seed": settings.seed,
        "threads": settings.threads,
        **{name: value for name in FURTHER if (value := getattr(settings, name))},
        **({"seeds": settings.seeds} if settings.seeds > 1 else {}),
        "grouping": [list(group) for group in groups],
        "columns": columns,
    }
