"""Coarsening on the way in: what is released is coarse, and what is lost is told against the values as they came in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from canary import CANARY
from discreet.cli.app import run
from discreet.data.dataset import accept
from discreet.data.roles import Declaration, Declarations
from discreet.errors import InputError
from discreet.measures.loss import information_loss
from discreet.recoding.coarsening import choose_levels, coarsen, read_coarsened

HIERARCHY = "A\n@A1\n@@A11\n@@A12\n@A2\nB\n@B1\n@@B11\n"


@pytest.fixture
def frame() -> pl.DataFrame:
    """Sixty records with postal codes, diagnoses and ages."""
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "zip": [f"{region}{town:04}" for region, town in rng.integers([1, 0], [4, 40], (60, 2))],
            "icd": rng.choice(["A11", "A12", "A2", "B11"], 60),
            "age": rng.integers(18, 80, 60),
        }
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "icd.hrc"
    path.write_text(HIERARCHY)
    return path


def released(frame: pl.DataFrame, name: str, how: str) -> set[str]:
    release = discreet.protect(frame, k=3, quasi="all", coarsen={name: how}, steps=2)
    return set(release.data[name].to_list())


def test_characters_are_kept(frame: pl.DataFrame) -> None:
    assert released(frame, "zip", "prefix:2") <= set(frame["zip"].str.slice(0, 2))
    assert released(frame, "age", "prefix:1") <= {str(age)[0] for age in frame["age"]}


def test_levels_of_a_hierarchy_are_taken(frame: pl.DataFrame, tree: Path) -> None:
    assert released(frame, "icd", f"{tree}:1") <= {"A", "B"}
    # A branch that ends early stays as it is.
    assert released(frame, "icd", f"{tree}:2") <= {"A1", "A2", "B1"}


@pytest.mark.parametrize(
    ("values", "how", "labels"),
    [
        ([0, 4, 5, 9, 10, None], "width:5", ["0-4", "0-4", "5-9", "5-9", "10-14", None]),
        ([-1, 0, 7, None], "width:5", ["-5 to -1", "0 to 4", "5 to 9", None]),
        ([0.5, 2.4, 2.5, None], "width:2.5", ["0-<2.5", "0-<2.5", "2.5-<5", None]),
    ],
)
def test_bands_begin_at_zero_and_keep_their_order(values: list[float], how: str, labels: list[str]) -> None:
    data = accept(pl.DataFrame({"x": values}))
    coarse, said, fine = coarsen(data, Declaration("x", "quasi", coarsen=how))
    assert coarse.frame["x"].to_list() == labels
    assert said.kind == "ordinal"
    assert said.order == tuple(dict.fromkeys(label for label in labels if label))
    assert fine.kind == "numeric"


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30), st.booleans(), st.data())
def test_the_loss_is_that_of_the_means_of_coarse_values(
    pairs: list[tuple[int, int]], numeric: bool, data: st.DataObject
) -> None:
    """Counted the long way: every value a vector, every coarse value the mean of the vectors that have it."""
    fine = [10 * a + b for a, b in pairs]
    if len(set(fine)) == 1:
        return
    column = pl.Series("x", fine if numeric else [f"{value:02}" for value in fine])
    said = Declaration("x", "quasi", coarsen="width:10" if numeric else "prefix:1")
    attribute, _ = read_coarsened(accept(column.to_frame()), said)
    points = np.array(fine, float)[:, None] if numeric else np.eye(60)[fine]
    tens = np.array([a for a, _ in pairs])
    means = {ten: points[tens == ten].mean(axis=0) for ten in set(tens.tolist())}
    codes = dict(zip(tens.tolist(), attribute.values.tolist(), strict=True))
    given_out = [data.draw(st.sampled_from([*sorted(means), None])) for _ in fine]
    after = np.array([np.nan if ten is None else codes[ten] for ten in given_out])
    centre = points.mean(axis=0)
    sse = sum(
        float(np.sum((point - (centre if ten is None else means[ten])) ** 2))
        for point, ten in zip(points, given_out, strict=True)
    )
    sst = float(np.sum((points - centre) ** 2))
    assert information_loss([attribute], [after])[0] == pytest.approx(100 * sse / sst)


def test_auto_takes_the_level_that_loses_least(frame: pl.DataFrame, tree: Path) -> None:
    release = discreet.protect(frame, k=3, quasi="all", coarsen={"zip": "auto"}, method="tour")
    chosen = release.evidence["parameters"]["columns"]["zip"].get("coarsen")
    losses = {
        how: discreet.protect(frame, k=3, quasi="all", coarsen={"zip": how} if how else None, method="tour")
        for how in (None, "prefix:1", "prefix:2", "prefix:3", "prefix:4")
    }
    assert release.measures["il"] == min(made.measures["il"] for made in losses.values())
    assert losses[chosen].measures["il"] == release.measures["il"]
    assert any("lost least of 5 levels tried" in note for note in release.evidence["notes"])
    both = discreet.protect(frame, k=3, quasi="all", coarsen={"zip": "auto", "icd": f"{tree}:auto"}, method="tour")
    assert both.measures["il"] <= release.measures["il"]


def test_auto_searches_the_best_levels_with_the_rest(frame: pl.DataFrame) -> None:
    how: Any = {"k": 3, "quasi": "all", "measures": "none"}
    release = discreet.protect(frame, coarsen={"zip": "auto"}, steps=16, **how)
    again = discreet.protect(frame, coarsen={"zip": "auto"}, steps=16, threads=1, **how)
    assert again.data.equals(release.data)
    chosen = release.evidence["parameters"]["columns"]["zip"].get("coarsen")
    same = discreet.protect(frame, nominal=["zip"], coarsen={"zip": chosen} if chosen else None, steps=16, **how)
    assert same.data.equals(release.data)
    assert any("of 5 levels tried, the best 4 of them by searching" in note for note in release.evidence["notes"])


def test_levels_are_raced_and_the_better_half_stays(frame: pl.DataFrame) -> None:
    said = Declarations((Declaration("zip", "quasi", coarsen="auto"),))
    ranks = {None: 9.0, "prefix:1": 5.0, "prefix:2": 3.0, "prefix:3": 2.0, "prefix:4": 4.0}
    true = {"prefix:1": 3.0, "prefix:2": 1.0, "prefix:3": 2.0, "prefix:4": 4.0}
    runs: list[tuple[str | None, float]] = []

    def race(levels: Declarations, share: float) -> float:
        runs.append((levels["zip"].coarsen, share))
        return true[levels["zip"].coarsen or ""]

    chosen, _ = choose_levels(accept(frame), said, lambda levels: ranks[levels["zip"].coarsen], race)
    assert chosen["zip"].coarsen == "prefix:2"
    assert {how for how, _ in runs[:4]} == set(true)
    assert {how for how, _ in runs[4:]} == {"prefix:2", "prefix:3"}
    assert sum(share for _, share in runs) == pytest.approx(1.0)


def test_the_record_says_what_was_coarsened_and_the_release_is_verified_and_measured_so(
    frame: pl.DataFrame, tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, output = tmp_path / "data.csv", tmp_path / "out.csv"
    frame.write_csv(data)
    how = f"zip=prefix:2,age=width:10,icd={tree}:1"
    line = ["--k", "3", "--quasi", "all", "--header", "yes", "--coarsen", how, "--steps", "3", "-o", str(output)]
    assert run(["protect", str(data), *line, "--order", "kept"]) == 0
    assert "coarsened to the first 2 characters, " in " ".join(capsys.readouterr().err.split())
    record = json.loads((tmp_path / "out.csv.release.json").read_text())
    assert record["output"]["coarsened"] == {"zip": "prefix:2", "age": "width:10", "icd": "icd.hrc:1"}
    account = json.loads((tmp_path / "out.csv.evidence.json").read_text())
    assert account["parameters"]["columns"]["zip"]["coarsen"] == "prefix:2"
    assert run(["verify", str(output), "--promise", str(tmp_path / "out.csv.release.json")]) == 0
    # The record tells how; of a hierarchy it knows the name only.
    found = discreet.measure(data, output, quasi="all", measures=["il", "dld"], coarsen={"icd": f"{tree}:1"})
    assert found["il"] == pytest.approx(account["measures"]["il"])
    assert found["dld"] == pytest.approx(account["measures"]["dld"])
    seen = discreet.inspect(data, coarsen={"zip": "prefix:1"})
    assert next(column.levels for column in seen.columns if column.name == "zip") == frame["zip"].str.head(1).n_unique()


def test_a_configuration_can_coarsen(frame: pl.DataFrame, tmp_path: Path) -> None:
    config = tmp_path / "c.toml"
    config.write_text('k = 3\nquasi = "all"\nsteps = 2\n[columns.zip]\ncoarsen = "prefix:1"\n')
    assert set(discreet.protect(frame, config=config).data["zip"]) <= {"1", "2", "3"}


def test_coarse_columns_come_back_in_pandas_without_a_trace_of_the_rest(frame: pl.DataFrame) -> None:
    given_in = frame.to_pandas().astype({"zip": "category"})
    made = discreet.protect(given_in, k=3, quasi="all", coarsen={"zip": "prefix:1"}, steps=2).data
    assert set(made["zip"]) <= {"1", "2", "3"}


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("zip", "prefix", "say how"),
        ("zip", "prefix:0", "say how"),
        ("zip", "suffix:2", "say how"),
        ("icd", "width:5", "60 values are not numbers"),
        ("age", "width:-1", "must be a number above 0"),
        ("icd", "icd.hrc:7", "levels 1 to 3"),
        ("zip", "icd.hrc:1", "codes of 60 records .* are not in icd.hrc"),
        ("town", "prefix:1", "unknown column 'town'"),
    ],
)
def test_what_cannot_be_coarsened_is_refused_without_a_value(
    name: str, how: str, message: str, frame: pl.DataFrame, tree: Path
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        discreet.protect(
            frame.with_columns(zip=pl.lit(CANARY) + pl.col("zip")),
            k=3,
            quasi="all",
            coarsen={name: how.replace("icd.hrc", str(tree))},
        )
    assert CANARY not in str(caught.value)


def test_only_quasi_identifiers_are_coarsened(frame: pl.DataFrame) -> None:
    with pytest.raises(InputError, match="only quasi-identifiers can be coarsened; it is confidential"):
        discreet.protect(frame, k=3, quasi=["age"], confidential="rest", coarsen={"zip": "prefix:1"})
