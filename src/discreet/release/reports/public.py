"""The report that goes out with the data: only what may be published, by the same rules as the record.

Whatever is computed from the original is told where `PublicFigures` lets it be, and to two significant digits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.roles import Declaration
from discreet.recoding.coarsening import describe, is_open
from discreet.release.public_figures import PublicFigures, round_figure
from discreet.release.reports import drawings
from discreet.release.reports.distributions import shorten
from discreet.release.reports.look import Look
from discreet.release.reports.pages import Figure, Grid, Page, Section
from discreet.release.reports.subject import Subject
from discreet.text import count

ROLES = {
    "quasi": "protected",
    "by": "divides into strata",
    "confidential": "unchanged",
    "identifier": "identifies directly",
    "ignore": "not wanted",
}
# Where the bars of the sizes of classes begin.
SIZES = (1, 2, 3, 5, 10, 20, 50, 100)
# In percent: how far a mean and a variance may move, how much of a column may be lost, and how far correlations may
# move on average (of 1), for a use to be called good.
GOOD_MEAN, GOOD_VARIANCE, GOOD_COLUMN, GOOD_CORRELATION = 1.0, 10.0, 25.0, 0.05
# What is smaller is rounding of computed numbers.
LEAST_TOLD = 0.005
# From this loss on a column is named as one that little is left of.
POOR_COLUMN = 50.0


def public_page(subject: Subject, looked: Look) -> Page:
    """The public report of a release of microdata."""
    told = PublicFigures.of(subject.measures, subject.records)
    sections = [
        Section("promise", "What is promised, and how to check it", promise_facts(subject, looked)),
        Section("columns", "The columns", column_facts(subject, looked, write_figure, told.columns)),
        Section("loss", "What was lost", loss_facts(subject, told)),
        Section("uses", "What the data is good for", use_facts(subject, told)),
        Section("distributions", "What the released columns look like", distribution_facts(subject, looked)),
        Section("classes", "How many records share their values", class_facts(subject, looked.promised)),
        Section("limits", "What this protection does not do", limit_facts(subject)),
        Section("glossary", "Words", {"internal": False}),
    ]
    columns = subject.released.frame.width
    subtitle = f"{count(subject.records, 'record')}, {count(columns, 'column')}"
    return Page(f"About the data in {subject.name}", subtitle, False, sections)


def write_figure(figure: float | None) -> str:
    """A figure that may be published, as it is written; empty where there is none."""
    if figure is None:
        return ""
    told = round_figure(figure)
    return (
        "0 %" if abs(told) < LEAST_TOLD else (f"{told:.2g} %" if abs(told) < 100 else f"{told:.0f} %").replace("-", "−")
    )


def promise_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """The promise in words, and what it takes to check it."""
    output, promise = subject.account.get("output") or {}, subject.promise
    return {
        "words": None if promise is None else promise.words(),
        "several": promise is not None and len(promise.groups) > 1,
        "person": promise is not None and promise.person is not None,
        "found": int(looked.sizes.min()) if len(looked.sizes) else 0,
        "quasi": subject.names("quasi"),
        "file": subject.name,
        "sha256": output.get("sha256"),
        "version": subject.account["version"],
        "method": (subject.account.get("search") or {}).get("method"),
        "verified": bool((subject.account.get("verification") or {}).get("passed")),
    }


def column_facts(
    subject: Subject, looked: Look, write: Callable[[float | None], str], told_of: Collection[str] | None = None
) -> dict[str, Any]:
    """Role, type and aggregate of each column, what was lost of it, and what was left out.

    The loss is told of those columns that are named, or of all.
    """
    lost: Mapping[str, float] = subject.measures.get("il_per_attribute", {})
    lost = {name: share for name, share in lost.items() if told_of is None or name in told_of}
    told = any(write(loss) for loss in lost.values())
    known: Mapping[str, Mapping[str, Any]] = subject.account["parameters"].get("columns", {})
    rows = []
    for said in subject.declared.columns:
        if said.name in subject.released.frame.columns and said.role in ("quasi", "by", "confidential"):
            kind = looked.kinds.get(said.name) or "no values"
            aggregate = known.get(said.name, {}).get("aggregate", "") if said.role == "quasi" else ""
            row = (said.name, ROLES[said.role], kind, aggregate or "–", _describe_recoding(said) or "–")
            rows.append((*row, write(lost.get(said.name)) or "–") if told else row)
    household = None if subject.promise is None else subject.promise.household
    if household is not None:
        row = (household, "tells households apart", "number", "new numbers", "–")
        rows.append((*row, "–") if told else row)
    head = ("Column", "Role", "Type", "Replaced by", "Recoded")
    left_out = [
        (name, ROLES[how["role"]])
        for name, how in known.items()
        if how.get("role") in ("identifier", "ignore") and name != household
    ]
    return {"grid": Grid((*head, "Lost") if told else head, rows, right=int(told)), "left_out": left_out}


def _describe_recoding(said: Declaration) -> str:
    """How a column was recoded on the way in; limits that are numbers of the user's own are told."""
    parts = [] if said.coarsen is None or is_open(said.coarsen) else [describe(said.coarsen)]
    words = {"topcode": "largest values coded beyond", "bottomcode": "smallest values coded beyond"}
    parts += [f"{words[name]} {how}" for name in words if (how := getattr(said, name)) is not None]
    parts += [] if said.round is None else [f"rounded to multiples of {said.round:g}"]
    return ", ".join(parts)


