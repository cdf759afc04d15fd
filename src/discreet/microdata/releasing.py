"""From a declared data set to a verified release: group, aggregate, verify, measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import PromiseNotKept

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.attributes import Attribute
    from discreet.data.config import Config
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations
    from discreet.microdata.classes import Classes
    from discreet.microdata.settings import Settings
    from discreet.release.release import Release


def declare(dataset: Dataset, said: Config, *, roles: Mapping[str, Any], **types: Any) -> Declarations:
    """Roles and types of all columns, from the call, else from the configuration."""
    from discreet.data.keywords import settle

    return settle(dataset.frame.columns, said, roles=dict(roles), named=dataset.named, hint=dataset.hint, **types)


def read_attributes(dataset: Dataset, declarations: Declarations) -> tuple[list[Attribute], list[str]]:
    """The quasi-identifiers, and what was assumed on the way."""
    from discreet.data.reading import read_attribute

    attributes = []
    assumed: dict[str, list[str]] = {}
    for name in declarations.names("quasi"):
        attribute, assumption = read_attribute(dataset, declarations[name])
        attributes.append(attribute)
        assumed.setdefault(assumption, []).append(name)
    return attributes, [*dataset.notes, *(f"{what}: {', '.join(names)}" for what, names in assumed.items() if what)]


def release_of(
    dataset: Dataset,
    declarations: Declarations,
    attributes: list[Attribute],
    classes: Classes,
    settings: Settings,
    asked: tuple[str, ...],
    notes: list[str],
    tell: Callable[[str, float], None],
    *,
    bound: bool = False,
    checkpoint: Path | None = None,
    start: NDArray[np.int64] | None = None,
) -> Release:
    """Group the records of each class, starting from given groups if there are any; aggregate, verify, measure."""
    import numpy as np

    from discreet.data.embedding import embed
    from discreet.microdata.account import parameters
    from discreet.microdata.aggregate import aggregate, fill
    from discreet.microdata.grouped import group
    from discreet.microdata.judged import judge
    from discreet.microdata.partition import partition_of
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
    points = embedding.points([attribute.values for attribute in kept])
    partition, search, bounded = group(
        points,
        classes,
        settings,
        tell,
        start=start,
        checkpoint=checkpoint,
        bound=bound,
    )
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
    if start is not None:
        measures["start_il"] = partition_of(points, start, settings.k).il
    account = evidence(
        "microdata",
        parameters=parameters(settings, declarations, attributes),
        search=search,
        bound=bounded,
        measures=measures,
        promise=promise.as_dict(),
        verification=verification.as_dict(),
        given=described(dataset.source, dataset.frame.height, dataset.frame.width),
        notes=notes + constant,
    )
    data = dataset.restore(frame, declarations.names("confidential", "by"))
    return Release(data, partition.labels, measures, account, promise, verification, frame, dataset.source)
