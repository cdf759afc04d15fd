"""Tables of databases are read as they are, in one transaction, whatever their names, types and owners."""

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import discreet
from canary import CANARY
from discreet.data.databases import copy, list_tables, postgresql, sqlite
from discreet.data.databases.address import Address, names_table, parse, quote
from discreet.data.databases.query import read_query
from discreet.data.databases.rows import digest, sort_order, to_storable
from discreet.data.databases.session import DatabaseError, Session
from discreet.data.databases.staging import stage
from discreet.data.files import applies, format_of, read
from discreet.errors import InputError
from discreet.release.atomic import WriteError
from postgres import Server

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@given(NAMES, NAMES)
def test_any_name_comes_back_from_its_quotes(schema: str, table: str) -> None:
    found = parse(f"postgresql:svc/{quote(schema)}.{quote(table)}")
    assert (found.service, found.schema, found.table) == ("svc", schema, table)
    assert os.sep not in found.stem
    assert found.stem not in (".", "..")


def test_addresses() -> None:
    assert parse("postgresql:public.survey") == Address("postgresql", schema="public", table="survey")
    assert parse(Path("postgresql:office/public.survey")).service == "office"
    assert parse("postgresql:", query=True) == Address("postgresql")
    assert parse("postgresql:office", query=True).service == "office"
    assert parse("sqlite:a#b/c.db#t") == Address("sqlite", table="t", file=Path("a#b/c.db"))
    assert format_of("sqlite:c.db#t") == "sqlite"
    assert names_table("postgresql:public.t")
    assert applies("query", "postgresql:office")
    assert not applies("query", "sqlite:c.db#t")
    assert not applies("delimiter", "postgresql:public.t")


@pytest.mark.parametrize(
    "typed",
    [
        f"postgresql://ann:{CANARY}@host/db",
        f"postgresql:ann:{CANARY}@public.t",
        f"postgresql:password={CANARY}/public.t",
        f"postgresql:public.t?password={CANARY}",
        f"postgresql:{CANARY}",
        f'postgresql:public."{CANARY}',
        f"sqlite:{CANARY}",
        "sqlite:#t",
    ],
)
def test_logins_and_nonsense_are_refused_without_a_word_of_them(typed: str) -> None:
    for source in (typed, Path(typed)):
        with pytest.raises(InputError) as caught:
            read(source)
        assert CANARY not in str(caught.value)


def test_a_table_and_a_query_exclude_each_other(tmp_path: Path) -> None:
    query = tmp_path / "q.sql"
    query.write_text("SELECT 1 AS a;")
    with pytest.raises(InputError, match="query does not apply"):
        read("postgresql:public.t", query=query)
    with pytest.raises(InputError, match="sheet does not apply"):
        read("postgresql:public.t", sheet="a")


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(InputError, match=r"pip install 'discreet\[db\]'"):
        read(f"sqlite:{tmp_path}/a.db#t")


def lite(path: Path, *statements: str) -> Path:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path


def test_sqlite_values_of_several_types(tmp_path: Path) -> None:
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
    path = lite(
        tmp_path / "my #1 base.db",
        'CREATE TABLE "odd "" name"(a, b, c, d, e, f)',
        # What a column holds shows in its last record only.
        f'INSERT INTO "odd "" name" {many} SELECT i, i, i, NULL, \'é\', NULL FROM n',
        "INSERT INTO \"odd \"\" name\" VALUES (9, 1.5, 'x', NULL, NULL, x'00ff')",
    )
    source = read(f'sqlite:{path}#odd " name')
    assert source.frame.drop("d", "f").dtypes == [pl.Int64, pl.Float64, pl.String, pl.String]
    assert source.frame["f"].drop_nulls().to_list() == ["00FF"]
    assert source.frame.height == 3001
    assert [note.partition("read as ")[2] for note in source.notes] == [
        "numbers: b (integer, real)",
        "text: c (integer, text)",
        "text: f (blob)",
    ]
    assert source.frame["a"].is_sorted()
    assert source.database is not None
    assert source.database["table"] == 'odd " name'


