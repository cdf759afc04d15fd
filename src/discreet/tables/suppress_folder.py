"""The public verb `suppress_folder`: many tables, each protected on its own, side by side: a folder in and one out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError, InputError, one_of
from discreet.executors import open_pool
from discreet.release.atomic import make_folder
from discreet.running import count_processors
from discreet.tables.suppress import suppress
from discreet.tables.suppression.secret import open_secret
from discreet.text import silent

SUFFIXES = (".parquet", ".jj", ".tab", ".csv")
FORMATS = (".csv", ".parquet", ".xlsx")


def suppress_folder(
    data: str | Path,
    output: str | Path,
    *,
    format: str = ".csv",  # noqa: A002 - the name it has everywhere
    workers: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    force: bool = False,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Any,
) -> dict[str, str]:
    """Suppress cells in all tables of a folder, side by side, and write the releases into another.

    Each table is protected on its own: tables that have cells in common must be linked first and be one table, since
    one would tell what another leaves out. A release that is there already is not made again, so that work that was
    ended goes on when it is started again.

    Parameters
    ----------
    data : path
        The folder of tables with their unsafe cells, of `primary` or another tool's .jj or .tab.
    output : path
        The folder of the releases; made if it is not there.
    format : {".csv", ".parquet", ".xlsx"}
        The format of the releases.
    workers : int
        Processes that work side by side, by default one per processor.
    cluster : str
        The address of a Dask scheduler whose workers do the work.
    executor : concurrent.futures.Executor
        Whatever else does the work.
    force : bool
        Make releases again that are there already.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    keywords : Any
        What `suppress` takes, by name.

    Returns
    -------
    dict of str to str
        For each table `done`, `partial`, `kept` where its release was there already, or why it was refused.

    Examples
    --------
    >>> import discreet
    >>> discreet.suppress_folder("tables/", "releases", steps=10)  # doctest: +SKIP
    """

    one_of("format", format, FORMATS)
    source, target = Path(data), Path(output)
    if not source.is_dir():
        raise InputError(f"{source}: there is no such folder")
    tables = sorted(path for path in source.iterdir() if path.suffix.lower() in SUFFIXES)
    names = [path.stem for path in tables]
    twice = sorted({name for name in names if names.count(name) > 1})
    if not tables or twice:
        why = f"several tables are called {twice[0]}" if twice else f"there are no tables ({', '.join(SUFFIXES)})"
        raise InputError(f"{source}: {why}")
    if (secret := keywords.get("secret")) is not None:
        # One for all, made before any worker looks for it.
        keywords["secret"] = str(open_secret(secret).path.resolve())
    make_folder(target)
    places = [target / f"{name}{format}" for name in names]
    found = {path.name: "kept" for path, place in zip(tables, places, strict=True) if place.exists() and not force}
    left = [(path, place) for path, place in zip(tables, places, strict=True) if path.name not in found]
    number = count_processors() if workers is None else workers
    with open_pool(min(number, max(1, len(left))), cluster=cluster, executor=executor, shared=target) as pool:
        (target / ".seen").unlink(missing_ok=True)
        given = [(str(path.resolve()), str(place.resolve()), keywords, force) for path, place in left]
        for done, (which, told) in enumerate(pool.each(_suppress_one, given), 1):
            found[left[which][0].name] = told
            (progress or silent)("suppressing", done / len(left))
    return {path.name: found[path.name] for path in tables}


def _suppress_one(table: str, output: str, keywords: Mapping[str, Any], force: bool) -> str:
    """Protect one table; a table that is refused does not keep the others from their release."""

    try:
        release = suppress(Path(table), **{"threads": 1, **keywords})
        release.write(Path(output), force=force)
    except DiscreetError as error:
        return str(error)
    return "partial" if release.partial else "done"
