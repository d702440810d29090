# -*- coding: utf-8 -*-
"""Memories as they were stored: those that stand for themselves, and those behind a condensed memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, Owner, owned_by
from ._refined import ARCHIVED, FORGOTTEN, REFINED, SUPERSEDED_BY, source_keys

__all__ = ["BEHIND", "STANDING", "behind_active", "condensed_from", "statements_that"]

STANDING = (Condition("is_active", "equal", (True,)), Condition(f"metadata.{REFINED}", "equal", (None,)))
"""What memories meet that stand for themselves."""

BEHIND = (
    Condition("is_active", "equal", (False,)),
    Condition(f"metadata.{ARCHIVED}", "range", (0.0, None)),
    Condition(f"metadata.{FORGOTTEN}", "equal", (None,)),
    Condition(f"metadata.{SUPERSEDED_BY}", "equal", (None,)),
)
"""What the sources of condensed memories meet that are still true."""


async def statements_that(
    bank: MemoryBank, owners: Sequence[Owner], meet: Callable[[MemoryNode], bool]
) -> list[MemoryNode]:
    """All memories of some owners that meet a condition and are recalled: by themselves, or behind a condensed one.

    They are read page by page, so that none is passed over that a search would rank low.

    Args:
        bank (`MemoryBank`): the memories.
        owners (`Sequence[Owner]`): whose.
        meet (`Callable[[MemoryNode], bool]`): the condition.
    """
    found: list[MemoryNode] = []
    for kind in (STANDING, BEHIND):
        async for page in bank.store.pages([*owned_by(owners), *kind]):
            those = await asyncio.to_thread(list, filter(meet, page))
            found += await behind_active(bank, those) if kind is BEHIND else those
    return found


async def behind_active(bank: MemoryBank, sources: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Those of some sources whose condensed memory is active."""
    held = {key for node in await condensed_from(bank, sources) for key in source_keys(node)}
    return [node for node in sources if node.key in held]


async def condensed_from(bank: MemoryBank, sources: Iterable[MemoryNode]) -> list[MemoryNode]:
    """The active memories that were condensed from some of these."""
    keys = tuple(node.key for node in sources)
    if not keys:
        return []
    made = Condition("metadata.source_keys", "any_of", keys)
    return await bank.store.find([Condition("is_active", "equal", (True,)), made])
