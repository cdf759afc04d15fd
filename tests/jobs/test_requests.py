"""What was chosen becomes the configuration and the command that a user would write."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.app import run
from discreet.configuration import load
from discreet.jobs.requests import FURTHER, count_broken, find_problems, write_settings

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=8)


@given(NAMES, st.sampled_from(sorted(FURTHER)))
def test_what_is_no_role_is_an_option_and_a_role(tmp_path_factory: Any, name: str, role: str) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.toml"
    path.write_text(
        write_settings({"k": 3, "split_households": 4, "columns": {name: {"role": role}}}), encoding="utf-8"
    )
    said = load(path)
    option, beside = FURTHER[role]
    assert said.options[option] == name
    assert said.roles == {beside: [name]}
    assert said.options.get("split_households") == (4 if option == "household" else None)


def test_problems_are_told() -> None:
    decided = {"age": {"role": "quasi"}, "home": {"role": "household"}}
    assert find_problems(decided) == []
    assert find_problems({"a": {}, "b": {}})[0].startswith("2 of 2 columns are undecided: a, b")
    assert "nothing to protect" in find_problems({"a": {"role": "by"}})[0]
    assert "Only one column can be the household" in find_problems(decided | {"hid": {"role": "household"}})[0]
    assert "cannot both be promised" in find_problems(decided | {"pid": {"role": "person"}})[0]


def test_what_breaks_a_promise_today_is_counted_whatever_columns_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text('"a,""ge",pid,"i;ll",by\n1,p,x,s\n1,p,y,s\n1,q,x,s\n2,r,x,s\n')
    Path("groups.toml").write_text('groups = [["a,\\"ge"]]\n')
    columns = {'a,"ge': {"role": "quasi"}, "pid": {"role": "person"}, "i;ll": {"type": "nominal"}, "by": {"role": "by"}}
    choices = {"k": 2, "columns": columns, "l": {"i;ll": "entropy:1.5"}, "t": {"i;ll": 0.5}}
    assert run([*count_broken("data.csv", choices, "groups.toml"), "--json"]) == 1
    [check] = json.loads(capsys.readouterr().out)["verification"]["checks"]
    assert (check["records_exposed"], check["l"][0]["records_exposed"], check["t"][0]["records_exposed"]) == (1, 1, 0)
