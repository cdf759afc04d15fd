"""What a report is of: a release with its account, and the original where it is at hand, column by column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.attributes import Attribute, Values, read_attribute, read_confidential
from discreet.data.dataset import Dataset
from discreet.data.roles import Declarations
from discreet.errors import InputError
from discreet.recoding.coarsening import read_coarsened_pair
from discreet.verification.promise import Promise

# Where nothing is promised, so many records at least stand behind whatever is drawn of the original; and never fewer.
USUAL, FEWEST = 10, 3


@dataclass(frozen=True, eq=False)
class Column:
    """A released column, read.

    Parameters
    ----------
    attribute : Attribute
        Its kind, categories and form; of the original where that is at hand.
    before : array, optional
        The values of the original; None where it is not at hand or does not have the column.
    after : array
        The released values, row by row beside the original where that is at hand.
    """

    attribute: Attribute
    before: Values | None
    after: Values


@dataclass(frozen=True, eq=False)
class Subject:
    """A release of microdata to report on.

    Parameters
    ----------
    name : str
        The file, or "the release".
    account : mapping
        The evidence; of a release of another tool the same parts, empty where nothing is known.
    released : Dataset
        The release.
    declared : Declarations
        Roles and types of the columns.
    promise : Promise, optional
        What is promised.
    original : Dataset, optional
        The original.
    rows : array of int, optional
        For each record of the original the row of the release that was made from it.
    absent : mapping of str to str
        What is not at hand (original, rows, evidence, record, removed records) → why, and what to do.
    places : array of int, optional
        Where each record of the original stands in its file, where some were left out because the release lacks them.
    """

    name: str
    account: Mapping[str, Any]
    released: Dataset
    declared: Declarations
    promise: Promise | None = None
    original: Dataset | None = None
    rows: NDArray[np.int64] | None = None
    absent: Mapping[str, str] = field(default_factory=dict)
    places: NDArray[np.int64] | None = None

    @property
    def records(self) -> int:
        """Number of released records."""
        return self.released.frame.height

    @property
    def least(self) -> int:
        """How many records stand at least behind whatever is drawn of original data."""
        return USUAL if self.promise is None else max(self.promise.k, FEWEST)

    @property
    def measures(self) -> Mapping[str, Any]:
        """The measures of the evidence."""
        found: Mapping[str, Any] = self.account["measures"]
        return found

    def names(self, *roles: str) -> list[str]:
        """Released columns that play one of the roles."""
        return [name for name in self.declared.names(*roles) if name in self.released.frame.columns]

    def read(self, name: str) -> Column | None:
        """Read a released column in both files; None if it has no values that can be told apart."""
        said = self.declared[name]
        try:
            if said.role == "quasi" and self.original is not None and self.rows is not None:
                attribute, values, _, _ = read_coarsened_pair(self.original, self.released, said)
                return Column(attribute, attribute.values, values[self.rows])
            if said.role == "quasi" and said.coarsen is None:
                attribute = read_attribute(self.released, said)[0]
            else:
                found = read_confidential(self.released, said)
                if found is None:
                    return None
                attribute = found
        except InputError:
            return None
        # Confidential columns are released as they are, but for extremes that were coded on the way in.
        return Column(attribute, None, attribute.values if self.rows is None else attribute.values[self.rows])
