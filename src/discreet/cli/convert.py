"""`discreet convert`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from discreet.cli.printing import tell
from discreet.errors import CodesError, InputError

if TYPE_CHECKING:
    from discreet.tabular.table import Table

# What a format of tables has no place for.
_LOST = {
    ".jj": "names and codes of dimensions, contributors and rules",
    ".jj.gz": "names and codes of dimensions, contributors and rules",
    ".tab": "bounds, rules, sliding protection levels and who is the only contributor of a cell",
    ".txt": "anything but codes, values and statuses",
}


def convert(
    given: Annotated[Path, Parameter(name="IN")],
    out: Annotated[Path, Parameter(name="OUT")],
    /,
    *,
    meta: Path | None = None,
    force: bool = False,
) -> int:
    """Write a table, microdata or a hierarchy in another format; nothing is protected by it.

    Tables: .jj, .jj.gz, .tab (with .rda), .parquet, .csv; and .txt (code-value output), to write only. Microdata: .asc,
    and .csv or .txt with --meta, to any format of microdata. Hierarchies: .hrc to .csv of columns code and parent, and
    back.

    Parameters
    ----------
    given
        The file to read.
    out
        The file to write; its suffix says the format.
    meta
        The .rda file that describes microdata or a .tab table, if it is not beside it under the same name.
    force
        Replace files that exist already.
    """
    from discreet.release.atomic import AtomicFiles

    AtomicFiles([out], force=force)
    kinds = given.suffix.lower(), out.suffix.lower()
    if ".hrc" in kinds:
        _convert_hierarchy(given, out, meta, force)
    elif kinds[0] == ".asc" or (meta is not None and kinds[0] in (".csv", ".txt")):
        _convert_microdata(given, out, meta, force)
    else:
        _convert_table(given, out, meta, force)
    return 0


def _convert_table(given: Path, out: Path, meta: Path | None, force: bool) -> None:
    from discreet.tabular.files.formats import check_table_format, read_table, render

    suffix = check_table_format(out, writing=True)
    if given.suffix.lower() == ".txt":
        raise InputError(
            f"{given.name}: to read it as microdata, describe it by --meta FILE.rda; as code-value output it says "
            "nothing of hierarchies, so no table can be read from it"
        )
    table = read_table(given, meta=meta)
    contents = render(table, out)
    _write({path: _saver(data) for path, data in contents.items()}, [given, *_other_files(given, meta)], force)
    _tell(contents, table.notes)
    if suffix in _LOST and (table.dimensions or not suffix.startswith(".jj")):
        tell(f"a {suffix} file does not keep {_LOST[suffix]}")
    tell(f"internal: holds every value{_mention_suppressed(table)}; not for publication")


def _convert_microdata(given: Path, out: Path, meta: Path | None, force: bool) -> None:
    from discreet.data.files import check_writable_format, write
    from discreet.tabular.files import asc, rda
    from discreet.tabular.files.formats import metadata_beside

    format_name = check_writable_format(out)
    described = rda.read(metadata_beside(given) if meta is None else meta)
    source = asc.read(given, described)
    used = [path for one in described.variables for path in (one.hierarchy, one.codelist) if path]
    _write(
        {out: lambda path: write(source.frame, path, format_name=format_name)}, [given, described.path, *used], force
    )
    _tell([out], source.notes)
    tell("internal: holds every record as it is; not for publication")


def _convert_hierarchy(given: Path, out: Path, meta: Path | None, force: bool) -> None:
    from discreet.tabular.hierarchy import Hierarchy

    if meta is not None:
        raise InputError("--meta does not apply to a hierarchy; leave it out")
    notes: list[str] = []
    if (given.suffix.lower(), out.suffix.lower()) == (".hrc", ".csv"):
        import polars as pl

        pairs = Hierarchy.from_hrc(given).pairs()
        text = pl.DataFrame(pairs, schema={"code": pl.String, "parent": pl.String}, orient="row").write_csv()
    elif (given.suffix.lower(), out.suffix.lower()) == (".csv", ".hrc"):
        from discreet.data.checks import itemize
        from discreet.data.files.csv import read

        source = read(given, header=True)
        frame = source.frame
        if frame.columns != ["code", "parent"]:
            raise InputError(f"{given.name}: the columns of a hierarchy are code and parent; name them so")
        if frame["code"].null_count():
            raise InputError(f"{given.name}: a line has no code; complete or delete it")
        try:
            hierarchy = Hierarchy.from_pairs(frame.rows(), source=given.name)
            text = hierarchy.to_hrc()
        except CodesError as error:
            rows = frame["code"].is_in(list(error.codes)).arg_true().to_list()
            raise InputError(f"{error}{f' ({itemize([source.place(row) for row in rows])})' if rows else ''}") from None
        notes.append("the code that all others belong to is the total, which a .hrc file does not list")
    else:
        raise InputError(
            f"{given.name} to {out.name}: a hierarchy is converted from .hrc to .csv (columns code and parent) or back"
        )
    _write({out: _saver(text.encode())}, [given], force)
    _tell([out], notes)


def _other_files(given: Path, meta: Path | None) -> list[Path]:
    """The other files that a table was read from."""
    from discreet.tabular.files import rda
    from discreet.tabular.files.formats import metadata_beside
    from discreet.tabular.files.own import beside

    if given.suffix.lower() != ".tab":
        return [beside(given)]
    described = rda.read(metadata_beside(given) if meta is None else meta)
    return [described.path, *(one.hierarchy for one in described.variables if one.hierarchy)]


def _saver(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


def _write(savers: dict[Path, Callable[[Path], object]], read: list[Path], force: bool) -> None:
    from discreet.release.atomic import AtomicFiles, spare

    for path in read:
        spare(savers, {f"{path.name}, a file that was read": path})
    with AtomicFiles(savers, force=force) as files:
        for path, save in savers.items():
            save(files.temporary(path))


def _mention_suppressed(table: Table) -> str:
    return ", suppressed ones too" if table.suppressed.any() else ""


def _tell(paths: Iterable[Path], notes: Iterable[str]) -> None:
    for note in notes:
        tell(note)
    for path in paths:
        tell(str(path))
