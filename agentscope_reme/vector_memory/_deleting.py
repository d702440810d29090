# -*- coding: utf-8 -*-
"""Deleting memories: nothing of their texts stays, and that they were there is still known."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .._events import EventKind
from ..record import Condition, MemoryNode
from ..vector_store import VectorStore
from ._books import Books, Reason
from ._changes import following
from ._owner import Owner, owned_by
from ._versions import version_node, without_text

__all__ = ["delete", "delete_all", "withdraw"]

_PAGE = 500


async def delete(books: Books, memory_id: str, owner: Owner | None, reason: Reason) -> bool:
    """See `MemoryBank.delete`."""
    while True:
        node = await books.lineage.find(memory_id, owner)
        if node is None:
            for row in await books.lineage.ends(memory_id, owner):
                await _erase(books, row.key)  # what a crash may have left
            return False
        async with books.writing.lock():
            if (node := (await books.store.get([node.key])).get(node.key)) is not None:
                time = following(books.clock(), node)
                entries = [version_node(node, None, time), *books.rows("deleted", [node], reason, time=time)]
                await books.put_on_record([], [node.key], entries)
                await _erase(books, node.key)
                break
    books.tell("deleted", [node])
    return True


async def withdraw(books: Books, keys: Collection[str], action: str, reason: Reason) -> list[MemoryNode]:
    """See `MemoryBank.withdraw`."""
    async with books.writing.lock():
        there = await books.store.get(list(keys))
        if there:
            time = following(books.clock(), *there.values())
            entries = [version_node(node, None, time) for node in there.values()]
            entries += books.rows(action, there.values(), reason, time=time)
            await books.put_on_record([], list(there), entries)
    books.tell(action, there.values())
    return list(there.values())


async def delete_all(books: Books, owners: Sequence[Owner] | None) -> int:
    """See `MemoryBank.delete_all`."""
    async with books.writing.lock():
        books.access.forget()
        if owners is None:
            count = await books.store.count()
            await books.store.drop()
            await books.ledger.drop()
            books.mismatch = None
            await books.open()
            books.events.emit(EventKind.MEMORY_CHANGED, action="deleted", owner="", ids=[])
            return count
        count = await _delete_pages(books.store, owned_by(owners))
        await _delete_pages(books.ledger, owned_by(owners, "memory_target"))
        for owner in owners:
            books.events.emit(EventKind.MEMORY_CHANGED, action="deleted", owner=owner.key, ids=[])
        return count


async def _delete_pages(store: VectorStore, conditions: Sequence[Condition]) -> int:
    count = 0
    while page := await store.find(conditions, limit=_PAGE, sort_key="key", reverse=False):
        await store.write(delete=[node.key for node in page])
        count += len(page)
    return count


async def _erase(books: Books, key: str) -> None:
    """Take the texts out of the versions that a memory was made from."""
    rows = await books.lineage.before(key)
    if texts := [without_text(row.row) for row in rows if row.node is not None]:
        await books.ledger.write(texts)
