"""What commands share: how values are written, groups of options, one documentation for verb and command."""

from __future__ import annotations

import csv
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from cyclopts import Parameter, Token
from docstring_parser import Docstring, DocstringStyle, parse

if TYPE_CHECKING:
    from discreet.data.files.source import Source


def split(_type: Any, tokens: Sequence[Token]) -> list[str]:
    """`--quasi age,income --quasi region`: names after commas, or the option again; a name with a comma in quotes."""
    rows = csv.reader((token.value for token in tokens), skipinitialspace=True)
    return [name.strip() for row in rows for name in row if name.strip()]


def _read_pairs(convert: Callable[[str], Any], what: str) -> Callable[[Any, Sequence[Token]], dict[str, Any]]:
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


def _read_orders(_type: Any, tokens: Sequence[Token]) -> dict[str, list[str] | None]:
    """`--ordinal 'size=small<medium<large'`; without an order for codes that are ordered as numbers."""
    orders: dict[str, list[str] | None] = {}
    for item in split(_type, tokens):
        name, found, order = item.partition("=")
        orders[name.strip()] = [category.strip() for category in order.split("<")] if found else None
    return orders


def _read_dates(_type: Any, tokens: Sequence[Token]) -> dict[str, str | None]:
    """`--date born,died` or `--date 'born=%d.%m.%Y'`: with a form, what follows the sign is all of it, commas too."""
    forms: dict[str, str | None] = {}
    for token in tokens:
        name, _, form = token.value.partition("=")
        forms |= {name.strip(): form.strip()} if "%" in form else dict.fromkeys(split(_type, [token]))
    return forms


def _read_words(_type: Any, tokens: Sequence[Token]) -> list[str] | dict[str, list[str]]:
    """`--na 999,unknown` for all columns, or `--na age=999` for one."""
    own: dict[str, list[str]] = {}
    words = split(_type, tokens)
    for item in words:
        name, found, word = item.partition("=")
        if found:
            own.setdefault(name.strip(), []).append(word.strip())
    if own and sum(map(len, own.values())) < len(words):
        raise ValueError("name the words of all columns, as 999,unknown, or those of each, as age=999; not both")
    return own or words


def _read_pair(_type: Any, tokens: Sequence[Token]) -> tuple[int, float]:
    """`--dominance 1,75`: a number of contributors and a percentage."""
    parts = tokens[-1].value.split(",")
    try:
        n, k = parts
        return int(n), float(k)
    except ValueError:
        raise ValueError(f"expected two numbers such as 1,75, not '{tokens[-1].value}'") from None


def read_whole_numbers(_type: Any, tokens: Sequence[Token]) -> list[int]:
    """`--k 5,10 --k 25`: whole numbers after commas, or the option again."""
    try:
        return [int(item) for item in split(_type, tokens)]
    except ValueError:
        raise ValueError("expected whole numbers, as 5,10,25") from None


def _read_groups(_type: Any, tokens: Sequence[Token]) -> Path | list[list[str]]:
    """`--grouping 'age,income;town'`: groups of columns, or the TOML file that holds them."""
    text = ";".join(token.value for token in tokens)
    if text.lower().endswith(".toml"):
        return Path(text)
    rows = csv.reader(text.split(";"), skipinitialspace=True)
    return [[name.strip() for name in row if name.strip()] for row in rows]


def option(converter: Callable[[Any, Sequence[Token]], Any], metavar: str) -> Parameter:
    return Parameter(converter=converter, n_tokens=1, allow_repeating=True, accepts_keys=False, metavar=metavar)


Columns = Annotated[list[str] | None, option(split, "COLUMNS")]
Names = Annotated[list[str] | None, option(split, "NAMES")]
if TYPE_CHECKING:
    Orders = dict[str, list[str] | None] | None
    Dates = dict[str, str | None] | None
    Words = list[str] | dict[str, list[str]] | None
    Weights = dict[str, float] | None
    Aggregates = dict[str, str] | None
    Digits = dict[str, int] | None
    Coarsenings = dict[str, str] | None
    Limits = dict[str, str] | None
    Params = dict[str, str] | None
    Pair = tuple[int, float] | None
    Groups = Path | list[list[str]] | None
