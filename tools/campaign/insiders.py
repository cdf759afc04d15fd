"""Tables with sole contributors under time limits that are too short, attacked as each of them from the outside.

What is said to be kept from sole contributors is, and what is said to be left is named: cells that the release names as
not kept from somebody are left out of the attack, and nothing else is. Half of the tables are searched as if they were
large, so that the search is stopped amid the attacks, and some may not be widened after it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import discreet
from campaign import tables
from campaign.found import Found
from discreet.tables.suppression import insiders as guarding

REFUSED = "a table whose sole contributors are not kept out in time is refused, and nothing is left behind"
NAMED = "a cell that is not kept from a sole contributor in time is named to the steward"
TIMES = (1e-4, 1e-3, 1e-2, 0.05)


def run(seed: int, folder: Path) -> Found:
    """Publish one random table in little time, and attack it as every sole contributor."""
    rng = np.random.default_rng([seed, 7])
    found = Found()
    axes, rule, contributions = tables.draw(rng)
    by = tables.write(folder, axes, contributions)
    partial = bool(rng.random() < 0.7)
    quick, programs = guarding.QUICK, guarding.LAST_PROGRAMS
    guarding.QUICK = quick if rng.random() < 0.5 else 1
    guarding.LAST_PROGRAMS = programs if rng.random() < 0.6 else 0
    public = folder / "public.csv"
    try:
        table = discreet.tabulate(folder / "data.csv", by=by, value="amount", holding="who", top=4)
        flagged = discreet.primary(table, **rule)
        how = {"time": float(rng.choice(TIMES))} if rng.random() < 0.7 else {"steps": int(rng.integers(1, 40))}
        kept = discreet.suppress(flagged, seed=seed, partial=partial, **how)
        kept.write(public)
    except discreet.DiscreetError:
        found.hold(REFUSED, not public.exists(), "refused, and a file is left behind")
        return found
    finally:
        guarding.QUICK, guarding.LAST_PROGRAMS = quick, programs
    named = {kept.table.name(int(cell)) for cell in (*kept.unprotected, *kept.audit.victims)}
    said = " ".join(kept.evidence["notes"])
    for name in named:
        found.hold(NAMED, name in said, "a cell that is left is not named")
    left = frozenset(
        tuple(one.codes[kept.table.codes[cell, axis]] for axis, one in enumerate(kept.table.dimensions))
        for cell in (*kept.unprotected, *kept.audit.victims)
    )
    tables.attack(found, axes, public, contributions, rule, left)
    return found
