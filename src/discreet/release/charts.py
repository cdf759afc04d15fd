"""What all charts share: their looks, places for the labels of a scatter plot, and how they are written to files.

Colours are those that everybody can tell apart. Labels are placed so that no two texts and no text and point lie on
each other. A chart is written as a page that opens without a network, as a picture, or as its Vega-Lite description.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from discreet.errors import InputError
from discreet.extras import alt, vl_convert
from discreet.release.atomic import AtomicFiles

if TYPE_CHECKING:
    import polars as pl

    AnyChart = TypeVar("AnyChart", bound=alt.TopLevelMixin)
    Chart = alt.Chart | alt.LayerChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart | alt.FacetChart

FORMATS: dict[str, Literal["html", "svg", "png", "json"]] = {
    ".html": "html",
    ".svg": "svg",
    ".png": "png",
    ".json": "json",
}
# Pixels of a picture for each pixel of a chart: sharp on paper and on fine screens.
SCALE = 2.0
# What a reader of a page can do with its chart: keep it as a picture. "Open in the editor" would send the figures to a
# site elsewhere.
MENU = {"export": True, "source": False, "compiled": False, "editor": False}


def check_picture(path: str | Path) -> Path:
    """Refuse what would fail at the end, before the work begins: an unknown suffix, or no library to draw with."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path}: a picture cannot be written as '{path.suffix}'; name it with one of {', '.join(FORMATS)}"
        )
    check_drawing("pictures")
    return path


def can_draw() -> bool:
    """Whether there is a library to draw with."""
    return find_spec("altair") is not None and find_spec("vl_convert") is not None


def check_drawing(what: str) -> None:
    """Refuse what needs charts before the work begins, where there is no library to draw with."""
    if not can_draw():
        raise InputError(f"{what} need the extra 'report'; install it with: pip install 'discreet[report]'")


def save(chart: Chart, path: str | Path, *, force: bool = False) -> Path:
    """Write a chart; it appears whole or not at all.

    Parameters
    ----------
    chart : altair.Chart
        The chart.
    path : path
        The file. Its suffix says the format: `.html` (with all that it needs inside), `.svg`, `.png`, or `.json` (the
        Vega-Lite description).
    force : bool
        Replace a file that exists already.
    """
    path = check_picture(path)
    with AtomicFiles([path], force=force) as files:
        # Inline: a page that fetches scripts from elsewhere would be blank in a room without a network.
        chart.save(
            str(files.temporary(path)),
            format=FORMATS[path.suffix.lower()],
            inline=path.suffix.lower() == ".html",
            scale_factor=SCALE,
            embed_options={"actions": MENU},
        )
        if FORMATS[path.suffix.lower()] == "html":
            _defuse(files.temporary(path))
    return path


# What a browser does without: empty outlines, and words for readers of a screen, who are told it in one sentence.
_OUTLINE = re.compile(r'<path class="(?:back|fore)ground"[^>]* d="(?:M0,0h0v0h0Z)?"[^>]*/>|<rect [^>]*"transparent"/>')
_IDLE = re.compile(
    r' (?:aria-\w+|role|xmlns|xmlns:xlink|pointer-events)="[^"]*"| (?:opacity|stroke-width)="1"| version="1.1"'
)
_REFERENCE = re.compile(r'( id="|url\(#| href="#)')
_THOUSANDTHS = re.compile(r"(\d+\.\d\d)\d+")


class Drawing:
    """A chart that is drawn while other work goes on; the page that shows it waits for it."""

    def __init__(self, drawn: Future[str]) -> None:
        self._drawn = drawn

    def __html__(self) -> str:
        return self._drawn.result()

    __str__ = __html__


