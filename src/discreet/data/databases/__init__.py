"""Databases as sources and targets, PostgreSQL and SQLite: Arrow batches by ADBC, each way in one transaction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.databases import postgresql, sqlite
from discreet.data.databases.address import Address, parse
from discreet.data.databases.query import read_query
from discreet.data.databases.session import Session, connect
from discreet.data.files.source import Source
from discreet.errors import InputError

# Seconds that a view or a query may take, where nothing else is said.
QUERY_TIME, LONGEST = 300.0, 1e6


def read(
    path: Path | str,
    *,
    query: Path | str | None = None,
    query_time: float | None = None,
    connection: Any = None,
) -> Source:
    """Read a table, a view or the result of a query, in one read-only transaction.

    Parameters
    ----------
    path
        postgresql:SCHEMA.TABLE, postgresql:SERVICE/SCHEMA.TABLE or sqlite:FILE#TABLE; with a query postgresql:,
        postgresql:SERVICE or sqlite:FILE.
    query
        A file with one SELECT.
    query_time
        Seconds that a view or the query may take.
    connection
        An ADBC connection to that database; what is read has a transaction of its own.
    """
    address = parse(path, query=query is not None)
    text = None if query is None else read_query(Path(query), address.system)
    name = address.name if query is None else Path(query).name
    system = postgresql if address.system == "postgresql" else sqlite
    with (
        connect(address, connection, called=name) as session,
        system.limiting(session, address, text, _check_time(query_time)) as (own, relation),
    ):
        source: Source = system.read(own, address, text, relation)
        return source


def copy(
    path: Path | str,
    folder: Path,
    rows: int,
    *,
    query: Path | str | None = None,
    query_time: float | None = None,
) -> dict[str, Any]:
    """Read a table or a query into Parquet files of so many rows, in one read-only transaction; what is known of it.

    Parameters
    ----------
    path, query, query_time
        As in `read`.
    folder : Path
        The folder of the files, which is there.
    rows : int
        About how many rows a file has.
    """
    address = parse(path, query=query is not None)
    text = None if query is None else read_query(Path(query), address.system)
    name = address.name if query is None else Path(query).name
    system = postgresql if address.system == "postgresql" else sqlite
    waiting: list[pl.DataFrame] = []
    files = height = 0

    def empty() -> None:
        nonlocal files, height
        if height or not files:
            pl.concat(waiting).write_parquet(folder / f"part-{files:05}.parquet")
            files, height = files + 1, 0
            waiting.clear()

    with (
        connect(address, called=name) as session,
        system.limiting(session, address, text, _check_time(query_time)) as (own, relation),
    ):
        frames, notes = system.stream(own, relation, own=text is None)
        for frame in frames:
            waiting.append(frame)
            height += frame.height
            if height >= rows:
                empty()
        if not files and not height:
            raise InputError(f"{name} has no rows")
        empty()
        return {"called": name, "format": address.system, "notes": notes, "database": system.describe(session)}


def estimate_size(path: Path | str) -> int:
    """About how many bytes a table has."""
    address = parse(path)
    if address.file is not None:
        return address.file.stat().st_size if address.file.exists() else 0
    with connect(address, called=address.name) as session:
        found = session.rows("SELECT pg_catalog.pg_table_size($1::text::regclass)::int8", address.relation)
    return int(found[0][0] or 0)


def list_tables(path: Path | str) -> list[Address]:
    """The tables and views of a database that may be read: postgresql:, postgresql:SERVICE or sqlite:FILE."""
    address = parse(path, query=True)
    reader = postgresql if address.system == "postgresql" else sqlite
    with connect(address, called=address.name) as session:
        found = [replace(address, schema=schema, table=table) for schema, table in session.rows(reader.TABLES)]
    # A name that cannot be typed as an address is passed over.
    return [one for one in found if parse(one.typed) == one]


def _check_time(seconds: float | None) -> float:
    if seconds is None:
        return QUERY_TIME
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST:
        raise InputError(f"query_time must be a number of seconds above 0 and not above {LONGEST:,.0f}")
    return float(seconds)


__all__ = ["Address", "Session", "copy", "estimate_size", "list_tables", "parse", "read"]
