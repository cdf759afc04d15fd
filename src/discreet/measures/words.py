"""Measures in words: what an intruder with these columns finds, what an analyst loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.measures.choices import Choices
from discreet.measures.interval import RECORD_WISE
from discreet.text import count, entry
from discreet.verification.previous import together

_SHORT = {
    "gil": "gil, general information loss",
    "pil": "pil, probabilistic information loss",
    "pld": "pld, probabilistic linkage",
    "id": "id, interval disclosure",
    "dr": "dr, disclosure risk (2013)",
    "score": "score (il + dr)/2",
    "gdr": "gdr, general disclosure risk (2021)",
    "si": "si, scoring index (gil + gdr)/2",
}


def words(values: Mapping[str, Any], choices: Choices, records: int, alignment: str, notes: Sequence[str]) -> str:
    """A page on a release: loss, risk, each figure with the choices that made it, and what was assumed."""
    aligned = "" if alignment == "nothing" else f", aligned by {alignment}"
    lines = [*entry("Compared", f"{records:,} records on {', '.join(values['covers']['all'])}{aligned}"), ""]
    lines += judgement(values, choices)
    lines += ["", *figures(values, choices)]
    for position, note in enumerate(notes):
        lines += entry("" if position else "Assumed", note)
    return "\n".join(line for i, line in enumerate(lines) if line or (i and lines[i - 1]))


def judgement(values: Mapping[str, Any], choices: Choices) -> list[str]:
    """What an intruder finds, what classes give away, and what an analyst loses; a paragraph each."""
    return [line for title, text in paragraphs(values, choices).items() for line in entry(title, text)]


def paragraphs(values: Mapping[str, Any], choices: Choices) -> dict[str, str]:
    """The same by title, each in a sentence or two."""
    told = {
        "Intruder": intruder(values, choices),
        "Disclosed": disclosed(values.get("ad")),
        "Together": together(values.get("previous")),
        "Analyst": analyst(values),
        "Population": _population(values),
    }
    return {title: text for title, text in told.items() if text}


def _population(values: Mapping[str, Any]) -> str:
    """What the sampling weights tell of the risk in the population, and of the loss."""
    found = values.get("population")
    if found is None:
        return ""
    risk = found["individual"]
    return (
        f"By the sampling weights the smallest class stands for {found['smallest']:,.0f} of the population; a record "
        f"is that of the one looked for with a chance of {risk['mean']:.2f} % on average, {risk['largest']:.2f} % at "
        f"most. The weighted loss is {values['weighted_il']:.2f} %."
    )


def figures(values: Mapping[str, Any], choices: Choices, left_out: Sequence[str] = ()) -> list[str]:
    """A line for each figure that was measured, and which attributes the numeric ones cover."""
    lines: list[str] = []
    for name, title in _SHORT.items():
        if values.get(name) is not None and name not in left_out:
            lines += entry("", f"{values[name]:6.2f} %  {title}{_how(name, values, choices)}")
    for name, found in (values.get("l") or {}).items():
        t = (values.get("t") or {}).get(name)
        close = "" if t is None else f"; t-closeness {t:.1f} %"
        lines += entry(
            "", f"{name}: l-diversity {found['distinct']} distinct, {found['entropy']:.2f} by entropy{close}"
        )
    for name in values.get("own", []):
        lines += entry("", f"{name}: {_own(values[name])}")
    numeric = values["covers"]["numeric"]
    shown = [name for name in ("gil", "pil", "id", "dr", "gdr") if name in values and name not in left_out]
    if shown and len(numeric) < len(values["covers"]["all"]):
        only = ", ".join(numeric) or "none"
        dates = [name for name in values.get("id_per_attribute", {}) if name not in numeric]
        too = f"; id by itself also {', '.join(dates)}" if dates else ""
        lines += entry("Covered", f"gil, pil and id, also within the scores, cover the numeric attributes: {only}{too}")
    return lines


def _own(value: Any) -> str:
    """What a measure of the user's own gave."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_own(each)}" for name, each in value.items())
    return "none" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)


def intruder(values: Mapping[str, Any], choices: Choices) -> str:
    """What an intruder who knows the quasi-identifiers finds."""
    parts = []
    if values.get("dld") is not None:
        error = values.get("dld_standard_error")
        estimate = f" (estimated from {values['dld_searched']:,} records, ± {error:.2f})" if error is not None else ""
        parts.append(f"{_search(choices)} in {values['dld']:.2f} % of cases{estimate}")
    if values.get("k") is not None:
        others = values["k"] - 1
        shared = f"each record shares its values with at least {others} other{'s' if others > 1 else ''}"
        parts.append(shared if others else "some records share their values with no other")
    if values.get("id") is not None:
        parts.append(f"{values['id']:.2f} % {within(values, choices)}")
    return _sentence(parts)


