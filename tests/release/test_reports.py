"""The two reports of a release: no value of a respondent, the figures of the evidence, and a right page of anything."""

import json
import re
from collections import Counter
from datetime import date, datetime
from html import escape
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import InputError
from discreet.measures.uniqueness import mark, risk_by_column
from discreet.release.evidence import schema
from discreet.release.release import Release
from discreet.release.reports import drawings
from discreet.release.reports.distributions import distribute
from discreet.release.reports.pages import POLICY, write_percent
from reporting import ROLES, spell, survey


@pytest.fixture(autouse=True)
def _draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawings, "svg", spell)


def both(release: Release, folder: Path) -> tuple[str, str]:
    """The public and the internal report."""
    pages = [
        release.report(folder / f"{kind}.html", internal=kind == "internal", force=True)
        for kind in ("public", "internal")
    ]
    public, internal = (path.read_text(encoding="utf-8") for path in pages)
    return public, internal


def part(page: str, name: str) -> str:
    """One section of a page."""
    (found,) = re.findall(rf'<section id="{name}".*?</section>', page, flags=re.DOTALL)
    return str(found)


# What must be in no report: as it stands in the data, and as a page would write it.
EXTREME, TINY, WORD, DAY, MOMENT = (
    7_316_094_825,
    -83_517.462,
    "Zyxwvut & <Qrst>",
    date(1873, 11, 29),
    datetime(2243, 7, 9, 3, 14),
)
CODE = "77913"
TRACES = [
    *("7316094825", "7,316,094,825", "7.32e+09", "7.3e+09", "83517", "83,517", "Zyxwv", CODE),
    *("1873", "2243"),
]  # fmt: skip


