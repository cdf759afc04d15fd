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

# With more records even one more search takes long, that of methods that run to their end most: then only values are
# told. The ways are compared after as many steps as the release had, or so many for each record; no clock is asked.
MOST_SEARCHED, MOST_CONSTRUCTED, MOST_WORK = 100_000, 20_000, 300_000
# The other way is tried for this share of the steps first, and for so many at least.
FIRST_SHARE, LEAST_STEPS = 1 / 10, 8
# It is advised where it loses less by more than this share of the loss reached.
WORTH_TELLING = 1 / 10
OTHER_WAY = {"separate": "impute", "impute": "separate"}

Groups = Sequence[AttributeGroup]


class Trials(NamedTuple):
    """How to try another way, and what this one has reached.

    Parameters
    ----------
    divide : callable
        Divides the records anew.
    search : callable
        The loss after so many steps; none where the search was broken off.
    steps : int
        The steps of this way; 0 of a construction.
    reached : callable
        The loss of this way after so many of its steps.
    """

    divide: Callable[[Sequence[Attribute]], Groups]
    search: Callable[[Sequence[Attribute], Groups, int], float | None]
    steps: int
    reached: Callable[[int], float]


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
    if notes and trials is not None:
        notes[-1] += _compare("impute" if apart >= filled else "separate", attributes, groups, trials)
    return notes


def _compare(way: str, attributes: Sequence[Attribute], groups: Groups, trials: Trials) -> str:
    """The loss of both ways after as many steps, if the other one may be worth while; and whether it is."""
    turned = [replace(one, missing=OTHER_WAY.get(one.missing, one.missing)) for one in attributes]
    least = WORTH_TELLING * trials.reached(trials.steps)
    steps = min(trials.steps, max(LEAST_STEPS, MOST_WORK // len(attributes[0].values)))
    first = min(steps, max(LEAST_STEPS, int(steps * FIRST_SHARE)))
    try:
        divided = trials.divide(turned)
        other = trials.search(turned, divided, first)
        if first < steps and other is not None:
            if trials.reached(first) - other <= least:
                return ""
            other = trials.search(turned, divided, steps)
        loss = trials.reached(steps) if steps == trials.steps else trials.search(attributes, groups, steps)
    except InputError:  # patterns of too few records, which cannot be kept apart
        return f"; --missing {way} is not possible"
    if other is None or loss is None:
        return ""
    effort = f"after {steps:,} {'step' if steps == 1 else 'steps'} " if steps else ""
    advice = f": try --missing {way}" if loss - other > least else ""
    return f"; {effort}the loss is {loss:.2f} % so, and {other:.2f} % with --missing {way}{advice}"
