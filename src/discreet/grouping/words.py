"""A grouping in words, for a data steward."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.text import MARGIN, entry

if TYPE_CHECKING:
    from discreet.grouping.result import Grouping, Point

# Points of a front that are shown.
SHOWN = 12


def words(found: Grouping, files: Sequence[Path] = ()) -> str:
    """What was found, what it loses and risks, what else there is, and how to go on."""
    account = found.evidence
    given, search, parameters = account["input"], account["search"], account["parameters"]
    lines = [
        f"{given['file'] or 'frame'}: {given['records']:,} records, {sum(map(len, found.groups))} quasi-identifiers in "
        f"{len(found.groups)} {'group' if len(found.groups) == 1 else 'groups'}, k = {found.k}",
        "",
    ]
    for number, group in enumerate(found.groups, 1):
        lines += entry(f"Group {number}", ", ".join(group))
    lines.append("")
    lines += entry("Score", f"{found.score:.2f} {_weights(parameters)}")
    lines += entry("Loss", f"IL {found.il:.2f} % of the variance")
    interval = "" if found.id is None else f", interval disclosure {found.id:.2f} %"
    lines += entry("Risk", f"DR {found.dr:.2f} %: linkage {found.dld:.2f} %{interval}")
    lines += entry("Rivals", _rivals(found))
    lines += entry("Method", _method(found))
    if search["method"] == "pareto":
        lines += _front(found)
    for position, note in enumerate(account["notes"]):
        lines += entry("" if position else "Assumed", note)
    if len(found.groups) > 1:
        lines += entry(
            "Beware",
            "k-anonymity will hold within each group of columns, not across them; the risk above tells the rest",
        )
    if files:
        lines.append("")
        for position, path in enumerate(files):
            lines += entry("" if position else "Files", str(path))
        # On one line, to be copied; the columns are said as they were here.
        lines.append(
            f"{'Next':<{MARGIN}}discreet protect {given['file']} … --k {found.k} {_as_judged(found, files[0])}"
        )
    return "\n".join(lines)


def _as_judged(found: Grouping, grouping: Path) -> str:
    """The options that make the release whose loss and risk were told."""
    inner, seed = found.evidence["parameters"]["inner"], found.evidence["search"]["seed"]
    replay = "" if inner["steps"] is None else f" --steps {inner['steps']} --seed {seed}"
    return f"--grouping {grouping} --method {inner['method']}{replay} -o RELEASE"


def _weights(parameters: dict[str, float]) -> str:
    loss, risk = parameters["loss_weight"], parameters["risk_weight"]
    return "(mean of loss and risk)" if loss == risk else f"(loss counts {loss:g}, risk {risk:g})"


def _rivals(found: Grouping) -> str:
    same = {name: rival for name, rival in found.rivals.items() if rival.k == found.k}
    ranked = sorted(same.items(), key=lambda item: item[1].score)
    told = "; ".join(f"{name} {rival.score:.2f}" for name, rival in ranked[:3])
    return f"{told}{f'; {len(ranked) - 3} more are worse' if len(ranked) > 3 else ''}"


def _method(found: Grouping) -> str:
    search, parameters = found.evidence["search"], found.evidence["parameters"]
    inside = parameters["inner"]["method"]
    cut = "" if search["stopped"] in ("finished", "steps") else f" ({search['stopped']})"
    judged = f"{found.evidence['measures']['evaluations']:,} groupings judged"
    way = "all groupings" if search["params"].get("enumerated") else search["method"]
    return f"{way} with {inside} inside: {judged}, {search['steps']:,} steps in {search['seconds']:.1f} s{cut}"


def _front(found: Grouping) -> list[str]:
    points = list(enumerate(found.front, 1))
    lines = entry(
        "Front", f"{len(points)} groupings that no other beats in both, hypervolume {found.hypervolume:.2f} %; of these"
    )
    step = max(1.0, (len(points) - 1) / (SHOWN - 1))
    shown = sorted({round(place * step) for place in range(SHOWN) if round(place * step) < len(points)})
    return lines + [line for place in shown for line in entry("", _told(*points[place]))]


def _told(number: int, point: Point) -> str:
    return (
        f"{number:>4}: k {point.k:>3}  IL {point.il:6.2f}  DR {point.dr:6.2f}  score {point.score:6.2f}  "
        f"groups {len(point.groups)}"
    )
