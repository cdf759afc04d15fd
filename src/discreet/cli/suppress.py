"""`discreet suppress` and `discreet audit`: commands that protect a table and that attack one, whoever protected it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from discreet.cli.options import (
    CONSOLE,
    PROTECTION,
    REPORTS,
    SEARCH,
    WORKERS,
    Console,
    Params,
    ProtectionFlags,
    ReportOptions,
    SearchFlags,
    WorkerOptions,
    documented_by,
    given_only,
)
from discreet.cli.printing import show, show_json, tell
from discreet.cli.progress import Reporter
from discreet.errors import PARTIAL, InputError
from discreet.tables.suppress import suppress as suppress_verb
from discreet.text import count
from discreet.verification.audit import audit as audit_verb

if TYPE_CHECKING:
    from discreet.verification.cell import CellAccount
    from discreet.verification.verdict import Audit


@documented_by(suppress_verb)
def suppress(
    table: Annotated[Path, Parameter(name="TABLE")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    internal: Path | None = None,
    method: str | None = None,
    cost: str | None = None,
    search: SearchFlags = SEARCH,
    previous: Path | None = None,
    frozen: Path | None = None,
    prefer: Path | None = None,
    avoid: Path | None = None,
    protection: ProtectionFlags = PROTECTION,
    certificate: Path | None = None,
    evidence: Path | None = None,
    mark: str = "x",
    split: bool = False,
    reports: ReportOptions = REPORTS,
    params: Annotated[Params, Parameter(name="--param")] = None,
    meta: Path | None = None,
    where: WorkerOptions = WORKERS,
    console: Console = CONSOLE,
) -> int:
    """Command.

    Exits with 3 if the release is partial: some unsafe cells are not protected.

    Parameters
    ----------
    table
        The table with its unsafe cells: of discreet primary, or another tool's .jj or .tab. Or a folder of tables that
        have no cells in common, each protected on its own; OUTPUT is then the folder of their releases, as .csv.
    output
        The publishable table, .csv, .parquet, .arrow or .xlsx: codes and values, with one mark for every suppressed
        cell.
        Beside it appear OUTPUT.release.json, which may be published, and OUTPUT.evidence.json, which is internal.
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
    mark
        What stands for a suppressed value in a .csv or .xlsx file.
    split
        Write also each of several linked tables to a file of its own, named by its dimensions, as
        OUTPUT.region-size.csv; the one record is for all of them.
    params
        A parameter of the method, as most=4.
    """
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.suppressed import table_files

    if table.is_dir():
        from discreet.cli.large import suppress_tables

        alone = {"internal": internal, "certificate": certificate, "evidence": evidence, "split": split, "meta": meta}
        files_read = {"previous": previous, "frozen": frozen, "prefer": prefer, "avoid": avoid}
        kept = {"method": method, "cost": cost, "params": params, **protection.given(), **search.given()}
        return suppress_tables(table, output, kept, vars(where), alone | files_read | reports.given(), console=console)
    reports.check(output)
    files = table_files(output, internal=internal, certificate=certificate, evidence=evidence, report=reports.report)
    AtomicFiles(files.values(), force=console.force)
    read = {"the table itself": table, "the configuration": search.config, "the checkpoint": search.checkpoint}
    more = {"the sign-off": reports.sign_off, "the expected release": reports.expect, "the secret": protection.secret}
    spare(files.values(), {**read, **more})
    with Reporter(quiet=console.quiet) as report:
        release = suppress_verb(
            table,
            method=method,
            cost=cost,
            previous=previous,
            frozen=frozen,
            prefer=prefer,
            avoid=avoid,
            certificate=certificate is not None or reports.report,
            params=params,
            meta=meta,
            progress=report,
            **protection.given(),
            **search.given(),
        )
        report("writing", 0.0)
        written = release.write(
            output,
            internal=internal,
            certificate=certificate,
            evidence=evidence,
            mark=mark,
            split=split,
            force=console.force,
            **vars(reports),
        )
    if console.json:
        show_json(release.evidence)
    if not console.quiet:
        tell(release.summary(written))
    return PARTIAL if release.partial else 0


@documented_by(audit_verb)
def audit(
    table: Annotated[Path, Parameter(name="TABLE")],
    /,
    *,
    pattern: Path | None = None,
    intervals: Path | None = None,
    secondaries: bool = False,
    strict: bool = False,
    singletons: bool = False,
    sums: bool = False,
    previous_release: list[Path] | None = None,
    growth: float | None = None,
    certificate: Path | None = None,
    cell: str | None = None,
    check: Path | None = None,
    meta: Path | None = None,
    config: Path | None = None,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Command.

    Exits with 1 if a cell that was judged is not protected.

    Parameters
    ----------
    table
        The table with its unsafe cells and their levels: of discreet primary, or another tool's .jj or .tab. Or what
        discreet suppress has published, beside its record: of it the intervals are found, and no level is judged.
    intervals
        Also find the exact interval of every suppressed cell and write them all, as .csv or .parquet. Internal.
    certificate
        Also write a certificate, as .json: for each primary cell two tables that prove its interval, which anybody who
        holds the table can check by additions alone. Internal.
    cell
        Also tell of one cell, named by its codes in the order of the dimensions, as north,mining, or by its number:
        value, contributors, rule, what is required, the attacker's interval, and the unsafe cells that rely on it.
        Internal.
    check
        Instead of an attack: check a certificate that was written before, by additions alone.
    json
        Print the verdict as JSON to standard output.
    """
    from discreet.release.atomic import AtomicFiles, write_contents
    from discreet.release.evidence import evidence_of_audit

    if check is not None:
        if intervals is not None or certificate is not None:
            raise InputError("--check looks at a certificate that is there; leave out --intervals and --certificate")
        return _check_certificate(table, pattern, check, meta, strict=strict, quiet=quiet)
    targets = [path for path in (intervals, certificate) if path is not None]
    _refuse_suffixes(intervals, certificate)
    AtomicFiles(targets, force=force)
    with Reporter(quiet=quiet) as report:
        found = audit_verb(
            table,
            **given_only(
                pattern=pattern,
                intervals=intervals is not None,
                secondaries=secondaries or None,
                strict=strict or None,
                singletons=singletons or None,
                sums=sums or None,
                previous_release=previous_release,
                growth=growth,
                certificate=certificate is not None,
                meta=meta,
                config=config,
            ),
            progress=report,
        )
        contents = _make_contents(found, table, intervals, certificate)
        read = [path for path in (table, pattern, meta) if path is not None]
        files = write_contents(contents, force=force, read=read) if contents else []
        account = None if cell is None else _explain(found, cell, singletons=singletons)
    if json:
        about = {} if account is None else {"cell": account.as_dict()}
        show_json(evidence_of_audit(found, table, pattern) | about)
    if not quiet or not found:
        (tell if json else show)(found.summary())
        if account is not None:
            (tell if json else show)(f"\n{account.summary()}")
        for path in files:
            tell(f"Written     {path} (internal: not for publication)")
    return 0 if found else 1