def test_sqlite_queries_keep_their_order(tmp_path: Path) -> None:
    path = lite(tmp_path / "a.db", "CREATE TABLE t(a, b)", "INSERT INTO t VALUES (1, 'x'), (3, 'y'), (2, NULL)")
    (tmp_path / "q.sql").write_text("SELECT a, b FROM t ORDER BY a DESC -- the largest first\n;\n")
    source = read(f"sqlite:{path}", query=tmp_path / "q.sql")
    assert source.frame["a"].to_list() == [3, 2, 1]
    assert source.name == "q.sql"
    assert any("order of the query" in note for note in source.notes)


def test_sqlite_is_only_read(tmp_path: Path) -> None:
    path = lite(tmp_path / "a.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1)")
    (tmp_path / "q.sql").write_text("DELETE FROM t RETURNING a")
    with pytest.raises(DatabaseError):
        read(f"sqlite:{path}", query=tmp_path / "q.sql")
    assert read(f"sqlite:{path}#t").frame.height == 1
    with pytest.raises(DatabaseError, match="no such table"):
        read(f"sqlite:{path}#u")
    (tmp_path / "b.db").write_text("this is no database at all, it is a text")
    with pytest.raises(DatabaseError):
        read(f"sqlite:{tmp_path}/b.db#t")


