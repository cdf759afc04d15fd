"""Solvers of linear programs, and the tolerances that all comparisons of computed numbers go by."""
