# -*- coding: utf-8 -*-
"""The connection to Elasticsearch that a store and its companions share."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import reduce
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

from .._errors import ConfigError
from .._loop_lock import LoopLock
from ._client_calls import call_client

__all__ = ["ElasticsearchConnection"]


class ElasticsearchConnection:
    """An asynchronous client for each event loop, made when it is first needed, closed when nobody needs it any more.

    Args:
        place (`Mapping[str, Any]`): what `AsyncElasticsearch` is made with.
        client (`Any`): an `AsyncElasticsearch` of the caller's, which is never closed here.

    Raises:
        `ConfigError`: the client's package is missing, or it knows no such option.
    """

    def __init__(self, place: Mapping[str, Any], client: Any = None) -> None:
        if client is None:
            known = signature(_client_class()).parameters
            for name in place:
                if name not in known or name.startswith("_"):
                    raise ConfigError(f"ElasticsearchVectorStore has no option {name!r}, and neither has its client.")
        self._place = place
        self._given = client
        self._own: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()
        self._holders = 0
        self._opening = LoopLock()

    async def acquire(self) -> None:
        """Say that somebody uses it."""
        async with self._opening.lock():
            self._holders += 1

    async def release(self) -> None:
        """Close this loop's client with the last user."""
        async with self._opening.lock():
            self._holders -= 1
            if self._holders:
                return
            client = self._own.pop(asyncio.get_running_loop(), None)
            self._own.clear()
            if client is not None:
                await call_client("Elasticsearch: close", client.close)

    async def call(self, action: str, method: str, **asked: Any) -> Any:
        """Call a method of the client, ``"bulk"`` or ``"indices.create"``; see `call_client`."""
        function = reduce(getattr, method.split("."), self._client())
        return await call_client(f"Elasticsearch: {action}", function, **asked)

    def _client(self) -> Any:
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        if loop not in self._own:
            self._own[loop] = _client_class()(**self._place)
        return self._own[loop]


def _client_class() -> Any:
    try:
        from elasticsearch import AsyncElasticsearch
    except ImportError as error:
        raise ConfigError(
            'The Elasticsearch client is not installed: pip install "agentscope-reme[elasticsearch]".',
        ) from error
    return AsyncElasticsearch