@st.composite
def planted(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Data of all types, protected and confidential, with values that only one or two records have."""
    records = draw(st.integers(12, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    few = draw(st.integers(1, 2))
    rows = rng.permutation(records)

    def column(values: list[Any], canary: Any) -> list[Any]:
        held: list[Any] = [values[i] for i in rng.integers(0, len(values), records)]
        for row in rows[:few]:
            held[row] = canary
        if draw(st.booleans()):
            held[rows[-1]] = None
        return held

    days = [date(1960 + i, 1 + i % 12, 1 + i % 28) for i in range(30)]
    columns: dict[str, tuple[list[Any], Any]] = {
        "whole": (column(list(range(50)), EXTREME), pl.Int64),
        "real": (column([float(i) / 7 for i in range(50)], TINY), pl.Float64),
        "word": (column(["a", "b"], WORD), pl.String),
        "grade": (column(["1", "2", "3"], CODE), pl.String),
        "born": (column(days, DAY), pl.Date),
        "at": (column([datetime(2001, 1, 1 + i, i) for i in range(20)], MOMENT), pl.Datetime("us")),
    }
    frame = pl.DataFrame(
        [pl.Series(f"{side}_{name}", values, dtype) for side in "qc" for name, (values, dtype) in columns.items()]
    )
    quasi = [name for name in frame.columns if name[0] == "q"]
    chosen = draw(st.lists(st.sampled_from(quasi), min_size=1, unique=True))
    held = [name for name in frame.columns if name[0] == "c"]
    grades = ["1", "2", "3", CODE]
    return frame, {
        "quasi": chosen,
        "confidential": held,
        "ignore": "rest",
        "ordinal": {"c_grade": grades} | ({"q_grade": grades} if "q_grade" in chosen else {}),
    }


@settings(max_examples=15)
@given(data=planted(), k=st.integers(3, 5))
def test_no_value_of_a_respondent_is_in_either_report(
    tmp_path_factory: pytest.TempPathFactory, data: tuple[pl.DataFrame, dict[str, Any]], k: int
) -> None:
    frame, roles = data
    release = discreet.protect(frame, k=k, method="mdav", missing="impute", **roles)
    for page in both(release, tmp_path_factory.mktemp("reports")):
        for trace in TRACES:
            assert not re.search(rf"(?<![0-9a-f]){re.escape(trace)}", page), trace


def test_every_bar_of_original_data_has_k_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what is drawn: overlays of quasi-identifiers, and confidential columns wherever they are."""
    frame, least = survey(300), 7
    drawn: list[Any] = []
    overlay = drawings.overlay

    def watch(name: str, found: Any) -> Any:
        drawn.append(found)
        return overlay(name, found)

    def count(*arguments: Any) -> Any:
        found = distribute(*arguments)
        drawn.append(found)
        return found

    monkeypatch.setattr(drawings, "overlay", watch)
    monkeypatch.setattr("discreet.release.reports.look.distribute", count)
    both(discreet.protect(frame, k=least, method="mdav", **ROLES), tmp_path)
    assert len(drawn) == 2 * (4 + 3) + 3  # released and overlaid for each of both reports, drawn in one of them
    for found in drawn:
        assert found is not None
        assert found.counts[0].min() >= least


def test_figures_for_other_programs_are_those_that_are_drawn(tmp_path: Path) -> None:
    frame, least = survey(300), 7
    frame.write_csv(tmp_path / "survey.csv")
    release = discreet.protect(tmp_path / "survey.csv", k=least, method="mdav", **ROLES)
    release.write(tmp_path / "release.csv", row_map=tmp_path / "map.csv")
    beside: dict[str, Any] = {"original": tmp_path / "survey.csv", "row_map": tmp_path / "map.csv"}
    written = discreet.report(tmp_path / "release.csv", figures=tmp_path / "figures.json", **beside)
    assert list(written) == ["figures"]
    assert not list(tmp_path.glob("*.html"))
    found = json.loads(written["figures"].read_text(encoding="utf-8"))
    sizes = Counter(release.data.select(ROLES["quasi"]).rows())
    below = 100 * sum(n for n in sizes.values() if n < 10) / 300
    assert found["classes"]["after"].get("5 to 9", 0.0) == pytest.approx(below)
    assert set(found["distributions"]) == set(ROLES["quasi"])
    for one in found["distributions"].values():
        assert sum(one["before"]) == pytest.approx(100, abs=0.05)
        assert sum(one["after"]) == pytest.approx(100, abs=0.05)
        assert min(one["before"]) >= 100 * least / 300 - 0.001
    names = found["correlations"]["columns"]
    numbers = release.data.select(names).drop_nulls().cast(pl.Float64).to_numpy()
    assert found["correlations"]["after"][1][0] == pytest.approx(np.corrcoef(numbers.T)[1, 0], abs=0.02)


def test_figures_are_those_of_the_evidence(tmp_path: Path) -> None:
    release = discreet.protect(survey(1200), k=5, method="mdav", **ROLES)
    release.evidence["bound"] = {"value": 3.141, "gap": 12.0, "method": "clusters"}
    public, internal = both(release, tmp_path)
    public, measures = part(public, "columns") + part(public, "loss") + part(public, "uses"), release.measures
    for figure in (measures["il"], measures["dld"], measures["id"], release.evidence["bound"]["value"]):
        assert write_percent(figure) in internal
        assert f"{figure:.2f}" not in public
    for share in measures["il_per_attribute"].values():
        assert write_percent(share) in internal
        # A group brings more than a tenth of each.
        assert f"{share:.2g} %" not in public
    assert "brings more than 10 %" in public
    for one in measures["change"]["attributes"]:
        assert write_percent(one["variance"]["change"]) in internal
    for share in measures["risk"]["linkage"]["above"].values():
        assert write_percent(share) in internal
    assert f"{measures['ad']['ill']['records']:,}" in internal
    assert release.promise.words() in internal


def test_figures_that_no_group_makes_up_are_public(tmp_path: Path) -> None:
    values = np.random.default_rng(1).uniform(10.0, 90.0, (1500, 3))
    # Of `far` a single record makes up most.
    values[0, 2] = 1e6
    release = discreet.protect(
        pl.DataFrame(dict(zip(("here", "there", "far"), values.T, strict=True))),
        k=5,
        method="mdav",
        quasi="all",
        measures=["change"],
    )
    public, _ = both(release, tmp_path)
    public, measures = part(public, "columns") + part(public, "loss"), release.measures
    for name, share in measures["il_per_attribute"].items():
        assert (f"{share:.2g} %" in public) == (name != "far")
    assert "published of some columns only" in public
    for one in measures["change"]["attributes"]:
        assert (f"−{-one['variance']['change']:.2g} %" in public) == (one["name"] != "far")
    assert "Protection took away" not in public


def test_of_few_records_no_figure_of_the_original_is_public(tmp_path: Path) -> None:
    release = discreet.protect(survey(400), k=5, method="mdav", **ROLES)
    public, internal = both(release, tmp_path)
    public = part(public, "columns") + part(public, "loss") + part(public, "uses")
    assert "is not published" in public
    assert "moves by" not in public
    for share in (release.measures["il"], *release.measures["il_per_attribute"].values()):
        assert f"{share:.2g} %" not in public
        assert write_percent(share) in internal


def test_a_grouped_release_has_a_sentence_in_place_of_the_linkage(tmp_path: Path) -> None:
    release = discreet.protect(survey(1200), k=5, method="mdav", grouping=[["age", "income"], ["town"]], **ROLES)
    public, internal = both(release, tmp_path)
    assert "was measured before the release and is not published" in public
    assert f"{release.measures['dld']:.1f}" not in part(public, "promise") + part(public, "limits")
    assert write_percent(release.measures["dld"]) in internal


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 2**32))
def test_risk_by_column_is_what_counting_says(records: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (width, records)).astype(np.float64)
    values[rng.random((width, records)) < 0.1] = np.nan
    values = np.where(rng.random((width, records)) < 0.1, -0.0, values)
    names = [f"c{i}" for i in range(width)]
    found = risk_by_column(
        {name: mark(column, i) for i, (name, column) in enumerate(zip(names, values, strict=True))}, (2, 3)
    )
    rows = [tuple("missing" if np.isnan(cell) else cell + 0.0 for cell in row) for row in values.T]
    for place, name in enumerate(names):
        for kind, keys in (
            ("alone", [row[place] for row in rows]),
            ("without", [(*row[:place], *row[place + 1 :]) for row in rows]),
        ):
            counts = Counter(keys)
            for k in (2, 3):
                assert found[name][kind][k] == sum(counts[key] < k for key in keys)


