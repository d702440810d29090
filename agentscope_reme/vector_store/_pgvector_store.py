# -*- coding: utf-8 -*-
"""The PostgreSQL store: one table a collection, vectors by pgvector, words by an index of our own tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from .._errors import ConfigError
from ..record import Condition, MemoryNode
from ..search import MEMORIES_RECIPE, QueryView, SourceRecipe
from ..text import WordTokenizer
from . import _pgvector_opening as opening
from . import _pgvector_search as searching
from . import _pgvector_writing as writing
from ._base import Embed, Progress, StoreHit, VectorStore, check_changes
from ._order import check_sort_key
from ._pgvector_access import CollectionAccess
from ._pgvector_filters import Arguments, order_by, where
from ._pgvector_pool import PostgresPool
from ._pgvector_reindex import Reindexing
from ._pgvector_rows import NodeRow, node_of, row_of
from ._pgvector_schema import PgCollection, drop
from ._ranking import rank_candidates
from ._space import VectorSpace, check_vector, check_vectors
from ._stored_text import storable

if TYPE_CHECKING:
    import numpy as np
    from asyncpg import Connection, Pool

__all__ = ["PgVectorStore"]

T = TypeVar("T")

_OFF_THE_LOOP = 200


class PgVectorStore(VectorStore):
    """Memories in PostgreSQL with pgvector, for many machines and millions of memories.

    It needs ``pip install "agentscope-reme[pgvector]"`` and a server with pgvector, whose extension is made in the
    database where it is missing. A write is one transaction. Filters are exact and applied by the server. Search by
    vector looks at every row that meets the filter until there are ``hnsw_start`` vectors; from then on an HNSW index
    is made beside the work and used where a filter leaves many. Words are cut by our own tokenizer, so that Chinese
    is found as English is.

    Args:
        url (`str`): ``postgresql://user:password@host:port/database``.
        collection_name (`str`): the collection, in any alphabet.
        schema (`str`): the schema of the tables; made where it is missing.
        hnsw_m (`int`), hnsw_ef_construction (`int`), hnsw_ef_search (`int`): see pgvector.
        hnsw_start (`int | None`): from how many vectors on there is an index; None for never.
        min_size (`int`), max_size (`int`): connections of an event loop.
        tokenizer (`WordTokenizer | None`): cuts words; None is the one for all languages.
        pool (`asyncpg.Pool | None`): a pool of your own instead of ``url``; it is not closed.
        options (`Any`): what `asyncpg.connect` takes besides, such as ``ssl`` and ``statement_cache_size``.

    Raises:
        `ConfigError`: neither url nor pool, or asyncpg is not installed.
    """

    offers_keyword_search = True

    def __init__(
        self,
        url: str = "",
        collection_name: str = "reme",
        *,
        schema: str = "public",
        hnsw_m: int = 16,
        hnsw_ef_construction: int = 64,
        hnsw_ef_search: int = 100,
        hnsw_start: int | None = 10_000,
        min_size: int = 1,
        max_size: int = 8,
        tokenizer: WordTokenizer | None = None,
        pool: Pool | None = None,
        **options: Any,
    ) -> None:
        if not collection_name:
            raise ConfigError("collection_name is empty: give the collection a name.")
        super().__init__(collection_name)
        self._tokenizer = tokenizer or WordTokenizer()
        server = PostgresPool(url, {"min_size": min_size, "max_size": max_size, **options}, pool)
        hnsw = searching.HnswOptions(hnsw_m, hnsw_ef_construction, hnsw_ef_search, hnsw_start)
        self._access = CollectionAccess(server, schema, collection_name, self._tokenizer.name, hnsw)

    # ------------------------------------------------------------------ life

    async def open(self, space: VectorSpace | None) -> None:
        """See `VectorStore.open`; a reindex that did not end leaves the old vectors in use."""
        await self.close()
        await self._access.enter(space)
        self._space, self._opened = space, True

    async def close(self) -> None:
        """See `VectorStore.close`."""
        if self._opened:
            self._opened = False
            await self._access.leave()

    def companion(self, name: str) -> PgVectorStore:
        """See `VectorStore.companion`; it shares the connections."""
        store = copy(self)
        store.collection_name = f"{self.collection_name}_{name}"
        store._access = self._access.beside(store.collection_name)
        store._space, store._opened = None, False
        return store

    # ------------------------------------------------------------------ memories

    async def write(self, insert: Sequence[MemoryNode] = (), delete: Collection[str] = ()) -> None:
        """See `VectorStore.write`; all of it or nothing."""
        self._refuse_closed()
        nodes = {node.key: node for node in insert}
        gone = [key for key in dict.fromkeys(delete) if key not in nodes]
        if not nodes and not gone:
            return
        space = self._space or self._access.at.space
        vectors = check_vectors(self.collection_name, space, nodes.values())
        given = space if any(vector is not None for vector in vectors.values()) else None
        make_row = partial(_row, self._tokenizer, vectors)
        await self._run(lambda c, at: writing.write(c, at, list(nodes.values()), gone, make_row), given)
        if self._access.index is not None:
            self._access.index.grown(len(nodes))

    async def get(self, keys: Sequence[str], *, with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `VectorStore.get`."""
        wanted = list(dict.fromkeys(keys))

        async def work(connection: Connection, at: PgCollection) -> list[Any]:
            columns = f"content, node, {_sent(at)}" if with_vectors and at.generation is not None else "content, node"
            return await connection.fetch(f"SELECT {columns} FROM {at.table} WHERE key = ANY($1)", wanted)

        found = {node.key: node for node in await _nodes(await self._run(work))}
        return {key: found[key] for key in wanted if key in found}

    async def find(
        self,
        conditions: Sequence[Condition] = (),
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        after: str | None = None,
    ) -> list[MemoryNode]:
        """See `VectorStore.find`."""
        check_sort_key(sort_key)
        arguments = Arguments()
        met = where(conditions, arguments)
        above = f" AND key > {arguments.add(storable(after))}" if after is not None else ""
        order = order_by(sort_key, reverse, arguments)
        part = "" if limit is None else f" LIMIT {max(0, limit):d}"
        rows = await self._run(
            lambda connection, at: connection.fetch(
                f"SELECT content, node FROM {at.table} WHERE {met}{above} ORDER BY {order}{part}", *arguments.values
            )
        )
        return await _nodes(rows)

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `VectorStore.count`."""
        arguments = Arguments()
        met = where(conditions, arguments)
        return await self._run(
            lambda connection, at: connection.fetchval(
                f"SELECT count(*) FROM {at.table} WHERE {met}", *arguments.values
            )
        )

    async def patch(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """See `VectorStore.patch`; vectors and words are left alone, and concurrent patches lose nothing."""
        check_changes(changes)
        return await self._run(lambda connection, at: writing.patch(connection, at, changes))

    # ------------------------------------------------------------------ search

    async def search(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition] = ()) -> list[StoreHit]:
        """See `VectorStore.search`."""
        self._refuse_closed()
        given = check_vector(self.collection_name, self._space, vector)
        rows = await self._nearest(given, limit, conditions)
        nodes = await _nodes([row[:2] for row in rows])
        return [StoreHit(node, row[2], row[2], {"meaning": row[2]}) for node, row in zip(nodes, rows, strict=True)]

    async def keyword_search(
        self, query: QueryView, limit: int, conditions: Sequence[Condition] = ()
    ) -> list[MemoryNode]:
        """See `VectorStore.keyword_search`."""
        return await _nodes(await self._by_words(query, limit, conditions))

    async def hybrid_search(
        self,
        query: QueryView,
        limit: int,
        *,
        vector: np.ndarray | None = None,
        conditions: Sequence[Condition] = (),
        recipe: SourceRecipe = MEMORIES_RECIPE,
        min_score: float = 0.0,
        candidates: int = 200,
    ) -> list[StoreHit]:
        """See `VectorStore.hybrid_search`; both legs at once, and each candidate read once."""
        self._refuse_closed()
        if vector is not None:
            vector = check_vector(self.collection_name, self._space, vector)
        wanted = max(candidates, limit)
        legs = [self._by_words(query, wanted, conditions, "key")]
        if vector is not None:
            legs.append(self._nearest(vector, wanted, conditions, "key"))
        keys = [row[0] for rows in await asyncio.gather(*legs) for row in rows]
        nodes = list((await self.get(keys, with_vectors=vector is not None)).values())
        return await asyncio.to_thread(rank_candidates, nodes, query, limit, vector, recipe, min_score)

    async def _nearest(
        self, vector: np.ndarray, limit: int, conditions: Sequence[Condition], columns: str = "content, node"
    ) -> list[Any]:
        options = self._access.ready_index
        return await self._run(lambda c, at: searching.nearest(c, at, vector, limit, conditions, options, columns))

    async def _by_words(
        self, query: QueryView, limit: int, conditions: Sequence[Condition], columns: str = "content, node"
    ) -> list[Any]:
        self._refuse_closed()
        if not query.tokens:
            return []
        return await self._run(lambda c, at: searching.by_words(c, at, query.tokens, limit, conditions, columns))

    async def make_index(self) -> bool:
        """Make the HNSW index now and wait for it, however few vectors there are.

        Returns:
            `bool`: False where these vectors cannot have one: none, or too many dimensions.
        """
        self._refuse_closed()
        index = self._access.index
        return index is not None and await index.make()

    # ------------------------------------------------------------------ collections

    async def collections(self) -> list[str]:
        """See `VectorStore.collections`."""
        return sorted(await self._run(lambda connection, at: opening.collections(connection, at.schema)))

    async def drop(self) -> None:
        """See `VectorStore.drop`."""

        async def work(connection: Connection, at: PgCollection) -> None:
            async with connection.transaction():
                await drop(connection, at)

        if self._access.index is not None:
            await self._access.index.stop()
        await self._run(work)
        await self.close()

    async def reindex(self, space: VectorSpace, embed: Embed, progress: Progress | None = None) -> int:
        """See `VectorStore.reindex`; the old vectors are searched until all the new ones are there."""
        if not self._opened:
            await self.open(None)
        work = Reindexing(self._access.pool, self._access.schema, self.collection_name, self._tokenizer)
        embedded, done = await work.run(space, embed, progress)
        await self._access.take(done, space)
        self._space = space
        return embedded

    # ------------------------------------------------------------------ inside

    async def _run(
        self, work: Callable[[Connection, PgCollection], Awaitable[T]], given: VectorSpace | None = None
    ) -> T:
        self._refuse_closed()
        return await self._access.run(work, given)


def _row(tokenizer: WordTokenizer, vectors: Mapping[str, np.ndarray | None], node: MemoryNode) -> NodeRow:
    return row_of(node, tokenizer, vectors[node.key])


async def _nodes(rows: Sequence[Any]) -> list[MemoryNode]:
    """The memories of rows; many are read off the event loop."""
    if len(rows) > _OFF_THE_LOOP:
        return await asyncio.to_thread(lambda: [node_of(*row) for row in rows])
    return [node_of(*row) for row in rows]


def _sent(at: PgCollection) -> str:
    """The vector in PostgreSQL's binary format, as SQL."""
    assert at.extension is not None
    return f"{at.extension.vector}_send({at.column})"
