"""What a release of microdata promises: k-anonymity, l-diversity and t-closeness, for records, persons or households.

The independent check of it: count what stands in the release.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from discreet.errors import InputError, whole
from discreet.text import count
from discreet.verification.confidential import RECORD, ROUNDING, Closeness, Diversity, Scale

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]


KIND = "k-anonymity"


@dataclass(frozen=True)
class Promise:
    """Within each stratum, each combination of values of a group of columns occurs at least k times.

    The records that share a combination are a class. What else is promised holds in each class, of each group of
    columns.

    Parameters
    ----------
    k : int
        Least number of records that share a combination; of persons, if these are named.
    groups : tuple of tuples of str
        The groups of columns; the promise is kept within each, and not across them.
    by : tuple of str
        The columns whose combinations make the strata.
    l : tuple of Diversity
        Confidential columns with the least number of different values.
    t : tuple of Closeness
        Confidential columns with the largest distance of their distribution from that in the whole release.
    person : str, optional
        The column of the original that says whose a record is, where persons have several; it is not released.
    household : str, optional
        The column of the release that numbers households: what occurs at least k times are then the combinations of
        values of all members together, so that whoever knows a whole household finds k that look alike. A class is
        then of the records of such households, each of which has one vote.
    """

    k: int
    groups: tuple[tuple[str, ...], ...]
    by: tuple[str, ...] = ()
    l: tuple[Diversity, ...] = ()  # noqa: E741 - it is the name it has in the field
    t: tuple[Closeness, ...] = ()
    person: str | None = None
    household: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", whole("k", self.k, 2))
        if not self.groups or not all(self.groups):
            raise InputError("a promise needs at least one quasi-identifier")
        named = [name for group in self.groups for name in group] + list(self.by)
        named += [] if self.household is None else [self.household]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise InputError(f"column '{twice[0]}' stands twice in the promise; name it once")
        if self.household is not None and self.person is not None:
            raise InputError(
                "person cannot be promised together with household: a household counts once, however many records its "
                "members have; leave out person"
            )
        for said in self.held:
            if said.column in named:
                raise InputError(
                    f"column '{said.column}' cannot have l or t: its values are known to intruders; l and t are for "
                    "confidential columns"
                )

    @property
    def unit(self) -> str:
        """What is counted: record, person or household."""
        if self.household is not None:
            return "household"
        return RECORD if self.person is None else "person"

    @property
    def held(self) -> tuple[Diversity | Closeness, ...]:
        """What is promised of confidential columns."""
        return (*self.l, *self.t)

    def columns(self) -> list[str]:
        """The columns whose combinations are counted."""
        return [*self.by, *(name for group in self.groups for name in group)]

    def with_scales(self, scales: Mapping[str, Scale]) -> Promise:
        """The promise with the scales of its confidential columns."""
        return replace(
            self,
            l=tuple(replace(said, scale=scales[said.column]) for said in self.l),
            t=tuple(replace(said, scale=scales[said.column]) for said in self.t),
        )

    def as_dict(self) -> dict[str, Any]:
        """The promise as it stands in the record of a release."""
        parts = {"l": [one.as_dict() for one in self.l], "t": [one.as_dict() for one in self.t], "person": self.person}
        parts["household"] = self.household
        further = {name: part for name, part in parts.items() if part}
        groups = [list(group) for group in self.groups]
        return {"kind": KIND, "k": self.k, "groups": groups, "by": list(self.by), **further, "words": self.words()}

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
        try:
            diverse = tuple(Diversity.from_dict(one) for one in content.get("l", []))
            close = tuple(Closeness.from_dict(one) for one in content.get("t", []))
            person, household = content.get("person"), content.get("household")
            if not isinstance(person, str | None) or not isinstance(household, str | None):
                raise TypeError
        except (KeyError, TypeError, AttributeError):
            raise InputError("the promise is damaged: its l, t, person or household cannot be read") from None
        return cls(k, groups, by, diverse, close, person, household)

    def words(self) -> str:
        """The promise in a sentence."""
        within = f", within each combination of {', '.join(self.by)}" if self.by else ""
        times = f"occurs at least {self.k} times" if self.person is None else f"is shared by at least {self.k} persons"
        further = "".join(f"; in each {said.words(self.unit)}" for said in self.held)
        if self.household is not None:
            times = f"of a whole household is that of at least {self.k} households"
        if len(self.groups) == 1:
            number = len(self.groups[0])
            what = f"combination of the {number} quasi-identifiers" if number > 1 else "value of the quasi-identifier"
            return f"every {what} {times}{within}{further}"
        return (
            f"within each of {len(self.groups)} groups of quasi-identifiers every combination {times}{within}"
            f"{further}; across groups nothing is promised"
        )


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise TypeError
    return tuple(value)


@dataclass(frozen=True)
class HeldCheck:
    """What was found of a confidential column in the classes of one group of columns.

    Parameters
    ----------
    promise : Diversity or Closeness
        What was promised of it.
    worst : float
        The least number of different values, plain or by entropy, or the largest distance.
    broken : int
        Classes that do not keep the promise.
    exposed : int
        Records in them.
    distribution : str
        The SHA-256 of the sorted list of its values with how often each occurs in the release.
    """

    promise: Diversity | Closeness
    worst: float
    broken: int
    exposed: int
    distribution: str

    def as_dict(self) -> dict[str, Any]:
        """What was found as it stands in the evidence."""
        found = {"column": self.promise.column, "worst": self.worst, "broken": self.broken}
        return found | {"records_exposed": self.exposed, "distribution_sha256": self.distribution}

    def words(self) -> str:
        """What was found, as a part of a sentence."""
        if isinstance(self.promise, Closeness):
            return f"{self.promise.column} at most {self.worst:.4g} from all records"
        how = " by entropy" if self.promise.entropy else ""
        return f"{self.promise.column} of at least {self.worst:.4g} values{how}"


@dataclass(frozen=True)
class GroupCheck:
    """What was counted over one group of columns.

    Parameters
    ----------
    columns : tuple of str
        The columns, strata before them.
    combinations : int
        How many combinations of values there are.
    smallest : int
        Records of the rarest; persons, where these are promised and known, or households.
    too_small : int
        Combinations with fewer than k of them.
    exposed : int
        Records in those.
    held : tuple of HeldCheck
        What was found of confidential columns.
    """

    columns: tuple[str, ...]
    combinations: int
    smallest: int
    too_small: int
    exposed: int
    held: tuple[HeldCheck, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether no combination is too small, and all of them keep what else is promised."""
        return self.too_small == 0 and all(one.broken == 0 for one in self.held)

    def as_dict(self) -> dict[str, Any]:
        """What was counted as it stands in the evidence."""
        further = {
            name: [one.as_dict() for one in self.held if isinstance(one.promise, kind)]
            for name, kind in (("l", Diversity), ("t", Closeness))
        }
        return {
            "columns": list(self.columns),
            "combinations": self.combinations,
            "smallest": self.smallest,
            "too_small": self.too_small,
            "records_exposed": self.exposed,
        } | {name: found for name, found in further.items() if found}


