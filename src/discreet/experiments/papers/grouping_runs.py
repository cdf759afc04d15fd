"""One search for a grouping of attributes: the task of the 2013 paper's experiments."""

from __future__ import annotations

import json
import time
from typing import Any

from discreet.experiments.reference import reference
from discreet.experiments.store import Flat

FILES = {"Water treatment": "microdata/water_treatment.csv", "Census": "microdata/census.csv"}
# A number of steps that no search needs: each ends with its last generation.
ENDLESS = 1_000_000
SAID = ("data", "k", "method", "seed", "told", "inner")

_rehearsed: set[str] = set()


def grouped(settings: Flat) -> dict[str, Any]:
    """Search for a grouping of the attributes of a reference data set.

    Parameters
    ----------
    settings : mapping
        `data`, `k`, `method` and `seed`; `inner`, how records are grouped; `told`, whether what the operators did is to
        be told; and parameters of the method.

    Returns
    -------
    dict
        `score`, `il`, `dr`, `dld` and `id` of the best grouping, in percent; its number of `groups`; `evaluations` of
        groupings; `hypervolume` of the front that was met; `spent`, seconds of the processor; `rivals`, as text: score
        and number of groups of each ad-hoc grouping; `operators`, as text: a record for each operator and generation.
    """
    from discreet.grouping.group import group

    path = reference(FILES[str(settings["data"])])
    params = {name: value for name, value in settings.items() if name not in SAID}
    usual: dict[str, Any] = {
        "k": int(settings["k"] or 0),
        "method": str(settings["method"]),
        "inner": str(settings["inner"]),
        "quasi": "all",
        "seed": int(settings["seed"] or 0),
        "threads": 1,
    }
    if path.name not in _rehearsed:  # so that loading compiled code is in no run's seconds
        _rehearsed.add(path.name)
        group(path, **usual, params={"generations": 1, "population": 4}, steps=1)
    start = time.process_time()
    found = group(path, **usual, params=params, steps=ENDLESS)
    spent = time.process_time() - start
    rivals = {name: (point.score, len(point.groups)) for name, point in found.rivals.items()}
    return {
        "score": found.score,
        "il": found.il,
        "dr": found.dr,
        "dld": found.dld,
        "id": found.id,
        "groups": len(found.groups),
        "evaluations": int(found.evidence["measures"]["evaluations"]),
        "hypervolume": found.hypervolume,
        "spent": round(spent, 4),
        "rivals": json.dumps(rivals),
        "operators": json.dumps(found.operators if settings["told"] else []),
    }
