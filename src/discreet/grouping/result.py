"""What `group` hands out: a grouping with its measures, the front it was chosen from, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.data.groupings import groups_text
from discreet.errors import InputError
from discreet.release.atomic import AtomicFiles


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
        folder.mkdir(exist_ok=True)
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
        from discreet.grouping.operators_file import write_operators

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
        from discreet.grouping.plots import front_chart
        from discreet.release.pictures import save

        # Of several k only the own: more names than that nobody can read.
        rivals = {name: rival.as_dict() for name, rival in self.rivals.items() if rival.k == self.k}
        chart = front_chart([point.as_dict() for point in self.front], rivals, Point.as_dict(self))
        return save(chart, path, force=force)

    def summary(self, files: Sequence[Path] = ()) -> str:
        """The grouping in words, and where it was written to."""
        from discreet.grouping.words import words

        return words(self, files)

    def __repr__(self) -> str:
        groups = f"{len(self.groups)} {'group' if len(self.groups) == 1 else 'groups'}"
        return f"Grouping into {groups}, k = {self.k}, score {self.score:.2f} (IL {self.il:.2f} %, DR {self.dr:.2f} %)"