@dataclass(frozen=True)
class Verification:
    """The verdict on a release; true if its promise is kept.

    Parameters
    ----------
    promise : Promise
        What was checked.
    records : int
        Records of the release.
    checks : tuple of GroupCheck
        What was counted, for each group of columns.
    notes : tuple of str
        What else to know.
    persons : bool, optional
        Whether persons were counted; None where the promise does not speak of them. If they were not, records were,
        and the promise is not verified.
    """

    promise: Promise
    records: int
    checks: tuple[GroupCheck, ...]
    notes: tuple[str, ...] = ()
    persons: bool | None = None

    @property
    def passed(self) -> bool:
        """Whether every group of columns keeps the promise."""
        return self.persons is not False and all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def as_dict(self) -> dict[str, Any]:
        """The verdict as it stands in the evidence."""
        return {
            "passed": self.passed,
            "records": self.records,
            "checks": [check.as_dict() for check in self.checks],
            "notes": list(self.notes),
        } | ({} if self.persons is None else {"persons": "verified" if self.persons else "not verified"})

    def distributions(self) -> dict[str, str]:
        """The digests of the distributions of the columns that t-closeness was checked of."""
        held = (one for check in self.checks for one in check.held)
        return {one.promise.column: one.distribution for one in held if isinstance(one.promise, Closeness)}

    def words(self) -> str:
        """The verdict in a sentence."""
        bad = [check for check in self.checks if not check.passed]
        if bad:
            more = f", and {count(len(bad) - 1, 'more group')} of columns" if len(bad) > 1 else ""
            return f"NOT KEPT: {'; '.join(self._faults(bad[0]))}{more}"
        least = min(check.smallest for check in self.checks)
        combinations = sum(check.combinations for check in self.checks)
        who = self._who
        rarest = _times(least) if who == RECORD else f"with {count(least, who)}"
        words = f"{count(combinations, 'combination')} in {count(self.records, 'record')}, the rarest {rarest}"
        for said in self.promise.held:
            found = [one for check in self.checks for one in check.held if one.promise == said]
            # Of several groups of columns the worst.
            found.sort(key=lambda one: one.worst, reverse=isinstance(said, Closeness))
            words += f", {found[0].words()}" if found else ""
        if self.persons is False:
            return f"persons not verified: name the original and the row map of the release. Of records: {words}"
        return f"passed: {words}"

    @property
    def _who(self) -> str:
        """What was counted."""
        return RECORD if self.persons is False else self.promise.unit

    def _faults(self, bad: GroupCheck) -> list[str]:
        """What one group of columns does not keep."""
        names, faults = ", ".join(bad.columns), []
        if bad.too_small:
            who = self._who
            rarest = f"stands {_times(bad.smallest)}" if who == RECORD else f"has {count(bad.smallest, who)}"
            faults.append(
                f"{count(bad.too_small, 'combination')} of {names} {'has' if bad.too_small == 1 else 'have'} fewer "
                f"than {self.promise.k} {who}s ({count(bad.exposed, 'record')} exposed; the rarest {rarest})"
            )
        faults += [
            f"in {count(one.broken, 'combination')} of {names} it does not hold that "
            f"{one.promise.words(self._who)} ({count(one.exposed, 'record')} exposed; the worst: "
            f"{one.worst:.4g})"
            for one in bad.held
            if one.broken
        ]
        return faults


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def check(
    frame: pl.DataFrame,
    promise: Promise,
    *,
    persons: pl.Series | None = None,
    decimal: str = ".",
    votes: NDArray[np.float64] | None = None,
    whole: Mapping[str, pl.DataFrame] | None = None,
) -> Verification:
    """Count every combination of the promised columns in a release, and what each has of confidential ones.

    A missing value equals a missing value and nothing else. Quasi-identifiers are compared as they stand: in text, as
    texts; minus zero is not zero. Confidential values are read by their scales.

    Parameters
    ----------
    frame : polars.DataFrame
        The release.
    promise : Promise
        What it promises.
    persons : polars.Series, optional
        Whose each row is, where the promise speaks of persons; without it these are not verified.
    decimal : str
        The decimal mark of numbers in text.
    votes : array of float, optional
        Of a part of a release what each record counts: its share in all records of its person.
    whole : mapping, optional
        Of a part of a release the values that all of it has in the columns of t-closeness, as `count_values` gives
        them.
    """
    import polars as pl
    import polars.selectors as cs

    from discreet.verification.distributions import read_codes

    named = [*promise.columns(), *(said.column for said in promise.held)]
    named += [] if promise.household is None else [promise.household]
    absent = [name for name in named if name not in frame.columns]
    if absent:
        raise InputError(f"column '{absent[0]}' of the promise is not in the release")
    if frame.height == 0:
        raise InputError("the release has no records")
    plain = frame.select(promise.columns()).with_columns(cs.float().fill_nan(None))
    # Minus zero can be told from zero by whoever reads the file; in text it is another text anyway.
    signed = [one.name for one in plain.select(cs.float()) if ((one == 0.0) & (1.0 / one < 0.0)).any()]
    plain = plain.with_columns(cs.by_name(signed).cast(pl.String)) if signed else plain
    # Texts by their numbers, equal ones the same: combinations of texts take several times the memory.
    plain = plain.with_columns(cs.string().cast(pl.Categorical).to_physical())
    are_known = promise.person is None or persons is not None
    # Without persons it can be seen whether there are enough different values, but not who has how many votes.
    asked = [said for said in promise.held if are_known or (isinstance(said, Diversity) and not said.entropy)]
    held = []
    for said in asked:
        known = (whole or {}).get(said.column) if isinstance(said, Closeness) else None
        everywhere = None if known is None else known["votes"].to_numpy()
        held.append(_Held(said, *read_codes(frame[said.column], said.scale, decimal, known), everywhere))
    households = None if promise.household is None else frame[promise.household]
    units = persons if households is None else households
    whose = None if promise.unit == RECORD or units is None else _count_votes(units, votes)
    found = tuple(_tally(plain, promise, group, held, whose, households) for group in promise.groups)
    return Verification(promise, frame.height, found, persons=None if promise.person is None else are_known)