def svg(chart: Chart | Mapping[str, Any], name: str) -> Drawing:
    """A chart to stand in a page of HTML: its colours are the page's, which follow light, dark and print.

    Parameters
    ----------
    chart : altair.Chart or dict
        The chart, or its description in Vega-Lite.
    name : str
        Of letters and digits, and of no other chart of the page: what a chart refers to within itself bears it.
    """
    # To validate takes a tenth of a second for each chart that we made ourselves.
    plain = dict(chart) if isinstance(chart, Mapping) else chart.to_dict(validate=False)
    plain["config"] = STYLE | plain.get("config", {}) | {"background": "transparent", "padding": 2, "aria": False}
    return Drawing(_pen().submit(_render, plain, name))


@cache
def _pen() -> ThreadPoolExecutor:
    """The one thread that draws: the library that does has no more itself."""
    return ThreadPoolExecutor(1)


def _render(plain: dict[str, Any], name: str) -> str:
    def trim(tag: re.Match[str]) -> str:
        if _OUTLINE.fullmatch(tag[0]):
            return ""
        return _THOUSANDTHS.sub(r"\1", _REFERENCE.sub(rf"\g<1>{name}-", _IDLE.sub("", tag[0])))

    # Vega escapes what stands between the tags.
    return re.sub(r"<[^>]*>", trim, vl_convert.vegalite_to_svg(plain))


def warm_up() -> None:
    """Load the libraries that draw, which takes a moment, while something else is done."""
    _ = alt.Chart
    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "bar"})


def _defuse(page: Path) -> None:
    """Escape what in a name would end the script that holds the description of the chart, and begin another."""
    text, found = re.subn(
        r"(?m)^(\s*(?:const|let|var) spec = )(.*)$",
        lambda line: line[1] + line[2].replace("<", "\\u003c"),
        page.read_text(encoding="utf-8"),
        count=1,
    )
    if not found:
        raise InputError("this version of altair writes pages that cannot be made safe; write .svg or .png instead")
    page.write_text(text, encoding="utf-8")


# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, INK = "#8A8A8A", "#333333"
HUES = [BLUE, VERMILION, GREEN, ORANGE, "#CC79A7", "#56B4E9", INK, "#B8A800"]


# Fonts, grid and frame of all charts.
STYLE: dict[str, Any] = {
    "font": "Helvetica, Arial, DejaVu Sans, sans-serif",
    "background": "white",
    "padding": 14,
    "axis": {
        "labelFontSize": 11, "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": "#ECECEC",
        "domainColor": "#BBBBBB", "tickColor": "#BBBBBB", "labelColor": INK, "titleColor": INK,
    },
    "view": {"stroke": None},
    "title": {
        "anchor": "start", "fontSize": 16, "subtitleFontSize": 12, "subtitleColor": "#666", "offset": 12, "color": INK,
    },
    "legend": {"labelFontSize": 11, "titleFontSize": 12, "labelColor": INK, "titleColor": INK},
}  # fmt: skip


def styled(chart: AnyChart) -> AnyChart:
    """A chart in the style of all charts."""
    plain: Any = chart
    dressed: AnyChart = plain.properties(config=STYLE)
    return dressed


def hues(kinds: Sequence[str]) -> alt.Scale:
    """A colour for each of some kinds, in their order."""
    return alt.Scale(domain=list(kinds), range=[HUES[i % len(HUES)] for i in range(len(kinds))])


def inline(frame: pl.DataFrame) -> alt.InlineData:
    """The rows of a frame as the data of a chart."""
    return alt.InlineData(values=frame.to_dicts())


# Pixels: an average letter of the font, its line, the free space round a point, and how far a label may move away.
LETTER, LINE, POINT = 5.9, 14.0, 6.0
RINGS = (12.0, 20.0, 30.0, 42.0, 56.0, 72.0)
# A label within this distance needs no line to its point.
NO_LINE_WITHIN = 15.0
# Orders of placing that are tried at most.
ORDERS = 30
# Right first, as one reads, then all round.
ANGLES = sorted((math.tau * turn / 16 for turn in range(16)), key=lambda angle: (-round(math.cos(angle), 6), angle))
Line = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Place:
    """The middle of a label, in pixels from the upper left corner, and where a line from its point meets it.

    `end` is None if the label is so near that no line is needed.
    """

    x: float
    y: float
    end: tuple[float, float] | None = None


