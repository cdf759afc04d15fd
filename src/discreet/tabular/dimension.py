"""A dimension of a table: a variable with its codes and every way in which they add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from discreet.errors import CodesError, InputError
from discreet.tabular.hierarchy import Hierarchy
from discreet.text import count


@dataclass(frozen=True, eq=False)
class Dimension:
    """A variable that a table is broken down by.

    Several hierarchies may sum the same codes in ways that are not nested in each other. They share the total, and a
    code has the same meaning in all of them.

    Parameters
    ----------
    name : str
        The name of the variable.
    hierarchies : sequence of Hierarchy
        One at least.
    missing : iterable of str
        Codes that stand for a missing value.
    """

    name: str
    hierarchies: tuple[Hierarchy, ...]
    missing: frozenset[str] = field(default=frozenset())

    def __init__(self, name: str, hierarchies: Sequence[Hierarchy] | Hierarchy, missing: Iterable[str] = ()) -> None:
        ways = (hierarchies,) if isinstance(hierarchies, Hierarchy) else tuple(hierarchies)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "hierarchies", ways)
        object.__setattr__(self, "missing", frozenset(missing))
        if not ways:
            raise InputError(f"dimension '{name}' has no hierarchy; give it one, if only a flat one")
        if len({way.total for way in ways}) > 1:
            raise InputError(f"dimension '{name}': its hierarchies name the total differently; they must share it")
        self._check()

    def _check(self) -> None:
        """Refuse sums that count a code twice or not at all."""
        if len(self.hierarchies) == 1:
            return

        base = self._bases
        for way, parents in zip(self.hierarchies, self.parents, strict=True):
            child = np.flatnonzero(parents >= 0)
            sums = csr_array((np.ones(len(child)), (parents[child], child)), shape=(len(self.codes),) * 2) @ base
            inner = np.unique(parents[child])
            wrong = inner[abs(sums[inner] - base[inner]).sum(axis=1) > 0]
            if len(wrong):
                these = "this code is" if len(wrong) == 1 else "these codes are"
                raise CodesError(
                    f"dimension '{self.name}', {way.source}: the codes below {count(len(wrong), 'code')} do not make "
                    f"up what {these} in the other hierarchies; leave none out and count none twice",
                    [self.codes[at] for at in wrong.tolist()],
                )

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Every code, the total first."""
        return tuple(dict.fromkeys(code for way in self.hierarchies for code in way.codes))

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each code stands in `codes`."""
        return {code: at for at, code in enumerate(self.codes)}

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Where each code stands when they are listed for people: each followed by the codes below it."""
        places = [self.position[code] for way in self.hierarchies for code in way.walk()]
        ranks = np.empty(len(self.codes), dtype=np.int64)
        ranks[list(dict.fromkeys(places))] = np.arange(len(self.codes))
        return ranks

    @property
    def total(self) -> str:
        """The code of the total."""
        return self.hierarchies[0].total

    @cached_property
    def parents(self) -> NDArray[np.int64]:
        """For each hierarchy and code, the position of the code above it; −1 for the total and for codes not in it."""
        parents = np.full((len(self.hierarchies), len(self.codes)), -1, dtype=np.int64)
        for way, row in zip(self.hierarchies, parents, strict=True):
            places = np.array([self.position[code] for code in way.codes])
            row[places[1:]] = places[way.parents[1:]]
        return parents

    @cached_property
    def base(self) -> NDArray[np.bool_]:
        """Which codes are not the sum of others in any hierarchy: those that data can have."""
        base = np.ones(len(self.codes), dtype=np.bool_)
        for row in self.parents:
            base[row[row >= 0]] = False
        return base

    @cached_property
    def ancestors(self) -> list[NDArray[np.int64]]:
        """For each code, itself and every code it is part of, in whatever hierarchy."""
        found: list[NDArray[np.int64] | None] = [None] * len(self.codes)
        for start in range(len(self.codes)):
            stack = [start]
            while stack:
                code = stack[-1]
                above = {int(row[code]) for row in self.parents if row[code] >= 0}
                waiting = [parent for parent in above if found[parent] is None]
                # Each code on the way up adds the codes above it, one for each hierarchy at most.
                if len(stack) > 1 + len(self.codes) * len(self.hierarchies):
                    raise CodesError(
                        f"dimension '{self.name}': a code is part of itself by way of several hierarchies",
                        [self.codes[code]],
                    )
                if waiting:
                    stack.extend(waiting)
                    continue
                stack.pop()
                if found[code] is None:
                    lines = [found[parent] for parent in above]
                    found[code] = np.unique(np.concatenate([[code], *(line for line in lines if line is not None)]))
        return [line for line in found if line is not None]

    @cached_property
    def _bases(self) -> csr_array:
        """Which base codes each code is made of, as a sparse matrix of ones."""
        base = np.flatnonzero(self.base)
        lines = [self.ancestors[code] for code in base]
        rows = np.concatenate(lines)
        columns = np.repeat(base, [len(line) for line in lines])
        return csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(self.codes),) * 2)

    @property
    def is_flat(self) -> bool:
        """Whether there is nothing but codes under a total."""
        return len(self.hierarchies) == 1 and self.hierarchies[0].is_flat

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dimension):
            return NotImplemented
        mine, theirs = ((one.name, set(one.codes), set(one.hierarchies), one.missing) for one in (self, other))
        return mine == theirs

    def __hash__(self) -> int:
        return hash((self.name, frozenset(self.hierarchies), self.missing))

    def __repr__(self) -> str:
        return f"Dimension '{self.name}' of {len(self.codes)} codes"
