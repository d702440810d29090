# -*- coding: utf-8 -*-
"""When refinement runs: by how much there is, by the clock, after sessions, when all is quiet, or all of these."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta, timezone

from .._errors import ReMeError
from .._events import Event, EventKind
from ..vector_memory import Owner
from ._due import LONGEST, outlook
from ._refiner import Refiner
from ._run_report import RunReport
from ._selection import new

__all__ = ["RefineSchedule"]

logger = logging.getLogger("agentscope_reme")

_LOOK_EVERY = 60.0
_LIST_EVERY = timedelta(hours=1)
_EVER = datetime.min.replace(tzinfo=timezone.utc)


class RefineSchedule:
    """Runs a refiner in the background, for every owner who has something new.

    Who they are is read from the store at the first look, and every hour for what other processes have written; what
    this process writes is told at once. Nobody is looked at who has nothing new, or for whom nothing can be due yet, so
    that a look costs nothing where nothing happens, however much is stored.

    Owners whose session or task has ended (with `RefinerConfig.after_session`), and those of whom nothing was written
    or heard for `RefinerConfig.idle_seconds`, are taken up soon; all are looked at for capacity and schedule. One run
    at a time; one that fails is logged and told (`memory_upkeep_failed`), keeps no other owner waiting, and is tried
    again at the next look.

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
        self._later: dict[Owner, datetime] = {}
        self._ended: set[Owner] = set()
        self._fresh: set[Owner] = set()
        self._listed: datetime | None = None
        self._unsubscribe: Callable[[], None] | None = None
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
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._unsubscribe = self._listed = None

    def heard(self, owner: Owner) -> None:
        """Something was said by or about an owner, or written of them."""
        self._heard[owner] = self._refiner.bank.clock()
        self._fresh.add(owner)

    def ended(self, owner: Owner) -> None:
        """A session or task of an owner is over."""
        self._heard.setdefault(owner, self._refiner.bank.clock())
        self._fresh.add(owner)
        self._ended.add(owner)

    async def look(self) -> dict[Owner, str]:
        """Run for every owner for whom a run is due; with why."""
        await self._list()
        ran: dict[Owner, str] = {}
        for owner in list(self._heard):
            if owner not in self._fresh and self._refiner.bank.clock() < self._later.get(owner, _EVER):
                continue
            try:
                reason = await self._looked_at(owner)
            except Exception as error:
                level = logging.WARNING if isinstance(error, ReMeError) else logging.ERROR
                logger.log(level, "Memories of %s could not be refined now: %s", owner.key, error, exc_info=True)
                self._refiner.bank.events.emit(
                    EventKind.MEMORY_UPKEEP_FAILED, error=error, stage="refine", owner=owner.key
                )
                continue
            if reason:
                ran[owner] = reason
        return ran

    async def _list(self) -> None:
        """Read who has something new, where that was long ago."""
        bank, now = self._refiner.bank, self._refiner.bank.clock()
        if self._listed is not None and now - self._listed < _LIST_EVERY:
            return
        if self._unsubscribe is None:
            self._unsubscribe = bank.events.subscribe(self._told)
        for key in await bank.store.owners(new(self._refiner.config)):
            self._heard.setdefault(Owner.of_key(key), now)
        self._listed = now

    def _told(self, event: Event) -> None:
        owner = str(event.details.get("owner") or "")
        if event.kind is EventKind.MEMORY_CHANGED and owner:
            self.heard(Owner.of_key(owner))

    async def _looked_at(self, owner: Owner) -> str:
        """Run for an owner, if that is due, and say when to look again; why it was due comes back."""
        self._fresh.discard(owner)  # what comes meanwhile is looked at next time
        self._later.pop(owner, None)
        ended = owner in self._ended
        self._ended.discard(owner)
        try:
            reason, again = await self._reason(owner, ended)
            report = await self._refiner.run([owner]) if reason else None
        except BaseException:
            self._ended |= {owner} if ended else set()
            raise
        if report is not None and self._done:
            self._done(owner, reason, report)
        if again is not None:
            self._later[owner] = again
        elif not reason and owner not in self._fresh:
            del self._heard[owner]  # nothing is new; what comes is told
        return reason

    async def _reason(self, owner: Owner, ended: bool) -> tuple[str, datetime | None]:
        """Why a run is due now, or when to look again; neither where nothing is new."""
        config, bank = self._refiner.config, self._refiner.bank
        if ended and config.after_session and await self._refiner.count_new([owner]):
            return "session", None
        quiet = (bank.clock() - self._heard[owner]).total_seconds()
        if quiet >= config.idle_seconds and await self._refiner.count_new([owner]):
            return "idle", None
        ahead = await outlook(bank, config, owner)
        if ahead.by is None:
            return ahead.reason, None
        idle = bank.clock() + timedelta(seconds=min(config.idle_seconds - quiet, LONGEST))
        return "", min(ahead.by, idle)

    async def _watch(self) -> None:
        while True:
            await self._sleep(self._look_every)
            try:
                await self.look()
            except ReMeError as error:
                logger.warning("Memories could not be refined now: %s", error)
            except Exception:
                logger.exception("Refining memories failed.")
