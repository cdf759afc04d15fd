"""What the 2013 paper tells in its text. Its Tables 1 to 6 and the figures are lost from the copy that we have."""

from __future__ import annotations

# Section 5, by data set and k: score of GOMM and its number of groups; of the best ad-hoc grouping and its number.
SCORES = {("Water treatment", 50): (34.3, 3, 40.9, 4), ("Census", 25): (13.0, 2, 14.3, 1)}
# Section 5: where the best scores on Census lie, as k.
BEST_K = (10, 50)
# Section 4.2, k = 25, Water treatment: from this generation on operators on groups do useless work.
USELESS_FROM = 25
# Percent of the children of crossover that are discarded unused; generations they survive; percent that are better.
CROSSOVER_UNUSED, CROSSOVER_LIFE, CROSSOVER_BETTER = "around 75 %", (2, 3), "5 %"
# Average of the best efficiency in percent, of creating and eliminating groups in the first generations.
GROUP_EFFICIENCY = "around 10 %"
# Efficiency in percent of swaps and moves in their best phase.
ELEMENT_EFFICIENCY = "around 2 %"
