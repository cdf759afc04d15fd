"""What a column looks like by its values alone: how many there are, how many are missing, how many are one of a kind.

Counts only: no value of a respondent leaves this module.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from discreet.data.attributes import Values, kind_of, read_confidential, seem_codes
from discreet.data.dataset import Dataset
from discreet.data.roles import Declaration
from discreet.errors import InputError

# More distinct values than this share of the records, and a value is as good as a name.
MOSTLY_DISTINCT = 0.95
# Characters of a text of the middle length above which people write sentences and not codes.
LONG_TEXT = 30


@dataclass(frozen=True, eq=False)
class Profile:
    """One column, counted.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        numeric, ordinal, nominal or date; `unclear` where it cannot be told, `other` where values cannot be compared.
    assumed : str
        Why it is of that kind, or why that is unclear.
    records, missing : int
        Records, and those without a value.
    levels : int
        Distinct values.
    unique : int
        Records whose value nobody shares.
    whole : bool
        Whether it is numeric and all numbers are whole.
    length : float
        Characters of a text of the middle length; 0 where values are no texts.
    values : array of float64, optional
        Numbers or positions of categories, NaN where missing: to compare records by.
    """

    name: str
    kind: str
    assumed: str
    records: int
    missing: int
    levels: int = 0
    unique: int = 0
    whole: bool = False
    length: float = 0.0
    values: Values | None = field(default=None, repr=False)

    @property
    def distinct(self) -> float:
        """The share of distinct values among all that are there."""
        return self.levels / (self.records - self.missing) if self.missing < self.records else 0.0

    @property
    def free_text(self) -> bool:
        """Whether the values are sentences rather than codes."""
        return self.length > LONG_TEXT

    @property
    def names_records(self) -> bool:
        """Whether nearly every record has a value of its own, and that is no amount with decimals."""
        return self.distinct > MOSTLY_DISTINCT and (self.kind != "numeric" or self.whole)

    @property
    def looks_like_codes(self) -> bool:
        """Whether numbers look like the codes of categories."""
        return self.whole and seem_codes(self.levels, self.records - self.missing)


def profile(dataset: Dataset, said: Declaration) -> Profile:
    """Count one column, of the kind that is declared, or else of the kind that it would be taken for."""
    column = dataset.frame[said.name]
    records = len(column)
    try:
        kind, _, assumed = kind_of(dataset, said)
    except InputError as error:
        kind, assumed = "unclear", str(error)
    attribute = read_confidential(dataset, said)
    if attribute is None:
        empty = column.null_count() == records
        return Profile(said.name, "unclear" if empty else "other", assumed, records, column.null_count())
    present = attribute.values[~np.isnan(attribute.values)]
    counts = np.unique(present, return_counts=True)[1]
    texts = attribute.categories is not None and column.dtype == pl.String
    return Profile(
        said.name,
        kind,
        assumed,
        records,
        records - len(present),
        len(counts),
        int((counts == 1).sum()),
        kind == "numeric" and attribute.integral,
        float(column.str.len_chars().median() or 0.0) if texts else 0.0,  # type: ignore[arg-type]
        attribute.values,
    )
