"""The check of l-diversity, t-closeness and persons against pandas, scipy and networkx; it fails when it must."""

import math
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.errors import InputError
from discreet.verification.confidential import Closeness, Diversity, Scale
from discreet.verification.distributions import read_codes
from discreet.verification.promise import Promise, Verification, check
from plain_classes import look_at_classes

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["n", "s"]),
        st.sampled_from([1, 2, None]),
        st.sampled_from(["flu", "none", "cold", None]),
        st.sampled_from([10.0, 12.5, 40.0, math.nan, -0.0, 0.0]),
        st.integers(1, 6),
    ),
    min_size=1,
    max_size=30,
)
NAMES = ["region", "age", "ill", "pay", "who"]


@settings(deadline=None, max_examples=40)
@given(ROWS, st.booleans())
def test_counts_are_those_of_pandas_and_scipy(rows: list[tuple[Any, ...]], person: bool) -> None:
    frame = pl.DataFrame(rows, schema=NAMES, orient="row", strict=False)
    diverse = (Diversity("ill", 2), Diversity("ill", 1.5, entropy=True), Diversity("pay", 2, scale=Scale("numeric")))
    close = (Closeness("ill", 0.4), Closeness("pay", 0.3, Scale("numeric")))
    groups = (("age",), ("region",))
    promise = Promise(2, groups, (), diverse, close, "who" if person else None)
    found = check(frame, promise, persons=frame["who"] if person else None)
    table = pd.DataFrame(rows, columns=NAMES)
    for one, group in zip(found.checks, groups, strict=True):
        known = {name: look_at_classes(table, list(group), name, promise.person) for name in ("ill", "pay")}
        sizes = known["ill"]["size"]
        assert (one.combinations, one.smallest) == (len(sizes), sizes.min())
        small = sizes < 2
        assert (one.too_small, one.exposed) == (small.sum(), known["ill"].loc[small, "records"].sum())
        for held, said in zip(one.held, promise.held, strict=True):
            assert held.promise == said
            classes = known[said.column]
            if isinstance(said, Closeness):
                worst, beyond = classes["t"].max(), classes["t"] > said.most + 1e-9
            else:
                column = classes["entropy" if said.entropy else "l"]
                worst, beyond = column.min(), column < said.least - 1e-8
            assert held.worst == pytest.approx(worst)
            assert (held.broken, held.exposed) == (beyond.sum(), classes.loc[beyond, "records"].sum())
        assert one.passed == (one.too_small == 0 and not any(held.broken for held in one.held))
    assert found.passed == all(one.passed for one in found.checks)


FRAME = pl.DataFrame(
    {
        "age": [30, 30, 30, 41, 41, 41],
        "ill": ["flu", "cold", "none", "flu", "cold", "none"],
        "pay": [10, 20, 30, 11, 21, 31],
        "rank": ["low", "mid", "top", "low", "mid", "top"],
        "day": ["01.02.2024", "05.02.2024", "01.03.2024", "02.02.2024", "06.02.2024", "02.03.2024"],
        "who": [1, 2, 3, 4, 5, 6],
    }
)
KEPT: dict[str, dict[str, Any]] = {
    "l": {"l": {"ill": 3}},
    "entropy l": {"l": {"ill": "entropy:3"}},
    "t of categories": {"t": {"ill": 0.05}},
    "t of numbers": {"t": {"pay": 0.15}},
    "t of ordinals": {"t": {"rank": 0.05}, "ordinal": {"rank": ["low", "mid", "top"]}},
    "t of dates": {"t": {"day": 0.15}, "date": {"day": "%d.%m.%Y"}},
    "persons": {"person": "who"},
    "l persons": {"person": "who", "l": {"ill": 3}},
    "t of persons": {"person": "who", "t": {"pay": 0.101}},
}
BROKEN: dict[str, dict[str, Any]] = {
    "l": {"ill": ["flu", "flu", "none", "flu", "cold", "none"]},
    "entropy l": {"ill": ["flu", "flu", "none", "flu", "cold", "none"]},
    "t of categories": {"ill": ["flu", "flu", "none", "flu", "cold", "none"]},
    "t of numbers": {"pay": [10, 11, 12, 20, 21, 31]},
    "t of ordinals": {"rank": ["low", "low", "mid", "mid", "top", "top"]},
    "t of dates": {"day": ["01.02.2024", "02.02.2024", "05.02.2024", "01.03.2024", "06.03.2024", "02.03.2024"]},
    "persons": {"who": [1, 2, 2, 4, 5, 6]},
    # Everybody of the first class has the flu, and one of them has been there again with all the rest.
    "l persons": {
        "age": [30, 30, 30, 30, 30, 41, 41, 41],
        "ill": ["flu", "flu", "flu", "cold", "none", "flu", "cold", "none"],
        "who": [1, 2, 3, 3, 3, 4, 5, 6],
    },
    "t of persons": {"who": [1, 2, 3, 4, 5, 4]},
}


@pytest.mark.parametrize("kind", KEPT)
def test_what_is_kept_passes_and_what_is_broken_is_caught(kind: str) -> None:
    said: dict[str, Any] = {"quasi": "age", "k": 2 if kind == "t of persons" else 3} | KEPT[kind]
    kept = discreet.verify(FRAME, **said)
    assert kept, kept.words()
    assert "passed" in kept.words()
    broken = pl.DataFrame(BROKEN[kind])
    if broken.height == FRAME.height:
        broken = FRAME.with_columns(broken)
    verdict = discreet.verify(broken, **said)
    assert not verdict
    assert "NOT KEPT" in verdict.words()


