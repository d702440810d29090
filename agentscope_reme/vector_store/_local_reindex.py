# -*- coding: utf-8 -*-
"""A collection of the local store gets vectors of another model, a page of memories at a time."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from .._errors import EmbeddingError
from ..record import MemoryNode
from ..storage import Database
from ._base import Embed, Progress
from ._local_rows import packed
from ._local_spaces import begin_reindex, end_reindex, lacking, set_vectors
from ._space import VectorSpace, check_vector

__all__ = ["Reindex"]

_AT_ONCE = 100
_log = logging.getLogger("agentscope_reme")


class Reindex:
    """One run over a collection. What was embedded is kept, whatever happens then.

    Args:
        database (`Database`): where the collection is.
        collection (`int`): its number.
        name (`str`): its name.
        space (`VectorSpace`): the vectors that it gets.
    """

    def __init__(self, database: Database, collection: int, name: str, space: VectorSpace) -> None:
        self._database, self._collection, self._name, self._space = database, collection, name, space
        self._failed: set[int] = set()
        self.embedded = 0
        """How many memories were embedded."""

    async def run(self, embed: Embed, progress: Progress | None = None) -> int:
        """Embed what lacks a vector of the space until nothing does, then let the old vectors go.

        Memories that come or change meanwhile are embedded, too; one whose text cannot be is left without a vector.

        Returns:
            `int`: the number of the space.
        """
        run, collection = self._database.run, self._collection
        space, total, missing = await run(begin_reindex, collection, self._space)
        while True:
            last = 0
            while page := await self._database.read(lacking, collection, space, last, _AT_ONCE):
                last = max(page)
                page = {node: memory for node, memory in page.items() if node not in self._failed}
                vectors = await self._vectors(page, embed)
                self._failed |= page.keys() - vectors.keys()
                self.embedded += await run(set_vectors, collection, space, page, vectors)
                if progress is not None:
                    progress(min(total, total - missing + self.embedded + len(self._failed)), total)
            if await run(end_reindex, collection, space, self._failed):
                return space

    async def _vectors(self, page: Mapping[int, MemoryNode], embed: Embed) -> dict[int, bytes]:
        """The vectors of memories; those that could not be embedded are left out."""
        vectors = await embed([memory.embedded_text for memory in page.values()]) if page else []
        if len(vectors) != len(page):
            raise EmbeddingError(f"{len(page)} texts were to be embedded, and {len(vectors)} vectors came back.")
        found: dict[int, bytes] = {}
        for (node, memory), vector in zip(page.items(), vectors, strict=True):
            try:
                if vector is not None:
                    found[node] = packed(check_vector(self._name, self._space, vector))
            except EmbeddingError as error:
                _log.warning("%r stays without a vector: %s", memory, error)
        return found
