"""Confidential columns that tell whose a record is are pointed out, and refused where nobody named them."""

from __future__ import annotations

from datetime import date, timedelta

import polars as pl
import pytest

import discreet
from discreet.errors import InputError

N = 40
SENTENCE = "was seen again on several days and asked for "
COLUMNS = {
    "text": [f"P{i}" for i in range(N)],
    "whole": list(range(100, 100 + N)),
    "floats": [float(i) for i in range(N)],
    "date": [date(2020, 1, 1) + timedelta(days=i) for i in range(N)],
    "free": [SENTENCE + "bread"[i % 5 :] for i in range(N)],
}


def protect(column: list[object], **roles: object) -> discreet.Release:
    frame = pl.DataFrame({"age": [20 + i // 4 for i in range(N)], "x": column})
    return discreet.protect(frame, k=4, quasi="age", **roles)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", COLUMNS)
def test_the_rest_does_not_cover_what_may_name_somebody(name: str) -> None:
    with pytest.raises(InputError, match=r"'rest' would release .* 'x' \(it "):
        protect(COLUMNS[name], confidential="rest")  # type: ignore[arg-type]
    release = protect(COLUMNS[name], confidential="x")  # type: ignore[arg-type]
    assert "Beware      'x' is released unchanged" in release.summary()
    assert any(note.startswith("Beware: 'x'") for note in release.evidence["notes"])
    assert "Beware" not in protect(COLUMNS[name], identifier="x").summary()  # type: ignore[arg-type]


def test_decimals_are_only_warned_of() -> None:
    release = protect([i + 0.25 for i in range(N)], confidential="rest")
    assert "Beware      'x' is released unchanged" in release.summary()


@pytest.mark.parametrize("column", [["a", "b"] * (N // 2), [*range(N - 2), 0, 0], ["short"] * N])
def test_what_many_share_is_no_reason(column: list[object]) -> None:
    assert "Beware" not in protect(column, confidential="rest").summary()
