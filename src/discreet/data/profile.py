"""What a column looks like by its values alone, the role that suggests, and whether it may give respondents away.

Counts only: no value of a respondent leaves this module. Roles are proposed with their reason, for a person to decide
on. What is confidential is released as it is, so columns that may give their respondents away, by a value of its own
for nearly every record or by free text, are pointed out, and refused where nobody named them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from discreet.data.attributes import Values, is_comparable, kind_of, read_confidential, seem_codes
from discreet.data.dataset import Dataset
from discreet.data.roles import Declaration, Declarations
from discreet.data.values import read_numbers
from discreet.errors import InputError

# More distinct values than this share of the records, and a value is as good as a name.
MOSTLY_DISTINCT = 0.95
# Characters of a text of the middle length above which people write sentences and not codes.
LONG_TEXT = 30


@dataclass(frozen=True, eq=False)
class Profile:
    """One column, counted.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        numeric, ordinal, nominal or date; `unclear` where it cannot be told, `other` where values cannot be compared.
    assumed : str
        Why it is of that kind, or why that is unclear.
    records, missing : int
        Records, and those without a value.
    levels : int
        Distinct values.
    unique : int
        Records whose value nobody shares.
    whole : bool
        Whether it is numeric and all numbers are whole.
    length : float
        Characters of a text of the middle length; 0 where values are no texts.
    values : array of float64, optional
        Numbers or positions of categories, NaN where missing: to compare records by.
    """

    name: str
    kind: str
    assumed: str
    records: int
    missing: int
    levels: int = 0
    unique: int = 0
    whole: bool = False
    length: float = 0.0
    values: Values | None = field(default=None, repr=False)

    @property
    def distinct(self) -> float:
        """The share of distinct values among all that are there."""
        return self.levels / (self.records - self.missing) if self.missing < self.records else 0.0

    @property
    def free_text(self) -> bool:
        """Whether the values are sentences rather than codes."""
        return self.length > LONG_TEXT

    @property
    def names_records(self) -> bool:
        """Whether nearly every record has a value of its own, and that is no amount with decimals."""
        return self.distinct > MOSTLY_DISTINCT and (self.kind != "numeric" or self.whole)

    @property
    def looks_like_codes(self) -> bool:
        """Whether numbers look like the codes of categories."""
        return self.whole and seem_codes(self.levels, self.records - self.missing)


def profile(dataset: Dataset, said: Declaration) -> Profile:
    """Count one column, of the kind that is declared, or else of the kind that it would be taken for."""
    column = dataset.frame[said.name]
    records = len(column)
    try:
        kind, _, assumed = kind_of(dataset, said)
    except InputError as error:
        kind, assumed = "unclear", str(error)
    attribute = read_confidential(dataset, said)
    if attribute is None:
        empty = column.null_count() == records
        return Profile(said.name, "unclear" if empty else "other", assumed, records, column.null_count())
    present = attribute.values[~np.isnan(attribute.values)]
    counts = np.unique(present, return_counts=True)[1]
    texts = attribute.categories is not None and column.dtype == pl.String
    return Profile(
        said.name,
        kind,
        assumed,
        records,
        records - len(present),
        len(counts),
        int((counts == 1).sum()),
        kind == "numeric" and attribute.integral,
        float(column.str.len_chars().median() or 0.0) if texts else 0.0,  # type: ignore[arg-type]
        attribute.values,
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words in the names of columns, in English, German and French. They are hints: what others know, only people can say.
IDENTIFYING = _words("""
    id ident identifier name names surname firstname lastname forename email mail phone telephone mobile fax address
    street ssn passport iban ip url login user username vorname nachname anschrift adresse strasse telefon handy
    ausweis nom prenom rue courriel siren siret
