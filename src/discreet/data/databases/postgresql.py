"""Reading from PostgreSQL: one read-only, repeatable-read transaction; types are looked up and cast in the query."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.checks import check_names
from discreet.data.databases.address import Address, quote
from discreet.data.databases.rows import digest, sort_order, to_rows
from discreet.data.databases.session import Session
from discreet.data.files.source import Source
from discreet.errors import InputError

# The schema and the name of every table and view that this user may read.
TABLES = """
SELECT n.nspname::text, c.relname::text
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
ORDER BY 1, 2"""
# Types that arrive as they are.
_AS_THEY_ARE = {"bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar", "date", "timestamp"}
# Type → the cast, and what the column then is. Of those not named here the text is taken.
_CASTS = {
    "numeric": ("{}::float8", "numbers of double precision"),
    "money": ("{}::numeric::float8", "numbers of double precision"),
    "timestamptz": ("{} AT TIME ZONE 'UTC'", "times in UTC"),
    "oid": ("{}::int8", "whole numbers"),
}
_TEXT = ("{}::text", "text")
# Whether a number of any length is another one as a double of 15 digits. Nothing that a double cannot hold is cast, for
# the server's log would quote it.
_TOO_LONG = (
    "bool_or(CASE WHEN {0} = 0 THEN false WHEN abs({0}) BETWEEN 1e-300 AND 1e300 THEN {0}::float8::numeric <> {0} "
    "ELSE {0}::text NOT IN ('NaN', 'Infinity', '-Infinity') END)"
)
# A type by its base, through domains; the labels of an enumeration.
_KINDS = """
WITH RECURSIVE base AS (
  SELECT oid AS top, oid, typname, typtype, typbasetype FROM pg_catalog.pg_type WHERE oid IN ({})
  UNION ALL
  SELECT base.top, t.oid, t.typname, t.typtype, t.typbasetype
  FROM base JOIN pg_catalog.pg_type t ON base.typtype = 'd' AND t.oid = base.typbasetype)
SELECT top::int8, typname::text, typtype::text,
  (SELECT pg_catalog.array_agg(enumlabel::text ORDER BY enumsortorder)
   FROM pg_catalog.pg_enum WHERE enumtypid = base.oid)
