# -*- coding: utf-8 -*-
"""Whether a run is due for an owner: by how much there is, or by the clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..record import Condition
from ..vector_memory import MemoryBank, Owner, owned_by
from ._config import RefinerConfig
from ._refiner import RUN
from ._selection import active, new

__all__ = ["LONGEST", "Outlook", "due_for", "outlook"]

LONGEST = 1e9
"""The most seconds that anything is put off."""

_HOUR = 3_600.0
_SHARE = 20


async def due_for(bank: MemoryBank, config: RefinerConfig, owner: Owner) -> str:
    """Why a run is due for an owner: ``capacity`` or ``schedule``; "" where none is.

    Nothing is due where nothing is new. Characters are counted only where the number of memories alone does not decide.
    What a run has left over the capacity is not gone through again before a twentieth of that is new.
    """
    return (await outlook(bank, config, owner)).reason


@dataclass(frozen=True)
class Outlook:
    """Why a run is due, or when it will be; neither where nothing is new.

    Args:
        reason (`str`): ``capacity`` or ``schedule``; "" where none is due.
        by (`datetime | None`): when one will be, if nothing else is written.
    """

    reason: str = ""
    by: datetime | None = None


async def outlook(bank: MemoryBank, config: RefinerConfig, owner: Owner) -> Outlook:
    """Whether a run is due for an owner, or when; see `due_for`."""
    owned = owned_by([owner])
    unseen = await bank.store.count([*owned, *new(config)])
    if not unseen:
        return Outlook()
    last = await _last_run(bank, owner)
    if await _is_full(bank, config, owner) and (last is None or await _is_much(bank, config, owner, unseen)):
        return Outlook("capacity")
    if last is None:
        oldest = await bank.store.find([*owned, *new(config)], limit=1, sort_key="time_created", reverse=False)
        last = oldest[0].time_created if oldest else bank.clock()
    waited = (bank.clock() - last).total_seconds()
    if waited >= config.schedule_hours * _HOUR:
        return Outlook("schedule")
    left = min(config.schedule_hours * _HOUR - waited, LONGEST)
    return Outlook(by=bank.clock() + timedelta(seconds=left))


async def _is_full(bank: MemoryBank, config: RefinerConfig, owner: Owner) -> bool:
    there = [*owned_by([owner]), *active(config)]
    if await bank.store.count(there) > config.capacity_memories:
        return True
    return await _characters(bank, there, config.capacity_chars) > config.capacity_chars


async def _is_much(bank: MemoryBank, config: RefinerConfig, owner: Owner, unseen: int) -> bool:
    if unseen * _SHARE >= config.capacity_memories:
        return True
    enough = config.capacity_chars // _SHARE
    return await _characters(bank, [*owned_by([owner]), *new(config)], enough) >= enough


async def _characters(bank: MemoryBank, conditions: Sequence[Condition], enough: int) -> int:
    """How many characters memories have; once it is more than enough, the rest is not read."""
    characters = 0
    async for page in bank.store.pages(conditions):
        characters += sum(len(node.content) for node in page)
        if characters > enough:
            break
    return characters


async def _last_run(bank: MemoryBank, owner: Owner) -> datetime | None:
    conditions = [*owned_by([owner], "memory_target"), Condition("category", "equal", (RUN,))]
    rows = await bank.ledger.find(conditions, limit=1, sort_key="time_created", reverse=True)
    return rows[0].time_created if rows else None
