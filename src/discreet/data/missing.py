"""Records with missing values: grouped within their pattern, and small patterns blanked until k records share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass
class _Class:
    """Records that show the same missing pattern."""

    pattern: frozenset[int]
    rows: list[NDArray[np.int64]]
    size: int
    touched: bool

    def blanks(self, union: frozenset[int]) -> int:
        """Values that become blank if the pattern grows to a union."""
        return self.size * len(union - self.pattern)


def pattern_classes(
    missing: NDArray[np.bool_], k: int, names: Sequence[str]
) -> list[tuple[frozenset[int], NDArray[np.int64]]]:
    """Split records into classes of at least k that share a missing pattern.

    Parameters
    ----------
    missing : array of bool, records × attributes
        Where a value is missing.
    k : int
        Least size of a class.
    names : sequence of str
        The attributes.

    Returns
    -------
    list of (pattern, rows)
        The attributes to be blank in a class, which include those missing in its records, and the records.

    Notes
    -----
    Records of a pattern with fewer than k records have further attributes blanked, as few values as a greedy choice
    finds, until k of them show the same pattern. Records of patterns that are large enough are never touched: a small
    pattern can join a large one only by taking on all of its blanks.
    """
    import numpy as np

    lacking = missing.any(axis=1)
    complete, incomplete = np.flatnonzero(~lacking), np.flatnonzero(lacking)
    distinct, inverse = np.unique(missing[incomplete], axis=0, return_inverse=True)
    patterns = [
        (frozenset(np.flatnonzero(p).tolist()), incomplete[inverse.ravel() == i]) for i, p in enumerate(distinct)
    ]
    if len(complete):
        patterns.append((frozenset(), complete))
    classes = [_Class(pattern, [rows], len(rows), len(rows) < k) for pattern, rows in patterns]
    while any(small.size < k for small in classes):
        small = min((c for c in classes if c.size < k), key=lambda c: (c.size, sorted(c.pattern)))
        classes.remove(small)
        partners = [c for c in classes if c.touched or small.pattern <= c.pattern]
        if not partners:
            raise InputError(_too_few(small.size, k, [names[i] for i in sorted(small.pattern)]))
        partner = min(partners, key=lambda c: _cost(small, c))
        classes.remove(partner)
        classes.append(
            _Class(
                small.pattern | partner.pattern, small.rows + partner.rows, small.size + partner.size, partner.touched
            )
        )
    return [(c.pattern, np.sort(np.concatenate(c.rows))) for c in classes]


def _cost(small: _Class, other: _Class) -> tuple[int, int, list[int]]:
    union = small.pattern | other.pattern
    return small.blanks(union) + other.blanks(union), other.size, sorted(other.pattern)


def _too_few(count: int, k: int, names: list[str]) -> str:
    records = "1 record lacks" if count == 1 else f"{count} records lack"
    columns = ", ".join(f"'{name}'" for name in names) or "nothing"
    return (
        f"{records} a value in {columns}, and fewer than k = {k} records do, so no group of them can be formed. Fill "
        "the gaps with missing 'impute', give the column the role ignore, or leave those records out."
    )
