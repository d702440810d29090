# -*- coding: utf-8 -*-
"""A real PostgreSQL server, under the contract of all stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from _postgres import own_schema, postgres_is_missing, postgres_url
from _store_world import Make, StoreCase

from agentscope_reme.vector_store import PgVectorStore, VectorStore


@asynccontextmanager
async def _server(_folder: Path) -> AsyncIterator[Make]:
    made: list[VectorStore] = []

    async with own_schema() as schema:

        def make(collection: str) -> VectorStore:
            made.append(PgVectorStore(postgres_url(), collection, schema=schema, max_size=4))
            return made[-1]

        try:
            yield make
        finally:
            for store in made:
                await store.close()


CASES = {"pgvector": StoreCase(_server, missing=postgres_is_missing, slow=True)}
