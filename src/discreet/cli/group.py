"""`discreet group`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token

from discreet.cli.options import (
    DETECT,
    Aggregates,
    Columns,
    Digits,
    Orders,
    Params,
    Reading,
    Weights,
    documented_by,
    option,
    split,
)
from discreet.grouping.group import MEGABYTES
from discreet.grouping.group import group as verb


def _numbers(_type: Any, tokens: Sequence[Token]) -> list[int]:
    """`--k 5,10 --k 25`: whole numbers after commas, or the option again."""
    try:
        return [int(item) for item in split(_type, tokens)]
    except ValueError:
        raise ValueError("expected whole numbers, as 5,10,25") from None


@documented_by(verb)
def group(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    k: Annotated[list[int] | None, option(_numbers, "K")] = None,
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
    method: Literal["gomm", "d-gomm", "pareto"] = "gomm",
    params: Annotated[Params, Parameter(name="--param")] = None,
    inner: str | None = None,
    inner_params: Annotated[Params, Parameter(name="--inner-param")] = None,
    inner_steps: int | None = None,
    start: Literal["rivals", "random"] | None = None,
    loss_weight: float = 1.0,
    risk_weight: float = 1.0,
    direction: Literal["original", "released"] = "original",
    nearest: Literal[1, 2] = 1,
    known: Columns = None,
    choose: int | None = None,
    interval: Literal["relative", "rank", "sd"] = "relative",
    width: float | None = None,
    records: Annotated[bool | None, Parameter(negative="--values")] = None,
    sample: int | None = None,
    config: Path | None = None,
    time: float | None = None,
    steps: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: int = MEGABYTES,
    point: int | None = None,
    front: Path | None = None,
    plot: Path | None = None,
    operators: Path | None = None,
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
        The grouping as a TOML file, for `discreet protect --grouping`.
    k
        How many records at least must share each combination of values within a group. Several, as 5,10,25, for
        `--method pareto`.
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
        A parameter of the method, as population=100.
    inner_params
        A parameter of the inner method, as gamma=0.2.
    point
        Write this point of the front, counted from the one that loses least, instead of the grouping of the best score.
    front
        Also write each point of the front as a TOML file of its own into this folder.
    plot
        Also draw the front, as .html, .svg or .png.
    operators
        Also write what each operator did in each generation: as data (.csv, .parquet) or drawn (.html, .svg, .png).
    force
        Replace files that exist already.
    quiet
        Print nothing but errors.
    json
        Print the evidence as JSON to standard output.
    """
    from discreet.cli.progress import Reporter
    from discreet.data.files import check_writable_format, sha256
    from discreet.errors import InputError
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.charts import FORMATS, check_picture
    from discreet.release.evidence import as_json

    # What would fail at the end is refused before the work begins.
    drawn = operators is not None and operators.suffix.lower() in FORMATS
    for picture in (plot, operators if drawn else None):
        if picture is not None:
            check_picture(picture)
    if operators is not None and not drawn:
        check_writable_format(operators)
    if front is not None and front.exists() and not front.is_dir():
        raise InputError(f"{front} is a file; name a folder for the points of the front")
    files = [path for path in (output, plot, operators) if path is not None]
    AtomicFiles(files, force=force)
    spare(files, {"the input itself": data, "the configuration": config})
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        found = verb(
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
            method=method,
            params=params,
            inner=inner,
            inner_params=inner_params,
            inner_steps=inner_steps,
            start=start,
            loss_weight=loss_weight,
            risk_weight=risk_weight,
            direction=direction,
            nearest=nearest,
            known=known,
            choose=choose,
            interval=interval,
            width=width,
            records=records,
            sample=sample,
            config=config,
            time=time,
            steps=steps,
            seed=seed,
            threads=threads,
            memory=memory,
            progress=report,
        )
        report("writing", 0.0)
        if point is not None:
            found = found.pick(point)
        found.write(output, force=force)
        if front is not None:
            found.write_front(front, force=force)
        if plot is not None:
            found.draw_front(plot, force=force)
        if operators is not None:
            found.write_operators(operators, force=force)
    if json:
        written_to = {"file": output.name, "format": "toml", "sha256": sha256(output)}
        print(as_json(found.evidence | {"output": written_to}))
    if not quiet:
        written = [output, *(path for path in (front, plot, operators) if path is not None)]
        print(found.summary(written), file=sys.stderr)
    return 0
