"""A look at microdata before anything is decided: counts that are right, proposals that are never applied."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from canary import CANARY
from discreet.cli.app import run
from discreet.data.profile import split_name
from discreet.errors import InputError

CELLS = st.one_of(st.none(), st.integers(0, 3))


def below(rows: list[Any], k: int) -> int:
    """Records in combinations that fewer than k share, counted one by one."""
    return sum(size for size in Counter(rows).values() if size < k)


@settings(max_examples=25)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=40))
def test_counts_and_risk_are_those_of_a_plain_count(rows: list[tuple[int | None, ...]]) -> None:
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row")
    present = [name for name in frame.columns if frame[name].null_count() < frame.height]
    if not present:
        return
    found = discreet.inspect(frame, quasi=present)
    for column, at in zip(found.columns, range(3), strict=True):
        values = [row[at] for row in rows if row[at] is not None]
        if column.name in present:
            assert column.missing == len(rows) - len(values)
            assert column.levels == len(set(values))
            assert column.unique == sum(size == 1 for size in Counter(values).values())
    own = [tuple(row["abc".index(name)] for name in present) for row in rows]
    assert dict(found.risk) == {k: below(own, k) for k in (2, 3, 5, 10)}
    for at, name in enumerate(present):
        alone, without = found.risk_by_column[name]["alone"], found.risk_by_column[name]["without"]
        assert alone == {k: below([row[at] for row in own], k) for k in (2, 3, 5, 10)}
        assert without == {k: below([row[:at] + row[at + 1 :] for row in own], k) for k in (2, 3, 5, 10)}


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """Canaries in every column that can hold one."""
    lines = ["number;Birth date;zip code;note;empty;sales;amount;same;code"]
    for i in range(60):
        text = f"the patient {CANARY} came on day {i % 5} and was seen by us"
        lines.append(f"{CANARY}{i};19{50 + i % 40}-01-02;{i % 3};{text};;{100 + i};{i}{CANARY},5;{CANARY};{i % 4}")
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_roles_are_proposed_with_a_reason(survey: Path) -> None:
    found = discreet.inspect(survey)
    roles = {column.name: column.proposal.role for column in found.columns}
    assert roles == {
        "number": "identifier", "Birth date": "quasi", "zip code": "quasi", "note": "identifier", "empty": "ignore",
        "sales": "confidential", "amount": "quasi", "same": "ignore", "code": "quasi",
    }  # fmt: skip
    assert all(column.proposal.reason for column in found.columns)
    assert found.quasi == ("Birth date", "zip code", "amount", "code")
    assert not found.decided
    assert [column.name for column in found.columns if column.looks_like_codes] == ["zip code", "code"]


def test_no_value_of_a_respondent_is_shown(survey: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "draft.toml"
    assert run(["inspect", str(survey), "--toml", str(target)]) == 0
    assert run(["inspect", str(survey), "--json"]) == 0
    out, err = capsys.readouterr()
    assert CANARY not in out + err + target.read_text()
    assert "proposed quasi-identifiers" in out
    assert json.loads(out[out.index("{") :])["schema"] == "discreet/inspection/1"


def test_a_draft_is_refused_until_every_role_and_k_are_decided(survey: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft.toml"
    draft.write_text(discreet.inspect(survey).toml())
    assert tomllib.loads(draft.read_text())["delimiter"] == ";"
    with pytest.raises(InputError, match="k is missing"):
        discreet.protect(survey, config=draft)
    with pytest.raises(InputError, match="no role was given for: 'number', 'Birth date'"):
        discreet.protect(survey, config=draft, k=3)
    decided = draft.read_text().replace("# role", "role").replace("# k = 3 ", "k = 3 #")
    draft.write_text(decided)
    release = discreet.protect(survey, config=draft)
    assert release.promise.groups == (("Birth date", "zip code", "amount", "code"),)
    assert release.data.columns == ["Birth date", "zip code", "sales", "amount", "code"]
    looked = discreet.inspect(survey, config=draft)
    assert looked.decided
    assert looked.quasi == release.promise.groups[0]
    with pytest.raises(InputError, match=r"missing in the data: 'Birth date'.*new in the data.*'born'"):
        discreet.protect(pl.read_csv(survey, separator=";").rename({"Birth date": "born"}), config=draft)


@pytest.mark.parametrize("name", ['qu"ote', "back\\slash", "line\nbreak", "[a]", "ä.b", "\x7f", ""])
def test_a_draft_is_valid_whatever_columns_are_called(name: str) -> None:
    frame = pl.DataFrame({name: [1, 2, 3], "b": [1, 1, 2]})
    text = discreet.inspect(frame, quasi=["b"]).toml()
    assert list(tomllib.loads(text)["columns"]) == [name, "b"]


def test_columns_that_cannot_be_read_are_told_and_do_not_stop_the_look() -> None:
    frame = pl.DataFrame({"list": [[1], [2]], "age": [1, 2], "nothing": [None, None]})
    found = discreet.inspect(frame)
    assert [(column.kind, column.proposal.role) for column in found.columns] == [
        ("other", "ignore"),
        ("numeric", "quasi"),
        ("unclear", "ignore"),
    ]
    assert "unclear" in found.summary()


def test_names_of_columns_are_split_into_words() -> None:
    assert split_name("birth_date") == split_name("BirthDate") == split_name("Birth date 2") == ["birth", "date"]
    assert split_name("ZIPCode") == ["zip", "code"]
    assert split_name("ID") == ["id"]
