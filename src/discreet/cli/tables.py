"""What the commands on statistical tables share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.text import entry

if TYPE_CHECKING:
    from discreet.data.tabular.table import Table


def refuse_early(output: Path, *, force: bool) -> None:
    """Refuse a name that cannot be written before the work begins."""
    from discreet.data.tabular.files import check_table_format
    from discreet.release.atomic import AtomicFiles

    check_table_format(output, writing=True)
    AtomicFiles([output], force=force)


def told(table: Table, files: Iterable[Path]) -> str:
    """A table in words: what it holds, which cells are unsafe and why, and where it is."""
    import numpy as np

    from discreet.data.tabular.table import FIXED, RULES

    what = f"{table.response} " if table.response else "counts "
    over = " × ".join(one.name for one in table.dimensions)
    lines = [
        f"{table.source}: {len(table):,} cells of {what}by {over}" if over else f"{table.source}: {len(table):,} cells"
    ]
    lines.append("")
    if table.dimensions:
        codes = ", ".join(f"{one.name} {len(one.codes):,}" for one in table.dimensions)
        lines += entry("Codes", f"{codes}, with totals and sub-totals")
    linked = f"; {len(table.parts)} linked tables" if len(table.parts) > 1 else ""
    lines += entry("Relations", f"{len(table.relations):,}; every one adds up{linked}")
    words = table.rules.get("words", {})
    if words:
        unsafe = len(table.primary)
        lines += entry("Unsafe", f"{unsafe:,} cells ({100 * unsafe / len(table):.1f} %)")
        for name, text in words.items():
            found = int((table.rule >> RULES.index(name) & 1).sum())
            lines += entry("", f"{name}: {found:,} ({text})")
        fixed = int((table.status == FIXED).sum())
        if fixed:
            lines += entry("Fixed", f"{fixed:,} cells are empty or may not be suppressed")
        low, high = float(np.min(table.lower)), float(np.max(table.upper))
        lines += entry("Bounds", "an attacker knows no value is negative" if low == 0 else "an attacker knows bounds")
        lines[-1] += ", nor above 1.5 times the largest" if np.all(table.upper == high) else ""
    for note in table.notes:
        lines += entry("Note", note)
    for path in files:
        lines += entry("Written", f"{path} (internal: not for publication)")
    return "\n".join(lines)
