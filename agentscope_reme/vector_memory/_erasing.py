# -*- coding: utf-8 -*-
"""Erasing memories for good: with their old versions, what was done to them, and the conversations they come from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..record import Condition, MemoryNode
from ._audit import AUDIT, AuditRow, audit_node, audit_row
from ._books import Books, Reason
from ._owner import Owner, owned_by
from ._versions import VERSION, Retired, retired

__all__ = ["Erased", "erase"]

_HISTORY = "history"


@dataclass(frozen=True)
class Erased:
    """What was erased.

    Args:
        counts (`Mapping[str, int]`): how much of what: ``memories``, ``versions``, ``records``, ``conversations`` (the
            messages in them).
        texts (`frozenset[str]`): the texts that vectors were made of.
        contents (`frozenset[str]`): what the memories and their versions said.
        memory_ids (`frozenset[str]`): of the memories and their versions.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    contents: frozenset[str] = frozenset()
    memory_ids: frozenset[str] = frozenset()


async def erase(books: Books, memories: Sequence[MemoryNode], reason: Reason, *, conversations: bool) -> Erased:
    """See `MemoryBank.erase`."""
    given = {node.key: node for node in memories}
    keys = given.keys()
    async with books.writing.lock():
        there = await books.store.get(list(keys))
        nodes = {**given, **there}
        versions = await _versions(books, keys)
        olds = [row.node for row in versions if row.node is not None]
        owners = [Owner.of_key(each) for each in {node.owner for node in nodes.values()} | _owners(versions)]
        gone = {*keys, *(row.key for row in versions)}
        gone -= (await books.store.get(list(gone - set(keys)))).keys()  # others that are there say the same as one was
        ids = {node.memory_id for node in nodes.values()} | {
            row.row.ref_memory_id for row in versions if row.key in gone
        }
        audit = await _audit(books, gone, owners)
        left = [each for each in (_without(row, gone, ids) for row in audit) if each is not None]
        talks = await _talks(books, [*nodes.values(), *olds], owners) if conversations else []
        entries = [row.row.key for row in versions] + [row.key for row in (*audit, *talks)]
        counts = {
            "memories": len(there),
            "versions": len(versions),
            "records": len(audit),
            "conversations": len(talks),
        }
        done = [AuditRow(books.clock(), "purged", owner, (), reason.actor, reason.cause, counts) for owner in owners]
        await books.ledger.write([*left, *(audit_node(row, []) for row in done)], entries)
        await books.put([], list(there))
    books.tell("purged", there.values())
    contents = frozenset(node.content for node in (*nodes.values(), *olds))
    texts = contents | {node.embedded_text for node in (*nodes.values(), *olds)}
    return Erased(counts, texts, contents, frozenset(ids))


async def _versions(books: Books, keys: Collection[str]) -> list[Retired]:
    """What these memories were made from, and every version of another one that said what they say."""
    found: dict[str, Retired] = {}
    is_version = Condition("memory_type", "equal", (VERSION,))
    for key in keys:
        same = await books.ledger.find([is_version, Condition("metadata.key", "equal", (key,))])
        for row in (*await books.lineage.before(key), *map(retired, same)):
            found[row.row.key] = row
    return list(found.values())


async def _audit(books: Books, keys: Collection[str], owners: Collection[Owner]) -> list[MemoryNode]:
    if not keys or not owners:
        return []
    is_audit = Condition("memory_type", "equal", (AUDIT,))
    about = Condition("source_ids", "any_of", tuple(keys))
    return await books.ledger.find([is_audit, about, *owned_by(list(owners), "memory_target")])


async def _talks(books: Books, nodes: Iterable[MemoryNode], owners: Collection[Owner]) -> list[MemoryNode]:
    refs = tuple({node.ref_memory_id for node in nodes if node.ref_memory_id})
    if not refs:
        return []
    conditions = [Condition("memory_type", "equal", (_HISTORY,)), Condition("ref_memory_id", "any_of", refs)]
    return await books.ledger.find([*conditions, *owned_by(list(owners), "memory_target")])


def _without(node: MemoryNode, keys: Collection[str], ids: Collection[str]) -> MemoryNode | None:
    """A row of what was done, without these memories; None where it was about no others."""
    others = [key for key in node.source_ids if key not in keys]
    if not others:
        return None
    row = audit_row(node)
    details = row.details if not any(each in str(row.details) for each in ids) else {}
    kept = replace(row, memory_ids=tuple(each for each in row.memory_ids if each not in ids), details=details)
    return audit_node(kept, others)


def _owners(versions: Iterable[Retired]) -> set[str]:
    return {row.row.memory_target for row in versions}
