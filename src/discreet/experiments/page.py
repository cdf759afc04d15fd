"""A page of results: how they were made, and sections of text, tables and pictures; as Markdown with SVG beside it."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from discreet._version import __version__
from discreet.data.checks import writing
from discreet.release.atomic import AtomicFiles, make_folder
from discreet.release.charts import check_picture, save
from discreet.text import duration

if TYPE_CHECKING:
    from discreet.release.charts import Chart


@dataclass(frozen=True)
class Text:
    """A paragraph, in Markdown."""

    text: str

    def markdown(self, _folder: str) -> str:
        """The paragraph."""
        return self.text


@dataclass(frozen=True, eq=False)
class Table:
    """A table; numbers are written with as many digits as tell something.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequences
        Texts and numbers; None is "not available".
    """

    header: Sequence[str]
    rows: Sequence[Sequence[object]]

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Table:
        """A frame as a table."""
        return cls(frame.columns, frame.rows())

    def markdown(self, _folder: str) -> str:
        """The table, its columns aligned."""
        cells = [[str(name) for name in self.header], *([shown(value) for value in row] for row in self.rows)]
        widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(self.header))]
        lines = [
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
            for row in cells
        ]
        return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


@dataclass(frozen=True, eq=False)
class Picture:
    """A chart under a file name without its suffix, and what it shows in words."""

    name: str
    chart: Chart
    alt: str

    def markdown(self, folder: str) -> str:
        """The link to it."""
        return f"![{self.alt}]({folder}{self.name}.svg)"


Block = Text | Table | Picture


@dataclass(frozen=True, eq=False)
class Section:
    """A title and what stands under it."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Made:
    """How the results were made, so that others can make them again.

    Parameters
    ----------
    command : str
        The command.
    seed : int
        The seed of every random choice.
    threads : int
        Processes that worked side by side.
    seconds : float
        Seconds of processor of all runs.
    cut : str
        What was left out of what there could be, and how.
    """

    command: str
    seed: int
    threads: int
    seconds: float
    cut: str = ""

    def markdown(self) -> str:
        """A paragraph on it."""
        system = f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}"
        workers = f"{self.threads} process{'es' if self.threads > 1 else ''}"
        text = (
            f"Made with `{self.command}`, discreet {__version__}, seed {self.seed}: {duration(self.seconds)} of "
            f"processor time in runs, by {workers} (machine: {os.cpu_count()} cores, {system})."
        )
        return "\n\n".join([text, *([self.cut] if self.cut else [])])


@dataclass(frozen=True, eq=False)
class Page:
    """A page: its title, what it is about, how it was made, its sections."""

    title: str
    about: str
    made: Made | None
    sections: Sequence[Section] = field(default_factory=tuple)

    def markdown(self, pictures: str | None = "") -> str:
        """The page; `pictures` is the way from it to the folder of its pictures, None to leave them out."""
        parts = [f"# {self.title}", self.about, *([] if self.made is None else [self.made.markdown()])]
        for section in self.sections:
            blocks = [block for block in section.blocks if pictures is not None or not isinstance(block, Picture)]
            if blocks:
                parts += [f"## {section.title}", *(block.markdown(pictures or "") for block in blocks)]
        return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"

    def write(self, path: Path, pictures: Path | None = None, *, force: bool = False) -> list[Path]:
        """Write the page, and its pictures into a folder of theirs (the page's own without); each whole or not at all.

        Parameters
        ----------
        path : Path
            The page, a Markdown file.
        pictures : Path, optional
            The folder of the pictures; made if it is not there.
        force : bool
            Replace files that exist already.
        """
        folder = path.parent if pictures is None else pictures
        drawn = [block for section in self.sections for block in section.blocks if isinstance(block, Picture)]
        files = {folder / f"{picture.name}.svg": picture for picture in drawn}
        with writing(folder):
            make_folder(folder)
        AtomicFiles([path, *files], force=force)
        written = [save(picture.chart, check_picture(file), force=force) for file, picture in files.items()]
        way = Path(os.path.relpath(folder, path.parent)).as_posix()
        text = self.markdown("" if way == "." else f"{way}/")
        with AtomicFiles([path], force=force) as target:
            target.temporary(path).write_text(text, encoding="utf-8")
        return [path, *written]


def shown(value: object) -> str:
    """A value as a table shows it."""
    if value is None:
        return "not available"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value)
    return str(value).replace("|", "\\|")


def _number(value: float) -> str:
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞"
    size = abs(value)
    if value == 0 or size >= 1e7 or size < 1e-3:
        return f"{value:.3g}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.{max(0, 3 - math.floor(math.log10(size)))}f}"


def spans(values: Sequence[Any], every: Sequence[Any]) -> str:
    """Values of a grid in few words: neighbours as a range."""
    order = sorted(every) if all(isinstance(value, int | float) for value in every) else list(every)
    places = sorted(order.index(value) for value in values)
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][-1] + 1:
            parts[-1].append(place)
        else:
            parts.append([place])
    words = [f"{value:g}" if isinstance(value, float) else str(value) for value in order]
    return ", ".join(" – ".join(words[place] for place in dict.fromkeys((part[0], part[-1]))) for part in parts)
