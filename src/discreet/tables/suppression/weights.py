"""What cells cost, what they count in a search, and what a bound of the one says of the other."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from discreet.attack.system import Floats, Ints
from discreet.data.attributes import read_attribute
from discreet.data.dataset import accept
from discreet.data.roles import Declaration
from discreet.errors import InputError
from discreet.tables.manual import read_cells
from discreet.tables.primary import COSTS, costs
from discreet.tabular.table import Table


def named_cells(table: Table, said: Any, what: str) -> Ints | None:
    """Cells that are named in a list."""
    if said is None:
        return None
    try:
        return read_cells(table, said).cells
    except InputError as error:
        raise InputError(f"{what}: {error}") from None


def weights(table: Table, given: Any, cost: str | None, prefer: Any, avoid: Any) -> tuple[Floats, Floats]:
    """What each cell costs, and what it counts in the search: less or more where it is preferred or avoided."""
    weight = table.cost.copy()
    if cost is not None:
        weight = costs(table, cost) if cost in COSTS else _column(table, given, cost)
    base = weight.copy()
    for cells, factor in ((named_cells(table, prefer, "prefer"), 0.01), (named_cells(table, avoid, "avoid"), 100.0)):
        if cells is not None:
            weight[cells] *= factor
    if not (weight >= 0).all():
        raise InputError(f"{table.source}: costs must be numbers of at least 0")
    # A cell that costs nothing would be suppressed without a reason: everything costs a little.
    least = float(weight[weight > 0].min(initial=1.0))
    return base, np.where(weight > 0, weight, least * 1e-3)


def _column(table: Table, given: Any, name: str) -> Floats:
    """Costs out of a column of the table's own file."""
    known = f"cost must be one of {', '.join(COSTS)}, or a column of the table's file"
    if not isinstance(given, str | Path) or Path(given).suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{known}, which only a .csv or .parquet file has; not {name!r}")
    dataset = accept(given)
    if name not in dataset.frame.columns or dataset.frame.height != len(table):
        raise InputError(f"{known}; {dataset.name} has no column {name!r}")
    values = read_attribute(dataset, Declaration(name, kind="numeric"))[0].values
    return np.nan_to_num(values, nan=-1.0)


def bound_of(value: float | None, base: Floats, weight: Floats, cost: float) -> dict[str, Any] | None:
    """What a search has proven, with the gap in percent, of the cost itself.

    Parameters
    ----------
    value : float, optional
        The bound of the search, which is one of weights.
    base, weight : arrays of float
        What the cells that may be suppressed cost, and what they counted in the search.
    cost : float
        What the pattern costs.
    """
    if value is None or not math.isfinite(value):
        return None
    # Cells that cost nothing had a little weight, and a cell to avoid more than it costs.
    free = base == 0
    share = float((base[~free] / weight[~free]).min(initial=1.0))
    value = max(0.0, share * (value - float(weight[free].sum())))
    if (base == np.rint(base)).all():
        # So is the cost of every pattern.
        value = float(math.ceil(value - 1e-6 * max(1.0, value)))
    if cost <= value + 1e-6 * max(1.0, cost):
        # But for rounding they meet.
        return {"value": cost, "gap": 0.0, "method": "Benders cuts"}
    return {"value": value, "gap": 100.0 * (cost - value) / cost, "method": "Benders cuts"}
