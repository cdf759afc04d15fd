"""What the operators did, as a file: data or a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.errors import InputError
from discreet.release.atomic import AtomicFiles
from discreet.release.pictures import FORMATS, save

COLUMNS = {
    "generation": int,
    "operator": str,
    "born": int,
    "clones": int,
    "unused": float,
    "lifetime": float,
    "improved": int,
    "worsened": int,
    "efficiency": float,
    "best": float,
    "worst": float,
    "improvement": float,
    "worsening": float,
}


def write_operators(records: Sequence[Mapping[str, Any]], path: Path, *, force: bool = False) -> Path:
    """Write a row for each operator and generation, or draw them.

    Parameters
    ----------
    records : sequence of dicts
        What the operators did.
    path : Path
        The file; its suffix says what it will be.
    force : bool
        Replace a file that exists already.
    """
    if path.suffix.lower() in FORMATS:
        from discreet.grouping.plots import operators_chart

        if not records:
            raise InputError(f"{path}: nothing to draw; no operator was at work, as every grouping was judged")
        return save(operators_chart(records), path, force=force)
    import polars as pl

    from discreet.data.files import check_writable_format, write

    format_name = check_writable_format(path)
    with AtomicFiles([path], force=force) as files:
        write(pl.DataFrame(records, schema=COLUMNS), files.temporary(path), format_name=format_name)
    return path
