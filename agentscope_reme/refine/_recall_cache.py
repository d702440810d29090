# -*- coding: utf-8 -*-
"""Results of the last moments, until anything is written."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from .._events import Event, EventBus, EventKind

__all__ = ["RecallCache", "Same"]

T = TypeVar("T")
_MOST = 256


@dataclass(frozen=True, eq=False)
class Same(Generic[T]):
    """A part of a key that is equal to itself alone, whatever equality its object has, and keeps it from being replaced
    by another one at the same address."""

    it: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)


class RecallCache(Generic[T]):
    """Holds results for a short time. Any change of memories that is told empties it.

    What somebody else writes, such as another process, is not told: a key that has `VectorStore.changes_elsewhere` in
    it finds nothing old, and any other one only until the time is over.

    Args:
        events (`EventBus`): where changes are told.
        seconds (`float`): how long; 0 for no cache.
        monotonic (`Callable[[], float]`): seconds.
    """

    def __init__(self, events: EventBus, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._monotonic = seconds, monotonic
        self._held: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._written = 0
        events.subscribe(self._told)

    @property
    def is_on(self) -> bool:
        """Whether anything is ever held."""
        return self._seconds > 0

    @property
    def mark(self) -> int:
        """Changes with every write: taken before a search, it tells whether its result is still good."""
        return self._written

    def get(self, key: Hashable) -> T | None:
        """What is held for a key and is not too old."""
        found = self._held.get(key)
        if found is None or self._monotonic() - found[0] >= self._seconds:
            return None
        return found[1]

    def put(self, key: Hashable, value: T, mark: int) -> None:
        """Hold a result, unless something was written since its search began."""
        if not self.is_on or mark != self._written:
            return
        self._held[key] = (self._monotonic(), value)
        self._held.move_to_end(key)
        while len(self._held) > _MOST:
            self._held.popitem(last=False)

    def clear(self) -> None:
        """Drop everything."""
        self._written += 1
        self._held.clear()

    def _told(self, event: Event) -> None:
        if event.kind is EventKind.MEMORY_CHANGED:
            self.clear()
