"""`discreet report` and `discreet review`: the reports of a release that was written, and what is decided on it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from discreet.cli.options import (
    CONSOLE,
    DETECT,
    TYPES,
    Columns,
    Console,
    Reading,
    TypeOptions,
    documented_by,
    given_only,
)
from discreet.cli.printing import show, show_json
from discreet.cli.progress import Reporter
from discreet.release.reports.report import report as report_verb
from discreet.release.review import review as review_verb


@documented_by(report_verb)
def report(
    release: Path,
    /,
    *,
    original: Path | None = None,
    row_map: Path | None = None,
    key: str | None = None,
    evidence: Path | None = None,
    sign_off: Path | None = None,
    study: Path | None = None,
    quasi: Columns = None,
    confidential: Columns = None,
    types: TypeOptions = TYPES,
    config: Path | None = None,
    output: Path | None = None,
    figures: Path | None = None,
    acro: Path | None = None,
    files: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    evidence
        The evidence of the release; by default the file RELEASE.evidence.json beside it, if it is there.
    output
        Another name than that of the release, for the files to be named after.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    json
        Print the names of the files as JSON.
    """
    from discreet.data.databases.address import is_address, parse
    from discreet.release.reports.files import check_free, is_table, report_files

    named = (files or Path()) / parse(release).stem if is_address(release) else release
    pages = report_files(named if output is None else output) if figures is None else {"figures": figures}
    read = {"the release": release, "the original": original, "the row map": row_map, "the evidence": evidence}
    check_free(pages, {**read, "the sign-off": sign_off, "the configuration": config}, force=console.force)
    table = is_table(named)
    with Reporter(quiet=console.quiet) as reporter:
        reporter("reading", 0.0)
        written = report_verb(
            release,
            original=original if original is None or table else reading.read(original, beside=release, config=config),
            key=key,
            row_map=row_map,
            evidence=evidence,
            sign_off=sign_off,
            study=study,
            quasi=quasi,
            confidential=confidential,
            config=config,
            output=output,
            figures=figures,
            acro=acro,
            files=files,
            force=console.force,
            progress=reporter,
            **types.given(),
        )
    if console.json:
        show_json({name: str(path) for name, path in written.items()})
    elif figures is not None and not console.quiet:
        show(f"Files       {figures}  internal")
    elif not console.quiet:
        show(f"Files       {written['report']}  publishable: for those who use the data")
        show(f"            {written['internal report']}  internal: for those who decide")
        if acro is not None:
            show(f"            {acro}  internal: for output checkers")
    return 0


@documented_by(review_verb)
def review(
    release: Path,
    /,
    *,
    decision: Literal["approved", "returned"] | None = None,
    reviewer: str | None = None,
    remarks: str | None = None,
    evidence: Path | None = None,
    original: Path | None = None,
    row_map: Path | None = None,
    files: Path | None = None,
    config: Path | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Command.

    Exits with 1 if anything speaks against the release.

    Parameters
    ----------
    json
        Print what was found and decided as JSON to standard output.
    """
    with Reporter(quiet=quiet) as reporter:
        reporter("verifying", 0.0)
        found = review_verb(
            release,
            **given_only(
                decision=decision,
                reviewer=reviewer,
                remarks=remarks,
                evidence=evidence,
                original=original,
                row_map=row_map,
                files=files,
                config=config,
            ),
        )
    if json:
        show_json(found.as_dict())
    elif not quiet or not found:
        show(found.summary())
    return 0 if found else 1
