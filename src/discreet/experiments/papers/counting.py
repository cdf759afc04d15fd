"""How many candidates for an optimal k-partition there are: section II.B of the 2006 paper."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache


def representatives(n: int, k: int) -> int:
    """The number a(n,k) of ways to cut n records into group sizes of k to 2k−1, whatever their order (equation 4)."""
    # Adding the sizes one by one, as coins are added when change is counted: no recursion, however large n is.
    ways = [1] + [0] * n
    for size in range(k, 2 * k):
        for total in range(size, n + 1):
            ways[total] += ways[total - size]
    return ways[n]


@cache
def recursion(n: int, p: int, k: int) -> int:
    """Equation 4 as it is printed: representatives whose first group has at least p records."""
    if n < p:
        return 0
    if n <= 2 * k - 1:
        return 1
    return sum(recursion(n - size, size, k) for size in range(p, 2 * k))


def largest(n: int, k: int) -> int:
    """The number µ of partitions with as many groups as there can be, as even as they can be (equation 5)."""
    groups = n // k
    sizes = [n // groups + (i < n % groups) for i in range(groups)]
    return math.factorial(n) // math.prod(map(math.factorial, sizes)) // math.factorial(groups)


def bound(n: int, k: int) -> Fraction:
    """What equation 6 gives as a bound of the probability that a random chromosome is a candidate."""
    return Fraction(representatives(n, k) * largest(n, k), (n // k) ** n)


def probability(n: int, k: int) -> Fraction:
    """The probability itself: all groups that a random chromosome uses have k to 2k−1 records.

    The chromosomes are counted allele by allele: an allele has no gene, or k to 2k−1 of those that are left.
    """
    alleles = n // k
    ways = [1] + [0] * n
    for _ in range(alleles):
        ways = [
            ways[used] + sum(ways[used - size] * math.comb(used, size) for size in range(k, min(2 * k - 1, used) + 1))
            for used in range(n + 1)
        ]
    return Fraction(ways[n], alleles**n)
