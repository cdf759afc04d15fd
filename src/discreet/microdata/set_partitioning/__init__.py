"""Partitions as a set partitioning problem: columns, pricing, branching, proven bounds."""
