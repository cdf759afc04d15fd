"""Reading from SQLite, where each value has its own type: what a column holds is looked up and cast in the query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.checks import check_names, check_rows
from discreet.data.databases.address import Address, quote
from discreet.data.databases.rows import digest, sort_order, to_rows
from discreet.data.databases.session import Session
from discreet.data.files.source import Source

_CLASSES = ("integer", "real", "text", "blob")
# The schema and the name of every table and view.
TABLES = "SELECT '', name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
# The driver takes the types of columns from the first batch: all rows are one.
_ONE_BATCH = {"adbc.sqlite.query.batch_rows": 1 << 30}


def read(session: Session, address: Address, query: str | None) -> Source:
    """Read a table or the result of a query."""
    frame, notes = fetch(session, address.relation if query is None else f"(\n{query}\n)")
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
