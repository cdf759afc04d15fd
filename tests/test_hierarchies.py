"""Codes compared by a hierarchy: the distance, the space, what is released, and what is told of it."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run
from discreet.data.ancestry import distances
from discreet.data.attributes import Attribute
from discreet.data.dataset import accept
from discreet.data.embedding import embed
from discreet.data.roles import Declaration
from discreet.errors import InputError
from discreet.microdata.records import records_of
from discreet.recoding.coarsening import read_coarsened

HIERARCHY = "A\n@A1\n@@A11\n@@A12\n@A2\nB\n@B1\n@@B11\n"
CODES = st.lists(st.text("12", min_size=1, max_size=4), min_size=2, max_size=12).filter(
    lambda codes: len(set(codes)) > 1
)


def read(codes: list[str | None], how: str) -> Attribute:
    frame = pl.DataFrame({"x": codes}, schema={"x": pl.String})
    return read_coarsened(accept(frame), Declaration("x", "quasi", kind="nominal", hierarchy=how))[0]


def differing(one: str, other: str, longest: int) -> float:
    """The share of lengths at which the beginnings of two texts differ."""
    return sum(one[:length] != other[:length] for length in range(1, longest + 1)) / longest


@settings(max_examples=60)
@given(CODES)
def test_the_distance_is_the_share_of_levels_at_which_codes_differ(codes: list[str]) -> None:
    attribute = read([*codes], "prefix")
    longest = max(map(len, codes))
    n = len(codes)
    wanted = np.array([[differing(one, other, longest) for other in codes] for one in codes])
    values = attribute.values
    found = np.array([distances(attribute.ancestry, np.full(n, value), values) for value in values])
    assert np.allclose(found, wanted)
    # In the space of the search it is the squared distance, scaled so that the attribute has variance 1.
    embedding, _ = embed([attribute])
    points = embedding.points([values])
    squares = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    assert np.allclose(squares, wanted * 2 * n**2 / wanted.sum())
    assert np.sum(points**2) == pytest.approx(n)
    # And as codes, a level each.
    records = records_of(embedding, [values])
    prices = records.prices
    mixed = ((records.codes[:, None] != records.codes[None]) * prices).sum(axis=2)
    assert np.allclose(mixed, squares)
    labels = np.arange(n) % 2
    centres = np.array([points[labels == label].mean(axis=0) for label in (0, 1)])
    assert records.sse(labels) == pytest.approx(float(np.sum((points - centres[labels]) ** 2)))


def test_levels_are_those_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "icd.hrc"
    path.write_text(HIERARCHY)
    attribute = read(["A11", "A12", "A2", "B11", None], str(path))
    first = np.full(5, attribute.values[0])
    assert np.allclose(distances(attribute.ancestry, first, attribute.values), [0, 1 / 3, 2 / 3, 1, 1])
    with pytest.raises(InputError, match=r"hierarchy .*1 code of 1 record .*not in"):
        read(["A11", "A13", "B11"], str(path))
    with pytest.raises(InputError, match=r"hierarchy 'letters': say prefix"):
        read(["A11", "B11"], "letters")


def near_and_far() -> pl.DataFrame:
    """Codes that all differ, in two towns in turn, and something that tells nothing of the town."""
    return pl.DataFrame(
        {"zip": [f"{10 + 70 * (row % 2)}{row:03}" for row in range(40)], "x": [row // 10 for row in range(40)]}
    )


@pytest.mark.parametrize("method", ["memetic", "mdav", "vmdav", "tour"])
def test_groups_have_codes_that_resemble_each_other(method: str) -> None:
    frame = near_and_far()
    weights, steps = {"x": 0.1}, 20 if method == "memetic" else None
    release = discreet.protect(
        frame, k=4, quasi="all", hierarchy={"zip": "prefix"}, weights=weights, method=method, steps=steps
    )
    towns = frame["zip"].str.slice(0, 2)
    assert (release.data["zip"].str.slice(0, 2) == towns).all()
    assert release.evidence["parameters"]["columns"]["zip"]["hierarchy"] == "prefix"
    assert release.measures["distance_per_attribute"]["zip"] < 60 < release.measures["changed_per_attribute"]["zip"]
    assert release.measures["hierarchical_il"] < release.measures["il"]
    again = discreet.measure(frame, release.data, quasi="all", hierarchy={"zip": "prefix"}, measures=["il"])
    assert again["distance_per_attribute"] == release.measures["distance_per_attribute"]
    assert "hierarchical_il" not in discreet.measure(frame, release.data, quasi="all", measures=["il"])


def test_of_equally_frequent_codes_the_one_nearest_to_the_others_is_written() -> None:
    frame = pl.DataFrame({"zip": ["10115", "80331", "80332", "80339"], "y": [1, 1, 1, 2]})
    release = discreet.protect(frame, k=4, quasi="all", hierarchy={"zip": "prefix"})
    assert release.data["zip"].to_list() == ["80331"] * 4


def test_refine_never_worsens_the_loss_by_distances() -> None:
    frame = near_and_far()
    start = discreet.protect(frame, k=4, method="mdav", quasi="all", hierarchy={"zip": "prefix"})
    better = discreet.refine(frame, start.data, steps=5, quasi="all", hierarchy={"zip": "prefix"})
    assert better.measures["hierarchical_il"] <= start.measures["hierarchical_il"]


def test_command_and_configuration_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    near_and_far().write_csv(tmp_path / "in.csv")
    config = tmp_path / "c.toml"
    config.write_text('quasi = "all"\nk = 4\nsteps = 5\n[columns.zip]\nhierarchy = "prefix"\n')
    typed = ["--k=4", "--steps=5", "--quasi=all", "--hierarchy=zip=prefix"]
    ways = {"a": ["--config", str(config)], "b": typed}
    for name, way in ways.items():
        assert run(["protect", str(tmp_path / "in.csv"), *way, "-o", str(tmp_path / f"{name}.csv"), "--quiet"]) == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    release = discreet.protect(near_and_far(), k=4, steps=5, quasi="all", hierarchy={"zip": "prefix"})
    assert sorted(pl.read_csv(tmp_path / "a.csv")["zip"]) == sorted(int(code) for code in release.data["zip"])
    command = ["measure", str(tmp_path / "in.csv"), str(tmp_path / "a.csv"), "--quasi", "all", "--measures", "k"]
    assert run([*command, "--hierarchy", "zip=prefix"]) == 0
    capsys.readouterr()


def test_only_nominal_quasi_identifiers_have_a_hierarchy() -> None:
    frame = near_and_far()
    with pytest.raises(
        InputError, match="'x': only nominal quasi-identifiers are compared by a hierarchy; it is numeric"
    ):
        discreet.protect(frame, k=4, quasi="all", hierarchy={"x": "prefix"}, numeric=["x"])
    with pytest.raises(InputError, match="it is confidential"):
        discreet.protect(frame, k=4, quasi=["zip"], confidential=["x"], hierarchy={"x": "prefix"})
