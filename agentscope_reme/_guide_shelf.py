# -*- coding: utf-8 -*-
"""What is known of the tools that an agent has: of use because it has them, whatever it is asked."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Protocol

from ._events import Event, EventKind, Listener
from ._recall_sources import Recalled, recalled
from .record import MemoryNode

__all__ = ["GuideShelf", "GuideSource", "Shelving"]

_MOST = 50
"""Memories of tools that are looked at, the latest."""

_FRESH = 60.0
"""Seconds after which another process may have written something: writes of this one are told."""

_AGENTS = 64
"""How many sets of tools are remembered."""


class Shelving(Protocol):
    """What is needed of a `ReMe`."""

    async def list_memory(self, **options: Any) -> Sequence[MemoryNode]: ...

    def subscribe(self, callback: Listener) -> Callable[[], None]: ...


class GuideShelf:
    """The memories of tools in a `ReMe`, read with one look-up and again after a write.

    Args:
        reme (`ReMe`):
            The memories.
    """

    def __init__(self, reme: Shelving) -> None:
        self._reme = reme
        self._read: dict[tuple[str, ...], tuple[float, list[MemoryNode]]] = {}
        self._writes = 0
        me = weakref.ref(self)  # whoever makes a shelf for each request leaves no listener behind

        def told(event: Event) -> None:
            shelf = me()
            if shelf is not None:
                shelf._told(event)

        weakref.finalize(self, reme.subscribe(told)).atexit = False

    async def of(self, tools: Sequence[str]) -> list[MemoryNode]:
        """What is known of these tools: guides first, then what matters most, then the latest."""
        named = tuple(dict.fromkeys(name for name in tools if name.strip()))
        if not named:
            return []
        until, nodes = self._read.get(named, (0.0, []))
        if time.monotonic() >= until:
            writes = self._writes
            found = await self._reme.list_memory(
                tool_name=list(named), limit=_MOST, sort_key="time_modified", reverse=True
            )
            nodes = sorted(found, key=lambda node: (node.category != "guide", -node.importance))
            if writes == self._writes:  # else what was read may be older than what was written meanwhile
                self._read.pop(named, None)
                self._read[named] = (time.monotonic() + _FRESH, nodes)
                if len(self._read) > _AGENTS:
                    del self._read[next(iter(self._read))]
        now = datetime.now(timezone.utc)
        return [node for node in nodes if node.expires_at is None or node.expires_at > now]

    def _told(self, event: Event) -> None:
        owner = event.details.get("owner", "")
        if event.kind == EventKind.MEMORY_CHANGED and (not owner or str(owner).startswith("tool/")):
            self._writes += 1
            self._read.clear()


@dataclass(frozen=True)
class GuideSource:
    """What is known of some tools.

    Args:
        shelf (`GuideShelf`):
            The memories.
        tools (`Sequence[str]`):
            The names of the tools.
    """

    shelf: GuideShelf
    tools: Sequence[str]
    name: str = "guides"

    async def all(self) -> list[Recalled]:
        """See `StandingSource.all`."""
        return [recalled(node) for node in await self.shelf.of(self.tools)]
