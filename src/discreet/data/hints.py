"""Kinds of columns that a statistical file declares itself, by measurement levels and value labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.data.source import Source

Hints = dict[str, tuple[str, tuple[str, ...] | None, str]]


def declared_kinds(source: Source) -> Hints:
    """Columns that the file says are nominal or ordinal: name → (kind, order, why).

    A measurement level of nominal or ordinal is a declaration. So are value labels for all codes that occur: the mean
    of labelled codes would be a code without a label.
    """
    if source.labels is None:
        return {}
    hints: Hints = {}
    for name, labels in source.labels.values.items():
        if name in source.frame.columns and _covered(source, name, set(labels)):
            hints[name] = (
                "nominal",
                None,
                "the labels that all its codes have (declare it numeric or ordinal if it is not)",
            )
    for name, level in source.labels.measures.items():
        if level in ("nominal", "ordinal") and source.frame.schema.get(name) is not None:
            if level == "ordinal" and not source.frame.schema[name].is_numeric():
                continue  # the file gives no order of texts
            hints[name] = (level, None, "its measurement level in the file")
    return hints


def _covered(source: Source, name: str, codes: set[object]) -> bool:
    present = source.frame[name].drop_nulls().unique().to_list()
    return bool(present) and all(value in codes for value in present)
