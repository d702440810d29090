# -*- coding: utf-8 -*-
"""Which memories were found, noted down in the background, many at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime

from .._errors import ReMeError
from .._loop_lock import LoopLock
from ..record import MemoryNode
from ..vector_store import VectorStore

__all__ = ["AccessLog"]

_DELAY = 1.0
_MOST = 1_000
logger = logging.getLogger("agentscope_reme")


class AccessLog:
    """Counts how often memories are found, and writes that down a second later, or when much has come together.

    Args:
        store (`VectorStore`): the memories.
        writing (`LoopLock`): held while it writes, so that nothing is deleted meanwhile and brought back by that.
    """

    def __init__(self, store: VectorStore, writing: LoopLock) -> None:
        self._store, self._writing = store, writing
        self._waiting: dict[str, tuple[int, datetime]] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, nodes: Iterable[MemoryNode], time: datetime) -> None:
        """Some memories were found."""
        for node in nodes:
            count, _ = self._waiting.get(node.key, (0, time))
            self._waiting[node.key] = (count + 1, time)
        loop = asyncio.get_running_loop()
        if self._waiting and (self._task is None or self._task.done() or self._task.get_loop() is not loop):
            self._task = loop.create_task(self._later())

    async def flush(self) -> None:
        """Write down what is waiting.

        Raises:
            `ReMeError`: the store refused; it is lost then.
        """
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        async with self._writing.lock():
            nodes = await self._store.get(list(waiting))
            await self._store.patch(
                {
                    key: {"access_count": node.access_count + waiting[key][0], "last_accessed": waiting[key][1]}
                    for key, node in nodes.items()
                }
            )

    async def close(self) -> None:
        """Write down what is waiting, and end the work in the background."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._flush()

    def forget(self) -> None:
        """Drop what is waiting: the memories are gone."""
        self._waiting.clear()

    async def _later(self) -> None:
        while self._waiting:
            await asyncio.sleep(_DELAY if len(self._waiting) < _MOST else 0)
            await self._flush()

    async def _flush(self) -> None:
        try:
            await self.flush()
        except ReMeError as error:
            logger.warning("It could not be noted down which memories were found: %s", error)
        except Exception:
            logger.exception("It could not be noted down which memories were found.")
