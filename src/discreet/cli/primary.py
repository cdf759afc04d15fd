"""`discreet primary`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet.cli.options import Pair, documented_by
from discreet.tables.primary import primary as verb


@documented_by(verb)
def primary(
    table: Annotated[Path, Parameter(name="TABLE")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    p: float | None = None,
    q: float | None = None,
    coalition: int = 1,
    dominance: Pair = None,
    threshold: float | None = None,
    range: float = 30.0,  # noqa: A002 - the option's name
    request: float | None = None,
    zeros: float | None = None,
    manual: Path | None = None,
    missing: bool = False,
    bounds: str | None = None,
    cost: Literal["value", "count", "unit", "log"] = "value",
    meta: Path | None = None,
    force: bool = False,
    quiet: bool = False,
) -> int:
    """Command.

    Parameters
    ----------
    table
        The table: a file of discreet tabulate (.parquet, .csv), .tab or .jj.
    output
        The table with its unsafe cells: .parquet, .csv, .jj or .tab. It is internal.
    dominance
        The (n,k) rule, as 1,75: unsafe if the n largest contributions are more than k percent of the total.
    manual
        A file of cells named one by one, with a column for each dimension (or cell, its number) and, if wanted, status
        (u unsafe, s safe, z not to be suppressed), lpl and upl.
    force
        Replace files that exist already.
    quiet
        Print nothing but errors.
    """
    from discreet.cli.options import describe_table, refuse_early
    from discreet.cli.progress import Reporter
    from discreet.release.atomic import write_table

    refuse_early(output, force=force)
    with Reporter(quiet=quiet) as report:
        report("judging", 0.0)
        flagged = verb(
            table,
            p=p,
            q=q,
            coalition=coalition,
            dominance=dominance,
            threshold=threshold,
            range=range,
            request=request,
            zeros=zeros,
            manual=manual,
            missing=missing,
            bounds=bounds,
            cost=cost,
            meta=meta,
        )
        report("writing", 0.0)
        read = [path for path in (table, manual, meta) if path is not None]
        files = write_table(flagged, output, force=force, read=read)
    if not quiet:
        print(describe_table(flagged, files), file=sys.stderr)
    return 0
