"""The examples as files: the data, the declaration of its columns, and its hierarchies."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from discreet.errors import InputError
from discreet.examples.companies import companies, industry_hierarchy, region_hierarchy, sme
from discreet.examples.survey import survey

EXAMPLES = {
    "companies": "a business register extract: skewed amounts, nested codes, holdings and dominant companies",
    "survey": "a survey of persons: mixed types, missing values, income, wealth and confidential health",
    "sme": "eleven small companies from the literature, small enough to enumerate every partition",
}
"""What `make` writes; the contributions to tables have no columns to declare and are made by `contributors`."""
_GENERATORS = {"companies": companies, "survey": survey}
_HIERARCHIES = {"companies": {"region.hrc": region_hierarchy, "industry.hrc": industry_hierarchy}}


def make(name: str, folder: str | Path, *, n: int | None = None, seed: int = 1, force: bool = False) -> list[Path]:
    """Write an example with the declaration of its columns, ready to be protected.

    Parameters
    ----------
    name : str
        One of `EXAMPLES`.
    folder : path
        Where to write; made if missing.
    n : int, optional
        Records; each generated example has its own default, and `sme` is what it is.
    seed : int
        The same seed gives the same data.
    force : bool
        Overwrite files that are there.

    Returns
    -------
    list of Path
        The files: `NAME.csv`, `NAME.toml`, and for the companies `region.hrc` and `industry.hrc`.
    """
    if name == "tables":
        raise InputError("tables are made by the command `discreet example tables`; their microdata by `contributors`")
    if name not in EXAMPLES:
        raise InputError(f"there is no example '{name}'; there are {', '.join(EXAMPLES)}")
    folder = Path(folder)
    hierarchies = _HIERARCHIES.get(name, {})
    written = [folder / one for one in (f"{name}.csv", f"{name}.toml", *hierarchies)]
    there = [path.name for path in written if path.exists()]
    if there and not force:
        raise InputError(
            f"{folder}: {', '.join(there)} exists already; choose another folder, or replace it with --force"
        )
    data = _data(name, n, seed)
    texts = {f"{name}.toml": (files("discreet.examples") / f"{name}.toml").read_text("utf-8")}
    texts |= {hierarchy: text() for hierarchy, text in hierarchies.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A reader never sees a file half written: each is made aside, on the same disk, and then moved.
        with TemporaryDirectory(prefix=".example-", dir=folder) as aside:
            data.write_csv(Path(aside, f"{name}.csv"))
            for file, text in texts.items():
                Path(aside, file).write_text(text, encoding="utf-8", newline="\n")
            for path in written:
                Path(aside, path.name).replace(path)
    except OSError as error:
        raise InputError(f"{folder}: cannot write the example there ({error.strerror})") from None
    return written


def _data(name: str, n: int | None, seed: int) -> pl.DataFrame:
    if name in _GENERATORS:
        generate = _GENERATORS[name]
        return generate(seed=seed) if n is None else generate(n, seed)
    if n is not None:
        raise InputError(f"the example '{name}' has a fixed number of records; leave out n")
    return sme()
