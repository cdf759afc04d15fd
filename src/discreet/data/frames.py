"""pandas, polars and Arrow frames: in as polars, out as what they were, with types as faithful as can be."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    Restore = Callable[[pl.DataFrame, Collection[str]], Any]


def to_polars(outside: nw.DataFrame[Any]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """A polars frame with NaN as null, and the assumptions that made it so."""
    import narwhals as nw
    import polars as pl
    import polars.selectors as cs

    names = outside.columns
    if len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise InputError(f"column names must be unique; more than once: {', '.join(twice)}")
    wrong = [position for position, name in enumerate(names) if not isinstance(name, str)]
    if wrong:
        raise InputError(f"column names must be texts; the one at position {wrong[0]} is not")
    notes: tuple[str, ...] = ()
    native = outside.to_native()
    if outside.implementation is nw.Implementation.PANDAS:
        if not _plain_index(native):
            notes = ("the index of the frame is left out, since it can identify records; make it a column to keep it",)
        columns = [_column(name, native[name]) for name in names]
        frame = pl.DataFrame(columns)
    elif outside.implementation is nw.Implementation.PYARROW:
        from discreet.data.columnar import to_frame

        frame = to_frame(native, "the frame")
    else:
        frame = outside.to_polars()
    return frame.with_columns(cs.float().fill_nan(None)), notes


def _column(name: str, series: Any) -> pl.Series:
    import polars as pl

    try:
        return pl.Series(pl.from_pandas(series.rename(name), nan_to_null=True))
    except Exception:
        # The library's own message would quote a value.
        raise InputError(
            f"column '{name}' mixes values of several types; convert it to one type, for example with astype(str)"
        ) from None


def _plain_index(native: Any) -> bool:
    import pandas as pd

    return isinstance(native.index, pd.RangeIndex)


def hints_of(data: Any) -> dict[str, tuple[str, tuple[str, ...] | None, str]]:
    """Categories are a declaration: of an ordinal attribute if they are ordered, else of a nominal one."""
    library = type(data).__module__.split(".")[0]
    found: list[tuple[str, bool, list[Any]]] = []
    if library == "pandas":
        import pandas as pd

        for name, dtype in data.dtypes.items():
            if isinstance(dtype, pd.CategoricalDtype):
                found.append((str(name), bool(dtype.ordered), list(dtype.categories)))
    elif library == "pyarrow":
        import pyarrow as pa

        for field in data.schema:
            if pa.types.is_dictionary(field.type):
                chunks = data.column(field.name).unify_dictionaries().chunks
                found.append((field.name, field.type.ordered, chunks[0].dictionary.to_pylist() if chunks else []))
    return {
        name: ("ordinal", tuple(map(str, categories)), "its ordered categories")
        if ordered
        else ("nominal", None, "its categories")
        for name, ordered, categories in found
    }


def restorer(data: Any, schema: pl.Schema) -> Restore:
    """How to turn a released polars frame, rows as they came in, into the kind of frame that `data` is.

    Columns that were not touched are taken from `data` itself. A protected column gets its old type back where the
    method kept it: `schema` is what the columns were inside, and the mean of integers is no integer any more.
    """
    library = type(data).__module__.split(".")[0]
    if library == "pandas":
        return lambda released, untouched: _as_pandas(data, schema, released, untouched)
    if library == "pyarrow":
        return lambda released, untouched: _as_arrow(data, schema, released, untouched)
    return lambda released, _untouched: released


def _as_pandas(original: Any, schema: pl.Schema, released: pl.DataFrame, untouched: Collection[str]) -> Any:
    import pandas as pd

    columns = {}
    for name in released.columns:
        if name in untouched:
            columns[name] = original[name].reset_index(drop=True)
            continue
        column = released[name].to_pandas()
        if released.schema[name].base_type() == schema[name].base_type():
            # A blanked value does not fit into numpy's integers: such a column stays a float.
            with contextlib.suppress(ValueError, TypeError):
                column = column.astype(original[name].dtype)
        if isinstance(column.dtype, pd.CategoricalDtype):
            # A category that is not released must not stand in the column's list of categories either.
            column = column.cat.remove_unused_categories()
        columns[name] = column
    return pd.DataFrame(columns)


def _as_arrow(original: Any, schema: pl.Schema, released: pl.DataFrame, untouched: Collection[str]) -> Any:
    import pyarrow as pa

    columns = {}
    for name in released.columns:
        column = original.column(name) if name in untouched else released[name].to_arrow()
        if name not in untouched and released.schema[name] == schema[name]:
            # A mean of whole seconds may lie between them: such a column keeps its finer unit.
            with contextlib.suppress(pa.ArrowInvalid):
                column = column.cast(original.schema.field(name).type)
        columns[name] = column
    # The original's metadata is left behind: it can hold a copy of a pandas index.
    return pa.table(columns)
