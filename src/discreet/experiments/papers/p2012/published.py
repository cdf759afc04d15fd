"""The numbers that the 2012 paper prints. None stands for a table that an algorithm failed to protect."""

from __future__ import annotations

from typing import NamedTuple

# Table III: improvement over the order by weight in percent, of LS-Swap, -Insert, -Invert, GA-Swap, -Insert, -Invert,
# on the tables of the generator; by size and share of sensitive cells.
TABLE_3 = {
    ("200x5", 0.02): (
        (9.66, 8.60, 9.89, 10.27, 10.47, 8.51),
        (6.33, 2.88, 3.85, 5.78, 4.81, 3.04),
        (16.31, 7.66, 17.25, 22.08, 20.09, 20.58),
        (24.12, 18.15, 25.34, 25.68, 25.35, 25.46),
        (1.02, 0.76, 0.58, 0.69, 0.85, 0.74),
    ),
    ("200x5", 0.10): (
        (13.66, 14.63, 15.57, 12.88, 13.84, 17.03),
        (1.86, 1.67, 1.10, 1.24, 1.25, 1.21),
        (17.54, 17.13, 14.25, 14.91, 10.30, 16.71),
        (6.77, 7.94, 8.00, 9.35, 21.86, 17.59),
        (13.72, 12.21, 11.42, 15.40, 12.32, 14.54),
    ),
    ("200x50", 0.02): (
        (1.96, 1.87, 7.40, 8.95, 6.50, 5.69),
        (2.77, 2.21, 2.58, 7.77, 8.48, 9.27),
        (3.54, 1.99, 8.70, 7.39, 9.25, 6.45),
        (6.22, 1.80, 12.36, 13.72, 13.36, 13.21),
        (3.03, 4.28, 3.71, 5.59, 5.19, 2.11),
    ),
    ("200x50", 0.10): (
        (1.10, 0.94, 2.12, 1.37, 0.19, 2.40),
        (6.24, 0.13, 9.41, 10.33, 9.28, 14.10),
        (3.12, 2.96, 0.75, 10.62, 11.51, 15.12),
        (4.41, 1.41, 11.24, 10.52, 9.96, 12.78),
        (3.29, 1.79, 5.96, 2.66, 0.75, 1.61),
    ),
    ("4000x10", 0.02): (
        (0.82, 0.65, 0.43, 0.18, 0.25, 0.25),
        (1.22, 0.61, 1.60, 2.20, 2.34, 2.30),
        (0.59, 1.05, 0.66, 1.21, 1.16, 1.16),
        (0.86, 0.78, 1.10, 0.94, 1.01, 1.14),
        (0.35, 0.00, 0.28, 0.11, 0.16, 0.31),
    ),
    ("4000x10", 0.10): (
        (0.14, 0.14, 0.02, 0.41, 0.33, 0.24),
        (0.79, 0.52, 1.03, 1.02, 0.81, 0.60),
        (0.69, 0.66, 0.72, 0.72, 0.90, 0.60),
        (0.38, 0.39, 0.41, 0.52, 0.39, 0.47),
        (0.14, 0.31, 0.61, 0.57, 0.58, 0.61),
    ),
}
# Table IV: mean ranks, 6 is best.
TABLE_4 = {
    "ga-invert": 4.33,
    "ga-swap": 4.25,
    "ga-insert": 4.11,
    "ls-invert": 3.47,
    "ls-swap": 2.83,
    "ls-insert": 2.01,
}
# Section IV.B: confidence of Wilcoxon's test that the genetic algorithm is better than the local search.
CONFIDENCE_4 = {"swap": "99.9 %", "insert": "97.6 %", "invert": "over 99.9 %"}


class Published(NamedTuple):
    """What Section V.B tells of some tables.

    How many they are, on how many each set of cells is best or equally best, mean ranks (1 is best), and how sure
    Wilcoxon's test is that one is better than another.
    """

    tables: int
    best: dict[str, int]
    ranks: dict[str, float]
    confidence: dict[tuple[str, str], str]


