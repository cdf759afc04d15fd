"""The summaries a data steward reads, of microdata or a table: what was done, at what cost, and what is promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.data.profile import BEWARE
from discreet.measures.choices import JUDGED
from discreet.measures.words import figures, judgement, paragraphs
from discreet.tabular.table import Table
from discreet.text import MARGIN, entry, write_figure
from discreet.verification.promise import Promise, Verification
from discreet.verification.verdict import Audit, describe_insiders, describe_protected

_FILES = {
    "release": "publishable",
    "record": "publishable: promise, method",
    "evidence": "internal: keep it, do not publish",
    "row map": "internal: keep it, do not publish",
    "report": "publishable: for those who use the data",
    "internal report": "internal: for those who decide",
    "acro": "internal: for output checkers",
}


def summarize_release(
    account: Mapping[str, Any],
    promise: Promise,
    verification: Verification,
    files: Mapping[str, Path] | None = None,
) -> str:
    """The release in words."""
    given, measures, search = account["input"], account["measures"], account["search"]
    lines = [f"{given['file'] or 'frame'}: {given['records']:,} records protected, k = {promise.k}", ""]
    lines += [*describe_columns(account["parameters"]["columns"]), *_groups(promise), ""]
    sizes = _range(measures["smallest_group"], measures["largest_group"])
    groups = f"{measures['groups']:,} {'group' if measures['groups'] == 1 else 'groups'} of {sizes} records"
    groups += " in all" if len(promise.groups) > 1 else ""
    params = ", ".join(f"{name} {value}" for name, value in account["parameters"]["params"].items())
    method = f"{search['method']} ({params})" if params else search["method"]
    lines += entry("Method", f"{method}: {groups}, {_effort(search)}")
    lines += entry("Loss", f"IL {measures['il']:.2f} % of the variance. {_per_attribute(measures['il_per_attribute'])}")
    if "start_il" in measures:
        lines += entry(
            "Before",
            f"the groups it started from lost {measures['start_il']:.4g} %, the new ones {measures['il']:.4g} %",
        )
    if account["bound"]:
        lines += entry("Bound", _bound(account["bound"]))
    # The loss has its own line.
    told = {name: value for name, value in measures.items() if name != "il"}
    lines += judgement(told, JUDGED)
    if "covers" in measures:
        lines += figures(told, JUDGED, left_out=("gil", "id", "dr", "score"))
    if measures["blanked"]:
        lines += entry("Blanked", _blanked(measures))
    lines += entry("Promise", promise.words())
    lines += entry("Beware", across) if (across := _across(promise, measures)) else []
    where = "the data to be released"
    if files:
        where = f"the {'table' if account['output'].get('database') else 'file'} as written"
    lines += entry("Verified", f"{where} {verification.words()}")
    lines += describe_notes(account["notes"])
    if files:
        lines.append("")
        longest = max(len(str(path)) for path in files.values())
        for position, (name, path) in enumerate(files.items()):
            lines.append(f"{'' if position else 'Files':<{MARGIN}}{path!s:<{longest}}  {_FILES[name]}")
    return "\n".join(lines)


def tell_release(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What whoever decides on a release must know of it, by title, from its evidence: in the words of the summary.

    `Beware` and `Assumed` stand once for each of their sentences.
    """
    measures, notes = account["measures"], _sort_notes(account["notes"])
    told = paragraphs({name: value for name, value in measures.items() if name != "il"}, JUDGED)
    across = _across(Promise.from_dict(account["promise"]), measures)
    blanked = _blanked(measures) if measures.get("blanked") else ""
    pairs = [("Beware", across), *notes["Beware"], *told.items(), ("Blanked", blanked), *notes["Assumed"]]
    return [(title, text) for title, text in pairs if text]


def describe_notes(notes: Sequence[str]) -> list[str]:
    """What to beware of, and what was assumed."""
    lines: list[str] = []
    for told in _sort_notes(notes).values():
        for position, (title, note) in enumerate(told):
            lines += entry("" if position else title, note)
    return lines


