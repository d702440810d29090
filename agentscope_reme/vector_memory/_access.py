# -*- coding: utf-8 -*-
"""Which memories were found, by whom and how often: counted and put on record in the background, many at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import NamedTuple

from .._errors import ReMeError
from .._loop_lock import LoopLock
from ..record import MemoryNode
from ..vector_store import VectorStore
from ._audit import AuditRow, audit_node, audit_row
from ._owner import Owner

__all__ = ["ACCESSED", "AccessLog"]

ACCESSED = "accessed"
"""What it is called on record."""

_DELAY = 1.0
_MOST = 1_000
logger = logging.getLogger("agentscope_reme")


class _Use(NamedTuple):
    """How often a memory was found by somebody, and when first and last."""

    times: int
    since: datetime
    last: datetime

    def and_then(self, other: _Use) -> _Use:
        return _Use(self.times + other.times, min(self.since, other.since), max(self.last, other.last))


class _Finder(NamedTuple):
    """Which memory was found, by whom and why."""

    key: str
    actor: str
    cause: str


class AccessLog:
    """Counts how often memories are found, and writes that down a second later, or when much has come together.

    On record is one row for each memory, finder and day (UTC), which says how often: the record grows with the memories
    that are in use, not with how often they are.

    Args:
        store (`VectorStore`): the memories.
        ledger (`VectorStore`): the record.
        writing (`LoopLock`): held while it writes, so that nothing is deleted meanwhile and brought back by that.
    """

    def __init__(self, store: VectorStore, ledger: VectorStore, writing: LoopLock) -> None:
        self._store, self._ledger, self._writing = store, ledger, writing
        self._waiting: dict[_Finder, _Use] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, nodes: Iterable[MemoryNode], time: datetime, actor: str, cause: str) -> None:
        """Some memories were found."""
        once = _Use(1, time, time)
        for node in nodes:
            finder = _Finder(node.key, actor, cause)
            known = self._waiting.get(finder)
            self._waiting[finder] = once if known is None else known.and_then(once)
        loop = asyncio.get_running_loop()
        if self._waiting and (self._task is None or self._task.done() or self._task.get_loop() is not loop):
            self._task = loop.create_task(self._later())

    async def flush(self) -> None:
        """Write down what is waiting: first on record, then in the memories.

        Raises:
            `ReMeError`: the store refused; it is lost then, in both.
        """
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return
        async with self._writing.lock():
            nodes = await self._store.get(list(dict.fromkeys(finder.key for finder in waiting)))
            counted: dict[str, _Use] = {}
            for finder, use in waiting.items():
                counted[finder.key] = counted[finder.key].and_then(use) if finder.key in counted else use
            rows = {node.key: node for node in _rows(nodes, waiting)}
            before = await self._ledger.get(list(rows))
            grown = [_together(row, before.get(key)) for key, row in rows.items()]
            await self._ledger.write(grown)
            try:
                await self._store.patch(
                    {
                        key: {
                            "access_count": node.access_count + counted[key].times,
                            "last_accessed": counted[key].last,
                        }
                        for key, node in nodes.items()
                    }
                )
            except ReMeError:
                await self._ledger.write(list(before.values()), rows.keys() - before.keys())
                raise

    async def settle(self) -> None:
        """Write down what is waiting; where that fails, it is logged."""
        try:
            await self.flush()
        except ReMeError as error:
            logger.warning("It could not be noted down which memories were found: %s", error)
        except Exception:
            logger.exception("It could not be noted down which memories were found.")

    async def close(self) -> None:
        """Write down what is waiting, and end the work in the background."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self.settle()

    def forget(self) -> None:
        """Drop what is waiting: the memories are gone."""
        self._waiting.clear()

    async def _later(self) -> None:
        while self._waiting:
            await asyncio.sleep(_DELAY if len(self._waiting) < _MOST else 0)
            await self.settle()


def _rows(nodes: Mapping[str, MemoryNode], uses: Mapping[_Finder, _Use]) -> list[MemoryNode]:
    """For the ledger: what was found by whom on one day."""
    rows = []
    for finder, use in uses.items():
        if (node := nodes.get(finder.key)) is not None:
            owner, day = Owner(node.memory_type, node.memory_target), use.last.astimezone(timezone.utc).date()
            row = AuditRow(use.last, ACCESSED, owner, (node.memory_id,), finder.actor, finder.cause, _details(use))
            rows.append(audit_node(row, [node.key], f"{ACCESSED} {day} {' '.join(finder)}"))
    return rows


def _together(row: MemoryNode, before: MemoryNode | None) -> MemoryNode:
    """A row with what was on record of the same day."""
    if before is None:
        return row
    new, old = audit_row(row), audit_row(before)
    use = _use(new).and_then(_use(old))
    whole = replace(new, time=use.last, details=_details(use))
    return audit_node(whole, row.source_ids, row.content)


def _use(row: AuditRow) -> _Use:
    return _Use(row.details["times"], datetime.fromisoformat(row.details["since"]), row.time)


def _details(use: _Use) -> dict[str, object]:
    return {"times": use.times, "since": use.since.isoformat()}
