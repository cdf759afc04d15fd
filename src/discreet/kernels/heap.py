"""A heap of records with the largest key on top, ties by lowest record."""

from discreet.kernels.arrays import Floats, Ints
from discreet.kernels.jit import kernel


@kernel
def heapify(heap: Ints, keys: Floats) -> None:
    """Order a list of records as a heap by their keys."""
    for at in range(heap.size // 2 - 1, -1, -1):
        sink(heap, heap.size, keys, at)


@kernel
def sink(heap: Ints, size: int, keys: Floats, at: int) -> None:
    """Restore the order below a place whose key has become smaller."""
    record = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _above(heap[child + 1], heap[child], keys):
            child += 1
        if not _above(heap[child], record, keys):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = record


@kernel
def _above(first: int, second: int, keys: Floats) -> bool:
    return keys[first] > keys[second] or (keys[first] == keys[second] and first < second)
