"""The keywords that verbs share, each written and documented once: what the columns are, and how to search.

A verb takes them as `**keywords: Unpack[...]`; the command line and a TOML file have the same names. What the call
gives wins over what a configuration says.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack, cast

from discreet.configuration import EXPECTED, Config
from discreet.data.roles import RECODINGS, REST, ROLES, Declarations, as_words, declare, quote
from discreet.errors import InputError, suggest

Names = str | Sequence[str] | None
Orders = Mapping[str, Sequence[str] | None] | Sequence[str] | None
Dates = Mapping[str, str | None] | str | Sequence[str] | None
MissingWords = Mapping[str, Sequence[str | float]] | str | Sequence[str | float] | None


class RoleKeywords(TypedDict, total=False):
    """Which column plays which role."""

    quasi: Names
    confidential: Names
    identifier: Names
    by: Names
    ignore: Names


class KindKeywords(TypedDict, total=False):
    """Of which type the values of columns are.

    Parameters
    ----------
    numeric : list of str
        Columns whose values are numbers, where the data would say otherwise.
    nominal : list of str
        Columns whose values are categories without order, also where they are numbers.
    ordinal : mapping of str to list of str
        Columns whose values are ordered categories, each with its order from lowest to highest.
    date : mapping of str to str
        Columns whose values are dates, each with the form they are written in, as `{"born": "%d.%m.%Y"}`; or a list of
        columns, whose forms are found out.
    """

    numeric: Names
    nominal: Names
    ordinal: Orders
    date: Dates


class TypeKeywords(KindKeywords, total=False):
    """Of which type the values of columns are, and how they are written.

    Parameters
    ----------
    pivot : int
        Of years of two digits, the last that is one of this century: with 68, the default, 68 is 2068 and 69 is 1969.
    na : list of str, or mapping of str to list of str
        Words and numbers that stand for missing values in quasi-identifiers, as `[999, "unknown", "-"]`; or those of
        each column, as `{"age": [999]}`.
    """

    pivot: int | None
    na: MissingWords
    coarsen: Mapping[str, str] | None


class ColumnKeywords(RoleKeywords, TypeKeywords, total=False):
    """What the columns are: roles, types, and how their values count and are replaced.

    Parameters
    ----------
    quasi : list of str
        Columns an intruder may know: they are protected. `all` stands for those with no other role.
    confidential : list of str
        Columns to be released unchanged. `rest` stands for those with no other role.
    identifier : list of str
        Columns that identify directly, such as names: they are not released.
    by : list of str
        Columns that divide the data into strata, released unchanged; each stratum is protected on its own.
    ignore : list of str
        Further columns that are not released. `rest` stands for those with no other role.
    coarsen : mapping of str to str
        Make the values of quasi-identifiers coarser on the way in: `prefix:2` keeps the first 2 characters of a code,
        `icd.hrc:2` takes the second level below the total of a hierarchy file, `width:5` makes bands of 5 from 0, and
        `auto` (or `icd.hrc:auto`) chooses the number of characters (or the level) that loses least.
    hierarchy : mapping of str to str
        Compare the codes of nominal quasi-identifiers by what they have in common: `prefix` by their first characters,
        `icd.hrc` by the codes above them in a hierarchy file. Codes are the farther apart the more levels they differ
        in; modes are released as before.
    topcode : mapping of str to str or float
        Numbers, quasi-identifiers or confidential, whose largest values are coded on the way in: `99%` puts those
        beyond that share of the records at their mean, at least k of them; a number puts those above it at that bound.
    bottomcode : mapping of str to str or float
        The same at the other end: `1%` is the share of the smallest values.
    round : mapping of str to float
        Numbers, quasi-identifiers or confidential, that are rounded to multiples of this on the way in.
    weights : mapping of str to float
        How much a quasi-identifier counts when records are compared; 1 where nothing is said.
    aggregate : mapping of str to str
        What replaces the values of a group: `mean` (numbers and dates), `median` (also ordinals) or `mode` (any).
    digits : mapping of str to int
        Decimal digits to round a column's aggregates to; 0 keeps whole numbers whole. `all` stands for all columns of
        numbers that are not named.
    missing : {"separate", "impute", "error"}
        Group records within their pattern of missing values (the default); fill missing values with the aggregate of
        their column first; or refuse them.
    """

    hierarchy: Mapping[str, str] | None
    topcode: Mapping[str, str | float] | None
    bottomcode: Mapping[str, str | float] | None
    round: Mapping[str, float] | None
    weights: Mapping[str, float] | None
    aggregate: Mapping[str, str] | None
    digits: Mapping[str, int] | None
    missing: str | None


class SearchKeywords(TypedDict, total=False):
    """How long to search, and how.

    Parameters
    ----------
    config : path
        A TOML file with any of these settings; what the call gives wins.
    time : float
        Seconds of search, 10 by default. Methods that are no search run to their end.
    steps : int
        Steps of search instead of a time: the same steps and seed give the same release.
    seed : int
        Seed of every random choice, 0 by default.
    threads : int
        Threads to use, by default one per processor; with the same steps the release does not depend on it.
    checkpoint : path
        A file in which the search is kept; if it exists already, the search goes on from it. Internal.
    """

    config: str | Path | None
    time: float | None
    steps: int | None
    seed: int | None
    threads: int | None
    checkpoint: str | Path | None


class SecretKeywords(TypedDict, total=False):
    """By whose secret cells are chosen.

    Parameters
    ----------
    secret : path
        A file of your own (mode 0600) whose content keys the seed and the breaking of ties, so that only who has it can
        repeat the choice of cells; without it, whoever knows the method and the rules can. It is made if it is not
        there. Use the same one for all releases of a table.
    """

    secret: str | Path | None


class SuppressionKeywords(SearchKeywords, SecretKeywords, total=False):
    """The keywords of a suppression in a table."""


class PromiseKeywords(TypedDict, total=False):
    """What is promised beside k-anonymity.

    Parameters
    ----------
    l : mapping of str to int or str
        Confidential columns of which each class, the records that share a combination of quasi-identifiers, has at
        least so many different values, as `{"diagnosis": 3}`; `"entropy:3"` counts by entropy.
    t : mapping of str to float
        Confidential columns whose distribution in each class is within so much of that in all records, as
        `{"income": 0.2}`: the earth mover's distance, a share, above 0 and at most 1.
    person : str
        The column that says whose a record is, where persons have several: each class has at least k persons.
    household : str
        The column that says which records are one household: households of the same size are protected as wholes, so
        that at least k look alike, all members taken together. They are released with new numbers.
    """

    l: Mapping[str, int | float | str] | None  # noqa: E741 - the name it has in the field
    t: Mapping[str, float | str] | None
    person: str | None
    household: str | None


class SamplingKeywords(TypedDict, total=False):
    """Whether the data is a sample.

    Parameters
    ----------
    sampling_weight : str
        The column that says how many of the population each record stands for: means, medians and modes are weighted
        by it, and risk and loss told for the population. How it is released its role says: confidential as it is, quasi
        averaged, ignore not at all.
    """

    sampling_weight: str | None


class ProtectionKeywords(ColumnKeywords, PromiseKeywords, SamplingKeywords, SearchKeywords, total=False):
    """The keywords of a protection of microdata."""


Verb = TypeVar("Verb", bound=Callable[..., Any])


def takes(*groups: Any, defaults: object = None) -> Callable[[Verb], Verb]:
    """Let a verb's signature and docstring list the keywords of groups, as if they were written out.

    Parameters
    ----------
    *groups : subclasses of TypedDict
        What the verb takes as `**keywords`, each documented in its docstring, unless the verb's own docstring does.
    defaults : object
        Its attributes are the defaults that help shows; None for what it has not.
    """

    def complete(verb: Verb) -> Verb:
        types = {name: kind for group in groups for name, kind in group.__annotations__.items()}
        signature = inspect.signature(verb)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=getattr(defaults, name, None),
                annotation=getattr(kind, "__forward_arg__", kind),
            )
            for name, kind in types.items()
        ]
        verb.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
        text = inspect.cleandoc(verb.__doc__ or "")
        # The verb's own words on a keyword stand among those of its group.
        # A TypedDict does not know what it was made from: those of types are part of larger groups.
        parts = (KindKeywords, TypeKeywords, *groups)
        words = {name: entry for part in parts for name, entry in _entries(part.__doc__ or "").items()}
        for name, entry in _entries(text).items():
            if name in types:
                words[name] = entry
                text = text.replace(entry, "", 1)
        written = "".join(words[name] for name in types if name in words)
        verb.__doc__ = re.sub(r"^\*\*keywords\n(?: +.*(?:\n|$))+", lambda _: written, text, flags=re.MULTILINE)
        return verb

    return complete


def _entries(text: str) -> dict[str, str]:
    """The parameters that a numpydoc docstring describes, each as it stands there."""
    found = re.finditer(r"^(\w+) : .*\n(?: +.*\n?)+", inspect.cleandoc(text) + "\n", re.MULTILINE)
    return {entry[1]: entry[0] for entry in found}


def sort_keywords(verb: Callable[..., Any], keywords: Mapping[str, Any], *groups: Any) -> list[dict[str, Any]]:
    """Sort the keywords of a call into their groups; one that the verb does not take is refused as Python does.

    Parameters
    ----------
    verb : callable
        The verb that was called.
    keywords : mapping
        What it was given beside its own parameters.
    *groups : subclasses of TypedDict
        As in `takes`.
    """
    known = list(inspect.signature(verb).parameters)
    for name in keywords:
        if name not in known:
            raise TypeError(f"{verb.__name__}() got an unexpected keyword argument {name!r}{suggest(name, known)}")
    return [{name: value for name, value in keywords.items() if name in group.__annotations__} for group in groups]


def resolve(names: Sequence[str], config: Config, *, hint: str = "", **columns: Unpack[ColumnKeywords]) -> Declarations:
    """Join the column keywords of a call with a configuration into the declarations of all columns.

    Parameters
    ----------
    names : sequence of str
        The columns of the data.
    config : Config
        What a configuration says; the call's keywords win.
    hint : str
        What to add to the message on columns without a role.
    **columns
        The column keywords.
    """
    given = {role: as_names(role, cast("Names", columns.get(role))) for role in ROLES}
    spoken_of = {name for wanted in given.values() for name in wanted}
    # A role given in the call replaces the configuration's for that column, and its word on the rest.
    merged = {
        role: given[role] + [name for name in config.roles.get(role, []) if not spoken_of & {name, *_same_rest(name)}]
        for role in ROLES
    }
    details: dict[str, dict[str, Any]] = {name: dict(detail) for name, detail in config.details.items()}
    common: dict[str, Any] = dict(config.values)
    kinds = read_kinds(columns.get("numeric"), columns.get("nominal"), columns.get("ordinal"), columns.get("date"))
    for name, kind, order in kinds:
        said = details.setdefault(name, {})
        said.update(kind=kind, order=order if kind == "ordinal" else None)
        said["form"] = (order or said.get("form")) if kind == "date" else None
    for key, keyword in (
        ("weight", "weights"),
        *((name, name) for name in ("aggregate", "digits", "coarsen", "hierarchy", *RECODINGS)),
    ):
        for name, value in _check_mapping(key, cast("Mapping[str, Any] | None", columns.get(keyword))).items():
            if key == "digits" and name == "all" and name not in names:
                common["default_digits"] = value
            else:
                details.setdefault(name, {})[key] = value
    words = columns.get("na")
    if isinstance(words, Mapping):
        for name, own in words.items():
            details.setdefault(name, {})["na"] = as_words(own)
    elif words is not None:
        common["na"] = as_words(words)
    if columns.get("pivot") is not None:
        common["pivot"] = columns["pivot"]
    missing = columns.get("missing")
    if missing is not None:
        for detail in details.values():
            detail.pop("missing", None)
    _compare(names, config, merged, hint)
    declared = declare(names, merged, details, missing or config.options.get("missing", "separate"), hint, common)
    return replace(declared, notes=_tell_rest(declared, config, merged))


def name_identifier(name: str, columns: Mapping[str, Any], config: Config) -> dict[str, Any]:
    """The column keywords of a call in which a column is an identifier, unless it was named for a role of its own.

    `all` and `rest` name no column.
    """
    named = [one for role in ROLES for one in as_names(role, columns.get(role))]
    if name in named or any(name in names for names in config.roles.values()):
        return dict(columns)
    return {**columns, "identifier": [*as_names("identifier", columns.get("identifier")), name]}


def _compare(names: Sequence[str], config: Config, roles: Mapping[str, Sequence[str]], hint: str) -> None:
    """Refuse data whose columns are not those of the configuration, such as last month's, and name all that differ."""
    placed = [name for wanted in roles.values() for name in wanted]
    spoken_of = dict.fromkeys(
        [*config.expected, *(name for wanted in config.roles.values() for name in wanted), *config.details]
    )
    lost = [name for name in spoken_of if name not in names and name not in REST]
    # Unless the configuration lists its columns, `rest` takes whatever there is.
    rest = not config.expected and any(name in REST and name not in names for name in placed)
    new = [] if rest else [name for name in names if name not in spoken_of and name not in placed]
    if lost or (new and (config.roles or config.expected)):
        near = suggest(lost[0], [name for name in names if name not in spoken_of]) if len(lost) == 1 else ""
        differences = [f"missing in the data: {quote(lost)}{near}"] if lost else []
        differences += [f"new in the data, without a role: {quote(new)}"] if new else []
        listed = f"; keep its list '{EXPECTED}' up to date" if config.expected else ""
        raise InputError(
            f"{config.source or 'the configuration'} is for other columns than these ({'; '.join(differences)}). "
            f"Is it the right file? If so, take out what is missing, and give what is new a role{listed}.{hint}"
        )


