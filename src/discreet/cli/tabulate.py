"""`discreet tabulate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from discreet.cli.options import DETECT, Columns, Reading, documented_by, option, split
from discreet.tables.tabulate import tabulate as verb


def _parts(_type: Any, tokens: Sequence[Token]) -> list[list[str]]:
    """`--part region,size --part region,industry`: the dimensions of each linked table."""
    return [split(_type, [token]) for token in tokens]


if TYPE_CHECKING:
    Parts = list[list[str]] | None
else:
    Parts = Annotated[list[Any] | None, option(_parts, "COLUMNS")]


@documented_by(verb)
def tabulate(
    data: Annotated[Path, Parameter(name="MICRODATA")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    by: Columns = None,
    value: str | None = None,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    meta: Path | None = None,
    total: str = "Total",
    top: int = 3,
    complete: bool = False,
    parts: Annotated[Parts, Parameter(name="--part")] = None,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    data
        The microdata, one record for each contribution: any microdata file, or with --meta a τ-ARGUS file (.asc).
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
    force
        Replace files that exist already.
    quiet
        Print nothing but errors.
    """
    from discreet.cli.options import describe_table, refuse_early
    from discreet.cli.progress import Reporter
    from discreet.errors import InputError
    from discreet.release.atomic import write_table

    refuse_early(output, force=force)
    if not by:
        raise InputError("say what to break down by: --by COLUMN, once for each dimension")
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        given: Any = data if meta is not None else reading.read(data)
        report("tabulating", 0.0)
        table = verb(
            given,
            by=by,
            value=value,
            weight=weight,
            holding=holding,
            request=request,
            meta=meta,
            total=total,
            top=top,
            complete=complete,
            parts=parts,
        )
        report("writing", 0.0)
        files = write_table(table, output, force=force, read=[data, *([meta] if meta else [])])
    if not quiet:
        print(describe_table(table, files), file=sys.stderr)
    return 0
