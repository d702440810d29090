# -*- coding: utf-8 -*-
"""Memories get vectors of another model: copied with them into a new table, or filled in where they lack one."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from .._errors import EmbeddingError
from .._loop_lock import LoopLock
from ..record import MemoryNode
from ._base import Embed, Progress
from ._client_calls import to_the_end
from ._space import VectorSpace, check_vector
from ._tables import Table

if TYPE_CHECKING:
    import numpy as np

__all__ = ["TableCopy", "TableFill", "Vectorizer", "copy_plainly"]

_AT_ONCE = 100
_log = logging.getLogger("agentscope_reme")


class Vectorizer:
    """Embeds memories and tells how far it has come.

    Args:
        collection (`str`): the collection's name, for messages.
        space (`VectorSpace`): the vectors that are made.
        embed (`Embed`): makes them.
        progress (`Progress | None`): is told.
        total (`int`): how many memories there are.
    """

    def __init__(
        self, collection: str, space: VectorSpace, embed: Embed, progress: Progress | None, total: int
    ) -> None:
        self._collection = collection
        self._space = space
        self._embed = embed
        self._progress = progress
        self._total = total
        self._done = 0
        self.embedded = 0

    async def vectors(self, nodes: Sequence[MemoryNode]) -> dict[str, np.ndarray | None]:
        """The vectors of memories by key; None for a text that could not be embedded."""
        if not nodes:
            return {}
        vectors = await self._embed([node.embedded_text for node in nodes])
        found: dict[str, np.ndarray | None] = dict.fromkeys(node.key for node in nodes)
        for node, vector in zip(nodes, vectors, strict=True):
            try:
                if vector is not None:
                    found[node.key] = check_vector(self._collection, self._space, vector)
            except EmbeddingError as error:
                _log.warning("%r stays without a vector: %s", node, error)
        self.embedded += sum(vector is not None for vector in found.values())
        return found

    def tell(self, more: int) -> None:
        """So many more memories are done."""
        self._done = min(self._total, self._done + more)
        if self._progress is not None:
            self._progress(self._done, self._total)


class TableCopy:
    """Copies a table into one of another space. What is there already, from an earlier try, is kept.

    Args:
        source (`Table`): where the memories are.
        target (`Table`): where they go.
        vectorizer (`Vectorizer`): embeds them.
    """

    def __init__(self, source: Table, target: Table, vectorizer: Vectorizer) -> None:
        self._source = source
        self._target = target
        self._vectorizer = vectorizer

    async def all(self) -> None:
        """Copy everything, and take out what an earlier try has copied and is gone since."""
        async with aclosing(self._source.scan(size=_AT_ONCE)) as pages:
            async for page in pages:
                await self._copy(page)
                self._vectorizer.tell(len(page))
        async with aclosing(self._target.scan()) as pages:
            async for page in pages:
                there = await self._source.get([node.key for node in page])
                await self._target.remove([node.key for node in page if node.key not in there])

    async def again(self, keys: Collection[str]) -> None:
        """Copy what was written or removed since."""
        nodes = await self._source.get(list(keys))
        await self._target.remove([key for key in keys if key not in nodes])
        await self._copy(list(nodes.values()))

    async def _copy(self, nodes: Sequence[MemoryNode]) -> None:
        there = await self._target.get([node.key for node in nodes], with_vectors=True)
        kept = [node for node in nodes if _has_vector_of(there.get(node.key), node)]
        changed = [node for node in kept if node.to_dict() != there[node.key].to_dict()]
        if changed:
            await self._target.rewrite(changed)
        keys = {node.key for node in kept}
        missing = [node for node in nodes if node.key not in keys]
        if missing:
            await self._target.put(missing, await self._vectorizer.vectors(missing))


class TableFill:
    """Embeds the memories of a table that lack a vector, in their place.

    Args:
        table (`Table`): the table.
        vectorizer (`Vectorizer`): embeds them.
        writing (`LoopLock`): what everybody holds who writes.
    """

    def __init__(self, table: Table, vectorizer: Vectorizer, writing: LoopLock) -> None:
        self._table = table
        self._vectorizer = vectorizer
        self._writing = writing

    async def all(self) -> None:
        """Embed everything that lacks a vector now."""
        missing = await self._table.without_vectors()
        self._vectorizer.tell(await self._table.count() - len(missing))
        for start in range(0, len(missing), _AT_ONCE):
            keys = missing[start : start + _AT_ONCE]
            nodes = await self._table.get(keys)
            vectors = await self._vectorizer.vectors(list(nodes.values()))
            await to_the_end(self._give(nodes, {key: vector for key, vector in vectors.items() if vector is not None}))
            self._vectorizer.tell(len(keys))

    async def _give(self, embedded: Mapping[str, MemoryNode], vectors: Mapping[str, np.ndarray]) -> None:
        """Give memories vectors, but for those that were changed, removed or given one meanwhile."""
        async with self._writing.lock():
            nodes = [
                node
                for key, node in (await self._table.get(list(vectors), with_vectors=True)).items()
                if node.vector is None and node.embedded_text == embedded[key].embedded_text
            ]
            if nodes:
                await self._table.put(nodes, {node.key: vectors[node.key] for node in nodes})


async def copy_plainly(source: Table, target: Table) -> None:
    """Copy memories that have no vectors into an empty table."""
    async with aclosing(source.scan()) as pages:
        async for page in pages:
            await target.put(page, dict.fromkeys(node.key for node in page))


def _has_vector_of(copied: MemoryNode | None, node: MemoryNode) -> bool:
    return copied is not None and copied.vector is not None and copied.embedded_text == node.embedded_text
