"""Selection: part a list at a rank without sorting it."""

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def part_at(keys: Floats, order: Ints, start: int, middle: int, end: int) -> None:
    """Rearrange order[start:end] so that no key before the middle exceeds any from it on (Hoare's FIND).

    The pivot is the median of three, and equal keys are exchanged rather than passed over: sorted lists and lists of
    many equal keys are parted in linear time as well.
    """
    low, high = start, end - 1
    while low < high:
        a, b, c = keys[order[low]], keys[order[(low + high) // 2]], keys[order[high]]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while keys[order[i]] < pivot:
                i += 1
            while keys[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return
