# -*- coding: utf-8 -*-
"""The connection to Qdrant that a store and its companions share."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from .._loop_lock import LoopLock
from ._client_calls import call_client

__all__ = ["QdrantConnection"]

_SECONDS = 60
_LOCKS: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
"""One for each blocking client in local mode, whoever uses it."""


class QdrantConnection:
    """A client, made when it is first needed and closed when nobody needs it any more.

    A server is spoken to by an asynchronous client, one for each event loop. The client's local mode blocks and is not
    safe in threads: it runs in one at a time. What it holds in memory lives as long as this object.

    Args:
        place (`Mapping[str, Any]`): where the data are, and the client's other options.
        client (`Any`): the caller's own client, blocking or asynchronous, which is never closed here.
    """

    def __init__(self, place: Mapping[str, Any], client: Any = None) -> None:
        self._place = place
        self._own = client is None
        self._client = client
        self._of_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._holders = 0
        self._opening = LoopLock()
        self.is_local = "path" in place or place.get("location") == ":memory:" or _is_local(client)
        """Whether there is no server."""

    async def acquire(self) -> None:
        """Open the client where it is not open."""
        async with self._opening.lock():
            if self._client is None and self.is_local:
                self._client = await call_client("Qdrant: open", self._local_client)
            self._holders += 1

    async def release(self) -> None:
        """Close the client with its last holder."""
        async with self._opening.lock():
            self._holders -= 1
            if self._holders or not self._own or self._place.get("location") == ":memory:":
                return
            clients = [self._client, self._of_loop.get(asyncio.get_running_loop())]
            self._client = None
            self._of_loop.clear()  # what belongs to another loop cannot be closed in this one
            for client in clients:
                if client is not None:
                    await call_client("Qdrant: close", client.close)

    async def call(self, action: str, method: str, **asked: Any) -> Any:
        """Call a method of the client; see `call_client`."""
        function = getattr(self._running_client(), method)
        return await call_client(f"Qdrant: {action}", self._alone(function) if self.is_local else function, **asked)

    def _running_client(self) -> Any:
        if not self._own or self.is_local:
            return self._client
        loop = asyncio.get_running_loop()
        if loop not in self._of_loop:
            self._of_loop[loop] = _server_client(self._place)
        return self._of_loop[loop]

    def _alone(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):
            return function

        lock = _LOCKS.setdefault(self._client, threading.Lock())

        def alone(**asked: Any) -> Any:
            with lock:
                return function(**asked)

        return alone

    def _local_client(self) -> Any:
        from qdrant_client import QdrantClient

        return QdrantClient(**self._place, force_disable_check_same_thread=True)


def _server_client(place: Mapping[str, Any]) -> Any:
    """A client that asks for nothing before it is used, and waits long enough for a large write."""
    from qdrant_client import AsyncQdrantClient

    return AsyncQdrantClient(**{"check_compatibility": False, "timeout": _SECONDS, **place})


def _is_local(client: Any) -> bool:
    return type(getattr(client, "_client", None)).__name__ in ("QdrantLocal", "AsyncQdrantLocal")
