"""How all charts look: colours that everybody can tell apart, quiet axes, readable letters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import altair as alt

    Chart = TypeVar("Chart", bound=alt.TopLevelMixin)

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, VERMILION, ORANGE, GREEN = "#0072B2", "#D55E00", "#E69F00", "#009E73"
GREY, INK = "#8A8A8A", "#333333"


def styled(chart: Chart) -> Chart:
    """Fonts, grid and frame of all charts."""
    plain: Any = chart
    dressed: Chart = (
        plain.configure(font="Helvetica, Arial, DejaVu Sans, sans-serif", background="white", padding=14)
        .configure_axis(labelFontSize=11, titleFontSize=12, titleFontWeight="normal", gridColor="#ECECEC",
                        domainColor="#BBBBBB", tickColor="#BBBBBB", labelColor=INK, titleColor=INK)
        .configure_view(stroke=None)
        .configure_title(anchor="start", fontSize=16, subtitleFontSize=12, subtitleColor="#666", offset=12, color=INK)
        .configure_legend(labelFontSize=11, titleFontSize=12, labelColor=INK, titleColor=INK)
    )  # fmt: skip
    return dressed
