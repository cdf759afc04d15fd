"""`discreet protect` and `discreet refine`: commands that write a release of microdata."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from discreet.cli.options import (
    COLUMNS,
    CONSOLE,
    DETECT,
    LARGE,
    PREVIOUS,
    REPORTS,
    SEARCH,
    SURVEY,
    WRITING,
    ColumnOptions,
    Console,
    Groups,
    LargeOptions,
    Names,
    Params,
    PreviousOptions,
    Reading,
    ReportOptions,
    SearchFlags,
    SurveyOptions,
    WritingOptions,
    documented_by,
)
from discreet.cli.printing import show, show_json, tell
from discreet.cli.progress import Reporter
from discreet.microdata.protect import plan
from discreet.microdata.protect import protect as protect_verb
from discreet.microdata.refine import refine as refine_verb

if TYPE_CHECKING:
    from discreet.release.release import Release


@documented_by(protect_verb)
def protect(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    k: int | None = None,
    columns: ColumnOptions = COLUMNS,
    promises: SurveyOptions = SURVEY,
    grouping: Groups = None,
    labels: Path | None = None,
    method: str | None = None,
    params: Annotated[Params, Parameter(name="--param")] = None,
    search: SearchFlags = SEARCH,
    target: Literal["il", "score"] | None = None,
    bound: bool = False,
    measures: Names = None,
    previous: PreviousOptions = PREVIOUS,
    writing: WritingOptions = WRITING,
    reports: ReportOptions = REPORTS,
    dry_run: bool = False,
    large: LargeOptions = LARGE,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    data
        The microdata: CSV, Parquet, Arrow or Feather; Excel, Stata, SPSS or SAS with the extra `formats`. Or a folder
        or a pattern of Parquet, CSV or Arrow files with the same columns, which need not fit into memory. Or with the
        extra `db` a table of a database, as postgresql:SCHEMA.TABLE, postgresql:SERVICE/SCHEMA.TABLE or
        sqlite:FILE#TABLE.
    output
        The publishable file; its suffix says the format. Beside it appear OUTPUT.release.json, which may be published,
        and OUTPUT.evidence.json, which is internal. Of data in parts a folder to be made, with parts and release.json.
        Or a table of a database, as postgresql:SCHEMA.TABLE or sqlite:FILE#TABLE; then they are files of its name in
        the current folder.
    dry_run
        Do nothing and write nothing: print the roles, the promise, whether it can be kept, and about how much memory
        and time it would take. What the run would refuse is refused here.
    k
        How many records at least must share each combination of the quasi-identifiers. Required, here or in the
        configuration.
    grouping
        Groups of quasi-identifiers, as 'age,income;region' or in a TOML file with groups = [["age", "income"],
        ["region"]]: the records are grouped for each anew, and at least k share each combination within a group of
        columns, not across them; what an intruder who combines them finds is always measured. By default all
        quasi-identifiers are one group.
    labels
        A file with the group of each record, row by row under a name, if the groups were made elsewhere: nothing is
        searched then. Groups of fewer than k records are refused.
    """

    given: Any = {
        "k": k,
        "grouping": grouping,
        "labels": labels,
        "method": method,
        "params": params,
        "target": target,
        "bound": bound or None,
        "measures": measures,
        **columns.given(),
        **promises.given(),
        **search.given(),
    }
    where: Any = {"seeds": large.seeds, "workers": large.workers, "cluster": large.cluster}

    from discreet.cli.large import is_large, publish_large

    if is_large(data, large.memory):
        alone: Any = {
            "evidence": writing.evidence,
            "files": writing.files,
            "dry_run": dry_run,
            "labels": labels,
            "seeds": large.seeds,
            **reports.given(),
            **previous.given(),
        }
        return publish_large(
            data,
            output,
            given | {"order": writing.order, "row_map": writing.row_map},
            large,
            alone,
            reading=reading.settings(),
            console=console,
        )

    def make(report: Reporter) -> Release:
        return protect_verb(
            reading.read(data, config=search.config),
            progress=report,
            **previous.given(),
            **given,
            **where,
        )

    read = {
        "the input itself": data,
        "the configuration": search.config,
        "the grouping": grouping if isinstance(grouping, Path) else None,
        "the labels": labels,
        "the previous release": previous.previous_release,
        "its row map": previous.previous_row_map,
        "the checkpoint": search.checkpoint,
    }
    beside: dict[str, Any] = {
        "order": writing.order,
        "row_map": writing.row_map,
        "evidence": writing.evidence,
        "folder": writing.files,
        "reports": reports,
    }
    if dry_run:
        _refuse_early(output, read, console=console, **beside)
        with Reporter(quiet=console.quiet) as report:
            found = plan(reading.read(data, config=search.config), progress=report, **given)
        show_json(found.as_dict()) if console.json else show(found.summary())
        return 0
    return _publish(make, output, read, console=console, **beside)


