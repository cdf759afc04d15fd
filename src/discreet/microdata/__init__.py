"""k-partitions of records: one module per method."""
