"""A paper as a set of tables and figures that can each be made again, and the budget of runs for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from discreet._version import __version__
from discreet.errors import InputError
from discreet.experiments.page import Made, Page, Section, Table
from discreet.experiments.runs import Flat, Task, run_all
from discreet.text import silent

Found = TypeVar("Found")


@dataclass(frozen=True)
class Budget:
    """What may be spent on making a paper's experiments again, and what has been made with it.

    Parameters
    ----------
    quick : bool
        Only enough to see that everything works, in a few seconds.
    seed : int
        Seed of the data and of every run.
    threads : int
        Processes that work side by side; the results do not depend on it.
    store : Path, optional
        A folder in which runs are kept as they end.
    tell : callable
        Told the stage and how far along it is, in [0, 1].
    cluster : str, optional
        The address of a Dask scheduler whose workers do the runs.
    """

    quick: bool = False
    seed: int = 0
    threads: int = 1
    store: Path | None = None
    tell: Callable[[str, float], None] = silent
    cluster: str | None = None
    _made: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    _seconds: dict[str, float] = field(default_factory=dict, init=False, repr=False)

    @property
    def seconds(self) -> float:
        """Seconds of processor that the runs made so far have cost, those kept from before included."""
        return sum(self._seconds.values())

    def once(self, name: str, make: Callable[[], Found], seconds: Callable[[Found], float] | None = None) -> Found:
        """Make something when it is first asked for, and keep it: several tables of a page show the same runs.

        Parameters
        ----------
        name : str
            What it is; no two things have the same name.
        make : callable
            Makes it.
        seconds : callable, optional
            The seconds of processor that it has cost.
        """
        if name not in self._made:
            self._made[name] = make()
            self._seconds[name] = 0.0 if seconds is None else seconds(self._made[name])
        found: Found = self._made[name]
        return found

    def run(
        self, name: str, task: Task, settings: Sequence[Flat], about: Flat, *, stage: str, cost: str
    ) -> pl.DataFrame:
        """Do the runs of an experiment, once.

        Parameters
        ----------
        name : str
            The experiment.
        task, settings, about
            As for `run_all`; what the runs are about is told with the version of this package.
        stage : str
            What progress is told of.
        cost : str
            The column of the results that holds the seconds of processor.
        """
        return self.once(
            name,
            lambda: run_all(
                task,
                settings,
                store=self.folder(name),
                about={**about, "version": __version__},
                threads=self.threads,
                cluster=self.cluster,
                progress=lambda _stage, fraction: self.tell(stage, fraction),
            ),
            lambda runs: float(runs[cost].sum()),
        )

    def folder(self, name: str) -> Path | None:
        """Where the runs of an experiment are kept, if they are."""
        return None if self.store is None else self.store / f"{name}{'-quick' if self.quick else ''}-{self.seed}"


Part = Callable[[Budget], Section]


@dataclass(frozen=True)
class Paper:
    """A paper.

    Parameters
    ----------
    year : str
        Its year, which is its name here.
    citation : str
        Authors, title, where it appeared.
    about : str
        What its experiments are, and how ours were set up.
    parts : mapping of str to callable
        Its tables ("table 1") and figures ("figure 1") by name, in the order of the page.
    cut : str
        What the full run leaves out of the paper's experiments.
    quickly : str
        What the quick run leaves out.
    """

    year: str
    citation: str
    about: str
    parts: Mapping[str, Part]
    cut: str = ""
    quickly: str = "A quick run, which only shows that everything works: its figures mean nothing."

    def chosen(self, wanted: Sequence[str] = ()) -> list[str]:
        """The names of the wanted parts, of all without any; an unknown one is refused."""
        for name in wanted:
            if name not in self.parts:
                raise InputError(f"the paper of {self.year} has no {name} here; its parts: {', '.join(self.parts)}")
        return [name for name in self.parts if not wanted or name in wanted]

    def page(self, budget: Budget, command: str, wanted: Sequence[str] = ()) -> Page:
        """Make parts again, all without any named, as a page."""
        names = self.chosen(wanted)
        sections = []
        for done, name in enumerate(names):
            budget.tell(name, done / len(names))
            sections.append(self.parts[name](budget))
        made = Made(
            command,
            budget.seed,
            budget.threads,
            budget.seconds,
            self.quickly if budget.quick else self.cut,
        )
        return Page(f"The {self.year} paper", f"{self.citation}\n\n{self.about}", made, sections)


def compare_figures(rows: Sequence[tuple[str, object, object, str]]) -> Table:
    """Published figures beside ours; None is a figure that is not available."""
    return Table(("what", "published", "ours", "what explains the difference"), rows)


def spread(figures: Sequence[float], form: str = ".2f", unit: str = "") -> str:
    """The mean of some figures, and the least and the largest where these differ as written."""
    mean, least, largest = (f"{figure:{form}}" for figure in (sum(figures) / len(figures), min(figures), max(figures)))
    return f"{mean}{unit}" if least == largest else f"{mean}{unit} ({least} to {largest})"
