"""The measures of a protection that has just been made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute, Values
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations

# In the worst case a search looks at every record: so many coordinates take about a second on one core.
COORDINATES, LEAST = 45_000_000_000, 2_000


def judge(
    dataset: Dataset,
    declarations: Declarations,
    attributes: Sequence[Attribute],
    released: Sequence[Values],
    asked: Sequence[str],
    tell: Callable[[str, float], None],
) -> dict[str, Any]:
    """The loss, always, and the measures asked for, with the choices they depend on."""
    from dataclasses import asdict

    from discreet.data.reading import read_confidential
    from discreet.measures.choices import Choices
    from discreet.measures.judge import Judge
    from discreet.measures.pair import Pair

    held = declarations.names("confidential") if {"l", "t"} & set(asked) else []
    columns = (read_confidential(dataset, declarations[name]) for name in held)
    confidential = tuple(column for column in columns if column is not None)
    pair = Pair(tuple(attributes), tuple(released), confidential)
    affordable = max(LEAST, COORDINATES // max(1, pair.records * sum(axis.width for axis in pair.embedding.axes)))
    # A sample of most records saves little.
    choices = Choices(sample=affordable if affordable < pair.records / 2 else None)
    return Judge(pair, choices, tell).measure(dict.fromkeys(("il", *asked))) | {"choices": asdict(choices)}
