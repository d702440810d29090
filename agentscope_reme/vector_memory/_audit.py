# -*- coding: utf-8 -*-
"""What was done to memories, when, by whom and why: rows of the ledger."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
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
        action (`str`): created, updated, superseded, restored, patched, deleted, or what your own code calls it.
        owner (`Owner`): whose memories it was done to.
        memory_ids (`tuple[str, ...]`): of which memories.
        actor (`str`): who did it: a person, a model, a part of this package.
        cause (`str`): why.
        details (`dict[str, Any]`): anything else, as JSON values, such as the fields that were patched.
    """

    time: datetime
    action: str
    owner: Owner
    memory_ids: tuple[str, ...]
    actor: str = ""
    cause: str = ""
    details: dict[str, Any] | None = None


def audit_node(row: AuditRow, keys: Sequence[str]) -> MemoryNode:
    """A row as the ledger keeps it: found by its owner and by the keys of its memories."""
    said = {
        "time": row.time.isoformat(),
        "action": row.action,
        "ids": list(row.memory_ids),
        "actor": row.actor,
        "cause": row.cause,
        "details": row.details or {},
        "row": uuid.uuid4().hex[:12],
    }
    return MemoryNode(
        json.dumps(said, ensure_ascii=False, separators=(",", ":"), default=str),
        AUDIT,
        row.owner.key,
        category=row.action,
        time_created=row.time,
        time_modified=row.time,
        source_ids=tuple(keys),
    )


def audit_row(node: MemoryNode) -> AuditRow:
    """The row that such a node holds."""
    said = json.loads(node.content)
    return AuditRow(
        datetime.fromisoformat(said["time"]),
        said["action"],
        Owner.of_key(node.memory_target),
        tuple(said["ids"]),
        said["actor"],
        said["cause"],
        said["details"],
    )
