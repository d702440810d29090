# -*- coding: utf-8 -*-
"""The contract of all stores against a real Chroma server, by a blocking and by an asynchronous client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import filters_test
import pytest
import store_contract_test
import store_model_test
from _chroma_server import chroma_server
from _place_chroma import chroma_is_missing
from _store_world import CASES, Make, StoreCase

from agentscope_reme.vector_store import ChromaVectorStore

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(chroma_is_missing()), reason="chromadb is not installed")]

TESTS: list[Callable[[str, Path], None]] = [
    test
    for module in (store_contract_test, filters_test, store_model_test)
    for name, test in vars(module).items()
    if name.startswith("test_")
]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with chroma_server(tmp_path_factory.mktemp("server") / "data") as number:
        yield number


@pytest.mark.parametrize("client", ["blocking", "asynchronous"])
@pytest.mark.parametrize("test", TESTS, ids=lambda test: test.__name__)
def test_a_server_keeps(
    test: Callable[[str, Path], None], client: str, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