class _Held(NamedTuple):
    """A confidential column: what is promised of it, its values as codes, the digest of their distribution, and of a
    part of a release that of the whole."""

    promise: Diversity | Closeness
    codes: Integers
    distribution: str
    everywhere: NDArray[np.float64] | None


class _Persons(NamedTuple):
    """Whose each row is, a person's or a household's, and its vote: each has one, split over the records."""

    codes: Integers
    votes: NDArray[np.float64]


def _count_votes(persons: pl.Series, votes: NDArray[np.float64] | None) -> _Persons:
    import numpy as np

    codes = persons.rank("dense").fill_null(0).to_numpy().astype(np.int64)
    return _Persons(codes, 1.0 / np.bincount(codes)[codes] if votes is None else votes)


def _tally(
    frame: pl.DataFrame,
    promise: Promise,
    group: Sequence[str],
    held: Sequence[_Held],
    persons: _Persons | None,
    households: pl.Series | None,
) -> GroupCheck:
    import polars as pl

    from discreet.verification.households import count_households

    columns = [*promise.by, *group]
    # Named by position, so that no column of the release can be called like a count.
    named = frame.select(pl.col(name).alias(str(i)) for i, name in enumerate(columns))
    keys = named.columns
    if households is not None:
        counts, home = count_households(named, households)
    else:
        size = pl.len()
        if persons is not None:
            named, size = named.with_columns(pl.Series("person", persons.codes)), pl.col("person").n_unique()
        counted = named.lazy().group_by(keys).agg(size.alias("size"), pl.len().alias("records"))
        counts = counted.collect(engine="streaming")  # which takes a quarter of the memory
        if held:
            numbered = counts.select(keys).with_row_index("class")
            rows = named.select(keys).join(numbered, on=keys, how="left", nulls_equal=True, maintain_order="left")
            home = rows["class"]
    small = counts.filter(pl.col("size") < promise.k)
    looked = tuple(_look(one, home.cast(pl.Int64).to_numpy(), persons) for one in held)
    return GroupCheck(
        tuple(columns),
        counts.height,
        int(counts["size"].min()),  # type: ignore[arg-type]
        small.height,
        int(small["records"].sum()),
        looked,
    )


def _look(held: _Held, classes: Integers, persons: _Persons | None) -> HeldCheck:
    """What each class has of a confidential column."""
    import numpy as np

    from discreet.verification.distributions import count_represented, measure_spread

    said = held.promise
    votes = None if persons is None else persons.votes
    spread = measure_spread(classes, held.codes, votes, ordered=said.scale.ordered, everywhere=held.everywhere)
    if isinstance(said, Closeness):
        bad, worst = spread.distance > said.most + ROUNDING, float(spread.distance.max())
    elif said.entropy:
        bad, worst = spread.entropy < math.log(said.least) - ROUNDING, math.exp(spread.entropy.min())
    else:
        different = spread.distinct if persons is None else count_represented(classes, held.codes, persons.codes)
        bad, worst = different < said.least, float(different.min())
    return HeldCheck(said, worst, int(bad.sum()), int(np.bincount(classes)[bad].sum()), held.distribution)
