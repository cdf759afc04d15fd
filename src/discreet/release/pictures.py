"""Charts written to files: pages that open without a network, pictures, or the chart's own description."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discreet.errors import InputError
from discreet.release.atomic import AtomicFiles

if TYPE_CHECKING:
    import altair as alt

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
    from importlib.util import find_spec

    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f"{path}: a picture cannot be written as '{path.suffix}'; name it with one of {', '.join(FORMATS)}"
        )
    if find_spec("altair") is None or find_spec("vl_convert") is None:
        raise InputError("pictures need the extra 'report'; install it with: pip install 'discreet[report]'")
    return path


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
    return path
