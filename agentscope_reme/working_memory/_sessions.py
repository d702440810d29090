# -*- coding: utf-8 -*-
"""How a memory comes about: new, resumed from its journal, or for one call only."""

from collections.abc import Sequence

from agentscope.message import Msg

from ..storage import Journal
from ..workspace import escape_name
from ._departure import take_back
from ._memory import ReMeInMemoryMemory
from ._services import MemoryServices
from ._session_log import SessionState

__all__ = ["create_memory", "resume_memory", "standalone_memory"]


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
