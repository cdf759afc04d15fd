"""`discreet.suppress`: which further cells to leave out, so that no unsafe one can be worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import SearchKeywords, SecretKeywords, SuppressionKeywords, sort_keywords, takes
from discreet.configuration import load_options
from discreet.listening import shows_progress

if TYPE_CHECKING:
    from discreet.release.suppressed import SuppressedTable

# The keywords that a configuration may hold.
CONFIGURED = (
    "method", "params", "cost", "time", "steps", "seed", "threads", "protect_secondaries", "singletons", "sums",
    "strict", "partial", "no_rules", "previous_release", "growth",
)  # fmt: skip


@shows_progress
@takes(SearchKeywords, SecretKeywords)
def suppress(
    table: Any,
    *,
    method: str | None = None,
    cost: str | None = None,
    previous: str | Path | None = None,
    frozen: Any = None,
    prefer: Any = None,
    avoid: Any = None,
    protect_secondaries: bool = False,
    singletons: bool | None = None,
    sums: bool = False,
    strict: bool = False,
    partial: bool = False,
    no_rules: bool = False,
    previous_release: Any = None,
    growth: float = 0.0,
    certificate: bool = False,
    params: Mapping[str, Any] | None = None,
    meta: str | Path | None = None,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[SuppressionKeywords],
) -> SuppressedTable:
    """Choose further cells to suppress, at the least cost, so that every unsafe cell is protected.

    The table is attacked afterwards as discreet.audit does; what does not stand the attack is mended by further cells,
    or not handed out.

    Parameters
    ----------
    table : Table or path
        The table with its unsafe cells: of discreet.primary, or a file (.parquet, .csv, .tab, .jj).
    method : str
        search (the default: destroy and repair with clean-up), exact (with a proof of optimality, for small tables),
        the searches of the 2012 paper (ga-group-k, ga-one-k, ga-one-p, ga-swap, ga-insert, ga-invert, ls-swap,
        ls-insert, ls-invert), or the baselines hypercube and marginal.
    cost : str, optional
        What the loss of a cell counts: value, count, log, unit, or the name of a column of the table's file. As the
        table says, if not given.
    config : path
        A TOML file with any of method, params, cost, time, steps, seed, threads, protect_secondaries, singletons,
        sums, strict, partial, no_rules, previous_release and growth; what the call gives wins.
    time : float
        Seconds of search, 10 by default.
    steps : int
        Stop after so many steps instead: the same steps and seed give the same pattern.
    threads : int
        Threads to use, by default one per processor; with the same steps the pattern does not depend on it.
    previous : path, optional
        A pattern to begin with, such as last year's: the table that suppress has published, a table file, or
        τ-ARGUS's code-value output. Cells are matched by their codes: some may have come or gone.
    frozen : path, frame or list, optional
        Cells that must be published, as a list of cells.
    prefer : path, frame or list, optional
        Cells to suppress rather than others: they cost a hundredth.
    avoid : path, frame or list, optional
        Cells to spare: they cost a hundred times as much.
    protect_secondaries : bool
        Secondary cells must not be known exactly either.
    singletons : bool, optional
        Protect also against sole contributors, who know their own cells: by default where the table says who they are.
        Without them the record says so.
    sums : bool
        Judge also the sums of suppressed cells that lines give away, by the rules the cells were judged by; a pattern
        that gives away an unsafe sum is refused, unless further cells mend it.
    strict : bool
        Levels must be exceeded, and not just reached.
    partial : bool
        Go on where some unsafe cells cannot be protected, or are not shown to be, and say which; without it nothing is
        handed out then. The record of such a release says that it is partial and not verified.
    no_rules : bool
        Take a table that has no unsafe cell although no rule was ever applied to it as one that is safe.
    previous_release : path or list of path, optional
        Earlier releases of the table, as suppress has published them: unsafe cells are protected against whoever has
        seen them too. Cells published there with the value that they have now are known; cells that were revised tell
        nothing.
    growth : float
        For earlier releases of another period: by how many percent everybody knows values to have changed since.
    certificate : bool
        Keep a certificate of the protection.
    params : mapping, optional
        Parameters of the method.
    meta : path, optional
        The .rda file of a .tab file, if it is not the one of the same name.
    progress : callable, optional
        Listens to the stage of the work and how far along it is.
    **keywords
        How long to search, and by whose secret: see SearchKeywords and SecretKeywords.

    Returns
    -------
    SuppressedTable
        With table, secondary, cost, audit, bound, trace, summary() and write(path).
    """
    from discreet.running import SearchOptions
    from discreet.tables.suppression.protection import Request, suppress_cells
    from discreet.tables.suppression.secret import open_secret

    search, keyed = sort_keywords(suppress, keywords, SearchKeywords, SecretKeywords)
    secret = keyed.get("secret")
    said = load_options(search.pop("config", None), CONFIGURED, "suppress")
    request = Request(
        method or said.get("method", "search"),
        said.get("params", {}) if params is None else params,
        cost=cost or said.get("cost"),
        previous=previous,
        frozen=frozen,
        prefer=prefer,
        avoid=avoid,
        protect_secondaries=protect_secondaries or said.get("protect_secondaries", False),
        singletons=said.get("singletons") if singletons is None else singletons,
        sums=sums or said.get("sums", False),
        strict=strict or said.get("strict", False),
        partial=partial or said.get("partial", False),
        no_rules=no_rules or said.get("no_rules", False),
        previous_release=said.get("previous_release") if previous_release is None else previous_release,
        growth=growth or said.get("growth", 0.0),
        certificate=certificate,
        meta=meta,
        secret=None if secret is None else open_secret(secret),
    )
    checkpoint = search.pop("checkpoint", None)
    chosen = said | {name: value for name, value in search.items() if value is not None}
    options = SearchOptions(**{name: chosen[name] for name in ("time", "steps", "seed", "threads") if name in chosen})
    return suppress_cells(table, request, options, checkpoint=checkpoint, progress=progress)
