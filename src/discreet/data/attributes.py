"""Quasi-identifiers as arrays of numbers or codes: of what kind each is, how it is read, and how it is written back.

The kind is the declared one, else the one that the data declares of itself, else what the values are. An attribute that
stands in two files, an original and its release, is read the same way in both, whoever wrote them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.ancestry import Ancestry
from discreet.data.dataset import Dataset
from discreet.data.dates import PIVOT, DateForm, convert_unit, find_form, fitting_patterns, read_dates, write_dates
from discreet.data.generalised import blank_suppressed, read_ranges
from discreet.data.roles import AGGREGATES, Declaration
from discreet.data.values import leading_zeros, read_numbers
from discreet.errors import InputError
from discreet.text import count

Values = NDArray[np.float64]

# Squares of larger numbers could overflow.
LARGEST_NUMBER = 1e150


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
    sampling : array of float64, optional
        How many of the population each record stands for: how much it counts in aggregates; all alike if not given.
    fine : Attribute, optional
        Of a coarsened attribute: what it was before, to measure what is lost.
    ancestry : tuple of Level
        Of a nominal attribute whose categories are compared by a hierarchy: its levels.
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
    fine: Attribute | None = None
    sampling: Values | None = None
    ancestry: Ancestry = ()

    def round_values(self, values: Values) -> Values:
        """Released values as they will stand in the column: rounded to its digits, its days or its type."""
        if self.categories is not None:
            return values
        if self.form is not None:
            return self.form.round(values)
        digits = self.digits if self.digits is not None else getattr(self.dtype, "scale", None)
        rounded = values if digits is None else np.round(values, digits)
        # Adding zero turns -0.0 into 0.0, which would be another value on paper.
        return (rounded.astype(np.float32).astype(np.float64) if self.dtype == pl.Float32 else rounded) + 0.0

    def column(self, values: Values) -> pl.Series:
        """Released values as a column, in the type that came in where the values allow it."""
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
        column = pl.Series(self.name, self.round_values(values), dtype=pl.Float64, nan_to_null=True)
        whole = self.aggregate != "mean" or (self.digits is not None and self.digits <= 0)
        if self.integral and whole:
            return _narrow(column, self.dtype if self.dtype.is_integer() else pl.Int64())
        return _narrow(column, self.dtype) if self.dtype.is_float() or self.dtype.is_decimal() else column


def _narrow(column: pl.Series, dtype: pl.DataType) -> pl.Series:
    """The column in another type if that holds every value (rounding to 130 leaves the range of 8-bit integers)."""
    narrow = column.cast(dtype, strict=False)
    return column if narrow.null_count() > column.null_count() else narrow


def kind_of(dataset: Dataset, said: Declaration) -> tuple[str, tuple[str, ...] | None, str]:
    """The kind of a column, its order if it has one, and in words what was assumed, if anything."""
    if said.kind is not None:
        return said.kind, said.order, ""
    name = said.name
    if name in dataset.hints:
        kind, order, why = dataset.hints[name]
        return kind, order, f"taken as {kind}, by {why}"
    column = dataset.frame[name]
    if column.dtype.is_numeric():
        return "numeric", None, _suspect(column)
    if column.dtype in (pl.Date, pl.Datetime):
        return "date", None, "taken as dates"
    if column.dtype == pl.Boolean or isinstance(column.dtype, pl.Categorical | pl.Enum):
        return "nominal", None, "taken as nominal"
    if column.dtype != pl.String:
        raise InputError(
            f"{dataset.name}: column '{name}' is of type {column.dtype.base_type()}, which cannot be "
            "protected; convert it"
        )
    if not dataset.textual:
        return "nominal", None, f"text, taken as nominal{_seem_dates(column)}"
    return _kind_of_text(dataset, column)


def _kind_of_text(dataset: Dataset, column: pl.Series) -> tuple[str, None, str]:
    numbers, wrong = read_numbers(column, dataset.decimal)
    name = column.name
    if not len(wrong):
        if leading_zeros(column):
            return "numeric", None, "taken as numbers, though some begin with 0 as codes do (if so, declare it nominal)"
        return "numeric", None, _suspect(numbers)
    form = find_form(column)
    if form is not None and form.sure:
        return "date", None, "taken as dates"
    if numbers.null_count() < len(column):
        where = dataset.places(wrong)
        raise InputError(
            f"{dataset.name}: column '{name}' has numbers and text: {len(wrong)} of {len(column)} values are not "
            f"numbers ({where}). Correct them or leave them blank, or declare the column nominal."
        )
    return "nominal", None, f"text, taken as nominal{_seem_dates(column)}"


def seem_codes(distinct: int, records: int) -> bool:
    """Whether whole numbers are so few that they are codes more often than counts: each in ten records on average."""
    return 2 < distinct <= 20 and records >= 10 * distinct


def _suspect(numbers: pl.Series) -> str:
    """That a column is taken as numbers, and what speaks against it."""
    present = numbers.drop_nulls()
    if present.is_empty() or not (present.dtype.is_integer() or (present == present.round()).all()):
        return "taken as numbers"
    distinct = present.n_unique()
    if seem_codes(distinct, len(present)):
        return "taken as numbers, though so few distinct whole numbers look like codes (if so, declare it nominal)"
    low, high = present.min(), present.max()
    if low >= 19_000_101 and high <= 21_001_231 and fitting_patterns(present):  # type: ignore[operator]
        return "taken as numbers, though they look like dates written %Y%m%d (if so, declare it a date)"
    return "taken as numbers"


def _seem_dates(column: pl.Series) -> str:
    fitting = fitting_patterns(column)
    return f", though it looks like dates written {' or '.join(fitting)} (if so, declare it a date)" if fitting else ""


def read_attribute(dataset: Dataset, said: Declaration) -> tuple[Attribute, str]:
    """Read a quasi-identifier by its declaration, and say what was assumed."""
    dataset, blanked = blank_words(dataset, said)
    column = dataset.frame[said.name]
    if column.null_count() == len(column):
        raise InputError(
            f"{dataset.name}: column '{said.name}' has no values at all; leave it out by naming it as ignore"
        )
    kind, order, assumed = kind_of(dataset, said)
    attribute = _READERS[kind](dataset, column, replace(said, kind=kind, order=order))
    if attribute.form is not None:
        form = attribute.form.words()
        known = said.form is not None and "%y" not in said.form
        assumed = assumed if known or not form else f"{assumed or 'dates'}, {form}"
    assumed = ", ".join(filter(None, (assumed, blanked)))
    if np.isnan(attribute.values).all():
        raise InputError(f"{dataset.name}: column '{said.name}' has no values at all; name it as ignore")
    aggregate = said.aggregate or AGGREGATES[kind][0]
    if aggregate not in AGGREGATES[kind]:
        raise InputError(
            f"column '{said.name}' is {kind} and can be aggregated by {' or '.join(AGGREGATES[kind])}, not {aggregate}"
        )
    if said.digits is not None and kind != "numeric":
        raise InputError(f"column '{said.name}' is {kind}; digits are for numeric columns")
    attribute = replace(
        attribute,
        weight=1.0 if said.weight is None else said.weight,
        aggregate=aggregate,
        missing=said.missing or "separate",
        digits=said.default_digits if said.digits is None and kind == "numeric" else said.digits,
    )
    return attribute, assumed


def blank_words(dataset: Dataset, said: Declaration) -> tuple[Dataset, str]:
    """The data with one column, in which the words for missing values are missing; and how many there were."""
    column = dataset.frame[said.name]
    if not said.na:
        return dataset, ""
    numbers = pl.Series(said.na).cast(pl.Float64, strict=False).drop_nulls()
    if column.dtype.is_numeric():
        absent = column.cast(pl.Float64).is_in(numbers.implode())
    elif is_comparable(column.dtype):
        words = [word.strip().lower() for word in said.na]
        absent = column.cast(pl.String).str.strip_chars().str.to_lowercase().is_in(words)
    else:
        return dataset, ""
    absent = absent.fill_null(False)
    if not absent.any():
        return dataset, ""
    frame = dataset.frame.select(pl.when(~absent).then(pl.col(said.name)).alias(said.name))
    return replace(dataset, frame=frame), f"{count(int(absent.sum()), 'value')} taken as missing (na)"


def read_confidential(dataset: Dataset, said: Declaration) -> Attribute | None:
    """A confidential column, to look at the diversity of its values; None if it has none that can be compared.

    Nothing was declared of it, and whatever it holds is released as it is: values that are not all numbers or dates are
    categories.
    """
    column = dataset.frame[said.name]
    if column.null_count() == len(column) or not is_comparable(column.dtype):
        return None
    try:
        return read_attribute(dataset, said)[0]
    except InputError:
        return read_attribute(dataset, replace(said, kind="nominal", order=None, aggregate=None, digits=None))[0]


def is_comparable(dtype: pl.DataType) -> bool:
    """Whether values of a type can be written as texts; lists, structures, bytes and spans of time cannot."""
    return not dtype.is_nested() and dtype not in (pl.Binary, pl.Duration, pl.Object)


def _numeric(dataset: Dataset, column: pl.Series, _said: Declaration) -> Attribute:
    if column.dtype == pl.String:
        numbers, wrong = read_numbers(column, dataset.decimal)
        if len(wrong):
            raise InputError(
                f"{dataset.name}: column '{column.name}' is declared numeric, but {len(wrong)} values are not numbers "
                f"({dataset.places(wrong)}). Correct them or leave them blank."
            )
    elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
        numbers = column.cast(pl.Float64)
    else:
        raise InputError(
            f"{dataset.name}: column '{column.name}' is of type {column.dtype.base_type()} and holds no numbers"
        )
    values = numbers.to_numpy().astype(np.float64)
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        raise InputError(
            f"{dataset.name}: column '{column.name}' has infinite values ({dataset.places(infinite)}); "
            "make them missing or correct them"
        )
    seen = values[~np.isnan(values)]
    integral = column.dtype.is_integer() or bool((seen == np.round(seen)).all())
    return Attribute(column.name, "numeric", values, column.dtype, integral=integral)


def _date(dataset: Dataset, column: pl.Series, said: Declaration) -> Attribute:
    form = find_form(column, said.form, PIVOT if said.pivot is None else said.pivot)
    where = f"{dataset.name}: column '{column.name}' is declared a date"
    if form is None:
        several = fitting_patterns(column)
        why = (
            f"but can be read as {' or '.join(several)}" if several else "but is not written in one form that is known"
        )
        raise InputError(f"{where}, {why}; say the form, as --date '{column.name}={(several or ['%d.%m.%Y'])[0]}'")
    values = read_dates(column, form)
    present = column.is_not_null() if column.dtype != pl.String else (column.str.strip_chars() != "").fill_null(False)
    wrong = np.flatnonzero(present.to_numpy() & np.isnan(values))
    if len(wrong):
        raise InputError(
            f"{where} written {form.pattern}, but {len(wrong):,} values are not ({dataset.places(wrong)}). Correct "
            "them or leave them blank."
        )
    return Attribute(column.name, "date", values, column.dtype, form=form)


def _categories(dataset: Dataset, column: pl.Series, said: Declaration) -> Attribute:
    order, kind = said.order, said.kind or "nominal"
    if not is_comparable(column.dtype):
        raise InputError(
            f"{dataset.name}: column '{column.name}' is of type {column.dtype.base_type()}, which has no categories"
        )
    # A whole number is the same category whether it came as an integer or as a float, if there is such an integer.
    seen = column.drop_nulls()
    whole = column.dtype.is_float() and ((seen == seen.round()) & (seen.abs() < 2.0**63)).all()
    texts = (column.cast(pl.Int64, strict=False) if whole else column).cast(pl.String)
    # Each category as text, to order by, and as it came in, to be written.
    present = pl.DataFrame({"text": texts, "value": column}).drop_nulls().unique("text", maintain_order=True)
    if order is None:
        order = tuple(_order_categories(dataset, present, column.name, kind))
    codes = texts.replace_strict(list(order), list(range(len(order))), default=None, return_dtype=pl.Int64)
    wrong = np.flatnonzero((codes.is_null() & texts.is_not_null()).to_numpy())
    if len(wrong):
        raise InputError(
            f"{dataset.name}: column '{column.name}' has {len(wrong)} values that are not in its order "
            f"({dataset.places(wrong)}); add them to the order or correct them"
        )
    # A category that nobody has is never written: it has no value of the column's type.
    categories = pl.DataFrame({"text": list(order)}, schema={"text": pl.String}).join(
        present, on="text", how="left", maintain_order="left"
    )["value"]
    values = codes.cast(pl.Float64).to_numpy().astype(np.float64)
    return Attribute(column.name, kind, values, column.dtype, categories=categories.alias(column.name))


def _order_categories(dataset: Dataset, present: pl.DataFrame, name: str, kind: str) -> list[str]:
    """Categories in alphabetical order if nominal, else by number, since nothing else was said."""
    if kind == "nominal":
        return present["text"].sort().to_list()
    if present["value"].dtype.is_numeric() or present["value"].dtype in (pl.Boolean, pl.Date, pl.Datetime):
        return present.sort("value")["text"].to_list()
    numbers, wrong = read_numbers(present["text"], dataset.decimal)
    if not dataset.textual or len(wrong) or numbers.null_count():
        raise InputError(
            f"{dataset.name}: column '{name}' is declared ordinal and holds text, so its order must be given: "
            f"ordinal '{name}=lowest<...<highest'"
        )
    return present.with_columns(number=numbers).sort("number", "text")["text"].to_list()


_READERS = {"numeric": _numeric, "date": _date, "ordinal": _categories, "nominal": _categories}


def read_pair(original: Dataset, release: Dataset, said: Declaration) -> tuple[Attribute, Values, str, str]:
    """An attribute of the original, its values in the release, what was assumed, and what should be noted of it.

    The kind is that of the original. Categories are those of both files, so that a category which only the release has
    is one of its own. Where the spelling differs, codes are compared as numbers if they are numbers.
    """
    name = said.name
    if name not in release.frame.columns:
        raise InputError(
            f"{release.name}: there is no column '{name}', which {original.name} has; nothing to compare with"
        )
    original, _ = blank_words(original, said)
    release, _ = blank_words(release, said)
    release, note = _read_suppressed(original, release, name)
    if release.frame[name].null_count() == release.frame.height:
        # A column that was blanked altogether has no type of its own.
        attribute, assumed = read_attribute(original, said)
        return attribute, np.full(release.frame.height, np.nan), assumed, f"'{name}' has no value in the release"
    kind, order, assumed = kind_of(original, said)
    declared = replace(said, kind=kind, order=order, aggregate=None, digits=None)
    if kind in ("numeric", "date"):
        before, found = read_attribute(original, declared)
        if kind == "date":
            assumed = found if said.kind else assumed + found.removeprefix("dates")
            declared = replace(declared, form=_form_of_release(release, declared, before))
        elif release.frame[name].dtype == pl.String:
            low, high = float(np.nanmin(before.values)), float(np.nanmax(before.values))
            numbers, ranged = read_ranges(release.frame[name], release.decimal, low, high)
            release = replace(release, frame=release.frame.with_columns(numbers))
            note = "; ".join(filter(None, (note, f"'{name}': {ranged}" if ranged else "")))
        after = read_attribute(release, declared)[0]
        _check_computable(release, name, after.values)
        values = after.values
        if before.form is not None and after.form is not None:
            values = convert_unit(values, after.form, before.form)
        return before, values, assumed, note
    both, height = _join(original, release, name), original.frame.height
    attribute, _ = read_attribute(both, replace(declared, order=_spell_order(order, both)))
    mine, theirs = attribute.values[:height], attribute.values[height:]
    strange = len(set(theirs[theirs == theirs].tolist()) - set(mine.tolist()))
    new = f"'{name}' has {count(strange, 'category', 'categories')} in the release that the original has not"
    return replace(attribute, values=mine), theirs, assumed, "; ".join(filter(None, (note, new if strange else "")))


def _read_suppressed(original: Dataset, release: Dataset, name: str) -> tuple[Dataset, str]:
    """The release with `*` as a missing value, unless it is one of the original's, and what to note of it."""
    column = blank_suppressed(release.frame[name])
    gone = column.null_count() - release.frame[name].null_count()
    before = original.frame[name]
    if not gone or blank_suppressed(before).null_count() > before.null_count():
        return release, ""
    return (
        replace(release, frame=release.frame.with_columns(column)),
        f"'{name}': {count(gone, 'value')} suppressed (*), taken at the mean",
    )