@documented_by(refine_verb)
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
    promises: SurveyOptions = SURVEY,
    method: str | None = None,
    params: Annotated[Params, Parameter(name="--param")] = None,
    search: SearchFlags = SEARCH,
    bound: bool = False,
    measures: Names = None,
    order: Literal["sorted", "kept"] | None = None,
    new_row_map: Path | None = None,
    evidence: Path | None = None,
    files: Path | None = None,
    reports: ReportOptions = REPORTS,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    release
        The release to start from, whoever made it, with the same names for the quasi-identifiers.
    output
        The publishable file; its suffix says the format. Beside it appear OUTPUT.release.json, which may be published,
        and OUTPUT.evidence.json, which is internal. Or a table of a database, as postgresql:SCHEMA.TABLE or
        sqlite:FILE#TABLE; then they are files of its name in the current folder.
    new_row_map
        Also write an internal file that links each row of the new release to its record in the original.
    """
    from discreet.data.files import record_of

    def make(report: Reporter) -> Release:
        return refine_verb(
            reading.read(data, beside=release, config=search.config),
            release if record_of(release) else reading.read(release, beside=data),
            key=key,
            row_map=row_map,
            k=k,
            method=method,
            params=params,
            bound=bound or None,
            measures=measures,
            progress=report,
            **columns.given(),
            **promises.given(),
            **search.given(),
        )

    read = {
        "the original": data,
        "the release to start from": release,
        "the row map to read": row_map,
        "the configuration": search.config,
        "the checkpoint": search.checkpoint,
    }
    beside: dict[str, Any] = {"row_map": new_row_map, "evidence": evidence, "folder": files, "reports": reports}
    return _publish(make, output, read, order=order, console=console, **beside)


def _publish(
    make: Callable[[Reporter], Release],
    output: Path,
    read: Mapping[str, Path | None],
    *,
    order: str | None,
    row_map: Path | None,
    evidence: Path | None,
    folder: Path | None,
    reports: ReportOptions,
    console: Console,
) -> int:
    """Make a release and write it; what would fail at the end is refused before the work begins."""
    beside: dict[str, Any] = {"row_map": row_map, "evidence": evidence}
    _refuse_early(output, read, folder=folder, order=order, reports=reports, console=console, **beside)
    beside |= {"files": folder, **vars(reports)}
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        release = make(report)
        report("writing", 0.0)
        written = release.write(output, order=order, force=console.force, **beside)
    if console.json:
        show_json(written.evidence)
    if not console.quiet:
        tell(release.summary(written))
    return 0


def _refuse_early(
    output: Path,
    read: Mapping[str, Path | None],
    *,
    row_map: Path | None,
    evidence: Path | None,
    folder: Path | None,
    order: str | None,
    reports: ReportOptions,
    console: Console,
) -> None:
    """Refuse what would fail at the end before the work begins."""
    from discreet.data.databases.address import is_address, parse
    from discreet.data.files import check_writable_format
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.release import check_order, files_of

    reports.check(output)
    files = files_of(output, row_map=row_map, evidence=evidence, report=reports.report, folder=folder)
    spare(files.values(), {**read, "the sign-off": reports.sign_off, "the expected release": reports.expect})
    if is_address(output):
        from discreet.data.databases.staging import stage

        check_order(order)
        with stage(parse(output), force=console.force):
            del files["release"]
    else:
        check_writable_format(output)
    AtomicFiles(files.values(), force=console.force)
