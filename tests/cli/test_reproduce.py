"""`discreet reproduce`: the quick run of a paper makes the whole page."""

from pathlib import Path

import pytest

from canary import Command
from discreet.experiments.papers import find
from discreet.experiments.papers.paper import Paper

pytest.importorskip("statsmodels")
pytest.importorskip("altair")


def test_the_quick_run_makes_every_table_and_figure(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "2006.md"
    arguments = ("reproduce", 2006, "--quick", "--threads", 1, "--store", tmp_path / "store")
    done = command(*arguments, "-o", page, "--pictures", tmp_path / "pictures")
    assert done.status == 0, done.err
    text = page.read_text(encoding="utf-8")
    for number in ("I", "II", "III", "IV", "V"):
        assert f"## Table {number}:" in text
    for figure in range(1, 5):
        assert f"## Figure {figure}:" in text
        assert f"](pictures/2006-figure-{figure}.svg)" in text
        assert (tmp_path / "pictures" / f"2006-figure-{figure}.svg").exists()
    for part in (
        "24 of 24 entries are equal", "13.2977212023656", "3 for 3!", "what explains the difference", "not available",
        "discreet reproduce 2006 --quick", "seed 0", "## What our own methods reach",
    ):  # fmt: skip
        assert part in text
    assert text.rindex("## ") == text.index("## What our own methods reach")
    # What is kept is not done again, and the same page comes of it.
    again = command(*arguments, "-o", page, "--pictures", tmp_path / "pictures", "--force")
    assert again.status == 0
    assert page.read_text(encoding="utf-8") == text


def test_an_interrupt_keeps_the_runs_in_the_store(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_arguments: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Paper, "page", interrupted)
    kept = command("reproduce", 2006, "--quick", "--store", tmp_path / "store")
    assert kept.status == 130
    assert f"are kept in {tmp_path / 'store'}" in kept.err
    lost = command("reproduce", 2006, "--quick")
    assert lost.status == 130
    assert "nothing was written" in lost.err


def test_a_part_alone(command: Command) -> None:
    done = command("reproduce", 2006, "--table", 1, "--quick")
    assert done.status == 0
    assert "Table I:" in done.out
    assert "Table II:" not in done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("1999",), "the papers: 2006"),
        (("2006", "--table", 9), "no table 9"),
        (("2006", "--figure", 5), "no figure 5"),
        (("2006", "--pictures", "here"), "--output"),
    ],
)
def test_what_there_is_not_is_refused(command: Command, arguments: tuple[object, ...], message: str) -> None:
    done = command("reproduce", *arguments)
    assert done.status == 2
    assert message in done.err


def test_the_pages_of_the_manual_are_complete() -> None:
    page = Path(__file__).parents[2] / "docs" / "papers" / "2006.md"
    text = page.read_text(encoding="utf-8")
    assert "A quick run" not in text
    assert text.count("\n## ") == len(find("2006").parts)
