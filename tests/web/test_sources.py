"""Only what is in the folder, or named in its `sources.toml`, can be opened."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from discreet.errors import InputError
from discreet.web.folder import Folder
from discreet.web.sources import LIST, find, list_databases


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    work = tmp_path / "work"
    work.mkdir()
    for path in (work / "office.db", tmp_path / "other.db"):
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("CREATE TABLE people (age)")
    (work / "survey.csv").write_text("age\n1\n")
    (work / "outside.db").symlink_to(tmp_path / "other.db")
    return Folder(work)


def test_files_and_tables_that_are_there(folder: Folder) -> None:
    (folder.path / LIST).write_text('sources = ["postgresql:office/public.people", "sqlite:office.db"]')
    found = list_databases(folder)
    assert [one.typed for one in found["sqlite:office.db"] if not isinstance(one, str)] == ["sqlite:office.db#people"]
    assert [one.name for one in found["postgresql:office/public.people"] if not isinstance(one, str)] == [
        "public.people"
    ]
    assert "no such file" in str(found["sqlite:outside.db"])
    assert find(folder, "survey.csv").suffix == ".csv"
    assert find(folder, "sqlite:office.db#people").readable == f"sqlite:{folder.path / 'office.db'}#people"
    assert find(folder, "postgresql:office/public.people").file is None


def test_a_database_that_is_named_opens_all_its_tables(folder: Folder) -> None:
    (folder.path / LIST).write_text('sources = ["postgresql:office"]')
    assert find(folder, "postgresql:office/public.visits").title == "public.visits"
    with pytest.raises(InputError, match="not among the sources"):
        find(folder, "postgresql:public.visits")


@pytest.mark.parametrize(
    "name",
    [
        "postgresql:office/public.people",
        "sqlite:../other.db#people",
        "sqlite:/etc/passwd#people",
        "sqlite:outside.db#people",
        "../other.db",
        "outside.db",
        "postgresql://ann@host/db",
    ],
)
def test_anything_else_is_refused(folder: Folder, name: str) -> None:
    with pytest.raises(InputError):
        find(folder, name)


@pytest.mark.parametrize("text", ["sources = 1", 'sources = ["survey.csv"]', "sources = [", 'source = ["postgresql:"]'])
def test_a_list_that_makes_no_sense_is_told_and_opens_nothing(folder: Folder, text: str) -> None:
    (folder.path / LIST).write_text(text)
    assert LIST in list_databases(folder)
    with pytest.raises(InputError):
        find(folder, "postgresql:office/public.people")
