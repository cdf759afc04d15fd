"""From the arguments of a call to data that can be protected: read, declared, coarsened, divided into classes.

What is minimised is the loss, or the score, the mean of loss and risk. Groups as alike as possible lose little, and an
intruder links them well. The score falls with the size of groups as linkage does, until the loss outweighs it: so it is
minimised over sizes of groups from k on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.columns import name_identifier
from discreet.configuration import load
from discreet.data.attributes import Attribute
from discreet.data.dataset import Dataset, accept
from discreet.data.groupings import parse_groups
from discreet.data.roles import Declarations
from discreet.errors import InputError
from discreet.microdata.classes import AttributeGroup, attribute_groups
from discreet.microdata.given import LABELS, fit, read_labels
from discreet.microdata.households import Households, household_groups, read_households
from discreet.microdata.method import Labels
from discreet.microdata.options import Settings
from discreet.microdata.protection import declare, read_attributes, release_of
from discreet.microdata.seeds import Workers
from discreet.microdata.solving import choose
from discreet.plugins import name_of
from discreet.recoding.coarsening import choose_levels, is_open
from discreet.recoding.extremes import recode_confidential
from discreet.release.release import Release
from discreet.text import count
from discreet.verification.previous import Previous

# Up to so many records `mdav` takes no longer than a trial of the search.
MOST_FOR_MDAV = 20_000
# The method by which levels of coarsening are compared before the search begins: about the quickest, on any data.
QUICK = "tour"
# The share of the time, or of the steps, in which the best levels are searched.
RACE = 0.5


@dataclass(frozen=True, eq=False)
class Prepared:
    """Data that can be protected, with all that was said of it.

    Parameters
    ----------
    dataset : Dataset
        The data.
    declarations : Declarations
        What its columns are.
    groups : tuple of tuples of str
        The groups of quasi-identifiers.
    settings : Settings
        k, method, and how to search.
    checkpoint : Path, optional
        Where the search is kept.
    notes : tuple of str
        What was chosen on the way.
    labels : tuple of arrays, optional
        Groups of records made elsewhere, for each group of quasi-identifiers: then nothing is searched.
    households : Households, optional
        Which records are one household, where these are protected as wholes.
    """

    dataset: Dataset
    declarations: Declarations
    groups: tuple[tuple[str, ...], ...]
    settings: Settings
    checkpoint: Path | None = None
    notes: tuple[str, ...] = ()
    labels: tuple[Labels, ...] | None = None
    households: Households | None = None
    # What was tried to choose the size of groups, as `alternatives` of the evidence.
    tried: tuple[Mapping[str, Any], ...] = ()

    def divide(self) -> tuple[list[Attribute], list[AttributeGroup], list[str]]:
        """The quasi-identifiers, their groups with the classes of records, and what was assumed."""
        attributes, notes = read_attributes(
            self.dataset, self.declarations, self.settings.k, self.settings.sampling_weight
        )
        by, k = self.declarations.names("by"), self.settings.k
        if self.households is None:
            return attributes, attribute_groups(self.dataset, attributes, self.groups, by, k), [*notes, *self.notes]
        groups = household_groups(self.dataset, attributes, self.groups, by, k, self.households)
        return attributes, groups, [*notes, *self.notes, *self.households.notes()]

    def release(
        self,
        tell: Callable[[str, float], None],
        *,
        final: bool = True,
        previous: Previous | None = None,
        workers: Workers | None = None,
    ) -> Release:
        """Group, aggregate, verify and measure; of a release that is not the final one less is told."""
        attributes, groups, notes = self.divide()
        labels, cuts = self.fit_labels(groups)
        made = release_of(
            self.dataset,
            self.declarations,
            attributes,
            groups,
            self.settings,
            [*notes, *cuts],
            tell,
            checkpoint=self.checkpoint,
            labels=labels,
            households=self.households,
            compare_gaps=final,
            previous=previous,
            workers=workers,
        )
        if self.tried:
            made.evidence["alternatives"] = [dict(one) for one in self.tried]
        return made

    def fit_labels(self, groups: Sequence[AttributeGroup]) -> tuple[list[Labels] | None, list[str]]:
        """The labels within the classes of records, if any were given, and what was done to them."""
        return (None, []) if self.labels is None else fit(self.labels, groups, self.settings.k, self.households)

    def choose(self, tell: Callable[[str, float], None]) -> Prepared:
        """Settle what was left open: levels of coarsening, and the size of groups where the score is the target."""
        prepared = self.choose_levels(tell)
        settings = prepared.settings
        if settings.target == "il":
            return prepared
        named = isinstance(settings.method, str)
        methods = [choose(settings.method, settings.params)[0] if named else settings.method]
        if settings.method == "auto" and self.dataset.frame.height <= MOST_FOR_MDAV:
            methods.append("mdav")
        trial = replace(prepared, checkpoint=None)
        tried: list[dict[str, Any]] = []

        def score(settings: Settings) -> float:
            asked = replace(settings, measures=("dld", "score"), own=(), bound=False)
            found = replace(trial, settings=asked).release(tell, final=False)
            if found.measures["score"] is None:
                raise InputError("target score needs a numeric quasi-identifier, of which intervals are disclosed")
            name = f"{name_of(settings.method)}, k = {settings.k}"
            tried.append({"name": name, **{measure: found.measures[measure] for measure in ("il", "dld", "score")}})
            return float(found.measures["score"])

        settings, notes = choose_size(replace(settings, method=methods[0]), methods, score)
        return replace(prepared, settings=settings, notes=(*prepared.notes, *notes), tried=tuple(tried))

    def choose_levels(self, tell: Callable[[str, float], None]) -> Prepared:
        """Settle the levels of coarsening that were left open: rank them by quick releases, and search the best."""
        if not any(is_open(said.coarsen) for said in self.declarations.columns):
            return self
        settings = self.settings
        trial = replace(self, checkpoint=None)
        searches = self.labels is None and choose(settings.method, settings.params)[1].searches

        def rank(said: Declarations) -> float:
            quick = replace(settings.shorten(1.0), method=QUICK, params={})
            return float(replace(trial, declarations=said, settings=quick).release(tell, final=False).measures["il"])

        def race(said: Declarations, share: float) -> float:
            short = settings.shorten(share * RACE)
            return float(replace(trial, declarations=said, settings=short).release(tell, final=False).measures["il"])

        declarations, notes = choose_levels(self.dataset, self.declarations, rank, race if searches else None)
        if searches and settings.steps is None:
            settings = replace(settings, time=settings.time * (1 - RACE))
        return replace(self, declarations=declarations, settings=settings, notes=(*self.notes, *notes))


def prepare(
    data: Any,
    columns: Mapping[str, Any],
    search: Mapping[str, Any],
    *,
    grouping: Any,
    labels: Any,
    tell: Callable[[str, float], None],
    **options: Any,
) -> Prepared:
    """Read the data and settle what was said of it, in the call or in a configuration.

    Parameters
    ----------
    data : path or frame
        The microdata.
    columns, search : mapping
        The column keywords and the search keywords of the call.
    grouping : list of lists of str, Grouping or path
        Groups of quasi-identifiers, or None.
    labels : array, frame or path
        Groups of records made elsewhere, or None.
    tell : callable
        Told the stage and how far along it is.
    **options
        Further settings: k, method, params, bound, measures; None where the call gives none.
    """
    config, checkpoint = search.get("config"), search.get("checkpoint")
    said = load(config)
    asked = {name: value for name, value in search.items() if name not in ("config", "checkpoint")}
    settings = Settings.settle(said, missing=columns.get("missing"), **options, **asked)
    tell("reading", 0.0)
    dataset = accept(data, **said.reading)
    for name in (settings.person, settings.household):
        if name in dataset.frame.columns:
            columns = name_identifier(name, columns, said)
    declarations = declare(dataset, said, **columns)
    dataset, recoded = recode_confidential(dataset, declarations, settings.k)
    names = declarations.names("quasi")
    groups = (
        parse_groups(said.grouping, names, f"{config}: grouping") if grouping is None else parse_groups(grouping, names)
    )
    kept = None if checkpoint is None else Path(checkpoint)
    households = None
    if settings.household is not None:
        most = settings.split_households
        households = read_households(dataset, settings.household, declarations.names("by"), most)
    if labels is None:
        return Prepared(dataset, declarations, groups, settings, kept, tuple(recoded), households=households)
    if options.get("method") is not None or settings.target != "il" or kept is not None:
        raise InputError("labels are groups already: leave out method, target and checkpoint, or the labels")
    given = read_labels(labels, len(groups), dataset.frame.height)
    settings = replace(settings, method=LABELS, params={})
    return Prepared(dataset, declarations, groups, settings, notes=tuple(recoded), labels=given, households=households)


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
    best, tried = (float("inf"), settings), 0
    for method in methods:
        trial = settings if method == settings.method else replace(settings, method=method, params={})
        worse, least = 0, float("inf")
        for size in _grow(settings.k):
            try:
                found = score(replace(trial.shorten(SHARE), k=size))
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
