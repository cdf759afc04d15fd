"""Which figures that were computed from the original may be published: asked by the record and the public report.

Whatever is computed from the original is a statistic of it and falls under a rule, as the cells of a table do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# Of fewer records a loss is an equation that a member of a group can solve for the values of the others.
FEWEST_RECORDS = 1_000
# The most that one group of records may bring to any sum behind a figure.
MOST_OF_A_GROUP = 0.1
# Where the whole loss is small beside a group's values, it bounds each of them: they must be free to lie about so far
# from the released value, in parts of it, if all that was lost were this group's.
LEAST_REACH = 0.2


@dataclass(frozen=True)
class PublicFigures:
    """What may be told of a release of microdata.

    Parameters
    ----------
    columns : frozenset of str
        The columns of which loss, change of mean and change of variance may be told.
    whole : bool
        Whether the loss of all columns together may be told: where each keeps the rule, or has one value only.
    why : str
        Why something is not told; empty where all is.
    """

    columns: frozenset[str]
    whole: bool
    why: str

    @classmethod
    def of(cls, measures: Mapping[str, Any], records: int) -> PublicFigures:
        """What may be told by the measures of an evidence; nothing where it does not know what groups bring."""
        known: Mapping[str, Mapping[str, Any]] = measures.get("contributions") or {}
        if records < FEWEST_RECORDS:
            return cls(frozenset(), False, f"of fewer than {FEWEST_RECORDS:,} records it would tell of values")
        columns = frozenset(name for name, said in known.items() if _keeps_rule(said))
        whole = bool(columns) and all(name in columns or said["constant"] for name, said in known.items())
        return cls(
            columns,
            whole,
            ""
            if whole and len(columns) == len(known)
            else f"a group of records brings more than {100 * MOST_OF_A_GROUP:g} % of it or of what it is measured "
            "by, or so little was lost that it would tell of values"
            if known
            else "how much single groups bring to it is not known",
        )


def _keeps_rule(said: Mapping[str, Any]) -> bool:
    shares = [share for name, share in said.items() if name not in ("constant", "reach")]
    is_spread = all(share is not None and share <= MOST_OF_A_GROUP for share in shares)
    return is_spread and not said["constant"] and (said["reach"] is None or said["reach"] >= LEAST_REACH)


def round_figure(figure: float) -> float:
    """A figure as it is published: in two significant digits."""
    return float(f"{figure:.2g}")
