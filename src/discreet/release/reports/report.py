"""The public verb `report`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import Names, TypeKeywords, sort_keywords, takes
from discreet.listening import shows_progress
from discreet.text import silent

if TYPE_CHECKING:
    from discreet.release.reports.subject import Subject
    from discreet.release.reports.tables import TableSubject


@shows_progress
@takes(TypeKeywords)
def report(
    release: str | Path,
    *,
    original: Any = None,
    key: str | None = None,
    row_map: Any = None,
    evidence: str | Path | None = None,
    sign_off: str | Path | None = None,
    study: str | Path | None = None,
    quasi: Names = None,
    confidential: Names = None,
    config: str | Path | None = None,
    output: str | Path | None = None,
    figures: str | Path | None = None,
    acro: str | Path | None = None,
    files: str | Path | None = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[TypeKeywords],
) -> dict[str, Path]:
    """Write the two reports of a release, whoever made it: one that goes out with the data, and one for the office.

    `RELEASE.report.html` may be published; `RELEASE.internal.html` is for those who decide. Each is one file that opens
    in any browser without a network. What cannot be told, because the original, the evidence or the row map is not
    there, is left out, and the report says so. No value of a respondent is in either.

    Parameters
    ----------
    release : path
        The released file, whoever made it; or a table of a database, as postgresql:SCHEMA.TABLE or sqlite:FILE#TABLE.
    original : path or frame
        The microdata before protection: for risks before and after, and what has changed. Of a table the internal
        one, with its values and levels: for the pattern and the intervals.
    key : str
        A column in both files that names each record, to align them by.
    row_map : path
        The row map of the release, to align the files by.
    evidence : path
        The evidence of the release; by default the file `RELEASE.evidence.json` beside it, if it is there.
    sign_off : path
        A TOML file with what those who decide have said: recipient, purpose, reviewer, decision, review_date, and a
        table five_safes. Without it the internal report has blank fields to fill in by hand.
    study : path
        The folder of `discreet study tradeoff`: its releases are drawn beside this one, by loss and risk.
    quasi : list of str
        The quasi-identifiers, where neither record nor evidence says them.
    confidential : list of str
        Confidential columns of the release. Whatever is released and is not a quasi-identifier counts as confidential.
    numeric : list of str
        Columns whose values are numbers, where the data would say otherwise.
    nominal : list of str
        Columns whose values are categories without order, also where they are numbers.
    ordinal : mapping of str to list of str
        Columns whose values are ordered categories, each with its order from lowest to highest.
    date : mapping of str to str
        Columns whose values are dates, each with the form they are written in; or a list of columns.
    coarsen : mapping of str to str
        Quasi-identifiers that the release has in a coarser form, as in `protect`.
    config : path
        The TOML file of the protection, for roles and types; what the call gives wins.
    output : path
        Another name than that of the release, for the files to be named after.
    figures : path
        Instead of the reports write this JSON file, with the figures that charts of the internal report of microdata
        are drawn from: distributions, correlations and class sizes. Internal.
    acro : path
        Also make this folder for output checkers: the release in the form that ACRO's viewer reads. Internal, and needs
        the evidence.
    files : path
        Of a table of a database: the folder in which its record and evidence stand, and the reports appear; the current
        one by default.
    force : bool
        Replace files that exist already.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        Types of columns: see TypeKeywords.

    Returns
    -------
    dict of str to Path
        The files written: `report` and `internal report`, or `figures`.

    Examples
    --------
    >>> import discreet, polars as pl
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "ill": [0, 1, 0, 1, 1, 0]})
    >>> release = discreet.protect(frame, k=3, quasi=["age"], confidential=["ill"])
    >>> written = release.write("release.csv")  # doctest: +SKIP
    >>> discreet.report("release.csv")  # doctest: +SKIP
    """
    from discreet.data.databases.address import is_address
    from discreet.data.files import read_table as read_database
    from discreet.errors import InputError
    from discreet.release.acro import check_acro, write_acro
    from discreet.release.charts import check_drawing
    from discreet.release.reports import repeat, table_internal
    from discreet.release.reports.files import (
        is_table,
        read_subject,
        read_table,
        render_figures,
        render_reports,
        report_files,
        write_pages,
    )

    check_drawing("reports")
    (types,) = sort_keywords(report, keywords, TypeKeywords)
    tell = progress or silent
    if acro is not None:
        check_acro(acro, release)
    source = None
    if is_address(release):
        source = read_database(release, files)
        release = source.path
    elif files is not None:
        raise InputError("files are of a table of a database; what belongs to a file stands beside it")
    release = Path(release)
    pages = report_files(release if output is None else Path(output)) if figures is None else {"figures": Path(figures)}
    named = None if evidence is None else Path(evidence)
    subject: Subject | TableSubject
    render: Callable[[], dict[str, str]]
    command: Callable[[], str]
    if is_table(release):
        if figures is not None:
            raise InputError(f"{release.name}: figures are of microdata; the reports of a table have its pattern")
        subject = table = read_table(release, original=original, evidence=named, sign_off=sign_off)
        render = partial(table_internal.render_table_reports, table)
        command = partial(table_internal.write_command, table.account)
    else:
        subject = data = read_subject(
            release,
            source=source,
            original=original,
            key=key,
            row_map=row_map,
            evidence=named,
            sign_off=sign_off,
            study=None if study is None else Path(study),
            roles={"quasi": quasi, "confidential": confidential},
            types=types,
            config=config,
            tell=tell,
        )
        render = partial(render_reports, data, tell) if figures is None else partial(render_figures, data, tell)
        command = partial(repeat.write_command, data)
    if acro is not None and "evidence" in subject.absent:
        raise InputError(f"{release.name}: a folder for output checkers needs the evidence of the release (--evidence)")
    written = write_pages(render, pages, force=force)
    if acro is not None:
        written["acro"] = write_acro(release, subject.account, acro, command=command())
    return written
