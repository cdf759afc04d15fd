"""A statistical table: cells, what they are made of, how they add up, and what is to be kept secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.data.checks import itemize
from discreet.data.dataset import as_frame, frames_of
from discreet.errors import InputError
from discreet.tabular.aggregates import read_aggregates, round_values, suggest_decimals
from discreet.tabular.dimension import Dimension
from discreet.tabular.others import Others
from discreet.tabular.relations import CellsError, Part, Places, Relations, is_inside, name_cell, relations_of, whole
from discreet.text import count

Floats = NDArray[np.float64]

STATUSES = "sumz"
"""Letters of a status as τ-ARGUS's .jj files have them, at the place of their number."""
SAFE, PRIMARY, SECONDARY, FIXED = range(4)

WHOLE, WEIGHTED = "whole", "weighted"
"""Counts of respondents: each counts as one, or as many times as its sampling weight says."""

RULES = ("threshold", "dominance", "p", "pq", "request", "zero", "manual", "given")
"""Names of the rules at the bit that stands for each in `Table.rule`; "given" is what a file says without a rule."""

# How far a sum may be from its total, in parts of the largest number in it: what adding up decimal numbers costs.
TOLERANCE = 1e-9
SPREAD = 1.5


@dataclass(frozen=True, eq=False)
class Table:
    """Cells with their relations; every array has one entry for each cell.

    A table is made by `Table.of`, which fills in what is not given, and by the readers of files. It holds confidential
    values: it is internal as a whole.

    Attributes
    ----------
    value
        What would be published; nan where it is not known (a table that was suppressed by others).
    relations
        M y = b.
    status
        SAFE, PRIMARY (unsafe), SECONDARY (suppressed to protect others) or FIXED (may not be suppressed, or empty).
    cost
        What is lost if the cell is suppressed.
    lower, upper
        What everybody knows of the value before the table is published.
    lpl, upl, spl
        How far below and above its value, and over what range in all, a primary cell must stay uncertain.
    rule
        Which rules found the cell unsafe, a bit for each of `RULES`; internal.
    dimensions
        The dimensions, none for a table from a .jj file.
    codes
        The position of the code of each cell in each dimension.
    parts
        The linked tables that these cells are made of; one for a simple table.
    count
        Contributors, None if not known. Weighted with sampling weights.
    tops
        The largest contributions to each cell in falling order, a column each; None if not known.
    asked
        The largest contribution of one who asked for protection; None if nobody could.
    sole
        Who is the only contributor of a cell, as a number; −1 for other cells; None if nothing but counts tells.
    others
        What is left of cells without the contributions of those who are alone in some cell; where it follows from the
        cells themselves, None.
    decimals
        Digits behind the decimal point of the values; None if they are not decimal.
    response
        The name of what is summed; None where respondents are counted.
    rules
        The rules that were applied, with their parameters.
    notes
        Every assumption made on the way here, in words.
    source
        What to call the table in a message.
    frames
        The kind of frames that the table gives: polars, pandas or arrow, as the frame that it was made of.
    counts
        Of what kind counts of respondents are: WHOLE or WEIGHTED; None for sums of something else.
    """

    value: Floats
    relations: Relations
    status: NDArray[np.uint8]
    cost: Floats
    lower: Floats
    upper: Floats
    lpl: Floats
    upl: Floats
    spl: Floats
    rule: NDArray[np.int32]
    dimensions: tuple[Dimension, ...] = ()
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty((0, 0), np.int32))
    parts: tuple[Part, ...] = ()
    count: Floats | None = None
    tops: Floats | None = None
    asked: Floats | None = None
    sole: NDArray[np.int64] | None = None
    others: Others | None = None
    decimals: int | None = None
    response: str | None = None
    rules: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = "the table"
    frames: str = "polars"
    counts: str | None = None

    @classmethod
    def of(
        cls,
        value: Any,
        *,
        dimensions: Sequence[Dimension] = (),
        codes: Any = None,
        relations: Relations | None = None,
        parts: Sequence[Part] = (),
        source: str = "the table",
        **given: Any,
    ) -> Table:
        """Make a table and fill in what is not given: relations, status, cost, bounds, levels, decimals.

        Parameters
        ----------
        value : array_like
            The value of each cell.
        dimensions : sequence of Dimension
            What the table is broken down by.
        codes : array_like of int
            The position of each cell's code in each dimension.
        relations : Relations, optional
            Made from the dimensions if not given.
        parts : sequence of Part
            Linked tables; the whole table by default.
        source : str
            What to call the table in a message.
        **given
            Any other attribute of a table.
        """
        value = np.ascontiguousarray(value, dtype=np.float64)
        n = len(value)
        dims = tuple(dimensions)
        positions = np.empty((n, 0), np.int32) if codes is None else np.ascontiguousarray(codes, dtype=np.int32)
        parts = tuple(parts) or (whole(dims) if dims else ())
        if relations is None:
            places = _places(dims, positions, source)
            relations = relations_of(dims, parts, positions, places)
        lower, upper = usual_bounds(value)
        filled: dict[str, Any] = {
            "status": np.zeros(n, np.uint8),
            "cost": np.abs(np.nan_to_num(value)),
            "lower": lower,
            "upper": upper,
            "rule": np.zeros(n, np.int32),
            **{level: np.zeros(n) for level in ("lpl", "upl", "spl")},
        }
        filled |= {name: held for name, held in given.items() if held is not None}
        if "decimals" not in given:
            filled["decimals"] = decimals_of(value)
        return cls(value, relations, dimensions=dims, codes=positions, parts=parts, source=source, **filled)

    @classmethod
    def from_frame(
        cls,
        data: Any,
        *,
        by: Any,
        value: str = "value",
        count: str | None = None,
        max: str | Sequence[str] | None = None,  # noqa: A002 - the option's name
        total: Any = None,
        decimals: int | None = None,
    ) -> Table:
        """Make a table of cells that are summed up already, a row for each, margins and sub-totals too.

        A combination of codes that has no row is a zero that everybody knows. Where numbers of contributors are given,
        who is alone in a cell is known as well.

        Parameters
        ----------
        data : frame or path
            A pandas, polars or Arrow frame, or a file in any format of microdata.
        by : list of str, or mapping
            The columns of codes, each with its hierarchies, as for discreet.tabulate: ACTIVITY@act.hrc.
        value : str
            The column of the values.
        count : str, optional
            The column of the numbers of contributors.
        max : str or list of str, optional
            The column of the largest contribution; or several, the largest first.
        total : str or mapping, optional
            The code of the total, or of each dimension's. By default "Total", or the one code that the hierarchy of a
            dimension does not list.
        decimals : int, optional
            Digits behind the decimal point of the values. By default as many as they have, up to six.

        Returns
        -------
        Table
            The cells with their relations, checked to add up; internal.

        Examples
        --------
        >>> import polars as pl
        >>> cells = pl.DataFrame({"size": ["Total", "small", "large"], "sales": [60, 10, 50], "n": [5, 1, 4]})
        >>> Table.from_frame(cells, by=["size"], value="sales", count="n")
        Table of 3 cells and 1 relations over size, 0 primary and 0 secondary
        """
        found = read_aggregates(data, by, value, count, max, total)
        name, place = found.dataset.name, found.dataset.place
        values = found.value if decimals is None else round_values(found.value, decimals, name, place)
        given: dict[str, Any] = {} if decimals is None else {"decimals": decimals}
        # A part that is larger than the whole: others of the parts are negative, and some rules must know.
        above = 0 if found.tops is None else int((found.tops.sum(axis=1) > values + 1e-9 * np.abs(values)).sum())
        try:
            table = cls.of(
                values,
                dimensions=found.dimensions,
                codes=found.codes,
                count=found.count,
                tops=found.tops,
                response=value,
                rules={"negatives": above} if above else {},
                notes=found.notes,
                source=name,
                frames=frames_of(data),
                **given,
            )
        except CellsError as error:
            raise InputError(f"{name}: {error.at(place).removeprefix(f'{name}: ')}") from None
        table.check_sums()
        notes = found.notes if table.decimals is not None else (*found.notes, *suggest_decimals(values))
        return table.but(notes=notes)

    def __len__(self) -> int:
        return len(self.value)

    def but(self, **changes: Any) -> Table:
        """The same table with some attributes changed."""
        return replace(self, **changes)

    @cached_property
    def places(self) -> Places:
        """Where to find a cell by its codes."""
        return Places([len(one.codes) for one in self.dimensions], self.codes)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The cells as they are listed for people: by their codes, each followed by the codes below it."""
        ranks = [one.ranks[self.codes[:, axis]] for axis, one in enumerate(self.dimensions)]
        return np.lexsort(ranks[::-1]) if ranks else np.arange(len(self))

    def cells_of(self, part: Part) -> NDArray[np.int64]:
        """The cells of one of the linked tables, in their order."""
        return self.order[is_inside(self.dimensions, part, self.codes)[self.order]]

    @property
    def suppressed(self) -> NDArray[np.bool_]:
        """Which cells are not published."""
        hidden: NDArray[np.bool_] = (self.status == PRIMARY) | (self.status == SECONDARY)
        return hidden

    @property
    def integral(self) -> bool:
        """Whether everybody knows that the values are whole numbers."""
        return self.counts == WHOLE

    @property
    def primary(self) -> NDArray[np.int64]:
        """The unsafe cells."""
        return np.flatnonzero(self.status == PRIMARY)

    def name(self, cell: int) -> str:
        """What to call a cell in a message: its codes, or its number."""
        if not self.dimensions:
            return f"cell {cell}"
        return name_cell(self.dimensions, self.codes[cell])

    def relation_name(self, relation: int) -> str:
        """What to call a relation in a message: its total."""
        start, end = self.relations.starts[relation : relation + 2]
        cells, coefficients = self.relations.cells[start:end], self.relations.coefficients[start:end]
        totals = cells[coefficients < 0]
        of = self.name(int(totals[0])) if len(totals) == 1 else f"of {itemize([self.name(int(c)) for c in cells])}"
        if self.dimensions and len(totals) == 1 and len(cells) > 1:
            part = int(cells[coefficients > 0][0])
            axis = int(np.flatnonzero(self.codes[part] != self.codes[totals[0]])[0])
            return f"relation {relation} (the total {of} over '{self.dimensions[axis].name}')"
        return f"relation {relation} ({of if len(totals) != 1 else f'the total is {of}'})"

    def codes_of(self, axis: int) -> list[str]:
        """The code of every cell in one dimension."""
        names = np.array(self.dimensions[axis].codes, dtype=object)
        return list(names[self.codes[:, axis]])

    def check_sums(self, tolerance: float = TOLERANCE) -> None:
        """Refuse a table that does not add up."""
        known = np.nan_to_num(self.value)
        missed = np.abs(self.relations.residuals(known))
        if np.isnan(self.value).any():
            unknown = np.bincount(
                self.relations.rows, weights=np.isnan(self.value)[self.relations.cells], minlength=len(missed)
            )
            missed[unknown > 0] = 0.0
        size = np.zeros(len(missed))
        np.maximum.at(size, self.relations.rows, np.abs(known[self.relations.cells]))
        wrong = np.flatnonzero(missed > tolerance * np.maximum(1.0, size))
        if len(wrong):
            worst = wrong[np.argmax(missed[wrong])]
            # By how much is not told: where a part is missing, that is its value.
            unit = 10.0 ** -(self.decimals if self.decimals is not None else 9)
            rounded = (missed <= 0.501 * unit * np.diff(self.relations.starts))[wrong].all()
            hint = ". All of them are off by no more than rounding makes: take the values before they were rounded"
            raise InputError(
                f"{self.source} does not add up: {len(wrong)} of {count(len(missed), 'relation')}, most of all "
                f"{self.relation_name(int(worst))}; correct the values, rounded ones too: they must add up"
                f"{hint if rounded else ''}"
            )

    def check(self) -> None:
        """Refuse a table that contradicts itself: sums, bounds and levels."""
        self.check_sums()
        slack = TOLERANCE * np.maximum(1.0, np.abs(np.nan_to_num(self.value)))
        self._refuse(np.isnan(self.lower) | np.isnan(self.upper), "a bound that is missing", "give it one")
        self._refuse(self.lower > self.upper, "a lower bound above the upper bound", "exchange or correct them")
        for name, beyond in (
            ("below its lower bound", self.lower - self.value > slack),
            ("above its upper bound", self.value - self.upper > slack),
        ):
            self._refuse(
                beyond, f"a value {name}", "widen the bounds: the attacker is said to know better than the truth"
            )
        for level in (self.lpl, self.upl, self.spl):
            self._refuse(
                ~(level >= 0), "a protection level that is negative or missing", "levels are distances, 0 or more"
            )
        primary = self.status == PRIMARY
        for words, beyond in (
            ("lower", self.value - self.lpl < self.lower - slack),
            ("upper", self.value + self.upl > self.upper + slack),
        ):
            self._refuse(
                primary & beyond,
                f"{'an' if words == 'upper' else 'a'} {words} protection level beyond its {words} bound",
                "no suppression can protect it; lower the level or widen the bound",
            )
        self._refuse(
            primary & (self.lower == self.upper) & (self.upl + self.lpl + self.spl > 0),
            "to be protected, although its bounds fix its value",
            "widen its bounds, or make it safe",
        )

    def _refuse(self, wrong: NDArray[np.bool_], what: str, advice: str) -> None:
        cells = np.flatnonzero(wrong)
        if len(cells):
            names = itemize([self.name(int(cell)) for cell in cells])
            have = "has" if len(cells) == 1 else "have"
            verb = "is" if what.startswith("to be") else have
            raise InputError(f"{self.source}: {names} {verb} {what}; {advice}")

    def frame(self, kind: str | None = None) -> Any:
        """The table as a frame: dimensions, then every attribute of the cells; internal.

        Parameters
        ----------
        kind : {"polars", "pandas", "arrow"}, optional
            By default as the frame that the table was made of; polars if it came from a file.
        """
        columns: dict[str, Any] = {}
        for axis, dimension in enumerate(self.dimensions):
            columns[dimension.name] = pl.Series(list(dimension.codes), dtype=pl.String).gather(self.codes[:, axis])
        columns["value"] = pl.Series(self.value).fill_nan(None)
        if self.count is not None:
            columns["count"] = self.count
        columns["status"] = pl.Series(list(STATUSES)).gather(self.status.astype(np.int64))
        columns["rule"] = self.rule_words()
        for name in ("cost", "lower", "upper", "lpl", "upl", "spl"):
            columns[{"lower": "lb", "upper": "ub"}.get(name, name)] = getattr(self, name)
        if self.tops is not None:
            columns |= {f"top{at + 1}": self.tops[:, at] for at in range(self.tops.shape[1])}
        if self.asked is not None:
            columns["asked"] = self.asked
        if self.sole is not None:
            columns["sole"] = pl.Series(self.sole).replace(-1, None)
        return as_frame(pl.DataFrame(columns), kind or self.frames)

    def rule_words(self) -> pl.Series:
        """The names of the rules that found each cell unsafe, joined by +; null for the others."""
        kinds, which = np.unique(self.rule, return_inverse=True)
        words = ["+".join(name for bit, name in enumerate(RULES) if kind >> bit & 1) or None for kind in kinds.tolist()]
        return pl.Series(words, dtype=pl.String).gather(which)

    def __repr__(self) -> str:
        over = " × ".join(one.name for one in self.dimensions) or "no named dimensions"
        return (
            f"Table of {len(self):,} cells and {len(self.relations):,} relations over {over}, "
            f"{int((self.status == PRIMARY).sum()):,} primary and {int((self.status == SECONDARY).sum()):,} secondary"
        )


def usual_bounds(value: Floats, spread: float = SPREAD) -> tuple[Floats, Floats]:
    """What an attacker is taken to know: nothing is negative where nothing is, nor above 1.5 times the largest."""
    known = value[~np.isnan(value)]
    largest = spread * float(np.abs(known).max(initial=0.0))
    lowest = 0.0 if (known >= 0).all() else -largest
    return np.full(len(value), lowest), np.full(len(value), largest)


def decimals_of(value: Floats, most: int = 6) -> int | None:
    """The fewest digits behind the point that show every value as it is; None if more than `most` would be needed."""
    known = value[~np.isnan(value)]
    for digits in range(most + 1):
        scaled = known * 10.0**digits
        if np.abs(scaled).max(initial=0.0) >= 2.0**53:
            return None
        whole_numbers = np.rint(scaled)
        if (whole_numbers / 10.0**digits == known).all():
            return digits
    return None


def _places(dimensions: tuple[Dimension, ...], codes: NDArray[np.int32], source: str) -> Places:
    places = Places([len(one.codes) for one in dimensions], codes)
    repeated = places.repeated
    if len(repeated):
        names = [name_cell(dimensions, codes[cell]) for cell in repeated.tolist()]
        raise CellsError(f"{source}: cells that occur more than once", "leave each of them once", repeated, names)
    return places
