"""The papers whose experiments can be made again. A new paper is a folder and one line in the table."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from discreet.errors import InputError
from discreet.experiments.papers.paper import Paper

# Strings, so that listing the papers imports none of them.
PAPERS = {
    "2006": "discreet.experiments.papers.p2006.page",
    "2008": "discreet.experiments.papers.p2008.page",
    "2012": "discreet.experiments.papers.p2012.page",
    "2013": "discreet.experiments.papers.p2013.page",
    "2021": "discreet.experiments.papers.p2021.page",
}


def find(year: str) -> Paper:
    """The paper of a year."""
    if year not in PAPERS:
        raise InputError(f"there is no paper {year!r} here; the papers: {', '.join(PAPERS)}")
    return cast("Paper", import_module(PAPERS[year]).PAPER)
