# -*- coding: utf-8 -*-
"""Memories in a vector store: added, changed, superseded and deleted without a model, each step on record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from datetime import timezone as dt_timezone
from typing import Any

from typing_extensions import Self

from .._errors import AmbiguousMemoryId, MemoryNotFound, MissingModelError, VectorSpaceError
from .._events import EventBus, EventKind
from .._loop_lock import LoopLock
from ..embedding import BatchEmbedder
from ..record import Condition, MemoryNode, parse_filters
from ..vector_store import Progress, VectorStore
from ._adding import add
from ._audit import AUDIT, AuditRow, audit_node, audit_row
from ._books import Books, Reason
from ._deleting import delete, delete_all, withdraw
from ._erasing import Erased, erase
from ._exchanging import exchange
from ._owner import Owner, owned_by
from ._revising import patch, supersede, update
from ._vectors import Vectors

__all__ = ["Filters", "MemoryBank", "conditions_of"]

Filters = Mapping[str, Any] | Sequence[Condition] | None
"""Which memories: as `record.parse_filters` reads them, or what it returns."""

logger = logging.getLogger("agentscope_reme")


def now_utc() -> datetime:
    """What time it is."""
    return datetime.now(dt_timezone.utc)


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
        timezone (`tzinfo | None`): whose days filters and queries mean; None is this machine's.
    """

    def __init__(
        self,
        store: VectorStore,
        embedder: BatchEmbedder | None = None,
        *,
        events: EventBus | None = None,
        redact: Callable[[str], str] | None = None,
        clock: Callable[[], datetime] = now_utc,
        timezone: tzinfo | None = None,
    ) -> None:
        self.events = events or EventBus()
        self.timezone = timezone
        self._vectors = Vectors(embedder, self.events)
        ledger = store.companion("ledger")
        self._books = Books(store, ledger, self._vectors, self.events, redact, clock)
        self._opening = LoopLock()
        self._is_open = False

    # ------------------------------------------------------------------ life

    @property
    def store(self) -> VectorStore:
        """The memories."""
        return self._books.store

    @property
    def ledger(self) -> VectorStore:
        """What belongs to them: a collection without vectors."""
        return self._books.ledger

    @property
    def vectors(self) -> Vectors:
        """The embedding model, which may fail at times."""
        return self._vectors

    @property
    def clock(self) -> Callable[[], datetime]:
        """What time it is."""
        return self._books.clock

    @clock.setter
    def clock(self, clock: Callable[[], datetime]) -> None:
        self._books.clock = clock

    @property
    def embedder(self) -> BatchEmbedder | None:
        """The embedding model; another one of the same model can be put in its place."""
        return self._vectors.embedder

    @embedder.setter
    def embedder(self, embedder: BatchEmbedder | None) -> None:
        self._vectors.embedder = embedder

    @property
    def degraded(self) -> str | None:
        """Why memories are searched by words alone at the moment; None where they are not, or are meant to be."""
        return self._books.mismatch or self._vectors.failure

    async def open(self) -> None:
        """Open the store; may be called again. With another embedding model than its vectors are of, it is opened
        without vectors: `degraded` says why, and `reindex` cures it.

        Raises:
            `VectorStoreError`: the store cannot be reached.
        """
        async with self._opening.lock():
            if self._is_open:
                return
            await self._books.open()
            self._books.filling.start()
            self._is_open = True

    async def close(self) -> None:
        """Write what is still to be written, and let go of the store. `open` opens it again."""
        async with self._opening.lock():
            if not self._is_open:
                return
            self._is_open = False
            try:
                await self._books.filling.close()
                await self._vectors.stop()
                await self._books.access.close()
            finally:
                await self.ledger.close()
                await self.store.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def clean(self, text: str) -> str:
        """A text without what `redact` takes out: for what is stored in the ledger beside memories."""
        return self._books.redact(text) if self._books.redact else text

    # ------------------------------------------------------------------ memories

    async def add(self, nodes: Sequence[MemoryNode], *, actor: str = "", cause: str = "") -> list[MemoryNode]:
        """Add memories. One that is there already stays as it is; if it was inactive or had expired, it is restored.

        Vectors are made here; one that a node has is passed over.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories; of several hundred, some at a time are written at once.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `list[MemoryNode]`: for each node, the memory that there now is, in the same order.

        Raises:
            `ConfigError`: metadata that is no JSON; nothing of it was added.
        """
        return await add(self._books, nodes, Reason(actor, cause))

    async def get(self, memory_id: str, owner: Owner | None = None) -> MemoryNode:
        """The memory of an id, or what became of it.

        Raises:
            `MemoryNotFound`: there is none, or it was deleted.
            `AmbiguousMemoryId`: several owners have one, and no owner was given.
        """
        node = await self._books.lineage.find(memory_id, owner)
        if node is None:
            raise MemoryNotFound(f"The memory {memory_id!r} was deleted.")
        return node

    async def get_many(self, memory_ids: Iterable[str], owner: Owner | None = None) -> dict[str, MemoryNode]:
        """The memories of several ids; an id that names none is left out, and logged.

        Raises:
            `AmbiguousMemoryId`: several owners have one, and no owner was given.
        """
        found = {}
        for memory_id in dict.fromkeys(memory_ids):
            try:
                found[memory_id] = await self.get(memory_id, owner)
            except MemoryNotFound as error:
                logger.warning("%s", error)
        return found

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

        If the owner has a memory of the new content already, the old one goes over into that.

        Args:
            memory_id (`str`): the memory.
            owner (`Owner | None`): whose it has to be.
            content (`str | None`), when_to_use (`str | None`): the new texts; None leaves one as it is.
            actor (`str`), cause (`str`): for the record.
            **fields: other fields of `MemoryNode`; type, target and times of the memory itself cannot be changed.

        Raises:
            `MemoryNotFound`, `AmbiguousMemoryId`: as `get`.
            `ConfigError`: an empty content, or a field that there is not or that cannot be changed.
        """
        texts = {"content": content, "when_to_use": when_to_use}
        given = {name: text for name, text in texts.items() if text is not None}
        return await update(self._books, memory_id, owner, given, fields, Reason(actor, cause))

    async def supersede(self, old: MemoryNode, new: MemoryNode, *, actor: str = "", cause: str = "") -> MemoryNode:
        """Add a memory in the place of another of the same owner, which stays and is not found any more.

        ``metadata["superseded_by"]`` of the old one is the new one's id, and ``metadata["supersedes"]`` of the new one
        lists the old ids. If the old one is gone, the new one is added alone.

        Returns:
            `MemoryNode`: the new memory.
        """
        return await supersede(self._books, old, new, Reason(actor, cause))

    async def patch(
        self,
        changes: Mapping[str, Mapping[str, Any]],
        *,
        action: str = "patched",
        actor: str = "",
        cause: str = "",
    ) -> int:
        """Change fields that neither identity nor vector depend on; there is no version of that, only the record.

        Args:
            changes (`Mapping[str, Mapping[str, Any]]`): by `MemoryNode.key`, the fields and their new values.
            action (`str`): what it is called on record.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `int`: how many memories there were to change.

        Raises:
            `ConfigError`: a field that cannot be patched; nothing was changed.
        """
        return await patch(self._books, changes, action, Reason(actor, cause))

    async def exchange(
        self,
        new: Sequence[MemoryNode],
        changes: Mapping[str, Mapping[str, Any]],
        *,
        as_of: Mapping[str, datetime] | None = None,
        action: str = "patched",
        actor: str = "",
        cause: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> list[MemoryNode] | None:
        """Add memories and patch others in one write, all of it or nothing (as far as the store can).

        Args:
            new (`Sequence[MemoryNode]`): as `add` takes them; all are written at once.
            changes (`Mapping[str, Mapping[str, Any]]`): as `patch` takes them; a key that is not there is passed over.
            as_of (`Mapping[str, datetime] | None`): by key, the `time_modified` of memories that this rests on. If one
                of them has been changed or is gone, nothing is written.
            action (`str`): what the changes are called on record.
            actor (`str`), cause (`str`), details (`Mapping[str, Any] | None`): for the record.

        Returns:
            `list[MemoryNode] | None`: for each new node, the memory that there now is; None where nothing was written
            because of `as_of`.
        """
        reason = Reason(actor, cause)
        return await exchange(self._books, new, changes, as_of or {}, action, reason, details or {})

    async def record(self, rows: Sequence[AuditRow], keys: Sequence[str] = ()) -> None:
        """Put something else on record, such as that a sweep has begun.

        Args:
            rows (`Sequence[AuditRow]`): what was done.
            keys (`Sequence[str]`): keys of memories in whose `history` it is to be found.
        """
        cleaned = [replace(row, cause=self.clean(row.cause)) for row in rows]
        await self.ledger.write([audit_node(row, keys) for row in cleaned])

    async def delete(self, memory_id: str, owner: Owner | None = None, *, actor: str = "", cause: str = "") -> bool:
        """Delete a memory with its old versions. That it was there stays on record, without a text of it.

        Returns:
            `bool`: False where what this id stood for was deleted before.

        Raises:
            `MemoryNotFound`: there never was one.
            `AmbiguousMemoryId`: several owners have one, and no owner was given.
        """
        return await delete(self._books, memory_id, owner, Reason(actor, cause))

    async def delete_many(
        self, memory_ids: Iterable[str], owner: Owner | None = None, *, actor: str = "", cause: str = ""
    ) -> dict[str, bool]:
        """Delete several. An id that names none, or several owners' memories, keeps no other from being deleted.

        Returns:
            `dict[str, bool]`: by id, whether it was deleted now; what was not is logged.
        """
        done = {}
        for memory_id in dict.fromkeys(memory_ids):
            try:
                done[memory_id] = await self.delete(memory_id, owner, actor=actor, cause=cause)
            except (MemoryNotFound, AmbiguousMemoryId) as error:
                logger.warning("%s", error)
                done[memory_id] = False
        return done

    async def withdraw(
        self, keys: Collection[str], *, action: str = "withdrawn", actor: str = "", cause: str = ""
    ) -> list[MemoryNode]:
        """Take memories out that are kept elsewhere from now on. Their old versions stay, and `add` brings them back.

        Args:
            keys (`Collection[str]`): keys of memories; one that is not there is passed over.
            action (`str`): what it is called on record.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `list[MemoryNode]`: the memories that were taken out.
        """
        return await withdraw(self._books, keys, action, Reason(actor, cause))

    async def erase(
        self, nodes: Sequence[MemoryNode], *, conversations: bool = True, actor: str = "", cause: str = ""
    ) -> Erased:
        """Erase memories for good, with their versions, what was done to them, and the conversations they come from.

        That something was erased stays on record; of what, nothing. `VectorStore.compact` then takes it out of files.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories; one that was withdrawn is meant too.
            conversations (`bool`): also the stored conversations that they come from, whoever else refers to them.
            actor (`str`), cause (`str`): for the record.

        Returns:
            `Erased`: what was erased.
        """
        return await erase(self._books, nodes, Reason(actor, cause), conversations=conversations)

    async def delete_all(self, owners: Sequence[Owner] | None = None) -> int:
        """Delete all memories of these owners (None: of everybody) with their versions, conversations, profiles, tool
        call records and audit.

        Returns:
            `int`: how many memories there were.
        """
        return await delete_all(self._books, owners)

    # ------------------------------------------------------------------ the record

    async def versions(self, memory_id: str, owner: Owner | None = None) -> list[MemoryNode]:
        """The versions that a memory had before, the oldest first; none of one that was deleted.

        Raises:
            `MemoryNotFound`, `AmbiguousMemoryId`: as `delete`.
        """
        node = await self._books.lineage.find(memory_id, owner)
        rows = await self._books.lineage.before(node.key) if node else []
        nodes = (row.node for row in rows if row.node is not None)
        return list({(node.key, node.time_modified): node for node in nodes}.values())  # a crash may leave one twice

    async def history(self, memory_id: str, owner: Owner | None = None) -> list[AuditRow]:
        """What was done to a memory and to those that it was made from, the oldest first, also when it was deleted.

        Raises:
            `MemoryNotFound`, `AmbiguousMemoryId`: as `delete`.
        """
        await self._books.access.settle()
        node = await self._books.lineage.find(memory_id, owner)
        gone = [] if node else await self._books.lineage.ends(memory_id, owner)
        keys = {node.key} if node else {row.key for row in gone}
        for key in tuple(keys):
            keys |= {row.key for row in await self._books.lineage.before(key)}
        owned = {node.owner} if node else {row.row.memory_target for row in gone}
        conditions = [
            Condition("memory_type", "equal", (AUDIT,)),
            Condition("memory_target", "any_of", tuple(owned)),
            Condition("source_ids", "any_of", tuple(keys)),
        ]
        rows = [audit_row(row) for row in await self.ledger.find(conditions, sort_key="key")]
        return sorted(rows, key=lambda row: row.time)

    def found(self, nodes: Sequence[MemoryNode], *, actor: str = "", cause: str = "") -> None:
        """Note in the background that memories were found; their importance stays what it is.

        Args:
            nodes (`Sequence[MemoryNode]`): the memories.
            actor (`str`), cause (`str`): for the record, which has one row a day for each memory, actor and cause.
        """
        self._books.access.note(nodes, self.clock(), actor, self.clean(cause))

    # ------------------------------------------------------------------ vectors

    async def reindex(self, progress: Progress | None = None) -> int:
        """Give every memory a vector of the embedder's model; what it embedded before comes from its cache.

        Can be called again where it was broken off, and goes on there.

        Args:
            progress (`Callable[[int, int], object] | None`): told how many of how many are done.

        Returns:
            `int`: how many memories were embedded.

        Raises:
            `MissingModelError`: there is no embedding model.
            `EmbeddingError`: it cannot be used.
        """
        if self.embedder is None:
            raise MissingModelError(
                "Memories cannot be embedded without an embedding model: give the bank an embedder."
            )
        await self._books.filling.close()
        embedded = await self._books.filling.run(progress)
        if self._books.mismatch is not None:
            self._books.mismatch = None
            self.events.emit(EventKind.SEARCH_RECOVERED)
        return embedded

    async def displaced(self, error: VectorSpaceError) -> None:
        """Go on by words alone, because a search was refused: somebody has embedded the store again with another
        model. `degraded` says so, and `reindex` cures it."""
        await self._books.open_without_vectors(error)

    async def filled(self) -> None:
        """Wait until memories that were stored while the model failed have their vectors, as far as that can be."""
        self._books.filling.start()
        await self._books.filling.wait()

    # ------------------------------------------------------------------ lists

    async def list(
        self,
        owners: Sequence[Owner] | None = None,
        filters: Filters = None,
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        include_inactive: bool = False,
    ) -> list[MemoryNode]:
        """Memories in order.

        Args:
            owners (`Sequence[Owner] | None`): whose; None for everybody's.
            filters (`Mapping[str, Any] | Sequence[Condition] | None`): see `record.parse_filters`.
            limit (`int | None`): how many at most.
            sort_key (`str`): the field that orders them; memories without a value come last.
            reverse (`bool`): the greatest first.
            include_inactive (`bool`): also those that were superseded or forgotten.
        """
        conditions = conditions_of(owners, filters, self.timezone, include_inactive)
        return await self.store.find(conditions, limit=limit, sort_key=sort_key, reverse=reverse)


def conditions_of(
    owners: Sequence[Owner] | None, filters: Filters, timezone: tzinfo | None, include_inactive: bool
) -> list[Condition]:
    """What memories must meet; those that are inactive only where that is asked for.

    Raises:
        `ConfigError`: the filters cannot be read.
    """
    given = parse_filters(filters, timezone)
    conditions = [*owned_by(owners), *given]
    if not include_inactive and not any(condition.field == "is_active" for condition in given):
        conditions.append(Condition("is_active", "equal", (True,)))
    return conditions