""")
KNOWN = _words("""
    age sex gender birth born birthday dob zip zipcode postcode postal region state county district municipality town
    city country urban rural nationality citizenship race ethnicity ethnic marital education school degree occupation
    job profession household children industry sector activity size employees date year admission discharge alter
    geschlecht geburt geburtsdatum plz ort gemeinde kreis land bundesland staat familienstand bildung beruf haushalt
    branche datum jahr aufnahme entlassung sexe naissance commune ville departement pays diplome metier menage
    secteur taille annee
""")
SENSITIVE = _words("""
    diagnosis icd disease illness ill therapy drug medication income salary wage wages pay earnings turnover sales
    revenue profit wealth debt religion vote score result diagnose krankheit therapie einkommen lohn gehalt umsatz
    gewinn vermoegen schulden konfession wahl ergebnis diagnostic maladie revenu salaire chiffre
""")
WEIGHTS = _words("weight weights wgt wt pond gewicht hochrechnung poids")


@dataclass(frozen=True)
class Proposal:
    """A role for a column, and why."""

    role: str
    reason: str
    # Of an identifier whose values repeat, what shares one: person or household.
    unit: str = ""


UNDECIDED = Proposal("quasi", "nothing tells that others cannot know it")


def propose(column: Profile) -> Proposal:
    """Propose a role: what could name somebody first, and quasi-identifier where nothing tells otherwise."""
    words = set(split_name(column.name))
    if column.missing == column.records:
        return Proposal("ignore", "no value at all")
    if column.kind == "other":
        return Proposal("ignore", "values that cannot be compared")
    if column.free_text:
        return Proposal("identifier", "free text: it may name somebody")
    if words & IDENTIFYING:
        return Proposal("identifier", "by its name")
    if column.levels == 1:
        return Proposal("ignore", "the same value everywhere")
    if words & WEIGHTS:
        return Proposal("quasi", "a sampling weight tells region or size")
    if words & KNOWN:
        return Proposal("quasi", "by its name: others may know it")
    if words & SENSITIVE:
        return Proposal("confidential", "by its name: others seldom know it")
    if column.kind == "date":
        return Proposal("quasi", "dates stand in registers and papers")
    if column.names_records:
        return Proposal("identifier", f"its own value in {100 * column.distinct:.0f} % of the records")
    return UNDECIDED


# A name that more records share on average is that of a place or an employer rather than of a person or a household.
MOST_RECORDS = 20
# From this share of the other columns on, what is the same for all who share a name is a household's.
HOUSEHOLD_SHARE = 1 / 3
HOUSEHOLD_NAMES = _words("household households hh hhid home family haushalt familie menage foyer famille")
PERSON_NAMES = _words("person persons pid patient respondent member subject personne individu")


def names_units(levels: int, records: int) -> bool:
    """Whether so few records share a value that each may be a person with several records, or a household."""
    return 1 < levels < records <= MOST_RECORDS * levels


def propose_unit(dataset: Dataset, column: Profile, proposal: Proposal) -> Proposal:
    """The proposal for a column, and whether its values name persons with several records, or households.

    By the name of the column if that tells; else they name households where a third of the other columns are the same
    within each, and persons where fewer are. A number or a text within which so many are the same names households
    though nothing else tells.

    Parameters
    ----------
    dataset : Dataset
        The data.
    column : Profile
        The column.
    proposal : Proposal
        The role proposed for it.
    """
    there = column.records - column.missing
    may = proposal.role == "identifier" or (proposal == UNDECIDED and (column.whole or column.kind == "nominal"))
    if not may or column.free_text or column.missing or not names_units(column.levels, there):
        return proposal
    same, judged = _count_same_within(dataset.frame, column.name)
    words = set(split_name(column.name))
    is_home = same > 0 and same >= HOUSEHOLD_SHARE * judged
    if proposal == UNDECIDED and not is_home:
        return proposal
    unit = "household" if words & HOUSEHOLD_NAMES or (is_home and not words & PERSON_NAMES) else "person"
    told = f"{column.levels:,} values in {there:,} records: --{unit}"
    told = told if proposal == UNDECIDED else f"{proposal.reason}; {told}"
    if unit == "household" and same:
        told += f" ({same} of {judged} columns are the same within each)"
    return Proposal("identifier", told, unit)


def _count_same_within(frame: pl.DataFrame, name: str) -> tuple[int, int]:
    """How many columns have one value for each value of this one, and of how many that could have more."""
    others = [other for other, dtype in frame.schema.items() if other != name and is_comparable(dtype)]
    levels = frame.select(pl.col(others).n_unique()).row(0, named=True) if others else {}
    judged = [other for other in others if 1 < levels[other] <= MOSTLY_DISTINCT * frame.height]
    if not judged:
        return 0, 0
    alike = pl.col(name) == pl.col(name).shift()
    changes = frame.select(name, *judged).sort(name).select(
        (alike & pl.col(other).ne_missing(pl.col(other).shift())).any().alias(other) for other in judged
    )  # fmt: skip
    return len(judged) - sum(changes.row(0)), len(judged)


def find_units(dataset: Dataset, declarations: Declarations) -> list[str]:
    """The columns that are left out and may name persons with several records, or households.

    Of those that nobody called identifiers the ones that would be proposed as such.
    """
    found = []
    for name in declarations.names("identifier", "ignore"):
        column = dataset.frame[name]
        there = len(column) - column.null_count()
        if not is_comparable(column.dtype) or not names_units(column.drop_nulls().n_unique(), there):
            continue
        looked = profile(dataset, declarations[name])
        is_named = declarations[name].role == "identifier" and not looked.free_text
        if is_named or propose_unit(dataset, looked, propose(looked)).unit:
            found.append(name)
    return found


def split_name(name: str) -> list[str]:
    """The words in a column's name, in lower case: of birth_date, BirthDate or "Birth date" birth and date."""
    return [word.lower() for word in re.findall(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+(?![a-zß-ÿ])", name)]


# How a note begins that is a warning and no assumption.
BEWARE = "Beware: "


def warn_of_revealing(dataset: Dataset, declarations: Declarations) -> list[str]:
    """Warnings of confidential columns that may tell whose a record is; refused are those under `rest`.

    Decimal numbers are different in nearly every record by nature: they are warned of only.
    """
    notes, refused = [], []
    for name in declarations.names("confidential"):
        why, decimals = find_revealing(dataset, name)
        if why and not declarations[name].named and not decimals:
            refused.append(f"'{name}' ({why})")
        elif why:
            notes.append(f"{BEWARE}'{name}' is released unchanged, and {why}: whoever knows it finds the record")
    if refused:
        raise InputError(
            f"'rest' would release columns unchanged that may tell whose a record is: {', '.join(refused)}. Name them "
            "as confidential if that is meant, or as identifier, quasi or ignore"
        )
    return notes


def find_revealing(dataset: Dataset, name: str) -> tuple[str, bool]:
    """Say why the values of a column may tell whose they are, or nothing; and whether they are decimal numbers."""
    column = dataset.frame[name].drop_nulls()
    if column.is_empty() or not is_comparable(column.dtype):
        return "", False
    text = column.dtype in (pl.String, pl.Categorical, pl.Enum)
    if text and float(column.cast(pl.String).str.len_chars().median() or 0) > LONG_TEXT:  # type: ignore[arg-type]
        return "it holds free text", False
    share = column.n_unique() / len(column)
    if share <= MOSTLY_DISTINCT:
        return "", False
    return f"it has a different value in {100 * share:.0f} % of the records that have one", _has_decimals(
        dataset, column
    )


def _has_decimals(dataset: Dataset, column: pl.Series) -> bool:
    if column.dtype == pl.String and dataset.textual:
        numbers, wrong = read_numbers(column, dataset.decimal)
        column = column if len(wrong) else numbers.drop_nulls()
    if not column.dtype.is_float() and not column.dtype.is_decimal():
        return False
    return not bool((column.cast(pl.Float64) == column.cast(pl.Float64).round()).all())