VALUES = {
    "a": st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    "b": st.one_of(st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    "c": st.one_of(st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"))),
    "d": st.one_of(st.none(), st.dates()),
    "e": st.one_of(st.none(), st.booleans()),
}
ROWS = st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=20)
SCHEMA = {"a": pl.Int64, "b": pl.Float64, "c": pl.String, "d": pl.Date, "e": pl.Boolean}


def put(typed: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Write rows as a release would; what the database should give back."""
    address = parse(typed)
    plain = to_storable(frame, address.system)
    plain = plain[sort_order(plain)]
    with stage(address, force=True) as staged:
        staged.fill(plain)
        assert staged.read_back().equals(plain)
        assert staged.count() == frame.height
        few = plain.group_by("c").len().filter(pl.col("len") < 2).height
        assert staged.count_rare(["c"], 2) == few
        staged.settle("it's a comment")
        staged.commit()
    return plain


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@example([{**dict.fromkeys(VALUES), "b": zero} for zero in (-0.0, 0.0, None)])
@given(ROWS)
def test_rows_come_back_from_sqlite(tmp_path: Path, rows: list[Any]) -> None:
    meant = put(f"sqlite:{tmp_path}/a.db#t", pl.DataFrame(rows, schema=SCHEMA))
    back = read(f"sqlite:{tmp_path}/a.db#t")
    assert back.digest == digest(meant)
    assert digest(back.frame) == digest(meant)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=8)
@given(ROWS)
def test_rows_come_back_from_postgresql_in_whatever_order_they_lie(server: Server, rows: list[Any]) -> None:
    meant = put("postgresql:public.t", pl.DataFrame(rows, schema=SCHEMA))
    server.sql("DROP TABLE IF EXISTS public.u", "CREATE TABLE public.u AS SELECT * FROM public.t ORDER BY random()")
    for name in ("t", "u"):
        back = read(f"postgresql:public.{name}")
        assert back.frame.equals(meant)
        assert back.digest == digest(meant)


def test_the_digest_is_of_a_csv_that_stays_the_same() -> None:
    """It stands in records: what it is taken from may never change, whatever writes the text."""
    frame = pl.DataFrame(
        {
            "a": [1, None],
            "b": [0.1 + 0.2, 1e-7],
            "c": ['a"b', ""],
            "d": [None, date(2020, 2, 29)],
            "e": [True, None],
            "f": [datetime(2020, 1, 1, 12), None],
        }
    )
    text = (
        '"a","b","c","d","e","f"\n'
        '1,0.30000000000000004,"a""b",,"true","2020-01-01T12:00:00.000000"\n'
        ',1e-7,"","2020-02-29",,\n'
    )
    assert digest(frame) == hashlib.sha256(text.encode()).hexdigest()


TYPES = {
    "whole": ("int4", "7", 7),
    "real": ("float4", "0.5", 0.5),
    "price": ("numeric(10,2)", "12.34", 12.34),
    "nothing": ("numeric", "'NaN'", None),
    "account": ("numeric", "12345678901234567890", "12345678901234567890"),
    "tiny": ("numeric", "1e-400", "0." + "0" * 399 + "1"),
    "fee": ("money", "'2.50'", 2.5),
    "mood": ("mood", "'sad'", "sad"),
    "small": ("small", "3", 3.0),
    "host": ("inet", "'10.0.0.1'", "10.0.0.1/32"),
    "key": ("uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "code": ("char(5)", "'ab'", "ab"),
    "at": ("timestamptz", "'2020-01-01 12:00+02'", datetime(2020, 1, 1, 10)),
    "seen": ("timestamp", "'2020-01-01 12:00'", datetime(2020, 1, 1, 12)),
    "born": ("date", "'1950-05-01'", date(1950, 5, 1)),
    "hour": ("time", "'12:30'", "12:30:00"),
    "span": ("interval", "'1 day'", "P1D"),
    "tags": ("text[]", "'{a,b}'", "{a,b}"),
    "more": ("jsonb", "'{\"a\": 1}'", '{"a": 1}'),
    "bytes": ("bytea", "'\\x00ff'", "\\x00ff"),
    "range": ("int4range", "'[1,3)'", "[1,3)"),
    "yes": ("bool", "true", True),
    'q" x': ("text", "'é'", "é"),
}


def test_types_of_postgresql(server: Server) -> None:
    columns = ", ".join(f"{quote(name)} {kind}" for name, (kind, _, _) in TYPES.items())
    server.sql(
        "CREATE TYPE public.mood AS ENUM ('sad', 'happy')",
        "CREATE DOMAIN public.small AS numeric CHECK (value < 10)",
        "SET search_path = public",
        f"CREATE TABLE t({columns})",
        f"INSERT INTO t VALUES ({', '.join(value for _, value, _ in TYPES.values())})",
    )
    source = read("postgresql:public.t")
    found = source.frame.row(0, named=True)
    assert found == {name: value for name, (_, _, value) in TYPES.items()}
    said = " ".join(source.notes)
    kept = {"whole", "real", "seen", "born", "yes", 'q" x'}
    assert {name for name in TYPES if f"{name} (" in said} == set(TYPES) - kept
    assert source.categories == (("mood", False, ["sad", "happy"]),)
    # The server's log would quote what it could not cast.
    assert "ERROR" not in server.log.read_text()[-20_000:].rpartition("CREATE DOMAIN")[2]


def test_dates_without_end_are_refused(server: Server) -> None:
    server.sql("CREATE TABLE public.t AS SELECT 'infinity'::date AS a, '-infinity'::timestamp AS b")
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        discreet.inspect("postgresql:public.t")


def test_a_hostile_name_is_only_a_name(server: Server, tmp_path: Path) -> None:
    name = 't"; DROP TABLE public.kept; --'
    server.sql(
        "CREATE TABLE public.kept AS SELECT 1 AS a",
        f"CREATE TABLE public.{quote(name)} AS SELECT 2 AS {quote('a;b')}",
    )
    assert read(f"postgresql:public.{quote(name)}").frame.to_dict(as_series=False) == {"a;b": [2]}
    put(f"postgresql:public.{quote(name)}", pl.DataFrame({"c": ["x", "y"], "'; DROP TABLE public.kept; --": [1, 2]}))
    assert server.sql("SELECT count(*) FROM public.kept") == [(1,)]
    (tmp_path / "q.sql").write_text("DROP TABLE public.kept")
    with pytest.raises(DatabaseError, match="SQLSTATE 42601"):
        read("postgresql:", query=tmp_path / "q.sql")
    (tmp_path / "q.sql").write_text("SELECT nextval('public.n') AS a")
    server.sql("CREATE SEQUENCE public.n")
    with pytest.raises(DatabaseError, match="SQLSTATE 25006"):
        read("postgresql:", query=tmp_path / "q.sql")


def test_a_table_that_changes_is_read_as_it_was(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sql("CREATE TABLE public.t AS SELECT i AS a, i::numeric AS b FROM generate_series(1, 50) AS i")
    untouched = read("postgresql:public.t")
    plain = Session.table

    def disturbed(self: Session, query: str, **options: Any) -> Any:
        server.sql(
            "DELETE FROM public.t WHERE a < 20",
            "INSERT INTO public.t VALUES (99, 12345678901234567890)",
            "UPDATE public.t SET a = a + 1000",
        )
        return plain(self, query, **options)

    monkeypatch.setattr(Session, "table", disturbed)
    assert read("postgresql:public.t").digest == untouched.digest
    assert server.sql("SELECT count(*) FROM public.t") == [(32,)]


def test_a_connection_that_is_lost_while_reading(server: Server, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text(
        f"SELECT i AS a, '{CANARY}' || pg_sleep(0.002) AS b FROM generate_series(1, 5000) i"
    )
    end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'discreet' "
    done = threading.Event()

    def cut() -> None:
        while not done.is_set() and server.sql(end + "AND state = 'active' AND query LIKE 'COPY%5000%'") == [(0,)]:
            done.wait(0.05)

    cutting = threading.Thread(target=cut)
    cutting.start()
    try:
        with pytest.raises(DatabaseError) as caught:
            read("postgresql:", query=tmp_path / "q.sql")
    finally:
        done.set()
        cutting.join()
    assert "SQLSTATE 57P01" in str(caught.value) or "lost" in str(caught.value)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "state"),
    [
        ("SELECT ('x' || a)::int FROM public.t", "22P02"),
        ("SELECT 1 / (length(a) - 10) AS a FROM public.t", "22012"),
        ("SELECT nothing FROM public.t", "42703"),
        ("SELECT a FROM public.u", "42P01"),
    ],
)
def test_no_text_of_the_database_is_passed_on(server: Server, tmp_path: Path, query: str, state: str) -> None:
    server.sql(f"CREATE TABLE public.t AS SELECT '{CANARY}'::text || '' AS a")
    (tmp_path / "q.sql").write_text(query)
    with pytest.raises(DatabaseError) as caught:
        read("postgresql:", query=tmp_path / "q.sql")
    assert f"(SQLSTATE {state})" in str(caught.value)
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_server_that_is_not_there(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="cannot be reached"):
        read("postgresql:nowhere/public.t")
    monkeypatch.setenv("PGHOST", str(tmp_path))
    with pytest.raises(DatabaseError, match="cannot be reached"):
        read("postgresql:public.t")


def test_services_and_connections(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sql("CREATE TABLE public.t AS SELECT 1 AS a")
    (tmp_path / "services").write_text(f"[office]\nhost={server.folder}\nuser=postgres\ndbname=postgres\n")
    for name in ("PGHOST", "PGUSER", "PGDATABASE"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    assert read("postgresql:office/public.t").frame.height == 1
    with adbc_driver_postgresql.dbapi.connect("postgresql://?service=office") as connection:
        with connection.cursor() as cursor:
            cursor.execute("CREATE TABLE public.mine AS SELECT 1 AS a")
        assert read("postgresql:public.t", connection=connection).frame.height == 1
        # It has a transaction of its own, and the other one is left alone.
        with pytest.raises(DatabaseError, match="42P01"):
            read("postgresql:public.mine", connection=connection)
        connection.commit()
        assert read("postgresql:public.mine", connection=connection).frame.height == 1
    with pytest.raises(InputError, match="ADBC connection"):
        read("postgresql:public.t", connection=7)


def test_rows_that_a_user_may_not_see(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sql(
        "DROP ROLE IF EXISTS clerk",
        "CREATE ROLE clerk LOGIN",
        "CREATE TABLE public.t AS SELECT i AS a FROM generate_series(1, 9) AS i",
        "ALTER TABLE public.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY part ON public.t USING (a < 4)",
        "GRANT USAGE ON SCHEMA public TO clerk",
        "GRANT SELECT ON public.t TO clerk",
        "CREATE TABLE public.u AS SELECT 1 AS a",
    )
    monkeypatch.setenv("PGUSER", "clerk")
    source = read("postgresql:public.t")
    assert source.frame.height == 3
    assert "row security" in " ".join(source.notes)
    with pytest.raises(DatabaseError, match="42501"):
        read("postgresql:public.u")
    with pytest.raises(DatabaseError, match="may not make tables"), stage(parse("postgresql:public.v")):
        pass


@given(NAMES, NAMES)
def test_an_address_is_typed_as_it_is_read(schema: str, table: str) -> None:
    address = Address("postgresql", "office", schema, table)
    assert parse(address.typed) == address


def test_tables_are_listed(server: Server, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute('CREATE TABLE "b c" (x)')
        database.execute("CREATE VIEW a AS SELECT 1 AS x")
    database.close()
    assert [one.table for one in list_tables(f"sqlite:{tmp_path / 'a.db'}")] == ["a", "b c"]
    server.sql('CREATE TABLE public."2026.people" (x int)', "CREATE VIEW public.seen AS SELECT 1 AS x")
    assert [one.typed for one in list_tables("postgresql:")] == [
        'postgresql:public."2026.people"',
        "postgresql:public.seen",
    ]


BOMB = "CREATE VIEW bomb AS WITH RECURSIVE r(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM r) SELECT a, a % 3 AS b FROM r"


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """An SQLite file with a view that has no end, and one that has."""
    path = tmp_path / "endless.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(BOMB)
        database.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2.5, NULL UNION ALL SELECT 'z', 7")
        database.execute("CREATE VIEW v AS SELECT * FROM t")
    return path


@pytest.mark.parametrize("aim", ["aggregate", "rows", "copy", "query"])
def test_a_view_without_end_is_given_up(endless: Path, tmp_path: Path, aim: str) -> None:
    (tmp_path / "q.sql").write_text("SELECT count(*) AS a FROM bomb")
    before = set(Path(tempfile.gettempdir()).glob("discreet-*"))
    view = f"sqlite:{endless}#{'BOMB' if aim == 'rows' else 'bomb'}"
    ways: dict[str, Callable[[], object]] = {
        "copy": lambda: copy(view, tmp_path, 100, query_time=0.2),
        "query": lambda: read(f"sqlite:{endless}", query=tmp_path / "q.sql", query_time=0.2),
    }
    with pytest.raises(DatabaseError, match=r"longer than 0\.2 seconds; does it end\? query_time"):
        ways.get(aim, lambda: read(view, query_time=0.2))()
    assert set(Path(tempfile.gettempdir()).glob("discreet-*")) <= before


def test_a_view_that_ends_is_read_as_its_table_is(endless: Path, tmp_path: Path) -> None:
    table, view = read(f"sqlite:{endless}#t"), read(f"sqlite:{endless}#v")
    assert view.frame.equals(table.frame)
    assert view.digest == table.digest
    assert view.database is not None
    assert view.database["table"] == "v"
    folder = tmp_path / "parts"
    folder.mkdir()
    copy(f"sqlite:{endless}#v", folder, 100)
    assert pl.read_parquet(folder).height == 3


def test_a_view_that_fills_the_disk_is_given_up(endless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "MOST_BYTES", 100_000)
    with pytest.raises(DatabaseError, match="gives more than"):
        read(f"sqlite:{endless}#bomb")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_heard_while_a_view_has_no_end(endless: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "discreet", "inspect", f"sqlite:{endless}#bomb"]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    room = Path(tempfile.gettempdir())
    while started.poll() is None and not any((one / "rows.db").exists() for one in room.glob("discreet-*")):
        time.sleep(0.05)
    started.send_signal(number)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "interrupted; nothing was written" in said


@pytest.mark.parametrize("seconds", [0, -1, True, "5", float("nan"), 1e9])
def test_a_limit_that_is_none_is_refused(endless: Path, seconds: Any) -> None:
    with pytest.raises(InputError, match="query_time must be"):
        read(f"sqlite:{endless}#t", query_time=seconds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT * FROM t) ; DELETE FROM n; --", "more than one statement"),
        ("SELECT * FROM t; SELECT 2", "more than one statement"),
        ("SELECT * FROM t) AS q, (SELECT 2", "brackets"),
        ("SELECT (1", "brackets"),
        (" ; -- nothing", "no query"),
        ("/* nothing */", "no query"),
    ],
)
def test_more_than_one_statement_is_refused(endless: Path, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "q.sql").write_text(text)
    for source in (f"sqlite:{endless}", "postgresql:"):
        with pytest.raises(InputError, match=words):
            read(source, query=tmp_path / "q.sql")


def test_semicolons_and_brackets_in_texts_and_comments_are_no_statements(endless: Path, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT ';)' AS \"a;)\", 'it''s;' AS b /* ;) */ FROM (SELECT 1); -- the end; )\n")
    assert read(f"sqlite:{endless}", query=tmp_path / "q.sql").frame.rows() == [(";)", "it's;")]


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("postgresql", r"SELECT E'\';)' AS a, $$;)$$ AS b, $x$;$$)$x$ AS c"),
        ("sqlite", "SELECT 1 AS [a;)], 2 AS `b;)`"),
    ],
)
def test_each_system_quotes_in_its_own_ways(tmp_path: Path, system: str, text: str) -> None:
    (tmp_path / "q.sql").write_text(f"{text};")
    assert read_query(tmp_path / "q.sql", system) == text


def test_a_name_with_the_sign_of_a_table_is_listed_and_read(tmp_path: Path) -> None:
    name = "../../x#y?z"
    with closing(sqlite3.connect(tmp_path / "odd.db")) as database, database:
        database.execute(f"CREATE TABLE {quote(name)} AS SELECT 1 AS a")
    [found] = list_tables(f"sqlite:{tmp_path / 'odd.db'}")
    assert found.table == name
    assert read(found.typed).frame.rows() == [(1,)]


def test_a_text_with_a_zero_byte_is_refused_by_its_column(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1] * 6, "b": ["z"] * 5 + ["x\0y"]})
    release = discreet.protect(frame, k=3, quasi=["a"], confidential=["b"], steps=1)
    with pytest.raises(WriteError, match=r"zero bytes \(column b\)"):
        release.write(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_view_of_a_server_has_a_limit_too(server: Server) -> None:
    server.sql("CREATE VIEW public.bomb AS SELECT 1 AS a FROM pg_sleep(1000)")
    server.sql("CREATE TABLE public.t AS SELECT 1 AS a")
    with pytest.raises(DatabaseError, match="query_time"):
        read("postgresql:public.bomb", query_time=0.2)
    assert read("postgresql:public.t", query_time=0.001).frame.height == 1


def test_a_server_that_allows_less_time_keeps_its_limit(server: Server) -> None:
    server.sql("ALTER ROLE postgres SET statement_timeout = 200")
    server.sql("CREATE VIEW public.bomb AS SELECT 1 AS a FROM pg_sleep(1000)")
    try:
        with pytest.raises(DatabaseError, match="57014"):
            read("postgresql:public.bomb")
    finally:
        server.sql("ALTER ROLE postgres RESET statement_timeout")


def test_what_a_view_lacks_is_told_from_the_view_itself(server: Server) -> None:
    server.sql(
        "CREATE TABLE public.kept AS SELECT 1 AS a",
        "CREATE FUNCTION public.f() RETURNS bigint LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN (SELECT count(*) FROM kept); END $$",
        "CREATE VIEW public.vv AS SELECT public.f() AS a",
    )
    with pytest.raises(DatabaseError, match="it is there, but what it is made of names a table"):
        read("postgresql:public.vv")
    with pytest.raises(DatabaseError, match="there is no such table"):
        read("postgresql:public.none")


def test_a_table_that_is_made_anew_meanwhile_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.sql("CREATE TABLE public.t AS SELECT 1 AS a")
    plain = postgresql.settle

    def remade(session: Session, *, own: bool) -> None:
        plain(session, own=own)
        session.rows("SELECT count(*) FROM pg_catalog.pg_class")  # now it has a state of the database
        server.sql("DROP TABLE public.t")
        server.sql("CREATE TABLE public.t AS SELECT 2 AS a")

    monkeypatch.setattr(postgresql, "settle", remade)
    with pytest.raises(InputError, match="another session has made the table anew"):
        read("postgresql:public.t")