def disclosed(found: Mapping[str, Mapping[str, float]] | None, most: int = 3) -> str:
    """How many records are in classes that give a confidential value away, of the columns where they are most."""
    if not found:
        return ""
    ranked = sorted(found.items(), key=lambda item: (-item[1]["records"], item[0]))
    meaning = " of the file have its commonest value"
    parts = [
        f"{name} {one['records']:,} ({one['share']:.1f} %; {one['commonest']:.1f} %{'' if place else meaning})"
        for place, (name, one) in enumerate(ranked[:most])
    ]
    rest = f", {count(len(ranked) - most, 'other column')} fewer" if len(ranked) > most else ""
    return f"Records in classes that have one value only: {', '.join(parts)}{rest}."


def analyst(values: Mapping[str, Any]) -> str:
    """What an analyst loses."""
    parts = []
    if values.get("il") is not None:
        by_levels = values.get("hierarchical_il")
        also = "" if by_levels is None else f", {by_levels:.2f} % with codes by their hierarchies"
        parts.append(f"the squared change of values is {values['il']:.2f} % of their variance (il){also}")
    change = values.get("change")
    if change:
        # Against the mean itself a change would have no end where that is near 0.
        means = [
            100.0 * abs(a["mean"]["released"] - a["mean"]["original"]) / a["variance"]["original"] ** 0.5
            for a in change["attributes"]
            if a["mean"]["released"] is not None and a["variance"]["original"]
        ]
        variances = [a["variance"]["change"] for a in change["attributes"] if a["variance"]["change"] is not None]
        if means:
            parts.append(f"means move by at most {max(means):.2f} % of a standard deviation")
        if variances:
            parts.append(f"variances by {sum(variances) / len(variances):+.1f} % on average")
        shift = change["correlations"]["mean_absolute_difference"]
        if shift is not None:
            parts.append(f"correlations by {shift:.3f} on average")
    return _sentence(parts)


def _search(choices: Choices) -> str:
    """What distance linkage does, in words."""
    found = "finds the right one" if choices.nearest == 1 else "has the right one among the two nearest"
    told = ""
    if choices.choose is not None:
        told = f" by {choices.choose} of {', '.join(choices.known) or 'the columns'}"
    elif choices.known:
        told = f" by {', '.join(choices.known)}"
    who = (
        "whoever looks for the nearest record"
        if choices.direction == "original"
        else "a released record that is looked up"
    )
    return f"{who}{told} {found}"


def within(values: Mapping[str, Any], choices: Choices) -> str:
    """What interval disclosure counts, in words.

    Parameters
    ----------
    values : mapping
        The measures: `id_by_sd` and `id_per_attribute` are looked at.
    choices : Choices
        How they were taken.
    """
    records = counts_records(choices)
    what = "of the records have all numeric values" if records else "of the numeric values lie"
    width = choices.width
    if choices.interval == "scale":
        share = 10 if width is None else width
        by_sd, all_ = values.get("id_by_sd") or [], values.get("id_per_attribute") or {}
        near = f"within {share / 100:g} standard deviations of the release"
        if by_sd and len(by_sd) == len(all_):
            return f"{what} {near}"
        but = f" ({', '.join(by_sd)}, without a true zero: {near})" if by_sd else ""
        return f"{what} within {share:g} % of the truth{but}"
    return {
        "relative": f"{what} within {10 if width is None else width:g} % of the truth",
        "rank": f"{what} within {'1 to 10' if width is None else f'{width:g}'} % of the ranks round the release",
        "sd": f"{what} within {0.1 if width is None else width:g} standard deviations of the release",
    }[choices.interval]


def counts_records(choices: Choices) -> bool:
    """Whether interval disclosure counts records, and no single values."""
    return RECORD_WISE[choices.interval] if choices.records is None else choices.records


def _sentence(parts: list[str]) -> str:
    text = "; ".join(parts)
    return text[:1].upper() + text[1:] + "." if text else ""


def _how(name: str, values: Mapping[str, Any], choices: Choices) -> str:
    if name == "id":
        records = counts_records(choices)
        return f" ({choices.interval}, {'records' if records else 'values'})"
    error = values.get(f"{name}_standard_error")
    return "" if error is None else f" (estimated from {values[f'{name}_searched']:,} records, ± {error:.2f})"
