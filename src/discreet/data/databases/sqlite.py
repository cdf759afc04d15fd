"""Reading from SQLite, where each value has its own type: what a column holds is looked up and cast in the query."""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.checks import check_names, check_rows
from discreet.data.databases.address import Address, quote
from discreet.data.databases.rows import digest, sort_order, to_rows
from discreet.data.databases.session import DatabaseError, Session, connect, describe_sqlite, uri
from discreet.data.files.source import Source

# The most that a view or a query may give, or 100 times the file; and after so many instructions it is asked again
# whether to go on: about a millisecond.
MOST_BYTES, INSTRUCTIONS, PAGE = 4_000_000_000, 10_000, 4096
_CLASSES = ("integer", "real", "text", "blob")
# The schema and the name of every table and view.
TABLES = "SELECT '', name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
# The driver takes the types of columns from the first batch: all rows are one.
_ONE_BATCH = {"adbc.sqlite.query.batch_rows": 1 << 30}


@contextlib.contextmanager
def limiting(session: Session, address: Address, query: str | None, seconds: float) -> Iterator[tuple[Session, str]]:
    """A session and the relation that it reads, which has an end: what a view or a query gives is computed before.

    The driver does not hear signals and cannot be stopped, and a view may have no end. So what it gives is put into a
    file of ours by the library of Python, which asks again and again whether to go on.
    """
    file = address.file
    is_view = "SELECT 1 FROM sqlite_master WHERE type = 'view' AND name = ? COLLATE NOCASE"
    if file is None or (query is None and not session.rows(is_view, address.table)):
        yield session, address.relation
        return
    relation = address.relation if query is None else f"(\n{query}\n)"
    with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
        computed = Path(folder) / "rows.db"
        _compute(session, file, relation, computed, seconds)
        with connect(Address("sqlite", table="computed", file=computed), called=session.called) as own:
            yield Session(own.connection, session.address, session.called), "computed"


def _compute(session: Session, file: Path, relation: str, computed: Path, seconds: float) -> None:
    """Put the rows of a view or a query into a file of ours, within a limit of time and room."""
    end = time.monotonic() + seconds
    most = max(MOST_BYTES, 100 * file.stat().st_size)
    with contextlib.closing(sqlite3.connect(uri(file, "ro"), uri=True, isolation_level=None)) as reading:
        reading.set_progress_handler(lambda: time.monotonic() > end, INSTRUCTIONS)
        try:
            described = reading.execute(f"SELECT * FROM {relation} AS relation LIMIT 0").description
            check_names(Path(session.called), [str(column[0]) for column in described])
            reading.execute("ATTACH ? AS own", (uri(computed, "rwc"),))
            reading.execute(f"PRAGMA own.max_page_count = {most // PAGE}")
            reading.execute(f"CREATE TABLE own.computed AS SELECT * FROM {relation} AS relation")
        except sqlite3.Error as error:
            name = session.called
            if time.monotonic() > end:
                words = f"it took longer than {seconds:g} seconds; does it end? query_time (--query-time) allows more"
            elif "interrupted" in str(error):
                raise KeyboardInterrupt from None  # a signal, whose exception the library has swallowed
            elif "full" in str(error):
                words = f"it gives more than {most / 1e9:.3g} GB, or the disk for temporary files is full"
            else:
                words = describe_sqlite(error)
            raise DatabaseError(f"{name}: {words}") from None


def read(session: Session, address: Address, query: str | None, relation: str) -> Source:
    """Read a table or the result of a query."""
    frame, notes = fetch(session, relation)
    if query is None:
        frame = frame[sort_order(frame)]  # a table has no order of its own
    else:
        notes = [f"{session.called}: rows are in the order of the query; without ORDER BY it can change", *notes]
    check_rows(Path(session.called), frame.height)
    return Source(
        frame,
        Path(address.stem if query is None else session.called),
        "sqlite",
        notes=tuple(notes),
        called=session.called,
        database=describe(session),
        digest=digest(frame),
    )


def fetch(session: Session, relation: str) -> tuple[pl.DataFrame, list[str]]:
    """The rows of a relation, and what was cast."""
    columns, notes, _ = settle_columns(session, relation)
    table = session.table(f"SELECT {', '.join(columns)} FROM {relation} AS relation", **_ONE_BATCH)
    return to_rows(table, session.called), notes


def stream(session: Session, relation: str, *, own: bool) -> tuple[Iterator[pl.DataFrame], list[str]]:
    """The rows of a relation batch by batch, of a table in the order of all columns; and what was cast."""
    columns, notes, kinds = settle_columns(session, relation)
    order = f" ORDER BY {', '.join(str(place) for place in range(1, len(columns) + 1))}" if own else ""
    # The driver takes the types from the first rows, which may lack values: so a row that has them all comes first.
    first = ", ".join({"TEXT": "''", "REAL": "0.5"}.get(kind, "1") for kind in kinds)
    rows = f"SELECT * FROM (SELECT {', '.join(columns)} FROM {relation} AS relation{order})"
    names = ", ".join(quote(name) for name in session.names(f"SELECT * FROM {relation} AS relation"))
    batches = session.batches(f"WITH typed({names}) AS (SELECT {first}) SELECT * FROM typed UNION ALL {rows}")

    def skip_first() -> Iterator[pl.DataFrame]:
        begin = 1
        for batch in batches:
            yield to_rows(batch.slice(begin), session.called)
            begin = 0

    return skip_first(), notes


def settle_columns(session: Session, relation: str) -> tuple[list[str], list[str], list[str]]:
    """The columns of a relation as they are asked for, what is cast, and the type of each."""
    names = session.names(f"SELECT * FROM {relation} AS relation")
    check_names(Path(session.called), names)
    asked = [f"max(typeof({quote(name)}) = '{each}')" for name in names for each in _CLASSES]
    [found] = session.rows(f"SELECT {', '.join(asked)} FROM {relation} AS relation")
    columns, notes, kinds = [], [], []
    for place, name in enumerate(names):
        held = {each for each, has in zip(_CLASSES, found[4 * place : 4 * place + 4], strict=True) if has}
        column = quote(name)
        kinds.append("INTEGER" if held <= {"integer"} else "REAL" if held <= {"integer", "real"} else "TEXT")
        if held <= {"integer"} or held == {"text"} or held == {"real"}:
            columns.append(column)
            continue
        how = f"CAST({column} AS {'REAL' if held <= {'integer', 'real'} else 'TEXT'})"
        if "blob" in held:
            how = f"CASE typeof({column}) WHEN 'blob' THEN hex({column}) ELSE {how} END"
        columns.append(f"{how} AS {column}")
        what = "numbers" if held <= {"integer", "real"} else "text"
        notes.append(
            f"{session.called}: read as {what}: {name} ({', '.join(each for each in _CLASSES if each in held)})"
        )
    return columns, notes, kinds


def describe(session: Session) -> dict[str, Any]:
    """Where the data is, for the evidence."""
    [(version,)] = session.rows("SELECT sqlite_version()")
    file, table = session.address.file, session.address.table
    database = file.name if file is not None else ""
    return {"host": None, "database": database, "table": table or session.called, "server": f"SQLite {version}"}