@pytest.mark.parametrize(
    ("frame", "roles"),
    [
        (pl.DataFrame({"town": ["a", "b"] * 10, "ill": ["x", "y"] * 10}), {"quasi": ["town"], "confidential": ["ill"]}),
        (pl.DataFrame({"age": list(range(20))}), {"quasi": ["age"]}),
        (pl.DataFrame({"age": [5] * 20}), {"quasi": ["age"]}),
        (
            pl.DataFrame(
                {"age": list(range(20)), "gone": pl.Series([None] * 20, dtype=pl.String), "void": [None] * 20}
            ),
            {"quasi": ["age"], "confidential": ["gone", "void"]},
        ),
        (pl.DataFrame({"age": [*range(14), *[None] * 6], "ill": [0, 1] * 10}), {"quasi": ["age"], "by": ["ill"]}),
        (pl.DataFrame({"a": [1, 2, 3], "b": [[1], [2], [3]]}), {"quasi": ["a"], "confidential": ["b"]}),
    ],
    ids=["no numbers", "one column", "one value", "nothing but gaps", "strata and gaps", "lists"],
)
def test_a_right_report_of_odd_data(tmp_path: Path, frame: pl.DataFrame, roles: dict[str, Any]) -> None:
    release = discreet.protect(frame, k=3, method="mdav", **roles)
    for page in both(release, tmp_path):
        assert POLICY in page
        anchors = re.findall(r'href="#([^"]+)"', page)
        assert anchors
        assert all(f'id="{anchor}"' in page for anchor in anchors)
        assert "nan" not in re.sub(r"<style>.*?</style>|<svg>.*?</svg>", "", page, flags=re.DOTALL).lower().split()


