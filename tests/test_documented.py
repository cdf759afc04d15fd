"""Nothing can be used that the manual does not speak of."""

import re
from pathlib import Path

import pytest

import commands
import discreet
from discreet.columns import DETAILS, OPTIONS
from discreet.methods import Description, describe
from discreet.release.evidence import schema

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def test_every_command_and_option_is_documented() -> None:
    """The page is made from the docstrings, and an option without a description does not get past the import."""
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == commands.page(), "run: python tools/commands.py"
    assert not re.findall(r"^\* `-[^`]*`(?: \*|$)", commands.page(), re.MULTILINE), "an option without a description"


PAGES = {"partition": "methods.md", "grouping": "grouping.md", "suppression": "suppression.md"}


@pytest.mark.parametrize("entry", describe(), ids=lambda entry: f"{entry.family}-{entry.name}")
def test_every_method_and_parameter_is_documented(entry: Description) -> None:
    page = (DOCS / PAGES[entry.family]).read_text(encoding="utf-8")
    assert f"`{entry.name}`" in page
    for parameter in entry.parameters:
        assert f"`{parameter.name}" in page
        assert parameter.description


def test_every_verb_is_documented() -> None:
    manual = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md"))
    for name in discreet.__all__:
        assert re.search(rf"\bdiscreet\.{name}\b|`{name}`", manual), name


def test_every_key_of_the_configuration_is_documented() -> None:
    page = (DOCS / "columns.md").read_text(encoding="utf-8")
    for key in (*OPTIONS, *DETAILS):
        assert re.search(rf"`{key}`|^{key} = |\[{key}\]", page, re.MULTILINE), key


@pytest.mark.parametrize("name", ["evidence", "release"])
def test_every_field_of_the_accounts_is_documented(name: str) -> None:
    page = (DOCS / "release.md").read_text(encoding="utf-8")
    for field in schema(name)["properties"]:
        assert re.search(rf"`{field}[`.]", page), field
