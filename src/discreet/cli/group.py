"""`discreet group`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from discreet.cli.options import (
    COLUMNS,
    CONSOLE,
    DETECT,
    LINKAGE,
    SEARCH,
    ColumnOptions,
    Console,
    LinkageOptions,
    Options,
    Params,
    Reading,
    SearchFlags,
    documented_by,
    option,
    read_whole_numbers,
)
from discreet.cli.printing import show_json, tell
from discreet.cli.progress import Reporter
from discreet.errors import InputError
from discreet.grouping.group import MEGABYTES
from discreet.grouping.group import group as verb


@Parameter(name="*")
@dataclass(frozen=True)
class InnerOptions(Options):
    """The method that groups records for each group of columns.

    Parameters
    ----------
    inner_params
        A parameter of the inner method, as gamma=0.2.
    """

    inner: str | None = None
    inner_params: Annotated[Params, Parameter(name="--inner-param")] = None
    inner_steps: int | None = None


WITHIN = InnerOptions()


@documented_by(verb)
def group(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    k: Annotated[list[int] | None, option(read_whole_numbers, "K")] = None,
    columns: ColumnOptions = COLUMNS,
    method: Literal["gomm", "d-gomm", "pareto"] = "gomm",
    params: Annotated[Params, Parameter(name="--param")] = None,
    within: InnerOptions = WITHIN,
    start: Literal["rivals", "random"] | None = None,
    loss_weight: float = 1.0,
    risk_weight: float = 1.0,
    linkage: LinkageOptions = LINKAGE,
    search: SearchFlags = SEARCH,
    cache: Annotated[int, Parameter(name=["--cache", "--memory"])] = MEGABYTES,
    point: int | None = None,
    front: Path | None = None,
    plot: Path | None = None,
    operators: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    output
        The grouping as a TOML file, for `discreet protect --grouping`.
    k
        How many records at least must share each combination of values within a group. Several, as 5,10,25, for
        `--method pareto`.
    params
        A parameter of the method, as population=100.
    point
        Write this point of the front, counted from the one that loses least, instead of the grouping of the best score.
    front
        Also write each point of the front as a TOML file of its own into this folder.
    plot
        Also draw the front, as .html, .svg or .png.
    operators
        Also write what each operator did in each generation: as data (.csv, .parquet) or drawn (.html, .svg, .png).
    """
    from discreet.data.files import check_writable_format, sha256
    from discreet.release.atomic import AtomicFiles, spare
    from discreet.release.charts import FORMATS, check_picture

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
    AtomicFiles(files, force=console.force)
    spare(files, {"the input itself": data, "the configuration": search.config, "the checkpoint": search.checkpoint})
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        found = verb(
            reading.read(data, config=search.config),
            k=k,
            method=method,
            params=params,
            start=start,
            loss_weight=loss_weight,
            risk_weight=risk_weight,
            cache=cache,
            progress=report,
            **within.given(),
            **columns.given(),
            **linkage.given(),
            **search.given(),
        )
        report("writing", 0.0)
        if point is not None:
            found = found.pick(point)
        found.write(output, force=console.force)
        if front is not None:
            found.write_front(front, force=console.force)
        if plot is not None:
            found.draw_front(plot, force=console.force)
        if operators is not None:
            found.write_operators(operators, force=console.force)
    if console.json:
        written_to = {"file": output.name, "format": "toml", "sha256": sha256(output)}
        show_json(found.evidence | {"output": written_to})
    if not console.quiet:
        written = [output, *(path for path in (front, plot, operators) if path is not None)]
        tell(found.summary(written))
    return 0
