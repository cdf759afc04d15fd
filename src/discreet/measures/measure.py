"""The public verb `measure`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from discreet.columns import Names, TypeKeywords, as_names, resolve, sort_keywords, takes
from discreet.configuration import Config, load
from discreet.errors import InputError
from discreet.listening import shows_progress
from discreet.measures.choices import ALL, JUDGED, Asked, Choices, LinkageKeywords, parse_measures
from discreet.text import silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.data.dataset import Dataset
    from discreet.data.roles import Declarations
    from discreet.measures.pair import Pair


@dataclass(frozen=True)
class Measures(Mapping[str, Any]):
    """Measures of a release, by name, with the choices they depend on.

    Parameters
    ----------
    figures : dict
        The measures.
    choices : Choices
        How they were taken.
    notes : tuple of str
        What was assumed.
    records : int
        How many records were compared.
    alignment : str
        By what records were brought together: position, key, row map; or nothing, where only the release was looked at.
    per_record : dict of arrays
        With `risk`: for each record of the original its `class_risk` and `linkage_risk`, from 0 to 1 (NaN where it is
        not in the sample or not in the release); with sampling weights its `individual_risk`. Internal: they tell who
        is at risk.
    """

    figures: dict[str, Any]
    choices: Choices
    notes: tuple[str, ...]
    records: int
    alignment: str = "position"
    per_record: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.figures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.figures)

    def __len__(self) -> int:
        return len(self.figures)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "records": self.records,
            "alignment": self.alignment,
            "measures": self.figures,
            "choices": asdict(self.choices),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """What an intruder finds and what an analyst loses, in words."""
        from discreet.measures.words import words

        return words(self.figures, self.choices, self.records, self.alignment, self.notes)

    def __repr__(self) -> str:
        shown = ", ".join(f"{n} {self[n]:.2f}" for n in ALL if n in self.figures and isinstance(self[n], float))
        return f"Measures({shown})"


class MeasureKeywords(TypeKeywords, LinkageKeywords, total=False):
    """The keywords of a measurement."""


@shows_progress
@takes(TypeKeywords, LinkageKeywords, defaults=JUDGED)
def measure(
    original: Any,
    released: Any,
    *,
    quasi: Names = None,
    confidential: Names = None,
    key: str | None = None,
    row_map: Any = None,
    measures: Asked = "fast",
    hierarchy: Mapping[str, str] | None = None,
    sampling_weight: str | None = None,
    previous_release: Any = None,
    previous_row_map: Any = None,
    config: str | Path | None = None,
    seed: int = 0,
    progress: Callable[[str, float], None] | None = None,
    **keywords: Unpack[MeasureKeywords],
) -> Measures:
    """Judge a release against its original: how much is lost, and how much is risked, whoever made the release.

    Parameters
    ----------
    original : path or frame
        The microdata before protection.
    released : path or frame
        The release.
    quasi : list of str
        The quasi-identifiers, which both files have; `all` stands for all columns that both have but the key.
    confidential : list of str
        Confidential columns of the release, for attribute disclosure (ad), l-diversity and t-closeness.
    key : str
        A column in both files that names each record, to align them by.
    row_map : path
        The row map of the release, to align the files by; without it and a key they are aligned by position, which is
        refused where the order was destroyed.
    measures : str or list of str or callable
        `fast` (the default), `all`, or names: il, gil, pil, dld, pld, id, dr, score, gdr, si, k, ad, l, t, risk,
        change. Functions in the list are given the original and the release, row beside row, and return a number or a
        mapping of names to numbers.
    numeric : list of str
        Quasi-identifiers whose values are numbers, where the data would say otherwise.
    nominal : list of str
        Quasi-identifiers whose values are categories without order, also where they are numbers.
    ordinal : mapping of str to list of str
        Quasi-identifiers whose values are ordered categories, each with its order from lowest to highest.
    date : mapping of str to str
        Quasi-identifiers whose values are dates, each with the form they are written in, as `{"born": "%d.%m.%Y"}`; or
        a list of columns, whose forms are found out.
    coarsen : mapping of str to str
        Quasi-identifiers that the release has in a coarser form, as in `protect`: prefix:2, icd.hrc:2 or width:5. The
        record of a release says it, but for the place of a hierarchy file.
    hierarchy : mapping of str to str
        Nominal quasi-identifiers whose loss is also told by distances in a hierarchy, as in `protect`: prefix or
        icd.hrc.
    sampling_weight : str
        The column of the original that says how many of the population each record stands for: the risk in the
        population and the weighted loss are told too.
    previous_release : path or frame
        An earlier release of (some of) the same respondents: tells how many records stand in both releases in classes
        that have fewer than k in common. Without its row map, records are linked by values that both release unchanged.
    previous_row_map : path or frame
        The row map of the earlier release, if both were made from the same records; or a file with its column
        release_row and a column of the original that names respondents.
    config : path
        The TOML file of the protection, for roles and types; what the call gives wins.
    sample : int
        How many records search in dld: all by default, 100,000 above 1,000,000 records; an estimate says its
        standard error. (pld looks at as many as make 200,000,000 pairs.)
    seed : int
        Seed of the sample.
    progress : callable
        Told the stage and how far along it is, in [0, 1].
    **keywords
        Types of columns, and how linkage and intervals are taken: see TypeKeywords and LinkageKeywords.

    Returns
    -------
    Measures
        A mapping from name to value; `summary()` to read, `as_dict()` for JSON.

    Examples
    --------
    >>> import polars as pl, discreet
    >>> frame = pl.DataFrame({"age": [23, 24, 25, 61, 62, 66], "income": [10, 12, 11, 30, 29, 34]})
    >>> release = discreet.protect(frame, k=3, quasi="all")
    >>> found = discreet.measure(frame, release.data, quasi="all", measures=["il", "dld", "k"])
    >>> round(found["il"], 2), round(found["dld"], 2), found["k"]
    (1.65, 33.33, 3)
    """
    import numpy as np

    from discreet.data.dataset import accept
    from discreet.data.files import read_recorded, record_of
    from discreet.data.rows import read_weights
    from discreet.measures.fellegi import MOST_ATTRIBUTES
    from discreet.measures.judge import Judge, show, take_own
    from discreet.measures.pair import align, leave_out
    from discreet.verification.previous import intersect, read_previous

    types, linkage = sort_keywords(measure, keywords, TypeKeywords, LinkageKeywords)
    choices = Choices.of(linkage, seed, JUDGED)
    asked, own = parse_measures(measures)
    said = load(config)
    before = accept(original, "the original", **said.reading)
    if isinstance(released, str | Path) and (output := record_of(Path(released))):
        released = read_recorded(Path(released), output)
    after = accept(released, "the release")
    shared = [name for name in before.frame.columns if name in after.frame.columns and name != key]
    types["coarsen"] = _read_coarsening(after, said) | dict(types.get("coarsen") or {})
    types["hierarchy"] = hierarchy
    roles = _roles(said, quasi, confidential, shared, key)
    declared = _declare(before, said, roles, types)
    names = declared.names("quasi")
    choices.check_known(names)
    sampling_weight = said.options.get("sampling_weight") if sampling_weight is None else sampling_weight
    looked_at_alone = not own and set(asked) <= {"k", "ad", "l", "t"}
    if looked_at_alone and sampling_weight is None and previous_row_map is None:
        rows, alignment = np.arange(after.frame.height), "nothing"  # they look at the release alone
    else:
        rows, alignment = align(before, after, names, key=key, row_map=row_map)
    records = before.frame.height
    before, kept = leave_out(before, original, rows) if alignment == "key" else (before, np.arange(len(rows)))
    rows = rows[kept]
    pair, notes = _pair(before, after, declared, rows)
    pair = replace(pair, weights=None if sampling_weight is None else read_weights(before, sampling_weight))
    judge = Judge(pair, choices, progress or silent)
    values = judge.measure(asked)
    if (previous := read_previous(previous_release, previous_row_map, said.previous)) is not None:
        k = int(np.bincount(pair.classes).min())
        held = declared.names("confidential")
        values["previous"] = intersect(previous, after.frame[rows], before, names, held, k)
    if own:
        values |= take_own(own, show(before, pair.attributes), show(after, pair.attributes, pair.released, rows))
    if "pld" in values and values["pld"] is None:
        notes.append(f"pld takes at most {MOST_ATTRIBUTES} attributes and was left out")
    if {"l", "t"} & set(asked) and not pair.confidential:
        notes.append("l-diversity and t-closeness need the confidential columns; none was named")
    per_record = {name: np.full(records, np.nan) for name in judge.per_record}
    for name, found in judge.per_record.items():
        per_record[name][kept] = found
    return Measures(values, choices, (*before.notes, *after.notes, *notes), pair.records, alignment, per_record)


def _roles(said: Any, quasi: Names, confidential: Names, shared: list[str], key: str | None) -> dict[str, list[str]]:
    """Which columns are compared; those with another role in a configuration are left alone."""
    named = as_names("quasi", quasi) or list(said.roles.get("quasi", []))
    held = as_names("confidential", confidential) or list(said.roles.get("confidential", []))
    if not named:
        raise InputError("name the quasi-identifiers: the columns an intruder may know")
    if not shared:
        raise InputError("the two files have no column in common, so they cannot be compared")
    if set(named) & {"all", "rest"} and not set(named) & set(shared):
        others = {name for role, names in said.roles.items() if role != "quasi" for name in names}
        named = [name for name in shared if name not in others and name not in held]
    if set(held) & {"all", "rest"} and not set(held) & set(shared):
        held = [name for name in shared if name not in named]
    if key in named:
        raise InputError(f"the key '{key}' cannot be a quasi-identifier as well")
    return {"quasi": named, "confidential": held, "ignore": ["rest"]}


def _read_coarsening(after: Dataset, said: Config) -> dict[str, str]:
    """How the columns of a release of ours were coarsened, by its record, where no configuration says it."""
    from discreet.data.files import record_of

    output = record_of(after.source) if after.source else None
    recorded = (output or {}).get("coarsened", {})
    return {name: how for name, how in recorded.items() if "coarsen" not in said.details.get(name, {})}


def _declare(before: Dataset, said: Any, roles: dict[str, list[str]], types: dict[str, Any]) -> Declarations:
    columns: Any = {**roles, **types, "missing": "separate"}
    return resolve(before.frame.columns, replace(said, roles={}, expected=()), **columns)


def _pair(before: Dataset, after: Dataset, declared: Declarations, rows: Any) -> tuple[Pair, list[str]]:
    """Read the attributes of both files, the release in the order of the original."""
    from discreet.data.attributes import read_confidential
    from discreet.measures.pair import Pair
    from discreet.recoding.coarsening import read_coarsened_pair

    attributes, released, confidential = [], [], []
    assumed: dict[str, list[str]] = {}
    noted: list[str] = []
    for name in declared.names("quasi"):
        attribute, values, assumption, note = read_coarsened_pair(before, after, declared[name])
        noted += [note] if note else []
        attributes.append(attribute)
        released.append(values[rows])
        assumed.setdefault(assumption, []).append(name)
    for name in declared.names("confidential"):
        if name not in after.frame.columns:
            raise InputError(f"{after.name}: there is no confidential column '{name}'")
        column = read_confidential(after, declared[name])
        if column is not None:
            confidential.append(replace(column, values=column.values[rows]))
    notes = [f"{what}: {', '.join(names)}" for what, names in assumed.items() if what] + noted
    return Pair(tuple(attributes), tuple(released), tuple(confidential)), notes