def _tell_rest(declared: Declarations, config: Config, roles: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What the word of a configuration on the rest took in, where it does not list the columns it expects."""
    covered = [column for column in declared.columns if not column.named]
    said = any(name in REST and name in roles[role] for role, wanted in config.roles.items() for name in wanted)
    if config.expected or not covered or not said:
        return ()
    names = quote([column.name for column in covered])
    return (
        f"{covered[0].role} by the configuration's word on the rest, which takes in any new column (list all columns "
        f"as '{EXPECTED}' to have new ones refused): {names}",
    )


def as_names(keyword: str, value: Names) -> list[str]:
    """One name or several, as a list."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{keyword}: expected a column name or a list of column names")
    return list(value)


def _same_rest(name: str) -> tuple[str, ...]:
    return ("all", "rest") if name in ("all", "rest") else ()


def read_kinds(
    numeric: Names = None, nominal: Names = None, ordinal: Orders = None, date: Dates = None
) -> list[tuple[str, str, Any]]:
    """The type of each column that has one, with the order of ordinal ones and the form of dates, if it is given."""
    found: list[tuple[str, str, Any]] = [(n, "numeric", None) for n in as_names("numeric", numeric)]
    found += [(name, "nominal", None) for name in as_names("nominal", nominal)]
    if isinstance(ordinal, Mapping):
        for name, order in ordinal.items():
            if isinstance(order, str) or not (order is None or isinstance(order, Sequence)):
                raise InputError(
                    f"ordinal: the order of column '{name}' must be a list of its categories, lowest first"
                )
            found.append((name, "ordinal", None if order is None else tuple(str(category) for category in order)))
    else:
        found += [(name, "ordinal", None) for name in as_names("ordinal", ordinal)]
    if isinstance(date, Mapping):
        for name, form in date.items():
            if not (form is None or isinstance(form, str)):
                raise InputError(f"date: the form of column '{name}' must be a text such as %d.%m.%Y")
            found.append((name, "date", form))
    else:
        found += [(name, "date", None) for name in as_names("date", date)]
    seen: dict[str, str] = {}
    for name, kind, _ in found:
        if seen.setdefault(name, kind) != kind:
            raise InputError(f"column '{name}' is declared both {seen[name]} and {kind}; keep one")
    return found


def _check_mapping(keyword: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise InputError(f"{keyword}: expected a mapping from column name to value")
    return value
