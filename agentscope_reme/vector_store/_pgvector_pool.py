# -*- coding: utf-8 -*-
"""Connections to a PostgreSQL server, shared by a store and its companions."""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from .._errors import ConfigError, VectorStoreError

if TYPE_CHECKING:
    from asyncpg import Connection, Pool

__all__ = ["PostgresPool"]

T = TypeVar("T")

_DRIVER = re.compile(r"^(postgres(?:ql)?)\+\w+:")
_ATTEMPTS = 3
_log = logging.getLogger("agentscope_reme")


class PostgresPool:
    """One pool of connections for each event loop, made when it is first needed, closed with its last user.

    Args:
        url (`str`): the server and its database, ``postgresql://user:password@host:port/database``; "" where a pool
            is given.
        options (`Mapping[str, Any]`): what `asyncpg.create_pool` takes besides.
        pool (`Pool | None`): a pool of your own, which is used in its own event loop and not closed.
    """

    def __init__(self, url: str, options: Mapping[str, Any], pool: Pool | None = None) -> None:
        if not url and pool is None:
            raise ConfigError("No PostgreSQL server is named: give url, 'postgresql://user:password@host/database'.")
        _refuse_unknown(options)
        self._url = _DRIVER.sub(r"\1:", url)
        self._options = dict(options)
        self._own: WeakKeyDictionary[asyncio.AbstractEventLoop, Pool] = WeakKeyDictionary()
        self._given = pool
        self._guard = threading.Lock()
        self._users = 0

    @property
    def server(self) -> str:
        """The server for a message, without user and password."""
        if not self._url:
            return "the given pool"
        parts = urlsplit(self._url)
        return f"{parts.hostname or 'localhost'}{parts.path}"

    def enter(self) -> None:
        """Say that somebody uses it; each use ends with `leave`."""
        with self._guard:
            self._users += 1

    async def leave(self) -> None:
        """Close the connections, if nobody else uses them."""
        with self._guard:
            self._users -= 1
            if self._users:
                return
            pools, self._own = dict(self._own), WeakKeyDictionary()
        for loop, pool in pools.items():
            if loop is asyncio.get_running_loop():
                await _close(pool)
            elif not loop.is_closed():
                loop.call_soon_threadsafe(pool.terminate)

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do something with a connection, again where the connection was lost or a deadlock was resolved.

        Args:
            work (`Callable[[Connection], Awaitable[T]]`): what can be done again: it reads, or it is one transaction.

        Raises:
            `VectorStoreError`: the server cannot be reached, or it refused; what it said is the cause.
        """
        asyncpg = _client()
        again = (
            asyncpg.PostgresConnectionError,
            asyncpg.DeadlockDetectedError,
            asyncpg.SerializationError,
            asyncpg.AdminShutdownError,
            asyncpg.CannotConnectNowError,
            asyncpg.InvalidCachedStatementError,
            asyncpg.InternalClientError,  # how a connection that was lost in the middle of a call may be told
            ConnectionError,
        )
        for attempt in range(1, _ATTEMPTS + 1):
            with self._failures():
                try:
                    async with (await self._pool()).acquire() as connection:
                        return await work(connection)
                except again as error:
                    if attempt == _ATTEMPTS or isinstance(error, ConnectionRefusedError):
                        raise
                    _log.info("PostgreSQL (%s): %s; trying again", self.server, error)
            await asyncio.sleep(0.05 * attempt)
        raise AssertionError("the last attempt returns or raises")

    async def _pool(self) -> Pool:
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        pool = self._own.get(loop)
        if pool is None:
            # Another task may have made one meanwhile; then that one is used.
            pool = await _client().create_pool(self._url, **self._options)
            pool, unused = self._own.setdefault(loop, pool), pool
            if pool is not unused:
                await unused.close()
        return pool

    @contextmanager
    def _failures(self) -> Iterator[None]:
        asyncpg = _client()
        try:
            yield
        except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError) as error:
            raise VectorStoreError(f"PostgreSQL ({self.server}) refused: {_said(error)}") from error
        except (OSError, asyncio.TimeoutError) as error:
            raise VectorStoreError(f"PostgreSQL ({self.server}) cannot be reached: {_said(error)}") from error


def _client() -> Any:
    try:
        import asyncpg
    except ImportError as error:
        raise ConfigError('The PostgreSQL client is not installed: pip install "agentscope-reme[pgvector]".') from error
    return asyncpg


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    asyncpg = _client()
    known = {*signature(asyncpg.create_pool).parameters, *signature(asyncpg.connect).parameters} - {"dsn", "loop"}
    for name in options:
        if name not in known:
            raise ConfigError(f"PgVectorStore has no option {name!r}, and asyncpg has none of that name.")


def _said(error: BaseException) -> str:
    return str(error).strip() or type(error).__name__


async def _close(pool: Pool) -> None:
    try:
        await asyncio.wait_for(pool.close(), 5)
    except asyncio.TimeoutError:
        pool.terminate()
