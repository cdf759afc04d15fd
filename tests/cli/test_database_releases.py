"""Releases into databases: verified in their transaction, or not there at all; whatever ends the run."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import jsonschema
import polars as pl
import pytest

import discreet
from canary import CANARY, Command
from discreet.data.databases.session import Session
from discreet.data.databases.staging import Staging, StagingInPostgres
from discreet.release.evidence import schema
from postgres import Server

ROLES = ["--quasi", "age,town", "--confidential", "diagnosis", "--identifier", "name", "--k", "4", "--method", "mdav"]
PEOPLE = (
    "CREATE TABLE public.people AS SELECT 'n' || i AS name, (20 + i % 30)::numeric AS age, 't' || i % 3 AS town, "
    "'d' || i % 5 AS diagnosis FROM generate_series(1, 60) AS i"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def people(server: Server, here: Path) -> Server:
    """Sixty people; the canary is the name and the diagnosis of one."""
    server.sql(
        PEOPLE, f"UPDATE public.people SET name = '{CANARY}', diagnosis = '{CANARY}' WHERE name = 'n' || 7", "SELECT 1"
    )
    server.log.write_text("")  # what the test itself has said
    return server


@pytest.fixture
def lite(here: Path) -> Path:
    path = here / "base.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people(name, age, town, diagnosis)")
        rows = [(f"n{i}", 20 + i % 30, f"t{i % 3}", f"d{i % 5}") for i in range(60)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    connection.close()
    return path


def tables(server: Server) -> set[str]:
    return {
        name for (name,) in server.sql("SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace")
    }


def check_nothing_told(server: Server, folder: Path) -> None:
    """No value stands in the server's log, nor in what is written about a release."""
    assert CANARY not in server.log.read_text()
    for path in folder.iterdir():
        assert CANARY not in path.read_text(encoding="utf-8", errors="replace"), path.name


def test_out_of_postgresql_and_back(people: Server, here: Path, command: Command) -> None:
    done = command("protect", "postgresql:public.people", "-o", "postgresql:public.released", *ROLES)
    assert done.status == 0, done.err
    assert "read as numbers of double precision: age (numeric)" in done.err
    assert "the table as written passed" in done.err
    assert tables(people) == {"people", "released"}
    assert {path.name for path in here.iterdir()} == {"public.released.release.json", "public.released.evidence.json"}
    record = json.loads((here / "public.released.release.json").read_text())
    evidence = json.loads((here / "public.released.evidence.json").read_text())
    jsonschema.validate(record, schema("release"))
    jsonschema.validate(evidence, schema("evidence"))
    facts = {"host": "local socket", "database": "postgres", "server": evidence["input"]["database"]["server"]}
    assert evidence["input"]["database"] == {**facts, "table": "public.people"}
    assert evidence["output"]["database"] == {**facts, "table": "public.released"}
    assert facts["server"].startswith("PostgreSQL ")
    assert "database" not in record["output"]
    [(comment,)] = people.sql("SELECT obj_description('public.released'::regclass, 'pg_class')")
    assert record["output"]["sha256"] in comment
    assert record["promise"]["words"] in comment
    # A count that shares nothing with ours.
    small = "SELECT count(*) FROM public.released GROUP BY age, town HAVING count(*) < 4"
    assert people.sql(small) == []
    check_nothing_told(people, here)

    promise = ("--promise", "public.released.release.json")
    done = command("verify", "postgresql:public.released", *promise, "--json")
    assert done.status == 0
    assert "differs" not in done.err
    assert json.loads(done.out)["input"]["sha256"] == record["output"]["sha256"]
    people.sql("UPDATE public.released SET diagnosis = 'other' WHERE ctid = (SELECT max(ctid) FROM public.released)")
    done = command("verify", "postgresql:public.released", *promise)
    assert done.status == 0
    assert "has not the very rows" in done.err
    people.sql("UPDATE public.released SET age = 1000 WHERE ctid = (SELECT max(ctid) FROM public.released)")
    assert command("verify", "postgresql:public.released", *promise).status == 1


