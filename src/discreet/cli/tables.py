"""`discreet tabulate`, `discreet primary` and `discreet link`: commands that make a table, internal still."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from discreet.cli.options import DETECT, Columns, Options, Pair, Reading, documented_by, given_only, option, split
from discreet.cli.printing import show, tell
from discreet.cli.progress import Reporter
from discreet.errors import InputError
from discreet.tables.primary import primary as primary_verb
from discreet.tables.tabulate import link as link_verb
from discreet.tables.tabulate import tabulate as tabulate_verb
from discreet.text import count as plural
from discreet.text import entry


def _read_parts(_type: Any, tokens: Sequence[Token]) -> list[list[str]]:
    """`--part region,size --part region,industry`: the dimensions of each linked table."""
    return [split(_type, [token]) for token in tokens]


def _read_totals(_type: Any, tokens: Sequence[Token]) -> str | dict[str, str]:
    """`--total All`, or for each dimension its own: `--total region=All --total size=T`."""
    items = split(_type, tokens)
    if len(items) == 1 and "=" not in items[0]:
        return items[0]
    pairs = [item.partition("=") for item in items]
    if not all(found for _, found, _ in pairs):
        raise ValueError("expected one code, or COLUMN=CODE for each dimension")
    return {name.strip(): code.strip() for name, _, code in pairs}


if TYPE_CHECKING:
    from discreet.tabular.table import Table

    Parts = list[list[str]] | None
    Totals = str | dict[str, str] | None
else:
    Totals = Annotated[list[Any] | None, option(_read_totals, "CODE")]
    Parts = Annotated[list[Any] | None, option(_read_parts, "COLUMNS")]


@documented_by(tabulate_verb)
def tabulate(
    data: Annotated[Path, Parameter(name="MICRODATA")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    by: Columns = None,
    value: str | None = None,
    sampling_weight: Annotated[str | None, Parameter(metavar="COLUMN")] = None,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    meta: Path | None = None,
    total: str | None = None,
    top: int | None = None,
    decimals: int | None = None,
    complete: bool = False,
    existing_only: bool = False,
    structural: Path | None = None,
    parts: Annotated[Parts, Parameter(name="--part")] = None,
    config: Path | None = None,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    data
        The microdata, one record for each contribution: any microdata file, or with --meta a τ-ARGUS file (.asc).
    structural
        A file of combinations of codes that nobody can have, as everybody knows: a column for each dimension that
        matters, a row for each combination, sums of codes too. They get no cell.
    output
        The table: .parquet or .csv (with NAME.table.json beside it), .jj, or .tab. It is internal.
    by
        What to break down by; the option again for each dimension. A column; or a column and its hierarchies, as
        region@region.hrc, with a second file for a second way of adding up (region@a.hrc@b.hrc); or the lengths of the
        digits that make the levels (industry@3+1+1); or nested columns, the coarsest first
        ('country>district>town').
    parts
        A linked table: the dimensions that it spans, as region,size; the option again for each. They become one system
        of cells, in which the margins that they share are the same cells. Without it there is one table of all
        dimensions.
    """
    from discreet.release.atomic import write_table

    refuse_early(output, force=force)
    if not by and config is None:
        raise InputError("say what to break down by: --by COLUMN, once for each dimension")
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        given: Any = data if meta is not None else reading.read(data)
        report("tabulating", 0.0)
        table = tabulate_verb(
            given,
            **given_only(
                by=by,
                value=value,
                sampling_weight=sampling_weight,
                weight=weight,
                holding=holding,
                request=request,
                meta=meta,
                total=total,
                top=top,
                decimals=decimals,
                complete=complete or None,
                existing_only=existing_only or None,
                structural=structural,
                parts=parts,
                config=config,
            ),
        )
        report("writing", 0.0)
        files = write_table(
            table, output, force=force, read=[path for path in (data, meta, structural, config) if path is not None]
        )
    if not quiet:
        tell(describe_table(table, files))
    return 0


@Parameter(name="*")
@dataclass(frozen=True)
class CellFlags(Options):
    """How cells that are summed up already stand in a file.

    Parameters
    ----------
    by
        For cells that are summed up already: a column of codes, with its hierarchies, as ACTIVITY@act.hrc; the option
        again for each dimension.
    max
        With --by, the column of the largest contribution; or several, as MAX1,MAX2, the largest first.
    total
        With --by, the code of the total; or of each dimension, as region=All, the option again for each. By default
        "Total", or the one code that the hierarchy of a dimension does not list.
    """

    by: Columns = None
    value: str | None = None
    count: str | None = None
    max: Columns = None
    total: Totals = None
    decimals: int | None = None


NO_CELLS = CellFlags()


