"""What a protection minimises: the loss, or the score, the mean of loss and risk.

Groups as alike as possible lose little, and an intruder links them well. The score falls with the size of groups as
linkage does, until the loss outweighs it: so it is minimised over sizes of groups from k on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from discreet.errors import InputError
from discreet.microdata.options import Settings
from discreet.plugins import name_of
from discreet.text import count

# What the least size of groups grows by from one trial to the next, and how many trials in a row may be worse.
GROWTH, PATIENCE = 1.25, 2
# The share of time or steps that a trial takes.
SHARE = 1 / 20


def choose_size(
    settings: Settings, methods: Sequence[str | Callable[..., Any]], score: Callable[[Settings], float]
) -> tuple[Settings, list[str]]:
    """Choose the least size of groups, and the method, of the least score.

    Parameters
    ----------
    settings : Settings
        What was asked for.
    methods : sequence of str or callable
        The methods to try.
    score : callable
        The score of a release with given settings; an `InputError` where groups of that size cannot be formed.

    Returns
    -------
    settings
        With the size and the method chosen, and half of the time.
    notes : list of str
        What was chosen.
    """
    short = (
        {"time": settings.time * SHARE} if settings.steps is None else {"steps": max(1, int(settings.steps * SHARE))}
    )
    best, tried = (float("inf"), settings), 0
    for method in methods:
        trial = settings if method == settings.method else replace(settings, method=method, params={})
        worse, least = 0, float("inf")
        for size in _grow(settings.k):
            try:
                found = score(replace(trial, k=size, **short))
            except InputError:
                if size == settings.k:
                    raise
                break
            tried += 1
            worse = 0 if found < least else worse + 1
            least = min(least, found)
            if found < best[0]:
                best = found, replace(trial, k=size)
            if worse == PATIENCE:
                break
    chosen = best[1]
    name = name_of(chosen.method)
    note = (
        f"of {count(tried, 'release')} tried, {name} with groups of at least {chosen.k} had the least score; "
        f"k = {settings.k} was asked for"
    )
    return (chosen if settings.steps is not None else replace(chosen, time=settings.time / 2)), [note]


def _grow(size: int) -> Iterator[int]:
    while True:
        yield size
        size = max(size + 1, int(size * GROWTH))
