"""The 2006 paper: microaggregation by a genetic algorithm."""
