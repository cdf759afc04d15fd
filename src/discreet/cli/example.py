"""`discreet example`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from discreet.cli.printing import tell
from discreet.cli.progress import Reporter
from discreet.errors import InputError

if TYPE_CHECKING:
    from discreet.tabular.table import Table


def example(
    name: Literal["companies", "survey", "sme", "tables"],
    folder: Path,
    /,
    *,
    records: int | None = None,
    kind: str | None = None,
    sensitive: float | None = None,
    zeros: float | None = None,
    seed: int = 1,
    force: bool = False,
) -> int:
    """Write an example data set with the declarations of its columns, or an example table, to try things on.

    Parameters
    ----------
    name
        companies: a business register; survey: persons in households; sme: the 11 companies of the 2008 paper; tables:
        a table with unsafe cells as in the 2012 paper, its microdata and its hierarchies.
    folder
        Where to write it; made if it is not there.
    records
        How many records; as many as is usual for the example by default. Not for sme and tables.
    kind
        For tables: the number of codes of each dimension, without totals, such as 200x5 (the default), 200x50,
        4000x10 or 60x5x80h, where h makes a dimension hierarchical; 3d is 40x26x17, hierarchical is 60x5x80h.
    sensitive
        For tables: the share of inner cells that are unsafe under the p% rule with p = 15; 0.1 by default.
    zeros
        For tables: the share of inner cells that are empty; 0.25 by default.
    seed
        The same seed gives the same data.
    force
        Replace files that exist already.
    """
    from discreet.examples import make

    if name == "tables":
        if records is not None:
            raise InputError("the records of tables follow from their cells; leave out --records, say --kind")
        return _write_tables(
            folder,
            "200x5" if kind is None else kind,
            0.1 if sensitive is None else sensitive,
            0.25 if zeros is None else zeros,
            seed,
            force,
        )
    for option, given in (("kind", kind), ("sensitive", sensitive), ("zeros", zeros)):
        if given is not None:
            raise InputError(f"--{option} is for tables only; leave it out for {name}")
    with Reporter() as report:
        report("writing", 0.0)
        paths = make(name, folder, n=records, seed=seed, force=force)
    for path in paths:
        tell(str(path))
    return 0


def _write_tables(folder: Path, kind: str, sensitive: float, zeros: float, seed: int, force: bool) -> int:
    """Write the contributions to a table, its hierarchies, and the table with its unsafe cells in two formats."""
    from discreet.data.checks import writing
    from discreet.examples import contributors
    from discreet.release.atomic import AtomicFiles
    from discreet.tables.primary import primary
    from discreet.tables.tabulate import tabulate
    from discreet.tabular.files.formats import render

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file, not a folder; name the folder to write the example to")
    with Reporter() as report:
        report("generating", 0.0)
        frame, hierarchies = contributors(kind, sensitive=sensitive, zeros=zeros, seed=seed)
        nested = {name: folder / f"{kind}.{name}.hrc" for name in hierarchies}
        targets = [folder / f"{kind}.csv", *nested.values(), folder / f"{kind}.parquet", folder / f"{kind}.jj"]
        if folder.exists():
            # What would fail at the end is refused before the work begins.
            AtomicFiles(targets, force=force)
        report("tabulating", 0.0)
        by = {name: hierarchies.get(name) for name in frame.columns[:-1]}
        table = primary(tabulate(frame, by=by, value="value", complete=True), p=15)
        report("writing", 0.0)
        contents = {targets[0]: frame.write_csv().encode()}
        contents |= {nested[name]: one.to_hrc().encode() for name, one in hierarchies.items()}
        contents |= render(table, targets[-2]) | render(table, targets[-1])
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with AtomicFiles(contents, force=force) as files:
            for path, content in contents.items():
                files.temporary(path).write_bytes(content)
    for path in contents:
        tell(str(path))
    tell(_describe(table))
    tell("Table files are internal: they tell what must not be published.")
    return 0


def _describe(table: Table) -> str:
    """How many cells there are, and of what kinds."""
    cells, unsafe, empty = len(table), len(table.primary), int((table.value == 0).sum())
    shares = [
        f"{number:,} {what} ({100 * number / cells:.1f} %)" for number, what in ((unsafe, "unsafe"), (empty, "zero"))
    ]
    return f"{cells:,} cells with their totals, {', '.join(shares)}"
