"""`discreet reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from discreet.errors import INTERRUPTED


def reproduce(
    paper: str,
    /,
    *,
    table: list[int] | None = None,
    figure: list[int] | None = None,
    quick: bool = False,
    seed: int = 0,
    threads: int | None = None,
    store: Path | None = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    pictures: Path | None = None,
    force: bool = False,
    quiet: bool = False,
) -> int:
    """Make the experiments of a paper again: what was published, what we find, and what explains the difference.

    Needs the extras `stats` and `report`.

    Parameters
    ----------
    paper
        The year of the paper; one that is not here is answered with those that are.
    table
        Only this table of the paper; several times for several.
    figure
        Only this figure of the paper; several times for several.
    quick
        Only enough to see that everything works, in a few seconds; the figures mean nothing.
    seed
        Seed of random data and of every run.
    threads
        Processes that work side by side, by default one per processor; the results do not depend on it.
    store
        A folder in which runs are kept as they end, so that the command can be interrupted and goes on when it is given
        again.
    output
        Also write the page, as Markdown.
    pictures
        The folder of the page's pictures; the page's own by default.
    force
        Replace files that exist already.
    quiet
        Print nothing but errors.
    """
    from discreet.cli.progress import Reporter
    from discreet.errors import InputError
    from discreet.experiments.papers import find
    from discreet.experiments.papers.paper import Budget
    from discreet.experiments.statistics import need
    from discreet.microdata.options import Settings
    from discreet.release.atomic import AtomicFiles
    from discreet.release.charts import check_picture

    chosen = find(paper)
    wanted = [f"table {number}" for number in table or ()] + [f"figure {number}" for number in figure or ()]
    chosen.chosen(wanted)
    need()
    check_picture("figure.svg")
    if output is not None:
        AtomicFiles([output], force=force)
    elif pictures is not None:
        raise InputError("pictures are those of a page; name it with --output")
    given: dict[str, Any] = {} if threads is None else {"threads": threads}
    processes = Settings(2, seed=seed, **given).threads
    words = [
        "discreet reproduce",
        paper,
        *(f"--{name}" for name in wanted),
        *(["--quick"] if quick else []),
        *([] if seed == 0 else [f"--seed {seed}"]),
    ]
    with Reporter(quiet=quiet) as report:
        try:
            page = chosen.page(Budget(quick, seed, processes, store, report), " ".join(words), wanted)
        except KeyboardInterrupt:
            if store is None:
                raise
            print(f"discreet: interrupted; the runs that have ended are kept in {store}", file=sys.stderr)
            return INTERRUPTED
        if output is not None:
            report("writing", 0.0)
            written = page.write(output, pictures, force=force)
    if not quiet:
        print(page.markdown(None), end="")
        if output is not None:
            print(f"Written: {', '.join(map(str, written))}", file=sys.stderr)
    return 0
