"""Tolerances: by how much computed numbers may differ from what they stand for, each named by what it decides.

Numbers are doubles, of which about sixteen digits hold. All of these are relative to the size of what is compared
where not stated otherwise, and every one of them only decides what is tried or kept: what is released is verified in
exact arithmetic (`discreet.verification.certificate`).
"""

# A level counts as reached, and a value as met, if it falls short by less: what is printed has fewer digits.
LEVEL = 1e-9
# A number this close to a whole one is meant to be whole: decimals such as 0.1 have no exact double.
WHOLE = 1e-9
# Absolute tolerances of a linear program, and those of a second try: the finest that HiGHS keeps reliably, and its own.
LP, LP_COARSE = 1e-9, 1e-7
# Sums of deviations miss a relation by less than this part of the largest only by rounding.
ROUNDING = 1e-13
# Deviations below this part of the largest are what a solver leaves of zero.
MOVED = 1e-11
# A move of less than this part of what others can move by is lost among them: it is looked for in a measure of its own,
# in which the others move by this many times as much at most. Linear programs have absolute tolerances.
SMALL, REACH = 1e-8, 1e6
# Published values miss a relation of their table by less than this part of the largest only by the digits printed.
PRINTED = 1e-7
# A cut is worth adding if the solution violates it by more; far above the linear program's own tolerance.
VIOLATION = 1e-6
# A coefficient, in parts of the largest of its cut, that only rounding has left different from zero.
COEFFICIENT = 1e-12