def _sort_notes(notes: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """What to beware of and what was assumed, each sentence with its title."""
    told: dict[str, list[tuple[str, str]]] = {"Beware": [], "Assumed": []}
    for note in notes:
        title = "Beware" if note.startswith(BEWARE) else "Assumed"
        told[title].append((title, note.removeprefix(BEWARE)))
    return told


def _blanked(measures: Mapping[str, Any]) -> str:
    return f"{measures['blanked']:,} values, so that records with missing values can be grouped"


def describe_columns(columns: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The columns by their roles."""
    by_role: dict[str, list[str]] = {}
    for name, said in columns.items():
        by_role.setdefault(said["role"], []).append(name)
    lines: list[str] = []
    quasi = [f"{name} ({columns[name]['type']}, {columns[name]['aggregate']})" for name in by_role.get("quasi", [])]
    lines += entry("Protected", ", ".join(quasi))
    if "by" in by_role:
        lines += entry("Within", ", ".join(by_role["by"]))
    if "confidential" in by_role:
        lines += entry("Unchanged", ", ".join(by_role["confidential"]))
    dropped = [*by_role.get("identifier", []), *by_role.get("ignore", [])]
    if dropped:
        lines += entry("Left out", ", ".join(dropped))
    return lines


def _groups(promise: Promise) -> list[str]:
    """The groups of quasi-identifiers, where there are several."""
    if len(promise.groups) == 1:
        return []
    return entry(
        "Groups", " ".join(f"[{', '.join(group)}]" for group in promise.groups) + ", each protected on its own"
    )


def _across(promise: Promise, measures: Mapping[str, Any]) -> str:
    """What several groups of quasi-identifiers do not promise, with what is known of it."""
    if len(promise.groups) == 1:
        return ""
    held = f"k-anonymity holds within each of the {len(promise.groups)} groups of quasi-identifiers only: "
    if "dld" not in measures:
        return f"{held}what an intruder who combines groups finds is not measured of data in parts"
    error = measures["dld_standard_error"]
    how = "" if error is None else f" (estimated from {measures['dld_searched']:,} of them, ± {error:.2f})"
    return f"{held}an intruder who combines groups finds {measures['dld']:.2f} % of the records{how}"


def _effort(search: Mapping[str, Any]) -> str:
    """How long it took; of a search also how far it came."""
    seconds = f"{search['seconds']:.1f} s"
    if not search["steps"]:
        return seconds
    cut = " (interrupted)" if search["stopped"] == "interrupted" else ""
    return f"{search['steps']:,} steps in {seconds}{cut}"


def _bound(bound: Mapping[str, Any]) -> str:
    if bound["gap"] < 1e-6:
        return f"no groups lose less: the optimum is proven ({bound['method']})"
    return (
        f"no groups of at least k records lose less than {bound['value']:.4g} % ({bound['method']}): these are at most "
        f"{bound['gap']:.2g} % above the optimum"
    )


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _per_attribute(parts: Mapping[str, float], most: int = 3) -> str:
    if len(parts) < 2:
        return ""
    ranked = [f"{name} {loss:.1f}" for name, loss in sorted(parts.items(), key=lambda item: -item[1])]
    least = f"; least in {ranked[-1]}" if len(ranked) > most else ""
    return f"Most in {', '.join(ranked[:most])}{least}."


_TABLE_FILES = {
    "release": "publishable",
    "record": "publishable: promise, digest",
    "evidence": "internal: keep it, do not publish",
    "internal": "internal: holds every value",
    "certificate": "internal: the proof of protection",
    "report": "publishable: for those who use the data",
    "internal report": "internal: for those who decide",
    "acro": "internal: for output checkers",
}


# From this many percent in the last quarter on, the steward is told that a search was still getting somewhere.
STILL_FALLING = 0.5


def summarize_table(
    table: Table, account: Mapping[str, Any], audit: Audit, files: Mapping[str, Path] | None = None
) -> str:
    """The release in words; internal, since costs tell of suppressed cells."""
    measures, search = account["measures"], account["search"]
    lines = [f"{table.source}: {len(table):,} cells, {measures['primary_count']:,} unsafe", ""]
    lines += entry("Suppressed", _suppressed(measures))
    steps = f"{search['steps']:,} {'step' if search['steps'] == 1 else 'steps'} in {search['seconds']:.1f} s"
    lines += entry("Method", f"{search['method']}, {steps}, ended by {search['stopped']}")
    lines += _choice(account["parameters"].get("secret"))
    for title, text in _further(account):
        lines += entry(title, text)
    if measures.get("changes") is not None:
        lines += entry("Previous", f"{measures['changes']:,} secondary cells differ from the previous pattern")
    if measures.get("unprotected_count") or measures.get("insider_victims"):
        lines += entry(
            "Partial", "some unsafe cells are NOT protected, as the verdict says; the record tells that much"
        )
    verdict = audit.summary().splitlines()
    lines += verdict[2:]
    if files:
        lines.append("")
        width = max(len(str(path)) for path in files.values())
        for at, (kind, path) in enumerate(files.items()):
            what = _TABLE_FILES.get(kind, "publishable: one of the linked tables")
            lines.append(f"{'Files' if at == 0 else '':<12}{path!s:<{width}}  {what}")
    return "\n".join(lines)


def _choice(secret: Mapping[str, Any] | None) -> list[str]:
    """Who can repeat the choice of cells."""
    if secret is None:
        return entry(
            "Choice",
            "can be repeated by anyone who knows method, rules and version, who may rule out values by it; --secret "
            "FILE (secret=) keys it",
        )
    made = "; the file was made just now: keep it, and name it for every release of this table"
    return entry(
        "Choice", f"keyed by the secret of fingerprint {secret['fingerprint']}{made if secret['made'] else ''}"
    )


def tell_table(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What whoever decides on a table must know of it, by title, from its evidence: in the words of the summary."""
    checked = account["verification"]
    verdict = [("Verdict", describe_protected(checked))] if checked["passed"] else []
    insiders = ("Insiders", describe_insiders(checked))
    return [*verdict, insiders, ("Suppressed", _suppressed(account["measures"])), *_further(account)] + [
        ("Note", note) for note in account["notes"]
    ]


def _suppressed(measures: Mapping[str, Any]) -> str:
    cost, value = write_figure(measures["cost"]), write_figure(measures["secondary_value"])
    return (
        f"{measures['secondary_count']:,} further cells of value {value}, at a cost of {cost} "
        f"({measures['published_share']:.2f} % of all cells stay published)"
    )


def _further(account: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Whether a search was still getting somewhere, and how far from the optimum it can be."""
    told, bound = [], account["bound"]
    fallen = _fallen(account["search"])
    if fallen >= STILL_FALLING:
        told.append(("Falling", f"the cost fell by {fallen:.1f} % in the last quarter of the search: more time helps"))
    if bound:
        how = "this is the optimum" if bound["gap"] == 0 else f"this is at most {bound['gap']:.2f} % above the optimum"
        told.append(("Bound", f"no pattern costs less than {write_figure(bound['value'])}: {how}"))
    return told


def _fallen(search: Mapping[str, Any]) -> float:
    """By how many percent the cost fell in the last quarter of a search that was ended before it had finished."""
    trace = search["trace"]
    if search["stopped"] == "finished" or len(trace) < 2:
        return 0.0
    by_time = search["stopped"] == "time"
    begin = 0.75 * (search["seconds"] if by_time else search["steps"])
    earlier = [cost for step, seconds, cost in trace if (seconds if by_time else step) <= begin]
    before, after = (earlier or [trace[0][2]])[-1], trace[-1][2]
    return 100.0 * (before - after) / before if before > 0 else 0.0
