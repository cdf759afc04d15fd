"""Measures of the user's own: functions of the original and its release, reported beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values
from discreet.data.dataset import Dataset
from discreet.data.files.csv import assign_types
from discreet.errors import InputError
from discreet.measures.choices import Own

# A mapping within a mapping within a mapping.
MOST_NESTED = 3


def show(
    dataset: Dataset,
    attributes: Sequence[Attribute],
    released: Sequence[Values] | None = None,
    rows: NDArray[np.int64] | None = None,
) -> Any:
    """Data as a measure is given it: the kind of frame that came in; of a text file a polars frame with numbers.

    Parameters
    ----------
    dataset : Dataset
        The data.
    attributes : sequence of Attribute
        The quasi-identifiers of the original.
    released : sequence of arrays, optional
        Their values in the release, if `dataset` is one.
    rows : array of int, optional
        The rows in the order to be shown.
    """
    if not dataset.textual:
        native = nw.from_native(dataset.restore(dataset.frame, dataset.frame.columns), eager_only=True)
        return (native if rows is None else nw.maybe_reset_index(native[rows.tolist()])).to_native()
    frame = dataset.frame if rows is None else dataset.frame[rows]
    # As they came in: not coarsened, not rounded.
    fine = [replace(attribute.fine or attribute, digits=None) for attribute in attributes]
    columns = (
        [attribute.column(attribute.values) for attribute in fine]
        if released is None
        else [attribute.column(values) for attribute, values in zip(attributes, released, strict=True)]
    )
    return assign_types(frame.with_columns(columns), dataset.decimal)


def take_own(measures: Sequence[Own], original: Any, released: Any) -> dict[str, Any]:
    """The values of some measures, and under `own` their names."""
    values = {one.name: _plain(one.name, one.function(original, released)) for one in measures}
    return values | {"own": list(values)}


def _plain(name: str, value: Any, depth: int = 0) -> Any:
    """A value as JSON has it: a number, or a mapping of names to numbers; NaN is no value."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping) and depth < MOST_NESTED:
        return {str(key): _plain(name, each, depth + 1) for key, each in value.items()}
    raise InputError(
        f"the measure {name} must return a number or a mapping of names to numbers, not {type(value).__name__}"
    )
