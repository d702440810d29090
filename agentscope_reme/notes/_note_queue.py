# -*- coding: utf-8 -*-
"""Notes in the background: one batch after the other, tried again where that helps, and none lost."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from typing import Any

import anyio

from .._errors import ConfigError, NotStartedError
from .._events import EventBus, EventKind
from ._attempts import Attempts, Writer
from ._note_batch import NoteBatch
from ._note_result import NoteResult
from ._workspace_turn import WorkspaceTurn

__all__ = ["NoteQueue"]

logger = logging.getLogger("agentscope_reme")

_RESULTS_KEPT = 100
_FIRST_LOOK, _LATER_LOOKS = 0.005, 0.05
_GRACE = 2.0
"""Seconds that a batch gets to let go once it was told to."""

_AT_WORK: set[asyncio.Task[None]] = set()
"""The loop keeps weak references only: a task that nobody holds may vanish half-way."""


class NoteQueue:
    """Hands batches to a note writer in the background, one at a time among all who write notes in the workspace.

    A batch that fails is tried again after a pause that doubles each time; at the last attempt the writer may extract
    the notes without a model, so that no model can stop the queue. What cannot be written even so (a full disk) is kept
    and tried again with the next batch, and the later batches of its session wait for it.

    It may be made before a loop runs, and used from one loop after another.

    Args:
        writer (`NoteWriter`):
            Writes the notes.
        retries (`int`):
            How often a batch is tried again after its first attempt.
        backoff (`float`):
            Seconds before the second attempt.
        events (`EventBus | None`):
            Told of each batch that is begun, written, or failed.

    Raises:
        `ConfigError`: a number that cannot work.
    """

    def __init__(
        self, writer: Writer, *, retries: int = 3, backoff: float = 2.0, events: EventBus | None = None
    ) -> None:
        if not isinstance(retries, int) or retries < 0 or backoff < 0:
            raise ConfigError(f"retries {retries!r} and backoff {backoff!r} must not be negative.")
        self._events = events or EventBus()
        self._lock = writer.workspace.state_dir / "note_queue.lock"
        self._attempts = Attempts(
            writer, retries=retries, backoff=backoff, events=self._events, hurried=lambda: self._closing
        )
        self._guard = threading.RLock()  # the garbage collector may end a dead worker while it is held
        self._waiting: deque[NoteBatch] = deque()
        self._kept: list[NoteBatch] = []
        self._current: NoteBatch | None = None
        self._task: asyncio.Task[None] | None = None
        self._turn = self.turn()  # of the present worker, and its mark: one that has another was replaced
        self._results: deque[NoteResult] = deque(maxlen=_RESULTS_KEPT)
        self._done = 0
        self._closing = False

    def submit(self, batch: NoteBatch) -> None:
        """Take a batch and return at once. Without a running loop it waits for the next call from within one.

        Raises:
            `NotStartedError`: the queue is closed.
        """
        if self._closing:
            raise NotStartedError("The note queue was closed: make another.")
        with self._guard:
            self._waiting = deque([*self._kept, *self._waiting, batch])
            self._kept = []
        self._wake()

    def status(self) -> dict[str, Any]:
        """How far the queue is.

        Returns:
            `dict[str, Any]`: `pending` (batches that wait or are at work), `done`, `failed` (batches that could not be
            written and are kept), `last_error` (what went wrong last, also where another attempt succeeded).
        """
        with self._guard:
            pending = len(self._waiting) + (self._current is not None)
            failed, error = len(self._kept), self._attempts.last_error
            return {"pending": pending, "done": self._done, "failed": failed, "last_error": error}

    def turn(self) -> WorkspaceTurn:
        """The right to write notes beside the queue, for an `async with`: one at a time in the workspace."""
        return WorkspaceTurn(self._lock)

    async def drain(self, timeout: float | None = None) -> list[NoteResult]:  # noqa: ASYNC109
        """Wait until every batch is written or kept.

        Args:
            timeout (`float | None`):
                Seconds to wait at most.

        Returns:
            `list[NoteResult]`: what was written since the last call, the latest hundred at most.
        """
        await self._until_idle(timeout)
        with self._guard:
            results = list(self._results)
            self._results.clear()
        return results

    async def close(self, timeout: float = 10.0) -> tuple[list[NoteBatch], list[NoteBatch]]:  # noqa: ASYNC109
        """Write what can be written in time and stop; no pause is waited for any more.

        Args:
            timeout (`float`):
                Seconds. What is at work when they are over is stopped, which takes two seconds more at most.

        Returns:
            `tuple[list[NoteBatch], list[NoteBatch]]`: the batches that were finished meanwhile, and those that were
            not, whose `done` was not called.
        """
        self._closing = True
        with self._guard:
            before = [*self._kept, *([self._current] if self._current else []), *self._waiting]
            self._waiting, self._kept = deque([*self._kept, *self._waiting]), []
        try:
            await self._until_idle(timeout)
        finally:  # whoever closes may be interrupted: nobody goes on behind his back
            await self._stop()
        with self._guard:
            kept = [*self._kept, *self._waiting]
        return [batch for batch in before if batch not in kept], kept

    # ------------------------------------------------------------------ who is at work

    async def _until_idle(self, timeout: float | None) -> None:  # noqa: ASYNC109
        """Wait until nothing is left to do. The worker may live in another loop, so it is looked at now and then."""
        wait = _FIRST_LOOK
        with anyio.move_on_after(timeout):
            while True:
                self._wake()
                with self._guard:
                    if self._current is None and not self._waiting:
                        return
                await anyio.sleep(wait)
                wait = min(2 * wait, _LATER_LOOKS)

    def _wake(self) -> None:
        """See that somebody is at work where there is something to do and a loop runs here."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        with self._guard:
            task = self._task
            if task is not None and not task.done() and task.get_loop().is_running():
                return
            self._take_back()
            if self._waiting:
                self._task = loop.create_task(self._work(self._turn))
                _AT_WORK.add(self._task)
                self._task.add_done_callback(_AT_WORK.discard)

    def _take_back(self) -> None:
        """Undo what a worker had begun that is gone, or that is not to go on: its batch is the next again."""
        if self._task is not None:
            _AT_WORK.discard(self._task)
        if self._current is not None:
            self._waiting.appendleft(self._current)
        self._task = self._current = None
        self._turn.release()
        self._turn = self.turn()

    async def _stop(self) -> None:
        """End what is at work, if it lets go in time; in another loop it is told to, and not waited for."""
        task = self._task
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.wait({task}, timeout=_GRACE)
        elif task is not None and task.get_loop().is_running():
            task.get_loop().call_soon_threadsafe(task.cancel)
        with self._guard:
            self._take_back()

    # ------------------------------------------------------------------ the work

    async def _work(self, turn: WorkspaceTurn) -> None:
        """Do one batch after the other until none waits."""
        try:
            while (batch := self._next(turn)) is not None:
                self._finish(batch, await self._attempts.written(batch, turn), turn)
        finally:
            with self._guard:
                if self._turn is turn:
                    self._take_back()

    def _next(self, turn: WorkspaceTurn) -> NoteBatch | None:
        """The next batch; one whose session waits for a kept one is kept with it. Without one the worker is gone."""
        with self._guard:
            while self._waiting and self._turn is turn:
                batch = self._waiting.popleft()
                if batch.session_id is None or all(batch.session_id != kept.session_id for kept in self._kept):
                    self._current = batch
                    return batch
                self._kept.append(batch)
            if self._turn is turn:
                self._take_back()
            return None

    def _finish(self, batch: NoteBatch, result: NoteResult | None, turn: WorkspaceTurn) -> None:
        """Put down what became of a batch, unless this worker was told to stop and did not."""
        with self._guard:
            if self._turn is not turn:
                return
            if result is None:
                self._current = None
                self._kept.append(batch)
                return
            self._done += 1
            self._results.append(result)
            self._attempts.last_error = result.error or self._attempts.last_error
            self._tell_done(batch, result)
            self._current = None
        self._events.emit(
            EventKind.NOTED,
            session_id=batch.session_id,
            number=batch.number,
            duration=result.duration,
            error=result.error,
            source=result.source,
            files=list(result.files),
            memory_md=result.memory_md,
            foreign=list(result.foreign),
        )

    def _tell_done(self, batch: NoteBatch, result: NoteResult) -> None:
        try:
            batch.done(result)
        except Exception as error:
            logger.exception(
                "Batch %s of session %s is noted; putting that down failed.", batch.number, batch.session_id
            )
            self._attempts.last_error = f"{type(error).__name__}: {error}"
