"""What a notebook shows of our objects: their summaries as tables, without a script, whatever a name may hold."""

from __future__ import annotations

import html
import re
from typing import Any

import polars as pl
import pytest

import discreet

NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def shown() -> dict[str, Any]:
    frame = pl.DataFrame({NASTY: [1.25, 2.5, 3.75, 71.5, 72.5, 73.5], "b": [5, 6, 5, 8, 9, 8], "c": list("xyzxyz")})
    table = discreet.tabulate(pl.concat([frame] * 3 + [frame.head(1)]), by=["c", "b"], value=NASTY)
    safe = discreet.suppress(discreet.primary(table, threshold=4), steps=1, partial=True)
    quasi = frame.select(NASTY, "b")
    return {
        "release": discreet.protect(frame, quasi=[NASTY, "b"], confidential=["c"], k=3, steps=1),
        "partition": discreet.partition(quasi, k=3, steps=1),
        "grouping": discreet.group(frame, quasi=[NASTY, "b"], ignore=["c"], k=3, steps=1),
        "table": safe,
        "audit": safe.audit,
    }


@pytest.mark.parametrize("kind", ["release", "partition", "grouping", "table", "audit"])
def test_objects_show_their_summary_and_a_chart(
    shown: dict[str, Any], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shown[kind]._repr_html_()
    assert not re.search(r"<(?:script|img|a|iframe|link|style)\b", whole)
    assert ("<svg" in whole) == (kind in ("release", "partition", "grouping"))
    monkeypatch.setattr("discreet.release.notebooks.can_draw", lambda: False)
    page = shown[kind]._repr_html_()
    assert re.findall(r"<(?!/?(?:table|caption|tbody|tr|th|td)\b)", page) == []
    text = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert "".join(text.split()) == "".join(shown[kind].summary().split())