def test_each_group_of_columns_keeps_it_on_its_own() -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "ill": ["x", "y", "x", "y"]})
    assert not discreet.verify(frame, grouping=[["a"], ["b"]], k=2, l={"ill": 2})
    assert discreet.verify(frame, grouping=[["a"]], k=2, l={"ill": 2})


def test_the_reference_is_the_whole_release_also_with_strata() -> None:
    frame = pl.DataFrame({"a": [1] * 4, "by": [1, 1, 2, 2], "ill": ["x", "x", "y", "y"]})
    assert not discreet.verify(frame, quasi="a", by="by", k=2, t={"ill": 0.4})
    assert discreet.verify(frame, quasi="a", by="by", k=2, t={"ill": 0.5})


def test_numbers_in_text_are_numbers_and_the_missing_one_is_the_lowest(tmp_path: Path) -> None:
    path = tmp_path / "release.csv"
    path.write_text("age;pay\n30;1,50\n30;1,5\n30;\n41;1,5\n41;2,5\n41;\n", encoding="utf-8")
    verdict = discreet.verify(path, quasi="age", k=3, l={"pay": 2}, t={"pay": 1})
    assert isinstance(verdict, Verification)
    diverse, close = verdict.checks[0].held
    assert diverse.worst == 2  # 1,50 is 1,5
    # Cumulated 1/3, 1 and 1 against 2/6, 5/6 and 1.
    assert close.worst == pytest.approx((1 / 6) / 2)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"t": {"pay": 15}}, "15 %\\? then 0.15"),
        ({"t": {"pay": "15%"}}, "15 %\\? then 0.15"),
        ({"t": {"pay": 0}}, "above 0 and at most 1"),
        ({"t": {"pay": "much"}}, "above 0 and at most 1"),
        ({"l": {"ill": 0}}, "at least 1"),
        ({"l": {"ill": 2.5}}, "whole number"),
        ({"l": {"ill": "entropy:"}}, "entropy:3"),
        ({"l": {"ill": True}}, "whole number"),
        ({"l": ["ill"]}, "mapping"),
        ({"l": {"age": 2}}, "known to intruders"),
        ({"l": {"nobody": 2}}, "no column 'nobody'"),
        ({"person": 3}, "name of a column"),
        ({"original": FRAME}, "does not speak of persons"),
        ({"original": FRAME, "person": "who"}, "both the original and the row map"),
    ],
)
def test_arguments_are_checked_at_the_door(said: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        discreet.verify(FRAME, quasi="age", k=3, **said)


def test_a_promise_survives_its_record() -> None:
    promise = Promise(
        3,
        (("a", "b"), ("c",)),
        ("d",),
        (Diversity("ill", 3), Diversity("pay", 2.5, entropy=True, scale=Scale("numeric", na=("999",)))),
        (
            Closeness("size", 0.2, Scale("ordinal", ("s", "m"))),
            Closeness("day", 0.1, Scale("date", (), "%d.%m.%y", 68)),
        ),
        "who",
    )
    assert Promise.from_dict(promise.as_dict()) == promise
    for part in ("at least 3 persons", "ill has at least 3 persons with 3 different", "t = 0.2", "one vote"):
        assert part in promise.words()
    damaged: list[dict[str, Any]] = [{"l": [{}]}, {"t": ["x"]}, {"person": 3}]
    for wrong in [*damaged, {"t": [{"column": "x", "most": 0.1, "type": 3}]}]:
        with pytest.raises(InputError, match="damaged"):
            Promise.from_dict(promise.as_dict() | wrong)


def test_persons_are_counted_by_the_original_and_the_row_map(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    original = FRAME.with_columns(who=pl.Series([1, 2, 3, 4, 5, 5]), age=pl.Series([29, 30, 31, 40, 41, 42]))
    order = [5, 3, 1, 4, 2, 0]
    release = FRAME.drop("who")[order]
    original.write_csv(tmp_path / "original.csv")
    release.write_csv(tmp_path / "release.csv")
    pl.DataFrame({"release_row": range(1, 7), "input_record": [row + 1 for row in order]}).write_csv(
        tmp_path / "map.csv"
    )
    what = ["verify", str(tmp_path / "release.csv"), "--quasi", "age", "--person", "who", "--l", "ill=2"]
    known = ["--original", str(tmp_path / "original.csv"), "--row-map", str(tmp_path / "map.csv")]
    for k, status, words in ((2, 0, "the rarest with 2 persons"), (3, 1, "fewer than 3 persons")):
        assert run([*what, "--k", str(k), *known]) == status
        assert words in capsys.readouterr().out
    assert run([*what, "--k", "2"]) == 1
    assert "persons not verified" in capsys.readouterr().out


def test_the_digest_tells_distributions_apart_and_nothing_else() -> None:
    one = read_codes(pl.Series("x", ["1.50", "2", "", None]), Scale("numeric"))[1]
    same = read_codes(pl.Series("x", [2.0, 1.5, None, math.nan]), Scale("numeric"))[1]
    other = read_codes(pl.Series("x", [2.0, 1.5, 1.5, None]), Scale("numeric"))[1]
    assert one == same != other


def test_codes_follow_the_order_that_was_declared() -> None:
    codes, _ = read_codes(pl.Series("x", ["mid", None, "top", "low"]), Scale("ordinal", ("low", "mid", "high", "top")))
    assert codes.tolist() == [2, 0, 3, 1]
    with pytest.raises(InputError, match="not in its order"):
        read_codes(pl.Series("x", ["mid"]), Scale("ordinal", ("low",)))
