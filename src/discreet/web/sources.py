"""What may be opened as microdata: files of the folder, and tables of databases.

Files of SQLite in the folder list their tables. Other databases are named in `sources.toml`, as

    sources = ["postgresql:office/public.people", "postgresql:office"]

the first a table, the second all tables of a database. What is not listed is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.data import toml
from discreet.data.databases import Address, list_tables, parse
from discreet.data.databases.address import is_address, names_table
from discreet.errors import DiscreetError, InputError
from discreet.web.folder import Folder

LIST = "sources.toml"
SQLITE = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True)
class Source:
    """A file or a table that is worked on.

    Parameters
    ----------
    name : str
        As commands in the folder name it.
    title : str
        What to call it on a page.
    stem : str
        What files beside it are called after.
    readable : str
        As any process can read it.
    file : Path, optional
        The file that it is, or is in.
    suffix : str
        Of a file; nothing for a table.
    """

    name: str
    title: str
    stem: str
    readable: str
    file: Path | None
    suffix: str = ""


def find(folder: Folder, name: str) -> Source:
    """A file or a table that may be opened; any other name is refused."""
    if not is_address(name):
        path = folder.file(name)
        return Source(name, name, path.stem, str(path), path, path.suffix)
    address = parse(name)
    if address.file is not None:
        path = folder.file(str(address.file))
        return Source(name, address.name, address.stem, f"sqlite:{path}#{address.table}", path)
    if not any(name == one or one.rstrip("/") == f"postgresql:{address.service}" for one in configured(folder)):
        raise InputError(f"{address.name} is not among the sources of this folder; name it in {LIST}")
    return Source(name, address.name, address.stem, name, None)


def configured(folder: Folder) -> list[str]:
    """What `sources.toml` names."""
    if not (folder.path / LIST).exists():
        return []
    said = toml.read(folder.file(LIST)).get("sources")
    if not isinstance(said, list) or not all(is_address(one) for one in said):
        raise InputError(f'{LIST}: write sources = ["postgresql:SERVICE/SCHEMA.TABLE", …]; the manual lists all forms')
    return [str(one) for one in said]


def list_databases(folder: Folder) -> dict[str, list[Address] | str]:
    """The tables of each database that may be opened; in words, why they cannot be told."""
    files = [path.name for path in sorted(folder.path.iterdir()) if path.suffix.lower() in SQLITE]
    try:
        named = [one for one in configured(folder) if one.removeprefix("sqlite:") not in files]
    except DiscreetError as error:
        return {LIST: str(error)}
    found: dict[str, list[Address] | str] = {}
    for one in [*(f"sqlite:{name}" for name in files), *dict.fromkeys(named)]:
        try:
            if names_table(one):
                found[one] = [parse(find(folder, one).name)]
            else:
                path = f"sqlite:{folder.file(one.removeprefix('sqlite:'))}" if one.startswith("sqlite:") else one
                found[one] = [_within(folder, address) for address in list_tables(path)]
        except DiscreetError as error:
            found[one] = str(error)
    return found


def _within(folder: Folder, address: Address) -> Address:
    """A table as commands in the folder name it."""
    if address.file is None:
        return address
    return Address("sqlite", table=address.table, file=address.file.relative_to(folder.path))
