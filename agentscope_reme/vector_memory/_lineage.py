# -*- coding: utf-8 -*-
"""From an id to the memory that it stands for now, and back to what that was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from .._errors import AmbiguousMemoryId, ConfigError, MemoryNotFound
from ..record import Condition, MemoryNode
from ..vector_store import VectorStore
from ._owner import Owner, owned_by
from ._versions import VERSION, Retired, retired

__all__ = ["Lineage"]

_IS_VERSION = Condition("memory_type", "equal", (VERSION,))


class Lineage:
    """Reads which memory became which.

    Args:
        store (`VectorStore`): the memories.
        ledger (`VectorStore`): their retired versions.
    """

    def __init__(self, store: VectorStore, ledger: VectorStore) -> None:
        self._store, self._ledger = store, ledger

    async def find(self, memory_id: str, owner: Owner | None) -> MemoryNode | None:
        """The memory that an id stands for; None for one that was deleted.

        Raises:
            `MemoryNotFound`: there never was one.
            `AmbiguousMemoryId`: it stands for memories of several owners.
        """
        _check_id(memory_id)
        conditions = [Condition("memory_id", "equal", (memory_id,)), *owned_by_one(owner)]
        live = await self._store.find(conditions, sort_key="key")  # an order that no index of owners has
        found = {node.owner: node for node in live}
        was_there = False
        if owner is None or not found:
            for row in _newest(await self.retired(memory_id, owner)):
                was_there = True
                if row.row.memory_target not in found and (node := await self._follow(row)):
                    found[node.owner] = node
        if len(found) > 1:
            raise AmbiguousMemoryId(
                f"The memory {memory_id!r} is one of {len(found)} owners: say whose is meant (user_name, task_name or "
                "tool_name).",
            )
        if not found and not was_there:
            whose = f" of {owner.key!r}" if owner else ""
            raise MemoryNotFound(f"There is no memory {memory_id!r}{whose}, and never was: take an id from a list.")
        return next(iter(found.values()), None)

    async def retired(self, memory_id: str, owner: Owner | None) -> list[Retired]:
        """Every retirement of a memory with this id, the newest first."""
        conditions = [_IS_VERSION, Condition("ref_memory_id", "equal", (memory_id,))]
        return await self._rows([*conditions, *owned_by_one(owner, "memory_target")])

    async def before(self, key: str, until: datetime | None = None) -> list[Retired]:
        """All versions that a memory, as it is or was until a time, was made from, the oldest first."""
        found: dict[str, Retired] = {}
        waiting = [(key, until)]
        while waiting:
            successor, time = waiting.pop()
            for row in await self._rows([_IS_VERSION, Condition("metadata.successor", "equal", (successor,))]):
                if row.row.key not in found and (time is None or row.time < time):
                    found[row.row.key] = row
                    waiting.append((row.key, row.time))
        return sorted(found.values(), key=lambda row: row.time)

    async def ends(self, memory_id: str, owner: Owner | None) -> list[Retired]:
        """The last retirement in the line of each memory that had this id and is not there any more: its deletion."""
        ends = []
        for row in _newest(await self.retired(memory_id, owner)):
            node, last = await self._end(row)
            if node is None:
                ends.append(last)
        return ends

    async def _follow(self, row: Retired) -> MemoryNode | None:
        """What took the place of a retired memory in the end."""
        return (await self._end(row))[0]

    async def _end(self, row: Retired) -> tuple[MemoryNode | None, Retired]:
        """The memory at the end of a line and what was retired last in it."""
        owner = Owner.of_key(row.row.memory_target)
        while row.successor:
            if node := (await self._store.get([row.successor])).get(row.successor):
                return node, row
            later = [each for each in await self.retired(row.successor_id, owner) if each.time > row.time]
            if not later:
                break
            row = later[0]
        return None, row

    async def _rows(self, conditions: list[Condition]) -> list[Retired]:
        rows = [retired(row) for row in await self._ledger.find(conditions, sort_key="key")]
        return sorted(rows, key=lambda row: (row.time, row.row.key), reverse=True)


def owned_by_one(owner: Owner | None, field: str = "owner") -> tuple[Condition, ...]:
    """The condition that something belongs to an owner, if one is given."""
    return owned_by(None if owner is None else [owner], field)


def _newest(rows: Iterable[Retired]) -> Iterator[Retired]:
    """Of rows, the newest first, the first of each owner."""
    seen: set[str] = set()
    for row in rows:
        if row.row.memory_target not in seen:
            seen.add(row.row.memory_target)
            yield row


def _check_id(memory_id: str) -> None:
    if not isinstance(memory_id, str) or not memory_id.strip():
        raise ConfigError(f"memory_id is {memory_id!r}: give the id of a memory.")