def test_the_release_is_the_same_from_a_file(people: Server, here: Path, command: Command) -> None:
    """Rows, digest and order: a release does not depend on where the records come from and lie."""
    frame = discreet.data.files.read("postgresql:public.people").frame
    frame.write_parquet(here / "people.parquet")
    command("protect", "people.parquet", "-o", "postgresql:public.one", *ROLES)
    people.sql("CREATE TABLE public.mixed AS SELECT * FROM public.people ORDER BY md5(name)")
    command("protect", "postgresql:public.mixed", "-o", "postgresql:public.two", *ROLES)
    command("protect", "postgresql:public.people", "-o", "three.parquet", *ROLES)
    digests = {json.loads(path.read_text())["output"]["sha256"] for path in here.glob("public.*.release.json")}
    assert len(digests) == 1
    [rows] = {json.dumps(people.sql(f"SELECT * FROM public.{name}"), default=str) for name in ("one", "two")}
    assert [list(row) for row in pl.read_parquet(here / "three.parquet").rows()] == json.loads(rows)


def test_sqlite_to_sqlite(lite: Path, here: Path, command: Command) -> None:
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:new.db#released", "--files", "out", *ROLES)
    assert done.status == 2
    assert not (here / "new.db").exists()
    (here / "out").mkdir()
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:new.db#released", "--files", "out", *ROLES)
    assert done.status == 0, done.err
    assert {path.name for path in (here / "out").iterdir()} == {
        "new.db.released.release.json",
        "new.db.released.evidence.json",
    }
    assert (here / "new.db").stat().st_mode & 0o777 == 0o600
    promise = ("--promise", "out/new.db.released.release.json")
    done = command("verify", "sqlite:new.db#released", *promise)
    assert (done.status, done.err) == (0, "")
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:new.db#released", *ROLES)
    assert (done.status, "exists already" in done.err) == (2, True)
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:base.db#people", "--force", *ROLES)
    assert (done.status, "never written over" in done.err) == (2, True)
    with sqlite3.connect(here / "new.db") as connection:
        connection.execute("CREATE VIEW seen AS SELECT age FROM released")
    connection.close()
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:new.db#released", "--force", *ROLES)
    assert (done.status, "depend" in done.err) == (2, True)


def test_every_verb_reads_tables(lite: Path, here: Path, command: Command) -> None:
    source = "sqlite:base.db#people"
    kinds = ("--config", "c.toml")
    (here / "c.toml").write_text(
        'k = 4\nquasi = ["age", "town"]\nconfidential = ["diagnosis"]\nidentifier = ["name"]\n'
    )
    assert command("inspect", source).status == 0
    previous = ["--previous-release", "sqlite:base.db#old", "--previous-row-map", "map2.csv"]
    assert command("protect", source, *kinds, "--method", "mdav", "-o", "old.csv", "--row-map", "map.csv").status == 0
    assert command("protect", source, *kinds, "--dry-run", "-o", "sqlite:base.db#dry").status == 0
    done = command("protect", source, *kinds, "--method", "mdav", "-o", "sqlite:base.db#old", "--row-map", "map2.csv")
    assert done.status == 0, done.err
    assert (here / "map.csv").read_text() == (here / "map2.csv").read_text()
    for release in ("old.csv", "sqlite:base.db#old"):
        done = command("measure", source, release, *kinds, "--row-map", "map.csv")
        assert done.status == 0, done.err
        new = ["--row-map", "map.csv", "--steps", "1", "-o", "sqlite:base.db#new", "--force"]
        done = command("refine", source, release, *kinds, *new)
        assert done.status == 0, done.err
    done = command("measure", source, "old.csv", *kinds, "--row-map", "map.csv", *previous)
    assert done.status == 0, done.err
    # What the record says of a table holds here too: its rows are sorted.
    done = command("measure", source, "sqlite:base.db#old", *kinds)
    assert (done.status, "order of the records was destroyed" in done.err) == (2, True)
    (here / "q.sql").write_text("SELECT age, town, diagnosis FROM people WHERE age > 25 ORDER BY age")
    done = command("inspect", "sqlite:base.db", "--query", "q.sql")
    assert (done.status, done.out.partition(":")[0]) == (0, "q.sql")
    done = command("tabulate", source, "--by", "town", "--by", "diagnosis", "--value", "age", "-o", "t.parquet")
    assert done.status == 0, done.err
    cells = "SELECT coalesce(t, 'Total') AS t, sum(age) AS value, count(*) AS n FROM "
    both = "(SELECT town AS t, age FROM people UNION ALL SELECT NULL, age FROM people) GROUP BY 1"
    (here / "cells.sql").write_text(cells + both)
    options = ["--by", "t", "--value", "value", "--count", "n", "--threshold", "3", "-o", "u.parquet"]
    done = command("primary", "sqlite:base.db", "--query", "cells.sql", *options)
    assert done.status == 0, done.err
    done = command("group", source, *kinds, "--k", "3", "--steps", "1", "-o", "g.toml")
    assert done.status == 0, done.err


