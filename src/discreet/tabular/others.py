"""What is left of cells without the contributions of one who takes part in them and is alone in another cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Others:
    """Pairs of a sole contributor and a cell that he is part of, besides those he is alone in: what others bring.

    Attributes
    ----------
    who
        The contributor, as in `Table.sole`.
    cell
        The cell.
    value, count, tops, asked
        As the attributes of a table, of the cell without the contributions of this one.
    """

    who: Ints
    cell: Ints
    value: Floats
    count: Floats
    tops: Floats | None
    asked: Floats | None

    def only(self, kept: Bools) -> Others:
        """Some of the pairs."""
        tops, asked = (None if one is None else one[kept] for one in (self.tops, self.asked))
        return Others(self.who[kept], self.cell[kept], self.value[kept], self.count[kept], tops, asked)


def join(held: Sequence[Others]) -> Others:
    """All pairs of several; what one of them does not know of tops and requests, none does."""
    places = min((0 if one.tops is None else one.tops.shape[1] for one in held), default=0)
    asked = [one.asked for one in held if one.asked is not None]
    return Others(
        np.concatenate([one.who for one in held]),
        np.concatenate([one.cell for one in held]),
        np.concatenate([one.value for one in held]),
        np.concatenate([one.count for one in held]),
        np.concatenate([one.tops[:, :places] for one in held if one.tops is not None]) if places else None,
        np.concatenate(asked) if asked and len(asked) == len(held) else None,
    )


def leave_out(tops: Floats, amounts: Floats) -> Floats:
    """The largest contributions to cells without one each, if it is among them; one column less.

    Parameters
    ----------
    tops : array of float, cells × places
        The largest contributions in falling order.
    amounts : array of float
        The contribution to leave out of each cell.
    """
    places = tops.shape[1]
    found = tops == amounts[:, None]
    gone = np.where(found.any(axis=1), found.argmax(axis=1), places - 1)
    kept: Floats = tops[np.arange(places) != gone[:, None]].reshape(-1, places - 1)
    return kept
