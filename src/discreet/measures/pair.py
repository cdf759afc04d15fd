"""An original and its release, record beside record, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from discreet.data.embedding import Embedding, embed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.attributes import Attribute, Values

    Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pair:
    """Original and release, aligned.

    Parameters
    ----------
    attributes : tuple of Attribute
        The quasi-identifiers of the original.
    released : tuple of arrays
        Their values in the release, row by row beside the original.
    confidential : tuple of Attribute
        Confidential columns of the release, in the same order of rows.
    """

    attributes: tuple[Attribute, ...]
    released: tuple[Values, ...]
    confidential: tuple[Attribute, ...] = ()

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.attributes[0].values)

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [attribute.name for attribute in self.attributes]

    @property
    def blank(self) -> list[str]:
        """The attributes that have no value in the release."""
        import numpy as np

        pairs = zip(self.attributes, self.released, strict=True)
        return [attribute.name for attribute, values in pairs if np.isnan(values).all()]

    def numeric(self, *, blank: bool = True) -> tuple[list[str], Points, Points]:
        """The numeric attributes, with or without those blank in the release: names, original and released values."""
        import numpy as np

        left_out = [] if blank else self.blank
        chosen = [i for i, a in enumerate(self.attributes) if a.kind == "numeric" and a.name not in left_out]
        if not chosen:
            return [], np.empty((self.records, 0)), np.empty((self.records, 0))
        return (
            [self.attributes[i].name for i in chosen],
            np.column_stack([self.attributes[i].values for i in chosen]),
            np.column_stack([self.released[i] for i in chosen]),
        )

    @cached_property
    def embedding(self) -> Embedding:
        """The space in which an intruder compares: fixed by the original, all attributes with the same weight."""
        return embed([replace(attribute, weight=1.0) for attribute in self.attributes])[0]

    @cached_property
    def points(self) -> tuple[Points, Points]:
        """Original and released records as vectors."""
        original = self.embedding.points([attribute.values for attribute in self.attributes])
        return original, self.embedding.points(self.released)

    @cached_property
    def classes(self) -> NDArray[np.int64]:
        """The class of each released record: those that share all values of the quasi-identifiers."""
        from discreet.measures.closeness import class_ids

        return class_ids(self.released)
