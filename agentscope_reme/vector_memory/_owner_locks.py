# -*- coding: utf-8 -*-
"""A lock for each owner: what concerns one is done in turn, what concerns several at the same time."""

from __future__ import annotations

import asyncio
import weakref

from .._loop_lock import LoopLock
from ._owner import Owner

__all__ = ["OwnerLocks"]


class OwnerLocks:
    """Locks that exist while somebody holds or awaits them."""

    def __init__(self) -> None:
        self._locks: weakref.WeakValueDictionary[str, LoopLock] = weakref.WeakValueDictionary()

    def of(self, owner: Owner) -> _Held:
        """The lock of an owner, for ``async with``."""
        lock = self._locks.get(owner.key)
        if lock is None:
            lock = self._locks[owner.key] = LoopLock()
        return _Held(lock)


class _Held:
    """Keeps a lock in existence for as long as it is needed."""

    def __init__(self, lock: LoopLock) -> None:
        self._holder = lock
        self._lock: asyncio.Lock | None = None

    async def __aenter__(self) -> None:
        self._lock = self._holder.lock()
        await self._lock.acquire()

    async def __aexit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()
