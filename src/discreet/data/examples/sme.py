"""The eleven companies on which the field tries its algorithms by hand."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def sme() -> pl.DataFrame:
    """Read the table of eleven small and medium-sized companies, small enough to enumerate all its partitions.

    Returns
    -------
    polars.DataFrame
        `company` (identifier), `surface` in m², `employees`, `turnover` and `net_profit` in euros. Standardised with
        ddof 0 and k = 3, MDAV has SSE 18.292 and the optimum is 14.827 (printed as 18.29 and 14.82).

    References
    ----------
    A. Solanas, "Privacy Protection with Genetic Algorithms", 2008, Table 1. The amounts are printed with irregular
    separators; the one of company H is read as 777,882, which is what gives the SSE of the paper.
    """
    import polars as pl

    return pl.read_csv((files("discreet.data.examples") / "sme.csv").read_bytes())
