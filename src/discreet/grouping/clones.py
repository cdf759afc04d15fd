"""How many clones of one grouping a population may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from discreet.evolution.population import Member
from discreet.grouping.candidate import Candidate, key

Members = list[Member[Candidate]]


def told_apart(members: Iterable[Member[Candidate]], copies: int) -> tuple[Members, Members]:
    """Members without too many clones, and those that are too many.

    Parameters
    ----------
    members : iterable of Member
        In the order of preference.
    copies : int
        How many there may be of each grouping; 0 for any number.
    """
    seen: Counter[bytes] = Counter()
    first: Members = []
    others: Members = []
    for member in members:
        name = key(member.individual)
        seen[name] += 1
        (others if copies and seen[name] > copies else first).append(member)
    return first, others
