"""A quasi-identifier as numbers or codes, and how an aggregate of it is written back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.data.dates import DateForm, write_dates

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One quasi-identifier.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        numeric, date, ordinal or nominal.
    values : array of float64
        The number, the date as a number, or the position of the category; NaN where missing.
    dtype : polars.DataType
        Type of the column as it came in.
    categories : polars.Series, optional
        The categories, in order, of an ordinal or nominal attribute.
    form : DateForm, optional
        How a date is written.
    integral : bool
        Whether all numbers are whole.
    weight, aggregate, missing, digits
        As declared, or the default.
    """

    name: str
    kind: str
    values: Values
    dtype: pl.DataType
    categories: pl.Series | None = None
    form: DateForm | None = None
    integral: bool = False
    weight: float = 1.0
    aggregate: str = "mean"
    missing: str = "separate"
    digits: int | None = None

    def as_written(self, values: Values) -> Values:
        """Released values as they will stand in the column: rounded to its digits, its days or its type."""
        import numpy as np
        import polars as pl

        if self.categories is not None:
            return values
        if self.form is not None:
            return np.round(values)
        digits = self.digits if self.digits is not None else getattr(self.dtype, "scale", None)
        rounded = values if digits is None else np.round(values, digits)
        # Adding zero turns -0.0 into 0.0, which would be another value on paper.
        return (rounded.astype(np.float32).astype(np.float64) if self.dtype == pl.Float32 else rounded) + 0.0

    def column(self, values: Values) -> pl.Series:
        """Released values as a column, in the type that came in where the values allow it."""
        import numpy as np
        import polars as pl

        if self.categories is not None:
            codes = pl.Series(np.where(np.isnan(values), 0, values).astype(np.int64))
            codes = codes.set(pl.Series(np.isnan(values)), None)
            column = self.categories.gather(codes).alias(self.name)
            if not isinstance(column.dtype, pl.Enum):
                return column
            # A category that is not released must not stand in the column's list of categories either.
            used = set(column.drop_nulls().unique().to_list())
            return column.cast(pl.String).cast(pl.Enum([text for text in column.dtype.categories if text in used]))
        if self.form is not None:
            return write_dates(values, self.form, self.dtype).alias(self.name)
        column = pl.Series(self.name, self.as_written(values), dtype=pl.Float64, nan_to_null=True)
        if self.integral and self.digits is not None and self.digits <= 0:
            return _narrowed(column, self.dtype if self.dtype.is_integer() else pl.Int64())
        return _narrowed(column, self.dtype) if self.dtype.is_float() or self.dtype.is_decimal() else column


def _narrowed(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """The column in another type if that holds every value (rounding to 130 leaves the range of 8-bit integers)."""
    narrow = column.cast(dtype, strict=False)
    return column if narrow.null_count() > column.null_count() else narrow