def loss_facts(subject: Subject, told: PublicFigures) -> dict[str, Any]:
    """The loss in all and by column, and by how much means, variances and correlations move, as far as it is told."""
    measures = subject.measures
    facts: dict[str, Any] = {"known": "il" in measures, "why": told.why, "told": bool(told.columns)}
    facts |= {"il": write_figure(measures["il"]) if told.whole else "", "figure": None, "grid": None, "apart": None}
    lost = [item for item in measures.get("il_per_attribute", {}).items() if item[0] in told.columns]
    lost = sorted(lost, key=lambda item: -item[1])[:30]
    shares = [round_figure(share) for _, share in lost]
    facts["figure"] = (
        Figure(
            drawings.bars("lost", shorten([name for name, _ in lost]), shares, title="lost, %", width=drawings.WIDE),
            f"Of {lost[0][0]} most was lost, of {lost[-1][0]} least: the longer a bar, the more its values changed.",
            "Information loss by column: "
            + ", ".join(f"{name} {share:.2g} %" for (name, _), share in zip(lost, shares, strict=True)),
        )
        if len(lost) > 1
        else None
    )
    change = measures.get("change")
    moved = [one for one in change["attributes"] if one["name"] in told.columns] if change else []
    if change and moved:
        rows = [(one["name"], write_figure(one["mean"]["change"]), write_figure(one["variance"]["change"])) for one in
                moved]  # fmt: skip
        rows = [(name, mean or "–", variance or "–") for name, mean, variance in rows]
        facts["grid"] = Grid(("Column", "Mean moves by", "Variance moves by"), rows, right=2)
        apart = change["correlations"]["mean_absolute_difference"]
        # What one group brings to a product of two columns is at most what it brings to both.
        if len(moved) == len(change["attributes"]) and apart is not None:
            facts["apart"] = f"{apart:.2g}"
    return facts