else:
    # Declared as lists first, since only then all occurrences of an option reach its reader, which makes one mapping of
    # them; and as what a reader makes, since cyclopts holds the result against the type where pydantic is loaded.
    Many = list[Any] | dict[Any, Any] | Path | None
    Orders = Annotated[Many, option(_read_orders, "COLUMN=ORDER")]
    Dates = Annotated[Many, option(_read_dates, "COLUMN=FORM")]
    Words = Annotated[Many, option(_read_words, "WORDS")]
    Weights = Annotated[Many, option(_read_pairs(float, "column=number"), "COLUMN=NUMBER")]
    Aggregates = Annotated[Many, option(_read_pairs(str, "column=mean, median or mode"), "COLUMN=HOW")]
    Digits = Annotated[Many, option(_read_pairs(int, "column=digits"), "COLUMN=DIGITS")]
    Coarsenings = Annotated[Many, option(_read_pairs(str, "column=how"), "COLUMN=HOW")]
    Limits = Annotated[Many, option(_read_pairs(str, "column=number"), "COLUMN=NUMBER")]
    Params = Annotated[Many, option(_read_pairs(str, "parameter=value"), "NAME=VALUE")]
    Pair = Annotated[Any, option(_read_pair, "N,K")]
    Groups = Annotated[Many, option(_read_groups, "GROUPS")]


def write_options(options: Mapping[str, Any]) -> list[str]:
    """Write the options that were given as they stand on a command line; files by their names alone."""
    words = []
    for name, value in options.items():
        if isinstance(value, Mapping):  # orders of categories, weights, forms of dates or words for missing values
            pairs = [
                (key, one)
                for key, each in value.items()
                for one in (each if name == "na" else ["<".join(each) if isinstance(each, list) else each])
            ]
            texts = [key if one is None else f"{key}={one}" for key, one in pairs]
            texts = texts if name == "date" else [",".join(texts)]  # a form may have a comma
            words += [f"--{'weight' if name == 'weights' else name} '{text}'" for text in texts]
        elif isinstance(value, int):
            words.append(f"--{name} {value}")
        elif value is not None:
            words.append(f"--{name} {value.name if isinstance(value, Path) else ','.join(value)}")
    return words


F = TypeVar("F", bound=Callable[..., Any])

# Of several commands, where what is typed differs from what the verb is given.
COMMON = {
    "data": "The microdata: CSV, Parquet, Arrow or Feather; Excel, Stata, SPSS or SAS with the extra `formats`; or "
    "with the extra `db` a table of a database, as postgresql:SCHEMA.TABLE, postgresql:SERVICE/SCHEMA.TABLE or "
    "sqlite:FILE#TABLE.",
    "params": "A parameter of the method, as gamma=0.2.",
    "order": "Write rows sorted by all released columns, so that their order tells nothing (the default), or as they "
    "came in.",
    "evidence": "Another place for the evidence than OUTPUT.evidence.json.",
    "files": "With a table of a database as OUTPUT: the folder for record and evidence; the current one by default.",
    "force": "Replace files that exist already.",
    "quiet": "Print nothing but errors.",
}


def documented_by(verb: Callable[..., Any]) -> Callable[[F], F]:
    """Complete a command's docstring by the verb's: its description, and each parameter it does not describe itself."""

    def complete(command: F) -> F:
        if sys.flags.optimize > 1:  # Python was told to forget all docstrings
            return command
        theirs, ours = _parse(verb), _parse(command)
        lines = [theirs.short_description or "", "", theirs.long_description or "", "", "Parameters", "----------"]
        for name, parameter in inspect.signature(command).parameters.items():
            group = parameter.default if isinstance(parameter.default, Options) else None
            # The verb's words on a parameter are the last to be taken, after the command's and those of a group, which
            # say how a value is typed.
            docs = (ours,) if group is None else (_parse(group), ours)
            described = _descriptions(theirs) | COMMON
            for doc in docs:
                described |= _descriptions(doc)
            for key in (name,) if group is None else vars(group):
                if key not in described:
                    raise ValueError(f"parameter {key} of {command.__name__} is documented nowhere")
                lines.append(name if group is None else f"{name}.{key}")
                lines += [f"    {line}" for line in described[key].splitlines()]
        command.__doc__ = "\n".join(lines)
        return command

    return complete


def _descriptions(doc: Docstring) -> dict[str, str]:
    return {entry.arg_name: entry.description or "" for entry in doc.params}


def _parse(thing: object) -> Docstring:
    return parse(thing.__doc__ or "", DocstringStyle.NUMPYDOC)