def test_reports_are_written_with_a_table(lite: Path, here: Path, command: Command) -> None:
    done = command("protect", "sqlite:base.db#people", "-o", "sqlite:base.db#out", "--report", *ROLES)
    assert done.status == 0, done.err
    ends = ("release.json", "evidence.json", "report.html", "internal.html")
    assert {path.name for path in here.glob("base.db.*")} == {f"base.db.out.{end}" for end in ends}
    done = command("report", "sqlite:base.db#out")
    assert (done.status, "base.db.out.report.html" in done.err) == (2, True)  # it is there already


def test_letters_that_a_database_lacks(people: Server, here: Path, command: Command) -> None:
    """The server would refuse them, and its log would quote the row."""
    pl.DataFrame({"age": [1, 2, 3] * 3, "town": [f"Łódź {CANARY}"] * 9}).write_parquet(here / "a.parquet")
    latin = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
    with (
        adbc_driver_postgresql.dbapi.connect("postgresql://", autocommit=True) as connection,
        connection.cursor() as cursor,
        pytest.MonkeyPatch.context() as patch,
    ):
        cursor.execute(latin)
        patch.setenv("PGDATABASE", "latin")
        roles = ["--quasi", "age", "--confidential", "town", "--k", "3", "--method", "mdav"]
        done = command("protect", "a.parquet", "-o", "postgresql:public.released", *roles)
        cursor.execute("DROP DATABASE latin")
    assert (done.status, "keeps text in LATIN1" in done.err) == (2, True)
    assert CANARY not in people.log.read_text()


def test_python_takes_the_same(people: Server, here: Path) -> None:
    release = discreet.protect(
        "postgresql:public.people", quasi=["age", "town"], confidential="diagnosis", identifier="name", k=4, steps=1
    )
    written = release.write("postgresql:public.released", files=here)
    assert bool(discreet.verify("postgresql:public.released", promise=written.files["record"]))
    with pytest.raises(discreet.InputError, match="no order that could be kept"):
        release.write("postgresql:public.again", order="kept")


def test_a_table_is_replaced_with_force_alone(people: Server, here: Path, command: Command) -> None:
    go = ["protect", "postgresql:public.people", "-o", "postgresql:public.released", *ROLES]
    people.sql(
        "DROP ROLE IF EXISTS reader, owner",
        "CREATE ROLE reader",
        "CREATE ROLE owner",
        "CREATE TABLE public.released(age int, other text)",
        "GRANT SELECT ON public.released TO PUBLIC",
        "GRANT SELECT, INSERT ON public.released TO reader WITH GRANT OPTION",
        "GRANT UPDATE (age, other) ON public.released TO reader",
        "ALTER TABLE public.released OWNER TO owner",
    )
    done = command(*go)
    assert (done.status, "exists already" in done.err) == (2, True)
    people.sql("CREATE VIEW public.seen AS SELECT age FROM public.released")
    done = command(*go, "--force")
    assert (done.status, "depend" in done.err) == (2, True)
    assert people.sql("SELECT count(*) FROM public.seen") == [(0,)]
    rights = "SELECT relacl::text, pg_get_userbyid(relowner)::text FROM pg_class WHERE relname = 'released'"
    before = people.sql("DROP VIEW public.seen", "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC", rights)
    done = command(*go, "--force")
    assert done.status == 0, done.err
    after = people.sql("ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC", rights)
    assert people.sql("SELECT count(*) FROM public.released") == [(60,)]
    for old, new in zip(before[0], after[0], strict=True):
        assert sorted(str(old).strip("{}").split(",")) == sorted(str(new).strip("{}").split(","))
    columns = "SELECT attacl::text FROM pg_attribute WHERE attrelid = 'public.released'::regclass AND attname = 'age'"
    assert people.sql(columns) == [("{reader=w/owner}",)]
    people.sql("ALTER TABLE public.released ENABLE ROW LEVEL SECURITY")
    done = command(*go, "--force")
    assert (done.status, "row security" in done.err) == (2, True)
    people.sql("DROP TABLE public.released", "CREATE VIEW public.released AS SELECT 1 AS a")
    done = command(*go, "--force")
    assert (done.status, "no plain table" in done.err) == (2, True)