ALL_5 = Published(
    38,
    {"ga-group-k": 22, "ga-one-k": 12, "ga-one-p": 7},
    {},
    {
        ("ga-one-k", "ga-one-p"): "98.2 %",
        ("ga-group-k", "ga-one-p"): "96.8 %",
        ("ga-group-k", "ga-one-k"): "not significant",
    },
)
# Tables of 40,000 cells.
LARGEST_5 = Published(
    10,
    {"ga-group-k": 8, "ga-one-k": 1, "ga-one-p": 1},
    {"ga-group-k": 1.22, "ga-one-k": 2.22, "ga-one-p": 2.56},
    {("ga-group-k", "ga-one-k"): "98.7 %", ("ga-group-k", "ga-one-p"): "99.3 %"},
)
# Table V: cost of the secondary cells by GA-group-K, Hypercube, Modular, Optimal, Marginal. The paper calls two of the
# costs of Modular (86,984 and 393, of 200x50) anomalies.
TABLE_5: dict[tuple[str, float], tuple[tuple[int | None, ...], ...]] = {
    ("200x5", 0.02): (
        (1199, 2377, 999, 997, 39580),
        (232, 951, 227, None, 22560),
        (1276, 1608, None, None, 33639),
        (1686, 3131, 1287, None, 20545),
        (1775, 3299, None, None, 37165),
    ),
    ("200x5", 0.10): (
        (550, 2535, None, None, 18616),
        (853, 1696, 597, None, 23753),
        (285, 1316, 64, None, 39550),
        (254, 1368, None, None, 21273),
        (1193, 1199, 850, None, 20417),
    ),
    ("200x50", 0.02): (
        (2955, None, None, None, 54280),
        (2939, None, 86984, None, 54923),
        (2228, None, 393, 2169, 55769),
        (3436, None, 790, None, 56712),
        (2089, None, 418, None, 56778),
    ),
    ("200x50", 0.10): (
        (2820, None, None, None, 54566),
        (2161, None, 2189, None, 36891),
        (1970, None, 2522, None, 54525),
        (2532, None, None, None, 56895),
        (2352, None, None, None, 36956),
    ),
    ("4000x10", 0.02): (
        (2730, None, None, None, 8033),
        (2908, None, None, None, 8542),
        (2838, None, None, None, 8433),
        (2605, None, None, None, 8292),
        (2572, None, None, None, 8343),
    ),
    ("4000x10", 0.10): (
        (2371, None, None, None, 8411),
        (2715, None, None, None, 8704),
        (2646, None, None, None, 8620),
        (2432, None, None, None, 9039),
        (2436, None, None, None, 8643),
    ),
}
# Table VI: tables protected, of 10 of each size.
TABLE_6 = {
    "GA-group-K": (10, 10, 10),
    "Hypercube": (10, 0, 0),
    "Modular": (6, 6, 0),
    "Network": (0, 0, 0),
    "Optimal": (1, 1, 0),
    "Marginal": (10, 10, 10),
}
# Tables VII and VIII: size with totals (H for a hierarchical dimension), cells, primary cells, size of K_u, calls of
# the fitness function in up to 24 hours, improvement of the surrogate in percent.
TABLES_7_8 = (
    ("100×27×18", 48600, 14807, 263, 35, 15.12),
    ("100×21×24", 50400, 10555, 645, 30, 0.0),
    ("100×5×106(H)", 53000, 8763, 5558, 40, 0.0159),
    ("100×112(H)×4", 56000, 4544, 4047, 60, 10.79),
    ("100×7×83", 58100, 11517, 4430, 35, 10.5),
    ("100×20×31", 62000, 13164, 678, 25, 0.0),
    ("100×6×112(H)", 67200, 1972, 1933, 25, 2.46),
    ("100×20×36", 72000, 15422, 734, 20, 0.0),
    ("100×76×10", 76000, 13429, 3629, 20, 0.0),
    ("100×4×212(H)", 84800, 10265, 8859, 40, 0.0),
    ("100×11×90(H)", 99000, 18978, 10069, 25, 0.36),
    ("50×50×40", 100000, 21850, 259, 15, 0.0),
    ("100×158(H)×9", 142200, 28032, 14172, 20, 0.0),
    ("100×91×23", 209300, 16008, 3441, 195, 0.15),
)
