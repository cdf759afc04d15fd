"""`discreet refine`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet.cli.options import (
    COLUMNS,
    CONSOLE,
    DETECT,
    SEARCH,
    ColumnOptions,
    Columns,
    Console,
    Params,
    Reading,
    SearchOptions,
    documented_by,
)
from discreet.microdata.refine import refine as verb


@documented_by(verb)
def refine(
    data: Annotated[Path, Parameter(name="ORIGINAL")],
    release: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    key: str | None = None,
    row_map: Path | None = None,
    k: int | None = None,
    columns: ColumnOptions = COLUMNS,
    method: str | None = None,
    params: Annotated[Params, Parameter(name="--param")] = None,
    search: SearchOptions = SEARCH,
    bound: bool = False,
    measures: Columns = None,
    order: Literal["sorted", "kept"] = "sorted",
    new_row_map: Path | None = None,
    evidence: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    data
        The microdata: CSV, Parquet, Arrow or Feather; Excel, Stata, SPSS or SAS with the extra `formats`.
    release
        The release to start from, whoever made it, with the same names for the quasi-identifiers.
    output
        The publishable file; its suffix says the format. Beside it appear OUTPUT.release.json, which may be published,
        and OUTPUT.evidence.json, which is internal.
    params
        A parameter of the method, as gamma=0.2.
    order
        Write rows sorted by all released columns, so that their order tells nothing, or as they came in.
    new_row_map
        Also write an internal file that links each row of the new release to its record in the original.
    evidence
        Another place for the evidence than OUTPUT.evidence.json.
    """
    from discreet.cli.progress import Reporter
    from discreet.data.files import check_writable_format, record_of
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import as_json
    from discreet.release.release import files_of

    # What would fail at the end is refused before the work begins.
    check_writable_format(output)
    files = files_of(output, row_map=new_row_map, evidence=evidence)
    AtomicFiles(files.values(), force=console.force)
    spare(
        files.values(),
        {
            "the original": data,
            "the release to start from": release,
            "the row map to read": row_map,
            "the configuration": search.config,
            "the checkpoint": search.checkpoint,
        },
    )
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        better = verb(
            reading.read(data, beside=release),
            release if record_of(release) else reading.read(release, beside=data),
            key=key,
            row_map=row_map,
            k=k,
            method=method,
            params=params,
            bound=bound,
            measures=measures or "fast",
            progress=report,
            **columns.given(),
            **search.given(),
        )
        report("writing", 0.0)
        written = better.write(output, order=order, row_map=new_row_map, evidence=evidence, force=console.force)
    if console.json:
        print(as_json(written.evidence))
    if not console.quiet:
        print(better.summary(written), file=sys.stderr)
    return 0
