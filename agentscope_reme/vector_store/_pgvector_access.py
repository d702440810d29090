# -*- coding: utf-8 -*-
"""A collection in PostgreSQL as one store has it open: which table, which vectors, and whether that is still so."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from .._errors import VectorSpaceError, VectorStoreError
from . import _pgvector_opening as opening
from ._pgvector_index import IndexKeeper
from ._pgvector_pool import PostgresPool
from ._pgvector_schema import PgCollection
from ._pgvector_search import HnswOptions
from ._space import VectorSpace

if TYPE_CHECKING:
    from asyncpg import Connection

__all__ = ["CollectionAccess"]

T = TypeVar("T")

_log = logging.getLogger("agentscope_reme")


class CollectionAccess:
    """The way to a collection.

    Args:
        pool (`PostgresPool`): the server.
        schema (`str`), name (`str`): the collection.
        words (`str`): who cuts the words of queries.
        hnsw (`HnswOptions`): of its index.
    """

    def __init__(self, pool: PostgresPool, schema: str, name: str, words: str, hnsw: HnswOptions) -> None:
        self.pool = pool
        self.schema = schema
        self.name = name
        self.at = PgCollection(schema, "", "")
        self.space: VectorSpace | None = None
        self.index: IndexKeeper | None = None
        self._words = words
        self._hnsw = hnsw

    def beside(self, name: str) -> CollectionAccess:
        """The way to another collection of the server."""
        return CollectionAccess(self.pool, self.schema, name, self._words, self._hnsw)

    @property
    def ready_index(self) -> HnswOptions | None:
        """How the index is searched; None where there is none."""
        return self._hnsw if self.index is not None and self.index.ready else None

    async def enter(self, space: VectorSpace | None) -> None:
        """Find the collection, or make it; see `VectorStore.open`."""

        async def work(connection: Connection) -> PgCollection:
            async with connection.transaction():
                return await opening.open_collection(connection, self.schema, self.name, space, self._words)

        self.pool.enter()
        try:
            await self.take(await self.pool.run(work), space)
        except BaseException:
            await self.pool.leave()
            raise
        if self.at.words != self._words:
            _log.warning(
                "The words of collection %r were cut by %s, and queries are by %s: a few may not be found before "
                "reindex() cuts them again.",
                *(self.name, self.at.words, self._words),
            )

    async def leave(self) -> None:
        """Let go of it."""
        index, self.index = self.index, None
        if index is not None:
            await index.stop()
        await self.pool.leave()

    async def take(self, collection: PgCollection, space: VectorSpace | None) -> None:
        """Go on with the collection as it is now."""
        if self.index is not None:
            await self.index.stop()
        index = IndexKeeper(self.pool, collection, self._hnsw) if collection.generation is not None else None
        if index is not None and space is not None:
            await index.start()
        self.at, self.space, self.index = collection, space, index

    async def run(
        self, work: Callable[[Connection, PgCollection], Awaitable[T]], given: VectorSpace | None = None
    ) -> T:
        """Do something with the collection; once more where somebody else has changed its vectors meanwhile.

        Args:
            work (`Callable[[Connection, PgCollection], Awaitable[T]]`): see `PostgresPool.run`.
            given (`VectorSpace | None`): whose vectors it works with; None for those that the collection is open with.

        Raises:
            `VectorSpaceError`: the collection has other ones now.
            `VectorStoreError`: the collection is gone, or the server refused.
        """
        try:
            return await self.pool.run(lambda connection: work(connection, self.at))
        except VectorStoreError as error:
            if not _outdated(error):
                raise
            found = await self.pool.run(lambda connection: opening.look_up(connection, self.schema, self.name))
            if found is None or found.relation != self.at.relation:
                raise VectorStoreError(
                    f"Collection {self.name!r} was dropped by somebody else: open it again.",
                ) from error
            if (given or self.space) not in (None, found.space):
                model = found.space.model if found.space else "no model"
                raise VectorSpaceError(
                    f"Collection {self.name!r} was embedded again with {model!r}: open it with that model.",
                ) from error
            await self.take(found, self.space)
            return await self.pool.run(lambda connection: work(connection, found))


def _outdated(error: VectorStoreError) -> bool:
    """Whether PostgreSQL refused because a table or a column is gone."""
    import asyncpg

    return isinstance(error.__cause__, (asyncpg.UndefinedColumnError, asyncpg.UndefinedTableError))
