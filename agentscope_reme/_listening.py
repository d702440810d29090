# -*- coding: utf-8 -*-
"""Hands what attached agents and their users say to a vector memory, from which it draws memories."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import anyio
from agentscope.message import Msg

from ._events import EventKind
from ._owners import Owners
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["Listener", "Listening"]

logger = logging.getLogger("agentscope_reme")


class Listener(Protocol):
    """What is needed of a `ReMe`."""

    async def add_interaction(self, messages: Any, user_name: str, session_id: str = "") -> Any: ...

    async def end_session(self, user_name: str, session_id: str = "") -> None: ...


class Listening:
    """Hands messages over in the background, each once and in order; what could not be handed over is, the next time.

    The vector memory knows for itself what it has heard, so that nothing counts twice after a crash.

    Args:
        reme (`ReMe`): the vector memory.
        services (`MemoryServices`): where the originals of cut results are, and who is told.
    """

    def __init__(self, reme: Listener, services: MemoryServices) -> None:
        self._reme, self._services = reme, services
        self._heard: WeakKeyDictionary[ReMeInMemoryMemory, set[str]] = WeakKeyDictionary()
        self._last: dict[str, asyncio.Task[None]] = {}

    def hear(
        self, memory: ReMeInMemoryMemory, owners: Owners, left: Sequence[Msg] = (), *, ended: bool = False
    ) -> None:
        """What is in a memory, and what has just left it, was said. Returns at once.

        Args:
            memory (`ReMeInMemoryMemory`): the session.
            owners (`Owners`): whose memories are to be drawn from it.
            left (`Sequence[Msg]`): messages that have left the memory.
            ended (`bool`): whether the session is over.
        """
        if not owners.user_name:
            return
        known = self._heard.setdefault(memory, set())
        fresh = [msg for msg in (*left, *(msg for msg, _ in memory.content)) if msg.id not in known]
        if not fresh and not ended:
            return
        known |= {msg.id for msg in fresh}
        session = memory.session_id or ""
        task = asyncio.get_running_loop().create_task(
            self._hand_over(self._last.get(session), fresh, owners, session, known, ended)
        )
        self._last[session] = task
        task.add_done_callback(lambda done: self._last.pop(session) if self._last.get(session) is done else None)

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109
        """Wait for what is on its way, but no longer than `timeout` seconds."""
        loop = asyncio.get_running_loop()
        tasks = {task for task in self._last.values() if task.get_loop() is loop}
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)

    async def _hand_over(
        self,
        before: asyncio.Task[None] | None,
        messages: Sequence[Msg],
        owners: Owners,
        session: str,
        known: set[str],
        ended: bool,
    ) -> None:
        if before is not None and before.get_loop() is asyncio.get_running_loop():
            await asyncio.wait({before})
        try:
            original = self._services.results.original
            whole = await anyio.to_thread.run_sync(lambda: [original(msg) for msg in messages])
            for name in owners.user_name:
                if whole:
                    await self._reme.add_interaction(whole, name, session)
                if ended:
                    await self._reme.end_session(name, session)
        except Exception as error:
            known -= {msg.id for msg in messages}
            logger.exception("What was said in session %s could not be handed to the vector memory.", session)
            self._services.events.emit(
                EventKind.MEMORY_SUMMARY_FAILED, error=error, session_id=session, stage="capture"
            )
