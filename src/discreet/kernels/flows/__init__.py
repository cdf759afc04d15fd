"""Flows in networks whose arcs are the cells of a table."""
