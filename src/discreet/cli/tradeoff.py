"""`discreet study tradeoff`: loss against risk, over values of k and methods."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token

from discreet.cli.options import (
    COLUMNS,
    DETECT,
    ColumnOptions,
    Reading,
    documented_by,
    option,
    read_whole_numbers,
    split,
    write_options,
)
from discreet.cli.printing import show, tell
from discreet.cli.progress import Reporter
from discreet.columns import ColumnKeywords, takes
from discreet.errors import INTERRUPTED


def _read_methods(_type: Any, tokens: Sequence[Token]) -> list[str]:
    """`--methods mdav,memetic --methods two-step:K=18,inner=mdav`: one with parameters stands alone."""
    return [
        name for token in tokens for name in ([token.value] if ":" in token.value else split(_type, [token])) if name
    ]


if TYPE_CHECKING:
    Methods = list[str]
else:
    Methods = Annotated[list[Any], option(_read_methods, "METHODS")]


@takes(ColumnKeywords)
def _protect_many(**_keywords: Any) -> None:
    """Show what protection costs and what it leaves at risk: loss against risk over values of k and methods.

    The data is protected by every method for every k. Needs the extra `report`. A study that was interrupted goes on
    when the same command is given again.

    Parameters
    ----------
    **keywords
        What the columns are: see ColumnKeywords.
    """


@documented_by(_protect_many)
def tradeoff(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    k: Annotated[list[int], option(read_whole_numbers, "K")],
    methods: Annotated[Methods, Parameter(name=["--methods", "--method"])],
    time: float = 10.0,
    steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    cluster: str | None = None,
    columns: ColumnOptions = COLUMNS,
    config: Path | None = None,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Command.

    Parameters
    ----------
    output
        The folder of the results, made if it is not there: report.md with its map, runs.parquet with a row per release,
        and the folder `runs`, in which runs are kept as they end.
    k
        Least sizes of a group, as 3,5,10.
    methods
        Methods, as mdav,memetic; one with parameters on its own, as two-step:K=18,inner=memetic.
    time
        Seconds of search for each release; methods that are no search run to their end.
    steps
        Steps of search instead, which makes a study that can be repeated exactly.
    seed
        Seed of every random choice.
    threads
        Processes that work side by side, by default one per processor.
    cluster
        The address of a Dask scheduler whose workers do the runs, as tls://host:8786.
    config
        A TOML file with roles and types of the columns, and how the file is read; what the call gives wins.
    force
        Replace results that exist already; runs are kept and not done again.
    """
    from discreet.configuration import load
    from discreet.experiments.page import Made
    from discreet.experiments.study_pages import tradeoff_page
    from discreet.experiments.tradeoff import tradeoff as verb
    from discreet.release.atomic import AtomicFiles
    from discreet.release.charts import check_picture
    from discreet.running import count_processors

    check_picture(output / "figure.svg")
    table = output / "runs.parquet"
    if output.exists():
        # What would fail at the end is refused before the work begins.
        AtomicFiles([output / "report.md", table], force=force)
    workers = threads or count_processors()
    given = columns.given() | ({} if config is None else {"config": config})
    if config is None and columns.quasi is None:
        given["quasi"] = ["all"]
    with Reporter(quiet=quiet) as report:
        report("protecting", 0.0)
        try:
            found = verb(
                data,
                ks=k,
                methods=methods,
                columns=given,
                reading={**load(config).reading, **reading.settings()},
                time=time,
                steps=steps,
                seed=seed,
                threads=workers,
                cluster=cluster,
                store=output / "runs",
                progress=report,
            )
        except KeyboardInterrupt:
            tell(f"discreet: interrupted; the runs that have ended are kept in {output / 'runs'}")
            return INTERRUPTED
        report("writing", 0.0)
        words = ["discreet study tradeoff", data.name, f"--k {','.join(map(str, k))}"]
        words += [*(f"--methods {name}" for name in methods), *write_options(given)]
        words.append(f"--time {time:g}" if steps is None else f"--steps {steps}")
        made = Made(" ".join(words), seed, workers, float(found.runs["seconds"].sum()))
        page = tradeoff_page(found, f"Loss and risk of {data.name}", made)
        written = page.write(output / "report.md", force=force)
        with AtomicFiles([table], force=force) as target:
            found.runs.write_parquet(target.temporary(table))
    if not quiet:
        show(page.markdown(None).rstrip("\n"))
        tell(f"Written: {', '.join(map(str, [*written, table]))}")
    return 0
