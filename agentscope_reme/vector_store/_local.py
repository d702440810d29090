# -*- coding: utf-8 -*-
"""The local store: SQLite is the truth, an index in memory is searched. No server, no network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import ConfigError, NotStartedError
from ..record import Condition, MemoryNode
from ..search import MEMORIES_RECIPE, QueryView, SourceRecipe
from ..storage import Database
from ..text import WordTokenizer
from . import _local_catalog as catalog
from . import _local_spaces as spaces
from ._base import Embed, Progress, StoreHit, VectorStore, check_changes
from ._local_file import SharedFile
from ._local_reindex import Reindex
from ._local_rows import NodeRow, packed, row_of, storable
from ._local_shelf import Shelf
from ._order import check_sort_key
from ._space import VectorSpace, check_vector

if TYPE_CHECKING:
    import numpy as np

__all__ = ["LocalVectorStore"]


class LocalVectorStore(VectorStore):
    """Memories in an SQLite file (WAL), searched by words and vectors in memory.

    One file holds any number of collections. Every write is on the disk when it returns, whole or not at all, also
    when the process is killed. Several processes and threads may read and write at once; each sees what the others
    have written at its next call. The first search reads the collection into memory; after that a search costs what
    has changed. Exact for filters that leave few and up to about 100,000 vectors of 384 dimensions, approximate beyond.

    A collection whose `reindex` was broken off goes on with its old vectors until it is called again.

    Args:
        path (`str | os.PathLike`): the file; made where it is missing.
        collection_name (`str`): the collection.
        tokenizer (`WordTokenizer | None`): cuts words; None is the one for all languages.
        busy_timeout (`float`): seconds to wait for another process that is writing.
    """

    offers_keyword_search = True

    def __init__(
        self,
        path: str | os.PathLike,
        collection_name: str = "reme",
        *,
        tokenizer: WordTokenizer | None = None,
        busy_timeout: float = 10.0,
    ) -> None:
        if not collection_name:
            raise ConfigError("collection_name is empty: give the collection a name.")
        super().__init__(collection_name)
        self._tokenizer = tokenizer or WordTokenizer()
        self._file = SharedFile(path, busy_timeout)
        self._database: Database | None = None
        self._number = spaces.Opened(0, None)
        self._cutter = ""
        self._shelf: Shelf | None = None

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    # ------------------------------------------------------------------ life

    async def open(self, space: VectorSpace | None) -> None:
        """See `VectorStore.open`; a reindex that did not end leaves the old vectors in use."""
        await self.close()
        await self._enter(space)

    async def close(self) -> None:
        """See `VectorStore.close`."""
        if self._opened:
            self._opened, self._database, self._shelf = False, None, None
            await asyncio.to_thread(self._file.release)

    def companion(self, name: str) -> LocalVectorStore:
        """See `VectorStore.companion`; it shares the open file."""
        store = LocalVectorStore(self.path, f"{self.collection_name}_{name}", tokenizer=self._tokenizer)
        store._file = self._file
        return store

    # ------------------------------------------------------------------ memories

    async def write(self, insert: Sequence[MemoryNode] = (), delete: Collection[str] = ()) -> None:
        """See `VectorStore.write`; all of it or nothing."""
        database = self._open_database()
        rows = await asyncio.to_thread(self._rows, list(insert)) if insert else []
        keys = {row.key for row in rows}
        gone = [key for key in dict.fromkeys(delete) if key not in keys]
        cutter = self._cutter if self._cuts else ""
        await database.run(catalog.write, *self._number, cutter, rows, gone)

    async def get(self, keys: Sequence[str], *, with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `VectorStore.get`."""
        database = self._open_database()
        return await database.read(catalog.get, self._number.collection, list(dict.fromkeys(keys)), with_vectors)

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
        asked = (self._number.collection, conditions, limit, sort_key, reverse, after)
        return await self._open_database().read(catalog.find, *asked)

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `VectorStore.count`."""
        return await self._open_database().read(catalog.count, self._number.collection, conditions)

    async def owners(self, conditions: Sequence[Condition] = ()) -> list[str]:
        """See `VectorStore.owners`; no memory is read for it."""
        return await self._open_database().read(catalog.owners, self._number.collection, conditions)

    async def patch(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """See `VectorStore.patch`; vectors and words are left alone, and concurrent patches lose nothing."""
        check_changes(changes)
        return await self._open_database().run(catalog.patch, self._number.collection, changes)

    async def changes_elsewhere(self) -> int | None:
        """See `VectorStore.changes_elsewhere`; that of the file."""
        return await self._open_database().data_version()

    # ------------------------------------------------------------------ search

    async def search(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition] = ()) -> list[StoreHit]:
        """See `VectorStore.search`."""
        shelf = self._open_shelf()
        query = check_vector(self.collection_name, self.space, vector)
        found = await shelf.nearest(query, limit, conditions)
        return [StoreHit(node, cosine, cosine, {"meaning": cosine}) for node, cosine in found]

    async def keyword_search(
        self, query: QueryView, limit: int, conditions: Sequence[Condition] = ()
    ) -> list[MemoryNode]:
        """See `VectorStore.keyword_search`; in the order of `hybrid_search` without a vector."""
        return [hit.node for hit in await self.hybrid_search(query, limit, conditions=conditions)]

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
        """See `VectorStore.hybrid_search`; every memory is a candidate."""
        shelf = self._open_shelf()
        if vector is not None:
            vector = check_vector(self.collection_name, self.space, vector)
        found = await shelf.search(query, limit, vector, conditions, recipe, min_score)
        return [StoreHit(node, each.score, each.order, each.parts) for node, each in found]

    # ------------------------------------------------------------------ collections

    async def collections(self) -> list[str]:
        """See `VectorStore.collections`."""
        return await self._open_database().read(spaces.collections)

    async def drop(self) -> None:
        """See `VectorStore.drop`."""
        await self._open_database().run(catalog.remove_all, self._number.collection)
        await self.close()

    async def reindex(self, space: VectorSpace, embed: Embed, progress: Progress | None = None) -> int:
        """See `VectorStore.reindex`; the old vectors are searched until all the new ones are there."""
        if not self._opened:
            await self._enter(None)
        database, collection = self._open_database(), self._number.collection
        reindex = Reindex(database, collection, self.collection_name, space)
        number = await reindex.run(embed, progress)
        self._take(database, spaces.Opened(collection, number), space)
        return reindex.embedded

    async def compact(self) -> bool:
        """See `VectorStore.compact`; the file is written anew, which takes about as long as copying it."""
        return await self._open_database().compact()

    # ------------------------------------------------------------------ inside

    async def _enter(self, space: VectorSpace | None) -> None:
        database = self._file.acquire()
        try:
            number = await database.run(spaces.open_collection, self.collection_name, space)
        except BaseException:
            await asyncio.to_thread(self._file.release)
            raise
        self._take(database, number, space)

    def _take(self, database: Database, number: spaces.Opened, space: VectorSpace | None) -> None:
        self._database, self._number, self._space, self._opened = database, number, space, True
        self._cutter = self._tokenizer.name
        self._shelf = Shelf(database, number, space.dimensions if space else 0, self._tokenizer, self._cutter)

    def _rows(self, nodes: Sequence[MemoryNode]) -> list[NodeRow]:
        return [self._row(node) for node in {node.key: node for node in nodes}.values()]

    def _row(self, node: MemoryNode) -> NodeRow:
        vector = None
        if node.vector is not None:
            space = self.space or VectorSpace("", len(node.vector))  # what the collection has is checked in SQLite
            vector = packed(check_vector(self.collection_name, space, node.vector))
        words = storable("\n".join(self._tokenizer.tokens(node.searched_text))) if self._cuts else ""
        return NodeRow(node.key, *row_of(node), vector, words)

    @property
    def _cuts(self) -> bool:
        """Whether words are cut when they are written: a collection without vectors may never be searched."""
        return self._space is not None

    def _open_database(self) -> Database:
        self._refuse_closed()
        assert self._database is not None
        return self._database

    def _open_shelf(self) -> Shelf:
        if self._shelf is None:
            raise NotStartedError(f"Collection {self.collection_name!r} is not open: await open() first.")
        return self._shelf
