# -*- coding: utf-8 -*-
"""What is Qdrant's own: its local mode on a disk, its options, and its REST API against a stub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _store_world import CASES, SPACE, Make, StoreCase, ask, note, texts
from _whole_contract import SharedTest, shared_tests

from agentscope_reme._errors import ConfigError, VectorStoreError
from agentscope_reme.record import parse_filters
from agentscope_reme.vector_store import QdrantVectorStore, VectorSpace, _qdrant_client
from agentscope_reme.vector_store._qdrant_options import collection_options
from agentscope_reme.vector_store._qdrant_tables import QdrantTables

qdrant_client = pytest.importorskip("qdrant_client")

from _qdrant_wire import QdrantWire  # noqa: E402 - where the client is missing, there is nothing to read requests with

pytestmark = pytest.mark.slow  # another store than the default: with the slow tests, in CI

NEW = VectorSpace("new-model", 3)


async def letters(given: Sequence[str]) -> list[np.ndarray]:
    return [np.array([len(text), text.count("a"), 1], dtype=np.float32) for text in given]


@pytest.fixture
def wire() -> Iterator[QdrantWire]:
    with QdrantWire(api_key="secret") as server:
        yield server


# ---------------------------------------------------------------------- on the wire


@pytest.mark.slow
@pytest.mark.parametrize("test", shared_tests(), ids=lambda test: test.__name__)
def test_by_url_it_keeps(test: SharedTest, wire: QdrantWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def place(_folder: Path) -> AsyncIterator[Make]:
        yield lambda collection: QdrantVectorStore(collection, url=wire.url, api_key="secret")

    monkeypatch.setitem(CASES, "wire", StoreCase(place, examples=3))
    test("wire", tmp_path)


def test_a_server_is_asked_little_and_indexes_what_is_filtered_by(wire: QdrantWire) -> None:
    async def body() -> None:
        async with QdrantVectorStore("reme", url=wire.url, api_key="secret") as store:
            await store.close()
            await store.open(SPACE)
            assert {"text.owner", "text.memory_type", "number.time_created", "list.tags"} <= wire.indexed.keys()
            calls = {
                "PUT /collections/*/points": store.write([note(f"tea {n}", [1, 0, 0, n]) for n in range(20)]),
                "POST /collections/*/points/query": store.search(np.ones(4), 5, parse_filters({"target": "alice"})),
                "POST /collections/*/points": store.get([note("tea 1").key]),
                "POST /collections/*/points/count": store.count(parse_filters({"is_active": True})),
                "POST /collections/*/points/delete": store.write(delete=[note("tea 1").key]),
                "POST /collections/*/points/scroll": store.find(limit=3, sort_key="key", reverse=False),
            }
            for request, call in calls.items():
                wire.requests.clear()
                await call
                assert [" ".join(each) for each in wire.requests] == [request]

    asyncio.run(body())


def test_a_store_by_url_serves_several_event_loops(wire: QdrantWire, monkeypatch: pytest.MonkeyPatch) -> None:
    store = QdrantVectorStore("reme", url=wire.url, api_key="secret")
    made: list[Any] = []
    make = _qdrant_client._server_client
    monkeypatch.setattr(_qdrant_client, "_server_client", lambda place: made.append(make(place)) or made[-1])

    async def first() -> None:
        await store.open(SPACE)
        with _Runner() as other:
            for turn in range(3):
                await store.write([note(f"tea {turn}", [1, 0, 0, 0])])
                await asyncio.to_thread(other.run, store.write([note(f"coffee {turn}", [0, 1, 0, 0])]))
        assert len(made) == 2

    asyncio.run(first())
    assert len(asyncio.run(store.search(np.ones(4), 9))) == 6
    asyncio.run(store.close())


class _Runner:
    """`asyncio.Runner`, which Python 3.10 does not have."""

    def __enter__(self) -> _Runner:
        self.loop = asyncio.new_event_loop()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.close()

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)


def test_failures_of_the_server_are_told_and_change_nothing(wire: QdrantWire) -> None:
    async def body() -> None:
        store = QdrantVectorStore("reme", url=wire.url, api_key="secret")
        await store.open(SPACE)
        await store.write([note("old", [1, 0, 0, 0])])
        wire.fails = lambda method, path: path.endswith("/points")
        with pytest.raises(VectorStoreError, match=r"Qdrant: write to .*500"):
            await store.write([note("new", [0, 1, 0, 0])], delete=[note("old").key])
        wire.fails = lambda method, path: False
        assert texts(await store.find()) == ["old"]
        await store.close()
        with pytest.raises(VectorStoreError, match="API key"):
            await QdrantVectorStore("reme", url=wire.url).open(SPACE)
        with pytest.raises(VectorStoreError):
            await QdrantVectorStore("reme", url="http://127.0.0.1:9").open(SPACE)

    asyncio.run(body())


def test_a_server_that_keeps_no_metadata_is_too_old() -> None:
    async def body(url: str) -> None:
        with pytest.raises(VectorStoreError, match=r"1\.16"):
            await QdrantVectorStore("reme", url=url).open(SPACE)

    with QdrantWire(keeps_metadata=False) as server:
        asyncio.run(body(server.url))


# ---------------------------------------------------------------------- local mode


def test_a_folder_keeps_the_memories(tmp_path: Path) -> None:
    async def body() -> None:
        folder = tmp_path / "用户 记忆"
        for option in ("path", "persist_directory"):
            store = QdrantVectorStore("记忆 a/b", **{option: folder})
            await store.open(SPACE)
            ledger = store.companion("ledger")
            await ledger.open(None)
            await store.write([note(option, [3, 0, 0, 4])])
            await ledger.write([note(option)])
            await store.close()
            await ledger.write([note(f"after {option}")])
            await ledger.close()
        store = QdrantVectorStore("记忆 a/b", path=folder)
        await store.open(SPACE)
        assert sorted(texts(await store.find())) == ["path", "persist_directory"]
        assert await store.collections() == ["记忆 a/b", "记忆 a/b_ledger"]
        (node, _) = (await store.get([n.key for n in await store.find()], with_vectors=True)).values()
        assert node.vector == pytest.approx([3, 0, 0, 4])
        await store.close()

    asyncio.run(body())


def test_what_is_in_memory_lives_as_long_as_the_store() -> None:
    async def body() -> None:
        store = QdrantVectorStore(location=":memory:")
        await store.open(SPACE)
        await store.write([note("tea", [1, 0, 0, 0])])
        await store.close()
        await store.open(SPACE)
        assert texts(await store.find()) == ["tea"]
        other = QdrantVectorStore(location=":memory:")
        await other.open(SPACE)
        assert await other.count() == 0

    asyncio.run(body())


def test_an_asynchronous_client_of_the_callers_stays_open() -> None:
    async def body() -> None:
        client = qdrant_client.AsyncQdrantClient(location=":memory:")
        store = QdrantVectorStore("mine", client=client)
        await store.open(SPACE)
        await store.write([note("tea ZX-4471", [1, 0, 0, 0])])
        assert texts(await store.keyword_search(ask("zx-4471"), 3)) == ["tea ZX-4471"]
        await store.close()
        assert (await client.count("mine")).count == 1
        await client.close()

    asyncio.run(body())


def test_what_somebody_else_has_made_is_left_alone() -> None:
    async def body() -> None:
        client = qdrant_client.QdrantClient(location=":memory:")
        client.create_collection("theirs", vectors_config={})
        with pytest.raises(VectorStoreError, match="collection_name"):
            await QdrantVectorStore("theirs", client=client).open(SPACE)
        ours = QdrantVectorStore("ours", client=client)
        await ours.open(SPACE)
        assert await ours.collections() == ["ours"]

    asyncio.run(body())


class PowerCut(Exception):
    """The process is gone."""


@pytest.mark.parametrize("during", ["open", "reindex"])
@pytest.mark.parametrize("survived", range(4))
def test_a_change_over_that_was_cut_off_is_completed(
    survived: int, during: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every call that changes collections, from the first one on."""
    calls: list[str] = []
    real = QdrantTables._call

    async def cut(self: QdrantTables, action: str, method: str, **asked: Any) -> Any:
        if action in ("make", "name", "remove"):
            if len(calls) == survived:
                raise PowerCut
            calls.append(action)
        return await real(self, action, method, **asked)

    async def body() -> None:
        client = qdrant_client.QdrantClient(location=":memory:")
        store = QdrantVectorStore("reme", client=client)
        nodes = [note(f"memory {n}", [1, 0, 0, n]) for n in range(30)]
        if during == "reindex":
            await store.open(SPACE)
            await store.write(nodes)
        with monkeypatch.context() as patch:
            patch.setattr(QdrantTables, "_call", cut)
            try:
                await (store.open(SPACE) if during == "open" else store.reindex(NEW, letters))
            except PowerCut:
                pass
        await store.close()
        await store.open(SPACE if during == "open" else None)
        assert await store.collections() == ["reme"]
        if during == "open":
            await store.write(nodes)
        assert await store.count() == 30
        await store.reindex(NEW, letters)
        assert len(await store.search(np.ones(3), 99)) == 30
        await store.close()
        await store.open(NEW)
        assert len(client.get_collections().collections) == 1
        assert await store.collections() == ["reme"]

    asyncio.run(body())
    assert len(calls) == min(survived, 2 if during == "open" else 3), calls


# ---------------------------------------------------------------------- options


def test_wrong_options_are_refused_by_name(tmp_path: Path) -> None:
    for options, told in (
        ({}, "Nothing says where"),
        ({"path": tmp_path, "url": "http://localhost:1"}, "url and path"),
        ({"path": tmp_path, "colour": 1}, "colour"),
    ):
        with pytest.raises(ConfigError, match=told):
            QdrantVectorStore("x", **options)
    with pytest.raises(ConfigError, match="collection_name"):
        QdrantVectorStore("", path=tmp_path)


def test_dictionaries_become_the_clients_own_objects() -> None:
    from qdrant_client import models

    options = collection_options(
        {
            "hnsw_config": {"m": 32},
            "quantization_config": {"scalar": {"type": "int8"}},
            "shard_number": 2,
            "timeout": 3,
        }
    )
    assert options["hnsw_config"] == models.HnswConfigDiff(m=32)
    assert options["quantization_config"].scalar.type == models.ScalarType.INT8
    assert options["shard_number"] == 2
    assert "timeout" not in options
