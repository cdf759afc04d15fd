"""Table files in and out, whatever their format: the suffix of the name says which."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from discreet.data.databases.address import is_address
from discreet.errors import InputError
from discreet.tabular.files import codevalue, jj, own, rda, tab
from discreet.tabular.table import Table


@dataclass(frozen=True)
class Format:
    """A format of table files; a new one is a module with these functions and an entry in FORMATS.

    Parameters
    ----------
    words : str
        What it is, for messages that list the formats.
    render : callable
        Every file that writing a table to a path makes, with its content.
    read : callable, optional
        The table in a file; a format without it can only be written.
    """

    words: str
    render: Callable[[Table, Path], dict[Path, bytes]]
    read: Callable[[Path], Table] | None = None


def check_table_format(path: str | Path, *, writing: bool = False) -> str:
    """The suffix that says the format of a table file, or a refusal of a name that says none.

    Parameters
    ----------
    path : str or Path
        The name of the file.
    writing : bool
        Whether it is to be written; some formats can be written but not read.
    """
    if is_address(path):
        raise InputError(
            "a table of a database has cells, and not how they add up; `primary` takes it with --by (and `tabulate` "
            "records), and writes the file that is wanted here"
        )
    name = Path(path).name.lower()
    known = {suffix: one.words for suffix, one in FORMATS.items() if writing or one.read is not None}
    for suffix in sorted(known, key=len, reverse=True):
        if name.endswith(suffix) and name != suffix:
            return suffix
    formats = ", ".join(f"{suffix} ({what})" for suffix, what in known.items())
    if name.endswith(".txt"):
        raise InputError(
            f"{Path(path).name}: code-value output says nothing of hierarchies, so no table can be read from it; "
            f"table files are {formats}"
        )
    raise InputError(f"{Path(path).name}: the name does not say the format of a table file; known are {formats}")


def read_table(path: str | Path, *, meta: str | Path | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path : str or Path
        The file; its suffix says the format.
    meta : str or Path, optional
        The .rda file of a .tab file, if it is not beside it under the same name.
    """
    path = Path(path)
    suffix = check_table_format(path)
    if meta is None:
        read = FORMATS[suffix].read
        assert read is not None, "check_table_format lets only names of readable formats pass"
        return read(path)
    if suffix != ".tab":
        raise InputError(f"{path.name}: only a .tab table has metadata in a .rda file; leave {Path(meta).name} out")
    return tab.read(path, rda.read(meta))


def table_from(table: object, meta: str | Path | None = None) -> Table:
    """Take in a table: a `Table`, or the path of one."""
    if isinstance(table, Table):
        return table
    if isinstance(table, str | Path):
        return read_table(table, meta=meta)
    hint = "; a frame of cells is made one by Table.from_frame" if hasattr(table, "columns") else ""
    raise InputError(f"expected a Table or the path of one, not an object of type {type(table).__name__}{hint}")


def render(table: Table, path: str | Path) -> dict[Path, bytes]:
    """Every file that writing a table to `path` makes, with its content; all of them are internal.

    Parameters
    ----------
    table : Table
        The table.
    path : str or Path
        The name of the file; its suffix says the format.
    """
    path = Path(path)
    return FORMATS[check_table_format(path, writing=True)].render(table, path)


def metadata_beside(path: Path) -> Path:
    """The .rda file beside a file of τ-ARGUS, ignoring case."""
    wanted = f"{path.stem}.rda"
    if path.parent.is_dir():
        alike = sorted(one for one in path.parent.iterdir() if one.name.lower() == wanted.lower())
        if alike:
            return path.with_name(wanted) if path.with_name(wanted) in alike else alike[0]
    raise InputError(
        f"{path.name}: there is no {wanted} beside it to say what its columns are; name it by --meta (meta=)"
    )


def _render_tab(table: Table, path: Path) -> dict[Path, bytes]:
    # The suffix may be in capitals; the files beside it are named like it.
    name = path.name[: -len(".tab")]
    files = {path.name if one == f"{name}.tab" else one: text for one, text in tab.files(table, name).items()}
    return {path.with_name(one): text.encode() for one, text in files.items()}


FORMATS = {
    ".jj": Format("numbered cells and relations", lambda table, path: {path: jj.text(table).encode()}, jj.read),
    ".jj.gz": Format(
        "the same, compressed",
        # Without the time, so that the same table makes the same file.
        lambda table, path: {path: gzip.compress(jj.text(table).encode(), mtime=0)},
        jj.read,
    ),
    ".parquet": Format("our own", own.render, own.read),
    ".csv": Format("our own, with NAME.table.json beside it", own.render, own.read),
    ".tab": Format(
        "τ-ARGUS's, with its .rda", _render_tab, lambda path: tab.read(path, rda.read(metadata_beside(path)))
    ),
    ".txt": Format("τ-ARGUS's code-value output", lambda table, path: {path: codevalue.text(table).encode()}),
}
