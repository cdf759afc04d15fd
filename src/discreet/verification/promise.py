"""What a release of microdata promises: its k-anonymity, in words that a check can be made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.errors import InputError, whole

KIND = "k-anonymity"


@dataclass(frozen=True)
class Promise:
    """Within each stratum, each combination of values of a group of columns occurs at least k times.

    Parameters
    ----------
    k : int
        Least number of records that share a combination.
    groups : tuple of tuples of str
        The groups of columns; k-anonymity is promised within each, and not across them.
    by : tuple of str
        The columns whose combinations make the strata.
    """

    k: int
    groups: tuple[tuple[str, ...], ...]
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, 2))
        if not self.groups or not all(self.groups):
            raise InputError("a promise needs at least one quasi-identifier")
        named = [name for group in self.groups for name in group] + list(self.by)
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise InputError(f"column '{twice[0]}' stands twice in the promise; name it once")

    def columns(self) -> list[str]:
        """All columns that the promise speaks of."""
        return [*self.by, *(name for group in self.groups for name in group)]

    def as_dict(self) -> dict[str, Any]:
        """The promise as it stands in the record of a release."""
        groups = [list(group) for group in self.groups]
        return {"kind": KIND, "k": self.k, "groups": groups, "by": list(self.by), "words": self.words()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Promise:
        """Read a promise from the record of a release."""
        try:
            kind, k = content["kind"], content["k"]
            groups = tuple(_names(group) for group in content["groups"])
            by = _names(content.get("by", []))
        except (KeyError, TypeError):
            raise InputError("the promise is incomplete: it needs kind, k and groups") from None
        if kind != KIND:
            raise InputError(f"unknown kind of promise {kind!r}; this version can check '{KIND}'")
        return cls(k, groups, by)

    def words(self) -> str:
        """The promise in a sentence."""
        within = f", within each combination of {', '.join(self.by)}" if self.by else ""
        if len(self.groups) == 1:
            count = len(self.groups[0])
            what = f"combination of the {count} quasi-identifiers" if count > 1 else "value of the quasi-identifier"
            return f"every {what} occurs at least {self.k} times{within}"
        return (
            f"within each of {len(self.groups)} groups of quasi-identifiers every combination occurs at least {self.k} "
            f"times{within}; across groups nothing is promised"
        )


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return tuple(value)