def _explain(found: Audit, name: str, *, singletons: bool) -> CellAccount:
    """What is told of a cell that was named by its number or its codes."""
    from discreet.tables.manual import find_cell
    from discreet.verification.cell import explain_cell

    number = find_cell(found.table, int(name) if name.isdigit() else name.split(","))
    return explain_cell(found.table, number, strict=found.strict, singletons=singletons)


def _check_certificate(
    table: Path, pattern: Path | None, check: Path, meta: Path | None, *, strict: bool, quiet: bool
) -> int:
    """Check a certificate, and say what is wrong with it."""
    from discreet.verification.certificate import recheck

    cells, wrong = recheck(table, check, pattern=pattern, meta=meta, strict=strict)
    if wrong:
        rest = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
        show(f"Certificate {check.name} does NOT prove the protection: {wrong[0]}{rest}")
    elif not quiet:
        show(f"Certificate {check.name} proves the protection of {count(cells, 'primary cell')} by additions")
    return 1 if wrong else 0


def _refuse_suffixes(intervals: Path | None, certificate: Path | None) -> None:
    if intervals is not None and intervals.suffix.lower() not in (".csv", ".parquet"):
        raise InputError(f"{intervals.name}: intervals are written as .csv or .parquet; name the file so")
    if certificate is not None and certificate.suffix.lower() != ".json":
        raise InputError(f"{certificate.name}: a certificate is written as .json; name the file so")


def _make_contents(found: Audit, table: Path, intervals: Path | None, certificate: Path | None) -> dict[Path, bytes]:
    from discreet.release.atomic import render_frame

    contents: dict[Path, bytes] = {}
    if intervals is not None:
        about = {"table": table.name, "strict": found.strict, "verdict": "protected" if found else "not protected"}
        contents |= render_frame(found.intervals("polars"), intervals, "discreet/intervals/1", about)
    if certificate is not None and found.certificate is not None:
        contents[certificate] = found.certificate.text().encode()
    return contents
