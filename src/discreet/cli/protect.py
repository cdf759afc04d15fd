"""`discreet protect`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet.cli.options import (
    DETECT,
    Aggregates,
    Columns,
    Digits,
    Groups,
    Orders,
    Params,
    Reading,
    Weights,
    documented_by,
)
from discreet.microdata.protect import protect as verb


@documented_by(verb)
def protect(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
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
    grouping: Groups = None,
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
    row_map: Path | None = None,
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
    grouping
        Groups of quasi-identifiers, as 'age,income;region' or in a TOML file with groups = [["age", "income"],
        ["region"]]: the records are grouped for each anew, and at least k share each combination within a group of
        columns, not across them; what an intruder who combines them finds is always measured. By default all
        quasi-identifiers are one group.
    params
        A parameter of the method, as gamma=0.2.
    order
        Write rows sorted by all released columns, so that their order tells nothing, or as they came in.
    row_map
        Also write an internal file that links each row of the release to its record in the input.
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
    from discreet.data.files import check_writable_format
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.evidence import as_json
    from discreet.release.release import files_of

    # What would fail at the end is refused before the work begins.
    check_writable_format(output)
    files = files_of(output, row_map=row_map, evidence=evidence)
    AtomicFiles(files.values(), force=force)
    spare(
        files.values(),
        {
            "the input itself": data,
            "the configuration": config,
            "the grouping": grouping if isinstance(grouping, Path) else None,
            "the checkpoint": checkpoint,
        },
    )
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        release = verb(
            reading.read(data),
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
            grouping=grouping,
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
        written = release.write(output, order=order, row_map=row_map, evidence=evidence, force=force)
    if json:
        print(as_json(written.evidence))
    if not quiet:
        print(release.summary(written), file=sys.stderr)
    return 0
