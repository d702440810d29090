# -*- coding: utf-8 -*-
"""Sessions that were left with something unread, by a process that is gone."""

import logging

import anyio

from ._errors import ReMeError, SessionInUseError
from .working_memory import MemoryServices, ReMeInMemoryMemory, resume_memory, unread_sessions

__all__ = ["LeftBehind"]

logger = logging.getLogger("agentscope_reme")


class LeftBehind:
    """Opens such sessions for those who read what left them, and lets go of each when all of them have.

    Args:
        services (`MemoryServices`):
            Where the journals are.
    """

    def __init__(self, services: MemoryServices) -> None:
        self._services = services
        self._open: dict[str, ReMeInMemoryMemory] = {}
        self._readers: dict[str, set[str]] = {}

    async def take(self, consumer: str) -> list[ReMeInMemoryMemory]:
        """The sessions of which a consumer has something to read; one that somebody has open is theirs."""
        names = await anyio.to_thread.run_sync(unread_sessions, self._services, consumer)
        return [memory for name in names if (memory := await self._opened(name, consumer)) is not None]

    def done(self, memory: ReMeInMemoryMemory, consumer: str) -> None:
        """A consumer has read what it had to of a session; it is closed if nobody else has anything to read."""
        session = memory.session_id or ""
        if self._open.get(session) is not memory or memory.has_pending(consumer):
            return
        self._readers[session].discard(consumer)
        if not self._readers[session]:
            memory.checkpoint()
            memory.close()
            self.given_back(session)

    def given_back(self, session_id: str) -> ReMeInMemoryMemory | None:
        """A session that is open here, for somebody who resumes it; it stays open."""
        self._readers.pop(session_id, None)
        return self._open.pop(session_id, None)

    def close(self) -> None:
        """Close all that is open; what was not read is at the next start."""
        for memory in self._open.values():
            memory.close()
        self._open.clear()
        self._readers.clear()

    async def _opened(self, session_id: str, consumer: str) -> ReMeInMemoryMemory | None:
        if session_id not in self._open:
            try:
                memory = await anyio.to_thread.run_sync(resume_memory, session_id, self._services)
            except SessionInUseError:
                return None
            except ReMeError as error:
                logger.warning("What session %s left unread cannot be read now: %s", session_id, error)
                return None
            self._open[session_id], self._readers[session_id] = memory, set()
        self._readers[session_id].add(consumer)
        return self._open[session_id]