def use_facts(subject: Subject, told: PublicFigures) -> dict[str, Any]:
    """What the data serves well and what it does not: by figures where they may be told, in general words else."""
    measures, promise = subject.measures, subject.promise
    good, bad = [], []
    change = measures.get("change")
    moved = {one["name"]: one for one in change["attributes"] if one["name"] in told.columns} if change else {}
    if change and moved:
        good += _name("means and totals of", moved, lambda one: _within(one["mean"]["change"], GOOD_MEAN))
        good += _name("spread (variances) of", moved, lambda one: _within(one["variance"]["change"], GOOD_VARIANCE))
        bad += _name("spread of", moved, lambda one: not _within(one["variance"]["change"], GOOD_VARIANCE))
        apart = change["correlations"]["mean_absolute_difference"]
        if len(moved) == len(change["attributes"]) and apart is not None:
            whom = "correlations and regressions between the protected numbers"
            (good if apart <= GOOD_CORRELATION else bad).append(whom)
    lost = {name: share for name, share in measures.get("il_per_attribute", {}).items() if name in told.columns}
    good += _name("comparisons by", lost, lambda share: share <= GOOD_COLUMN)
    bad += _name("anything that hinges on", lost, lambda share: share >= POOR_COLUMN)
    if held := subject.names("confidential"):
        good.append(f"distributions of the columns that are unchanged: {_list(held)}")
    k = None if promise is None else promise.k
    bad.append(f"groups of fewer than {k} records" if k else "very small groups of records")
    bad.append("finding, following or describing single persons or firms")
    if promise is not None and len(promise.groups) > 1:
        bad.append("combinations of columns that were protected apart from each other")
    return {"good": good, "bad": bad, "by_figures": bool(moved)}


def _within(change: float | None, most: float) -> bool:
    return change is not None and abs(change) <= most


def _name(use: str, columns: Mapping[str, Any], chosen: Callable[[Any], bool]) -> list[str]:
    """A use of those columns that are chosen; nothing where none is."""
    found = [name for name, one in columns.items() if chosen(one)]
    return [f"{use} {_list(found)}"] if found else []


def _list(names: list[str], most: int = 8) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def distribution_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """A chart of each released column."""
    figures = []
    for place, (name, found) in enumerate(looked.released.items()):
        (shares,) = found.shares()
        top = int(np.argmax(shares))
        figures.append(
            Figure(
                drawings.bars(f"released{place}", found.labels, shares, title="share of records, %"),
                f"{shares[top]:.0f} of 100 records: {found.labels[top]}.",
                f"{name}: " + ", ".join(f"{label} {s:.0f} %" for label, s in zip(found.labels, shares, strict=True)),
                name,
            )
        )
    plain = [name for name in looked.kinds if name not in looked.released]
    return {
        "figures": figures,
        "least": subject.least,
        "undrawn": plain[: drawings.MOST_NAMED],
        "more": max(0, len(plain) - drawings.MOST_NAMED),
    }


def class_facts(subject: Subject, sizes: NDArray[np.int64]) -> dict[str, Any]:
    """How many records are in classes of which size, as it is promised."""
    labels, shares = class_shares(sizes)
    figure = None
    if len(labels) > 1:
        figure = Figure(
            drawings.bars("classes", labels, shares, title="share of records, %", width=drawings.WIDE),
            "The more records share their values, the less can be told of any one of them.",
            "Records by the size of their class: " + ", ".join(map("{} {:.0f} %".format, labels, shares)),
        )
    return {
        "figure": figure,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "classes": round(float((1.0 / sizes).sum())),
        "several": subject.promise is not None and len(subject.promise.groups) > 1,
    }


def class_shares(sizes: NDArray[np.int64]) -> tuple[list[str], list[float]]:
    """The share of records, in percent, in classes of each range of sizes that occurs."""
    place = np.searchsorted(SIZES, sizes, side="right") - 1
    counts = np.bincount(place, minlength=len(SIZES))
    labels = []
    for start, end in zip(SIZES, (*SIZES[1:], None), strict=True):
        labels.append(
            f"{start} or more" if end is None else str(start) if end == start + 1 else f"{start} to {end - 1}"
        )
    shown = [i for i in range(len(SIZES)) if counts[i]]
    return [labels[i] for i in shown], [100.0 * float(counts[i]) / len(sizes) for i in shown]


def limit_facts(subject: Subject) -> dict[str, Any]:
    """What is promised, so that the words can say what is not."""
    promise = subject.promise
    return {
        "k": None if promise is None else promise.k,
        "l": [] if promise is None else [one.column for one in promise.l],
        "t": [] if promise is None else [one.column for one in promise.t],
        "held": subject.names("confidential"),
        "several": promise is not None and len(promise.groups) > 1,
        "household": promise is not None and promise.household is not None,
    }