def given_only(**options: Any) -> dict[str, Any]:
    """Those of some options that were given: the others are as a configuration says, or the verb."""
    return {name: value for name, value in options.items() if value is not None}


class Options:
    """A group of options that are one object; a command takes it as a parameter whose default is the group's."""

    def given(self) -> dict[str, Any]:
        """Those that were given, by their names."""
        return {name: value for name, value in vars(self).items() if value is not None}


@Parameter(name="*")
@dataclass(frozen=True)
class ColumnOptions(Options):
    """The column keywords.

    Parameters
    ----------
    quasi
        Columns an intruder may know: they are protected. `all` stands for those with no other role. Required, here or
        in the configuration.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    coarsen
        Make the values of quasi-identifiers coarser on the way in: zip=prefix:2 keeps the first 2 characters of a code,
        icd=icd.hrc:2 takes the second level below the total of a hierarchy file, age=width:5 makes bands of 5 from 0,
        and zip=auto (or icd=icd.hrc:auto) chooses the number of characters (or the level) that loses least.
    hierarchy
        Compare the codes of nominal quasi-identifiers by what they have in common: zip=prefix by their first
        characters, icd=icd.hrc by the codes above them in a hierarchy file. Codes are the farther apart the more levels
        they differ in; modes are released as before.
    date
        Columns whose values are dates, as born,died where their form can be found out, or as 'born=%d.%m.%Y'.
    na
        Words and numbers that stand for missing values in quasi-identifiers, as 999,unknown,- or, of one column, as
        age=999.
    topcode
        Numbers, quasi-identifiers or confidential, whose largest values are coded on the way in: income=99% puts those
        beyond that share of the records at their mean, at least k of them; income=250000 puts those above it there.
    bottomcode
        The same at the other end, as income=1%.
    round
        Numbers, quasi-identifiers or confidential, that are rounded to multiples on the way in, as income=100.
    weights
        How much a quasi-identifier counts when records are compared, as income=2,age=0.5; 1 where nothing is said.
    aggregate
        What replaces the values of a group, as income=median: mean (numbers and dates), median (also ordinals) or mode
        (any).
    digits
        Decimal digits to round a column's aggregates to, as age=0,income=2, or all=0; 0 keeps whole numbers whole.
    """

    quasi: Columns = None
    confidential: Columns = None
    identifier: Columns = None
    ignore: Columns = None
    by: Columns = None
    numeric: Columns = None
    nominal: Columns = None
    ordinal: Orders = None
    date: Dates = None
    pivot: int | None = None
    na: Words = None
    coarsen: Coarsenings = None
    hierarchy: Coarsenings = None
    topcode: Limits = None
    bottomcode: Limits = None
    round: Weights = None
    weights: Annotated[Weights, Parameter(name="--weight")] = None
    aggregate: Aggregates = None
    digits: Digits = None
    missing: Literal["separate", "impute", "error"] | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class PromiseOptions(Options):
    """What is promised beside k-anonymity.

    Parameters
    ----------
    l
        Confidential columns of which each class, the records that share a combination of quasi-identifiers, has at
        least so many different values, as diagnosis=3; diagnosis=entropy:3 counts by entropy.
    t
        Confidential columns whose distribution in each class is within so much of that in all records, as income=0.2:
        the earth mover's distance, a share, above 0 and at most 1.
    """

    l: Limits = None  # noqa: E741 - the name it has in the field
    t: Limits = None
    person: Annotated[str | None, Parameter(metavar="COLUMN")] = None
    household: Annotated[str | None, Parameter(metavar="COLUMN")] = None


@Parameter(name="*")
@dataclass(frozen=True)
class SurveyOptions(PromiseOptions):
    __doc__ = PromiseOptions.__doc__  # what is documented there holds here, and the verb documents the rest

    sampling_weight: Annotated[str | None, Parameter(metavar="COLUMN")] = None
    split_households: int | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class KindOptions(Options):
    """The column keywords that name the types of confidential columns.

    Parameters
    ----------
    ordinal
        Confidential columns whose values are ordered categories, as 'size=small<medium<large'.
    date
        Confidential columns whose values are dates, as born,died where their form can be found out, or as
        'born=%d.%m.%Y'.
    """

    numeric: Columns = None
    nominal: Columns = None
    ordinal: Orders = None
    date: Dates = None


