# -*- coding: utf-8 -*-
"""Where a conversation goes that is to be remembered: into the vector memory, or into notes where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Protocol

from agentscope.message import Msg

from ._errors import MissingModelError, StorageError
from ._owners import Owners
from ._reme_light import ReMeLight
from .message import cut_text, is_user_request, parsed_time
from .notes import FileTools
from .record import MemoryNode

__all__ = ["Keeping", "Learning", "MemoryKeeping", "NoteWriting"]

_TURN_BYTES = 8_000
"""The most of a message that is kept where no model condenses it."""


class Learning(Protocol):
    """What is needed of a `ReMe`."""

    async def summarize_memory(self, messages: Any, **options: Any) -> Sequence[MemoryNode]: ...

    async def add_memory(self, memory_content: str, **options: Any) -> MemoryNode: ...


class Keeping(Protocol):
    """Somewhere to keep what was said."""

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Draw from new messages what is worth remembering."""
        ...

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """Keep one text as it is."""
        ...


class MemoryKeeping:
    """Keeps it as memories of some owners in a `ReMe`.

    Args:
        reme (`ReMe`):
            The vector memory.
        owners (`Owners`):
            Whose memories, at least one.
    """

    def __init__(self, reme: Learning, owners: Owners) -> None:
        self._reme, self._owners = reme, owners

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Memories by the vector memory's model. Without a model each thing that a user said becomes one, as it was
        said, if a user is among the owners.

        Raises:
            `MissingModelError`: there is no model, and tasks or tools only are named: those are not learnt from turns.
        """
        try:
            return list(await self._reme.summarize_memory(list(messages), **self._owners.lists()))
        except MissingModelError:
            if not self._owners.user_name:
                raise
        nodes: list[MemoryNode] = []
        for msg in filter(is_user_request, messages):
            text = cut_text(msg.get_text_content() or "", _TURN_BYTES, lambda _: "\n[...]\n").text
            if text.strip():
                nodes += await self._added(text, message_time=_said_at(msg), author=msg.name)
        return nodes

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """A memory of its own, for each of the users; of the tasks where no user is named, else of the tools."""
        reason = {"thinking": thinking} if thinking else {}
        await self._added(text, author=author, message_time=datetime.now(timezone.utc), **reason)

    async def _added(self, text: str, **fields: Any) -> list[MemoryNode]:
        kind, names = next(iter(self._owners.lists().items()))
        return [await self._reme.add_memory(memory_content=text, **{kind: name}, **fields) for name in names]


class NoteWriting:
    """Keeps it in the notes of a workspace.

    Args:
        notes (`ReMeLight`):
            The notes.
    """

    def __init__(self, notes: ReMeLight) -> None:
        self._notes = notes

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Notes of the messages; but not of those that live in a memory which these notes are of: they are noted when
        they leave it."""
        kept = {msg.id for memory in list(self._notes._memories) for msg, _ in memory.content}
        if foreign := [msg for msg in messages if msg.id not in kept]:
            await self._notes.summary_memory(foreign)
        return []

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """A line in the notes of the day.

        Raises:
            `StorageError`: it could not be written.
        """
        await self._notes._ensure_started()
        services = self._notes._services
        clean = text if services.redact is None else services.redact(text)
        day = datetime.now(services.archive.timezone).date()
        tools = FileTools(services.workspace, book=services.book, language=language)
        answer = await tools.append(f"memory/{day.isoformat()}.md", f"- {' '.join(clean.split())}")
        if not (answer.metadata or {}).get("ok"):
            raise StorageError(str(answer.content[0].get("text", "")))


def _said_at(msg: Msg) -> datetime | None:
    moment = parsed_time(msg.timestamp)
    return moment if moment is None or moment.tzinfo is not None else moment.astimezone()
