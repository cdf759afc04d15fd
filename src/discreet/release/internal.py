"""Internal files, such as tables with their secrets: written whole or not at all, and readable by their owner only."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.release.atomic import AtomicFiles, spare

if TYPE_CHECKING:
    import polars as pl

    from discreet.data.tabular.table import Table

INTERNAL = "holds confidential values; not for publication"


def write_table(table: Table, path: str | Path, *, force: bool = False, read: Iterable[Path] = ()) -> list[Path]:
    """Write a table in the format that the name says; it is internal.

    Parameters
    ----------
    table : Table
        The table.
    path : path
        The file: .parquet, .csv, .jj, .jj.gz, .tab, or .txt for τ-ARGUS's code-value output.
    force : bool
        Replace files that exist already.
    read : iterable of Path
        Files that the table was made from, which are never written over.

    Returns
    -------
    list of Path
        The files written; some formats take several.
    """
    from discreet.data.tabular.files import rendered

    return write_contents(rendered(table, Path(path)), force=force, read=read)


def write_contents(contents: Mapping[Path, bytes], *, force: bool = False, read: Iterable[Path] = ()) -> list[Path]:
    """Write several files together, each whole, or none of them."""
    for path in read:
        spare(contents, {f"{path.name}, a file that was read": path})
    with AtomicFiles(contents, force=force) as files:
        for path, content in contents.items():
            files.temporary(path).write_bytes(content)
    return list(contents)


def rendered_frame(frame: pl.DataFrame, path: Path, schema: str, about: Mapping[str, Any]) -> dict[Path, bytes]:
    """A frame of internal figures as a Parquet file, or a CSV file with its metadata beside it."""
    said = {"internal": INTERNAL, "schema": schema, **about}
    text = json.dumps(said, indent=2, ensure_ascii=False)
    if path.suffix.lower() == ".parquet":
        import io

        import pyarrow as pa
        from pyarrow import parquet

        arrow: pa.Table = frame.to_arrow()
        buffer = io.BytesIO()
        parquet.write_table(arrow.replace_schema_metadata({schema.split("/")[1]: text}), buffer)
        return {path: buffer.getvalue()}
    beside = path.with_suffix(f".{schema.split('/')[1]}.json")
    return {path: frame.write_csv().encode(), beside: (text + "\n").encode()}
