"""The verdict of an audit, in words and as files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from discreet.attack.levels import EXPOSED, NARROW, NOT_SHOWN, PROTECTED, PUBLISHED, UNJUDGED
from discreet.data.checks import itemize
from discreet.data.dataset import as_frame
from discreet.tabular.table import PRIMARY, SECONDARY, STATUSES, Table
from discreet.text import as_html, count, entry
from discreet.verification.certificate import Certificate

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Audit:
    """What an attacker can work out of a suppressed table; true if every cell that was judged is protected.

    Attributes
    ----------
    table
        The table, with the pattern that was audited.
    cells
        The suppressed cells, and those that should have been.
    lower, upper
        The attacker's interval of each: exact if `exact`, else as wide as it was proven to be at least.
    required_lower, required_upper, required_width
        What each must reach; nan where it is not judged.
    verdict
        For each "protected", "exposed" (its value is known exactly), "too narrow", "not shown" (to be any of these),
        "published", or nothing if it was not judged.
    exact
        Whether the intervals are the attacker's exact ones.
    eliminated
        Suppressed cells that follow from the published ones by subtraction alone.
    insiders
        Cells of which somebody is the sole contributor, with those of whose others he can then learn too much; None if
        not looked at.
    victims
        Cells that were given up to sole contributors, since nothing can keep them.
    sums
        Relations that give away an unsafe sum, with its suppressed cells; None if not looked at.
    certificate
        Two tables for each primary cell, if asked for.
    certified
        For each cell whether additions in exact arithmetic have proven that it is protected; a cell that is protected
        and not certified is so by the word of a solver only. None if nothing was added up.
    """

    table: Table
    cells: Ints
    lower: Floats
    upper: Floats
    required_lower: Floats
    required_upper: Floats
    required_width: Floats
    verdict: NDArray[np.object_]
    exact: bool
    eliminated: Ints
    strict: bool = False
    insiders: list[tuple[Ints, Ints]] | None = None
    victims: tuple[int, ...] = ()
    sums: list[tuple[int, Ints]] | None = None
    certificate: Certificate | None = None
    certified: NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def failed(self) -> Ints:
        """The cells that are not protected as they should be, or not shown to be."""
        return self.cells[np.isin(self.verdict, [PUBLISHED, EXPOSED, NARROW, NOT_SHOWN])]

    @property
    def passed(self) -> bool:
        """Whether everything that was judged is protected."""
        return not len(self.failed) and not self.insiders and not self.victims and not self.sums

    def __bool__(self) -> bool:
        return self.passed

    def with_verdicts_of(self, other: Audit, cells: Ints) -> Audit:
        """This audit with what another one of the same suppressed cells says of some of them."""
        out = np.isin(self.cells, cells)
        names = ("lower", "upper", "required_lower", "required_upper", "required_width", "verdict")
        return replace(
            self,
            table=other.table,
            **{name: np.where(out, getattr(other, name), getattr(self, name)) for name in names},
        )

    def intervals(self, kind: str | None = None) -> Any:
        """The attacker's interval of every suppressed cell, with what is required; internal.

        Parameters
        ----------
        kind : {"polars", "pandas", "arrow"}, optional
            The kind of frame; by default as the frame that the table was made of.
        """
        columns: dict[str, Any] = {
            "cell": self.cells,
            "value": self.table.value[self.cells],
            "lower": self.lower,
            "upper": self.upper,
            "required_lower": self.required_lower,
            "required_upper": self.required_upper,
            "required_width": self.required_width,
            "status": [STATUSES[status] for status in self.table.status[self.cells].tolist()],
            "verdict": [verdict or None for verdict in self.verdict.tolist()],
        }
        for axis, one in enumerate(self.table.dimensions):
            codes = pl.Series(list(one.codes), dtype=pl.String)
            columns[one.name] = codes.gather(self.table.codes[self.cells, axis])
        return as_frame(pl.DataFrame(columns).fill_nan(None), kind or self.table.frames)

    def as_dict(self) -> dict[str, Any]:
        """The verdict as it stands in the evidence: counts, no cell and no value."""
        verdicts = Counter(str(verdict) for verdict in self.verdict)
        return {
            "passed": self.passed,
            "suppressed": len(self.cells) - verdicts[PUBLISHED],
            "judged": len(self.cells) - verdicts[UNJUDGED],
            "protected": verdicts[PROTECTED],
            "too_narrow": verdicts[NARROW],
            "exposed": verdicts[EXPOSED],
            "not_shown": verdicts[NOT_SHOWN],
            "published": verdicts[PUBLISHED],
            "eliminated": len(self.eliminated),
            "insiders": None if self.insiders is None else len(self.insiders),
            "sums": None if self.sums is None else len(self.sums),
            "strict": self.strict,
            "certificate": None if self.certified is None else ("approximate" if self._by_solver() else "exact"),
            "certified": 0 if self.certified is None else int((self.certified & (self.verdict == PROTECTED)).sum()),
            "by_solver_only": self._by_solver(),
        }

    def _by_solver(self) -> int:
        """How many cells are protected by the word of a solver only."""
        protected = self.verdict == PROTECTED
        return int((protected if self.certified is None else protected & ~self.certified).sum())

    def summary(self) -> str:
        """The audit in words."""

        table, said = self.table, self.as_dict()
        primary, secondary = ((table.status == status).sum() for status in (PRIMARY, SECONDARY))
        lines = [
            f"{table.source}: {len(table):,} cells, {len(table.relations):,} relations, {primary:,} primary and "
            f"{secondary:,} secondary suppressions",
            "",
        ]
        lines += entry("Attacker", self._attacker())
        failed = self.failed
        if len(failed):
            words = [f"{said[key]:,} {text}" for key, text in _FAULTS.items() if said[key]]
            names = itemize([table.name(int(cell)) for cell in failed])
            # Of what is not shown nobody can say that it is known.
            verdict = "NOT SHOWN TO BE PROTECTED" if said["not_shown"] == len(failed) else "NOT PROTECTED"
            lines += entry(
                "Verdict", f"{verdict}: {len(failed):,} of {said['judged']:,} cells ({', '.join(words)}): {names}"
            )
        else:
            lines += entry("Verdict", describe_protected(said))
        lines += entry("Elimination", _count(len(self.eliminated), "follows", "follow") + " by subtraction alone")
        lines += entry("Insiders", self._insiders())
        if self.sums is not None:
            lines += entry("Sums", self._sums())
        if self.certificate is not None:
            lines += entry("Certificate", self._certificate())
        for note in self.notes:
            lines += entry("Note", note)
        return "\n".join(lines)

    def _attacker(self) -> str:
        how = "exact intervals" if self.exact else "levels shown to be reached, or not to be"
        return f"knows what is published, how it adds up and the bounds of every cell; {how}"

    def _insiders(self) -> str:
        if self.insiders:
            exposed = np.unique(np.concatenate([cells for _, cells in self.insiders]))
            names = itemize([self.table.name(int(cell)) for cell in exposed])
            own = itemize([self.table.name(int(known[0])) for known, _ in self.insiders])
            return (
                f"NOT PROTECTED: {count(len(self.insiders), 'sole contributor')} can learn too much of the others in "
                f"{count(len(exposed), 'unsafe cell')}: {names}; from their own cells such as {own}"
            )
        if self.victims:
            names = itemize([self.table.name(cell) for cell in self.victims])
            return f"NOT kept from sole contributors: the others in {count(len(self.victims), 'unsafe cell')}: {names}"
        return describe_insiders(self.as_dict())

    def _sums(self) -> str:
        if not self.sums:
            return "no line gives away an unsafe sum of suppressed cells"
        names = itemize([self.table.relation_name(row) for row, _ in self.sums])
        return f"NOT PROTECTED: {len(self.sums):,} lines give away an unsafe sum of suppressed cells: {names}"

    def _certificate(self) -> str:
        assert self.certificate is not None
        exact = sum(move.unit is not None for move in self.certificate.moves)
        rest = len(self.certificate.moves) - exact
        words = f"{exact:,} tables that add up exactly" + (f", {rest:,} approximately" if rest else "")
        return f"{words}; checked by additions alone"

    def _repr_html_(self) -> str:
        return as_html(self.summary())

    def __repr__(self) -> str:
        verdict = "protected" if self.passed else f"{len(self.failed):,} not protected"
        return f"Audit of {len(self.cells):,} cells: {verdict}"


def describe_protected(said: Mapping[str, Any]) -> str:
    """The verdict on a table all of whose unsafe cells are protected, from its counts (`Audit.as_dict`)."""
    judged, by_solver = said["judged"], said["by_solver_only"]
    if judged == 0:
        return "no cell was to be judged"
    cells = "the interval of the judged cell" if judged == 1 else f"every interval of the {judged:,} judged cells"
    level = "exceeds" if said["strict"] else "reaches"
    return f"protected: {cells} {level} its level" + (f"; {by_solver:,} by solver only" if by_solver else "")


def describe_insiders(said: Mapping[str, Any]) -> str:
    """What sole contributors can learn, from the counts of a verdict."""
    if said["insiders"] is None:
        return "sole contributors not judged"
    if said["insiders"]:
        return f"NOT PROTECTED: {count(said['insiders'], 'sole contributor')} can learn too much of others"
    return "no sole contributor to a cell can learn too much of the others in an unsafe one"


_FAULTS = {
    "published": "published",
    "exposed": "known exactly",
    "too_narrow": "known too closely",
    "not_shown": "not shown",
}


def _count(number: int, one: str, several: str) -> str:
    return f"{number or 'no'} suppressed {'cell' if number == 1 else 'cells'} {one if number == 1 else several}"
