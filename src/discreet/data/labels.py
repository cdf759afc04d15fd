"""What statistical packages keep beside the values: labels, display formats, measurement levels, missing codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

Code = str | int | float


@dataclass(frozen=True)
class Labels:
    """Descriptions of a file and its columns; each mapping is by column name and leaves out what is not set.

    Attributes
    ----------
    file
        The label of the whole file.
    variables
        A label for each column.
    values
        For each column, a label for each code.
    formats
        Display formats, in the notation of the package the file came from.
    measures
        Measurement levels: nominal, ordinal or scale.
    widths
        Display widths.
    missing
        For each column, the ranges (lowest, highest) of codes that the file declares to be missing.
    """

    file: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Mapping[Code, str]] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)
    measures: Mapping[str, str] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, tuple[tuple[Code, Code], ...]] = field(default_factory=dict)

    def kept(
        self, frame: pl.DataFrame, origin: Mapping[str, pl.DataType], coded: Mapping[str, pl.Series] | None = None
    ) -> Labels:
        """Return what still holds for the columns of `frame`, of which `origin` gives the types when they were read.

        Labels of columns that are not in the frame go. If a column became another kind of value (numbers made
        intervals, say), only its own label stays. Of the value labels only those stay whose code occurs, or is a
        declared missing code: a package that turns names into codes leaves all the names in the labels, and those of
        protected persons must not be published. A declaration of missing codes goes if a written value falls into
        it, because that value would vanish; but not in a column that has its declared codes as it had them, `coded`.
        """
        coded = coded or {}
        same = {name for name in frame.columns if name in origin and kind(frame.schema[name]) == kind(origin[name])}
        present = {
            name: set(frame[name].drop_nulls().unique().to_list()) for name in same & {*self.values, *self.missing}
        }
        missing = {
            name: ranges
            for name, ranges in self.missing.items()
            if name in same and (_unchanged(frame, coded, name) or not any(_within(v, ranges) for v in present[name]))
        }
        values = {
            name: {c: text for c, text in labels.items() if c in present[name] or _within(c, missing.get(name, ()))}
            for name, labels in self.values.items()
            if name in same
        }
        return Labels(
            self.file,
            {name: text for name, text in self.variables.items() if name in frame.columns},
            {name: labels for name, labels in values.items() if labels},
            {name: text for name, text in self.formats.items() if name in same},
            {name: level for name, level in self.measures.items() if name in same},
            {name: width for name, width in self.widths.items() if name in same},
            missing,
        )


def _unchanged(frame: pl.DataFrame, coded: Mapping[str, pl.Series], name: str) -> bool:
    return name in coded and frame[name].sort().equals(coded[name].sort())


def kind(dtype: pl.DataType) -> str:
    """Return the kind of value a type holds, as far as a statistical package tells them apart."""
    import polars as pl

    if dtype.is_numeric() or dtype == pl.Boolean:
        return "number"
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return str(dtype.base_type())


def _within(value: Any, ranges: tuple[tuple[Code, Code], ...]) -> bool:
    for lowest, highest in ranges:
        if isinstance(value, str) != isinstance(lowest, str):
            continue
        if lowest <= value <= highest:  # both text or both numbers
            return True
    return False
