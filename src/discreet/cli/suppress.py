"""`discreet suppress`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.cli.options import CONSOLE, SEARCH, Console, Params, SearchOptions, documented_by
from discreet.tables.suppress import suppress as verb


@documented_by(verb)
def suppress(
    table: Annotated[Path, Parameter(name="TABLE")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    internal: Path | None = None,
    method: str | None = None,
    cost: str | None = None,
    search: SearchOptions = SEARCH,
    previous: Path | None = None,
    frozen: Path | None = None,
    prefer: Path | None = None,
    avoid: Path | None = None,
    protect_secondaries: bool = False,
    singletons: bool = False,
    strict: bool = False,
    partial: bool = False,
    certificate: Path | None = None,
    evidence: Path | None = None,
    mark: str = "x",
    params: Annotated[Params, Parameter(name="--param")] = None,
    meta: Path | None = None,
    console: Console = CONSOLE,
) -> int:
    """Command.

    Parameters
    ----------
    table
        The table with its unsafe cells: of discreet primary, or another tool's .jj or .tab.
    output
        The publishable table, .csv or .parquet: codes and values, with one mark for every suppressed cell. Beside it
        appear OUTPUT.release.json, which may be published, and OUTPUT.evidence.json, which is internal.
    internal
        Also write the table with statuses, reasons and all values: .parquet, .csv, .jj, .tab, or .txt for code-value
        output. Internal.
    frozen
        A file of cells that must be published, with a column for each dimension (or cell, its number).
    prefer
        A file of cells to suppress rather than others: they cost a hundredth.
    avoid
        A file of cells to spare: they cost a hundred times as much.
    certificate
        Also write a certificate of the protection, as .json, which discreet audit --check adds up again. Internal.
    evidence
        Another place for the evidence than OUTPUT.evidence.json.
    mark
        What stands for a suppressed value in a .csv file.
    params
        A parameter of the method, as most=4.
    """
    from discreet.cli.progress import Reporter
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import as_json
    from discreet.release.suppressed import table_files

    files = table_files(output, internal=internal, certificate=certificate, evidence=evidence)
    AtomicFiles(files.values(), force=console.force)
    read = {"the table itself": table, "the configuration": search.config, "the checkpoint": search.checkpoint}
    spare(files.values(), read)
    with Reporter(quiet=console.quiet) as report:
        release = verb(
            table,
            method=method,
            cost=cost,
            previous=previous,
            frozen=frozen,
            prefer=prefer,
            avoid=avoid,
            protect_secondaries=protect_secondaries,
            singletons=singletons,
            strict=strict,
            partial=partial,
            certificate=certificate is not None,
            params=params,
            meta=meta,
            progress=report,
            **search.given(),
        )
        report("writing", 0.0)
        written = release.write(
            output, internal=internal, certificate=certificate, evidence=evidence, mark=mark, force=console.force
        )
    if console.json:
        print(as_json(release.evidence))
    if not console.quiet:
        print(release.summary(written), file=sys.stderr)
    return 0
