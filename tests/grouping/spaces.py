"""Frames as spaces, for tests of groupings."""

from typing import Any

import polars as pl

from discreet.configuration import Config
from discreet.data.dataset import accept
from discreet.grouping.space import Space
from discreet.microdata.protection import declare, read_attributes


def space_of(frame: pl.DataFrame, quasi: Any = "all", by: Any = None, **types: Any) -> Space:
    """The space of a frame, all other columns left out."""
    dataset = accept(frame)
    others = None if quasi == "all" else "rest"
    declarations = declare(dataset, Config(), quasi=quasi, by=by, ignore=others, **types)
    attributes, _ = read_attributes(dataset, declarations)
    return Space(dataset, tuple(attributes), tuple(declarations.names("by")))
