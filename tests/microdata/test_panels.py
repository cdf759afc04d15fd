"""Whoever stands in a file several times is not k persons: panels and households are proposed, and warned of."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.cli.app import run

ROLES: dict[str, Any] = {"k": 3, "quasi": ["age", "town"], "confidential": "ill", "method": "mdav", "measures": "none"}


def panel(seed: int, persons: int, waves: int, *, name: str = "id") -> pl.DataFrame:
    """Persons in up to so many waves; what they are stays nearly the same."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in rng.permutation(9 * persons)[:persons].tolist():
        age, town = int(rng.integers(18, 80)), str(rng.choice(["a", "b", "c"]))
        rows += [
            (person, wave, age + wave, town if rng.random() < 0.9 else "d", int(rng.integers(9)))
            for wave in range(int(rng.integers(1, waves + 1)))
        ]
    frame = pl.DataFrame(rows, [name, "wave", "age", "town", "ill"], orient="row")
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


def homes(seed: int, number: int) -> pl.DataFrame:
    """Households of up to four, of which rooms, town and income are the same for all members."""
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 5, number)
    own = pl.DataFrame(
        {"db030": rng.permutation(9 * number)[:number], "rooms": rng.integers(1, 6, number),
         "town": rng.choice(["a", "b", "c"], number), "income": rng.integers(5, 90, number) * 100}
    )  # fmt: skip
    people = own[np.repeat(np.arange(number), size)]
    return people.with_columns(age=rng.integers(0, 90, people.height), ill=rng.integers(0, 9, people.height))


def warnings_of(release: Any) -> list[str]:
    return [note for note in release.evidence["notes"] if note.startswith("Beware") and "repeat in" in note]


@settings(max_examples=15)
@given(st.integers(0, 10**6), st.sampled_from([40, 90]), st.sampled_from(["identifier", "ignore"]))
def test_classes_of_fewer_than_k_persons_are_counted_from_what_is_released(seed: int, persons: int, role: str) -> None:
    frame = panel(seed, persons, 5)
    strata = seed % 2 == 1
    said: dict[str, Any] = {"by": "wave"} if strata else {"ignore": ["wave"]}
    said[role] = [*said.get(role, []), "id"]
    release = discreet.protect(frame, **ROLES, **said)
    keys = ["age", "town", *(["wave"] if strata else [])]
    table = release.data.select(keys).to_pandas().assign(who=frame["id"].to_numpy())
    sizes = table.groupby(keys).agg(persons=("who", "nunique"), records=("who", "size"))
    few = sizes[sizes.persons < 3]
    told = warnings_of(release)
    assert bool(told) == bool(len(few))
    if told:
        assert (
            f"'id' is left out, and its {frame['id'].n_unique():,} values repeat in {frame.height:,} records" in told[0]
        )
        assert f"{len(few):,} of {len(sizes):,} classes ({few.records.sum():,} record" in told[0]
        assert "Beware" in release.summary()


def test_whoever_named_persons_or_households_is_not_warned() -> None:
    frame = panel(1, 90, 5)
    assert warnings_of(discreet.protect(frame, identifier="id", ignore="wave", **ROLES))
    assert not warnings_of(discreet.protect(frame, person="id", ignore="wave", **ROLES))
    assert not warnings_of(discreet.protect(frame, household="id", ignore="wave", **ROLES))


@pytest.mark.parametrize(
    "column",
    [
        pl.int_range(pl.len()),  # a number of its own for each record
        pl.int_range(pl.len()) % 3,  # too few to be persons
        pl.lit("same"),
        pl.int_range(pl.len()).cast(pl.String) + " was seen by us on that day, and came again later",  # free text
    ],
)
def test_other_columns_that_are_left_out_are_no_persons(column: pl.Expr) -> None:
    frame = panel(2, 90, 5).with_columns(id=column)
    assert not warnings_of(discreet.protect(frame, identifier="id", ignore="wave", **ROLES))


def test_who_has_no_number_may_be_anybody() -> None:
    frame = pl.DataFrame({"id": [1, 1, None, 2, 2, 2, None, None, None], "age": [20, 21, 22, 40, 41, 42, 60, 61, 62]})
    [told] = warnings_of(discreet.protect(frame, k=3, quasi="age", identifier="id", method="mdav"))
    assert "2 of 3 classes (6 records) are of fewer than k = 3" in told


def test_a_household_number_that_nobody_called_one_is_warned_of() -> None:
    release = discreet.protect(homes(3, 200), **ROLES, ignore="rest")
    [told] = warnings_of(release)
    assert "'db030' is left out" in told
    assert "--household db030" in told


@pytest.mark.parametrize(
    ("frame", "name", "unit"),
    [
        (panel(4, 300, 5), "id", "person"),
        (panel(4, 300, 5, name="person_id"), "person_id", "person"),
        (panel(4, 300, 5, name="household id"), "household id", "household"),
        (homes(5, 300), "db030", "household"),
        (homes(5, 300).rename({"db030": "id"}), "id", "household"),
        (homes(5, 300).rename({"db030": "person id"}), "person id", "person"),
    ],
)
def test_what_repeats_is_proposed_as_person_or_household(frame: pl.DataFrame, name: str, unit: str) -> None:
    found = discreet.inspect(frame)
    units = {column.name: column.proposal.unit for column in found.columns if column.proposal.unit}
    assert units == {name: unit}
    column = next(column for column in found.columns if column.name == name)
    assert column.proposal.role == "identifier"
    assert f"{column.levels:,} values in {frame.height:,} records: --{unit}" in column.proposal.reason
    assert f'# {unit} = "{name}"' in found.toml()
    assert f"  {unit}  " in found.summary()
    assert name not in found.quasi


def test_the_draft_with_its_proposals_keeps_k_persons(tmp_path: Path) -> None:
    frame = panel(6, 300, 5)
    frame.write_csv(tmp_path / "panel.csv")
    assert run(["inspect", str(tmp_path / "panel.csv"), "--toml", str(tmp_path / "draft.toml")]) == 0
    draft = (tmp_path / "draft.toml").read_text("utf-8")
    decided = draft.replace("# role", "role").replace("# k = 3 ", "k = 3 #").replace("# person", "person")
    (tmp_path / "draft.toml").write_text(decided, "utf-8")
    release = discreet.protect(tmp_path / "panel.csv", config=tmp_path / "draft.toml", method="mdav")
    table = pd.DataFrame(release.data.to_dict(as_series=False)).assign(who=frame["id"].to_numpy())
    quasi = list(release.promise.groups[0])
    assert table.groupby(quasi).who.nunique().min() >= 3
    assert not warnings_of(release)
