# -*- coding: utf-8 -*-
"""The contract of all stores against Qdrant's real engine, which its server is made of."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from _qdrant_edge import QdrantEdge
from _store_world import CASES, Make, StoreCase
from _whole_contract import SharedTest, shared_tests

from agentscope_reme.vector_store import QdrantVectorStore
from agentscope_reme.vector_store._qdrant_filters import INDEXED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (find_spec("qdrant_client") and find_spec("qdrant_edge")), reason="there is no engine"),
]


@pytest.mark.parametrize("test", shared_tests(), ids=lambda test: test.__name__)
def test_the_engine_keeps(test: SharedTest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = iter(range(1_000_000))

    @asynccontextmanager
    async def place(folder: Path) -> AsyncIterator[Make]:
        here = folder / f"place-{next(places)}"
        here.mkdir()
        client = QdrantEdge(here, INDEXED)
        yield lambda collection: QdrantVectorStore(collection, client=client)
        client.close()

    monkeypatch.setitem(CASES, "engine", StoreCase(place, examples=5))
    test("engine", tmp_path)
