# -*- coding: utf-8 -*-
"""The contract of all stores against a real Chroma server, by a blocking and by an asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from _chroma_server import chroma_server
from _store_world import CASES, Make, StoreCase
from _whole_contract import SharedTest, shared_tests

from agentscope_reme.vector_store import ChromaVectorStore

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(CASES["chroma"].missing()), reason="chromadb is not installed")]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with chroma_server(tmp_path_factory.mktemp("server") / "data") as number:
        yield number


@pytest.mark.parametrize("client", ["blocking", "asynchronous"])
@pytest.mark.parametrize("test", shared_tests(), ids=lambda test: test.__name__)
def test_a_server_keeps(
    test: SharedTest, client: str, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @asynccontextmanager
    async def place(_folder: Path) -> AsyncIterator[Make]:
        import chromadb

        options: dict[str, Any] = {"url": f"http://127.0.0.1:{port}"}
        if client == "asynchronous":
            options = {"client": await chromadb.AsyncHttpClient("127.0.0.1", port)}
        yield lambda collection: ChromaVectorStore(f"{client}_{collection}", **options)

    monkeypatch.setitem(CASES, "server", StoreCase(place, examples=5))
    test("server", tmp_path)