@Parameter(name="*")
@dataclass(frozen=True)
class TypeOptions(KindOptions):
    """The column keywords that name types.

    Parameters
    ----------
    ordinal
        Quasi-identifiers whose values are ordered categories, as 'size=small<medium<large'.
    coarsen
        Quasi-identifiers that are coarsened, as in `protect`: zip=prefix:2, icd=icd.hrc:2 or age=width:5.
    date
        Quasi-identifiers whose values are dates, as born,died where their form can be found out, or 'born=%d.%m.%Y'.
    na
        Words and numbers that stand for missing values in quasi-identifiers, as 999,unknown,- or, of one column, as
        age=999.
    """

    pivot: int | None = None
    na: Words = None
    coarsen: Coarsenings = None


@Parameter(name="*")
@dataclass(frozen=True)
class StudyColumns(Options):
    """The column keywords that a study needs.

    Parameters
    ----------
    quasi
        The columns to group by. All that have no other role by default, unless there is a configuration.
    confidential
        Columns that are left out.
    identifier
        Columns that are left out.
    ignore
        Columns that are left out.
    numeric
        Columns whose values are numbers, even if they look like something else.
    nominal
        Columns whose values are categories without an order, even if they are numbers.
    ordinal
        Columns whose values are ordered categories, as 'size=small<medium<large'.
    date
        Columns whose values are dates, as born,died where their form can be found out, or as 'born=%d.%m.%Y'.
    na
        Words and numbers that stand for missing values in quasi-identifiers, as 999,unknown,- or, of one column, as
        age=999.
    pivot
        Of years of two digits, the last that is one of this century.
    weights
        How much a quasi-identifier counts when records are compared, as income=2,age=0.5; 1 where nothing is said.
    config
        A TOML file with the roles and types of the columns.
    """

    quasi: Columns = None
    confidential: Columns = None
    identifier: Columns = None
    ignore: Columns = None
    numeric: Columns = None
    nominal: Columns = None
    ordinal: Orders = None
    date: Dates = None
    pivot: int | None = None
    na: Words = None
    weights: Annotated[Weights, Parameter(name="--weight")] = None
    config: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class SearchFlags(Options):
    """How long to search, and how."""

    config: Path | None = None
    time: float | None = None
    steps: int | None = None
    seed: int | None = None
    threads: int | None = None
    checkpoint: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class ProtectionFlags(Options):
    """What of a table is protected besides the levels of unsafe cells, and what happens where that is impossible."""

    protect_secondaries: bool = False
    singletons: Annotated[bool | None, Parameter(negative="--no-singletons")] = None
    sums: bool = False
    strict: bool = False
    partial: bool = False
    no_rules: bool = False
    previous_release: list[Path] | None = None
    growth: float | None = None
    secret: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class WorkerOptions(Options):
    """Who works on a folder of tables.

    Parameters
    ----------
    workers
        Of a folder: processes that work side by side, by default one per processor.
    cluster
        Of a folder: the address of a Dask scheduler whose workers do the work, as tls://host:8786.
    """

    workers: int | None = None
    cluster: str | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class WritingOptions(Options):
    """What is written of a release, and where.

    Parameters
    ----------
    row_map
        Also write an internal file that links each row of the release to its record in the input.
    """

    order: Literal["sorted", "kept"] | None = None
    row_map: Path | None = None
    evidence: Path | None = None
    files: Path | None = None


@Parameter(name="*", group="Large data")
@dataclass(frozen=True)
class LargeOptions(Options):
    """Where the work on data in parts, or larger than memory, is done.

    Parameters
    ----------
    memory
        How much memory all processes together may take, as 8GB; half of what is free by default. A file that would not
        fit is protected in parts.
    workers
        For data in parts, and several seeds: processes that work side by side, by default one per processor as far as
        memory allows; the release does not depend on it.
    cluster
        For data in parts, and several seeds: the address of a Dask scheduler whose workers do the work, as
        tls://host:8786; they must see the same files.
    block_records
        For data in parts: about how many records are protected at once, a million by default.
    seeds
        Search so many times, with the seeds from --seed on, and keep what loses least; each search takes the time or
        the steps asked for. Not for data in parts.
    """

    memory: str | None = None
    workers: int | None = None
    cluster: str | None = None
    block_records: int | None = None
    seeds: int | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class PreviousOptions(Options):
    """An earlier release of the same respondents."""

    previous_release: Path | None = None
    previous_row_map: Path | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class LinkageOptions(Options):
    """How linkage and interval disclosure are taken."""

    direction: Literal["original", "released"] = "original"
    nearest: Literal[1, 2] = 1
    known: Columns = None
    choose: int | None = None
    interval: Literal["scale", "relative", "rank", "sd"] | None = None
    width: float | None = None
    records: Annotated[bool | None, Parameter(negative="--values")] = None
    sample: int | None = None


