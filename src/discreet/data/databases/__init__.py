"""Databases as sources and targets, PostgreSQL and SQLite: Arrow batches by ADBC, each way in one transaction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from discreet.data.databases import postgresql, sqlite
from discreet.data.databases.address import Address, parse
from discreet.data.databases.session import Session, connect
from discreet.data.files.source import Source
from discreet.errors import InputError


def read(path: Path | str, *, query: Path | str | None = None, connection: Any = None) -> Source:
    """Read a table, a view or the result of a query, in one read-only transaction.

    Parameters
    ----------
    path
        postgresql:SCHEMA.TABLE, postgresql:SERVICE/SCHEMA.TABLE or sqlite:FILE#TABLE; with a query postgresql:,
        postgresql:SERVICE or sqlite:FILE.
    query
        A file with one SELECT.
    connection
        An ADBC connection to that database; what is read has a transaction of its own.
    """
    address = parse(path, query=query is not None)
    text = None if query is None else _read_query(Path(query))
    name = address.name if query is None else Path(query).name
    with connect(address, connection, called=name) as session:
        reader = postgresql.read if address.system == "postgresql" else sqlite.read
        return reader(session, address, text)


def copy(path: Path | str, folder: Path, rows: int, *, query: Path | str | None = None) -> dict[str, Any]:
    """Read a table or a query into Parquet files of so many rows, in one read-only transaction; what is known of it.

    Parameters
    ----------
    path, query
        As in `read`.
    folder : Path
        The folder of the files, which is there.
    rows : int
        About how many rows a file has.
    """
    address = parse(path, query=query is not None)
    text = None if query is None else _read_query(Path(query))
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

    with connect(address, called=name) as session:
        frames, notes = system.stream(session, address.relation if text is None else f"(\n{text}\n)", own=text is None)
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


def _read_query(path: Path) -> str:
    """The one statement in a file, without the semicolon at its end."""
    try:
        text = path.read_text(encoding="utf-8-sig").strip().rstrip(";").strip()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name and the folder") from None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path} cannot be read; a query is a file of text in UTF-8") from None
    if not text or "\0" in text:
        raise InputError(f"{path.name}: there is no query in it; write one SELECT")
    return text


__all__ = ["Address", "Session", "copy", "estimate_size", "list_tables", "parse", "read"]
