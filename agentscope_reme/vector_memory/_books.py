# -*- coding: utf-8 -*-
"""The two collections of a bank, and how they are written so that they agree whatever happens in between."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from .._errors import ReMeError, VectorSpaceError
from .._events import EventBus, EventKind
from .._loop_lock import LoopLock
from ..record import MemoryNode
from ..vector_store import VectorStore
from ._access import AccessLog
from ._audit import AuditRow, audit_node
from ._changes import TICK
from ._filling import Filling
from ._lineage import Lineage
from ._owner import Owner
from ._vectors import Vectors

__all__ = ["Books", "Reason"]

logger = logging.getLogger("agentscope_reme")


@dataclass(frozen=True)
class Reason:
    """Who does something to memories, and why."""

    actor: str = ""
    cause: str = ""


@dataclass
class Books:
    """What a bank consists of.

    Args:
        store (`VectorStore`): the memories.
        ledger (`VectorStore`): what belongs to them.
        vectors (`Vectors`): the embedding model.
        events (`EventBus`): told what was done.
        redact (`Callable[[str], str] | None`): applied to texts before they are stored.
        clock (`Callable[[], datetime]`): what time it is.
    """

    store: VectorStore
    ledger: VectorStore
    vectors: Vectors
    events: EventBus
    redact: Callable[[str], str] | None
    clock: Callable[[], datetime]
    writing: LoopLock = field(default_factory=LoopLock)
    """Held while memories are compared with what there is and written."""
    mismatch: str | None = None
    """Why the store is open without vectors although there is a model."""

    def __post_init__(self) -> None:
        self.lineage = Lineage(self.store, self.ledger)
        self.filling = Filling(self.store, self.ledger, self.vectors)
        self.access = AccessLog(self.store, self.ledger, self.writing)
        self._last_row = datetime.fromtimestamp(0, timezone.utc)

    async def open(self) -> None:
        """Open both collections; without vectors where the store holds those of another model."""
        try:
            await self.store.open(self.vectors.space)
        except VectorSpaceError as error:
            await self.open_without_vectors(error)
        await self.ledger.open(None)
        await self.filling.begin()

    async def open_without_vectors(self, error: VectorSpaceError) -> None:
        """Go on by words alone: the vectors in the store are another model's, perhaps since a moment ago."""
        await self.store.open(None)
        self.mismatch = str(error)
        logger.warning("Memories are searched by words alone: %s", error)
        self.events.emit(EventKind.SEARCH_DEGRADED, error=self.mismatch)

    async def embedded(self, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
        """The memories with the vectors that can be had."""
        there = self.store.space is not None
        vectors = await self.vectors.of_texts([node.embedded_text for node in nodes]) if there else [None] * len(nodes)
        return [replace(node, vector=vector) for node, vector in zip(nodes, vectors, strict=True)]

    async def put(self, insert: Sequence[MemoryNode], delete: Collection[str] = ()) -> None:
        """Write memories, and remember where one of them has no vector."""
        if any(node.vector is None for node in insert):
            await self.filling.note()
        if insert or delete:
            await self._write(insert, delete)
        if any(node.vector is not None for node in insert):
            self.filling.start()

    async def _write(self, insert: Sequence[MemoryNode], delete: Collection[str]) -> None:
        try:
            await self.store.write(insert, delete)
        except VectorSpaceError as error:  # somebody has embedded the collection again with another model
            if self.store.space is None:
                raise
            await self.open_without_vectors(error)
            await self.filling.note()
            await self.store.write([replace(node, vector=None) for node in insert], delete)

    async def put_on_record(
        self,
        insert: Sequence[MemoryNode],
        delete: Collection[str],
        entries: Sequence[MemoryNode],
        outdated: Collection[str] = (),
    ) -> None:
        """Write the ledger first and then the memories: what is retired is never gone without its successor's name.

        A version that was written down and did not come about does no harm: the memory itself is still found first.

        Args:
            insert (`Sequence[MemoryNode]`), delete (`Collection[str]`): of the memories.
            entries (`Sequence[MemoryNode]`), outdated (`Collection[str]`): of the ledger, likewise.
        """
        await self.ledger.write(entries, outdated)
        try:
            await self.put(insert, delete)
        except ReMeError:
            await self.ledger.write(delete=[entry.key for entry in entries])
            raise

    def rows(
        self,
        action: str,
        nodes: Iterable[MemoryNode],
        reason: Reason,
        details: Mapping[str, Any] | None = None,
        time: datetime | None = None,
    ) -> list[MemoryNode]:
        """What was done to some memories, for the ledger: a row for each owner."""
        by_owner: dict[str, list[MemoryNode]] = {}
        for node in nodes:
            by_owner.setdefault(node.owner, []).append(node)
        moment = self._last_row = max(time or self.clock(), self._last_row + TICK)  # so that they have an order
        cause = self.redact(reason.cause) if self.redact and reason.cause else reason.cause
        rows = []
        for owner, mine in by_owner.items():
            ids = tuple(node.memory_id for node in mine)
            row = AuditRow(moment, action, Owner.of_key(owner), ids, reason.actor, cause, details or {})
            rows.append(audit_node(row, [node.key for node in mine]))
        return rows

    def tell(self, action: str, nodes: Iterable[MemoryNode]) -> None:
        """Tell listeners what was done."""
        by_owner: dict[str, list[str]] = {}
        for node in nodes:
            by_owner.setdefault(node.owner, []).append(node.memory_id)
        for owner, ids in by_owner.items():
            self.events.emit(EventKind.MEMORY_CHANGED, action=action, owner=owner, ids=ids)
