# -*- coding: utf-8 -*-
"""How a memory comes about: new, resumed from its journal, or for one call only."""

import re
from collections.abc import Iterator, Sequence

from agentscope.message import Msg

from ..storage import Journal, JsonlFile, parse_lines
from ..workspace import escape_name
from ._departure import take_back
from ._memory import ReMeInMemoryMemory
from ._services import MemoryServices
from ._session_log import SessionState

__all__ = ["create_memory", "referenced_files", "resume_memory", "standalone_memory", "unread_sessions"]


_STORED_NAME = re.compile(rb"[0-9a-f]{24}\.txt")


def create_memory(session_id: str, services: MemoryServices) -> ReMeInMemoryMemory:
    """A new, empty session.

    Raises:
        `SessionExistsError`, `SessionInUseError`: there is one of this id.
    """
    journal = Journal(services.workspace.sessions_dir, escape_name(session_id))
    journal.create()
    return ReMeInMemoryMemory(session_id, services, journal=journal)


def resume_memory(session_id: str, services: MemoryServices) -> ReMeInMemoryMemory:
    """A session as its journal has it. What was on its way into the archive when the process died is taken back, so
    that each message is in one place.

    Raises:
        `SessionNotFoundError`, `SessionInUseError`, `StorageError`: it cannot be gone on with.
    """
    journal = Journal(services.workspace.sessions_dir, escape_name(session_id))
    records = journal.open()
    try:
        state = SessionState.replay(records)
        take_back(session_id, services.archive, state)
        fresh = set(state.folded)
        state.folded |= journal.past()
        memory = ReMeInMemoryMemory(session_id, services, journal=journal, state=state)
    except BaseException:
        journal.close()
        raise
    memory.checkpoint(fresh)
    return memory


def standalone_memory(services: MemoryServices, messages: Sequence[Msg], summary: str) -> ReMeInMemoryMemory:
    """A memory for one call over the caller's own list, which is not journaled: the messages stay the caller's, and are
    replaced rather than changed."""
    memory = ReMeInMemoryMemory(None, services)
    memory.hold(messages, summary)
    return memory


def unread_sessions(services: MemoryServices, consumer: str) -> list[str]:
    """The ids of the sessions whose journal has fold records that a consumer has not read. Reads every journal."""
    return [
        state.session_id
        for _, state in _states(services)
        if state.session_id and state.outbox and state.outbox[-1]["number"] > state.cursors.get(consumer, 0)
    ]


def referenced_files(services: MemoryServices) -> set[str]:
    """The names of the stored texts that a journal refers to, or a message on its way to somebody who reads the fold
    records. Reads every journal.

    Raises:
        `StorageError`: a journal cannot be read, so that what it refers to is not known.
    """
    names: set[bytes] = set()
    days: set[str] = set()
    for data, state in _states(services):
        names.update(_STORED_NAME.findall(data))
        read = min((state.cursors.get(each, 0) for each in services.consumers), default=state.number)
        days.update(day for record in state.outbox if record["number"] > read for day in record["days"])
    for day in days:
        names.update(_STORED_NAME.findall(services.archive.read_bytes(day)))
    return {name.decode() for name in names}


def _states(services: MemoryServices) -> Iterator[tuple[bytes, SessionState]]:
    for path in sorted(services.workspace.sessions_dir.glob("*.jsonl")):
        data = JsonlFile(path).read()
        yield data, SessionState.replay(parse_lines(data, str(path)))