@dataclass(frozen=True)
class _Box:
    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: _Box) -> bool:
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def within(self, other: _Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )

    def crossed(self, line: Line) -> bool:
        """Whether a line goes through, looked at in small steps."""
        (x, y), (to_x, to_y) = line
        steps = max(1, round(math.dist(*line) / 2.0))
        return any(
            self.left < x + (to_x - x) * step / steps < self.right
            and self.top < y + (to_y - y) * step / steps < self.bottom
            for step in range(steps + 1)
        )

    def nearest(self, x: float, y: float) -> tuple[float, float] | None:
        """Its point that is nearest to another, if that is some way off."""
        end = min(max(x, self.left), self.right), min(max(y, self.top), self.bottom)
        return end if math.dist(end, (x, y)) > NO_LINE_WITHIN else None


def label_places(
    labels: Sequence[tuple[str, float, float]],
    points: Sequence[tuple[float, float]],
    size: tuple[float, float],
) -> list[Place | None]:
    """A place for each label near its point; None where there is none that is free.

    Labels are placed one after the other. If one finds no place, another order is tried.

    Parameters
    ----------
    labels : sequence of (text, x, y)
        The labels and the points they belong to, the most important first.
    points : sequence of (x, y)
        All points that must stay visible.
    size : (width, height)
        The plot, which no label leaves.
    """
    order, chance = list(range(len(labels))), random.Random(0)
    best = _place(labels, points, size, order)
    for _ in range(ORDERS):
        if None not in best:
            break
        # The first is the most important one and keeps its right to choose.
        order = [*order[:1], *chance.sample(order[1:], len(order[1:]))]
        other = _place(labels, points, size, order)
        if other.count(None) < best.count(None):
            best = other
    return best


def _place(
    labels: Sequence[tuple[str, float, float]],
    points: Sequence[tuple[float, float]],
    size: tuple[float, float],
    order: Sequence[int],
) -> list[Place | None]:
    """The places that labels find if they choose in an order."""
    taken = [_Box(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in points]
    written: list[_Box] = []
    lines: list[Line] = []
    plot = _Box(0.0, 0.0, *size)
    places: list[Place | None] = [None] * len(labels)
    for number in order:
        text, x, y = labels[number]
        for middle in _candidates(text, x, y):
            box = _around(text, *middle)
            if not box.within(plot) or any(box.meets(other) for other in (*taken, *written)):
                continue
            end = box.nearest(x, y)
            line = None if end is None else ((x, y), end)
            if line and any(other.crossed(line) for other in (*written, *_others(taken, x, y))):
                continue
            if any(box.crossed(other) for other in lines):
                continue
            places[number] = Place(*middle, end)
            written.append(box)
            lines += [line] if line else []
            break
    return places


def _candidates(text: str, x: float, y: float) -> Iterator[tuple[float, float]]:
    half = len(text) * LETTER / 2
    for ring in RINGS:
        for angle in ANGLES:
            right, down = math.cos(angle), math.sin(angle)
            # The side of the text that looks at the point is at its distance.
            aside, below = (max(-1.0, min(1.0, 2 * part)) for part in (right, down))
            yield x + right * ring + aside * half, y + down * ring + below * LINE / 2


def _others(points: Sequence[_Box], x: float, y: float) -> list[_Box]:
    """All points but the one that a line starts from."""
    return [box for box in points if not (box.left < x < box.right and box.top < y < box.bottom)]


def _around(text: str, x: float, y: float) -> _Box:
    half = len(text) * LETTER / 2
    return _Box(x - half, y - LINE / 2, x + half, y + LINE / 2)
