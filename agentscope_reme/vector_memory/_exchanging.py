# -*- coding: utf-8 -*-
"""New memories and changes of others in one write: all of it or nothing, whenever the process dies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from ..record import MemoryNode
from ._books import Books, Reason
from ._changes import check_fields, is_over, restored
from ._cleaning import cleaned_fields, cleaned_node

__all__ = ["exchange"]


async def exchange(
    books: Books,
    new: Sequence[MemoryNode],
    changes: Mapping[str, Mapping[str, Any]],
    as_of: Mapping[str, datetime],
    action: str,
    reason: Reason,
    details: Mapping[str, Any],
) -> list[MemoryNode] | None:
    """See `MemoryBank.exchange`."""
    cleaned = {}
    for key, values in changes.items():
        check_fields(values)
        cleaned[key] = cleaned_fields(values, books.redact)
    nodes = [cleaned_node(each, books.redact) for each in new]
    given = {node.key: node for node in reversed(nodes)}
    fresh = {node.key: node for node in await books.embedded([replace(node, vector=None) for node in given.values()])}
    async with books.writing.lock():
        there = await books.store.get(list({*given, *cleaned, *as_of}), with_vectors=True)
        if any(key not in there or there[key].time_modified != time for key, time in as_of.items()):
            return None
        created, again, changed = _results(given, cleaned, fresh, there, books.clock())
        rows = [*books.rows("created", created.values(), reason, details)]
        rows += books.rows("restored", again.values(), reason, details)
        named = {**details, "fields": sorted({name for values in cleaned.values() for name in values})}
        rows += books.rows(action, changed.values(), reason, named)
        written = {**again, **changed, **created}
        if written:
            await books.put_on_record(list(written.values()), (), rows)
    for done, each in (("created", created), ("restored", again), (action, changed)):
        books.tell(done, each.values())
    known = {**there, **written}
    return [replace(known[node.key], vector=None) for node in nodes]


def _results(
    given: Mapping[str, MemoryNode],
    cleaned: Mapping[str, Mapping[str, Any]],
    fresh: Mapping[str, MemoryNode],
    there: Mapping[str, MemoryNode],
    now: datetime,
) -> tuple[dict[str, MemoryNode], dict[str, MemoryNode], dict[str, MemoryNode]]:
    """What is new, what is there again, and what is changed, by key."""
    created = {key: fresh[key] for key in given if key not in there}
    again = {key: restored(there[key], given[key]) for key in given if key in there and is_over(there[key], now)}
    known = {**there, **again}
    changed = {key: replace(known[key], **values) for key, values in cleaned.items() if key in known}
    return created, {key: node for key, node in again.items() if key not in changed}, changed
