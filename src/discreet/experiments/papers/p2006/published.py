"""The numbers that the 2006 paper prints; nothing else is typed in by hand.

A. Solanas, A. Martínez-Ballesté, J. M. Mateo-Sanz, J. Domingo-Ferrer, Multivariate microaggregation based genetic
algorithms, 3rd International IEEE Conference on Intelligent Systems (2006) 65-70.
"""

# Table I: a(n,k) for k = 3, 4, 5.
TABLE_1 = {
    10: (2, 2, 1),
    20: (6, 6, 5),
    30: (11, 14, 14),
    40: (18, 27, 29),
    50: (26, 45, 56),
    100: (94, 272, 520),
    500: (2134, 26477, 197549),
    1000: (8434, 205037, 2953389),
}
# Table II: SSE of MDAV; least SSE, its mutation and crossover rates and population; least average, its rates.
TABLE_2 = {
    "20x2": (5.39, 4.29, (0.1, 0.4, 60), 4.61, (0.1, 0.7)),
    "35x2": (5.01, 3.13, (0.1, 0.1, 90), 3.59, (0.1, 0.5)),
    "50x2": (5.92, 4.02, (0.1, 0.1, 50), 4.67, (0.1, 0.5)),
    "100x2": (5.48, 15.37, (0.1, 0.2, 50), 23.78, (0.1, 0.0)),
}
# Table III: average convergence epoch of the best results.
TABLE_3 = {"11x2": 1384, "20x2": 3251, "35x2": 5269, "50x2": 53405}
# Table IV: optimum, MDAV, genetic algorithm, average convergence epoch.
TABLE_4 = {"11x5": (29.36, 39.11, 29.36, 931), "11x7": (43.28, 52.47, 43.28, 839), "11x10": (68.66, 71.14, 68.66, 705)}
# Table V: best mutation rates, crossover rates and populations.
TABLE_5 = {
    "11x2": ("0.1 – 1", "0.3 – 1", "80 – 100"),
    "20x2": ("0.1 – 0.3", "0.1 – 1", "80 – 100"),
    "35x2": ("0.1", "0 – 0.3", "90 – 100"),
    "50x2": ("0.1", "0 – 1", "60 – 100"),
    "100x2": ("0.1", "0 – 0.8", "70 – 100"),
    "11x3": ("0.1 – 1", "0.5 – 1", "60 – 100"),
}
# Section III.A: the optimum by exhaustive search; the mutation rates of the best SSE in Figure 4.
OPTIMA = {"11x2": 6.83, "11x3": 15.20}
FIGURE_4 = {"20x2": (0.1, 0.2, 0.3, 0.4), "35x2": (0.1,), "50x2": (0.1,), "100x2": (0.1,)}
# Example 1: µ, and the bound times 10¹².
EXAMPLE_MU, EXAMPLE_BOUND = 1208883745669600000, 13.2977212023656
