"""What two releases tell together, against a count by sets of respondents."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.data.dataset import accept
from discreet.errors import InputError
from discreet.verification.previous import intersect, read_previous

ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 6)), min_size=1, max_size=25)


@settings(max_examples=60)
@given(ROWS, st.randoms(use_true_random=False))
def test_records_that_are_followed_are_counted_by_the_sets_of_both_classes(
    rows: list[tuple[int, ...]], chance: Any
) -> None:
    order = list(range(len(rows)))
    chance.shuffle(order)
    earlier = pl.DataFrame({"q": [rows[at][1] for at in order]})
    row_map = pl.DataFrame({"release_row": range(1, len(rows) + 1), "input_record": [at + 1 for at in order]})
    now = pl.DataFrame({"q": [row[0] for row in rows]})
    ids = pl.DataFrame({"id": [f"p{at}" for at in order], "release_row": range(1, len(rows) + 1)})
    original = accept(pl.DataFrame({"id": [f"p{at}" for at in range(len(rows))]}))
    common = Counter(row[:2] for row in rows)
    exposed = sum(common[row[:2]] < 3 for row in rows)
    for how, by in ((row_map, "row map"), (ids, "id")):
        previous = read_previous(earlier, how)
        assert previous is not None
        found = intersect(previous, now, original, ["q"], [], 3)
        assert (found["linked_by"], found["linked"], found["exposed"]) == (by, len(rows), exposed)
        assert found["smallest"] == min(common.values())


@settings(max_examples=60)
@given(ROWS, ROWS)
def test_by_values_a_class_has_at_most_the_rows_with_equal_unchanged_values(
    mine: list[tuple[int, ...]], theirs: list[tuple[int, ...]]
) -> None:
    now, earlier = (
        pl.DataFrame({"q": [a for a, _, _ in rows], "c": [c for _, _, c in rows]}) for rows in (mine, theirs)
    )
    previous = read_previous(earlier)
    assert previous is not None
    found = intersect(previous, now, accept(now), ["q"], ["c"], 3)
    held = [Counter(c for _, _, c in rows) for rows in (mine, theirs)]
    shared = []
    for q, _, c in mine:
        if held[0][c] == held[1][c] == 1:
            other = next(row[0] for row in theirs if row[2] == c)
            here, there = (Counter(v for a, _, v in rows if a == at) for rows, at in ((mine, q), (theirs, other)))
            shared.append((here & there).total())
    assert (found["linked"], found["exposed"]) == (len(shared), sum(one < 3 for one in shared))
    assert found["smallest"] == (min(shared) if shared else None)


def months(tmp_path: Path) -> tuple[pl.DataFrame, Path, Path]:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"id": range(60), "age": rng.integers(18, 80, 60), "x": rng.normal(size=60).round(4)})
    release = discreet.protect(frame, k=3, quasi="age", identifier="id", confidential="x", method="mdav")
    release.write(tmp_path / "may.csv", row_map=tmp_path / "map.csv")
    return frame, tmp_path / "may.csv", tmp_path / "map.csv"


def test_protect_and_measure_tell_it_by_map_and_by_values(tmp_path: Path) -> None:
    frame, may, row_map = months(tmp_path)
    moved = frame.with_columns(age=pl.Series(np.random.default_rng(6).permutation(frame["age"].to_numpy())))
    roles: dict[str, Any] = {"k": 3, "quasi": "age", "identifier": "id", "confidential": "x", "method": "mdav"}
    release = discreet.protect(moved, **roles, previous_release=may, previous_row_map=row_map)
    found = release.measures["previous"]
    assert (found["linked_by"], found["linked"], found["k"]) == ("row map", 60, 3)
    assert found["exposed"] > 0
    assert "fewer than 3 in common" in " ".join(release.summary().split())
    by_values = discreet.protect(moved, **roles, previous_release=may).measures["previous"]
    # Every x stands once in each release, so that values tell as much as the row map.
    assert by_values == found | {"linked_by": "values", "columns": ["x"]}
    judged = discreet.measure(
        moved,
        release.data,
        quasi="age",
        confidential="x",
        measures=["k"],
        previous_release=may,
        previous_row_map=row_map,
    )
    assert judged["previous"] == found
    same = discreet.protect(frame, **roles, previous_release=may, previous_row_map=row_map)
    assert same.measures["previous"]["exposed"] == 0
    same.write(tmp_path / "june.csv")
    assert "previous" not in (tmp_path / "june.csv.release.json").read_text()


@pytest.mark.parametrize("promise", [None, [], {"groups": 3}, {"kind": "k-anonymity", "k": 3, "groups": [3]}])
def test_a_record_whose_promise_is_none_is_refused(tmp_path: Path, promise: Any) -> None:
    _, may, _ = months(tmp_path)
    path = Path(f"{may}.release.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"promise": promise}))
    with pytest.raises(discreet.InputError, match="promise is incomplete"):
        read_previous(may)


def test_the_command_takes_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame, may, row_map = months(tmp_path)
    frame.write_csv(tmp_path / "june.csv")
    call = [str(tmp_path / "june.csv"), "--quasi=age", "--confidential=x", f"--previous-release={may}"]
    out = str(tmp_path / "out.csv")
    made = ["protect", *call, f"--previous-row-map={row_map}", "--identifier=id", "--k=3", "--method=mdav", "-o", out]
    assert run(made) == 0
    assert "60 records linked with the earlier release by row map" in " ".join(capsys.readouterr().err.split())


def test_what_cannot_be_compared_is_refused() -> None:
    frame = pl.DataFrame({"q": [1, 1], "c": [1, 2]})
    with pytest.raises(InputError, match="name that as previous_release"):
        discreet.protect(frame, k=2, quasi="q", confidential="c", previous_row_map=frame)
    with pytest.raises(InputError, match="none of the quasi-identifiers"):
        discreet.protect(frame, k=2, quasi="q", confidential="c", previous_release=frame.select("c"))


def test_verify_and_configurations_tell_it_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame, may, row_map = months(tmp_path)
    moved = frame.with_columns(age=pl.Series(np.random.default_rng(6).permutation(frame["age"].to_numpy())))
    moved.write_csv(tmp_path / "june.csv")
    config = tmp_path / "june.toml"
    config.write_text(
        'k = 3\nmethod = "mdav"\nquasi = ["age"]\nconfidential = ["x"]\nidentifier = ["id"]\n'
        f'previous_release = "{may}"\nprevious_row_map = "{row_map}"\n',
        encoding="utf-8",
    )
    release = discreet.protect(tmp_path / "june.csv", config=config)
    assert release.measures["previous"]["linked_by"] == "row map"
    measured = discreet.measure(moved, release.data, config=config, measures=["k"])
    assert measured["previous"]["exposed"] == release.measures["previous"]["exposed"] > 0
    release.write(tmp_path / "june-safe.csv")
    verdict = discreet.verify(tmp_path / "june-safe.csv", quasi="age", k=3, previous_release=may)
    assert verdict
    assert "60 records linked with the earlier release by values of x" in verdict.notes[0]
    call = ["verify", str(tmp_path / "june-safe.csv"), "--quasi=age", "--k=3", f"--previous-release={may}"]
    assert run(call) == 0
    assert "linked with the earlier release" in capsys.readouterr().err
