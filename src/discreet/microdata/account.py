"""What the evidence says of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute
    from discreet.data.roles import Declarations
    from discreet.microdata.settings import Settings


def parameters(
    settings: Settings, declarations: Declarations, attributes: list[Attribute], groups: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """Everything that was asked for, with the defaults that filled the gaps."""
    by_name = {attribute.name: attribute for attribute in attributes}
    columns: dict[str, dict[str, Any]] = {}
    for said in declarations.columns:
        columns[said.name] = {"role": said.role}
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
    return {
        "k": settings.k,
        "missing": settings.missing,
        "method": settings.method,
        "params": dict(settings.params),
        "time": settings.time,
        "steps": settings.steps,
        "seed": settings.seed,
        "threads": settings.threads,
        "grouping": [list(group) for group in groups],
        "columns": columns,
    }
