# -*- coding: utf-8 -*-
"""Hands what left a memory to the note writer: each message once, in its original form, also after a crash."""

import logging
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import anyio
from agentscope.message import Msg

from ._events import EventKind
from ._left_behind import LeftBehind
from .message import redacted
from .notes import LooseNotes, NoteBatch, NoteQueue, NoteResult, NoteWriter
from .working_memory import MemoryServices, ReMeInMemoryMemory

__all__ = ["CONSUMER", "NoteKeeping"]

logger = logging.getLogger("agentscope_reme")

_SEEN = 100_000
"""Ids of messages of no session that are remembered."""

CONSUMER = "notes"
"""The name under which the journals' fold records are read."""


class NoteKeeping:
    """The way from the fold records of the journals, and from messages of no session, to the note queue.

    Args:
        services (`MemoryServices`):
            The archive and the files to read the messages from.
        writer (`NoteWriter`):
            Writes the notes.
        left_behind (`LeftBehind`):
            Has the sessions whose process is gone.
    """

    def __init__(self, services: MemoryServices, writer: NoteWriter, left_behind: LeftBehind) -> None:
        self._services = services
        self._writer = writer
        self._queue = NoteQueue(writer, events=services.events)
        self._handed: dict[str, int] = {}
        self._seen: dict[str, None] = {}
        self._left_behind = left_behind
        self._loose_folder = services.workspace.state_dir / "loose"
        self._loose = [LooseNotes(self._loose_folder)]

    def take(self, memory: ReMeInMemoryMemory) -> None:
        """Queue the fold records of a memory that were not queued yet. Returns at once."""
        session = memory.session_id
        if session is None or not memory.has_pending(CONSUMER):
            return
        for record in memory.pending(CONSUMER):
            if record["number"] > self._handed.get(session, 0):
                self._handed[session] = record["number"]
                load = partial(self._load, memory, record)
                done = partial(self._done, memory, record["number"])
                self._queue.submit(NoteBatch(session, record["number"], load, done))

    def take_messages(self, messages: Sequence[Msg], language: str | None = None) -> None:
        """Queue messages that are of no session, each once in the life of this process, and put them down meanwhile, so
        that they are noted at the next start if they cannot be now."""
        fresh = [msg for msg in messages if msg.id not in self._seen]
        self._saw(fresh)
        if fresh:
            self._submit_loose(self._loose[0], self._loose[0].add(map(self._whole, fresh), language))

    def _whole(self, msg: Msg) -> Msg:
        """A copy of a message in its original form, as it may be stored."""
        original = self._services.results.original(msg)
        return deepcopy(original) if self._services.redact is None else redacted(original, self._services.redact)

    def _saw(self, messages: Sequence[Msg]) -> None:
        self._seen.update(dict.fromkeys(msg.id for msg in messages))
        while len(self._seen) > _SEEN:
            del self._seen[next(iter(self._seen))]

    def _submit_loose(self, loose: LooseNotes, number: int) -> None:
        _, language = loose.batch(number)
        done = lambda _: loose.done(number)  # noqa: E731
        self._queue.submit(NoteBatch(None, number, lambda: loose.batch(number)[0], done, language))

    async def write(self, messages: Sequence[Msg], language: str | None = None) -> NoteResult:
        """Note messages down now, in turn with all else that is written in the workspace."""
        originals = [self._services.results.original(msg) for msg in messages]
        async with self._queue.turn():
            return await self._writer.write(originals, language=language)

    async def take_left_behind(self) -> None:
        """Queue what processes left that are gone: messages of no session, and what sessions have that was not read. A
        session that somebody has open is theirs."""
        found = await anyio.to_thread.run_sync(LooseNotes.left_behind, self._loose_folder)
        self._loose += found
        for loose in found:
            for number in loose.waiting:
                self._saw(loose.batch(number)[0])
                self._submit_loose(loose, number)
        if not self._services.consumers:
            return
        for memory in await self._left_behind.take(CONSUMER):
            self.take(memory)
            self._left_behind.done(memory, CONSUMER)

    async def drain(self, timeout: float | None = None) -> list[NoteResult]:  # noqa: ASYNC109
        """Wait until everything queued is written or kept."""
        return await self._queue.drain(timeout)

    def status(self) -> dict[str, Any]:
        """`pending`, `done`, `failed`, `last_error`."""
        return self._queue.status()

    async def close(self, timeout: float) -> None:  # noqa: ASYNC109
        """Write what can be written in time. The rest stays in the journals, and is told; so is what is in none, since
        the disk refused it."""
        lost: list[int] = []
        try:
            finished, kept = await self._queue.close(timeout)
        finally:
            for loose in self._loose:
                lost += loose.close()
        if finished or kept:
            self._services.events.emit(
                EventKind.NOTES_CLOSED,
                finished=len(finished),
                kept=[(batch.session_id, batch.number) for batch in kept],
                lost=lost,
            )
        if len(kept) > len(lost):
            logger.warning(
                "%d batches were not noted in time; they are noted at the next start.", len(kept) - len(lost)
            )
        if lost:
            logger.error("%d batches were not noted in time, and the disk did not take them: they are lost.", len(lost))

    def _done(self, memory: ReMeInMemoryMemory, number: int, _result: NoteResult) -> None:
        memory.advance(CONSUMER, number)
        self._left_behind.done(memory, CONSUMER)

    def _load(self, memory: ReMeInMemoryMemory, record: dict[str, Any]) -> list[Msg]:
        return [self._services.results.original(msg) for msg in memory.pending_messages(record)]
