"""Partitions of attributes: which of them are microaggregated together."""
