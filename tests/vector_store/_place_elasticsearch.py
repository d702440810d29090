# -*- coding: utf-8 -*-
"""Elasticsearch under the contract of all stores: the server that an environment variable names, else the stub."""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from _elastic_stub import ElasticStub
from _store_world import Make, StoreCase

from agentscope_reme.vector_store import ElasticsearchVectorStore, VectorStore


@asynccontextmanager
async def _place(_folder: Path) -> AsyncIterator[Make]:
    made: list[VectorStore] = []
    prefix = f"reme-test-{uuid.uuid4().hex[:8]}-"

    with ElasticStub() as stub:
        url = os.environ.get("REME_TEST_ELASTICSEARCH_URL") or stub.url

        def make(collection: str) -> VectorStore:
            made.append(ElasticsearchVectorStore(url, collection, index_prefix=prefix, refresh=True))
            return made[-1]

        try:
            yield make
        finally:
            for store in made:
                await store.open(None)
                await store.drop()


CASES = {
    "elasticsearch": StoreCase(
        _place,
        missing=lambda: "" if find_spec("elasticsearch") else "elasticsearch is not installed",
        examples=8,
        slow=True,
    )
}