Fault = Callable[[Server, Staging], None]


def kill(server: Server, staged: Staging) -> None:
    server.kill()


def cut(server: Server, staged: Staging) -> None:
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")


def damage(server: Server, staged: Staging) -> None:
    staged.session.run(
        f"UPDATE {staged.own.relation} SET town = 'other' WHERE age = (SELECT min(age) FROM {staged.own.relation})"
    )


def take_name(server: Server, staged: Staging) -> None:
    server.sql("CREATE TABLE public.released AS SELECT 'somebody else' AS a")


@pytest.mark.parametrize(
    ("before", "fault", "status", "words"),
    [
        ("commit", kill, 2, "whether it is there is not known"),
        ("commit", cut, 2, "the connection to the database was lost"),
        ("fill", cut, 2, "the connection to the database was lost"),
        ("read_back", cut, 2, "the connection to the database was lost"),
        ("read_back", damage, 1, "not the release that was meant"),
        ("settle", take_name, 2, "exists already"),
    ],
)
def test_nothing_is_left_of_a_release_that_failed(
    people: Server,
    here: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    before: str,
    fault: Fault,
    status: int,
    words: str,
) -> None:
    plain = getattr(StagingInPostgres, before)

    def broken(self: Staging, *given: Any) -> Any:
        fault(people, self)
        return plain(self, *given)

    monkeypatch.setattr(StagingInPostgres, before, broken)
    done = command("protect", "postgresql:public.people", "-o", "postgresql:public.released", *ROLES)
    if fault is kill:
        people.start()
    assert done.status == status, done.err
    assert words in done.err
    assert tables(people) == {"people"} | ({"released"} if fault is take_name else set())
    assert list(here.iterdir()) == []
    check_nothing_told(people, here)


