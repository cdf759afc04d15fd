"""The review of a release: a second person approves it or gives it back, and the evidence says so."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from discreet.errors import InputError, one_of
from discreet.release.atomic import write_contents
from discreet.text import as_json

DECISIONS = ("approved", "returned")


def decide(evidence: str | Path, *, reviewer: str, decision: str, remarks: str = "") -> dict[str, Any]:
    """Add a decision, with its time, to the part `review` of an evidence; earlier ones are kept as `earlier`.

    Parameters
    ----------
    evidence : path
        The evidence of the release.
    reviewer : str
        Who decides.
    decision : {"approved", "returned"}
        What is decided.
    remarks : str
        Why.

    Returns
    -------
    dict
        The part `review` as it is now.
    """
    path = Path(evidence)
    one_of("decision", decision, DECISIONS)
    if not reviewer.strip():
        raise InputError("a decision needs the name of the reviewer")
    try:
        account = json.loads(path.read_bytes())
        review = dict(account.get("review", {}))
    except (OSError, ValueError, AttributeError, TypeError):
        raise InputError(f"{path}: cannot be read as the evidence of a release") from None
    keys = ("reviewer", "decision", "decided_on", "remarks")
    past = {key: review.pop(key) for key in keys if key in review}
    earlier = [*review.pop("earlier", []), *([past] if "decision" in past else [])]
    now = datetime.now(UTC).isoformat(timespec="seconds")
    review |= {"reviewer": reviewer.strip(), "decision": decision, "decided_on": now}
    review |= {"remarks": remarks.strip()} if remarks.strip() else {}
    review |= {"earlier": earlier} if earlier else {}
    write_contents({path: (as_json(account | {"review": review}) + "\n").encode()}, force=True)
    return review
