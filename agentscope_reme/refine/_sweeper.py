# -*- coding: utf-8 -*-
"""The passive sweep: what is over, and what is worth little and was not used for long, is let go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .._events import EventKind
from .._loop_lock import LoopLock
from ..record import Condition, MemoryNode
from ..vector_memory import MemoryBank, Owner, owned_by
from ._cold_storage import ColdMemory, ColdStorage
from ._config import RefinerConfig
from ._dissolving import forgotten_fields
from ._expiry import with_expiry
from ._forgetting import Fate, Verdict, fate_of
from ._refined import ARCHIVED
from ._sweep_state import SweepState

__all__ = ["Sweeper", "Swept", "verdict_of"]

_PAGE = 500
_LONGEST = 1e6
_ACTIONS = {"archive": "archived", "expire": "expired", "cold": "cold"}
_MARKS = {"archive": "unused", "expire": "expired"}
_NUMBERS = ("archived", "expired", "cold")
_OUTLIVED = Verdict("cold", "refined, and the time for which sources are kept is over", 0.0)

Progress = Callable[[int, int], object]
"""Is told how many of how many memories were looked at."""

_Gone = Sequence[tuple[MemoryNode, Verdict]]


@dataclass(frozen=True)
class Swept:
    """What a sweep did.

    Args:
        looked_at (`int`): memories that were looked at.
        archived (`int`), expired (`int`), cold (`int`): how many became inactive as unused, became inactive as over,
            and were moved to cold storage.
        is_complete (`bool`): whether it came to the end; else the next one goes on there.
    """

    looked_at: int = 0
    archived: int = 0
    expired: int = 0
    cold: int = 0
    is_complete: bool = True


class Sweeper:
    """Lets memories go by the forgetting curve and by their time, a page at a time.

    Args:
        bank (`MemoryBank`): the memories.
        config (`RefinerConfig`): thresholds and intervals.
        cold (`ColdStorage | None`): where what is worth least goes; without it, that is archived as well.
    """

    def __init__(self, bank: MemoryBank, config: RefinerConfig, cold: ColdStorage | None) -> None:
        self.config, self.cold = config, cold
        self._bank = bank
        self._state = SweepState(bank)
        self._sweeping = LoopLock()

    async def is_due(self, owner: Owner | None = None) -> bool:
        """Whether the last complete sweep is longer ago than `RefinerConfig.sweep_days`, or one was broken off."""
        place = await self._state.read(owner)
        if place.after or place.finished is None:
            return True
        return self._bank.clock() - place.finished >= timedelta(days=min(self.config.sweep_days, _LONGEST))

    async def sweep(
        self,
        owners: Sequence[Owner] | None,
        progress: Progress | None,
        should_stop: Callable[[], bool],
        actor: str,
    ) -> Swept:
        """See `Forgetter.sweep`."""
        done = Swept()
        async with self._sweeping.lock():
            for owner in [None] if owners is None else dict.fromkeys(owners):
                done = await self._sweep(owner, done, progress, should_stop, actor)
                if not done.is_complete:
                    break
        return done

    # ------------------------------------------------------------------ inside

    async def _sweep(
        self, owner: Owner | None, before: Swept, progress: Progress | None, stops: Callable[[], bool], actor: str
    ) -> Swept:
        begun, done = time.monotonic(), before
        place = await self._state.read(owner)
        owned = owned_by(None if owner is None else [owner])
        active = [*owned, Condition("is_active", "equal", (True,))]
        total = before.looked_at + (await self._bank.store.count(active) if progress else 0)
        while page := await self._page(active, place.after):
            done = await self._let_go(page, done, actor)
            place = replace(place, after=page[-1].key)
            await self._state.write(owner, place)
            if progress is not None:
                progress(done.looked_at, max(total, done.looked_at))
            if len(page) == _PAGE and stops():
                return replace(done, is_complete=False)
        done = await self._outlived(owned, done, actor)
        await self._state.write(owner, replace(place, after="", finished=self._bank.clock()))
        self._bank.events.emit(
            EventKind.MEMORIES_SWEPT,
            duration=time.monotonic() - begun,
            owner="" if owner is None else owner.key,
            **{name: getattr(done, name) - getattr(before, name) for name in ("looked_at", *_NUMBERS)},
        )
        return done

    async def _page(self, conditions: Sequence[Condition], after: str) -> list[MemoryNode]:
        return await self._bank.store.find(conditions, limit=_PAGE, sort_key="key", reverse=False, after=after or None)

    async def _let_go(self, page: Sequence[MemoryNode], done: Swept, actor: str) -> Swept:
        now = self._bank.clock()
        gone: dict[str, list[tuple[MemoryNode, Verdict]]] = {"archive": [], "expire": [], "cold": []}
        for node in page:
            verdict = verdict_of(node, now, self.config)
            fate: Fate = "archive" if verdict.fate == "cold" and self.cold is None else verdict.fate
            if fate != "keep":
                gone[fate].append((node, verdict))
        for name, why in _MARKS.items():
            for cause, nodes in _by_cause(gone[name]).items():
                changes = {node.key: forgotten_fields(node, why, now) for node in nodes}
                await self._bank.patch(changes, action=_ACTIONS[name], actor=actor, cause=cause)
        await self._freeze(gone["cold"], now, actor)
        return replace(
            done,
            looked_at=done.looked_at + len(page),
            archived=done.archived + len(gone["archive"]),
            expired=done.expired + len(gone["expire"]),
            cold=done.cold + len(gone["cold"]),
        )

    async def _outlived(self, owned: Sequence[Condition], done: Swept, actor: str) -> Swept:
        """Move sources that were refined long ago to cold storage."""
        if self.cold is None or self.config.retention_days > _LONGEST:
            return done
        now = self._bank.clock()
        before = now.timestamp() - self.config.retention_days * 86_400
        old = [
            *owned,
            Condition("is_active", "equal", (False,)),
            Condition(f"metadata.{ARCHIVED}", "range", (0, before)),
        ]
        after = ""
        while page := await self._page(old, after):
            await self._freeze([(node, _OUTLIVED) for node in page], now, actor)
            done = replace(done, cold=done.cold + len(page))
            after = page[-1].key
        return done

    async def _freeze(self, gone: _Gone, now: datetime, actor: str) -> None:
        """First into the file, then out of the store: what a crash leaves in both counts as not moved."""
        if not gone or self.cold is None:
            return
        await self.cold.put([ColdMemory(node, now, verdict.reason) for node, verdict in gone])
        for cause, nodes in _by_cause(gone).items():
            await self._bank.withdraw([node.key for node in nodes], action=_ACTIONS["cold"], actor=actor, cause=cause)


def verdict_of(node: MemoryNode, now: datetime, config: RefinerConfig) -> Verdict:
    """What is to become of a memory, also by the end that its category gives it."""
    return fate_of(with_expiry(node, config), now, config)


def _by_cause(gone: Iterable[tuple[MemoryNode, Verdict]]) -> Mapping[str, list[MemoryNode]]:
    causes: dict[str, list[MemoryNode]] = {}
    for node, verdict in gone:
        causes.setdefault(verdict.reason, []).append(node)
    return causes
