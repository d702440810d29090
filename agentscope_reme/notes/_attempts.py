# -*- coding: utf-8 -*-
"""A batch written: tried again where that helps, with pauses in between, and in the end without a model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import anyio
from agentscope.message import Msg

from .._errors import ReMeError
from .._events import EventBus, EventKind
from ..workspace import Workspace
from ._note_batch import NoteBatch
from ._note_result import NoteResult
from ._workspace_turn import WorkspaceTurn

__all__ = ["Attempts", "Writer"]

logger = logging.getLogger("agentscope_reme")

_STEP = 0.05
"""Seconds after which a pause looks whether it is still wanted."""


class Writer(Protocol):
    """What a queue needs of a `NoteWriter`."""

    workspace: Workspace

    async def write(
        self,
        messages: Sequence[Msg],
        *,
        language: str | None = None,
        fallback: bool = True,
        progress: set | None = None,
    ) -> NoteResult: ...


class Attempts:
    """Gets batches onto the disk.

    Args:
        writer (`Writer`):
            Writes the notes.
        retries (`int`), backoff (`float`):
            How often a batch is tried again, and the seconds before that is done first; they double each time.
        events (`EventBus`):
            Told of each attempt that begins or fails.
        hurried (`Callable[[], bool]`):
            Whether no pause is to be waited for and the next attempt is to be the last.
    """

    def __init__(
        self,
        writer: Writer,
        *,
        retries: int,
        backoff: float,
        events: EventBus,
        hurried: Callable[[], bool],
    ) -> None:
        self.last_error: str | None = None
        """What went wrong last."""
        self._writer, self._events = writer, events
        self._retries, self._backoff = retries, backoff
        self._hurried = hurried

    async def written(self, batch: NoteBatch, turn: WorkspaceTurn) -> NoteResult | None:
        """The notes of a batch, `None` where no attempt got them onto the disk."""
        for attempt in range(self._retries + 1):
            last = attempt == self._retries or self._hurried()
            try:
                async with turn:
                    return await self._attempt(batch, fallback=last)
            except Exception as error:  # noqa: BLE001 - a background task; it is logged where it is told
                self._tell_failed(batch, error, attempt + 1, kept=last)
                if last:
                    return None
            await self._pause(self._backoff * 2**attempt)
        return None

    async def _attempt(self, batch: NoteBatch, *, fallback: bool) -> NoteResult:
        messages = await anyio.to_thread.run_sync(batch.load)
        self._events.emit(
            EventKind.NOTE_STARTED, session_id=batch.session_id, number=batch.number, messages=len(messages)
        )
        return await self._writer.write(messages, language=batch.language, fallback=fallback, progress=batch.progress)

    async def _pause(self, seconds: float) -> None:
        """Wait, unless there is a hurry."""
        while seconds > 0 and not self._hurried():
            await anyio.sleep(min(_STEP, seconds))
            seconds -= _STEP

    def _tell_failed(self, batch: NoteBatch, error: Exception, attempt: int, *, kept: bool) -> None:
        self.last_error = f"{type(error).__name__}: {error}"
        expected = isinstance(error, ReMeError)
        logger.log(
            logging.WARNING if expected else logging.ERROR,
            "Attempt %d to note batch %s of session %s failed: %s",
            attempt,
            batch.number,
            batch.session_id,
            self.last_error,
            exc_info=None if expected else error,
        )
        self._events.emit(
            EventKind.NOTE_FAILED,
            session_id=batch.session_id,
            number=batch.number,
            error=error,
            attempt=attempt,
            kept=kept,
        )
