# -*- coding: utf-8 -*-
"""The writing of a session's journal."""

import logging
from collections.abc import Callable, Iterable
from typing import Any

from .._errors import SessionError, StorageError
from .._events import EventBus, EventKind
from ..storage import Journal
from ._session_state import SessionState

__all__ = ["NoLog", "SessionLog"]

logger = logging.getLogger("agentscope_reme")


class SessionLog:
    """Writes a session's records. A failed write degrades it, which is told; the next write that succeeds puts down the
    whole state, so that nothing is missing from then on.

    Args:
        journal (`Journal`):
            Where to.
        events (`EventBus`):
            Who is told.
        session_id (`str`):
            The session's id.
        state (`Callable[[], SessionState]`):
            The session as it is now.
        consumers (`tuple[str, ...]`):
            Who reads the fold records that are noted: those that one has not read yet are kept.
    """

    def __init__(
        self,
        journal: Journal,
        events: EventBus,
        session_id: str,
        state: Callable[[], SessionState],
        consumers: tuple[str, ...] = (),
    ) -> None:
        self.degraded = False
        self._journal = journal
        self._events = events
        self._session_id = session_id
        self._state = state
        self._consumers = consumers
        self._past: set[str] = set()

    def write(self, op: str, **values: Any) -> bool:
        """Put down what happened, after it happened in memory. Says whether the disk took it."""
        try:
            self._write({"op": op, **values}, durable=False)
        except StorageError as error:
            self._degrade(error)
            return False
        return True

    def commit(self, op: str, **values: Any) -> None:
        """Put down what is about to happen, durably.

        Raises:
            `StorageError`: the disk refused; it must not happen.
        """
        try:
            if self.degraded:
                self.checkpoint()
            self._write({"op": op, **values}, durable=True)
        except StorageError as error:
            self._degrade(error)
            raise

    def checkpoint(self, past: Iterable[str] = ()) -> None:
        """Replace the records by the state, durably; `past` ids, folded since the last checkpoint, are put away.

        Raises:
            `StorageError`: the disk refused; the old records stand.
        """
        state = self._state()
        state.outbox = state.unread(self._consumers)
        self._past.update(past)
        self._own()
        self._journal.checkpoint([state.record()], self._past)
        self._past.clear()
        self._recover()

    def try_checkpoint(self, past: Iterable[str] = ()) -> None:
        """`checkpoint`, where a refusal degrades the journal instead of being raised."""
        try:
            self.checkpoint(past)
        except StorageError as error:
            self._degrade(error)

    @property
    def is_open(self) -> bool:
        """Whether the journal is this process's to write."""
        return self._journal.is_open

    def close(self) -> None:
        """Let go of the journal; a later record opens it again."""
        if self.degraded:
            self.try_checkpoint()
        self._journal.close()

    def _write(self, record: dict[str, Any], *, durable: bool) -> None:
        if self.degraded:
            self.checkpoint()
            return
        self._own()
        self._journal.append(record, durable=durable)

    def _own(self) -> None:
        if self._journal.is_open:
            return
        try:
            self._journal.create()
        except SessionError as error:
            raise StorageError(str(error)) from error

    def _degrade(self, error: StorageError) -> None:
        if not self.degraded:
            self.degraded = True
            logger.error("The journal of session %s cannot be written: %s", self._session_id, error)
            self._events.emit(EventKind.JOURNAL_DEGRADED, session_id=self._session_id, error=error)

    def _recover(self) -> None:
        if self.degraded:
            self.degraded = False
            logger.info("The journal of session %s is written again.", self._session_id)
            self._events.emit(EventKind.JOURNAL_RECOVERED, session_id=self._session_id)


class NoLog(SessionLog):
    """The log of a memory that is nobody's session: it takes everything and keeps nothing."""

    def __init__(self) -> None:
        self.degraded = False

    @property
    def is_open(self) -> bool:
        return False

    def write(self, op: str, **values: Any) -> bool:
        return True

    def commit(self, op: str, **values: Any) -> None:
        return

    def checkpoint(self, past: Iterable[str] = ()) -> None:
        return

    def close(self) -> None:
        return
