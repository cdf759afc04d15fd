"""The result of `group`: a grouping with its measures, the front it was chosen from, and how it was found.

It writes itself: in words for a data steward, as TOML for `protect`, and what the operators did as data or a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet.data.databases.address import SYSTEMS
from discreet.data.files import check_writable_format, write
from discreet.data.groupings import groups_text
from discreet.errors import InputError
from discreet.grouping.charts import front_chart, operators_chart
from discreet.release.atomic import AtomicFiles
from discreet.release.charts import FORMATS, save, svg
from discreet.release.notebooks import show
from discreet.text import MARGIN, entry

if TYPE_CHECKING:
    import altair as alt


@dataclass(frozen=True)
class Point:
    """A grouping with its measures, in percent.

    Parameters
    ----------
    k : int
        How many records at least share each combination of values within a group of columns.
    score : float
        The weighted mean of `il` and `dr`.
    il, dld, id, dr : float
        Information loss; linkage, interval disclosure (None without numeric columns), and the risk they make.
    groups : list of lists of str
        The columns of each group.
    """

    k: int
    score: float
    il: float
    dr: float
    dld: float
    id: float | None
    groups: list[list[str]]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {name: getattr(self, name) for name in Point.__dataclass_fields__}


@dataclass(frozen=True, eq=False)
class Grouping(Point):
    """The grouping that was found, and all that was found out on the way; `protect` takes it as it is.

    Parameters
    ----------
    front : list of Point
        All groupings met that no other beats in both loss and risk, by rising loss.
    hypervolume : float
        Share of all combinations of loss and risk from 0 to 100 that the front dominates, in percent.
    rivals : dict of str to Point
        The ad-hoc groupings.
    operators : list of dict
        For each operator and generation: how many children were `born` and how many of them were `clones` met before;
        `unused`, the percentage discarded without having been a parent; `lifetime`, generations survived on average;
        how many `improved` and `worsened`; `efficiency`, how much better than their parents they are on average, in
        percent, `best` and `worst` its extremes, `improvement` and `worsening` its means over either kind.
    evidence : dict
        The internal account of how it was found.
    """

    front: list[Point] = field(default_factory=list, repr=False)
    hypervolume: float = 0.0
    rivals: dict[str, Point] = field(default_factory=dict, repr=False)
    operators: list[dict[str, Any]] = field(default_factory=list, repr=False)
    evidence: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def trace(self) -> list[list[float]]:
        """When the search got better: step, seconds, and the score (of `pareto` the share not yet dominated)."""
        found: list[list[float]] = self.evidence["search"]["trace"]
        return found

    def pick(self, point: int | Point) -> Grouping:
        """The same with another point of the front as the grouping chosen.

        Parameters
        ----------
        point : int or Point
            A point of the front, or its place there, counted from 1.
        """
        if not isinstance(point, Point):
            if isinstance(point, bool) or not isinstance(point, int) or not 1 <= point <= len(self.front):
                raise InputError(f"the front has points 1 to {len(self.front)}; there is no point {point!r}")
            point = self.front[point - 1]
        chosen = Point.as_dict(point)
        measures = chosen | {"groups": len(point.groups), "grouping": point.groups}
        account = self.evidence | {
            "parameters": self.evidence["parameters"] | {"grouping": point.groups},
            "measures": self.evidence["measures"] | measures,
        }
        return replace(self, **chosen, evidence=account)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    def text(self) -> str:
        """The grouping as the text of a TOML file."""
        search, parameters = self.evidence["search"], self.evidence["parameters"]
        about: Mapping[str, object] = {
            **{name: getattr(self, name) for name in ("k", "score", "il", "dr", "dld", "id")},
            "method": search["method"],
            "inner": parameters["inner"]["method"],
            "seed": search["seed"],
            "steps": search["steps"],
        }
        return groups_text(self.groups, about)

    def write(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the grouping as a TOML file, for `protect`.

        Parameters
        ----------
        path : path
            The file.
        force : bool
            Replace a file that exists already.
        """
        target = Path(path)
        with AtomicFiles([target], force=force) as files:
            files.temporary(target).write_text(self.text(), encoding="utf-8")
        return target

    def write_front(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write each point of the front as a TOML file of its own; its name tells its place, k, loss and risk.

        Parameters
        ----------
        folder : path
            The folder; it is made if it is not there.
        force : bool
            Replace files that exist already.
        """
        folder = Path(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        texts = {
            folder / f"{number:03}-k{point.k}-il{point.il:.1f}-dr{point.dr:.1f}.toml": self.pick(point).text()
            for number, point in enumerate(self.front, 1)
        }
        with AtomicFiles(texts, force=force) as files:
            for path, text in texts.items():
                files.temporary(path).write_text(text, encoding="utf-8")
        return list(texts)

    def write_operators(self, path: str | Path, *, force: bool = False) -> Path:
        """Write what the operators did: as data (.csv, .parquet and others), or drawn (.html, .svg, .png).

        Parameters
        ----------
        path : path
            The file; its suffix says what it will be.
        force : bool
            Replace a file that exists already.
        """
        return write_operators(self.operators, Path(path), force=force)

    def draw_front(self, path: str | Path, *, force: bool = False) -> Path:
        """Draw the front, the rivals and this grouping.

        Parameters
        ----------
        path : path
            The picture: .html, .svg or .png.
        force : bool
            Replace a file that exists already.
        """
        return save(self._chart(), path, force=force)

    def _chart(self) -> alt.LayerChart:
        # Of several k only the own: more names than that nobody can read.
        rivals = {name: rival.as_dict() for name, rival in self.rivals.items() if rival.k == self.k}
        return front_chart([point.as_dict() for point in self.front], rivals, Point.as_dict(self))

    def summary(self, files: Sequence[Path] = ()) -> str:
        """The grouping in words, and where it was written to."""
        return summarize(self, files)

    def _repr_html_(self) -> str:
        return show(self.summary(), lambda: svg(self._chart(), "front"))

    def __repr__(self) -> str:
        groups = f"{len(self.groups)} {'group' if len(self.groups) == 1 else 'groups'}"
        return f"Grouping into {groups}, k = {self.k}, score {self.score:.2f} (IL {self.il:.2f} %, DR {self.dr:.2f} %)"


# Points of a front that the summary shows.
POINTS_SHOWN = 12


def summarize(found: Grouping, files: Sequence[Path] = ()) -> str:
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
        kind = given["format"]
        source = f"{kind}:{given['file']}" if kind in SYSTEMS else given["file"]
        lines.append(f"{'Next':<{MARGIN}}discreet protect {source} … --k {found.k} {_replay_options(found, files[0])}")
    return "\n".join(lines)


def _replay_options(found: Grouping, grouping: Path) -> str:
    """The options that make the release whose loss and risk are in the summary."""
    inner, seed = found.evidence["parameters"]["inner"], found.evidence["search"]["seed"]
    replay = "" if inner["steps"] is None else f" --steps {inner['steps']} --seed {seed}"
    return f"--grouping {grouping} --method {inner['method']}{replay} -o RELEASE"


def _weights(parameters: dict[str, float]) -> str:
    loss, risk = parameters["loss_weight"], parameters["risk_weight"]
    return "(mean of loss and risk)" if loss == risk else f"(loss counts {loss:g}, risk {risk:g})"


def _rivals(found: Grouping) -> str:
    same = {name: rival for name, rival in found.rivals.items() if rival.k == found.k}
    ranked = sorted(same.items(), key=lambda item: item[1].score)
    text = "; ".join(f"{name} {rival.score:.2f}" for name, rival in ranked[:3])
    return f"{text}{f'; {len(ranked) - 3} more are worse' if len(ranked) > 3 else ''}"


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
    step = max(1.0, (len(points) - 1) / (POINTS_SHOWN - 1))
    shown = sorted({round(place * step) for place in range(POINTS_SHOWN) if round(place * step) < len(points)})
    return lines + [line for place in shown for line in entry("", _describe(*points[place]))]


def _describe(number: int, point: Point) -> str:
    return (
        f"{number:>4}: k {point.k:>3}  IL {point.il:6.2f}  DR {point.dr:6.2f}  score {point.score:6.2f}  "
        f"groups {len(point.groups)}"
    )


OPERATOR_COLUMNS = {
    "generation": int,
    "operator": str,
    "born": int,
    "clones": int,
    "unused": float,
    "lifetime": float,
    "improved": int,
    "worsened": int,
    "efficiency": float,
    "best": float,
    "worst": float,
    "improvement": float,
    "worsening": float,
}


def write_operators(records: Sequence[Mapping[str, Any]], path: Path, *, force: bool = False) -> Path:
    """Write a row for each operator and generation, or draw them.

    Parameters
    ----------
    records : sequence of dicts
        What the operators did.
    path : Path
        The file; its suffix says what it will be.
    force : bool
        Replace a file that exists already.
    """
    if path.suffix.lower() in FORMATS:
        if not records:
            raise InputError(f"{path}: nothing to draw; no operator was at work, as every grouping was judged")
        return save(operators_chart(records), path, force=force)

    format_name = check_writable_format(path)
    with AtomicFiles([path], force=force) as files:
        write(pl.DataFrame(records, schema=OPERATOR_COLUMNS), files.temporary(path), format_name=format_name)
    return path
