# -*- coding: utf-8 -*-
"""What was done to memories, when, by whom and why: rows of the ledger."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..record import MemoryNode
from ._owner import Owner

__all__ = ["AUDIT", "AuditRow", "audit_node", "audit_row"]

AUDIT = "audit"
"""The type of such a row."""


@dataclass(frozen=True)
class AuditRow:
    """One thing that was done.

    Args:
        time (`datetime`): when.
        action (`str`): created, updated, superseded, restored, patched, deleted, accessed, or what your own code calls
            it.
        owner (`Owner`): whose memories it was done to.
        memory_ids (`tuple[str, ...]`): of which memories.
        actor (`str`): who did it: a person, a model, a part of this package.
        cause (`str`): why.
        details (`Mapping[str, Any]`): anything else, as JSON values, such as the fields that were patched.
    """

    time: datetime
    action: str
    owner: Owner
    memory_ids: tuple[str, ...]
    actor: str = ""
    cause: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def audit_node(row: AuditRow, keys: Sequence[str], name: str = "") -> MemoryNode:
    """A row as the ledger keeps it: found by its owner and by the keys of its memories. It takes the place of one of
    the same owner and name, where it has a name."""
    return MemoryNode(
        name or uuid.uuid4().hex,
        AUDIT,
        row.owner.key,
        category=row.action,
        author=row.actor,
        time_created=row.time,
        time_modified=row.time,
        source_ids=tuple(keys),
        metadata={"row": {"ids": list(row.memory_ids), "cause": row.cause, "details": dict(row.details)}},
    )


def audit_row(node: MemoryNode) -> AuditRow:
    """The row that such a node holds."""
    held = node.metadata["row"]
    owner = Owner.of_key(node.memory_target)
    ids = tuple(held["ids"])
    return AuditRow(node.time_created, node.category, owner, ids, node.author, held["cause"], held["details"])
