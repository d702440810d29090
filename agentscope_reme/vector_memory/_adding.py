# -*- coding: utf-8 -*-
"""Adding memories: each once, whoever adds it and however often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..record import MemoryNode
from ._books import Books, Reason
from ._changes import is_over, restored
from ._cleaning import cleaned_node

__all__ = ["add"]

_AT_ONCE = 500


async def add(books: Books, nodes: Sequence[MemoryNode], reason: Reason) -> list[MemoryNode]:
    """See `MemoryBank.add`."""
    cleaned = [replace(cleaned_node(node, books.redact), vector=None) for node in nodes]
    added: list[MemoryNode] = []
    for start in range(0, len(cleaned), _AT_ONCE):
        added += await _add(books, cleaned[start : start + _AT_ONCE], reason)
    return added


async def _add(books: Books, nodes: Sequence[MemoryNode], reason: Reason) -> list[MemoryNode]:
    first = {node.key: node for node in reversed(nodes)}
    there = await books.store.get(list(first))
    fresh: dict[str, MemoryNode] = {}
    while True:
        unknown = [node for key, node in first.items() if key not in there and key not in fresh]
        fresh |= {node.key: node for node in await books.embedded(unknown)}
        async with books.writing.lock():
            there = await books.store.get(list(first))
            if first.keys() <= there.keys() | fresh.keys():  # else one was deleted meanwhile
                return await _write(books, nodes, first, there, fresh, reason)


async def _write(
    books: Books,
    nodes: Sequence[MemoryNode],
    first: dict[str, MemoryNode],
    there: dict[str, MemoryNode],
    fresh: dict[str, MemoryNode],
    reason: Reason,
) -> list[MemoryNode]:
    now = books.clock()
    new = [fresh[key] for key in first if key not in there]
    again = {key: restored(node, first[key]) for key, node in there.items() if is_over(node, now)}
    await books.put(new)
    if again:
        await books.store.patch(
            {
                key: {"is_active": True, "expires_at": node.expires_at, "metadata": dict(node.metadata)}
                for key, node in again.items()
            }
        )
    rows = [*books.rows("created", new, reason), *books.rows("restored", again.values(), reason)]
    if rows:
        await books.ledger.write(rows)
    books.tell("created", new)
    books.tell("restored", again.values())
    known = {**there, **again, **{node.key: replace(node, vector=None) for node in new}}
    return [known[node.key] for node in nodes]
