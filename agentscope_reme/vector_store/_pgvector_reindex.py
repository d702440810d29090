# -*- coding: utf-8 -*-
"""Vectors of another model for a PostgreSQL collection, a page at a time."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from .._errors import EmbeddingError
from ..record import MemoryNode
from ..text import WordTokenizer
from . import _pgvector_coming as coming
from ._base import Embed, Progress
from ._pgvector_pool import PostgresPool
from ._pgvector_schema import PgCollection
from ._space import VectorSpace, check_vector

if TYPE_CHECKING:
    import numpy as np
    from asyncpg import Connection

__all__ = ["Reindexing"]

_EMBEDDED_AT_ONCE = 100
_log = logging.getLogger("agentscope_reme")


class Reindexing:
    """Gives the memories of a collection vectors of a space.

    What is embedded stays in the database when it is broken off, and the next one goes on from there. Memories that
    are written, changed or deleted meanwhile, by whomever, are seen.

    Args:
        pool (`PostgresPool`): the server.
        schema (`str`), name (`str`): the collection.
        tokenizer (`WordTokenizer`): cuts the words, where another one did.
    """

    def __init__(self, pool: PostgresPool, schema: str, name: str, tokenizer: WordTokenizer) -> None:
        self._pool = pool
        self._schema = schema
        self._name = name
        self._tokenizer = tokenizer

    async def run(self, space: VectorSpace, embed: Embed, progress: Progress | None) -> tuple[int, PgCollection]:
        """Embed what lacks a vector; how many memories that were, and the collection as it is then."""
        begun = await self._pool.run(lambda c: coming.begin(c, self._schema, self._name, space))
        await self._pool.run(lambda c: coming.recut(c, begun.collection, self._tokenizer))
        embedded, last = 0, ""
        failed: set[str] = set()
        end = partial(_end, begun, failed)
        while True:
            page = await self._pool.run(partial(_lacking, begun, last))
            if page:
                last = max(page)
                page = {key: each for key, each in page.items() if key not in failed}
                vectors = await self._embedded({key: node for key, (node, _) in page.items()}, space, embed)
                failed |= page.keys() - vectors.keys()
                texts = {key: text for key, (_, text) in page.items()}
                embedded += await self._pool.run(partial(_set_vectors, begun, vectors, texts))
                if progress is not None:
                    progress(min(begun.total, begun.total - begun.missing + embedded + len(failed)), begun.total)
            elif (done := await self._pool.run(end)) is not None:
                return embedded, done
            else:
                last = ""

    async def _embedded(
        self, nodes: Mapping[str, MemoryNode], space: VectorSpace, embed: Embed
    ) -> dict[str, np.ndarray]:
        """The vectors of memories; those that could not be embedded are left out."""
        vectors = await embed([node.embedded_text for node in nodes.values()]) if nodes else []
        found: dict[str, np.ndarray] = {}
        for (key, node), vector in zip(nodes.items(), vectors, strict=True):
            try:
                if vector is not None:
                    found[key] = check_vector(self._name, space, vector)
            except EmbeddingError as error:
                _log.warning("%r stays without a vector: %s", node, error)
        return found


async def _lacking(begun: coming.Coming, after: str, connection: Connection) -> dict[str, tuple[MemoryNode, str]]:
    return await coming.lacking(connection, begun, after, _EMBEDDED_AT_ONCE)


async def _set_vectors(
    begun: coming.Coming, vectors: Mapping[str, np.ndarray], texts: Mapping[str, str], connection: Connection
) -> int:
    return await coming.set_vectors(connection, begun, vectors, texts)


async def _end(begun: coming.Coming, failed: set[str], connection: Connection) -> PgCollection | None:
    return await coming.end(connection, begun, failed)
