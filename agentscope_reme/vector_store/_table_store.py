# -*- coding: utf-8 -*-
"""A store of memories over the tables of a server: spaces, writes in one order, and embedding again."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from typing_extensions import Self

from .._errors import ConfigError, NotStartedError, VectorSpaceError, VectorStoreError
from .._loop_lock import LoopLock
from ..record import Condition, MemoryNode
from ..search import QueryView
from ._base import Embed, Progress, StoreHit, VectorStore, check_changes
from ._client_calls import to_the_end
from ._order import check_sort_key
from ._space import VectorSpace, check_space, check_vector, check_vectors
from ._table_copy import TableCopy, TableFill, Vectorizer, copy_plainly
from ._table_listing import first_by_key, in_any_order
from ._tables import Table, Tables

if TYPE_CHECKING:
    import numpy as np

__all__ = ["TableVectorStore"]

T = TypeVar("T")

_CATCHING_UP = 20
_MOST_ASKED = 1_000


class TableVectorStore(VectorStore):
    """Memories in a database without transactions: what is new goes in first, then what is old is taken out.

    The writes of one object follow one another, and each is carried to its end also where the caller is cancelled.

    Args:
        collection_name (`str`): the collection.
        tables (`Tables`): the database.
    """

    offers_keyword_search = True

    def __init__(self, collection_name: str, tables: Tables) -> None:
        super().__init__(collection_name)
        self._tables = tables
        self._start_over(collection_name)

    def _start_over(self, collection_name: str) -> None:
        if not collection_name:
            raise ConfigError("collection_name is empty: give the collection a name.")
        self.collection_name = collection_name
        self._space: VectorSpace | None = None
        self._opened = False
        self._table: Table | None = None
        self._writing = LoopLock()
        self._reindexing = LoopLock()
        self._changed: set[str] | None = None

    # ------------------------------------------------------------------ life

    async def open(self, space: VectorSpace | None) -> None:
        """See `VectorStore.open`. A reindex that did not end leaves the old vectors in use."""
        await self.close()
        await self._tables.acquire()
        try:
            table = await self._table_for(space)
        except BaseException:
            await to_the_end(self._tables.release())
            raise
        self._take(table, space)

    async def close(self) -> None:
        """See `VectorStore.close`."""
        if self._opened:
            self._opened, self._table = False, None
            await to_the_end(self._tables.release())

    def companion(self, name: str) -> Self:
        """See `VectorStore.companion`; it shares the connection."""
        other = copy(self)
        other._start_over(f"{self.collection_name}_{name}")
        return other

    async def _table_for(self, space: VectorSpace | None) -> Table:
        found = await self._tables.look(self.collection_name)
        current = found.current or await self._tables.create(self.collection_name, space)
        if space is None or current.space == space:
            return current
        if found.begun is not None and found.begun.space == space:
            raise VectorSpaceError(
                f"Collection {self.collection_name!r} is being embedded with {space.model!r}, which did not end: call "
                "reindex() again.",
            )
        held = current.space
        if held is not None and len(await current.without_vectors()) == await current.count():
            held = None
        check_space(self.collection_name, held, space)
        begun = await self._tables.begin(self.collection_name, space)
        await copy_plainly(current, begun)
        return await self._tables.replace(self.collection_name, begun)

    def _take(self, table: Table, space: VectorSpace | None) -> None:
        self._table, self._space, self._opened = table, space, True

    # ------------------------------------------------------------------ memories

    async def write(self, insert: Sequence[MemoryNode] = (), delete: Collection[str] = ()) -> None:
        """See `VectorStore.write`."""
        nodes = list({node.key: node for node in insert}.values())
        await to_the_end(self._write(nodes, list(dict.fromkeys(delete))))

    async def _write(self, nodes: Sequence[MemoryNode], gone: Sequence[str]) -> None:
        async with self._writing.lock():
            table = self._open_table()
            vectors = check_vectors(self.collection_name, table.space, nodes)
            gone = [key for key in gone if key not in vectors]
            self._note((*vectors, *gone))
            if nodes:
                await table.put(nodes, vectors)
            if gone:
                await table.remove(gone)

    async def patch(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        """See `VectorStore.patch`; vectors and words are left alone."""
        check_changes(changes)
        return await to_the_end(self._patch(changes))

    async def _patch(self, changes: Mapping[str, Mapping[str, Any]]) -> int:
        async with self._writing.lock():
            table = self._open_table()
            nodes = await table.get(list(changes))
            changed = [replace(node, **changes[key]) for key, node in nodes.items() if changes[key]]
            self._note([node.key for node in changed])
            if changed:
                await table.rewrite(changed)
            return len(nodes)

    async def get(self, keys: Sequence[str], *, with_vectors: bool = False) -> dict[str, MemoryNode]:
        """See `VectorStore.get`."""
        asked = list(dict.fromkeys(keys))
        found = await self._ask(lambda table: table.get(asked, with_vectors))
        return {key: found[key] for key in asked if key in found}

    async def find(
        self,
        conditions: Sequence[Condition] = (),
        *,
        limit: int | None = None,
        sort_key: str = "time_created",
        reverse: bool = True,
        after: str | None = None,
    ) -> list[MemoryNode]:
        """See `VectorStore.find`; for an order other than by key, all that meet the conditions are read."""
        check_sort_key(sort_key)
        if limit is not None and limit <= 0:
            self._open_table()
            return []
        if sort_key == "key" and not reverse:
            return await self._ask(lambda table: first_by_key(table, conditions, limit, after))
        return await self._ask(lambda table: in_any_order(table, conditions, limit, after, sort_key, reverse))

    async def count(self, conditions: Sequence[Condition] = ()) -> int:
        """See `VectorStore.count`."""
        return await self._ask(lambda table: table.count(conditions))

    async def pages(self, conditions: Sequence[Condition] = (), size: int = 500) -> AsyncIterator[list[MemoryNode]]:
        """See `VectorStore.pages`."""
        async with aclosing(self._open_table().scan(conditions, size=size)) as pages:
            async for page in pages:
                yield page

    # ------------------------------------------------------------------ search

    async def search(self, vector: np.ndarray, limit: int, conditions: Sequence[Condition] = ()) -> list[StoreHit]:
        """See `VectorStore.search`."""
        self._open_table()
        query = check_vector(self.collection_name, self.space, vector)
        limit = await self._bounded(limit)
        return await self._ask(lambda table: table.nearest(query, limit, conditions)) if limit > 0 else []

    async def keyword_search(
        self, query: QueryView, limit: int, conditions: Sequence[Condition] = ()
    ) -> list[MemoryNode]:
        """See `VectorStore.keyword_search`."""
        self._open_table()
        limit = await self._bounded(limit)
        if limit <= 0 or not query.tokens:
            return []
        return await self._ask(lambda table: table.with_words(query.tokens, limit, conditions))

    async def _bounded(self, limit: int) -> int:
        """No more than there are: servers make room for what they are asked for."""
        return limit if limit <= _MOST_ASKED else min(limit, await self.count())

    # ------------------------------------------------------------------ collections

    async def collections(self) -> list[str]:
        """See `VectorStore.collections`; those that were made here."""
        self._open_table()
        return sorted(await self._tables.names())

    async def drop(self) -> None:
        """See `VectorStore.drop`."""
        self._open_table()
        await self._tables.drop(self.collection_name)
        await self.close()

    async def reindex(self, space: VectorSpace, embed: Embed, progress: Progress | None = None) -> int:
        """See `VectorStore.reindex`.

        Another space gets a table of its own beside the old one, which is searched until the new one is complete.
        """
        async with self._reindexing.lock():
            if not self._opened:
                await self.open(None)
            found = await self._tables.look(self.collection_name)
            table = self._open_table()
            vectorizer = Vectorizer(self.collection_name, space, embed, progress, await table.count())
            if table.space == space:
                await self._tables.discard(self.collection_name)
                await TableFill(table, vectorizer, self._writing).all()
                self._space = space
                return vectorizer.embedded
            begun = found.begun
            if begun is None or begun.space != space:
                begun = await self._tables.begin(self.collection_name, space)
            await self._move(TableCopy(table, begun, vectorizer), begun)
            return vectorizer.embedded

    async def _move(self, copying: TableCopy, begun: Table) -> None:
        """Copy everything, then what was written meanwhile, and change over while nothing is written."""
        self._changed = set()
        try:
            await copying.all()
            for attempt in itertools.count():
                if await to_the_end(self._change_over(copying, begun, last=attempt >= _CATCHING_UP)):
                    return
                changed, self._changed = self._changed, set()
                await copying.again(changed)
        finally:
            self._changed = None

    async def _change_over(self, copying: TableCopy, begun: Table, last: bool) -> bool:
        """Use the new table from now on; False where something was written since it was level with the old one.

        The last time, that is copied while others wait to write.
        """
        async with self._writing.lock():
            if self._changed and not last:
                return False
            await copying.again(self._changed or ())
            table = await self._tables.replace(self.collection_name, begun)
            self._take(table, table.space)
            return True

    # ------------------------------------------------------------------ inside

    def _note(self, keys: Collection[str]) -> None:
        if self._changed is not None:
            self._changed.update(keys)

    def _open_table(self) -> Table:
        if self._table is None:
            raise NotStartedError(f"Collection {self.collection_name!r} is not open: await open() first.")
        return self._table

    async def _ask(self, question: Callable[[Table], Awaitable[T]]) -> T:
        """Ask the table, and the new one where a `reindex` has just put it in the place of the old one."""
        while True:
            table = self._open_table()
            try:
                return await question(table)
            except VectorStoreError:
                if self._table is table:
                    raise
