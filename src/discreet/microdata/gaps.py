"""What missing values cost: how the gaps are treated, what is lost by it, and whether the other way would lose less."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from discreet.data.attributes import Attribute
from discreet.errors import InputError
from discreet.microdata.classes import AttributeGroup
from discreet.text import count

# With more records even short trials take long, those of methods that run to their end most: then only values are told.
MOST_SEARCHED, MOST_CONSTRUCTED = 100_000, 20_000
# The share of time or steps that a trial takes, and how many steps at least, if there are as many.
TRIAL, LEAST_STEPS = 1 / 10, 8
OTHER_WAY = {"separate": "impute", "impute": "separate"}

Groups = Sequence[AttributeGroup]


class Trials(NamedTuple):
    """How to try another way: divide the records anew, take the loss of a short search; of so many records at most."""

    divide: Callable[[Sequence[Attribute]], Groups]
    search: Callable[[Sequence[Attribute], Groups], float]
    most: int


def tell_gaps(attributes: Sequence[Attribute], groups: Groups, trials: Trials | None = None) -> list[str]:
    """What missing values cost as they are treated and as they might be: in values, and in loss if that can be tried.

    Parameters
    ----------
    attributes : sequence of Attribute
        The quasi-identifiers.
    groups : sequence of AttributeGroup
        Their groups, with the classes of records.
    trials : Trials, optional
        How to try the other way.
    """
    gaps = {attribute.name: int(np.isnan(attribute.values).sum()) for attribute in attributes}
    apart, filled = (
        sum(gaps[attribute.name] for attribute in attributes if attribute.missing == way) for way in OTHER_WAY
    )
    notes = []
    if apart:
        classes = sum(len(group.classes.rows) for group in groups)
        blanked = sum(group.classes.blanked for group in groups)
        notes.append(
            f"{count(apart, 'missing value')} kept apart in {count(classes, 'class', 'classes')} of records: "
            f"{count(blanked, 'value')} blanked for it (impute would blank none and fill {count(apart, 'gap')})"
        )
    if filled:
        notes.append(f"{count(filled, 'missing value')} filled with the aggregate of their column (impute)")
    if notes and trials is not None and len(attributes[0].values) <= trials.most:
        notes[-1] += _compare("impute" if apart >= filled else "separate", attributes, groups, trials)
    return notes


def _compare(way: str, attributes: Sequence[Attribute], groups: Groups, trials: Trials) -> str:
    """The loss with the gaps as they are treated and with the other way, and which is less."""
    turned = [replace(one, missing=OTHER_WAY.get(one.missing, one.missing)) for one in attributes]
    try:
        loss, other = trials.search(attributes, groups), trials.search(turned, trials.divide(turned))
    except InputError:  # patterns of too few records, which cannot be kept apart
        return f"; --missing {way} is not possible"
    advice = f": try --missing {way}" if other < loss else ""
    return f"; after a short search the loss is {loss:.2f} % so, and {other:.2f} % with --missing {way}{advice}"
