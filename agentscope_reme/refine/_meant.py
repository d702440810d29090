# -*- coding: utf-8 -*-
"""Which memory an id stands for, wherever it lies: in the store or in cold storage."""

from __future__ import annotations

from .._errors import AmbiguousMemoryId, MemoryNotFound
from ..record import MemoryNode
from ..vector_memory import MemoryBank, Owner
from ._cold_storage import ColdStorage

__all__ = ["memory_meant"]


async def memory_meant(
    memory_id: str, owner: Owner | None, bank: MemoryBank, cold: ColdStorage | None
) -> tuple[MemoryNode, bool]:
    """The memory of an id, and whether it lies in cold storage alone.

    Args:
        memory_id (`str`): the memory.
        owner (`Owner | None`): whose it has to be; needed only where several have one of this id.
        bank (`MemoryBank`): the memories.
        cold (`ColdStorage | None`): the cold file.

    Raises:
        `MemoryNotFound`: there is none, here or there.
        `AmbiguousMemoryId`: several owners have one of this id, one of them perhaps in cold storage.
    """
    frozen = {each.node.owner: each.node for each in (await cold.find(memory_id, owner) if cold is not None else [])}
    try:
        node = await bank.get(memory_id, owner)
    except MemoryNotFound:
        if not frozen:
            raise
        node = next(iter(frozen.values()))
        is_cold = True
    else:
        is_cold = False
    if count := len(frozen.keys() - {node.owner}):
        raise AmbiguousMemoryId(
            f"The memory {memory_id!r} is one of {count + 1} owners: say whose is meant (user_name, task_name or "
            "tool_name).",
        )
    return node, is_cold
