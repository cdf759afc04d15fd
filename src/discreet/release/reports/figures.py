"""The figures that the charts of the internal report are drawn from, for a program that draws them itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.release.reports.distributions import Distribution
from discreet.release.reports.look import Look
from discreet.release.reports.public import class_shares

SCHEMA = "discreet/figures/1"


def figures(looked: Look) -> dict[str, Any]:
    """Distributions, correlations and class sizes of a release, beside those of the original where it is at hand.

    No value of a respondent is in them: bars are of many records, and their edges are rounded.
    """
    sizes = {"after": looked.promised} | ({} if looked.before is None else {"before": looked.before.sizes})
    found = looked.correlations
    return {
        "schema": SCHEMA,
        "classes": {name: dict(zip(*class_shares(own), strict=True)) for name, own in sizes.items()},
        "distributions": {name: _bars(one) for name, one in looked.overlays.items()},
        "confidential": {name: dict(one) for name, one in looked.closeness.items()},
        "correlations": None
        if found is None
        else {
            "columns": found.names,
            **{
                name: [[None if np.isnan(one) else round(float(one), 4) for one in line] for line in values]
                for name, values in (("before", found.before), ("after", found.after))
            },
        },
        "undrawn": looked.left_undrawn,
    }


def _bars(found: Distribution) -> dict[str, Any]:
    before, after = ([round(share, 3) for share in shares] for shares in found.shares())
    return {"labels": found.labels, "before": before, "after": after}
