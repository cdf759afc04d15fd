"""What can be promised of a confidential column, l-diversity and t-closeness, and the scale its values are read by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from discreet.data.roles import KINDS
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.data.attributes import Attribute

ENTROPY = "entropy:"
# What is counted, unless persons or households are.
RECORD = "record"
# Of an entropy or a distance, which are sums of rounded shares: so much beyond the limit is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Scale:
    """How the values of a column are read.

    Parameters
    ----------
    kind : str
        numeric, date or ordinal, whose values have an order; or nominal.
    order : tuple of str
        The categories of an ordinal column, lowest first.
    form : str
        How dates in text are written; empty if that is found out.
    pivot : int, optional
        Of years of two digits, the last that is one of this century.
    na : tuple of str
        Words and numbers that stand for missing values.
    """

    kind: str = "nominal"
    order: tuple[str, ...] = ()
    form: str = ""
    pivot: int | None = None
    na: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"the promise has a column of type {self.kind!r}; known are {', '.join(KINDS)}")
        if self.kind == "ordinal" and not self.order:
            raise InputError("the promise has an ordinal column without its order")

    @classmethod
    def of(cls, attribute: Attribute, na: tuple[str, ...] = ()) -> Scale:
        """The scale by which an attribute was read."""
        import polars as pl

        form = attribute.form
        order: tuple[str, ...] = ()
        if attribute.kind == "ordinal" and attribute.categories is not None:
            present = attribute.categories.drop_nulls()
            whole = present.dtype.is_float() and (present == present.round()).all()
            order = tuple((present.cast(pl.Int64) if whole else present).cast(pl.String).to_list())
        # The years of two digits depend on the pivot alone.
        pivot = form.pivot if form is not None and "%y" in form.pattern else None
        return cls(attribute.kind, order, "" if form is None else form.pattern, pivot, na)

    @property
    def ordered(self) -> bool:
        """Whether the values have an order."""
        return self.kind != "nominal"

    def words(self) -> str:
        """What the values are."""
        plain = {"numeric": "numbers", "nominal": "categories", "ordinal": "in its order"}
        return plain.get(self.kind, f"dates written {self.form}" if self.form else "dates")

    def as_dict(self) -> dict[str, Any]:
        """The scale as it stands in a promise, without what is not said."""
        said = {"order": list(self.order), "form": self.form, "pivot": self.pivot, "na": list(self.na)}
        return {"type": self.kind} | {name: value for name, value in said.items() if value not in ([], "", None)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Scale:
        """Read a scale from a promise; a KeyError or TypeError if it is none."""
        lists = {name: tuple(map(str, content.get(name, ()))) for name in ("order", "na")}
        pivot = content.get("pivot")
        if not isinstance(content["type"], str) or not isinstance(pivot, int | None):
            raise TypeError
        return cls(content["type"], lists["order"], str(content.get("form", "")), pivot, lists["na"])


@dataclass(frozen=True)
class Diversity:
    """Each class has at least so many different values of a confidential column.

    Parameters
    ----------
    column : str
        The confidential column.
    least : float
        How many; by entropy, the number of equally frequent values that have as much entropy.
    entropy : bool
        Whether it is counted by entropy.
    scale : Scale
        How the values are read.
    """

    column: str
    least: float
    entropy: bool = False
    scale: Scale = Scale()

    @classmethod
    def parse(cls, column: str, said: object) -> Diversity:
        """Read `3` or `entropy:3`."""
        text = str(said).strip()
        by_entropy = text.startswith(ENTROPY)
        number = _read_number(text.removeprefix(ENTROPY))
        if isinstance(said, bool) or not 1 <= number < math.inf or not (by_entropy or number == round(number)):
            raise InputError(
                f"l of column '{column}' must be a whole number of at least 1, such as 3, or by entropy a number of at "
                f"least 1, such as {ENTROPY}3; not {said!r}"
            )
        return cls(column, number if by_entropy else int(number), by_entropy)

    def as_dict(self) -> dict[str, Any]:
        """What is promised as it stands in the record."""
        return {"column": self.column, "least": self.least, "entropy": self.entropy, **self.scale.as_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Diversity:
        """Read it from a record; a KeyError or TypeError if it is none."""
        said = cls.parse(str(content["column"]), f"{ENTROPY if content['entropy'] else ''}{content['least']}")
        return replace(said, scale=Scale.from_dict(content))

    @property
    def written(self) -> str | float:
        """What `parse` reads it from."""
        return f"{ENTROPY}{self.least:g}" if self.entropy else self.least

    @property
    def holds_anyway(self) -> bool:
        """Whether every class keeps it."""
        return self.least <= 1

    def words(self, unit: str) -> str:
        """The promise as a part of a sentence; the unit is record, person or household."""
        if self.entropy:
            return (
                f"{self.column} has an entropy of at least that of {self.least:g} equally frequent values{_vote(unit)}"
            )
        who = f"{self.least:g}" if unit == RECORD else f"{self.least:g} {unit}s with {self.least:g}"
        return f"{self.column} has at least {who} different values"


@dataclass(frozen=True)
class Closeness:
    """In each class the distribution of a confidential column is within so much of that in the whole release.

    Parameters
    ----------
    column : str
        The confidential column.
    most : float
        The largest earth mover's distance, above 0 and at most 1.
    scale : Scale
        How the values are read, and whether they have an order.
    """

    column: str
    most: float
    scale: Scale = Scale()

    @classmethod
    def parse(cls, column: str, said: object) -> Closeness:
        """Read a share such as `0.2`."""
        text = str(said).strip()
        number = _read_number(text.removesuffix("%").strip())
        if isinstance(said, bool) or not 0 < number <= 1 or text.endswith("%"):
            percent = number if number > 1 or text.endswith("%") else math.nan
            hint = f" ({percent:g} %? then {percent / 100:g})" if 0 < percent <= 100 else ""
            raise InputError(f"t of column '{column}' is a share, above 0 and at most 1, not {said!r}{hint}")
        return cls(column, number)

    def as_dict(self) -> dict[str, Any]:
        """What is promised as it stands in the record."""
        return {"column": self.column, "most": self.most, **self.scale.as_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Closeness:
        """Read it from a record; a KeyError or TypeError if it is none."""
        return replace(cls.parse(str(content["column"]), content["most"]), scale=Scale.from_dict(content))

    @property
    def holds_anyway(self) -> bool:
        """Whether every class keeps it."""
        return self.most >= 1

    def words(self, unit: str) -> str:
        """The promise as a part of a sentence; the unit is record, person or household."""
        return f"{self.column} is distributed as in all records within t = {self.most:g}{_vote(unit)}"


def _vote(unit: str) -> str:
    return "" if unit == RECORD else f", each {unit} having one vote"


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def parse_l(said: Mapping[str, object] | None) -> tuple[Diversity, ...]:
    """The l-diversity that was asked for, by column."""
    return tuple(Diversity.parse(column, value) for column, value in _check_mapping("l", said).items())


def parse_t(said: Mapping[str, object] | None) -> tuple[Closeness, ...]:
    """The t-closeness that was asked for, by column."""
    return tuple(Closeness.parse(column, value) for column, value in _check_mapping("t", said).items())


def _check_mapping(name: str, said: Mapping[str, object] | None) -> Mapping[str, object]:
    if said is None:
        return {}
    if not isinstance(said, Mapping) or not all(isinstance(column, str) for column in said):
        raise InputError(f"{name}: expected a mapping from confidential column to number")
    return said
