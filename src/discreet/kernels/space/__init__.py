"""Records as points: trees, neighbours and record linkage."""
