"""Row order is information (DESIGN decision 3): rows are sorted on the way out, and a row map keeps the link."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

ORDERS = ("sorted", "kept")


def sort_order(frame: pl.DataFrame) -> NDArray[np.int64]:
    """Rows in the order of all released columns; equal rows cannot be told apart, so their order tells nothing."""
    import numpy as np
    import polars as pl

    # Categories sort by their text: their internal number is the order of first appearance in the input.
    keys = [
        pl.col(name).cast(pl.String) if isinstance(dtype, pl.Categorical) else pl.col(name)
        for name, dtype in frame.schema.items()
    ]
    order: NDArray[np.int64] = (
        frame.select(pl.arg_sort_by(keys, nulls_last=True)).to_series().to_numpy().astype(np.int64)
    )
    return order


def row_map_frame(rows: NDArray[np.int64] | None, count: int) -> pl.DataFrame:
    """For each row of the release, counted from 1, the record of the input it was made from."""
    import numpy as np
    import polars as pl

    source = np.arange(count) if rows is None else rows
    return pl.DataFrame({"release_row": np.arange(1, count + 1), "input_record": source + 1})
