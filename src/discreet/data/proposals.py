"""Roles proposed for columns, each with its reason: for a person to decide on, never applied."""

from __future__ import annotations

import re
from dataclasses import dataclass

from discreet.data.profile import Profile


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
    return Proposal("quasi", "nothing tells that others cannot know it")


def split_name(name: str) -> list[str]:
    """The words in a column's name, in lower case: of birth_date, BirthDate or "Birth date" birth and date."""
    return [word.lower() for word in re.findall(r"[A-ZÀ-Þ]?[a-zß-ÿ]+|[A-ZÀ-Þ]+(?![a-zß-ÿ])", name)]
