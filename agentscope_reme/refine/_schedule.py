# -*- coding: utf-8 -*-
"""When refinement runs: by how much there is, by the clock, after sessions, when all is quiet, or all of these."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime

from .._errors import ReMeError
from ..record import Condition
from ..vector_memory import MemoryBank, Owner, owned_by
from ._config import RefinerConfig
from ._refiner import RUN, Refiner
from ._run_report import RunReport
from ._selection import active, new

__all__ = ["RefineSchedule", "due_for"]

logger = logging.getLogger("agentscope_reme")

_LOOK_EVERY = 60.0
_HOUR = 3_600.0


async def due_for(bank: MemoryBank, config: RefinerConfig, owner: Owner) -> str:
    """Why a run is due for an owner: ``capacity`` or ``schedule``; "" where none is.

    Nothing is due where nothing is new. Characters are counted only where the number of memories alone does not decide.
    """
    owned = owned_by([owner])
    if not await bank.store.count([*owned, *new(config)]):
        return ""
    there = [*owned, *active(config)]
    if await bank.store.count(there) > config.capacity_memories:
        return "capacity"
    characters = 0
    async for page in bank.store.pages(there):
        characters += sum(len(node.content) for node in page)
        if characters > config.capacity_chars:
            return "capacity"
    last = await _last_run(bank, owner)
    if last is None:
        oldest = await bank.store.find([*owned, *new(config)], limit=1, sort_key="time_created", reverse=False)
        last = oldest[0].time_created if oldest else bank.clock()
    return "schedule" if (bank.clock() - last).total_seconds() >= config.schedule_hours * _HOUR else ""


async def _last_run(bank: MemoryBank, owner: Owner) -> datetime | None:
    conditions = [*owned_by([owner], "memory_target"), Condition("category", "equal", (RUN,))]
    rows = await bank.ledger.find(conditions, limit=1, sort_key="time_created", reverse=True)
    return rows[0].time_created if rows else None


class RefineSchedule:
    """Runs a refiner in the background, for the owners that it is told of.

    Owners whose session has ended (with `RefinerConfig.after_session`), and those that have been quiet for
    `RefinerConfig.idle_seconds`, are taken up soon; all are looked at for capacity and schedule. One run at a time; one
    that fails is logged, and tried again at the next look.

    Args:
        refiner (`Refiner`): what runs.
        done (`Callable[[Owner, str, RunReport], object] | None`): told of each run, with why it was due.
        look_every (`float`): seconds between two looks.
        sleep (`Callable[[float], Awaitable]`): waits.
    """

    def __init__(
        self,
        refiner: Refiner,
        *,
        done: Callable[[Owner, str, RunReport], object] | None = None,
        look_every: float = _LOOK_EVERY,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._refiner, self._done = refiner, done
        self._look_every, self._sleep = look_every, sleep
        self._heard: dict[Owner, datetime] = {}
        self._ended: set[Owner] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look, in the running loop. May be called again."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch())

    async def close(self) -> None:
        """End the work in the background; a run that is under way ends between two groups."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def heard(self, owner: Owner) -> None:
        """Something was said by or about an owner."""
        self._heard[owner] = self._refiner.bank.clock()

    def ended(self, owner: Owner) -> None:
        """A session or task of an owner is over."""
        self._heard.setdefault(owner, self._refiner.bank.clock())
        self._ended.add(owner)

    async def look(self) -> dict[Owner, str]:
        """Run for every owner for whom a run is due; with why."""
        ran: dict[Owner, str] = {}
        for owner in list(self._heard):
            reason = await self._reason(owner)
            if reason:
                report = await self._refiner.run([owner])
                ran[owner] = reason
                if self._done:
                    self._done(owner, reason, report)
            self._ended.discard(owner)
        return ran

    async def _reason(self, owner: Owner) -> str:
        config, bank = self._refiner.config, self._refiner.bank
        quiet = (bank.clock() - self._heard[owner]).total_seconds()
        if owner in self._ended and config.after_session:
            return "session" if await self._refiner.count_new([owner]) else ""
        if quiet >= config.idle_seconds and await self._refiner.count_new([owner]):
            return "idle"
        return await due_for(bank, config, owner)

    async def _watch(self) -> None:
        while True:
            await self._sleep(self._look_every)
            try:
                await self.look()
            except ReMeError as error:
                logger.warning("Memories could not be refined now: %s", error)
            except Exception:
                logger.exception("Refining memories failed.")
