"""A report as one page of HTML that needs nothing else: sections in, the text of a file out; no script, no request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet._version import __version__
from discreet.release.charts import Drawing
from discreet.text import write_figure

# Nothing is fetched and nothing is run, whatever a name in the data may hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


@dataclass(frozen=True)
class Figure:
    """A chart with the sentence that says what it means, and what it shows in words for those who cannot see it.

    Parameters
    ----------
    svg : Drawing
        The chart, as `release.charts.svg` draws it.
    sentence : str
        What it means for a lay reader.
    alternative : str
        What it shows, in words.
    title : str
        Stands above it.
    """

    svg: Drawing
    sentence: str
    alternative: str
    title: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of a report: a caption, the names of its columns, and rows of texts and numbers.

    Parameters
    ----------
    head : sequence of str
        Names of the columns. Those that end in a number are set right: `right` says how many of the last columns are.
    rows : sequence of sequences
        The cells; the first of each row names it.
    right : int
        How many columns, counted from the last, hold numbers.
    caption : str
        What the table shows.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: int = 0
    caption: str = ""


@dataclass(frozen=True)
class Section:
    """A part of a report: the template `sections/NAME.html` with its facts.

    Parameters
    ----------
    name : str
        Of the template; also the anchor that the contents list points to.
    title : str
        Its heading.
    facts : mapping
        What the template says in words.
    """

    name: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def render(self) -> str:
        """The section alone, to take the place of the one in a page that was written before."""
        return _environment().get_template("section.html").render(section=self)


@dataclass(frozen=True)
class Page:
    """A report: its title, for whom it is, and its sections in their order.

    Parameters
    ----------
    title : str
        What the report is of.
    subtitle : str
        A line below the title.
    internal : bool
        Whether it must not be published, which is said on every page.
    sections : sequence of Section
        Its parts.
    tells_version : bool
        Whether the page says which version of the program wrote it.
    """

    title: str
    subtitle: str
    internal: bool
    sections: Sequence[Section]
    tells_version: bool = True

    def render(self) -> str:
        """The page as HTML."""
        return _environment().get_template("report.html").render(page=self, policy=POLICY, version=__version__)


@cache
def _environment() -> Environment:
    """Templates in which everything that is not ours to write is escaped, and a fact that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("discreet.release.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda number: f"{number:,}"
    environment.filters["percent"] = write_percent
    environment.filters["figure"] = write_figure
    return environment


def write_percent(share: float | None) -> str:
    """A percentage to read: two digits after the point, and no more than tell something."""
    if share is None:
        return "–"
    return (f"{share:.0f} %" if share in (0, 100) else f"{share:.2f} %").replace("-", "−")
