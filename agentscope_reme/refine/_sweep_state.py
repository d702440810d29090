# -*- coding: utf-8 -*-
"""How far a sweep has come, and when the last one came to its end: a row of the ledger for each owner."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..record import MemoryNode
from ..vector_memory import MemoryBank, Owner

__all__ = ["SweepPlace", "SweepState"]

_TYPE = "sweep"
_CONTENT = "the last sweep"


@dataclass(frozen=True)
class SweepPlace:
    """Where a sweep is.

    Args:
        after (`str`): the key up to which it has come; "" where none is under way.
        finished (`datetime | None`): when one last came to its end.
    """

    after: str = ""
    finished: datetime | None = None


class SweepState:
    """Remembers it in the store, so that any process goes on.

    Args:
        bank (`MemoryBank`): the memories.
    """

    def __init__(self, bank: MemoryBank) -> None:
        self._bank = bank

    async def read(self, owner: Owner | None) -> SweepPlace:
        """The place of the sweep of an owner's memories, or of everybody's."""
        key = _row(owner, SweepPlace()).key
        row = (await self._bank.ledger.get([key])).get(key)
        if row is None:
            return SweepPlace()
        finished = row.metadata.get("finished")
        return SweepPlace(str(row.metadata.get("after") or ""), datetime.fromisoformat(finished) if finished else None)

    async def write(self, owner: Owner | None, place: SweepPlace) -> None:
        """Remember a place."""
        await self._bank.ledger.write([_row(owner, place)])


def _row(owner: Owner | None, place: SweepPlace) -> MemoryNode:
    finished = place.finished.isoformat() if place.finished else ""
    values = {"after": place.after, "finished": finished}
    return MemoryNode(_CONTENT, _TYPE, "" if owner is None else owner.key, metadata=values)