FROM base WHERE typtype <> 'd'"""


@dataclass(frozen=True)
class Kind:
    """The type of a column: its name, and the labels of an enumeration."""

    name: str
    labels: tuple[str, ...] | None


# Never more than what the server allows already.
_LIMIT = """
SELECT pg_catalog.set_config('statement_timeout', least(nullif(setting::int8, 0), {:d})::text, true)
FROM pg_catalog.pg_settings WHERE name = 'statement_timeout'"""


@contextlib.contextmanager
def limiting(session: Session, address: Address, query: str | None, seconds: float) -> Iterator[tuple[Session, str]]:
    """A session that only reads one state of the database, and the relation; a view or a query has a limit of time."""
    session.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    settle(session, own=query is None)
    is_view = "SELECT relkind = 'v' FROM pg_catalog.pg_class WHERE oid = $1::text::regclass"
    # A table that was made meanwhile has no row in this state of the catalog.
    found = [] if query is not None else session.rows(is_view, address.relation)
    session.is_found = query is None
    if query is not None or found == [(True,)]:
        session.rows(_LIMIT.format(max(1, round(1000 * seconds))))
    yield session, address.relation if query is None else f"(\n{query}\n)"


def read(session: Session, address: Address, query: str | None, relation: str) -> Source:
    """Read a table or the result of a query."""
    notes: list[str] = []
    if query is None:
        [(hidden,)] = session.rows("SELECT row_security_active($1::text::regclass)", address.relation)
        if hidden:
            notes.append(f"{session.called}: row security is active; the rows that this user may see are all there are")
    else:
        notes.append(f"{session.called}: rows are in the order of the query; without ORDER BY it can change")
    frame, cast, categories = fetch(session, relation)
    if query is None:
        frame = frame[sort_order(frame)]  # a table has no order of its own
    if not frame.height:
        raise InputError(
            f"{session.called} has no rows in the state of the database in which the reading began; there is nothing "
            "to protect, or another session has made the table anew meanwhile: try again then"
        )
    return Source(
        frame,
        Path(address.stem if query is None else session.called),
        "postgresql",
        notes=(*notes, *cast),
        categories=categories,
        called=session.called,
        database=describe(session),
        digest=digest(frame),
    )


def settle(session: Session, *, own: bool) -> None:
    """Settings of the transaction: no notices on the terminal; and of our own queries one meaning everywhere."""
    session.run("SET LOCAL client_min_messages = error")
    if own:
        session.run("SET LOCAL search_path = pg_catalog")
        session.run("SET LOCAL TimeZone = 'UTC'")
        session.run("SET LOCAL DateStyle = 'ISO'")
        session.run("SET LOCAL IntervalStyle = 'iso_8601'")
        session.run("SET LOCAL standard_conforming_strings = on")


def fetch(session: Session, relation: str) -> tuple[pl.DataFrame, list[str], tuple[tuple[str, bool, list[Any]], ...]]:
    """The rows of a relation, what was cast, and the columns that are categories."""
    columns, notes, categories = settle_columns(session, relation)
    table = session.table(f"SELECT {', '.join(columns)} FROM {relation} AS relation")
    return to_rows(table, session.called), notes, categories


def stream(session: Session, relation: str, *, own: bool) -> tuple[Iterator[pl.DataFrame], list[str]]:
    """The rows of a relation batch by batch, of a table in the order of all columns; and what was cast."""
    columns, notes, _ = settle_columns(session, relation)
    order = f" ORDER BY {', '.join(str(place) for place in range(1, len(columns) + 1))}" if own else ""
    batches = session.batches(f"SELECT {', '.join(columns)} FROM {relation} AS relation{order}")
    return (to_rows(batch, session.called) for batch in batches), notes


def settle_columns(
    session: Session, relation: str
) -> tuple[list[str], list[str], tuple[tuple[str, bool, list[Any]], ...]]:
    """The columns of a relation as they are asked for, what is cast, and the columns that are categories."""
    names = session.names(f"SELECT * FROM {relation} AS relation")
    check_names(Path(session.called), names)
    kinds = _find_kinds(session, relation, names)
    numbers = [name for name in names if kinds[name].name == "numeric"]
    asked = ", ".join(_TOO_LONG.format(quote(name)) for name in numbers)
    long = session.rows(f"SELECT {asked} FROM {relation} AS relation")[0] if numbers else ()
    too_long = {name for name, one in zip(numbers, long, strict=True) if one}
    columns: list[str] = []
    cast: dict[str, list[str]] = {}
    for name in names:
        kind = kinds[name].name
        how, what = _TEXT if name in too_long else _CASTS.get(kind, _TEXT)
        if kind in _AS_THEY_ARE:
            columns.append(quote(name))
            continue
        columns.append(f"{how.format(quote(name))} AS {quote(name)}")
        why = "numeric of more than 15 digits" if name in too_long else kind
        cast.setdefault(what, []).append(f"{name} ({why})")
    notes = [f"{session.called}: read as {what}: {', '.join(each)}" for what, each in cast.items()]
    categories = tuple((name, False, list(kinds[name].labels or ())) for name in names if kinds[name].labels)
    return columns, notes, categories


def _find_kinds(session: Session, relation: str, names: list[str]) -> dict[str, Kind]:
    # A row of nothing has the types of the columns, and costs nothing to make.
    each = ", ".join(f"pg_catalog.pg_typeof(r.{quote(name)})::oid::int8" for name in names)
    [oids] = session.rows(
        f"SELECT {each} FROM (SELECT 1) AS one LEFT JOIN (SELECT * FROM {relation} AS q LIMIT 0) AS r ON true"
    )
    found = session.rows(_KINDS.format(", ".join(str(int(oid)) for oid in set(oids))))
    kinds = {top: Kind(name, tuple(labels) if kind == "e" and labels else None) for top, name, kind, labels in found}
    return {name: kinds[oid] for name, oid in zip(names, oids, strict=True)}


def describe(session: Session) -> dict[str, Any]:
    """Where the data is, for the evidence: host, database, table and server version; never a user."""
    [(host, database, version)] = session.rows(
        "SELECT coalesce(pg_catalog.host(pg_catalog.inet_server_addr()), 'local socket'), "
        "pg_catalog.current_database()::text, pg_catalog.current_setting('server_version')"
    )
    table = session.address.name if session.address.table else session.called
    return {"host": host, "database": database, "table": table, "server": f"PostgreSQL {version.split()[0]}"}
