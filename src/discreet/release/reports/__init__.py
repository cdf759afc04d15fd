"""Reports of a release: what goes out with the data, and what a steward hands to those who decide.

Python computes the facts, templates hold the words: each section of a report is a template of its own name.
"""
