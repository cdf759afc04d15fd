"""A hierarchy: the codes of a variable as a tree, each code the sum of the codes below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.errors import CodesError, InputError
from discreet.tabular.files import hrc
from discreet.text import count

TOTAL = "Total"


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The codes of a variable as a tree with the total at its root.

    Branches may be of unequal depth. A code that has codes below it is their sum.

    Parameters
    ----------
    codes : sequence of str
        The codes, the total first and each code after the one it belongs to.
    parents : sequence of int
        The position of the code that each code belongs to; −1 for the total.
    source : str
        What to call the hierarchy in a message, such as the name of its file.

    Examples
    --------
    >>> size = Hierarchy.flat(["small", "large"])
    >>> region = Hierarchy.from_pairs([("north", "Total"), ("a", "north"), ("b", "north"), ("south", "Total")])
    >>> region.leaves
    ('a', 'b', 'south')
    """

    codes: tuple[str, ...]
    parents: NDArray[np.int64]
    source: str = "the hierarchy"

    def __init__(self, codes: Sequence[str], parents: Sequence[int] | NDArray[Any], source: str = "") -> None:
        object.__setattr__(self, "codes", tuple(codes))
        object.__setattr__(self, "parents", np.asarray(parents, dtype=np.int64))
        object.__setattr__(self, "source", source or "the hierarchy")
        self._check()

    def _check(self) -> None:
        if not self.codes or len(self.codes) != len(self.parents):
            raise InputError(f"{self.source}: there must be as many parents as codes, and a code at least")
        for code in self.codes:
            if not isinstance(code, str) or not code.strip():
                raise InputError(f"{self.source}: every code must be a text that is not blank")
        twice = sorted({code for code in self.codes if self.codes.count(code) > 1}) if self._repeats else []
        if twice:
            raise CodesError(_describe_repeated(self.source, len(twice)), twice)
        if self.parents[0] != -1 or (self.parents[1:] < 0).any():
            raise InputError(f"{self.source}: the total must come first, and every other code belong to some code")
        wrong = np.flatnonzero(self.parents >= np.arange(len(self.codes)))
        if len(wrong):
            lost = [self.codes[at] for at in wrong.tolist()]
            stand = "stands before the code it belongs" if len(lost) == 1 else "stand before the codes they belong"
            raise CodesError(f"{self.source}: {count(len(lost), 'code')} {stand} to", lost)
        if len(self.codes) == 1:
            raise InputError(f"{self.source}: there is no code but the total")

    @property
    def _repeats(self) -> bool:
        return len(set(self.codes)) < len(self.codes)

    @classmethod
    def flat(cls, codes: Iterable[str], *, total: str = TOTAL, source: str = "") -> Hierarchy:
        """Every code directly under the total."""
        under = [str(code) for code in codes]
        return cls([total, *under], [-1] + [0] * len(under), source)

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[tuple[str, str | None]], *, total: str | None = None, source: str = ""
    ) -> Hierarchy:
        """Build a hierarchy from pairs of a code and the code it belongs to.

        Parameters
        ----------
        pairs : iterable of (str, str or None)
            A code, and the code above it; None or blank for codes right under the total.
        total : str, optional
            The code of the total: found out where it is the only code above others that has none above itself.
        source : str
            What to call the hierarchy in a message.
        """
        where = source or "the hierarchy"
        above: dict[str, str | None] = {}
        for code, parent in pairs:
            parent = parent if parent is not None and parent.strip() else None
            if code in above and above[code] != parent:
                raise CodesError(f"{where}: a code belongs to two others; a code has one place in a hierarchy", [code])
            if code in above:
                raise CodesError(_describe_repeated(where, 1), [code])
            above[code] = parent
        roots = list(dict.fromkeys(parent for parent in above.values() if parent is not None and parent not in above))
        blank = [code for code, parent in above.items() if parent is None]
        if total is None:
            if len(roots) == 1 and not blank:
                total = roots[0]
            elif not roots and len(blank) == 1 and blank[0] in above.values():
                total = blank[0]
            else:
                total = TOTAL
        if above.get(total) is None:
            above.pop(total, None)
        orphans = [code for code, parent in above.items() if parent in roots and parent != total]
        if orphans:
            belong = "belongs" if len(orphans) == 1 else "belong"
            raise CodesError(
                f"{where}: {count(len(orphans), 'code')} {belong} to a code that itself belongs to nothing; give that "
                "code a line, or name the total",
                orphans,
            )
        return cls._grown({code: total if parent is None else parent for code, parent in above.items()}, total, where)

    @classmethod
    def _grown(cls, above: dict[str, str], total: str, source: str) -> Hierarchy:
        """The tree in depth-first order, which finds cycles: what is on one is never reached from the total."""
        if total in above:
            raise CodesError(
                f"{source}: the code of the total is also a code below it; name the total differently", [total]
            )
        below: dict[str, list[str]] = {}
        for code, parent in above.items():
            below.setdefault(parent, []).append(code)
        codes: list[str] = []
        parents: list[int] = []
        stack = [(total, -1)]
        while stack:
            code, above_it = stack.pop()
            at = len(codes)
            codes.append(code)
            parents.append(above_it)
            stack.extend((child, at) for child in reversed(below.get(code, [])))
        lost = [code for code in above if code not in set(codes)] if len(codes) <= len(above) else []
        if lost:
            are = "is part of itself" if len(lost) == 1 else "are part of themselves"
            raise CodesError(f"{source}: {count(len(lost), 'code')} {are}: they go round in a circle", lost)
        return cls(codes, parents, source)

    @classmethod
    def from_digits(
        cls,
        codes: Iterable[str],
        lengths: Sequence[int],
        *,
        total: str = TOTAL,
        apart: Iterable[str] = (),
        source: str = "",
    ) -> Hierarchy:
        """Build a hierarchy from codes whose first characters are the codes they belong to.

        Parameters
        ----------
        codes : iterable of str
            The codes as they are in the data.
        lengths : sequence of int
            How many characters each level adds, such as (3, 1, 1) for 341, 3410, 34100; zeros are passed over.
        total : str
            The code of the total.
        apart : iterable of str
            Codes that stand right under the total whatever their characters, such as that of a missing value.
        source : str
            What to call the hierarchy in a message.
        """
        where = source or "the hierarchy"
        steps = [int(length) for length in lengths if int(length) != 0]
        if not steps or min(steps) < 0:
            raise InputError(f"{where}: the levels must be numbers of characters, such as 3 1 1")
        alone = set(apart)
        above: dict[str, str] = {}
        every = sorted(set(codes))
        wrong = [code for code in every if code not in alone and len(code) != sum(steps)]
        if wrong:
            have = "does not have" if len(wrong) == 1 else "do not have"
            raise CodesError(
                f"{where}: {count(len(wrong), 'code')} {have} the {count(sum(steps), 'character')} that the levels "
                "take; give other levels, or correct the codes",
                wrong,
            )
        for code in every:
            if code in alone:
                above[code] = total
                continue
            parent = total
            for end in np.cumsum(steps).tolist():
                above[code[:end]] = parent
                parent = code[:end]
        return cls._grown(above, total, where)

    @classmethod
    def from_columns(cls, frame: Any, columns: Sequence[str], *, total: str = TOTAL, source: str = "") -> Hierarchy:
        """Build a hierarchy from columns of a frame, the coarsest first, each nested in the one before it.

        A code that is the same in a column and in the one before it (a branch that ends early) is one code.
        """
        where = source or f"the columns {', '.join(columns)}"
        rows = nw.from_native(frame, eager_only=True).select(*columns).unique(maintain_order=True).rows()
        above: dict[str, str] = {}
        for row in rows:
            parent = total
            for name, value in zip(columns, row, strict=True):
                if value is None or str(value) == parent:
                    continue
                code = str(value)
                if above.setdefault(code, parent) != parent:
                    raise CodesError(
                        f"{where}: a code of column '{name}' lies in two codes of the columns before it; the columns "
                        "are not nested, so give them as two hierarchies",
                        [code],
                    )
                parent = code
        return cls._grown(above, total, where)

    @classmethod
    def from_hrc(cls, path: str | Path, *, lead: str = "@", total: str = TOTAL) -> Hierarchy:
        """Read a τ-ARGUS hierarchy file: one code a line, its depth by a repeated lead string."""
        codes, parents = hrc.read(path, lead=lead, total=total)
        return cls(codes, parents, Path(path).name)

    def to_hrc(self, lead: str = "@") -> str:
        """The content of a τ-ARGUS hierarchy file (.hrc)."""
        return hrc.text(self.codes, self.parents.tolist(), self.source, lead)

    @property
    def total(self) -> str:
        """The code of the total."""
        return self.codes[0]

    @cached_property
    def depths(self) -> NDArray[np.int64]:
        """How many steps each code is below the total."""
        depths = np.zeros(len(self.codes), dtype=np.int64)
        for at in range(1, len(self.codes)):
            depths[at] = depths[self.parents[at]] + 1
        return depths

    @cached_property
    def inner(self) -> NDArray[np.bool_]:
        """Which codes are sums of others."""
        inner = np.zeros(len(self.codes), dtype=np.bool_)
        inner[self.parents[1:]] = True
        return inner

    @property
    def leaves(self) -> tuple[str, ...]:
        """The codes that are not sums of others."""
        return tuple(code for code, inner in zip(self.codes, self.inner, strict=True) if not inner)

    @property
    def is_flat(self) -> bool:
        """Whether every code is right under the total."""
        return not self.parents[1:].any()

    def walk(self) -> list[str]:
        """The codes depth first: each is followed by the codes below it."""
        below: list[list[int]] = [[] for _ in self.codes]
        for at, parent in enumerate(self.parents.tolist()):
            if at:
                below[parent].append(at)
        walked, stack = [], [0]
        while stack:
            at = stack.pop()
            walked.append(self.codes[at])
            stack.extend(reversed(below[at]))
        return walked

    def pairs(self) -> list[tuple[str, str]]:
        """Each code but the total, with the code it belongs to."""
        return [(self.codes[at], self.codes[parent]) for at, parent in enumerate(self.parents.tolist()) if at]

    def __eq__(self, other: object) -> bool:
        """The same tree: the order of codes is no part of it."""
        if not isinstance(other, Hierarchy):
            return NotImplemented
        return self.total == other.total and dict(self.pairs()) == dict(other.pairs())

    def __hash__(self) -> int:
        return hash((self.total, frozenset(self.pairs())))

    def __repr__(self) -> str:
        return f"Hierarchy of {len(self.codes)} codes, {int(self.depths.max())} levels below '{self.total}'"


def _describe_repeated(source: str, number: int) -> str:
    stand = "stands" if number == 1 else "stand"
    return f"{source}: {count(number, 'code')} {stand} in the hierarchy more than once; a code has one place"
