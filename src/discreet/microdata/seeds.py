"""Several seeds of one search, each a task of a worker; the best of them is kept, of equals that of the lowest seed."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from discreet.errors import InputError, whole
from discreet.executors import Pool, open_pool
from discreet.microdata.members import solve_households
from discreet.microdata.options import Settings
from discreet.microdata.solving import Solution, View, solve
from discreet.own import read_closed
from discreet.running import count_processors
from discreet.text import silent

VIEWS = "views.pickle"


@dataclass(frozen=True, eq=False)
class Workers:
    """What searches are done on, and a folder that all of them see."""

    pool: Pool
    room: Path


@contextmanager
def open_workers(
    seeds: int | None, workers: int | None, cluster: str | None, executor: Executor | None
) -> Iterator[Workers | None]:
    """Workers for several seeds; None where there is one."""
    if seeds is None or whole("seeds", seeds, 1) == 1:
        if any(one is not None for one in (workers, cluster, executor)):
            raise InputError("workers and clusters are for several seeds of a search (seeds), and for data in parts")
        yield None
        return
    # Workers of a cluster see the files of this folder, or the data would have to go through its scheduler.
    is_here = cluster is None and executor is None
    number = min(seeds, count_processors()) if workers is None else whole("workers", workers, 1)
    with (
        TemporaryDirectory(prefix=".seeds-", dir=None if is_here else Path.cwd()) as room,
        open_pool(number, cluster=cluster, executor=executor, shared=Path(room)) as pool,
    ):
        yield Workers(pool, Path(room))


def solve_best(
    views: Sequence[View],
    settings: Settings,
    workers: Workers,
    tell: Callable[[str, float], None],
    *,
    are_households: bool,
) -> tuple[Solution, list[str]]:
    """The best of as many searches as there are seeds, and what to know of them."""
    # Only what our own workers read, in a folder that only we can read; both ends look whether it is.
    (workers.room / VIEWS).write_bytes(pickle.dumps((list(views), replace(settings, bound=False), are_households)))
    seeds = range(settings.seed, settings.seed + settings.seeds)
    given = [(str(workers.room), seed) for seed in seeds]
    losses = workers.pool.run(search_seed, given, lambda share: tell("grouping", share))
    best = min(zip(losses, seeds, strict=True))[1]
    solution: Solution = pickle.loads(read_closed(workers.room / f"{best}.pickle"))
    return solution, [
        f"of {settings.seeds} searches, with the seeds {seeds[0]} to {seeds[-1]}, that of seed {best} lost least: "
        f"{', '.join(f'{loss:.4g} %' for loss in losses)}"
    ]


def search_seed(room: str, seed: int) -> float:
    """Search with one seed, and keep what was found; its loss."""
    folder = Path(room)
    views, settings, are_households = pickle.loads(read_closed(folder / VIEWS))
    own = replace(settings, seed=seed, seeds=1, threads=1)
    solution = (solve_households if are_households else solve)(views, own, silent)
    (folder / f"{seed}.pickle").write_bytes(pickle.dumps(solution))
    return solution.il
