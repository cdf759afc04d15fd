"""Roles: told, not guessed; every contradiction is named."""

from pathlib import Path
from typing import Any

import pytest

from discreet.columns import resolve
from discreet.configuration import Config, load
from discreet.data.roles import Declarations
from discreet.errors import InputError

NAMES = ["name", "age", "town", "income", "ill"]


def told(config: Config | None = None, **columns: Any) -> Declarations:
    return resolve(NAMES, config or Config(), **columns)


def test_roles_by_name() -> None:
    declared = told(quasi=["age", "town", "income"], confidential="ill", identifier=["name"])
    assert declared.names("quasi") == ["age", "town", "income"]
    assert declared.names("confidential", "identifier") == ["name", "ill"]


@pytest.mark.parametrize(
    ("roles", "quasi"),
    [
        ({"quasi": "all", "identifier": "name"}, ["age", "town", "income", "ill"]),
        ({"quasi": ["age"], "ignore": "rest"}, ["age"]),
        ({"quasi": ["age", "town"], "confidential": ["rest"], "ignore": "name"}, ["age", "town"]),
    ],
)
def test_rest_covers_what_is_not_named(roles: dict[str, Any], quasi: list[str]) -> None:
    declared = told(**roles)
    assert declared.names("quasi") == quasi
    assert all(column.role for column in declared.columns)


@pytest.mark.parametrize(
    ("roles", "said"),
    [
        ({"quasi": ["agee"], "ignore": "rest"}, "Did you mean 'age'"),
        ({"quasi": ["age"], "confidential": ["age"], "ignore": "rest"}, "'age' has two roles"),
        ({"quasi": ["age", "town"]}, "no role was given for: 'name', 'income', 'ill'"),
        ({"confidential": "rest"}, "no quasi-identifier"),
        ({"quasi": "all", "ignore": "rest"}, "cannot be both quasi and ignore"),
        ({"quasi": "all", "nominal": ["age"], "date": ["age"]}, "both nominal and date"),
        ({"quasi": "all", "weights": {"age": -1.0}}, "weight must be"),
        ({"quasi": "all", "weights": {"age": float("nan")}}, "weight must be"),
        ({"quasi": "all", "nominal": "town", "aggregate": {"town": "mean"}}, "aggregate must be one of mode"),
        ({"quasi": "all", "ordinal": {"town": ["a", "a"]}}, "stands twice in its order"),
        ({"quasi": "all", "ordinal": {"town": "a<b"}}, "must be a list"),
        ({"quasi": 3}, "expected a column name"),
        ({"quasi": "all", "weights": ["age"]}, "expected a mapping"),
        ({"quasi": "all", "nominal": ["street"]}, "unknown column 'street'"),
    ],
)
def test_contradictions_are_named(roles: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        told(**roles)


def test_duplicate_columns_are_refused() -> None:
    with pytest.raises(InputError, match="'age'"):
        resolve(["age", "age"], Config(), quasi="all")


def config_of(tmp_path: Path, text: str) -> Config:
    path = tmp_path / "release.toml"
    path.write_text(text)
    return load(path)


def test_configuration_says_the_same_as_keywords(tmp_path: Path) -> None:
    config = config_of(
        tmp_path,
        """
        k = 4
        identifier = ["name"]
        ignore = "rest"
        [columns.age]
        role = "quasi"
        weight = 2
        [columns.town]
        role = "quasi"
        order = ["a", "b"]
        """,
    )
    declared = told(config)
    assert config.options == {"k": 4}
    assert declared.names("quasi") == ["age", "town"]
    assert declared.names("ignore") == ["income", "ill"]
    assert (declared["age"].weight, declared["town"].kind, declared["town"].order) == (2, "ordinal", ("a", "b"))


def test_the_call_wins_over_the_configuration(tmp_path: Path) -> None:
    config = config_of(tmp_path, 'quasi = ["age", "town"]\nignore = "rest"\n[columns.age]\ntype = "nominal"\n')
    declared = told(config, confidential=["town", "rest"], date="age")
    assert declared.names("quasi") == ["age"]
    assert declared.names("confidential") == ["name", "town", "income", "ill"]
    assert declared["age"].kind == "date"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("kay = 3", "line 1: unknown key 'kay'; allowed are k, "),
        ("k = 'three'", "'k' must be a whole number"),
        ("k = true", "'k' must be a whole number"),
        ("quasi = [1]", "must be a list of column names"),
        ("[columns.age]\nrole = 'key'", "role must be one of"),
        ("[columns.age]\nkind = 'numeric'", "unknown key 'kind'; allowed are role, type"),
        ("columns = 3", "must be a table"),
        ("k = ", "not valid TOML"),
    ],
)
def test_wrong_configuration_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        config_of(tmp_path, text)
    assert "release.toml" in str(error.value)


def test_missing_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "none.toml")
