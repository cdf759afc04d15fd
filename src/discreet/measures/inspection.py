"""What an inspection of microdata found: columns with proposed roles, the risk of the file as it is, and a draft.

The draft is a configuration in which every role is a comment, so that it is refused until somebody has decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.columns import resolve
from discreet.configuration import EXPECTED, Config
from discreet.data.dataset import Dataset
from discreet.data.profile import Profile, Proposal, profile, propose, propose_unit
from discreet.data.roles import REST, Declaration, Declarations
from discreet.data.toml import write_key, write_value
from discreet.measures.uniqueness import count_below, join_marks, mark, risk_by_column
from discreet.recoding.coarsening import coarsen
from discreet.text import WIDTH, count, entry, printable

# The sizes of groups that offices ask for.
SIZES = (2, 3, 5, 10)
# The size for which the risk is told column by column.
USUAL = 5
SCHEMA = "discreet/inspection/1"
LONGEST_NAME = 24


@dataclass(frozen=True, eq=False)
class Column(Profile):
    """One column: its counts, and the role that is proposed."""

    proposal: Proposal = field(default_factory=lambda: Proposal("quasi", ""))


@dataclass(frozen=True, eq=False)
class Inspection:
    """What was found in microdata.

    Parameters
    ----------
    name : str
        The file, or "the frame".
    records : int
        Number of records.
    columns : tuple of Column
        Name, kind, `levels`, `missing`, `unique` and `proposal` (with `role` and `reason`) of each column.
    quasi : tuple of str
        The quasi-identifiers that the risk is of.
    decided : bool
        Whether somebody named them; else they are the proposed ones.
    risk : dict
        For k = 2, 3, 5, 10: how many records are in a combination of the quasi-identifiers that fewer than k share.
    risk_by_column : dict
        For each quasi-identifier and each k how many records have a value in it that fewer than k share (`alone`), and
        how many would be left in combinations of fewer than k if the column were left out (`without`).
    reading : dict
        How the file was read, as a configuration says it.
    notes : tuple of str
        What was assumed.
    """

    name: str
    records: int
    columns: tuple[Column, ...]
    quasi: tuple[str, ...]
    decided: bool
    risk: Mapping[int, int]
    risk_by_column: Mapping[str, Mapping[str, Mapping[int, int]]]
    reading: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        counts = ("name", "kind", "assumed", "missing", "levels", "unique")
        return {
            "schema": SCHEMA,
            "input": self.name,
            "records": self.records,
            "columns": [
                {name: getattr(column, name) for name in counts} | {"proposed": vars(column.proposal)}
                for column in self.columns
            ],
            "quasi": list(self.quasi),
            "decided": self.decided,
            "risk": {str(k): number for k, number in self.risk.items()},
            "risk_by_column": {
                name: {kind: {str(k): n for k, n in counts.items()} for kind, counts in found.items()}
                for name, found in self.risk_by_column.items()
            },
            "reading": dict(self.reading),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """The columns and the risk, to be read."""
        lines = [f"{printable(self.name)}: {count(self.records, 'record')}, {count(len(self.columns), 'column')}", ""]
        lines += self._describe_columns()
        lines += ["", *self._describe_risk()]
        for position, note in enumerate(self.notes):
            lines += entry("" if position else "Assumed", note)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Inspection of {count(self.records, 'record')} and {count(len(self.columns), 'column')}"

    def _describe_columns(self) -> list[str]:
        rows = [
            ("column", "type", "levels", "missing", "unique", "proposed", "because"),
            *(
                (
                    _shorten(column.name),
                    column.kind + ("?" if column.looks_like_codes else ""),
                    f"{column.levels:,}",
                    f"{column.missing:,}",
                    _percent(column.unique, self.records),
                    column.proposal.unit or column.proposal.role,
                    column.proposal.reason,
                )
                for column in self.columns
            ),
        ]
        lines = align(rows, right=(2, 3, 4))
        if any(column.looks_like_codes for column in self.columns):
            lines += ["", *entry("numeric?", "whole numbers with few levels: if they are codes, declare them nominal")]
        return lines

    def _describe_risk(self) -> list[str]:
        if not self.quasi:
            return entry("Risk", "no quasi-identifier is named or proposed, so there is none to tell of")
        whose = "quasi-identifiers" if self.decided else "proposed quasi-identifiers"
        lines = entry(
            "Risk",
            f"of the file as it is, by {count(len(self.quasi), whose[:-1])}: records in combinations that fewer than k "
            "share",
        )
        lines += [
            f"{'':12}k = {k:<4}{number:>12,}  {_percent(number, self.records)}" for k, number in self.risk.items()
        ]
        lines += ["", *entry("By column", f"for k = {USUAL}: records with a value that fewer share, and the risk of")]
        lines[-1] += " the file without the column"
        rows: list[tuple[str, ...]] = [("column", "alone", "without it")]
        # Whoever must coarsen or leave out something begins with what helps most.
        ranked = sorted(self.quasi, key=lambda name: self.risk_by_column[name]["without"][USUAL])
        for name in ranked:
            found = self.risk_by_column[name]
            rows.append(
                (_shorten(name), *(_percent(found[kind][USUAL], self.records) for kind in ("alone", "without")))
            )
        lines += [f"{'':12}{line}" for line in align(rows, right=(1, 2))]
        return lines

    def toml(self) -> str:
        """The text of a configuration to review: every role is a comment, and it is refused until they are decided."""
        lines = [
            f"# A configuration for {printable(self.name)}, to be reviewed: {count(self.records, 'record')}.",
            "# Roles are proposals. Decide on each column and take the # away: until every column has a role and k is",
            "# chosen, `discreet protect --config` refuses this file. The roles are quasi, confidential, identifier,",
            "# by and ignore; the page on columns in the manual explains them.",
            "",
            *(
                f"# k = {k}{'':<{4 - len(str(k))}}# now {_percent(number, self.records).strip()} of the records are in "
                "smaller combinations"
                for k, number in self.risk.items()
            ),
            *(
                f"# {column.proposal.unit} = {write_value(column.name)}  # {column.levels:,} values in "
                f"{self.records:,} records"
                for column in self.columns
                if column.proposal.unit
            ),
            "",
            "# A file with other columns than these is refused, also where a role is given to all or to the rest.",
            f"{EXPECTED} = {write_value([column.name for column in self.columns])}",
            *([""] if self.reading else []),
            *(f"{name} = {write_value(value)}" for name, value in self.reading.items()),
        ]
        for column in self.columns:
            lines += ["", f"[columns.{write_key(column.name)}]"]
            lines.append(f"# role = {write_value(column.proposal.role)}  # {column.proposal.reason}")
            gaps = f", {column.missing:,} missing" if column.missing else ""
            told = f"{count(column.levels, 'level')}{gaps}"
            if column.kind in ("unclear", "other"):
                lines.append(f"# type: {column.kind}; {told}")
            elif column.looks_like_codes or "codes" in column.assumed:
                lines.append(f'# type = "nominal"  # if its numbers are codes; {told}')
            elif column.kind == "ordinal":
                lines.append(f"# type: ordinal, by the file itself; {told}")
            else:
                lines.append(f"type = {write_value(column.kind)}  # {told}")
        return "\n".join(lines) + "\n"


def look(
    dataset: Dataset,
    said: Config,
    quasi: Sequence[str],
    types: Mapping[str, Any],
    tell: Callable[[str, float], None],
) -> Inspection:
    """Count every column, propose roles, and tell the risk by the quasi-identifiers named, else by those proposed."""
    names = dataset.frame.columns
    declared = _declare(dataset, said, quasi, types)
    columns = []
    for number, name in enumerate(names):
        tell("counting", number / len(names))
        counted = profile(*_read_as_declared(dataset, declared[name]))
        columns.append(Column(**vars(counted), proposal=propose_unit(dataset, counted, propose(counted))))
    decided = declared.names("quasi") if quasi or said.roles.get("quasi") else []
    chosen = decided or [column.name for column in columns if column.proposal.role == "quasi"]
    values = {column.name: column.values for column in columns}
    comparable = {name: array for name in chosen if (array := values[name]) is not None}
    marks = {name: mark(array, place) for place, (name, array) in enumerate(comparable.items())}
    tell("counting", 1.0)
    return Inspection(
        dataset.name,
        dataset.frame.height,
        tuple(columns),
        tuple(comparable),
        bool(decided),
        count_below(join_marks(marks), SIZES),
        risk_by_column(marks, SIZES),
        _reading(dataset),
        dataset.notes,
    )


def _declare(dataset: Dataset, said: Config, quasi: Sequence[str], types: Mapping[str, Any]) -> Declarations:
    """Types as declared; columns that nobody has spoken of are of no account here."""
    roles: dict[str, Any] = {}
    named = [*quasi, *(name for wanted in said.roles.values() for name in wanted)]
    if not any(name in REST for name in named):
        roles["ignore"] = "rest"
    if not quasi and "quasi" not in said.roles:
        roles = {"quasi": "all"}
    elif quasi:
        roles["quasi"] = list(quasi)
    # Whoever looks at new columns wants to see them.
    return resolve(dataset.frame.columns, replace(said, expected=()), hint=dataset.hint, **roles, **types)


def _read_as_declared(dataset: Dataset, said: Declaration) -> tuple[Dataset, Declaration]:
    """The data and the declaration of a column, coarsened if that says so."""
    return (dataset, said) if said.coarsen is None else coarsen(dataset, said)[:2]


def _reading(dataset: Dataset) -> dict[str, Any]:
    """How a delimited file was read: next month's is to be read the same way."""
    source = dataset.source
    if source is None or source.dialect is None:
        return {}
    return {name: getattr(source.dialect, name) for name in ("delimiter", "encoding", "decimal", "header")}


def align(rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Rows of words as lines with columns below each other; the last is cut at the width of a page."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            f"{cell:>{width}}" if at in right else f"{cell:<{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip()[: WIDTH + 40])
    return lines


def _shorten(name: str) -> str:
    plain = printable(name).replace("\n", " ").replace("\t", " ")
    return plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"


def _percent(number: int, records: int) -> str:
    return f"{100 * number / records:.1f} %"
