"""`discreet refine`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet.cli.options import DETECT, Aggregates, Columns, Digits, Orders, Params, Reading, Weights, documented_by
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
    quasi: Columns = None,
    confidential: Columns = None,
    identifier: Columns = None,
    ignore: Columns = None,
    by: Columns = None,
    numeric: Columns = None,
    nominal: Columns = None,
    ordinal: Orders = None,
    date: Columns = None,
    weights: Annotated[Weights, Parameter(name="--weight")] = None,
    aggregate: Aggregates = None,
    digits: Digits = None,
    missing: Literal["separate", "impute", "error"] | None = None,
    method: str | None = None,
    params: Annotated[Params, Parameter(name="--param")] = None,
    config: Path | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    bound: bool = False,
    checkpoint: Path | None = None,
    measures: Columns = None,
    order: Literal["sorted", "kept"] = "sorted",
    new_row_map: Path | None = None,
    evidence: Path | None = None,
    force: bool = False,
    quiet: bool = False,
    json: bool = False,
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
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    weights
        How much a quasi-identifier counts when records are compared, as income=2,age=0.5; 1 where nothing is said.
    aggregate
        What replaces the values of a group, as income=median: mean (numbers and dates), median (also ordinals) or mode
        (any).
    digits
        Decimal digits to round a column's aggregates to, as age=0,income=2; 0 keeps whole numbers whole.
    params
        A parameter of the method, as gamma=0.2.
    order
        Write rows sorted by all released columns, so that their order tells nothing, or as they came in.
    new_row_map
        Also write an internal file that links each row of the new release to its record in the original.
    evidence
        Another place for the evidence than OUTPUT.evidence.json.
    force
        Replace files that exist already.
    quiet
        Print nothing but errors.
    json
        Print the evidence as JSON to standard output.
    """
    from discreet.cli.progress import Reporter
    from discreet.data.files import check_writable_format, record_of
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import as_json
    from discreet.release.release import files_of

    # What would fail at the end is refused before the work begins.
    check_writable_format(output)
    files = files_of(output, row_map=new_row_map, evidence=evidence)
    AtomicFiles(files.values(), force=force)
    spare(
        files.values(),
        {
            "the original": data,
            "the release to start from": release,
            "the row map to read": row_map,
            "the configuration": config,
            "the checkpoint": checkpoint,
        },
    )
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        better = verb(
            reading.read(data, beside=release),
            release if record_of(release) else reading.read(release, beside=data),
            key=key,
            row_map=row_map,
            k=k,
            quasi=quasi,
            confidential=confidential,
            identifier=identifier,
            by=by,
            ignore=ignore,
            numeric=numeric,
            nominal=nominal,
            ordinal=ordinal,
            date=date,
            weights=weights,
            aggregate=aggregate,
            digits=digits,
            missing=missing,
            method=method,
            params=params,
            config=config,
            time=time,
            steps=steps,
            seed=seed,
            threads=threads,
            bound=bound,
            checkpoint=checkpoint,
            measures=measures or "fast",
            progress=report,
        )
        report("writing", 0.0)
        written = better.write(output, order=order, row_map=new_row_map, evidence=evidence, force=force)
    if json:
        print(as_json(written.evidence))
    if not quiet:
        print(better.summary(written), file=sys.stderr)
    return 0
