"""The report for those who decide: what the public one says, and what must not leave the office.

Figures that the evidence holds are taken from there, so that both say the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from discreet.release.reports import drawings
from discreet.release.reports.distributions import shorten
from discreet.release.reports.look import Before, Look
from discreet.release.reports.pages import Figure, Grid, Page, Section, write_percent
from discreet.release.reports.public import class_facts, class_shares, column_facts, limit_facts, promise_facts
from discreet.release.reports.repeat import repeat_facts
from discreet.release.reports.sign_off import FIELDS, FIVE_SAFES
from discreet.release.reports.subject import Subject
from discreet.text import count
from discreet.verification.decision import describe_standing, recorded_digest

# What is told of an earlier decision.
EARLIER = ("decision", "reviewer", "decided_on", "comment", "remarks")
# Row numbers that are listed, and quasi-identifiers in the chart of what makes records unique.
MOST_ROWS, MOST_BY_COLUMN = 200, 24


def internal_page(subject: Subject, looked: Look) -> Page:
    """The internal report of a release of microdata; sections whose facts are not at hand are left out."""
    sections = [
        Section("summary", "In short", summary_facts(subject, looked)),
        Section("sign-off", "Sign-off", sign_off_facts(subject.account)),
        Section("promise", "What is promised, and how to check it", promise_facts(subject, looked)),
        Section("columns", "The columns", column_facts(subject, looked, _write_exactly)),
        Section("risk", "Risk before and after", risk_facts(subject, looked)),
        Section("classes", "How many records share their values", class_facts(subject, looked.promised)),
    ]
    if looked.before is not None:
        sections += [
            Section("risk-by-column", "Which columns make records unique", by_column_facts(subject, looked.before)),
            Section("rows", "Records at risk", row_facts(subject, looked, looked.before)),
        ]
    if looked.overlays:
        sections.append(Section("overlays", "Original and release side by side", overlay_facts(subject, looked)))
    if subject.measures.get("change") or looked.correlations is not None:
        sections.append(Section("change", "Means, variances and correlations", change_facts(subject, looked)))
    if subject.account.get("alternatives"):
        sections.append(Section("alternatives", "What else was tried", alternative_facts(subject)))
    if "seed" in (subject.account.get("search") or {}):
        sections.append(Section("search", "The search", search_facts(subject)))
    if len(looked.strata) > 1 or looked.gaps:
        sections.append(Section("strata", "Strata and missing values", strata_facts(subject, looked)))
    sections.append(Section("wp216", "The three questions of the GDPR opinion WP216", wp216_facts(subject)))
    if subject.account["parameters"].get("columns"):
        sections.append(Section("repeat", "How to repeat it", repeat_facts(subject)))
    if subject.account["notes"]:
        sections.append(Section("notes", "What was assumed", {"notes": subject.account["notes"]}))
    if subject.absent:
        sections.append(Section("absent", "What is not in this report", {"absent": describe_absent(subject)}))
    sections.append(Section("glossary", "Words", {"internal": True}))
    return Page(f"Release {subject.name}", f"Report to those who decide. {_records(subject)}", True, sections)


def _records(subject: Subject) -> str:
    return f"{count(subject.records, 'record')} released"


def _write_exactly(figure: float | None) -> str:
    return "" if figure is None else write_percent(figure)


def summary_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """What fits on a card: promise, loss, and what an intruder finds before and after."""
    measures = subject.measures
    return {
        "words": None if subject.promise is None else subject.promise.words(),
        "verified": (subject.account.get("verification") or {}).get("passed"),
        "il": measures.get("il"),
        "dld": measures.get("dld"),
        "error": measures.get("dld_standard_error"),
        "found_before": None if looked.before is None else _share_linked(looked.before),
        "unique_before": None if looked.before is None else _share_below(looked.before, 2),
        "input": subject.account["input"].get("file"),
        "decision": describe_decision(subject.account),
    }


def _share_linked(before: Before) -> float:
    """How often a guess among the records with the same values is right, in the original."""
    return 100.0 * float(np.mean(1.0 / before.sizes))


def _share_below(before: Before, k: int) -> float:
    return 100.0 * before.below[k] / len(before.sizes)


def describe_decision(account: Mapping[str, Any]) -> str:
    """What was decided, and what is to know of it, in a few words."""
    review = account.get("review", {})
    void = describe_standing(review, recorded_digest(account.get("output") or {}))
    return "; ".join(filter(None, [void or review.get("decision"), review.get("same_person")])) or "open"


def sign_off_facts(account: Mapping[str, Any]) -> dict[str, Any]:
    """What those who decide have said; what they have not is blank."""
    review = account.get("review", {})
    titles = {"decided_on": "Decided on", "review_date": "To be looked at again", "remarks": "Remarks of the author"}
    questions = {
        "projects": "Is this an appropriate use of the data?",
        "people": "Can the recipients be trusted to use it appropriately?",
        "settings": "Does the place where it is used keep it from others?",
        "data": "What risk of disclosure is in the data itself?",
        "outputs": "Are the results that leave it without disclosure?",
    }
    said = dict(review) | {
        "author": _name_person(review.get("author", {}).get("name"), review.get("author")),
        "reviewer": _name_person(review.get("reviewer"), review.get("account")),
        "decision": review.get("decision") and describe_decision(account),
    }
    further = {
        "comment": "Comment of the reviewer",
        "counted": "Counted again by the reviewer",
        "sha256": "SHA-256 of what was decided on",
    }
    earlier = [
        ("Earlier decision", ", ".join(str(one[key]) for key in EARLIER if one.get(key)))
        for one in review.get("earlier", [])
    ]
    return {
        "fields": [(titles.get(name, name.capitalize()), said.get(name)) for name in FIELDS]
        + [(title, review[name]) for name, title in further.items() if review.get(name)]
        + earlier,
        "safes": [(f"Safe {name}", questions[name], review.get("five_safes", {}).get(name)) for name in FIVE_SAFES],
    }


def _name_person(name: str | None, account: Mapping[str, Any] | None) -> str:
    """A person by name and account of the operating system, as far as they are known."""
    login = (account or {}).get("login")
    known = [name, f"account {login} ({account.get('uid')})" if account and login else None]
    return ", ".join(filter(None, known))


def renew_decision(page: str, account: Mapping[str, Any]) -> str | None:
    """An internal report that was written before, with what is decided by now; None if it is none of ours."""
    section = Section("sign-off", "Sign-off", sign_off_facts(account)).render().strip()
    renewed, found = re.subn(r'<section id="sign-off".*?</section>', lambda _: section, page, count=1, flags=re.DOTALL)
    summary = re.compile(r'(<section id="summary".*?<dt>Decision</dt><dd>).*?(?=</dd>)', re.DOTALL)
    renewed = summary.sub(lambda there: f"{there[1]}{escape(describe_decision(account))}", renewed, count=1)
    return renewed if found else None


def risk_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """Linkage, intervals, k, l and t, and the risk of the records, before and after."""
    measures, before = subject.measures, looked.before
    k = subject.least if subject.promise is None else subject.promise.k
    after = {size: int((looked.sizes < size).sum()) for size in (2, k)}
    rows: list[tuple[str, str, str]] = []

    def add(what: str, then: object, now: object) -> None:
        rows.append((what, "–" if then is None else str(then), "–" if now is None else str(now)))

    n = len(looked.sizes)
    add(
        "Records in the smallest class",
        None if before is None else f"{int(before.sizes.min()):,}",
        f"{measures.get('k', int(looked.sizes.min())):,}",
    )
    add("Unique records", None if before is None else _tell(before.below[2], n), _tell(after[2], n))
    if k > 2:
        below = None if before is None else _tell(int((before.sizes < k).sum()), n)
        add(f"Records that fewer than {k} share", below, _tell(after[k], n))
    add(
        "Records found by linkage",
        None if before is None else write_percent(_share_linked(before)),
        write_percent(measures["dld"]) if measures.get("dld") is not None else None,
    )
    if measures.get("id") is not None:
        by_sd = measures.get("id_by_sd")
        but = f" ({', '.join(by_sd)}: within 0.1 standard deviations)" if by_sd else ""
        add(f"Numbers within 10 % of the truth{but}", "100 %", write_percent(measures["id"]))
    then = {} if before is None else before.closeness
    for name, now in looked.closeness.items():
        old = then.get(name)
        add(f"{name}: different values in the poorest class", old and old["distinct"], now["distinct"])
        add(f"{name}: farthest class from all records (t)", old and write_percent(old["t"]), write_percent(now["t"]))
    shares = dict(zip(*class_shares(looked.sizes), strict=True))
    old = {} if before is None else dict(zip(*class_shares(before.sizes), strict=True))
    figure = None
    if old:
        order = [label for label in class_shares(np.array([1, 2, 3, 5, 10, 20, 50, 100]))[0] if label in shares | old]
        drawn = [(label, old.get(label, 0.0), shares.get(label, 0.0)) for label in order]
        figure = Figure(
            drawings.pairs("risks", drawn, ("before", "after"), "share of records, %"),
            "A record that stands alone is found by whoever knows its values; one that shares them with nine others is "
            "found once in ten guesses.",
            "Records by how many share their values, before and after: "
            + ", ".join(f"{label} {a:.0f} % and {b:.0f} %" for label, a, b in drawn),
            "Records by how many share their values",
        )
    linked = (measures.get("risk") or {}).get("linkage")
    above = None
    if linked:
        above = Grid(
            ("Chance to be found by linkage", "Records"),
            [
                (f"above 1 in {round(1 / float(least))}", write_percent(share))
                for least, share in linked["above"].items()
            ],
            right=1,
        )
    return {
        "grid": Grid(("", "Original", "Release"), rows, right=2),
        "figure": figure,
        "above": above,
        "several": subject.promise is not None and len(subject.promise.groups) > 1,
        "sampled": measures.get("dld_searched") if measures.get("dld_standard_error") is not None else None,
        "error": measures.get("dld_standard_error"),
        "disclosed": disclosed_grid(subject),
        "before": before is not None,
    }


def _tell(number: int, records: int) -> str:
    return f"{number:,} ({write_percent(100.0 * number / records)})"


def disclosed_grid(subject: Subject) -> Grid | None:
    """Records in classes that have one value only of a confidential column."""
    found = subject.measures.get("ad")
    if not found:
        return None
    rows = [(name, f"{one['records']:,}", write_percent(one["share"])) for name, one in found.items()]
    return Grid(("Column", "Records in classes with one value only", "Share"), rows, right=2)


def by_column_facts(subject: Subject, before: Before) -> dict[str, Any]:
    """What each quasi-identifier does to the risk: alone, and by its absence."""
    k = subject.least if subject.promise is None else max(subject.promise.k, 2)
    k = k if k in before.below else subject.least
    n = len(before.sizes)

    def share(number: int) -> float:
        return 100.0 * number / n

    ranked = sorted(before.by_column, key=lambda name: before.by_column[name]["without"][k])
    shown = [(kind, size) for kind in ("alone", "without") for size in (2, k)]
    rows = [
        (name, *(write_percent(share(before.by_column[name][kind][size])) for kind, size in shown)) for name in ranked
    ]
    found = [before.by_column[name] for name in ranked[:MOST_BY_COLUMN]]
    drawn = [
        (label, share(one["alone"][k]), share(one["without"][k]))
        for label, one in zip(shorten(ranked[:MOST_BY_COLUMN]), found, strict=True)
    ]
    whole = share(before.below[k])
    return {
        "grid": Grid(
            ("Column", "Unique by it alone", f"Below {k} by it alone", "Unique without it", f"Below {k} without it"),
            rows,
            right=4,
        ),
        "figure": Figure(
            drawings.pairs("columns", drawn, ("by the column alone", "by all others without it"), "records, %"),
            f"With all columns {whole:.1f} % of the records are shared by fewer than {k}; without {ranked[0]} it would"
            f" be {share(before.by_column[ranked[0]]['without'][k]):.1f} %, which is all that leaving it out or "
            "coarsening it can bring.",
            f"Records in combinations that fewer than {k} share, by column: "
            + ", ".join(f"{name} alone {a:.1f} %, without it {b:.1f} %" for name, a, b in drawn),
        ),
        "k": k,
    }


def row_facts(subject: Subject, looked: Look, before: Before) -> dict[str, Any]:
    """The numbers of the records that are unique in the original, and of those that the release leaves below k."""
    k = subject.least if subject.promise is None else subject.promise.k
    numbers = 1 + (np.arange(len(looked.sizes)) if subject.places is None else subject.places)
    unique, left = numbers[before.sizes == 1], numbers[looked.sizes < k]
    return {
        "k": k,
        "unique": write_rows(unique[:MOST_ROWS]),
        "unique_count": len(unique),
        "left": write_rows(left[:MOST_ROWS]),
        "left_count": len(left),
        "most": MOST_ROWS,
        "several": subject.promise is not None and len(subject.promise.groups) > 1,
    }


def write_rows(rows: NDArray[np.int64]) -> str:
    """Row numbers, those that follow each other as a range."""
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}–{part[-1]}" for part in parts)


def overlay_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """A chart of each quasi-identifier in both files."""
    figures = []
    for place, (name, found) in enumerate(looked.overlays.items()):
        before, after = found.shares()
        apart = sum(abs(a - b) for a, b in zip(before, after, strict=True)) / 2
        figures.append(
            Figure(
                drawings.overlay(f"overlay{place}", found),
                f"At least {apart:.1f} of 100 records are in another bar than before.",
                f"{name}, original and released: "
                + ", ".join(
                    f"{label} {a:.0f} % and {b:.0f} %" for label, a, b in zip(found.labels, before, after, strict=True)
                ),
                name,
            )
        )
    return {"figures": figures, "least": subject.least, "undrawn": looked.left_undrawn}


def change_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """By how much means and variances move, and the correlations before and after."""
    change = subject.measures.get("change")
    facts: dict[str, Any] = {"grid": None, "figures": [], "apart": None, "sampled": None}
    if change:
        rows = [
            (one["name"], *(write_percent(one[what]["change"]) for what in ("mean", "variance")))
            for one in change["attributes"]
        ]
        facts["grid"] = Grid(("Column", "Mean moves by", "Variance moves by"), rows, right=2)
        facts["apart"] = change["correlations"]["mean_absolute_difference"]
    found = looked.correlations
    if found is not None:
        sentences = (
            "Original: the fuller a square, the closer two columns go together.",
            "Release: the same squares should be as full.",
        )
        for kind, values, sentence in zip(("before", "after"), (found.before, found.after), sentences, strict=True):
            known = [[None if np.isnan(value) else float(value) for value in line] for line in values]
            strongest = _strongest(found.names, values)
            facts["figures"].append(
                Figure(
                    drawings.matrix(f"matrix{kind}", found.names, known),
                    sentence,
                    f"Correlations {kind} of {len(found.names)} columns. {strongest}",
                    "Original" if kind == "before" else "Release",
                )
            )
        facts["sampled"] = found.records if found.records < subject.records else None
    return facts


def _strongest(names: Sequence[str], values: NDArray[np.float64]) -> str:
    rows, columns = np.tril_indices(len(names), -1)
    strength = np.nan_to_num(np.abs(values[rows, columns]), nan=-1.0)
    at = int(np.argmax(strength))
    if strength[at] < 0:
        return "None is defined."
    return f"The strongest is {values[rows[at], columns[at]]:.2f}, of {names[columns[at]]} and {names[rows[at]]}."


def alternative_facts(subject: Subject) -> dict[str, Any]:
    """Loss and risk of what was tried, with this release."""
    measures = subject.measures
    tried = subject.account["alternatives"]
    own = {"name": "this release", "il": measures.get("il"), "dld": measures.get("dld")}
    rows = [
        (one["name"], *(write_percent(one.get(name)) for name in ("il", "dld", "score")))
        for one in [*tried, own | {"score": measures.get("score")}]
    ]
    placed = [one for one in tried if one.get("il") is not None and one.get("dld") is not None]
    figure = None
    if placed and own["il"] is not None and own["dld"] is not None:
        figure = Figure(
            drawings.points("tried", placed, own),
            "The farther left, the less is lost; the lower, the fewer records are found.",
            "Loss and risk: "
            + ", ".join(f"{one['name']} {one['il']:.1f} % and {one['dld']:.1f} %" for one in [*placed, own]),
        )
    return {"grid": Grid(("Tried", "Loss", "Found by linkage", "Score"), rows, right=3), "figure": figure}


def search_facts(subject: Subject) -> dict[str, Any]:
    """How the groups were found, how the cost fell, and what is proven."""
    search, bound = subject.account["search"], subject.account["bound"]
    return {
        "method": search["method"],
        "params": ", ".join(f"{name} {value}" for name, value in search["params"].items()),
        "seed": search["seed"],
        "steps": search["steps"],
        "seconds": search["seconds"],
        "stopped": search["stopped"],
        "bound": bound,
        "il": subject.measures.get("il"),
        "figure": trace_figure(search),
    }


def trace_figure(search: Mapping[str, Any]) -> Figure | None:
    """How the cost fell, if it did."""
    trace = search["trace"]
    if len(trace) <= 2 or not trace[0][2]:
        return None
    start, last = trace[0][2], trace[-1][2]
    fallen = [(row[1], 100.0 * row[2] / start) for row in trace]
    return Figure(
        drawings.course("trace", fallen, x="seconds", y="cost, % of the first"),
        f"The search began at 100 % and ended at {100.0 * last / start:.1f} %; where the line is still falling at its "
        "end, more time helps.",
        f"Cost over {search['seconds']:.1f} seconds, falling to {100.0 * last / start:.1f} % of the first.",
    )


def strata_facts(subject: Subject, looked: Look) -> dict[str, Any]:
    """How many strata there are and how large; which quasi-identifiers are missing together, and how often."""
    rows = []
    for names, number in looked.gaps.items():
        what = "rarer combinations" if names is None else ", ".join(names) if names else "nothing is missing"
        rows.append((what, f"{number:,}"))
    return {
        "by": subject.names("by"),
        "strata": len(looked.strata),
        "smallest": int(looked.strata.min()),
        "median": int(np.median(looked.strata)),
        "largest": int(looked.strata.max()),
        "grid": Grid(("Missing together", "Records"), rows, right=1) if rows else None,
        "blanked": subject.measures.get("blanked"),
        "least": subject.least,
        "of_original": looked.before is not None,
    }


def wp216_facts(subject: Subject) -> dict[str, Any]:
    """What this release does about singling out, linkability and inference."""
    promised = limit_facts(subject)
    disclosed = subject.measures.get("ad") or {}
    worst = max(disclosed, key=lambda name: disclosed[name]["share"], default=None)
    return promised | {
        "dld": subject.measures.get("dld"),
        "worst": worst,
        "worst_share": None if worst is None else disclosed[worst]["share"],
        "previous": subject.measures.get("previous"),
    }


def describe_absent(subject: Subject) -> list[tuple[str, str]]:
    """Which parts are left out, and why."""
    parts = {
        "original": "Risk before, risk by column, records at risk, overlays and correlations are left out",
        "rows": "Risk before, risk by column, records at risk, overlays and correlations are left out",
        "evidence": "Loss, linkage, the search and how to repeat it are left out",
        "removed": "Records that the release does not have are left out of every comparison",
        "record": "The promise, its verification and the digest are left out; the class sizes were counted",
    }
    return [(parts[what], why) for what, why in subject.absent.items()]
