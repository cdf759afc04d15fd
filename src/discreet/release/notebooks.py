"""What a notebook shows of our objects: the summary as a table and, where charts can be drawn, a chart; no script."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.release.charts import Drawing, can_draw
from discreet.release.reports import drawings
from discreet.release.reports.public import class_shares
from discreet.text import as_html


def show(summary: str, draw: Callable[[], Drawing]) -> str:
    """A summary as HTML, with a chart below it if the extra `report` is there."""
    if not can_draw():
        return as_html(summary)
    # The chart is drawn for light paper, whatever the colours of the notebook.
    return f'{as_html(summary)}<div style="background:#fff;max-width:60em">{draw()}</div>'


def draw_sizes(sizes: NDArray[np.int64]) -> Drawing:
    """A chart of how many records are in groups of which size; `sizes` has an entry for each record."""
    return drawings.bars("classes", *class_shares(sizes), title="share of records, %, by the size of their group")
