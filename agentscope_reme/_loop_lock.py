# -*- coding: utf-8 -*-
"""A lock for methods of objects that may live through several event loops."""

import asyncio

__all__ = ["LoopLock"]


class LoopLock:
    """Gives each event loop a lock of its own, made when it is first asked for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock: asyncio.Lock | None = None

    def lock(self) -> asyncio.Lock:
        """The lock of the running loop."""
        loop = asyncio.get_running_loop()
        if self._lock is None or self._loop is not loop:
            self._loop, self._lock = loop, asyncio.Lock()
        return self._lock
