"""What the evidence says of the input and of the parameters."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute
    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations
    from discreet.microdata.settings import Settings


def parameters(settings: Settings, declarations: Declarations, attributes: list[Attribute]) -> dict[str, Any]:
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
        "columns": columns,
    }


def given(dataset: Dataset) -> dict[str, Any]:
    """What came in."""
    from discreet.data.digest import sha256

    source = dataset.source
    return {
        "file": source.path.name if source else None,
        "format": source.format if source else "frame",
        "sha256": sha256(source.path) if source else None,
        "records": dataset.frame.height,
        "columns": dataset.frame.width,
        "dialect": asdict(source.dialect) if source and source.dialect else None,
    }
