"""A paper as a set of parts that can each be made again, and the means that may be spent on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from discreet.errors import InputError
from discreet.experiments.page import Made, Page, Section, Table


def _silent(_stage: str, _fraction: float) -> None:
    """Listen to nothing."""


@dataclass(frozen=True)
class Budget:
    """What may be spent on making a paper's experiments again.

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
    work : dict
        Takes the seconds of processor that the runs of each experiment have cost, those kept from before included.
    """

    quick: bool = False
    seed: int = 1
    threads: int = 1
    store: Path | None = None
    tell: Callable[[str, float], None] = field(default=_silent, compare=False)
    work: dict[str, float] = field(default_factory=dict, compare=False)


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
            sum(budget.work.values()),
            self.quickly if budget.quick else self.cut,
        )
        return Page(f"The {self.year} paper", f"{self.citation}\n\n{self.about}", made, sections)


def compared(rows: Sequence[tuple[str, object, object, str]]) -> Table:
    """Published figures beside ours; None is a figure that is not available."""
    return Table(("what", "published", "ours", "what explains the difference"), rows)
