# -*- coding: utf-8 -*-
"""How messages leave a memory: archive first, then one journal record, and only then the memory.

Nothing is awaited in here. Whatever fails, and wherever the process dies, each message is in the memory or in the
archive, and in one of them alone: what is on its way into the archive is announced in the journal before the first
byte, and taken back where the record that commits it never came.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from agentscope.message import Msg

from .._errors import ReMeError
from ..dialog import DialogArchive
from ._offload import OffloadStore
from ._session_log import SessionLog
from ._session_state import SessionState
from ._tool_results import ToolResultCompactor

__all__ = ["Departure", "take_back"]


class Departure:
    """Lets the messages of one session go.

    Args:
        session_id (`str | None`):
            The session, if the messages are of one.
        archive (`DialogArchive`):
            Where they go.
        store (`OffloadStore`):
            Has the long texts that they refer to, which must be on disk before them.
        log (`SessionLog`):
            The session's journal.
        state (`SessionState`):
            The session's state, which this updates.
    """

    def __init__(
        self,
        session_id: str | None,
        archive: DialogArchive,
        store: OffloadStore,
        log: SessionLog,
        state: SessionState,
    ) -> None:
        self._session_id = session_id
        self._archive = archive
        self._store = store
        self._log = log
        self._state = state

    def commit(
        self,
        op: str,
        keys: Sequence[int],
        messages: Sequence[Msg],
        *,
        summary: str,
        noted: bool,
        readers: Mapping[str, Any],
    ) -> None:
        """Archive the messages and commit it.

        Args:
            op (`str`):
                `"fold"` or `"clear"`.
            keys (`Sequence[int]`):
                Journal keys of all that leaves.
            messages (`Sequence[Msg]`):
                What of it is archived.
            summary (`str`):
                The summary from now on, which stands for them after a fold.
            noted (`bool`):
                Whether the note writer is to read them.
            readers (`Mapping[str, Any]`):
                Who else is, with what each has to know for it.

        Raises:
            `StorageError`: archive or journal failed; nothing has changed.
        """
        ids = [msg.id for msg in messages]
        days = sorted({self._archive.day_of(msg) for msg in messages})
        record = {
            "session_id": self._session_id,
            "keys": list(keys),
            "ids": ids,
            "days": days,
            "number": self._state.number + 1,
            "noted": noted,
            "summary": summary,
            **({"readers": dict(readers)} if readers else {}),
        }
        try:
            if messages:
                self._store.sync({name for msg in messages for name in ToolResultCompactor.references(msg)})
                self._archive.append(messages, self._session_id, announce=partial(self._announce, days))
            self._log.commit(op, **record)
        except ReMeError:
            self._undo()
            raise
        self._state.apply({"op": op, **record})

    def _announce(self, days: list[str], ids: list[str], digests: list[str]) -> None:
        before = self._state.leaving or {}
        record = {
            "ids": [*before.get("ids", ()), *ids],
            "days": sorted({*before.get("days", ()), *days}),
            "digests": [*before.get("digests", ()), *digests],
        }
        self._log.commit("leaving", **record)
        self._state.leaving = record

    def _undo(self) -> None:
        try:
            take_back(self._session_id, self._archive, self._state)
        except ReMeError:
            return  # it stays announced, and the next resume takes it back
        self._log.write("leaving", ids=[], days=[], digests=[])


def take_back(session_id: str | None, archive: DialogArchive, state: SessionState) -> None:
    """Remove from the archive what was announced and never committed.

    Raises:
        `StorageError`: the archive cannot be written; nothing has changed.
    """
    leaving = state.leaving
    if leaving and leaving["ids"]:
        archive.remove(session_id, leaving["ids"], leaving["days"], leaving.get("digests"))
    state.leaving = None
