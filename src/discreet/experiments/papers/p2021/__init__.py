"""The 2021 paper: the recursive genetic method."""
