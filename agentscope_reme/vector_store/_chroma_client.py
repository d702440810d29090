# -*- coding: utf-8 -*-
"""The connection to Chroma that a store and its companions share."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from .._loop_lock import LoopLock
from ._client_calls import call_client

__all__ = ["ChromaConnection", "embedded_client", "server_client"]


class ChromaConnection:
    """A client, made when it is first needed and closed when nobody needs it any more.

    Args:
        make (`Callable[[], Any]`): makes the client; blocking.
        client (`Any`): the caller's own client, blocking or asynchronous, which is never closed here.
    """

    def __init__(self, make: Callable[[], Any], client: Any = None) -> None:
        self._make = make
        self._own = client is None
        self._client = client
        self._holders = 0
        self._opening = LoopLock()
        self.most = 0
        """How many records go into one call."""

    @property
    def client(self) -> Any:
        """The open client."""
        return self._client

    async def acquire(self) -> None:
        """Open the client where it is not open."""
        async with self._opening.lock():
            if self._client is None:
                self._client = await call_client("Chroma: open", self._make)
            if not self.most:
                self.most = int(await self.call("ask for its limits", self._client.get_max_batch_size))
            self._holders += 1

    async def release(self) -> None:
        """Close the client with its last holder."""
        async with self._opening.lock():
            self._holders -= 1
            if self._holders == 0 and self._own:
                client, self._client, self.most = self._client, None, 0
                if hasattr(client, "close"):  # since 1.5.2
                    await self.call("close", client.close)

    async def call(self, action: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """See `call_client`."""
        return await call_client(f"Chroma: {action}", function, *args, **kwargs)


def embedded_client(path: str | os.PathLike, database: Mapping[str, str]) -> Any:
    """A client whose server is in this process, over a folder."""
    import chromadb
    from chromadb.config import Settings

    os.makedirs(path, mode=0o700, exist_ok=True)
    return chromadb.PersistentClient(os.fspath(path), settings=Settings(anonymized_telemetry=False), **database)


def server_client(
    host: str, port: int, ssl: bool, headers: Mapping[str, str] | None, database: Mapping[str, str]
) -> Any:
    """A client of a server.

    Args:
        host (`str`): a name, or a whole URL, which then says everything.
        port (`int`): of the server, where `host` is a name.
        ssl (`bool`): whether it is spoken to with TLS.
        headers (`Mapping[str, str] | None`): sent with every request, such as a token.
        database (`Mapping[str, str]`): `tenant` and `database`, where they are not the default.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    sent = dict(headers) if headers else None
    return chromadb.HttpClient(host=host, port=port, ssl=ssl, headers=sent, settings=settings, **database)