def test_the_old_table_stays_when_its_replacement_fails(
    people: Server, here: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = ["protect", "postgresql:public.people", "-o", "postgresql:public.released", "--force", *ROLES]
    assert command(*go).status == 0
    files = {path: path.read_bytes() for path in here.iterdir()}
    rows = people.sql("SELECT * FROM public.released")

    def broken(self: Session) -> None:
        cut(people, StagingInPostgres(self, force=True))
        self.connection.commit()

    people.sql("DELETE FROM public.people WHERE age = 20")
    monkeypatch.setattr(Session, "commit", broken)
    done = command(*go)
    assert done.status != 0
    assert people.sql("SELECT * FROM public.released") == rows
    assert {path: path.read_bytes() for path in here.iterdir()} == files


def test_a_commit_whose_answer_was_lost_is_found_out(
    people: Server, here: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Session.commit

    def lost(self: Session) -> None:
        plain(self)
        people.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'")
        self.rows("SELECT 1")

    monkeypatch.setattr(Session, "commit", lost)
    done = command("protect", "postgresql:public.people", "-o", "postgresql:public.released", *ROLES)
    assert done.status == 0, done.err
    assert len(list(here.iterdir())) == 2


def test_what_a_database_cannot_hold_is_refused_before(people: Server, here: Path, command: Command) -> None:
    """The server's log would quote what it refuses."""
    text = [f"{CANARY}\0", *"ab" * 4]
    pl.DataFrame({"age": [1, 2, 3] * 3, "town": text}).write_parquet(here / "a.parquet")
    roles = ["--quasi", "age", "--confidential", "town", "--k", "3", "--method", "mdav"]
    done = command("protect", "a.parquet", "-o", "postgresql:public.released", *roles)
    assert (done.status, "zero byte" in done.err) == (2, True)
    done = command("protect", "a.parquet", "-o", "postgresql:nowhere.released", *roles)
    assert (done.status, "SQLSTATE 3F000" in done.err) == (2, True)
    done = command("protect", "a.parquet", "-o", "a.csv", "--row-map", "postgresql:public.map", *roles)
    assert (done.status, "name a file" in done.err) == (2, True)
    assert tables(people) == {"people"}
    assert CANARY not in people.log.read_text()


def test_verify_and_report_find_the_files_of_a_table(command: Command, lite: Path, here: Path) -> None:
    (here / "kept").mkdir()
    table = "sqlite:public.db#released"
    done = command("protect", "sqlite:base.db#people", "-o", table, *ROLES, "--files", "kept")
    assert done.status == 0, done.err
    assert command("verify", table).status == 2
    assert command("verify", table, "--files", "kept").status == 0
    done = command("report", table, "--files", "kept", "--original", "sqlite:base.db#people")
    assert done.status == 0, done.err
    pages = [here / "kept" / f"public.db.released.{kind}.html" for kind in ("report", "internal")]
    assert all(path.exists() for path in pages)
    with sqlite3.connect(here / "public.db") as connection:
        connection.execute("UPDATE released SET age = 1 WHERE rowid = 1")
    connection.close()
    assert command("verify", table, "--files", "kept").status == 1
    done = command("report", table, "--files", "kept", "--force")
    assert done.status == 2
    assert "its SHA-256 differs" in done.err
    done = command("verify", "base.db", "--files", "kept")
    assert "files are of a table of a database" in done.err


SMALL = ["--memory", "20KB", "--block-records", "200", "--workers", "1"]


def test_a_table_larger_than_memory_is_protected_in_parts(people: Server, here: Path, command: Command) -> None:
    people.sql("INSERT INTO public.people SELECT name, NULL, town, diagnosis FROM public.people, generate_series(1, 9)")
    people.log.write_text("")
    done = command("protect", "postgresql:public.people", "-o", "parts", *ROLES, *SMALL)
    assert done.status == 0, done.err
    assert "read as numbers of double precision: age (numeric)" in done.err
    released = pl.read_parquet(here / "parts" / "*.parquet")
    assert released.height == 600
    assert released.group_by("age", "town").len()["len"].min() >= 4  # type: ignore[operator]
    found = json.loads((here / "parts.evidence.json").read_text())["input"]
    assert (found["file"], found["format"], found["database"]["table"]) == (
        "public.people",
        "postgresql",
        "public.people",
    )
    assert command("verify", "parts").status == 0
    assert CANARY not in people.log.read_text() + done.err
    done = command("protect", "postgresql:public.people", "-o", "postgresql:public.out", *ROLES, *SMALL)
    assert done.status == 2
    assert "is released into a folder" in done.err


def test_tables_of_sqlite_with_gaps_are_read_in_batches(lite: Path, here: Path, command: Command) -> None:
    """Types are those of all rows, also where the first thousands lack a value."""
    with sqlite3.connect(lite) as connection:
        rows = [(f"m{i}", None if i < 5000 else 0.5 + i % 7, None if i < 5000 else "t1", "d") for i in range(6000)]
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", rows)
    connection.close()
    done = command("protect", "sqlite:base.db#people", "-o", "parts", *ROLES, *SMALL)
    assert done.status == 0, done.err
    released = pl.read_parquet(here / "parts" / "*.parquet")
    assert released.height == 6060
    assert released["town"].null_count() == released["age"].null_count() == 5000
    assert released["diagnosis"].sort().to_list() == sorted([f"d{i % 5}" for i in range(60)] + ["d"] * 6000)
