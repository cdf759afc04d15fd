"""How values of options are written on a command line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter, Token


def split(_type: Any, tokens: Sequence[Token]) -> list[str]:
    """`--quasi age,income --quasi region`: names after commas, or the option again; a name with a comma in quotes."""
    rows = csv.reader((token.value for token in tokens), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def _pairs(convert: Callable[[str], Any], what: str) -> Callable[[Any, Sequence[Token]], dict[str, Any]]:
    """`--weight income=2,age=0.5`: a value for each of several names."""

    def read(_type: Any, tokens: Sequence[Token]) -> dict[str, Any]:
        pairs: dict[str, Any] = {}
        for item in split(_type, tokens):
            name, found, value = item.partition("=")
            try:
                if not found:
                    raise ValueError
                pairs[name.strip()] = convert(value.strip())
            except ValueError:
                raise ValueError(f"expected {what}, not '{item}'") from None
        return pairs

    return read


def _orders(_type: Any, tokens: Sequence[Token]) -> dict[str, list[str] | None]:
    """`--ordinal 'size=small<medium<large'`; without an order for codes that are ordered as numbers."""
    orders: dict[str, list[str] | None] = {}
    for item in split(_type, tokens):
        name, found, order = item.partition("=")
        orders[name.strip()] = [category.strip() for category in order.split("<")] if found else None
    return orders


def _pair(_type: Any, tokens: Sequence[Token]) -> tuple[int, float]:
    """`--dominance 1,75`: a number of contributors and a percentage."""
    parts = tokens[-1].value.split(",")
    try:
        n, k = parts
        return int(n), float(k)
    except ValueError:
        raise ValueError(f"expected two numbers such as 1,75, not '{tokens[-1].value}'") from None


def _groups(_type: Any, tokens: Sequence[Token]) -> Path | list[list[str]]:
    """`--grouping 'age,income;town'`: groups of columns, or the TOML file that holds them."""
    text = ";".join(token.value for token in tokens)
    if text.lower().endswith(".toml"):
        return Path(text)
    rows = csv.reader(text.split(";"), skipinitialspace=True)
    return [[name.strip() for name in row if name.strip()] for row in rows]


def option(converter: Callable[[Any, Sequence[Token]], Any], metavar: str) -> Parameter:
    return Parameter(converter=converter, n_tokens=1, allow_repeating=True, accepts_keys=False, metavar=metavar)


Columns = Annotated[list[str] | None, option(split, "COLUMNS")]
if TYPE_CHECKING:
    Orders = dict[str, list[str] | None] | None
    Weights = dict[str, float] | None
    Aggregates = dict[str, str] | None
    Digits = dict[str, int] | None
    Params = dict[str, str] | None
    Pair = tuple[int, float] | None
    Groups = Path | list[list[str]] | None
else:
    # Declared as lists, since only then all occurrences of an option reach its reader, which makes one mapping of them.
    Orders = Annotated[list[Any] | None, option(_orders, "COLUMN=ORDER")]
    Weights = Annotated[list[Any] | None, option(_pairs(float, "column=number"), "COLUMN=NUMBER")]
    Aggregates = Annotated[list[Any] | None, option(_pairs(str, "column=mean, median or mode"), "COLUMN=HOW")]
    Digits = Annotated[list[Any] | None, option(_pairs(int, "column=digits"), "COLUMN=DIGITS")]
    Params = Annotated[list[Any] | None, option(_pairs(str, "parameter=value"), "NAME=VALUE")]
    Pair = Annotated[Any, option(_pair, "N,K")]
    Groups = Annotated[list[Any] | None, option(_groups, "GROUPS")]
