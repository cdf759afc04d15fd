"""Frames of mixed types with missing values, strata and duplicates, for property tests."""

from datetime import date

import polars as pl
from hypothesis import strategies as st

SCHEMA = {
    "id": pl.String,
    "stratum": pl.String,
    "age": pl.Int64,
    "income": pl.Float64,
    "town": pl.String,
    "size": pl.String,
    "born": pl.Date,
    "diagnosis": pl.String,
    "visits": pl.Int64,
    "remark": pl.String,
}
ORDER = ["small", "medium", "large"]
ROLES = {
    "quasi": ["age", "income", "town", "size", "born"],
    "confidential": ["diagnosis", "visits"],
    "identifier": ["id"],
    "ignore": ["remark"],
    "by": ["stratum"],
}


@st.composite
def frames(draw: st.DrawFn, least: int = 2, most: int = 40) -> pl.DataFrame:
    """A frame as it comes from a register: few distinct values, so that there are ties and duplicates."""
    n = draw(st.integers(least, most))
    gaps = draw(st.sampled_from([0, 0, 1, 3]))

    def column(values: st.SearchStrategy[object], *, may_lack: bool = True) -> list[object]:
        missing = st.integers(0, 9).map(lambda roll: roll < gaps) if may_lack else st.just(False)
        return [None if draw(missing) else draw(values) for _ in range(n)]

    return pl.DataFrame(
        {
            "id": [f"id{i}" for i in range(n)],
            "stratum": column(st.sampled_from(draw(st.sampled_from([["n"], ["n", "s"]]))), may_lack=False),
            "age": column(st.integers(0, 90)),
            "income": column(st.floats(-1e6, 1e6).map(lambda value: round(value, 6))),
            "town": column(st.sampled_from(["Öd", 'a"b', "c,d", "x\ny", "z"])),
            "size": column(st.sampled_from(ORDER)),
            "born": column(st.dates(date(1920, 1, 1), date(2020, 1, 1))),
            # One value of its own in each record, so that a record can be found again.
            "diagnosis": [f"D{i};{i}" for i in range(n)],
            "visits": column(st.integers(0, 9)),
            "remark": column(st.text(max_size=5)),
        },
        schema=SCHEMA,
    )