def test_names_are_escaped(tmp_path: Path) -> None:
    names = {
        "age": "<b>age</b>",
        "income": "x\" onload='1'",
        "town": "<script>alert(1)</script>",
        "ill": "</style>&amp;",
    }
    roles: dict[str, Any] = {role: [names.get(name, name) for name in columns] for role, columns in ROLES.items()}
    release = discreet.protect(survey().rename(names), k=3, method="mdav", **roles)
    for page in both(release, tmp_path):
        assert page.count("</style>") == 1
        for name in names.values():
            assert escape(name, quote=False) in page.replace("&#34;", '"').replace("&#39;", "'")
        assert not re.search(r"<script|<b>| onload='", page)


def test_many_columns_stay_below_a_megabyte(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"column_with_a_long_name_{i}": rng.normal(size=60) for i in range(200)})
    release = discreet.protect(frame, k=3, quasi=frame.columns[:120], confidential="rest", method="mdav")
    for page in both(release, tmp_path):
        assert len(page.encode()) < 1_000_000
        assert "not drawn" in page.lower()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("recipent = 'x'", "did you mean 'recipient'"),
        ("[five_safes]\npersons = 'x'", "five_safes"),
        ("decision = true", "must be a text or a date"),
        ("five_safes = 'x'", "must be a table"),
    ],
)
def test_a_sign_off_is_checked(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sign.toml"
    path.write_text(text)
    release = discreet.protect(survey(), k=3, method="mdav", **ROLES)
    with pytest.raises(InputError, match=re.escape(message)):
        release.write(tmp_path / "out.csv", report=True, sign_off=path)
    assert not list(tmp_path.glob("out*"))


def test_a_folder_that_cannot_be_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = discreet.protect(survey(), k=3, method="mdav", **ROLES)
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(InputError, match="cannot be written to"):
        release.report(tmp_path / "x.html")
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())


def test_what_was_tried_for_the_score_stands_beside_the_release(tmp_path: Path) -> None:
    release = discreet.protect(survey(200), k=3, method="mdav", target="score", **ROLES)
    tried = release.evidence["alternatives"]
    assert len(tried) > 2
    assert {"name", "il", "dld", "score"} == set(tried[0])
    jsonschema.validate(release.evidence | {"alternatives": tried}, schema("evidence"))
    public, internal = both(release, tmp_path)
    assert write_percent(tried[0]["dld"]) in part(internal, "alternatives")
    assert "tried" not in public


def test_classes_are_counted_as_they_are_promised(tmp_path: Path) -> None:
    """Of groups of columns in each group, within strata: the smallest has k records."""
    frame = survey(300).with_columns(half=pl.Series(["a", "b"] * 150))
    release = discreet.protect(frame, k=5, method="mdav", grouping=[["age"], ["income", "town"]], **ROLES, by=["half"])
    smallest = min(check["smallest"] for check in release.verification.as_dict()["checks"])
    assert smallest >= 5
    assert f"The smallest class has {smallest} records" in " ".join(part(both(release, tmp_path)[0], "classes").split())


def test_numbers_of_households_are_told_to_be_new_and_not_left_out(tmp_path: Path) -> None:
    frame = pl.DataFrame({"home": [1, 1, 2, 2, 3, 3, 4, 4], "age": [30, 5, 31, 6, 60, 61, 62, 63]})
    release = discreet.protect(frame, quasi=["age"], household="home", k=2, steps=1)
    text = release.report(tmp_path / "out.report.html").read_text(encoding="utf-8")
    assert "new numbers" in text
    assert "Left out altogether" not in text
    assert "8 records, 2 columns" in text
