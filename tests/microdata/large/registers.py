"""A register in parts, of all types, with missing values, strata and a canary; and what a release of it must be."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from canary import CANARY

ROLES: dict[str, Any] = {
    "quasi": ["age", "income", "town", "size", "born"],
    "confidential": ["diagnosis", "visits"],
    "identifier": ["id"],
    "by": ["stratum"],
    "ordinal": {"size": ["small", "medium", "large"]},
}
QUASI, UNCHANGED = ROLES["quasi"], ["diagnosis", "visits", "stratum"]


def register(records: int = 1200, seed: int = 0, gaps: float = 0.03) -> pl.DataFrame:
    """Records of persons about nobody."""
    rng = np.random.default_rng(seed)

    def lack(values: Any) -> pl.Series:
        column = pl.Series(values)
        return column.set(pl.Series(rng.random(records) < gaps), None)

    age = rng.integers(0, 90, records)
    return pl.DataFrame(
        {
            "id": [f"{CANARY}{i}" for i in range(records)],
            "stratum": rng.choice(["north", "a, b"], records, p=[0.7, 0.3]),
            "age": age,
            "income": lack(np.round(rng.lognormal(10, 1, records), 2)),
            "town": rng.choice(["Öd", 'a"b', "c,d", "z"], records),
            "size": rng.choice(["small", "medium", "large"], records),
            "born": pl.Series(20_000 - 365 * age).cast(pl.Date),
            "diagnosis": [f"D{i};{CANARY}" for i in range(records)],
            "visits": rng.integers(0, 9, records),
        }
    )


def write_parts(frame: pl.DataFrame, folder: Path, parts: int = 4, format_name: str = "parquet") -> Path:
    """Write a frame as some files of a folder."""
    folder.mkdir()
    for number in range(parts):
        piece = frame[number * frame.height // parts : (number + 1) * frame.height // parts]
        path = folder / f"in-{number}.{format_name}"
        if format_name == "parquet":
            piece.write_parquet(path, row_group_size=150)
        elif format_name == "csv":
            piece.write_csv(path)
        else:
            table = piece.to_arrow(compat_level=pl.CompatLevel.oldest())
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table, max_chunksize=150)
    return folder


def read_parts(folder: Path) -> pl.DataFrame:
    """The parts of a release, in the order of their numbers, as another program reads them."""
    readers: dict[str, Any] = {
        ".parquet": pl.read_parquet,
        ".csv": lambda path: pl.read_csv(path, infer_schema=False),
        ".arrow": pl.read_ipc,
    }
    paths = sorted(path for path in folder.iterdir() if path.name != "release.json")
    frames: list[pl.DataFrame] = [readers[path.suffix](path) for path in paths]
    return pl.concat(frames)


def count_smallest(release: pl.DataFrame, columns: Iterable[str]) -> int:
    """How often the rarest combination stands there."""
    return int(release.group_by(list(columns)).len()["len"].min())  # type: ignore[arg-type]


def read_bytes(folder: Path) -> dict[str, bytes]:
    """All files of a release."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
