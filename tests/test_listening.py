"""A bar in notebooks, by default and only there."""

import sys
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import discreet
from discreet import listening

FRAME = pl.DataFrame({"age": [20, 22, 24, 60, 62, 64]})


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a notebook shows, in the order it was drawn."""
    drawn: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], raw: bool) -> None:
            drawn.append(content["text/html"])

    def display(content: dict[str, str], **_options: Any) -> Handle:
        drawn.append(content["text/html"])
        return Handle()

    kernel = SimpleNamespace(kernel=object())
    fake = SimpleNamespace(get_ipython=lambda: kernel, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setattr(listening, "PATIENCE", 0.0)
    monkeypatch.setattr(listening, "PAUSE", 0.0)
    return drawn


def test_a_notebook_has_a_bar_that_goes_away(shown: list[str]) -> None:
    discreet.protect(FRAME, k=3, quasi="all", method="mdav")
    assert any("<progress" in html and "verifying" in html for html in shown)
    assert shown[-1] == ""


def test_it_goes_away_after_an_error_too(shown: list[str]) -> None:
    with pytest.raises(discreet.InputError):
        discreet.protect(FRAME, k=30, quasi="all")
    assert shown[-1] == ""


def test_whoever_wants_none_or_his_own_has_it(shown: list[str]) -> None:
    stages: list[str] = []
    discreet.protect(FRAME, k=3, quasi="all", method="mdav", progress=lambda stage, _fraction: stages.append(stage))
    discreet.protect(FRAME, k=3, quasi="all", method="mdav", progress=False)  # type: ignore[arg-type]
    assert "verifying" in stages
    assert shown == []


def test_a_terminal_has_none(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    discreet.protect(FRAME, k=3, quasi="all", method="mdav")
    assert shown == []