def _check_computable(release: Dataset, name: str, values: Values) -> None:
    if np.nanmax(np.abs(values)) > LARGEST_NUMBER:
        raise InputError(f"{release.name}: column '{name}' has numbers too large to compute with; rescale both files")


def _form_of_release(release: Dataset, said: Declaration, before: Attribute) -> str | None:
    """The form of dates in the release: that of the original, if all can be read in it, else what is found."""
    column = release.frame[said.name]
    form = before.form
    if form is None or not form.pattern or column.dtype in (pl.Date, pl.Datetime):
        return None
    unread = np.isnan(read_dates(column, form)).sum() if column.dtype == pl.String else 0
    return form.pattern if unread <= column.null_count() else said.form


def _join(original: Dataset, release: Dataset, name: str) -> Dataset:
    """The two columns as one, of text; rows of the release come after those of the original."""
    columns = [original.frame[name].cast(pl.String), release.frame[name].cast(pl.String)]
    if not set(columns[1].unique()) <= set(columns[0].unique()):
        # Another spelling of the same codes, most likely.
        columns = [_normalize(original.frame[name], original), _normalize(release.frame[name], release)]
    joined = pl.concat(columns)
    height = original.frame.height

    def place(row: int) -> str:
        own, at = (original, row) if row < height else (release, row - height)
        return f"{own.place(at)} of {own.name}"

    return Dataset(joined.to_frame(), f"{original.name} and {release.name}", place, textual=True)


def _normalize(column: pl.Series, dataset: Dataset) -> pl.Series:
    """Numbers and truth values in one spelling, so that 1, 1.0 and "1" are the same code, and True and true."""
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).cast(pl.String)
    text = column.cast(pl.String)
    if set(text.drop_nulls().str.to_lowercase().unique()) <= {"true", "false"}:
        return text.str.to_lowercase()
    numbers, wrong = read_numbers(text, dataset.decimal)
    return text if len(wrong) else numbers.cast(pl.String)


def _spell_order(order: tuple[str, ...] | None, both: Dataset) -> tuple[str, ...] | None:
    """A declared order in the spelling of the joined column."""
    if order is None:
        return None

    present = set(both.frame.to_series().drop_nulls().unique().to_list())
    if present <= set(order):
        return order
    return tuple(_normalize(pl.Series([category]), both)[0] or category for category in order)
