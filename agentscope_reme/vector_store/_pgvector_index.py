# -*- coding: utf-8 -*-
"""The approximate index of a PostgreSQL collection, made beside the work when there are enough vectors."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from .._errors import VectorStoreError
from ._pgvector_pool import PostgresPool
from ._pgvector_schema import PgCollection, ident
from ._pgvector_search import HnswOptions, operand

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["IndexKeeper"]

_LOCK = 571_006_311
_PAUSE = 1.0
_LONGEST = 86_400.0
_log = logging.getLogger("agentscope_reme")


class IndexKeeper:
    """Knows whether a collection has its index, and makes it when it is due.

    PostgreSQL makes it without standing in anybody's way; search is exact meanwhile. What was broken off is made anew.

    Args:
        pool (`PostgresPool`): the server.
        collection (`PgCollection`): the collection.
        options (`HnswOptions`): how it is made.
    """

    def __init__(self, pool: PostgresPool, collection: PgCollection, options: HnswOptions) -> None:
        self._pool = pool
        self._collection = collection
        self._options = options
        self._task: asyncio.Task | None = None
        self._unseen = 0
        self.ready = False

    async def start(self) -> None:
        """Look whether the index is there, and begin to make it where it is due."""
        if self._indexable:
            self.ready = await self._pool.run(self._is_ready)
            self.grown(self._step)

    def grown(self, rows: int) -> None:
        """Say that there are so many vectors more."""
        self._unseen += rows
        busy = self._task is not None and not self._task.done()
        if self._indexable and not (self.ready or busy) and self._unseen >= self._step:
            self._unseen = 0
            self._task = asyncio.get_running_loop().create_task(self._make_if_due())

    async def make(self) -> bool:
        """Make the index now, however few vectors there are; False where these vectors cannot have one."""
        if not operand(self._collection, "v")[0]:
            return False
        await self.stop()
        while not self.ready:
            await self._pool.run(self._make)
        return True

    async def stop(self) -> None:
        """Break off what is being made."""
        task, self._task = self._task, None
        if task is not None and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @property
    def _indexable(self) -> bool:
        started = self._options.start is not None and self._collection.generation is not None
        return started and bool(operand(self._collection, "v")[0])

    @property
    def _step(self) -> int:
        return max(1, (self._options.start or 0) // 10)

    async def _make_if_due(self) -> None:
        try:
            while not self.ready and await self._pool.run(self._is_due):
                await self._pool.run(self._make)
        except VectorStoreError as error:
            _log.warning("The index of %s was not made, search stays exact: %s", self._collection.relation, error)

    async def _is_due(self, connection: Connection) -> bool:
        found = self._collection
        query = f"SELECT FROM {found.table} WHERE {found.column} IS NOT NULL LIMIT {self._options.start:d}"
        return await connection.fetchval(f"SELECT count(*) FROM ({query}) AS found") >= (self._options.start or 0)

    async def _is_ready(self, connection: Connection) -> bool:
        return await connection.fetchval(
            "SELECT EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid)", self._name
        )

    async def _make(self, connection: Connection) -> None:
        """One process makes it; another one looks from time to time whether it is there.

        A session that waited for the lock would be waited for by the one that has it.
        """
        lock = f"({_LOCK}, hashtext('{self._collection.index}'))"
        if not await connection.fetchval(f"SELECT pg_try_advisory_lock{lock}"):
            await asyncio.sleep(_PAUSE)
            self.ready = await self._is_ready(connection)
            return
        try:
            if not await self._is_ready(connection):
                await connection.execute(f"DROP INDEX IF EXISTS {self._name}")
                expression, operators = operand(self._collection, self._collection.column)
                await connection.execute(
                    f"CREATE INDEX CONCURRENTLY {ident(self._collection.index)} ON {self._collection.table} "
                    f"USING hnsw ({expression} {operators}) "
                    f"WITH (m = {self._options.m:d}, ef_construction = {self._options.ef_construction:d})",
                    timeout=_LONGEST,
                )
            self.ready = True
        finally:
            await connection.execute(f"SELECT pg_advisory_unlock{lock}")

    @property
    def _name(self) -> str:
        return f"{ident(self._collection.schema)}.{ident(self._collection.index)}"
