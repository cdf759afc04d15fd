"""`discreet inspect`: a look at microdata before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from discreet.cli.options import CONSOLE, DETECT, TYPES, Columns, Console, Reading, TypeOptions, documented_by
from discreet.cli.printing import show, show_json
from discreet.measures.inspect import inspect as verb


@documented_by(verb)
def inspect(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    quasi: Columns = None,
    types: TypeOptions = TYPES,
    config: Path | None = None,
    toml: Path | None = None,
    console: Console = CONSOLE,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    numeric
        Columns whose values are numbers, where the data would say otherwise.
    nominal
        Columns whose values are categories without order, also where they are numbers.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    date
        Columns whose values are dates.
    coarsen
        Columns to look at as if they were coarsened, as in `protect`: zip=prefix:2, icd=icd.hrc:2 or age=width:5.
    toml
        Also write a configuration to review, for `discreet protect --config`. Roles stand in it as comments, so that it
        is refused until you have decided on each of them.
    force
        Replace that file if it exists already.
    json
        Print what was found as JSON instead.
    """
    from discreet.cli.progress import Reporter
    from discreet.release.atomic import AtomicFiles, spare

    files = [] if toml is None else [toml]
    AtomicFiles(files, force=console.force)
    spare(files, {"the input itself": data, "the configuration": config})
    with Reporter(quiet=console.quiet) as report:
        report("reading", 0.0)
        found = verb(reading.read(data, config=config), quasi=quasi, config=config, progress=report, **types.given())
    if toml is not None:
        with AtomicFiles(files, force=console.force) as atomic:
            atomic.temporary(toml).write_text(found.toml(), encoding="utf-8")
    if console.json:
        show_json(found.as_dict())
    elif not console.quiet:
        show(found.summary())
    return 0
