# -*- coding: utf-8 -*-
"""Memories in a vector store: added, changed, superseded and deleted without a model, each step on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from typing_extensions import Self

from .._events import EventBus
from ..embedding import BatchEmbedder
from ..record import MemoryNode
from ..vector_store import Progress, VectorStore
from ._audit import AuditRow
from ._owner import Owner

__all__ = ["MemoryBank"]


def now_utc() -> datetime:
    """What time it is."""
    return datetime.now(timezone.utc)


class MemoryBank:
    """Memories of any number of owners, in one store.

    Everything lies in two collections of the store: the memories, and a ledger beside them without vectors, which
    holds retired versions, stored conversations, profiles and what was done to memories.

    Args:
        store (`VectorStore`): where the memories are; it is opened and closed with the bank.
        embedder (`BatchEmbedder | None`): makes the vectors; None for search by words alone.
        events (`EventBus | None`): told what is done, and when search falls back to words.
        redact (`Callable[[str], str] | None`): applied to every text before it is stored or embedded.
        clock (`Callable[[], datetime]`): what time it is.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: BatchEmbedder | None = None,
        *,
        events: EventBus | None = None,
        redact: Callable[[str], str] | None = None,
        clock: Callable[[], datetime] = now_utc,
    ) -> None:
        self.store = store
        self.ledger = store.companion("ledger")
        self.embedder = embedder
        self.events = events or EventBus()
        self.clock = clock
        self.degraded: str | None = None
        """Why memories are searched by words alone at the moment; None where they are not."""
        self._redact = redact

    async def open(self) -> None:
        """Open the store. With another embedding model than its vectors are of, it is opened without vectors:
        `degraded` says why, and `reindex` cures it."""
        raise NotImplementedError

    async def close(self) -> None:
        """Write what is still to be written, and let go of the store."""
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def clean(self, text: str) -> str:
        """A text without what `redact` takes out; what stores rows of its own in the ledger calls it."""
        return self._redact(text) if self._redact else text

    async def add(self, nodes: Sequence[MemoryNode], *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Add memories. One that is there already stays as it is; if it was inactive or had expired, it is restored.

        Returns:
            `list[MemoryNode]`: for each node, the memory that there now is, in the same order.
        """
        raise NotImplementedError

    async def get(self, memory_id: str, owner: Owner | None = None) -> MemoryNode:
        """The memory of an id, or the one that took its place.

        Raises:
            `MemoryNotFound`: there is none.
            `AmbiguousMemoryId`: several owners have one, and no owner was given.
        """
        raise NotImplementedError

    async def get_many(self, memory_ids: Sequence[str], owner: Owner | None = None) -> dict[str, MemoryNode]:
        """The memories of several ids; an id that names none is left out, and logged."""
        raise NotImplementedError

    async def update(
        self,
        memory_id: str,
        owner: Owner | None = None,
        *,
        content: str | None = None,
        when_to_use: str | None = None,
        actor: str = "",
        cause: str = "",
        **fields: Any,
    ) -> MemoryNode:
        """Change a memory. Its id, vector and time move together; the old version goes to the ledger.

        Args:
            memory_id (`str`): the memory.
            owner (`Owner | None`): whose it has to be.
            content (`str | None`), when_to_use (`str | None`): the new texts; None leaves one as it is.
            actor (`str`), cause (`str`): for the record.
            **fields: other fields of `MemoryNode`; type, target and times of the memory itself cannot be changed.
        """
        raise NotImplementedError

    async def supersede(self, old: MemoryNode, new: MemoryNode, *, actor: str = "", cause: str = "") -> MemoryNode:
        """Add a memory in the place of another, which stays, inactive: ``metadata["superseded_by"]`` is the new id,
        and ``metadata["supersedes"]`` of the new one lists the old ids."""
        raise NotImplementedError

    async def patch(self, changes: Mapping[str, Mapping[str, Any]], *, actor: str = "", cause: str = "") -> int:
        """Change fields that neither identity nor vector depend on, by `MemoryNode.key`.

        Returns:
            `int`: how many memories there were to change.
        """
        raise NotImplementedError

    async def delete(self, memory_id: str, owner: Owner | None = None, *, actor: str = "", cause: str = "") -> bool:
        """Delete a memory with its old versions; that it was there stays on record, without a text of it.

        Returns:
            `bool`: False where the memory of this id was deleted before.

        Raises:
            `MemoryNotFound`: there never was one.
            `AmbiguousMemoryId`: several owners have one, and no owner was given.
        """
        raise NotImplementedError

    async def delete_many(
        self, memory_ids: Sequence[str], owner: Owner | None = None, *, actor: str = "", cause: str = ""
    ) -> dict[str, bool]:
        """Delete several; False for an id that names none, which keeps no other from being deleted."""
        raise NotImplementedError

    async def delete_all(self, owners: Sequence[Owner] | None = None) -> int:
        """Delete all memories of these owners (None: of everybody) with their versions, conversations, profiles, tool
        call records and audit.

        Returns:
            `int`: how many memories there were.
        """
        raise NotImplementedError

    async def list(
        self,
        owners: Sequence[Owner] | None = None,
        filters: Mapping[str, Any] | None = None,
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        include_inactive: bool = False,
    ) -> list[MemoryNode]:
        """Memories in order; see `record.parse_filters` for the filters."""
        raise NotImplementedError

    async def versions(self, memory_id: str, owner: Owner | None = None) -> list[MemoryNode]:
        """The versions that a memory had before this one, the oldest first."""
        raise NotImplementedError

    async def history(self, memory_id: str, owner: Owner | None = None) -> list[AuditRow]:
        """What was done to a memory and to those it was made from, the oldest first."""
        raise NotImplementedError

    async def reindex(self, progress: Progress | None = None) -> int:
        """Embed all memories with the embedder's model; what was embedded by it before comes from its cache.

        Returns:
            `int`: how many memories were embedded.
        """
        raise NotImplementedError
