"""A connection by ADBC, and what goes wrong with it: in our words and the SQLSTATE, for a database's quote values."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote as escape

import pyarrow as pa

from discreet.data.checks import check_readable
from discreet.data.databases.address import Address
from discreet.errors import DiscreetError, InputError

# By the SQLSTATE, or the first two signs of it; see PostgreSQL's list of error codes.
_WORDS = {
    "08": "the connection to the database was lost; nothing was done. Try again",
    "22": "a value is outside what its type or a conversion in the query allows; correct it in the database",
    "23": "the database refused a row by a constraint",
    "25006": "the database lets this session only read; a query may change nothing",
    "28": "the database refused the login; libpq takes it from a service, a password file or the environment",
    "3D": "there is no such database; set PGDATABASE or name a service",
    "3F": "there is no such schema",
    "40": "another session changed what was worked on; try again",
    "42P01": "there is no such table; name it as it stands in the database, as SCHEMA.TABLE",
    "42P07": "there is a table of this name by now; choose another, or replace it with --force (force=True)",
    "42501": "the database does not permit it to this user; ask for the right",
    "42": "the database cannot make sense of the query; try it with the database's own program",
    "53100": "the disk of the database is full",
    "53": "the database has run out of memory, room or connections; try again later",
    "55P03": "another session uses the table; try again later",
    "55006": "another session uses the table; try again later",
    "57014": "the query was cancelled, or took longer than it may; query_time (--query-time) says how long that is",
    "57": "the database was shut down or ended the connection; nothing was done. Try again",
    "2BP01": "others depend on the table, so it is not replaced; drop them first, or choose another name",
}
_INSIDE = (
    "it is there, but what it is made of names a table or a function that is not found: tables are read with an empty "
    "search path, so that nobody can slip in another; name it in the view or its functions as SCHEMA.NAME, or read the "
    "view by --query"
)
_LOST = (
    "the database cannot be reached, or the connection was lost; is it running, and do the service or PGHOST, PGPORT "
    "and PGDATABASE name it?"
)


class DatabaseError(DiscreetError):
    """A database could not do what was asked of it; nothing was changed there."""

    exit_status = 2
    code = "database"


class Session:
    """A transaction of a database.

    Parameters
    ----------
    connection : ADBC connection
        Its own; a transaction begins with the first statement.
    address : Address
        Where it goes.
    called : str
        What to call what is read or written, in messages.
    """

    def __init__(self, connection: Any, address: Address, called: str) -> None:
        self.address = address
        self.called = called
        self.connection = connection
        # Whether the table or the view that is read is known to be there.
        self.is_found = False

    def run(self, statement: str, *parameters: Any) -> None:
        """Run a statement that gives no rows, or none that matter."""
        self.rows(statement, *parameters)

    def rows(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The few rows of a query."""
        with translating(self), self.connection.cursor() as cursor:
            cursor.execute(statement, parameters or None)
            return list(cursor.fetchall()) if cursor.description else []

    def names(self, query: str) -> list[str]:
        """The columns that a query gives."""
        with translating(self), self.connection.cursor() as cursor:
            cursor.execute(f"{query} LIMIT 0")
            return list(cursor.fetch_arrow_table().column_names)

    def table(self, query: str, **options: Any) -> Any:
        """All rows of a query as an Arrow table, batch by batch."""
        with translating(self), self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**options)
            cursor.execute(query)
            table = cursor.fetch_arrow_table()
        try:
            table.validate(full=True)
        except pa.ArrowException:
            raise InputError(f"{self.called}: a text in it is not valid UTF-8; correct it in the database") from None
        return table

    def batches(self, query: str, **options: Any) -> Iterator[Any]:
        """The rows of a query as Arrow tables, one after the other."""
        with translating(self), self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**options)
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield pa.Table.from_batches([batch])

    def fill(self, table: str, rows: Any, schema: str) -> None:
        """Put the rows of an Arrow table into one of the database; no value stands in a statement."""
        with translating(self), self.connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", **({"db_schema_name": schema} if schema else {}))

    def commit(self) -> None:
        """End the transaction for good."""
        with translating(self):
            self.connection.commit()


@contextlib.contextmanager
def connect(address: Address, connection: Any = None, *, called: str, writing: bool = False) -> Iterator[Session]:
    """A session of its own that is rolled back at the end, unless it was committed.

    Parameters
    ----------
    address : Address
        Where to; libpq finds host, database and user in its own ways.
    connection : ADBC connection, optional
        A connection whose database is used.
    called : str
        What to call what is read or written, in messages.
    writing : bool
        Whether the database may be changed.
    """
    driver = _driver(address.system)
    if connection is None and address.file is not None and not writing:
        check_readable(address.file)
    with contextlib.ExitStack() as stack:
        with translating(None, called):
            if connection is None:
                own = driver.connect(_uri(address, "rw" if writing else "ro"))
            elif hasattr(connection, "adbc_clone"):
                own = connection.adbc_clone()
                own.adbc_connection.set_autocommit(False)
            else:
                raise InputError("connection must be an ADBC connection, as adbc_driver_postgresql.dbapi makes it")
        stack.callback(_close, own)
        yield Session(own, address, called)


def _driver(system: str) -> Any:
    try:
        return import_module(f"adbc_driver_{system}.dbapi")
    except ImportError:
        raise InputError(f"a database ({system}:) needs the 'db' extra: pip install 'discreet[db]'") from None


def uri(file: Path, mode: str) -> str:
    """A file of SQLite as its library opens it: ro, rw or rwc."""
    return f"file:{escape(file.resolve().as_posix())}?mode={mode}"


def _uri(address: Address, mode: str) -> str:
    if address.file is not None:
        return uri(address.file, mode)
    service = f"&service={escape(address.service, safe='')}" if address.service else ""
    return f"postgresql://?fallback_application_name=discreet{service}"


def _close(connection: Any) -> None:
    """Close a connection, which rolls back what was not committed, also where it is lost already."""
    with contextlib.suppress(Exception):
        connection.rollback()
    with contextlib.suppress(Exception):
        connection.close()


@contextlib.contextmanager
def translating(session: Session | None, called: str = "") -> Iterator[None]:
    """Turn an error of a driver or a database into our own words and its SQLSTATE."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception as error:
        if not _is_of_database(error):
            raise
        name = called if session is None else session.called
        raise DatabaseError(f"{name}: {_describe(error, session)}") from None


def _is_of_database(error: Exception) -> bool:
    return isinstance(error, import_module("adbc_driver_manager").Error | OSError | pa.ArrowException)


def describe_sqlite(error: Exception) -> str:
    """What went wrong with SQLite, whichever library asked it."""
    said = str(error)
    if "no such table" in said:
        return "there is no such table in the file"
    if "locked" in said:
        return "another program has locked the file; try again later"
    return "SQLite cannot read or write it; is it a database of SQLite, and the query right?"


def _describe(error: Exception, session: Session | None) -> str:
    state = getattr(error, "sqlstate", None)
    if isinstance(state, str) and state.strip("\0 "):
        if session is not None and session.is_found and state in ("42P01", "42883"):
            return f"{_INSIDE} (SQLSTATE {state})"
        words = _WORDS.get(state) or _WORDS.get(state[:2]) or "the database refused it"
        return f"{words} (SQLSTATE {state})"
    if session is not None and session.address.system == "sqlite":
        return describe_sqlite(error)
    if session is None:
        return _LOST
    return _WORDS["08"]
