"""Nothing can be used that the manual does not speak of."""

import pkgutil
import re
from pathlib import Path

import pytest
from cyclopts import App

import api
import architecture
import commands
import discreet
from discreet.cli.app import WALK
from discreet.configuration import DETAILS, OPTIONS
from discreet.methods import Description, list_methods
from discreet.release.evidence import schema

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
STEPS = [step for steps in WALK.values() for step in steps]


def test_every_command_and_option_is_documented() -> None:
    """The page is made from the docstrings, and an option without a description does not get past the import."""
    assert (DOCS / "commands.md").read_text(encoding="utf-8") == commands.page(), "run: python tools/commands.py"
    assert not re.findall(r"^\* `-[^`]*`(?: \*|$)", commands.page(), re.MULTILINE), "an option without a description"


def test_the_page_on_the_interface_is_up_to_date() -> None:
    assert (DOCS / "api.md").read_text(encoding="utf-8") == api.page(), "run: python tools/api.py"


def test_the_picture_and_the_tree_of_the_rooms_are_up_to_date() -> None:
    """Rooms, folders and arrows; how many modules an arrow stands for may change unnoticed until `make docs`."""
    drawn = architecture.PICTURE.read_text(encoding="utf-8")
    arrows = {f"{one}-{other}" for one, other in architecture.arrows()}
    rooms = {room for names in architecture.rooms().values() for room in names}
    assert set(re.findall(r'<g id="([\w-]+)">', drawn)) == arrows, "run: python tools/architecture.py"
    assert rooms <= set(re.findall(r">(\w+)</text>", drawn)), "run: python tools/architecture.py"
    page = architecture.PAGE.read_text(encoding="utf-8")
    assert architecture.page(page) == page, "run: python tools/architecture.py"
    assert architecture.tree() in page


def test_the_walks_name_what_is_there() -> None:
    rooms = {room for names in architecture.rooms().values() for room in names}
    text = architecture.PAGE.read_text(encoding="utf-8")
    named = [name for name in re.findall(r"`([a-z_]+(?:\.\w+)+)`", text) if name.split(".")[0] in rooms]
    assert named
    for name in named:
        if not name.endswith(".py"):
            assert pkgutil.resolve_name(f"discreet.{name}"), name


def test_the_glossary_is_sorted_and_has_what_pages_link_to() -> None:
    text = (DOCS / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert terms == sorted(terms, key=str.casefold)
    anchors = {re.sub(r"[^\w\s-]", "", term).strip().lower().replace(" ", "-") for term in terms}
    assert len(anchors) == len(terms)
    manual = [path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")]
    linked = {anchor for page in manual for anchor in re.findall(r"glossary\.md#([\w-]+)", page)}
    linked |= set(re.findall(r"\(#([\w-]+)\)", text))
    assert linked <= anchors


def test_the_page_on_the_scope_names_what_is_there_and_denies_none_of_it() -> None:
    text = (DOCS / "scope.md").read_text(encoding="utf-8")
    there = text.partition("## What is there")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([a-z]+)`", there))
    assert named == {step[0].name[0] if isinstance(step[0], App) else step[0].__name__.rstrip("_") for step in STEPS}
    verbs = set(re.findall(r"`([a-z]+)`", "".join(there.split("- **")[1:4]))) - {"convert"}
    assert verbs <= set(discreet.__all__)
    absent = "".join(re.findall(r"## Not [^\n]*\n(.*?)(?=\n## |\Z)", text, re.DOTALL)).lower()
    rooms = {"web": "web app", "jobs": "jobs", "grouping": "grouping", "executors.py": "several machines"}
    for room, word in {**rooms, "data/databases": "database"}.items():
        assert (ROOT / "src" / "discreet" / room).exists()
        assert word not in absent


PAGES = {"partition": "methods.md", "grouping": "grouping.md", "suppression": "suppression.md"}


@pytest.mark.parametrize("entry", list_methods(), ids=lambda entry: f"{entry.family}-{entry.name}")
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


def test_the_version_to_cite_is_this_one() -> None:
    text = (DOCS.parent / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {discreet.__version__}\n" in text