@Parameter(name="*")
@dataclass(frozen=True)
class ReportOptions(Options):
    """The reports of a release, what was said of it, and what it must be.

    Parameters
    ----------
    report
        Also write OUTPUT.report.html, which may be published, and OUTPUT.internal.html, which is internal: the two
        reports of the release. Needs the extra `report`.
    sign_off
        A TOML file with what those who decide have said (recipient, purpose, five_safes, reviewer, decision,
        review_date), for the evidence and the internal report.
    acro
        Also make this folder for output checkers: the release in the form that ACRO's viewer reads (version 1.0).
        Internal.
    expect
        A release that was made and looked at before, as .csv: if this one has other bytes as .csv, it is refused and
        nothing is written.
    """

    report: bool = False
    sign_off: Path | None = None
    acro: Path | None = None
    expect: Path | None = None

    def check(self, output: Path | str) -> None:
        """Refuse a sign-off or a release that cannot be read, and a folder that cannot be made, before work begins."""
        if self.acro is not None:
            from discreet.release.acro import check_acro

            check_acro(self.acro, output)
        if self.sign_off is not None:
            from discreet.release.reports.sign_off import read_sign_off

            read_sign_off(self.sign_off)
        if self.expect is not None:
            from discreet.release.expected import check_expected

            check_expected(self.expect)


@Parameter(name="*")
@dataclass(frozen=True)
class Console(Options):
    """What a command replaces and prints.

    Parameters
    ----------
    json
        Print the evidence as JSON to standard output.
    """

    force: bool = False
    quiet: bool = False
    json: bool = False


@Parameter(name="*", group="Reading")
@dataclass(frozen=True)
class Reading(Options):
    """How a file is read, where that is not found out rightly.

    Parameters
    ----------
    delimiter
        Of a CSV file.
    encoding
        Of a CSV, Stata, SPSS or SAS file, such as utf-8 or cp1252.
    decimal
        Decimal mark of a CSV file.
    header
        Whether the first line of a CSV file, or the first row of a sheet, names the columns.
    sheet
        Sheet of an Excel file; the first by default.
    max_size
        How much a packed file (.csv.gz, Excel, Parquet, Arrow, SPSS, SAS) may hold once it is unpacked, as 8GB; by
        default the larger of 4 GB and 100 times the file.
    query
        A file with one SELECT, of which the rows are read; INPUT is the database then: postgresql:, postgresql:SERVICE
        or sqlite:FILE.
    query_time
        Seconds that a view of a database, or the query, may take, which may have no end; 300 by default.
    """

    delimiter: str | None = None
    encoding: str | None = None
    decimal: Literal[".", ","] | None = None
    header: Literal["yes", "no"] | None = None
    sheet: str | None = None
    max_size: str | None = None
    query: Path | None = None
    query_time: float | None = None

    def settings(self) -> dict[str, Any]:
        """Those that were given, as a configuration and Python say them."""
        return self.given() | ({} if self.header is None else {"header": self.header == "yes"})

    def read(self, path: Path, *, beside: Path | None = None, config: Path | None = None) -> Source:
        """Read a file in the way these options say, else a configuration; of two files, an option need apply to one."""
        from discreet.configuration import load
        from discreet.data.files import applies, read

        given = self.settings()
        if beside is not None:
            given = {name: v for name, v in given.items() if applies(name, path) or not applies(name, beside)}
        return read(path, **{**load(config).reading, **given})


COLUMNS, TYPES, STUDY_COLUMNS = ColumnOptions(), TypeOptions(), StudyColumns()
SEARCH, PROTECTION, LINKAGE, CONSOLE = SearchFlags(), ProtectionFlags(), LinkageOptions(), Console()
DETECT, PREVIOUS, LARGE = Reading(), PreviousOptions(), LargeOptions()
PROMISES = PromiseOptions()
KINDS = KindOptions()
SURVEY = SurveyOptions()
REPORTS = ReportOptions()
WRITING = WritingOptions()
WORKERS = WorkerOptions()
