"""Where a table is, as it is typed: postgresql:SERVICE/SCHEMA.TABLE or sqlite:FILE#TABLE; never who asks for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from discreet.data.checks import check_path
from discreet.errors import InputError

SYSTEMS = ("postgresql", "sqlite")
# A name as it stands, or in double quotes, which are doubled inside; signs of a login are in no plain name.
_PLAIN = r'[^"./@:=?#\0]+'
_NAME = rf'"(?:[^"\0]|"")+"|{_PLAIN}'
_TABLE = re.compile(rf"(?:(?P<service>[^\"/@:=?#\0]+)/)?(?P<schema>{_NAME})\.(?P<table>{_NAME})")
_SERVICE = re.compile(r"(?P<service>[^\"./@:=?#\0]*)/?")
_HOW = (
    "a source is postgresql:SCHEMA.TABLE or postgresql:SERVICE/SCHEMA.TABLE (with --query postgresql: or "
    "postgresql:SERVICE); a name with other signs stands in double quotes"
)


@dataclass(frozen=True)
class Address:
    """A table of a database, or with a query the database alone.

    Parameters
    ----------
    system : str
        postgresql or sqlite.
    service : str
        The service of libpq that says where the server is; by the environment if there is none.
    schema, table : str
        Their names, unquoted; without a table it is read by a query.
    file : Path
        The file of an SQLite database.
    """

    system: str
    service: str = ""
    schema: str = ""
    table: str = ""
    file: Path | None = None

    @property
    def name(self) -> str:
        """What to call it in messages."""
        if self.file is not None:
            return f"{self.file.name}#{self.table}" if self.table else self.file.name
        return f"{self.schema}.{self.table}" if self.table else self.system

    @property
    def typed(self) -> str:
        """As it is typed."""
        if self.file is not None:
            return f"sqlite:{self.file.as_posix()}#{self.table}"
        names = (part if re.fullmatch(_PLAIN, part) else quote(part) for part in (self.schema, self.table) if part)
        return f"{self.system}:{f'{self.service}/' if self.service else ''}{'.'.join(names)}"

    @property
    def stem(self) -> str:
        """What the files beside it are called after, whatever its name holds."""
        parts = (self.file.name if self.file else self.schema, self.table)
        return re.sub(r"[^\w.-]|^[.-]", "_", ".".join(part for part in parts if part) or self.system)

    @property
    def relation(self) -> str:
        """The table as SQL writes it."""
        return ".".join(quote(part) for part in (self.schema, self.table) if part)

    def beside(self, table: str) -> Address:
        """Another table of the same schema or file."""
        return Address(self.system, self.service, self.schema, table, self.file)


def is_address(path: object) -> bool:
    """Whether a path names a database."""
    return isinstance(path, str | Path) and str(path).startswith(tuple(f"{system}:" for system in SYSTEMS))


def names_table(path: Path | str) -> bool:
    """Whether a path that names a database names a table of it too, and so needs no query."""
    system, _, rest = str(path).partition(":")
    return "#" in rest if system == "sqlite" else _TABLE.fullmatch(rest) is not None


def parse(path: Path | str, *, query: bool = False) -> Address:
    """The address that was typed; what is wrong with it is told without it, for it may hold a password.

    Parameters
    ----------
    path
        What was typed.
    query
        Whether a query says what is read, and not a table.
    """
    system, _, rest = (path.as_posix() if isinstance(path, Path) else path).partition(":")
    if system == "sqlite":
        return _parse_sqlite(rest, query=query)
    if rest.startswith("/") or re.search(r"[@=?]", re.sub(r'"(?:[^"]|"")*"', "", rest)):
        raise InputError(
            "a source names neither host, user nor password, which every user of this machine could read; libpq knows "
            f"them from a service, a password file or the environment (PGHOST, PGDATABASE, …); {_HOW}"
        )
    found = _TABLE.fullmatch(rest)
    if query:
        service = _SERVICE.fullmatch(rest)
        if found or not service:
            raise InputError("with a query the source is the database alone: postgresql: or postgresql:SERVICE")
        return Address(system, service["service"])
    if not found:
        raise InputError(f"a table of a database was expected; {_HOW}")
    return Address(system, found["service"] or "", _unquote(found["schema"]), _unquote(found["table"]))


def _parse_sqlite(rest: str, *, query: bool) -> Address:
    # The name of a table may hold the sign, too: what is before it is the file.
    places = [place for place, sign in enumerate(rest) if sign == "#" and os.path.isfile(rest[:place])]  # noqa: PTH113
    file, found, table = (rest[: places[0]], "#", rest[places[0] + 1 :]) if places else rest.rpartition("#")
    check_path(file if found else rest)
    if query:
        check_path(rest)
        if found and not Path(rest).exists():
            raise InputError("with a query the source is the database alone: sqlite:FILE")
        file, table = rest, ""
    if not file or (not query and not table) or "\0" in rest:
        raise InputError("a table of SQLite is named sqlite:FILE#TABLE; with --query it is sqlite:FILE")
    return Address("sqlite", table=table, file=Path(file))


def _unquote(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def quote(name: str) -> str:
    """A name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
