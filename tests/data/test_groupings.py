"""Groups of quasi-identifiers: every column in exactly one, or an error that names it; and as TOML that comes back."""

import math
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.groupings import check_groups, groups_text, parse_groups, read_groups
from discreet.errors import InputError
from discreet.text import printable

QUASI = ["age", "income", "town"]


@st.composite
def groupings(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Columns of any names, and a grouping of them in any order."""
    names = draw(st.lists(st.text(min_size=1), min_size=1, max_size=8, unique=True))
    mixed = draw(st.permutations(names))
    labels = [draw(st.integers(0, 3)) for _ in names]
    groups = [[name for name, label in zip(mixed, labels, strict=True) if label == wanted] for wanted in range(4)]
    return names, [group for group in groups if group]


@given(groupings())
def test_every_quasi_identifier_stands_once_in_the_order_of_the_data(case: tuple[list[str], list[list[str]]]) -> None:
    names, groups = case
    checked = check_groups(groups, names, "here")
    assert [set(group) for group in checked] == [set(group) for group in groups]
    for group in checked:
        assert list(group) == [name for name in names if name in group]


@given(groupings(), st.data())
def test_a_grouping_that_is_none_of_these_columns_is_refused_by_name(
    case: tuple[list[str], list[list[str]]], data: st.DataObject
) -> None:
    names, groups = case
    name = data.draw(st.sampled_from(names))
    without = [[other for other in group if other != name] for group in groups]
    wrong = {
        "no group has": [group for group in without if group] or [["\0other"]],
        "stands twice": [*groups, [name]],
        "no quasi-identifier": [*groups, ["\0other"]],
        "empty": [*groups, []],
    }
    what = data.draw(st.sampled_from(sorted(wrong)))
    if what == "no group has" and len(names) == 1:
        return
    with pytest.raises(InputError, match=what) as error:
        check_groups(wrong[what], names, "groups.toml")
    assert str(error.value).startswith("groups.toml")
    if what in ("stands twice", "no group has"):
        assert f"'{printable(name)}'" in str(error.value)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(groupings(), st.dictionaries(st.text().filter(lambda name: name != "groups"), VALUES, max_size=4))
def test_a_grouping_comes_back_from_its_text(case: tuple[list[str], list[list[str]]], about: dict[str, Any]) -> None:
    _, groups = case
    text = groups_text(groups, about)
    assert text.startswith("# ")
    assert tomllib.loads(text) == {"groups": groups} | about
    # It stays the same on a system that writes lines its own way.
    assert tomllib.loads(text.replace("\n", "\r\n")) == {"groups": groups} | about


def test_numbers_of_numpy_are_numbers_and_nothing_is_left_out() -> None:
    about = {"k": np.int64(25), "score": np.float64(13.5), "il": float("nan"), "dr": None, "weights": (1, 2.5)}
    content = tomllib.loads(groups_text([["a"]], about))
    assert math.isnan(content.pop("il"))
    assert content == {"groups": [["a"]], "k": 25, "score": 13.5, "weights": [1, 2.5]}
    with pytest.raises(TypeError, match="object"):
        groups_text([["a"]], {"what": object()})


def test_a_file_is_read_whatever_else_it_says(tmp_path: Path) -> None:
    path = tmp_path / "grouping.toml"
    path.write_text(groups_text([["age", "town"], ["income"]], {"method": "gomm", "k": 25, "score": 13.2}))
    assert read_groups(path) == [["age", "town"], ["income"]]
    for grouping in (
        path,
        str(path),
        SimpleNamespace(groups=[["town", "age"], ("income",)]),
        (["age", "town"], ["income"]),
    ):
        assert parse_groups(grouping, QUASI) == (("age", "town"), ("income",))
    assert parse_groups(None, QUASI) == (tuple(QUASI),)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("k = 3", "it must hold groups = "),
        ("groups = [", "not valid TOML"),
        ("groups = 3", "expected a list of lists"),
        ('groups = "age"', "expected a list of lists"),
        ('groups = ["age"]', "expected a list of lists"),
        ('groups = [["age"], [3]]', "expected a list of lists"),
        ("groups = []", "is empty"),
        ('groups = [["age"], []]', "a group is empty"),
        (
            'groups = [["age", "income"], ["city"]]',
            "column 1 of group 2 is no quasi-identifier; there are 'age', 'income'",
        ),
        ('groups = [["age", "incom"], ["town"]]', "did you mean 'income'"),
        ('groups = [["age", "income"], ["town", "age"]]', "'age' stands twice"),
        ('groups = [["age"]]', "no group has 'income', 'town'"),
        (b"groups = '\xff'", "UTF-8"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = tmp_path / "grouping.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=said) as error:
        parse_groups(path, QUASI)
    assert str(path) in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_groups(tmp_path / "none.toml")
    with pytest.raises(InputError, match="cannot be read"):
        read_groups(tmp_path)
