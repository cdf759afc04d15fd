"""`discreet study` and `discreet reproduce`: commands that run experiments and write a page on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from discreet.cli.options import DETECT, STUDY_COLUMNS, Params, Reading, StudyColumns, write_options
from discreet.cli.printing import show, tell
from discreet.cli.progress import Reporter
from discreet.cli.tradeoff import tradeoff
from discreet.errors import INTERRUPTED, InputError

if TYPE_CHECKING:
    from discreet.experiments.compare import Compared


def compare(
    data: Annotated[list[Path], Parameter(name="INPUT")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    method: Annotated[list[str], Parameter(negative=())],
    k: Annotated[list[int] | None, Parameter(negative=())] = None,
    seeds: int = 5,
    time: float = 2.0,
    steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    cluster: str | None = None,
    columns: StudyColumns = STUDY_COLUMNS,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Find out which method is better: on microdata and several k, or on tables, over several seeds.

    A case is a data set with a k, or a table. Methods are ranked on every case by their median loss; Friedman's test
    tells whether they differ, Wilcoxon's and Nemenyi's tests which of them do. The report has medians and spreads, the
    critical differences of the ranks, and how quickly each method comes near the best. Needs the extras `stats` and
    `report`. A study that was interrupted goes on when the same command is given again.

    Parameters
    ----------
    data
        The microdata files, or, without --k, the tables with their unsafe cells.
    output
        The folder of the results, made if it is not there: report.md with its pictures, runs.parquet with a row per
        run, traces.parquet with how each run got better, and the folder `runs`, in which runs are kept as they end.
    method
        A method, with parameters if need be, as two-step:K=18,inner=memetic; several times for several, at least two.
    k
        Least size of a group; several times for several. Without it the inputs are tables, and the methods those of
        `discreet suppress`.
    seeds
        Runs of each method on each case.
    time
        Seconds of search of a run at most; methods that are no search run to their end.
    steps
        Steps of search of a run at most instead, which makes a study that can be repeated exactly.
    seed
        The first of the seeds.
    threads
        Processes that work side by side, by default one per processor.
    cluster
        The address of a Dask scheduler whose workers do the runs, as tls://host:8786.
    columns.quasi
        The columns to group by, the same in all microdata files. All that have no other role by default, unless there
        is a configuration.
    force
        Replace results that exist already; runs are kept and not done again.
    quiet
        Print nothing but errors.
    """
    from discreet.experiments.compare import check
    from discreet.experiments.compare import compare as verb
    from discreet.experiments.page import Made
    from discreet.experiments.records import records
    from discreet.experiments.study_pages import comparison_page as page
    from discreet.microdata.options import Settings
    from discreet.release.atomic import AtomicFiles
    from discreet.release.charts import check_picture

    ks = k or []
    check(method, ks)
    names = _name_files(data)
    check_picture(output / "figure.svg")
    if output.exists():
        # What would fail at the end is refused before the work begins.
        AtomicFiles([output / "report.md", output / "runs.parquet", output / "traces.parquet"], force=force)
    given: dict[str, Any] = {} if threads is None else {"threads": threads}
    settings = Settings(max(ks, default=2), steps=steps, seed=seed, **given)
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        cases: Any = {
            name: records(reading.read(path, config=columns.config), k=max(ks), **columns.given())
            if ks
            else _check_table(path)
            for name, path in names.items()
        }
        try:
            found = verb(
                cases,
                methods=method,
                ks=ks,
                seeds=seeds,
                time=time,
                steps=steps,
                seed=seed,
                threads=settings.threads,
                cluster=cluster,
                store=output / "runs",
                progress=report,
            )
        except KeyboardInterrupt:
            tell(f"discreet: interrupted; the runs that have ended are kept in {output / 'runs'}")
            return INTERRUPTED
        report("writing", 0.0)
        words = ["discreet study compare", *(path.name for path in data), *(f"--method {name}" for name in method)]
        words += [*(f"--k {each}" for each in ks), *write_options(columns.given()), f"--seeds {seeds}"]
        words.append(f"--time {time:g}" if steps is None else f"--steps {steps}")
        made = Made(" ".join(words), seed, settings.threads, float(found.runs["processor"].sum()))
        made_page = page(found, "Methods compared", made)
        written = made_page.write(output / "report.md", force=force)
        written += _write_runs(found, output, force)
    if not quiet:
        show(made_page.markdown(None).removesuffix("\n"))
        tell(f"Written: {', '.join(map(str, written))}")
    return 0


def _name_files(paths: list[Path]) -> dict[str, Path]:
    """Files by their short names, or by their whole paths where short ones are not enough."""

    if len(set(paths)) < len(paths):
        raise InputError("an input is named twice; name it once")
    short = [path.name.split(".")[0] for path in paths]
    return dict(zip(short if len(set(short)) == len(short) else map(str, paths), paths, strict=True))


def _check_table(path: Path) -> Path:
    """A table file, looked at before the work begins."""
    from discreet.tabular.files.formats import table_from

    table_from(path, None).check()
    return path


def _write_runs(found: Compared, output: Path, force: bool) -> list[Path]:
    from discreet.release.atomic import AtomicFiles

    files = {output / "runs.parquet": found.runs, output / "traces.parquet": found.traces}
    with AtomicFiles(list(files), force=force) as target:
        for path, frame in files.items():
            frame.write_parquet(target.temporary(path))
    return list(files)


