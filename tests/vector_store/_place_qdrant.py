# -*- coding: utf-8 -*-
"""The local mode of Qdrant's client, in memory, under the contract of all stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

from _store_world import Make, StoreCase

from agentscope_reme.vector_store import QdrantVectorStore, VectorStore


def qdrant_is_missing() -> str:
    """Why Qdrant cannot be tested here."""
    return "" if find_spec("qdrant_client") else "qdrant-client is not installed"


@asynccontextmanager
async def _local_mode(_folder: Path) -> AsyncIterator[Make]:
    from qdrant_client import QdrantClient

    client = QdrantClient(location=":memory:")

    def make(collection: str) -> VectorStore:
        return QdrantVectorStore(collection, client=client)

    yield make
    client.close()


CASES = {"qdrant": StoreCase(_local_mode, missing=qdrant_is_missing, examples=5, slow=True)}