@documented_by(primary_verb)
def primary(
    table: Annotated[Path, Parameter(name="TABLE")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    cells: CellFlags = NO_CELLS,
    p: float | None = None,
    q: float | None = None,
    coalition: int | None = None,
    dominance: Pair = None,
    threshold: float | None = None,
    range: float | None = None,  # noqa: A002 - the option's name
    request: float | None = None,
    zeros: float | None = None,
    manual: Path | None = None,
    missing: bool = False,
    bounds: str | None = None,
    cost: Literal["value", "count", "unit", "log"] | None = None,
    meta: Path | None = None,
    config: Path | None = None,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    table
        The table: a file of discreet tabulate (.parquet, .csv), .tab or .jj. With --by, any file with a row for each
        cell, summed up by whomever.
    output
        The table with its unsafe cells: .parquet, .csv, .jj or .tab. It is internal.
    dominance
        The (n,k) rule, as 1,75: unsafe if the n largest contributions are more than k percent of the total.
    manual
        A file of cells named one by one, with a column for each dimension (or cell, its number) and, if wanted, status
        (u unsafe, s safe, z not to be suppressed), lpl and upl; or τ-ARGUS's a-priori file (.hst).
    """
    from discreet.release.atomic import write_table

    refuse_early(output, force=force)
    with Reporter(quiet=quiet) as report:
        report("judging", 0.0)
        flagged = primary_verb(
            reading.read(table) if cells.by else table,
            **cells.given(),
            **given_only(
                p=p,
                q=q,
                coalition=coalition,
                dominance=dominance,
                threshold=threshold,
                range=range,
                request=request,
                zeros=zeros,
                manual=manual,
                missing=missing or None,
                bounds=bounds,
                cost=cost,
                meta=meta,
                config=config,
            ),
        )
        report("writing", 0.0)
        read = [path for path in (table, manual, meta, config) if path is not None]
        files = write_table(flagged, output, force=force, read=read)
    if not quiet:
        show(describe_table(flagged, ()))
        for path in files:
            tell("\n".join(entry("Written", f"{path} (internal: not for publication)")))
    return 0


@documented_by(link_verb)
def link(
    tables: Annotated[list[Path], Parameter(name="TABLES")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    meta: Path | None = None,
    force: bool = False,
    quiet: bool = False,
) -> int:
    """Command.

    Parameters
    ----------
    tables
        The tables, two at least: files of discreet tabulate or discreet primary (.parquet, .csv), or .tab. A dimension
        of the same name is the same variable.
    output
        The linked tables as one system of cells: .parquet, .csv or .jj. It is internal.
    """
    from discreet.release.atomic import write_table

    refuse_early(output, force=force)
    with Reporter(quiet=quiet) as report:
        report("linking", 0.0)
        linked = link_verb(tables, meta=meta)
        report("writing", 0.0)
        files = write_table(linked, output, force=force, read=[*tables, *([meta] if meta else [])])
    if not quiet:
        tell(describe_table(linked, files))
    return 0


def refuse_early(output: Path, *, force: bool) -> None:
    """Refuse a name that cannot be written before the work begins."""
    from discreet.release.atomic import AtomicFiles
    from discreet.tabular.files.formats import check_table_format

    check_table_format(output, writing=True)
    AtomicFiles([output], force=force)


def describe_table(table: Table, files: Iterable[Path]) -> str:
    """A table in words: what it holds, which cells are unsafe and why, and where it is."""

    from discreet.tabular.table import FIXED, RULES

    what = f"{table.response} " if table.response else "counts "
    over = " × ".join(one.name for one in table.dimensions)
    lines = [f"{table.source}: {plural(len(table), 'cell')}{f' of {what}by {over}' if over else ''}"]
    lines.append("")
    if table.dimensions:
        codes = ", ".join(f"{one.name} {len(one.codes):,}" for one in table.dimensions)
        lines += entry("Codes", f"{codes}, with totals and sub-totals")
    linked = f"; {len(table.parts)} linked tables" if len(table.parts) > 1 else ""
    lines += entry("Relations", f"{len(table.relations):,}; every one adds up{linked}")
    words = table.rules.get("words", {})
    if words:
        unsafe = len(table.primary)
        lines += entry("Unsafe", f"{plural(unsafe, 'cell')} ({100 * unsafe / len(table):.1f} %)")
        for name, text in words.items():
            found = int((table.rule >> RULES.index(name) & 1).sum())
            lines += entry("", f"{name}: {found:,} ({text})")
        lines += _describe_insiders(table)
        fixed = int((table.status == FIXED).sum())
        if fixed:
            are = "is" if fixed == 1 else "are"
            lines += entry("Fixed", f"{plural(fixed, 'cell')} {are} empty or may not be suppressed")
        lines += entry("Bounds", _describe_bounds(table))
    for note in table.notes:
        lines += entry("Note", note)
    for path in files:
        lines += entry("Written", f"{path} (internal: not for publication)")
    return "\n".join(lines)


def _describe_bounds(table: Table) -> str:
    """What an attacker is taken to know of every cell beforehand."""
    import numpy as np

    low, high = float(np.min(table.lower)), float(np.max(table.upper))
    said = "an attacker knows no value is negative" if low >= 0 else "an attacker knows bounds"
    if table.counts is not None:
        somebody = int((table.lower > 0).sum())
        said = f"an attacker knows counts are {'whole and ' if table.integral else ''}not negative"
        if somebody:
            said += f", and not zero in {'any cell' if somebody == len(table) else plural(somebody, 'cell')}"
    return said + (", nor above 1.5 times the largest" if np.all(table.upper == high) else "")


def _describe_insiders(table: Table) -> list[str]:
    """The sole contributors of a table in words, and the unsafe cells in which they and others have a part."""
    import numpy as np

    from discreet.attack.insiders import insiders_of
    from discreet.data.checks import itemize

    insiders = insiders_of(table)
    if insiders is None or not len(insiders):
        return []
    asked = insiders.parts.down + insiders.parts.up + insiders.parts.width > 0
    victims = np.unique(insiders.parts.cells[asked])
    said = plural(len(insiders), "sole contributor")
    if len(victims):
        names, cells = itemize([table.name(int(cell)) for cell in victims]), plural(len(victims), "unsafe cell")
        said += f"; without one of them what is left of {cells} is unsafe too: {names}"
    return entry("Insiders", said)
