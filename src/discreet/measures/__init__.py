"""How much is lost and how much is risked; all measures are percentages, 0 to 100."""
