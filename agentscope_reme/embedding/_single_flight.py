# -*- coding: utf-8 -*-
"""One request for what several tasks want at the same time, whichever event loops they run in."""

import threading
from collections.abc import Iterable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["SingleFlight"]

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Keys that somebody is fetching. Who claims a key first fetches it and lands it; the others wait for that."""

    def __init__(self) -> None:
        self._flights: dict[str, Future[T | None] | None] = {}
        """By key what is being fetched; a future only where somebody waits, since thousands are fetched at a time."""
        self._guard = threading.Lock()

    def claim(self, keys: Iterable[str]) -> "tuple[list[str], dict[str, Future[T | None]]]":
        """Divide keys into those to fetch and land, and those that another is fetching."""
        mine: list[str] = []
        theirs: dict[str, Future[T | None]] = {}
        with self._guard:
            for key in keys:
                if key in theirs:
                    continue
                if key not in self._flights:
                    self._flights[key] = None
                    mine.append(key)
                    continue
                flight = self._flights[key]
                if flight is None:
                    flight = self._flights[key] = Future()
                    flight.set_running_or_notify_cancel()  # one waiter that is cancelled does not cancel the rest
                theirs[key] = flight
        return mine, theirs

    def land(self, key: str, value: T | None) -> None:
        """Give the waiters what was fetched; ``None`` if nothing was. A key that has landed already stays as it was."""
        with self._guard:
            flight = self._flights.pop(key, None)
        if flight is not None:
            flight.set_result(value)
