"""Groups of attributes: the records are partitioned for each on its own, in classes of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.microdata.classes import Classes, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.attributes import Attribute
    from discreet.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class AttributeGroup:
    """Attributes that are protected together.

    Parameters
    ----------
    columns : tuple of int
        Their positions among all attributes.
    classes : Classes
        The classes of records by stratum and by the pattern of missing values in these attributes alone.
    """

    columns: tuple[int, ...]
    classes: Classes


def attribute_groups(
    dataset: Dataset, attributes: Sequence[Attribute], groups: Sequence[Sequence[str]], by: list[str], k: int
) -> list[AttributeGroup]:
    """Groups of columns as groups of attributes, each with its classes of at least k records."""
    position = {attribute.name: column for column, attribute in enumerate(attributes)}
    members = [tuple(position[name] for name in group) for group in groups]
    return [
        AttributeGroup(columns, split(dataset, [attributes[column] for column in columns], by, k))
        for columns in members
    ]


def blanks(groups: Sequence[AttributeGroup], records: int) -> NDArray[np.bool_]:
    """Where values have to be blanked, records × attributes."""
    import numpy as np

    blank = np.zeros((records, sum(len(group.columns) for group in groups)), bool)
    for group in groups:
        blank[:, list(group.columns)] = group.classes.blank
    return blank
