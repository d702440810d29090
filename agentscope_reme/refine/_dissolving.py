# -*- coding: utf-8 -*-
"""What becomes of condensed memories when some of their sources are forgotten: they are taken apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from ..record import MemoryNode
from ._refined import ARCHIVED, FORGOTTEN, REFINED_INTO, SUPERSEDED_BY, restored_fields, source_keys

__all__ = ["forgotten_fields", "remembered_fields", "taken_apart"]

_WAS = "forgotten_from"
"""The key of the metadata that holds which fields forgetting has changed: what restoring puts back."""


def forgotten_fields(node: MemoryNode, cause: str, now: datetime) -> dict[str, Any]:
    """The fields of a memory that change when it is forgotten."""
    metadata = {**node.metadata, FORGOTTEN: cause, "forgotten_at": now.timestamp(), _WAS: node.is_active}
    return {"is_active": False, "metadata": metadata}


def remembered_fields(node: MemoryNode) -> dict[str, Any]:
    """The fields that undo `forgotten_fields`, and that another memory has taken its place.

    A source whose condensed memory was taken apart stands for itself again.
    """
    gone = {FORGOTTEN, "forgotten_at", _WAS, REFINED_INTO, ARCHIVED, SUPERSEDED_BY}
    return {"is_active": True, "metadata": {name: value for name, value in node.metadata.items() if name not in gone}}


def taken_apart(
    refined: Sequence[MemoryNode],
    sources: Mapping[str, MemoryNode],
    forgotten: Collection[str],
    cause: str,
    now: datetime,
) -> dict[str, dict[str, Any]]:
    """The changes by which condensed memories go and their other sources stand for themselves again.

    The next run condenses what is left. A condensed memory that is forgotten itself takes all its sources along.

    Args:
        refined (`Sequence[MemoryNode]`): condensed memories that were made from something that is forgotten, or are
            forgotten.
        sources (`Mapping[str, MemoryNode]`): their sources that are there, by key.
        forgotten (`Collection[str]`): the keys of what is forgotten.
        cause (`str`): why.
        now (`datetime`): the present.
    """
    changes: dict[str, dict[str, Any]] = {}
    for node in refined:
        changes[node.key] = forgotten_fields(node, cause, now)
        whole = node.key in forgotten
        for key in source_keys(node):
            source = sources.get(key)
            if source is None or source.metadata.get(FORGOTTEN) or source.metadata.get(SUPERSEDED_BY):
                continue
            if whole or key in forgotten:
                changes[key] = forgotten_fields(source, cause, now)
            elif not source.is_active:
                changes[key] = restored_fields(source)
    return changes
