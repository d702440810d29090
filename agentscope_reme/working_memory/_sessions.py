# -*- coding: utf-8 -*-
"""How a memory comes about: new, resumed from its journal, or for one call only."""

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from agentscope.message import Msg

from .._errors import SessionError, SessionNotFoundError, StorageError
from .._events import EventKind
from ..storage import Journal, JsonlFile, parse_lines
from ..workspace import escape_name
from ._departure import take_back
from ._memory import ReMeInMemoryMemory
from ._services import MemoryServices
from ._session_state import SessionState, head_record

__all__ = [
    "check_unused",
    "create_memory",
    "delete_session",
    "referenced_files",
    "resume_memory",
    "session_ids",
    "standalone_memory",
    "unread_sessions",
]

logger = logging.getLogger("agentscope_reme")

_STORED_NAME = re.compile(rb"[0-9a-f]{24}\.txt")
_NAMED = re.compile(rb'\A\{[^\n\[]*?"session_id": ("(?:[^"\\\n]|\\.)*")')
_BEGINNING = 65_536


def create_memory(session_id: str, services: MemoryServices) -> ReMeInMemoryMemory:
    """A new, empty session.

    Raises:
        `SessionExistsError`, `SessionInUseError`: there is one of this id.
    """
    journal = _journal(session_id, services)
    journal.create()
    return ReMeInMemoryMemory(session_id, services, journal=journal)


def resume_memory(session_id: str, services: MemoryServices) -> ReMeInMemoryMemory:
    """A session as its journal has it. What was on its way into the archive when the process died is taken back, so
    that each message is in one place. Where something of the journal cannot be read, a copy of it is kept and that is
    told.

    Raises:
        `SessionNotFoundError`, `SessionInUseError`, `StorageError`: it cannot be gone on with.
        `SessionError`: a later version of this package wrote it.
    """
    journal = _journal(session_id, services)
    records = journal.open()
    try:
        state = SessionState.replay(records)
        if faults := [*journal.faults, *state.faults]:
            _keep_damaged(session_id, services, journal, faults)
            _hold_back(state)
        take_back(session_id, services.archive, state)
        fresh = set(state.folded)
        state.folded |= journal.past()
        memory = ReMeInMemoryMemory(session_id, services, journal=journal, state=state)
    except BaseException:
        journal.close()
        raise
    memory.checkpoint(fresh)
    return memory


def session_ids(folder: Path) -> list[str]:
    """The ids of the sessions that have a journal, as `resume_memory` takes them, sorted.

    Args:
        folder (`Path`):
            The workspace's `sessions_dir`. Of each journal the beginning is read.
    """
    found = (_session_id(path) for path in folder.glob("*.jsonl"))
    return sorted(each for each in found if each is not None)


def delete_session(session_id: str, services: MemoryServices) -> dict[str, int]:
    """Remove a session for good: its journal with what nobody has read of it, its lines in the archive, and the stored
    texts that nothing else refers to. The journal goes last, so that a call that was cut off can be made again.

    Returns:
        `dict[str, int]`: how many ``journals``, ``messages`` (in the archive) and ``tool_results`` went.

    Raises:
        `SessionNotFoundError`: there is nothing of it.
        `SessionInUseError`: somebody has it open.
        `StorageError`: the disk refused.
    """
    journal = _journal(session_id, services)
    own: list[Path] = []
    try:
        try:
            journal.open()
            own = [journal.path, *journal.copies()]
        except SessionNotFoundError:
            if not services.archive.has_session(session_id):
                raise
        unused = _stored_for(session_id, own, services)
        services.results.store.remove(unused)
        messages = services.archive.remove_session(session_id)
        if own:
            journal.delete()
    finally:
        journal.close()
    return {"journals": len(own), "messages": messages, "tool_results": len(unused)}


def check_unused(services: MemoryServices) -> None:
    """Refuse to go on while somebody has a session open.

    Raises:
        `SessionInUseError`: it names the session.
    """
    for session_id in session_ids(services.workspace.sessions_dir):
        journal = _journal(session_id, services)
        journal.open()
        journal.close()


