# -*- coding: utf-8 -*-
"""Memories as they were stored: those that stand for themselves, and those behind a condensed memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank
from ._refined import is_behind, is_refined, source_keys

__all__ = ["INACTIVE", "condensed_from", "statements_of"]

INACTIVE = Condition("is_active", "equal", (False,))
"""What the sources of condensed memories meet, and what was let go."""


async def statements_of(bank: MemoryBank, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Those of some memories that are recalled as they were said: the active ones that are not condensed, and those
    behind an active condensed one."""
    behind = [node for node in nodes if is_behind(node)]
    held = {key for node in await condensed_from(bank, behind) for key in source_keys(node)}
    return [
        node for node in nodes if (is_behind(node) and node.key in held) or (node.is_active and not is_refined(node))
    ]


async def condensed_from(bank: MemoryBank, sources: Iterable[MemoryNode]) -> list[MemoryNode]:
    """The active memories that were condensed from some of these."""
    keys = tuple(node.key for node in sources)
    if not keys:
        return []
    made = Condition("metadata.source_keys", "any_of", keys)
    return await bank.store.find([Condition("is_active", "equal", (True,)), made])
