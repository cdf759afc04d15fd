"""Households of a release counted by how they look: the combinations of values of all members together."""

from __future__ import annotations

import polars as pl

from discreet.errors import InputError
from discreet.text import count


def count_households(records: pl.DataFrame, households: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """For each way that a household looks, how many look so (size), and how many records these have; the way of each.

    A household looks like another if they have as many members, and the members, put in order, have the same values.
    The ways are numbered from 0, in the order of the first frame; the second says which each record's household has.

    Parameters
    ----------
    records : polars.DataFrame
        The columns that are looked at, of each record; a missing value equals a missing value.
    households : polars.Series
        The household of each record.
    """
    lost = households.null_count()
    if lost:
        raise InputError(f"column '{households.name}' does not say of which household {count(lost, 'record')} are")
    keys = records.columns
    kinds = records.unique().with_row_index("kind")
    looks = records.join(kinds, on=keys, how="left", nulls_equal=True, maintain_order="left")["kind"]
    members = pl.DataFrame({"household": households, "kind": looks})
    whole = members.group_by("household").agg(pl.col("kind").sort().cast(pl.String), pl.len().alias("members"))
    whole = whole.with_columns(pl.col("kind").list.join(" "))
    alike = whole.group_by("kind").agg(pl.len().alias("size"), pl.col("members").sum().alias("records"))
    numbered = whole.join(alike.select("kind").with_row_index("class"), on="kind")
    return alike, members.join(numbered, on="household", how="left", maintain_order="left")["class"]
