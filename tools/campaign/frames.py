"""Random microdata through `protect`, written in every format and recounted by readers that are not ours."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pyreadstat

import discreet
from campaign.found import Found

RECOUNTED = "at least k records of a written release share each combination of quasi-identifiers"
HANDED_OUT = "at least k records of a frame handed out share each combination of quasi-identifiers"
CARRIED = "confidential values come out as they went in, and identifiers do not"
REPEATED = "the same seed and steps give the same release"
REFUSED = "what cannot be protected is refused with a message of our own"

METHODS = ("mdav", "vmdav", "md", "mst", "tour", "memetic", "genetic", "recursive", "two-step", "univariate")
FORMATS = (".csv", ".tsv", ".parquet", ".feather")
SLOWER_FORMATS = (".xlsx", ".sav", ".zsav", ".dta", ".xpt")
WORDS = ("Öd", 'a"b', "c,d", "x\ny", "z", " pad ", "'", "=1+1", "NULL", "0", "1.0", "ß", "𝔘", "", "NA", "true")
Row = tuple[str, ...]


def run(seed: int, folder: Path) -> Found:
    """Protect one random frame and recount what comes out."""
    rng = np.random.default_rng([seed, 1])
    found = Found()
    frame, quasi, by, k = _draw_frame(rng)
    options: dict[str, Any] = {
        "k": k,
        "quasi": quasi,
        "by": by,
        "confidential": ["secret"],
        "identifier": ["id"],
        "nominal": [name for name in quasi if name.startswith(("code", "word"))],
        "missing": str(rng.choice(["separate", "impute"])),
        "method": str(rng.choice(METHODS)),
        "steps": int(rng.integers(1, 4)),
        "seed": seed,
        "measures": "none",
    }
    given = _in_another_guise(rng, frame)
    try:
        release = discreet.protect(given, **options)
    except discreet.DiscreetError:
        found.hold(REFUSED, True)
        return found
    _recount_frame(found, release.data, frame, quasi, by, k)
    for suffix in (*FORMATS, str(rng.choice(SLOWER_FORMATS))):
        path = folder / f"release{suffix}"
        try:
            release.write(path, force=True, order=str(rng.choice(["sorted", "sorted", "kept"])))
        except discreet.DiscreetError:
            # A format may not hold what is in the frame, such as a name of a column.
            found.hold(REFUSED, not path.exists(), f"{suffix} refused, and a file is left behind")
            continue
        for reader, (names, rows) in _read(path).items():
            _recount(found, names, rows, frame, quasi, by, k, f"{suffix} by {reader}")
    if seed % 10 == 0:
        again = discreet.protect(given, **options | {"threads": 1})
        found.hold(REPEATED, np.array_equal(again.labels, release.labels), str(options["method"]))
    return found


def _draw_frame(rng: np.random.Generator) -> tuple[pd.DataFrame, list[str], list[str], int]:
    """A frame as registers have them: ties, gaps, strata, wide ranges, words that look like something else."""
    n, k = int(rng.integers(4, 600 if rng.random() < 0.02 else 60)), int(rng.integers(2, 7))
    gaps = float(rng.choice([0.0, 0.0, 0.1, 0.4]))
    makers: dict[str, Callable[[], Any]] = {
        "whole": lambda: rng.integers(-5, int(rng.choice([3, 50, 10**9])), n),
        "real": lambda: rng.normal(0, 10.0 ** rng.integers(-9, 12), n),
        "tied": lambda: rng.choice([0.0, -0.0, 0.1, 1e15, -1e-300, 1 / 3], n),
        "date": lambda: pd.Timestamp("1970-01-01") + pd.to_timedelta(rng.integers(-30000, 30000, n), unit="D"),
        "word": lambda: rng.choice(WORDS, n),
        "code": lambda: rng.integers(0, 12, n),
        "flag": lambda: rng.random(n) < 0.5,
    }
    kinds = rng.choice(list(makers), int(rng.integers(1, 6)))
    columns: dict[str, Any] = {"id": [f"id{at}" for at in range(n)]}
    for at, kind in enumerate(kinds.tolist()):
        column = pd.Series(makers[kind]())
        if gaps and rng.random() < 0.5:
            column = column.astype(object).where(rng.random(n) >= gaps, None).convert_dtypes()
        columns[f"{kind}{at}"] = column
    quasi = list(columns)[1:]
    by = []
    if rng.random() < 0.3:
        columns["stratum"] = rng.choice(["n", "s"], n)
        by = ["stratum"]
    columns["secret"] = [f"s{at}" for at in range(n)]
    return pd.DataFrame(columns), quasi, by, k


def _in_another_guise(rng: np.random.Generator, frame: pd.DataFrame) -> Any:
    """The frame as pandas, Arrow or polars have it."""
    guise = int(rng.integers(3))
    if guise == 0:
        return frame
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if guise == 1:
        return table
    import polars

    return polars.from_arrow(table)


def _recount_frame(found: Found, data: Any, frame: pd.DataFrame, quasi: list[str], by: list[str], k: int) -> None:
    held = data if isinstance(data, pd.DataFrame) else data.to_pandas()
    rows = [tuple(_text(value) for value in row) for row in held[[*by, *quasi]].itertuples(index=False)]
    found.hold(HANDED_OUT, min(Counter(rows).values()) >= k, "in memory")
    found.hold(CARRIED, list(held["secret"]) == list(frame["secret"]) and "id" not in held.columns, "in memory")


def _recount(
    found: Found,
    names: list[str],
    rows: list[Row],
    frame: pd.DataFrame,
    quasi: list[str],
    by: list[str],
    k: int,
    how: str,
) -> None:
    at = [names.index(name) for name in [*by, *quasi]]
    counts = Counter(tuple(row[column] for column in at) for row in rows)
    found.hold(RECOUNTED, min(counts.values()) >= k, how)
    secrets = sorted(row[names.index("secret")] for row in rows)
    found.hold(CARRIED, secrets == sorted(frame["secret"]) and "id" not in names, how)


def _text(value: Any) -> str:
    """A value as text; whatever stands for a gap is one text, so that gaps count as equal."""
    return "" if value is None or value is pd.NaT or value is pd.NA or value != value else repr(value)


def _read(path: Path) -> dict[str, tuple[list[str], list[Row]]]:
    """The file by every reader there is for its format: names, and rows as text."""
    suffix = path.suffix
    if suffix in (".csv", ".tsv"):
        mark = "," if suffix == ".csv" else "\t"
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = list(csv.reader(file, delimiter=mark))
        plain = pd.read_csv(path, dtype=str, keep_default_na=False, sep=mark)
        texts = pa.csv.ConvertOptions(column_types=dict.fromkeys(head, pa.string()), strings_can_be_null=False)
        parsed = pa.csv.ParseOptions(delimiter=mark, newlines_in_values=True)
        arrow = pa.csv.read_csv(path, parse_options=parsed, convert_options=texts)
        lines = list(zip(*(column.to_pylist() for column in arrow.columns), strict=True))
        return {
            "csv": (head, [tuple(row) for row in rows]),
            "pandas": _rows_of(plain),
            "pyarrow": (arrow.column_names, lines),
        }
    if suffix == ".parquet":
        return {"pyarrow": _rows_of(pa.parquet.read_table(path).to_pandas())}
    if suffix == ".feather":
        return {"pyarrow": _rows_of(pa.feather.read_table(path).to_pandas())}
    if suffix == ".xlsx":
        head, *rows = list(openpyxl.load_workbook(path).active.iter_rows(values_only=True))
        secret = head.index("secret")
        texts = [tuple(str(v) if at == secret else _text(v) for at, v in enumerate(row)) for row in rows]
        return {"openpyxl": ([str(name) for name in head], texts)}
    readers: dict[str, Any] = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}
    read = readers.get(suffix, pyreadstat.read_sav)
    return {"pyreadstat": _rows_of(read(path)[0])}


def _rows_of(frame: pd.DataFrame) -> tuple[list[str], list[Row]]:
    columns = [
        [str(value) for value in frame[name]] if name == "secret" else [_text(value) for value in frame[name]]
        for name in frame.columns
    ]
    return list(frame.columns), list(zip(*columns, strict=True))
