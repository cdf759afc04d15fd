"""Charts in files: in the format their name says, whole or not at all, and without a network."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import altair as alt
import pytest

from discreet.errors import InputError
from discreet.release.charts import check_picture, save
from discreet.release.reports import drawings
from reporting import DRAWN

CHART = alt.Chart(alt.InlineData(values=[{"x": 1, "y": 2}, {"x": 2, "y": 1}])).mark_point().encode(x="x:Q", y="y:Q")


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("chart.png", b"\x89PNG\r\n"),
        ("chart.PNG", b"\x89PNG\r\n"),
        ("chart.svg", b"<svg"),
        ("chart.html", b"<!DOCTYPE html>"),
        ("chart.json", b"{"),
    ],
)
def test_the_suffix_says_the_format(tmp_path: Path, name: str, begins: bytes) -> None:
    path = save(CHART, tmp_path / name)
    assert path.read_bytes().lstrip().startswith(begins)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_fetches_nothing_and_sends_nothing(tmp_path: Path) -> None:
    page = save(CHART, tmp_path / "chart.html").read_text()
    tags, program = re.subn(r"(<script[^>]*>).*?</script>", r"\1", page, flags=re.DOTALL)
    assert program
    assert not re.findall(r"\b(?:src|href)=|url\(|@import", tags)
    # The menu offers no editor on a site elsewhere.
    assert '"editor": false' in page


def test_the_description_is_the_chart(tmp_path: Path) -> None:
    assert json.loads(save(CHART, tmp_path / "chart.json").read_text()) == CHART.to_dict()


def test_what_cannot_be_written_is_said_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"front\.jpg: .*'\.jpg'; name it with one of \.html, \.svg, \.png, \.json"):
        check_picture(tmp_path / "front.jpg")
    with pytest.raises(InputError, match="name it with one of"):
        save(CHART, tmp_path / "front")
    monkeypatch.setattr("discreet.release.charts.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[report\]'"):
        check_picture(tmp_path / "front.png")
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_only_if_told(tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        save(CHART, path)
    assert path.read_text() == "mine"
    save(CHART, path, force=True)
    assert path.read_text().startswith("<svg")


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object, **_options: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(alt.Chart, "save", broken)
    with pytest.raises(RuntimeError):
        save(CHART, tmp_path / "chart.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_name_cannot_bring_a_script_into_the_page(tmp_path: Path) -> None:
    evil = "age</script><script>alert('owned')</script>"
    chart = (
        alt.Chart(alt.InlineData(values=[{"x": 1, "name": evil}])).mark_point().encode(x="x:Q").properties(title=evil)
    )
    text = save(chart, tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    spec = next(line for line in text.splitlines() if re.match(r"\s*(const|let|var) spec = ", line))
    assert json.loads(spec.split("=", 1)[1].strip().rstrip(";"))["title"] == evil


def test_a_chart_in_a_page_is_small_and_safe() -> None:
    text = str(drawings.bars("one", ['<script>&"\' role="x"', "b"], [10.0, 20.0], title="share, %"))
    assert len(text) < DRAWN
    assert "<script" not in text
    assert 'role="x"' not in re.sub(r">[^<]*<", "><", text)
    assert not re.search(r"https?:|href=|@import|url\((?!#one-)", text)
    assert 'fill="#0072B2"' in text  # by which a page colours it


def test_charts_need_neither_a_screen_nor_fonts(tmp_path: Path) -> None:
    """On a terminal-only machine: no display, no home, no configuration of fonts."""
    code = "from discreet.release.reports.drawings import bars; print(bars('x', ['a', 'b'], [1.0, 2.0], title='share'))"
    bare = {"PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(tmp_path), "FONTCONFIG_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=bare, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("<svg")
    assert ">share</text>" in done.stdout
    assert done.stderr == ""
