"""The report for those who decide: the public one, and what must not leave the office."""

from __future__ import annotations

from discreet.release.reports.look import Look
from discreet.release.reports.pages import Page, Section
from discreet.release.reports.public import column_facts, promise_facts
from discreet.release.reports.subject import Subject


def internal_page(subject: Subject, looked: Look) -> Page:
    """The internal report of a release of microdata."""
    sections = [
        Section("promise", "What is promised, and how to check it", promise_facts(subject)),
        Section("columns", "The columns", column_facts(subject)),
    ]
    return Page(f"Release {subject.name}: report to those who decide", f"{subject.records:,} records", True, sections)
