"""Which row of a release was made from which record of the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from discreet.data.dataset import Dataset

_HOW = "name a key column that both files have (key), or give the row map of the release (row_map)"


def align(
    original: Dataset, release: Dataset, quasi: Sequence[str], *, key: str | None = None, row_map: Any = None
) -> NDArray[np.int64]:
    """For each record of the original the row of the release that was made from it.

    By the row map, else by the key, else by position. By position is refused where the order of the release was plainly
    destroyed: linkage and every other comparison by record would then be meaningless.
    """
    import numpy as np

    if key is not None and row_map is not None:
        raise InputError("give either a key or a row map, not both")
    if row_map is not None:
        return _by_map(original, release, row_map)
    if key is not None:
        return _by_key(original, release, key)
    if original.frame.height != release.frame.height:
        raise InputError(
            f"{original.name} has {original.frame.height:,} records and {release.name} has {release.frame.height:,}; "
            f"to compare them record by record, {_HOW}"
        )
    _refuse_destroyed_order(original, release, quasi)
    return np.arange(original.frame.height)


def _by_key(original: Dataset, release: Dataset, key: str) -> NDArray[np.int64]:
    import numpy as np
    import polars as pl

    sides = []
    for dataset in (original, release):
        if key not in dataset.frame.columns:
            raise InputError(f"{dataset.name}: there is no column '{key}' to be the key")
        column = dataset.frame[key]
        if column.null_count():
            raise InputError(f"{dataset.name}: the key '{key}' is missing in {column.null_count():,} records")
        if column.n_unique() < len(column):
            raise InputError(f"{dataset.name}: the key '{key}' is not unique; a key must name one record")
        sides.append(column)
    if sides[0].dtype != sides[1].dtype:
        sides = [_comparable(side) for side in sides]
    left = pl.DataFrame({"key": sides[0]})
    right = pl.DataFrame({"key": sides[1], "row": np.arange(len(sides[1]))})
    rows = left.join(right, on="key", how="left", maintain_order="left")["row"]
    if rows.null_count():
        first = int(rows.is_null().arg_max() or 0)
        raise InputError(
            f"{release.name}: {rows.null_count():,} records of {original.name} are not there by the key '{key}', the "
            f"first at {original.place(first)}; every record must be in both"
        )
    if len(sides[1]) > len(sides[0]):
        raise InputError(
            f"{release.name}: {len(sides[1]) - len(sides[0]):,} rows have no record in {original.name} by the key "
            f"'{key}'"
        )
    return rows.to_numpy().astype(np.int64)


def _comparable(column: pl.Series) -> pl.Series:
    import polars as pl

    numbers = column.cast(pl.String).cast(pl.Float64, strict=False)
    return column.cast(pl.String) if numbers.null_count() else numbers


def _by_map(original: Dataset, release: Dataset, row_map: Any) -> NDArray[np.int64]:
    import numpy as np
    import polars as pl

    from discreet.data.dataset import accept

    name = Path(row_map).name if isinstance(row_map, str | Path) else "the row map"
    frame = accept(row_map).frame
    if not {"release_row", "input_record"} <= set(frame.columns):
        raise InputError(f"{name}: not a row map; it must have the columns release_row and input_record")
    link = frame.select(pl.col("release_row", "input_record").cast(pl.Int64, strict=False))
    count = original.frame.height
    whole = pl.Series(range(1, count + 1), dtype=pl.Int64)
    fits = release.frame.height == count and all(link[column].sort().equals(whole) for column in link.columns)
    if not fits:
        raise InputError(
            f"{name}: it does not link the {count:,} records of {original.name} to the {release.frame.height:,} rows "
            f"of {release.name}, each once; it is of another release"
        )
    rows = np.empty(count, np.int64)
    rows[link["input_record"].to_numpy() - 1] = link["release_row"].to_numpy() - 1
    return rows


def _refuse_destroyed_order(original: Dataset, release: Dataset, quasi: Sequence[str]) -> None:
    """Rows that were sorted on the way out do not stand beside their originals any more."""
    import polars as pl

    reason = ""
    for name in release.frame.columns:
        if name not in original.frame.columns or release.frame[name].dtype.is_nested():
            continue
        before, after = (dataset.frame[name].cast(pl.String) for dataset in (original, release))
        if before.equals(after) and before.n_unique() > 1:
            return  # a column that is the same row by row proves that the order was kept
        if name not in quasi and before.sort().equals(after.sort()) and not before.equals(after):
            reason = reason or f"its column '{name}' has the same values in another order"
    if not reason and release.frame.height > 2 and release.frame.n_unique() > 1 and _is_sorted(release.frame):
        common = [name for name in release.frame.columns if name in original.frame.columns]
        if not _is_sorted(original.frame.select(common)):
            reason = "its rows are sorted by all columns, and those of the original are not"
    if reason:
        raise InputError(f"{release.name}: the order of the records was destroyed ({reason}); {_HOW}")


def _is_sorted(frame: pl.DataFrame) -> bool:
    import polars as pl

    order = frame.select(pl.arg_sort_by(frame.columns, nulls_last=True, maintain_order=True)).to_series()
    return bool((order == pl.Series(range(frame.height), dtype=order.dtype)).all())
