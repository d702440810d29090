# -*- coding: utf-8 -*-
"""Where a conversation goes that is to be remembered: into the vector memory, or into notes where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from agentscope.message import Msg

from ._errors import MissingModelError, StorageError
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

    @property
    def key(self) -> str:
        """What it is called where it failed, and where is put down what it has learnt from."""
        ...

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Draw from new messages what is worth remembering."""
        ...

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """Keep one text as it is."""
        ...


@dataclass(frozen=True)
class MemoryKeeping:
    """Keeps it as memories of one person, task or tool in a `ReMe`.

    Args:
        reme (`ReMe`):
            The vector memory.
        kind (`str`), name (`str`):
            `user_name`, `task_name` or `tool_name`, and the name.
    """

    reme: Learning
    kind: str
    name: str

    @property
    def key(self) -> str:
        """Kind and name in one string."""
        return f"{self.kind}/{self.name}"

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Memories by the vector memory's model. Without a model each thing that a user said becomes a memory of the
        person, as it was said.

        Raises:
            `MissingModelError`: there is no model, and a procedure is to be learnt: that takes more than single turns.
        """
        try:
            return list(await self.reme.summarize_memory(list(messages), **{self.kind: self.name}))
        except MissingModelError:
            if self.kind != "user_name":
                raise
        nodes = []
        for msg in filter(is_user_request, messages):
            text = cut_text(msg.get_text_content() or "", _TURN_BYTES, lambda _: "\n[...]\n").text
            if text.strip():
                nodes.append(await self._added(text, message_time=_said_at(msg), author=msg.name))
        return nodes

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """A memory of its own."""
        reason = {"thinking": thinking} if thinking else {}
        await self._added(text, author=author, message_time=datetime.now(timezone.utc), **reason)

    async def _added(self, text: str, **fields: Any) -> MemoryNode:
        return await self.reme.add_memory(memory_content=text, **{self.kind: self.name}, **fields)


@dataclass(frozen=True)
class NoteWriting:
    """Keeps it in the notes of a workspace.

    Args:
        notes (`ReMeLight`):
            The notes.
    """

    notes: ReMeLight
    key: str = "notes"

    async def learn(self, messages: Sequence[Msg]) -> list[MemoryNode]:
        """Notes of the messages; but not of those that live in a memory which these notes are of: they are noted when
        they leave it."""
        kept = {msg.id for memory in list(self.notes._memories) for msg, _ in memory.content}
        if foreign := [msg for msg in messages if msg.id not in kept]:
            await self.notes.summary_memory(foreign)
        return []

    async def keep(self, text: str, *, author: str, thinking: str, language: str) -> None:
        """A line in the notes of the day.

        Raises:
            `StorageError`: it could not be written.
        """
        await self.notes._ensure_started()
        services = self.notes._services
        clean = text if services.redact is None else services.redact(text)
        day = datetime.now(services.archive.timezone).date()
        tools = FileTools(services.workspace, book=services.book, language=language)
        answer = await tools.append(f"memory/{day.isoformat()}.md", f"- {' '.join(clean.split())}")
        if not (answer.metadata or {}).get("ok"):
            raise StorageError(str(answer.content[0].get("text", "")))


def _said_at(msg: Msg) -> datetime | None:
    moment = parsed_time(msg.timestamp)
    return moment if moment is None or moment.tzinfo is not None else moment.astimezone()
