"""Things kept as long as there is room for them; those not asked for longest go first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Cache(Generic[Key, Value]):
    """Keeps values of given sizes within a limit.

    Parameters
    ----------
    limit : int
        What the sizes may add up to.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """What is kept under a key, if it is."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value; what is larger than all there is room for is not kept."""
        if key in self._kept or size > self.limit:
            return
        self._kept[key] = (value, size)
        self.size += size
        while self.size > self.limit:
            _, (_, freed) = self._kept.popitem(last=False)
            self.size -= freed
