# -*- coding: utf-8 -*-
"""Memories that were changed or deleted: rows of the ledger that say what there was and what took its place."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..record import MemoryNode

__all__ = ["VERSION", "Retired", "retired", "version_node", "without_text"]

VERSION = "version"
"""The type of such a row."""


@dataclass(frozen=True)
class Retired:
    """A memory that is not there any more as it was.

    Args:
        row (`MemoryNode`): the row of the ledger.
        key (`str`): the memory's key.
        successor (`str`): the key of what took its place, perhaps its own; "" where it was deleted.
        successor_id (`str`): the id of that.
        time (`datetime`): when. In one line of versions, a later row has a later time.
        node (`MemoryNode | None`): the memory as it was; None where its text was deleted.
    """

    row: MemoryNode
    key: str
    successor: str
    successor_id: str
    time: datetime
    node: MemoryNode | None


def version_node(old: MemoryNode, successor: MemoryNode | None, time: datetime) -> MemoryNode:
    """A row for the ledger.

    Args:
        old (`MemoryNode`): the memory as it was.
        successor (`MemoryNode | None`): what takes its place; None where it is deleted, and no text is kept then.
        time (`datetime`): when.
    """
    metadata: dict[str, Any] = {"key": old.key, "successor": "", "successor_id": ""}
    if successor is not None:
        metadata |= {"successor": successor.key, "successor_id": successor.memory_id, "node": old.to_dict()}
    return MemoryNode(
        uuid.uuid4().hex,
        VERSION,
        old.owner,
        category="deleted" if successor is None else "updated",
        ref_memory_id=old.memory_id,
        time_created=time,
        time_modified=time,
        metadata=metadata,
    )


def retired(row: MemoryNode) -> Retired:
    """What such a row says."""
    held: Mapping[str, Any] = row.metadata
    node = MemoryNode.from_dict(held["node"]) if held.get("node") else None
    # an empty text is no value of a field in every store
    successor, successor_id = str(held.get("successor") or ""), str(held.get("successor_id") or "")
    return Retired(row, str(held["key"]), successor, successor_id, row.time_created, node)


def without_text(row: MemoryNode) -> MemoryNode:
    """The same row without the memory that was: only that one id led to another."""
    return replace(row, metadata={key: value for key, value in row.metadata.items() if key != "node"})
