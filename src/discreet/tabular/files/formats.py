"""Table files in and out, whatever their format: the suffix of the name says which."""

from __future__ import annotations

import gzip
from pathlib import Path

from discreet.errors import InputError
from discreet.tabular.files import codevalue, jj, own, rda, tab
from discreet.tabular.table import Table

_READ = {
    ".jj": "numbered cells and relations",
    ".jj.gz": "the same, compressed",
    ".parquet": "our own",
    ".csv": "our own, with NAME.table.json beside it",
    ".tab": "τ-ARGUS's, with its .rda",
}
_WRITTEN = {**_READ, ".txt": "τ-ARGUS's code-value output"}


def check_table_format(path: str | Path, *, writing: bool = False) -> str:
    """The suffix that says the format of a table file, or a refusal of a name that says none.

    Parameters
    ----------
    path : str or Path
        The name of the file.
    writing : bool
        Whether it is to be written; some formats can be written but not read.
    """
    name = Path(path).name.lower()
    known = _WRITTEN if writing else _READ
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
    if meta is not None and suffix != ".tab":
        raise InputError(f"{path.name}: only a .tab table has metadata in a .rda file; leave {Path(meta).name} out")
    if suffix == ".tab":
        return tab.read(path, rda.read(metadata_beside(path) if meta is None else meta))
    if suffix.startswith(".jj"):
        return jj.read(path)

    return own.read(path)


def table_from(table: object, meta: str | Path | None = None) -> Table:
    """Take in a table: a `Table`, or the path of one."""
    if isinstance(table, Table):
        return table
    if isinstance(table, str | Path):
        return read_table(table, meta=meta)
    raise InputError(f"expected a Table or the path of one, not an object of type {type(table).__name__}")


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
    suffix = check_table_format(path, writing=True)
    if suffix in (".parquet", ".csv"):
        return own.render(table, path)
    if suffix == ".tab":
        files = tab.files(table, path.name[: -len(suffix)])
        named = {f"{path.name[: -len(suffix)]}.tab": path.name}
        return {path.with_name(named.get(name, name)): text.encode() for name, text in files.items()}
    if suffix == ".txt":
        return {path: codevalue.text(table).encode()}

    data = jj.text(table).encode()
    # Without the time, so that the same table makes the same file.
    return {path: gzip.compress(data, mtime=0) if suffix == ".jj.gz" else data}


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
