"""`discreet study compare`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from discreet.cli import INTERRUPTED
from discreet.cli.options import Columns, Orders, Weights
from discreet.cli.reading import DETECT, Reading
from discreet.cli.said import said

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
    seed: int = 1,
    threads: int | None = None,
    quasi: Columns = None,
    confidential: Columns = None,
    identifier: Columns = None,
    ignore: Columns = None,
    numeric: Columns = None,
    nominal: Columns = None,
    ordinal: Orders = None,
    date: Columns = None,
    weights: Annotated[Weights, Parameter(name="--weight")] = None,
    config: Path | None = None,
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
    quasi
        The columns to group by, the same in all microdata files. All that have no other role by default, unless there
        is a configuration.
    confidential
        Columns that are left out.
    identifier
        Columns that are left out.
    ignore
        Columns that are left out.
    numeric
        Columns whose values are numbers, even if they look like something else.
    nominal
        Columns whose values are categories without an order, even if they are numbers.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    date
        Columns whose values are dates.
    weights
        How much a quasi-identifier counts when records are compared, as income=2,age=0.5; 1 where nothing is said.
    config
        A TOML file with the roles and types of the columns.
    force
        Replace results that exist already; runs are kept and not done again.
    quiet
        Print nothing but errors.
    """
    from discreet.cli.progress import Reporter
    from discreet.experiments.compare import check
    from discreet.experiments.compare import compare as verb
    from discreet.experiments.compare_page import page
    from discreet.experiments.page import Made, duration
    from discreet.experiments.records import records
    from discreet.microdata.settings import Settings
    from discreet.release.atomic import AtomicFiles
    from discreet.release.pictures import check_picture

    ks = k or []
    check(method, ks)
    names = _names(data)
    check_picture(output / "figure.svg")
    if output.exists():
        # What would fail at the end is refused before the work begins.
        AtomicFiles([output / "report.md", output / "runs.parquet", output / "traces.parquet"], force=force)
    given: dict[str, Any] = {} if threads is None else {"threads": threads}
    settings = Settings(max(ks, default=2), steps=steps, seed=seed, **given)
    with Reporter(quiet=quiet) as report:
        report("reading", 0.0)
        roles = {"quasi": quasi, "confidential": confidential, "identifier": identifier, "ignore": ignore}
        types = {"numeric": numeric, "nominal": nominal, "ordinal": ordinal, "date": date, "weights": weights}
        cases: Any = {
            name: records(reading.read(path), k=max(ks), config=config, **roles, **types) if ks else _table(path)
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
                store=output / "runs",
                progress=lambda share, left: report(f"running, {duration(left)} left", share),
            )
        except KeyboardInterrupt:
            print(f"discreet: interrupted; the runs that have ended are kept in {output / 'runs'}", file=sys.stderr)
            return INTERRUPTED
        report("writing", 0.0)
        words = ["discreet study compare", *(path.name for path in data), *(f"--method {name}" for name in method)]
        words += [*(f"--k {each}" for each in ks), *said({**roles, **types, "config": config}), f"--seeds {seeds}"]
        words.append(f"--time {time:g}" if steps is None else f"--steps {steps}")
        made = Made(" ".join(words), seed, settings.threads, float(found.runs["processor"].sum()))
        made_page = page(found, "Methods compared", made)
        written = made_page.write(output / "report.md", force=force)
        written += _write(found, output, force)
    if not quiet:
        print(made_page.markdown(None), end="")
        print(f"Written: {', '.join(map(str, written))}", file=sys.stderr)
    return 0


def _names(paths: list[Path]) -> dict[str, Path]:
    """Files by their short names, or by their whole paths where short ones are not enough."""
    from discreet.errors import InputError

    if len(set(paths)) < len(paths):
        raise InputError("an input is named twice; name it once")
    short = [path.name.split(".")[0] for path in paths]
    return dict(zip(short if len(set(short)) == len(short) else map(str, paths), paths, strict=True))


def _table(path: Path) -> Path:
    """A table file, looked at before the work begins."""
    from discreet.data.tabular.files import table_from

    table_from(path, None).check()
    return path


def _write(found: Compared, output: Path, force: bool) -> list[Path]:
    from discreet.release.atomic import AtomicFiles

    files = {output / "runs.parquet": found.runs, output / "traces.parquet": found.traces}
    with AtomicFiles(list(files), force=force) as target:
        for path, frame in files.items():
            frame.write_parquet(target.temporary(path))
    return list(files)
