# -*- coding: utf-8 -*-
"""Hands what attached agents and their users say to a vector memory, from which it draws memories.

What is in a memory is handed over as it is said. What has left one is read from the archive, by the fold records of the
session's journal, over which there is a cursor here as the note writer has one: each record says whose memories are to
be drawn, and the cursor moves when they have it. Where a hand-over fails, the journal says that what lives in the
session is owed. So nothing that was heard is lost while the vector memory is away: it comes with the next message of
any session, or at the next start, also after `kill -9` and where nobody resumes the session. The vector memory knows
each message by its id, so that nothing counts twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import anyio
from agentscope.message import Msg

from ._events import EventKind
from ._left_behind import LeftBehind
from ._owners import Owners
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["CAPTURE", "Listener", "Listening"]

logger = logging.getLogger("agentscope_reme")

CAPTURE = "capture"
"""The name under which the journals' fold records are read."""


class Listener(Protocol):
    """What is needed of a `ReMe`."""

    async def add_interaction(self, messages: Any, user_name: str, session_id: str = "") -> Any: ...

    async def end_session(self, user_name: str, session_id: str = "") -> None: ...


class Listening:
    """Hands messages over in the background, each once and in order.

    Args:
        reme (`ReMe`): the vector memory.
        services (`MemoryServices`): where the archive and the originals of cut results are, and who is told.
    """

    def __init__(self, reme: Listener, services: MemoryServices) -> None:
        self._reme, self._services = reme, services
        self._handed: WeakKeyDictionary[ReMeInMemoryMemory, set[str]] = WeakKeyDictionary()
        self._behind: dict[str, ReMeInMemoryMemory] = {}
        """The sessions of which something could not be handed over."""
        self._left_behind: LeftBehind | None = None
        self._last: dict[str, asyncio.Task[None]] = {}

    def listen(self, memory: ReMeInMemoryMemory, owners: Owners) -> None:
        """From now on what leaves a memory is kept for these users, until it is handed over."""
        memory.readers = {CAPTURE: list(owners.user_name)} if owners.user_name else {}

    def hear(self, memory: ReMeInMemoryMemory, owners: Owners, *, ended: bool = False) -> None:
        """What is in a memory, and what has left it, was said. Returns at once.

        Args:
            memory (`ReMeInMemoryMemory`): the session.
            owners (`Owners`): whose memories are to be drawn from it.
            ended (`bool`): whether the session is over.
        """
        handed = self._handed.setdefault(memory, set())
        is_new = bool(owners.user_name) and (ended or any(msg.id not in handed for msg, _ in memory.content))
        if is_new or memory.has_pending(CAPTURE):
            self._begin(memory, owners.user_name, ended=ended)

    async def take_left_behind(self, left_behind: LeftBehind) -> None:
        """Begin to hand over what sessions whose process is gone have left."""
        self._left_behind = left_behind
        for memory in await left_behind.take(CAPTURE):
            self._begin(memory, memory.owed(CAPTURE) or ())

    async def drop(self, session_id: str) -> None:
        """Hand over nothing more of a session, which is to be removed."""
        self._behind.pop(session_id, None)
        if (task := self._last.get(session_id)) is not None:
            await self._ended({task}, 0)

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109
        """Wait for what is on its way, but no longer than `timeout` seconds; the rest is handed over at the next
        start."""
        loop = asyncio.get_running_loop()
        await self._ended({task for task in self._last.values() if task.get_loop() is loop}, timeout)
        self._behind.clear()

    # ------------------------------------------------------------------ inside

    def _begin(self, memory: ReMeInMemoryMemory, users: Sequence[str], *, ended: bool = False) -> None:
        session = memory.session_id or ""
        live = [msg for msg, _ in memory.content] if users else []
        task = asyncio.get_running_loop().create_task(
            self._hand_over(self._last.get(session), memory, tuple(users), live, ended)
        )
        self._last[session] = task
        task.add_done_callback(lambda done: self._last.pop(session) if self._last.get(session) is done else None)

    async def _ended(self, tasks: set[asyncio.Task[None]], timeout: float) -> None:  # noqa: ASYNC109
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=timeout)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _hand_over(
        self,
        before: asyncio.Task[None] | None,
        memory: ReMeInMemoryMemory,
        users: Sequence[str],
        live: Sequence[Msg],
        ended: bool,
    ) -> None:
        session = memory.session_id or ""
        try:
            if before is not None and before.get_loop() is asyncio.get_running_loop():
                await asyncio.wait({before})
            for record in memory.pending(CAPTURE):
                await self._hand_over_left(memory, record)
            await self._say(memory, users, live)
            if ended:
                await self._end(users, session)
        except asyncio.CancelledError:
            self._owe(memory, users, live)
            raise
        except Exception as error:
            self._owe(memory, users, live)
            self._behind[session] = memory
            logger.exception("What was said in session %s could not be handed to the vector memory.", session)
            self._services.events.emit(
                EventKind.MEMORY_SUMMARY_FAILED, error=error, session_id=session, stage="capture"
            )
        else:
            self._behind.pop(session, None)
            memory.owe(CAPTURE, None)
            if self._left_behind is not None:
                self._left_behind.done(memory, CAPTURE)
            for name, other in self._behind.items():  # the vector memory is there again
                if name not in self._last:
                    self._begin(other, other.owed(CAPTURE) or ())

    async def _hand_over_left(self, memory: ReMeInMemoryMemory, record: dict[str, Any]) -> None:
        """What a fold record tells of."""
        users = record["readers"][CAPTURE]
        handed = self._handed.setdefault(memory, set())
        if not handed.issuperset(record["ids"]):
            found = await anyio.to_thread.run_sync(memory.pending_messages, record)
            await self._say(memory, users, list({msg.id: msg for msg in found}.values()))
        if record["op"] == "clear":
            await self._end(users, memory.session_id or "")
        memory.advance(CAPTURE, record["number"])

    async def _say(self, memory: ReMeInMemoryMemory, users: Sequence[str], messages: Sequence[Msg]) -> None:
        handed = self._handed.setdefault(memory, set())
        fresh = [msg for msg in messages if msg.id not in handed]
        if not fresh:
            return
        original = self._services.results.original
        whole = await anyio.to_thread.run_sync(lambda: [original(msg) for msg in fresh])
        for name in users:
            await self._reme.add_interaction(whole, name, memory.session_id or "")
        handed |= {msg.id for msg in fresh}

    async def _end(self, users: Sequence[str], session: str) -> None:
        for name in users:
            await self._reme.end_session(name, session)

    def _owe(self, memory: ReMeInMemoryMemory, users: Sequence[str], live: Sequence[Msg]) -> None:
        if not self._handed.get(memory, set()).issuperset(msg.id for msg in live):
            memory.owe(CAPTURE, list(users))
