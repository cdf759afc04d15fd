"""What a release of microdata promises: its k-anonymity, in words that a check can be made from.

The independent check of k-anonymity: count the combinations that stand in the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, whole

if TYPE_CHECKING:
    import polars as pl


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


@dataclass(frozen=True)
class GroupCheck:
    """What was counted over one group of columns."""

    columns: tuple[str, ...]
    combinations: int
    smallest: int
    too_small: int
    exposed: int

    @property
    def passed(self) -> bool:
        """Whether no combination is too small."""
        return self.too_small == 0


@dataclass(frozen=True)
class Verification:
    """The verdict on a release; true if its promise is kept."""

    promise: Promise
    records: int
    checks: tuple[GroupCheck, ...]
    notes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every group of columns keeps the promise."""
        return all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def as_dict(self) -> dict[str, Any]:
        """The verdict as it stands in the evidence."""
        return {
            "passed": self.passed,
            "records": self.records,
            "checks": [
                {
                    "columns": list(check.columns),
                    "combinations": check.combinations,
                    "smallest": check.smallest,
                    "too_small": check.too_small,
                    "records_exposed": check.exposed,
                }
                for check in self.checks
            ],
            "notes": list(self.notes),
        }

    def words(self) -> str:
        """The verdict in a sentence."""
        least = min(check.smallest for check in self.checks)
        if self.passed:
            count = sum(check.combinations for check in self.checks)
            found = f"{_count(count, 'combination')} in {_count(self.records, 'record')}"
            return f"passed: {found}, the rarest {_times(least)}"
        bad = [check for check in self.checks if not check.passed]
        many, exposed, least = bad[0].too_small, bad[0].exposed, bad[0].smallest
        more = f", and {_count(len(bad) - 1, 'more group')} of columns" if len(bad) > 1 else ""
        return (
            f"NOT KEPT: {_count(many, 'combination')} of {', '.join(bad[0].columns)} {'has' if many == 1 else 'have'} "
            f"fewer than {self.promise.k} records ({_count(exposed, 'record')} exposed; the rarest stands "
            f"{_times(least)}){more}"
        )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def check(frame: pl.DataFrame, promise: Promise) -> Verification:
    """Count every combination of the promised columns in a release.

    A missing value equals a missing value and nothing else. Values are compared as they stand: in text, as texts; minus
    zero is not zero.
    """
    import polars as pl
    import polars.selectors as cs

    absent = [name for name in promise.columns() if name not in frame.columns]
    if absent:
        raise InputError(f"column '{absent[0]}' of the promise is not in the release")
    if frame.height == 0:
        raise InputError("the release has no records")
    plain = frame.select(promise.columns()).with_columns(cs.float().fill_nan(None))
    # Minus zero can be told from zero by whoever reads the file; in text it is another text anyway.
    signed = [one.name for one in plain.select(cs.float()) if ((one == 0.0) & (1.0 / one < 0.0)).any()]
    plain = plain.with_columns(cs.by_name(signed).cast(pl.String)) if signed else plain
    return Verification(promise, frame.height, tuple(_tally(plain, promise, group) for group in promise.groups))


def _tally(frame: pl.DataFrame, promise: Promise, group: Sequence[str]) -> GroupCheck:
    import polars as pl

    columns = [*promise.by, *group]
    # Named by position, so that no column of the release can be called like a count.
    named = frame.select(pl.col(name).alias(str(i)) for i, name in enumerate(columns))
    counts = named.group_by([str(i) for i in range(len(columns))]).agg(pl.len().alias("size"))
    small = counts.filter(pl.col("size") < promise.k)
    return GroupCheck(
        tuple(columns),
        counts.height,
        int(counts["size"].min()),  # type: ignore[arg-type]
        small.height,
        int(small["size"].sum()),
    )
