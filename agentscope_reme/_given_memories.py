# -*- coding: utf-8 -*-
"""Which memories were shown for which request, until the reply to it is known."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar

from .record import MemoryNode

__all__ = ["GivenMemories"]

_REQUESTS = 200
_EACH = 100

_current: ContextVar[tuple[int, str] | None] = ContextVar("agentscope_reme_request", default=None)
"""Whose request is being answered in this task, and which: what its tools find was for that one."""


class GivenMemories:
    """Memories by the request that they were shown for, of the latest requests."""

    def __init__(self) -> None:
        self._shown: dict[str, dict[str, MemoryNode]] = {}

    def begin(self, request_id: str) -> str:
        """A request is answered from now on in this task. Its key comes back."""
        self._shown[request_id] = self._shown.pop(request_id, {})
        while len(self._shown) > _REQUESTS:
            del self._shown[next(iter(self._shown))]
        _current.set((id(self), request_id))
        return request_id

    def current(self) -> str:
        """The key of the request that is answered in this task; "" where none was begun."""
        known = _current.get()
        return known[1] if known is not None and known[0] == id(self) else ""

    def shown(self, key: str, memories: Iterable[MemoryNode]) -> None:
        """Memories were shown for a request."""
        held = self._shown.setdefault(key, {})
        for node in memories:
            if len(held) < _EACH:
                held[node.key] = node

    def knows(self, request_id: str) -> bool:
        """Whether a request was begun."""
        return request_id in self._shown

    def of(self, request_id: str) -> list[MemoryNode]:
        """What was shown for a request."""
        return list(self._shown.get(request_id, {}).values())

    def taken(self) -> list[MemoryNode]:
        """What was shown where no request had begun, since this was last asked."""
        return list(self._shown.pop("", {}).values())
