"""Branch and cut: the cheapest pattern, proven."""
