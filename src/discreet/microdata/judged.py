"""The measures of a protection that has just been made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute, Values
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations

# Above so many records linkage takes longer than the protection does, and so many of them are asked instead.
LARGE, SAMPLE = 200_000, 20_000


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
    choices = Choices(sample=SAMPLE if dataset.frame.height > LARGE else None)
    values = Judge(Pair(tuple(attributes), tuple(released), confidential), choices, tell).measure(
        dict.fromkeys(("il", *asked))
    )
    return values | {"choices": asdict(choices)}