study = App(
    name="study",
    help="Try methods and their parameters on data, many times, and tell what statistics say.",
    default_parameter=Parameter(negative=()),
)
study.command(compare)
study.command(tradeoff)


@study.command
def sensitivity(
    data: Annotated[Path, Parameter(name="INPUT")],
    /,
    *,
    k: int,
    grid: Annotated[list[str], Parameter(metavar="NAME=VALUES")],
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    method: str = "genetic",
    runs: int = 10,
    params: Annotated[Params, Parameter(name="--param")] = None,
    steps: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    cluster: str | None = None,
    columns: StudyColumns = STUDY_COLUMNS,
    force: bool = False,
    quiet: bool = False,
    reading: Reading = DETECT,
) -> int:
    """Find out which parameters of a method matter on some data, and their best values.

    Every combination of the values is run several times. Then, as in the 2006 paper: an analysis of variance tells
    which parameters matter for the SSE; Tukey's and Scheffé's tests group the values of those that do; within the best
    group the same is done for the convergence epoch, the generation that found the best partition. Needs the extras
    `stats` and `report`. A study that was interrupted goes on when the same command is given again.

    Parameters
    ----------
    data
        The microdata: CSV, Parquet, Arrow or Feather; Excel, Stata, SPSS or SAS with the extra `formats`.
    k
        Least size of a group.
    grid
        Values to try of a parameter, as mutation=0:1:0.1 (from, to, step) or mutation=0.1,0.2,0.5. Give one for each
        parameter that is to vary.
    output
        The folder of the results, made if it is not there: report.md with its pictures, runs.parquet with a row per
        run, and the folder `runs`, in which runs are kept as they end. By default INPUT.sensitivity in the current
        folder.
    method
        The method; `discreet methods` lists them with their parameters.
    runs
        Runs of each combination.
    params
        A parameter that is the same in all runs, as generations=1000.
    steps
        Steps of search of a run at most; without, until the method ends by itself.
    seed
        The same seed gives the same runs.
    threads
        Processes that work side by side, by default one per processor; the results do not depend on it.
    cluster
        The address of a Dask scheduler whose workers do the runs, as tls://host:8786.
    force
        Replace results that exist already; runs are kept and not done again.
    quiet
        Print nothing but errors.
    """
    from discreet.experiments.page import Made
    from discreet.experiments.records import records
    from discreet.experiments.sensitivity import parse
    from discreet.experiments.sensitivity import sensitivity as verb
    from discreet.experiments.study_pages import sensitivity_page as page
    from discreet.microdata.options import Settings
    from discreet.release.atomic import AtomicFiles
    from discreet.release.charts import check_picture

    factors = parse(grid, method)
    output = Path(f"{data.name}.sensitivity") if output is None else output
    report_file, table, store = output / "report.md", output / "runs.parquet", output / "runs"
    check_picture(output / "sse.svg")
    if output.exists():
        # What would fail at the end is refused before the work begins.
        AtomicFiles([report_file, table], force=force)
    given: dict[str, Any] = {} if threads is None else {"threads": threads}
    settings = Settings(k, method=method, params=params or {}, steps=steps, seed=seed, **given)
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        points = records(reading.read(data, config=columns.config), k=k, **columns.given())
        try:
            found = verb(
                points,
                k=k,
                method=method,
                grid=factors,
                runs=runs,
                params=params,
                steps=steps,
                seed=seed,
                threads=settings.threads,
                cluster=cluster,
                store=store,
                progress=report,
            )
        except KeyboardInterrupt:
            tell(f"discreet: interrupted; the runs that have ended are kept in {store}")
            return INTERRUPTED
        report("writing", 0.0)
        words = ["discreet study sensitivity", data.name, *write_options(columns.given())]
        words += [f"--k {k} --method {method} --runs {runs}", *(f"--grid {text}" for text in grid)]
        words += [f"--param {name}={value}" for name, value in (params or {}).items()]
        words += [] if steps is None else [f"--steps {steps}"]
        made = Made(" ".join(words), seed, settings.threads, float(found.runs["seconds"].sum()))
        made_page = page(found, f"Sensitivity of {method} on {data.name}", made)
        made_page.write(report_file, force=force)
        with AtomicFiles([table], force=force) as files:
            found.runs.write_parquet(files.temporary(table))
    if not quiet:
        show(made_page.markdown(None).removesuffix("\n"))
        tell(f"Written: {report_file}, {table}")
    return 0


def reproduce(
    paper: str,
    /,
    *,
    table: list[int] | None = None,
    figure: list[int] | None = None,
    quick: bool = False,
    seed: int = 0,
    threads: int | None = None,
    cluster: str | None = None,
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
    cluster
        The address of a Dask scheduler whose workers do the runs, as tls://host:8786.
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
            page = chosen.page(Budget(quick, seed, processes, store, report, cluster), " ".join(words), wanted)
        except KeyboardInterrupt:
            if store is None:
                raise
            tell(f"discreet: interrupted; the runs that have ended are kept in {store}")
            return INTERRUPTED
        if output is not None:
            report("writing", 0.0)
            written = page.write(output, pictures, force=force)
    if not quiet:
        show(page.markdown(None).removesuffix("\n"))
        if output is not None:
            tell(f"Written: {', '.join(map(str, written))}")
    return 0
