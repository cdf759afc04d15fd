"""The report that goes out with the data: only what may be published, by the same rules as the record."""

from __future__ import annotations

from typing import Any

from discreet.release.reports.look import Look
from discreet.release.reports.pages import Grid, Page, Section
from discreet.release.reports.subject import Subject


def public_page(subject: Subject, looked: Look) -> Page:
    """The public report of a release of microdata."""
    sections = [
        Section("promise", "What is promised, and how to check it", promise_facts(subject)),
        Section("columns", "The columns", column_facts(subject)),
    ]
    return Page(f"About the data in {subject.name}", _subtitle(subject), False, sections)


def _subtitle(subject: Subject) -> str:
    return f"{subject.records:,} records, {len(subject.names('quasi', 'by', 'confidential')):,} columns"


def promise_facts(subject: Subject) -> dict[str, Any]:
    """The promise in words, and what it takes to check it."""
    output = subject.account.get("output") or {}
    return {
        "words": None if subject.promise is None else subject.promise.words(),
        "file": subject.name,
        "sha256": output.get("sha256"),
        "version": subject.account["version"],
    }


def column_facts(subject: Subject) -> dict[str, Any]:
    """Role, type and aggregate of each column, and how many were left out."""
    rows = [
        (said.name, said.role, said.kind or "", said.aggregate or "")
        for said in subject.declared.columns
        if said.name in subject.released.frame.columns
    ]
    return {"grid": Grid(("Column", "Role", "Type", "Replaced by"), rows)}
