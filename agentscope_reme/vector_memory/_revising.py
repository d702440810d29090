# -*- coding: utf-8 -*-
"""Changing memories: what a memory was stays on record, and its id leads to what it became."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from .._errors import ConfigError, MemoryNotFound
from ..record import MemoryNode, node_key
from ._adding import add
from ._books import Books, Reason
from ._changes import changed, check_fields, following, is_over, restored, says_the_same, superseded, superseding
from ._cleaning import cleaned_fields, cleaned_node
from ._owner import Owner
from ._versions import version_node

__all__ = ["patch", "supersede", "update"]


async def update(
    books: Books,
    memory_id: str,
    owner: Owner | None,
    texts: Mapping[str, str],
    values: Mapping[str, Any],
    reason: Reason,
) -> MemoryNode:
    """See `MemoryBank.update`."""
    check_fields(values)
    texts, values = cleaned_fields(texts, books.redact), cleaned_fields(values, books.redact)
    while True:
        found = await books.lineage.find(memory_id, owner)
        if found is None:
            raise MemoryNotFound(f"The memory {memory_id!r} was deleted: add it again instead.")
        key = node_key(found.memory_type, found.memory_target, texts.get("content", found.content))
        before = await books.store.get([found.key, key], with_vectors=True)
        if (old := before.get(found.key)) is None:
            continue
        new = changed(old, before.get(key), texts, values, following(books.clock(), old, before.get(key)))
        if key == old.key and says_the_same(new, old):
            return replace(old, vector=None)
        new = await _with_vector(books, new, before)
        async with books.writing.lock():
            if await _is_as_it_was(books, before, (old.key, key)):
                entries = [version_node(old, new, new.time_modified)]
                entries += books.rows("updated", [new], reason, {"from": old.memory_id}, new.time_modified)
                await books.put_on_record([new], {old.key} - {key}, entries)
                break
    books.tell("updated", [new])
    return replace(new, vector=None)


async def supersede(books: Books, old: MemoryNode, new: MemoryNode, reason: Reason) -> MemoryNode:
    """See `MemoryBank.supersede`."""
    new = replace(cleaned_node(new, books.redact), vector=None)
    if new.owner != old.owner:
        raise ConfigError(f"A memory of {old.owner!r} cannot be superseded by one of {new.owner!r}.")
    owner = Owner(old.memory_type, old.memory_target)
    while True:
        found = old if old.key in await books.store.get([old.key]) else await _what_became_of(books, old, owner)
        if found is None or found.key == new.key:
            return (await add(books, [new], reason))[0]
        before = await books.store.get([found.key, new.key], with_vectors=True)
        if (there := before.get(found.key)) is None:
            continue
        known = before.get(new.key)
        time = following(books.clock(), there, known)
        made = superseding(restored(known, new) if known else new, there, time)
        made = await _with_vector(books, made, before)
        async with books.writing.lock():
            if await _is_as_it_was(books, before, (found.key, new.key)):
                gone = superseded(there, made, time)
                rows = books.rows("superseded", [gone], reason, {"by": made.memory_id}, time)
                if known is None or is_over(known, time):
                    action = "created" if known is None else "restored"
                    rows += books.rows(action, [made], reason, {"supersedes": gone.memory_id}, time)
                await books.put_on_record([made, gone], (), rows)
                break
    books.tell("superseded", [gone])
    return replace(made, vector=None)


async def patch(books: Books, changes: Mapping[str, Mapping[str, Any]], action: str, reason: Reason) -> int:
    """See `MemoryBank.patch`."""
    cleaned = {}
    for key, values in changes.items():
        check_fields(values)
        cleaned[key] = cleaned_fields(values, books.redact)
    async with books.writing.lock():
        there = await books.store.get(list(cleaned))
        count = await books.store.patch({key: cleaned[key] for key in there})
        for fields in dict.fromkeys(tuple(sorted(cleaned[key])) for key in there):
            alike = [node for key, node in there.items() if tuple(sorted(cleaned[key])) == fields]
            await books.ledger.write(books.rows(action, alike, reason, {"fields": list(fields)}))
    books.tell(action, there.values())
    return count


async def _what_became_of(books: Books, old: MemoryNode, owner: Owner) -> MemoryNode | None:
    try:
        return await books.lineage.find(old.memory_id, owner)
    except MemoryNotFound:
        return None


async def _with_vector(books: Books, new: MemoryNode, before: Mapping[str, MemoryNode]) -> MemoryNode:
    """The memory with the vector of its text: one that is there, or a new one."""
    if books.store.space is not None:
        for node in before.values():
            if node.vector is not None and node.embedded_text == new.embedded_text:
                return replace(new, vector=node.vector)
    [embedded] = await books.embedded([new])
    return embedded


async def _is_as_it_was(books: Books, before: Mapping[str, MemoryNode], keys: Collection[str]) -> bool:
    """Whether nobody has written these memories since they were read."""
    there = await books.store.get(list(dict.fromkeys(keys)))
    return there.keys() == before.keys() and all(node.to_dict() == before[key].to_dict() for key, node in there.items())
