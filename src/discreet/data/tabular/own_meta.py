"""What a table file says of the table besides its cells: dimensions with their hierarchies, linked parts, relations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.data.tabular.dimension import Dimension
from discreet.data.tabular.hierarchy import Hierarchy
from discreet.data.tabular.relations import Part, Relations, built
from discreet.data.tabular.table import Table
from discreet.errors import InputError

SCHEMA = "discreet/table/1"
_INTERNAL = "holds confidential values; not for publication"


@dataclass(frozen=True)
class Described:
    """What is known of a table before its cells are read."""

    dimensions: tuple[Dimension, ...] = ()
    parts: tuple[Part, ...] = ()
    relations: Relations | None = None
    response: str | None = None
    decimals: int | None = None
    has_decimals: bool = False
    rules: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the dimensions."""
        return [one.name for one in self.dimensions]


def as_json(table: Table) -> bytes:
    """The metadata of a table."""
    said: dict[str, Any] = {
        "internal": _INTERNAL,
        "schema": SCHEMA,
        "response": table.response,
        "decimals": table.decimals,
        "dimensions": [_dimension_said(one) for one in table.dimensions],
        "parts": [[[axis, list(ways)] for axis, ways in part] for part in table.parts],
        "rules": dict(table.rules),
        "notes": list(table.notes),
    }
    if not table.dimensions:
        relations = table.relations
        said["relations"] = {
            "starts": relations.starts.tolist(),
            "cells": relations.cells.tolist(),
            "coefficients": relations.coefficients.tolist(),
            "rhs": relations.rhs.tolist(),
            "n": relations.n,
        }
    return (json.dumps(said, ensure_ascii=False, default=_plain) + "\n").encode()


def described(name: str, data: bytes) -> Described:
    """What the metadata in a file of this name say."""
    try:
        said = json.loads(data)
    except (ValueError, RecursionError):
        raise InputError(f"{name}: what the table is cannot be read; it is no JSON. Write the table again") from None
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise InputError(f"{name}: the schema is not {SCHEMA}; the file is of another kind or a newer version")
    try:
        dimensions = tuple(_dimension(one) for one in said["dimensions"])
        if len({one.name for one in dimensions}) < len(dimensions):
            raise InputError("two dimensions have the same name; rename one of them")
        return Described(
            dimensions,
            _parts(said.get("parts", ()), dimensions),
            _relations(said["relations"]) if "relations" in said else None,
            _of(said.get("response"), str),
            _of(said.get("decimals"), int),
            "decimals" in said,
            _of(said.get("rules"), dict) or {},
            tuple(str(note) for note in said.get("notes") or ()),
        )
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError):
        raise InputError(
            f"{name}: what the table is is incomplete or contradicts itself; write the table again"
        ) from None


def _dimension_said(dimension: Dimension) -> dict[str, Any]:
    return {
        "name": dimension.name,
        "missing": sorted(dimension.missing),
        "hierarchies": [
            {"source": one.source, "total": one.total, "codes": list(one.codes), "parents": one.parents.tolist()}
            for one in dimension.hierarchies
        ],
    }


def _dimension(said: Mapping[str, Any]) -> Dimension:
    hierarchies = [Hierarchy(one["codes"], one["parents"], one.get("source", "")) for one in said["hierarchies"]]
    if not isinstance(said["name"], str):
        raise TypeError
    return Dimension(said["name"], hierarchies, said.get("missing", ()))


def _parts(said: Any, dimensions: tuple[Dimension, ...]) -> tuple[Part, ...]:
    parts = tuple(tuple((int(axis), tuple(map(int, ways))) for axis, ways in part) for part in said)
    for part in parts:
        for axis, ways in part:
            if not 0 <= axis < len(dimensions) or not set(ways) <= set(range(len(dimensions[axis].hierarchies))):
                raise ValueError
    return parts


def _of(held: Any, kind: type) -> Any:
    if held is not None and not isinstance(held, kind):
        raise TypeError
    return held


def _relations(said: Mapping[str, Any]) -> Relations:
    starts, cells = np.array(said["starts"], dtype=np.int64), np.array(said["cells"], dtype=np.int32)
    coefficients, rhs = np.array(said["coefficients"], dtype=np.float64), np.array(said["rhs"], dtype=np.float64)
    n = int(said["n"])
    regular = (
        len(starts) == len(rhs) + 1
        and starts[0] == 0
        and starts[-1] == len(cells) == len(coefficients)
        and bool((np.diff(starts) >= 0).all())
        and bool(((cells >= 0) & (cells < n)).all())
    )
    if not regular:
        raise ValueError
    rows = np.repeat(np.arange(len(rhs), dtype=np.int32), np.diff(starts))
    return built(rows, cells, coefficients, rhs, n)


def _plain(held: Any) -> Any:
    """Numpy's numbers as JSON has them."""
    return held.tolist() if isinstance(held, np.generic | np.ndarray) else str(held)