def standalone_memory(services: MemoryServices, messages: Sequence[Msg], summary: str) -> ReMeInMemoryMemory:
    """A memory for one call over the caller's own list, which is not journaled: the messages stay the caller's, and are
    replaced rather than changed."""
    memory = ReMeInMemoryMemory(None, services)
    memory.hold(messages, summary)
    return memory


def unread_sessions(services: MemoryServices, consumer: str) -> list[str]:
    """The ids of the sessions whose journal has fold records that a consumer has not read, or messages that are owed to
    it. Reads every journal."""
    return [
        state.session_id
        for _, state in _states(services)
        if state
        and state.session_id
        and (state.unread(services.consumers, consumer) or (state.content and consumer in state.owed))
    ]


def referenced_files(services: MemoryServices) -> set[str]:
    """The names of the stored texts that a journal refers to, or a message on its way to somebody who reads the fold
    records. Reads every journal.

    Raises:
        `StorageError`: a journal cannot be read, so that what it refers to is not known.
    """
    names: set[bytes] = set()
    days: set[str] = set()
    for copy in services.workspace.sessions_dir.glob("*.jsonl.corrupt-*"):
        names.update(_STORED_NAME.findall(JsonlFile(copy).read()))
    for data, state in _states(services):
        names.update(_STORED_NAME.findall(data))
        if state is None:
            days.update(services.archive.days())
            continue
        days.update(day for record in state.unread(services.consumers) for day in record["days"])
    for day in days:
        names.update(_STORED_NAME.findall(services.archive.read_bytes(day)))
    return {name.decode() for name in names}


def _stored_for(session_id: str, own: Sequence[Path], services: MemoryServices) -> set[str]:
    """The names of the stored texts that a session refers to and nothing else does."""
    mine, others = set[bytes](), set[bytes]()
    for path in services.workspace.sessions_dir.glob("*.jsonl*"):
        (mine if path in own else others).update(_STORED_NAME.findall(JsonlFile(path).read()))
    for line, of_session in services.archive.lines(session_id):
        (mine if of_session else others).update(_STORED_NAME.findall(line))
    return {name.decode() for name in mine - others}


def _journal(session_id: str, services: MemoryServices) -> Journal:
    return Journal(
        services.workspace.sessions_dir,
        escape_name(session_id),
        session_id=session_id,
        head=head_record(session_id),
    )


def _keep_damaged(session_id: str, services: MemoryServices, journal: Journal, faults: list[str]) -> None:
    copy = journal.set_aside()
    error = f"{len(faults)} parts of the journal cannot be read ({faults[0]}); all of it is kept in {copy.name}."
    logger.error("Session %s: %s", session_id, error)
    services.events.emit(
        EventKind.JOURNAL_DAMAGED, session_id=session_id, error=error, copy=str(copy), faults=len(faults)
    )


def _hold_back(state: SessionState) -> None:
    """Take back from the archive only what is in the memory: the record that had it may be one that is damaged."""
    if state.leaving:
        held = {msg.id for msg, _ in state.content.values()}
        state.leaving = {**state.leaving, "ids": [each for each in state.leaving["ids"] if each in held]}


def _session_id(path: Path) -> str | None:
    """Whose journal it is: what it says itself, else its name, where that is an id."""
    with suppress(StorageError, ValueError):
        named = _NAMED.search(JsonlFile(path).read(0, _BEGINNING))
        session_id = json.loads(named[1]) if named else None
        if session_id is not None and escape_name(session_id) == path.stem:
            return session_id
    if escape_name(path.stem) == path.stem:
        return path.stem
    logger.warning("Nobody knows whose session %s is: its beginning is damaged.", path)
    return None


def _states(services: MemoryServices) -> Iterator[tuple[bytes, SessionState | None]]:
    """Each journal as it is, and its state; `None` where a later version of this package wrote it."""
    for path in sorted(services.workspace.sessions_dir.glob("*.jsonl")):
        data = JsonlFile(path).read()
        try:
            yield data, SessionState.replay(parse_lines(data, str(path)))
        except SessionError as error:
            logger.warning("%s", error)
            yield data, None
