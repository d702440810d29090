# -*- coding: utf-8 -*-
"""What is Chroma's own: its limits, its faults, its options, and changing over from one collection to another."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _store_world import SPACE, Make, ask, cosine, fresh_name, note, opened, run, texts

from agentscope_reme._errors import ConfigError, VectorStoreError
from agentscope_reme.record import MemoryNode, matches, parse_filters
from agentscope_reme.vector_store import ChromaVectorStore, VectorSpace, VectorStore
from agentscope_reme.vector_store._chroma_tables import ChromaTables

chromadb = pytest.importorskip("chromadb")

pytestmark = pytest.mark.slow  # another store than the default: with the slow tests, in CI

NEW = VectorSpace("new-model", 3)


def random_vectors(count: int, seed: int = 0) -> list[list[float]]:
    return np.random.default_rng(seed).normal(size=(count, 4)).tolist()


async def letters(given: Sequence[str]) -> list[np.ndarray]:
    return [np.array([len(text), text.count("a"), 1], dtype=np.float32) for text in given]


def raw_client(folder: Path) -> Any:
    """A client of the folder that `_place_chroma` uses, as somebody else would open it."""
    from chromadb.config import Settings

    return chromadb.PersistentClient(str(folder / "用户 记忆"), settings=Settings(anonymized_telemetry=False))


# ---------------------------------------------------------------------- limits


def test_a_huge_list_and_a_huge_dictionary_break_nothing(tmp_path: Path) -> None:
    """chroma#1298, mem0#6923: some 5,000 values of one record break a collection for good."""
    many = tuple(f"t{n}" for n in range(20_000))
    keys = {f"k{n}": n for n in range(9_000)}

    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note("many tags", [1, 0, 0, 0], tags=many, source_ids=("s",))])
        await store.write([note("many keys", [0, 1, 0, 0], metadata=keys)])
        await store.write([note("plain", [0, 0, 1, 0], tags=("t19999", "x"), metadata={"k8999": 8_999})])
        await store.patch({note("plain").key: {"entities": many}})
        for spec, wanted in {
            ("tags", "t19999"): ["many tags", "plain"],
            ("tags", "t3"): ["many tags"],
            ("tags", "x"): ["plain"],
            ("metadata.k8999", 8_999): ["many keys", "plain"],
            ("entities", "t19998"): ["plain"],
            ("source_ids", "s"): ["many tags"],
        }.items():
            conditions = parse_filters(dict([spec]))
            assert sorted(texts(await store.find(conditions))) == wanted
            assert await store.count(conditions) == len(wanted)
            assert sorted(texts(await store.search(np.ones(4), 9, conditions))) == wanted
        assert (await store.get([note("many tags").key]))[note("many tags").key].tags == many

    run("chroma", tmp_path, body)


def test_writes_are_cut_to_what_the_server_takes(tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        table = store._table  # type: ignore[attr-defined]
        table._connection.most = 7
        sizes: list[int] = []
        upsert = table.collection.upsert

        def counted(**asked: Any) -> None:
            sizes.append(len(asked["ids"]))
            upsert(**asked)

        table.collection.upsert = counted
        nodes = [note(f"memory {n}", vector) for n, vector in enumerate(random_vectors(40))]
        await store.write(nodes)
        await store.patch({node.key: {"importance": 0.9} for node in nodes})
        assert sizes == [7, 7, 7, 7, 7, 5]
        await store.write(delete=[node.key for node in nodes[:30]])
        assert [node.importance for node in await store.find()] == [0.9] * 10

    run("chroma", tmp_path, body)


@pytest.mark.slow
def test_more_than_the_real_limit_at_once(tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        most = store._tables._connection.most  # type: ignore[attr-defined]
        nodes = [note(f"memory {n}", vector) for n, vector in enumerate(random_vectors(most + 100))]
        await store.write(nodes)
        assert await store.count() == most + 100
        assert len(await store.get([node.key for node in nodes])) == most + 100
        wanted = parse_filters({"memory_id": {"any_of": [node.memory_id for node in nodes]}})
        assert await store.count(wanted) == most + 100
        await store.write(delete=[node.key for node in nodes])
        assert await store.count() == 0

    run("chroma", tmp_path, body)


# ---------------------------------------------------------------------- nothing lost, nothing from others


def test_no_place_is_lost_whatever_is_left_out(tmp_path: Path) -> None:
    """More than the index looks at by itself, conditions that only Python can decide, memories without vectors."""
    owners, words = ["alice", "bob"], ["tea", "Coffee", "water"]
    nodes = [
        note(f"{words[n % 3]} {n}", None if n % 10 == 9 else vector, owners[n % 2], access_count=n)
        for n, vector in enumerate(random_vectors(900))
    ]
    specs: list[dict[str, Any]] = [
        {},
        {"target": "alice"},
        {"content": {"contains": "coffee"}},
        {"target": "bob", "content": {"contains": "COFFEE 85"}},
        {"access_count": [100, 450], "content": {"contains": "tea"}},
        {"expires_at": None, "access_count": [0, 3]},
    ]

    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write(nodes)
        query = np.array([1, -1, 0.5, 0])
        for spec in specs:
            conditions = parse_filters(spec)
            kept = [node for node in nodes if node.vector is not None and matches(node, conditions)]
            best = sorted((cosine(query, node.vector) for node in kept), reverse=True)  # type: ignore[arg-type]
            for limit in (1, 20, 150, 1_000):
                hits = await store.search(query, limit, conditions)
                assert len(hits) == min(limit, len(kept)), (spec, limit)
                assert [hit.score for hit in hits] == pytest.approx(best[:limit], abs=1e-4), (spec, limit)

    run("chroma", tmp_path, body)


def test_lists_of_a_collection_that_was_removed_do_not_come_back(tmp_path: Path) -> None:
    """chroma-core/chroma#7594: the rows of a removed collection's lists fall to the next records."""

    async def body(make: Make) -> None:
        for by_hand in (False, True):
            store = await opened(make)
            await store.write(
                [note(f"old {n}", [1, 0, 0, n], tags=("secret",), metadata={"l": ["x"]}) for n in range(5)]
            )
            if by_hand:
                raw_client(tmp_path).delete_collection(store.collection_name)
            else:
                await store.drop()
            other = await opened(make)
            await other.write([note("plain", [1, 0, 0, 0]), note("tagged", [0, 1, 0, 0], tags=("own",))])
            assert await other.find(parse_filters({"tags": "secret"})) == []
            assert await other.count(parse_filters({"metadata.l": "x"})) == 0
            assert texts(await other.find(parse_filters({"tags": "own"}))) == ["tagged"]
            await other.drop()

    run("chroma", tmp_path, body)


def test_a_dropped_collection_leaves_nothing_to_others(tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note(f"old {n}", [1, 0, 0, n], tags=("secret",)) for n in range(5)])
        await store.drop()
        theirs = raw_client(tmp_path).create_collection("theirs", embedding_function=None)
        theirs.add(ids=["a", "b"], embeddings=[[1.0]] * 2, metadatas=[{"x": 1}] * 2)
        assert theirs.get()["metadatas"] == [{"x": 1}] * 2

    run("chroma", tmp_path, body)


def test_what_somebody_else_has_made_is_left_alone(tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        client = raw_client(tmp_path)
        client.create_collection("theirs", embedding_function=None).add(ids=["a"], embeddings=[[1.0, 0.0]])
        store = make("theirs")
        with pytest.raises(VectorStoreError, match="collection_name"):
            await store.open(SPACE)
        other = await opened(make, "ours")
        assert await other.collections() == ["ours"]
        assert client.get_collection("theirs", embedding_function=None).count() == 1

    run("chroma", tmp_path, body)


# ---------------------------------------------------------------------- changing over


class PowerCut(Exception):
    """The process is gone."""


@pytest.mark.parametrize("survived", [0, 1, 2, 3, 4])
def test_a_change_over_that_was_cut_off_is_completed(
    survived: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every call that changes collections, from the first one of a reindex on."""
    calls: list[str] = []

    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection)
        nodes = [note(f"memory {n}", [1, 0, 0, n], tags=("t",)) for n in range(30)]
        await store.write(nodes)
        real = ChromaTables._call

        async def cut(self: ChromaTables, action: str, function: Any, *args: Any, **asked: Any) -> Any:
            if action in ("make", "change", "remove", "rename"):
                if len(calls) == survived:
                    raise PowerCut
                calls.append(action)
            return await real(self, action, function, *args, **asked)

        with monkeypatch.context() as patch:
            patch.setattr(ChromaTables, "_call", cut)
            try:
                await store.reindex(NEW, letters)
            except PowerCut:
                pass
        await store.close()
        store = make(collection)
        await store.open(None)
        assert await store.count() == 30
        await store.reindex(NEW, letters)
        await store.close()
        await store.open(NEW)
        assert len(await store.search(np.ones(3), 99)) == 30
        assert await store.count(parse_filters({"tags": "t"})) == 30
        physical = [each.name for each in raw_client(tmp_path).list_collections()]
        assert physical == [collection]

    run("chroma", tmp_path, body)
    assert len(calls) == min(survived, 4), calls


# ---------------------------------------------------------------------- options


@pytest.mark.parametrize("kind", ["cosine", "ip", "l2"])
def test_scores_are_cosines_whatever_the_index_compares_by(kind: str, tmp_path: Path) -> None:
    async def body() -> None:
        options = {"hnsw:space": kind}
        async with ChromaVectorStore("records", persist_directory=tmp_path, **options) as store:
            await store.close()
            await store.open(SPACE)
            await store.write([note(text, v) for text, v in {"long": [9, 9, 0, 0], "near": [1, 0, 0, 0.1]}.items()])
            hits = await store.search(np.array([5, 0, 0, 0]), 5)
            assert texts(hits) == ["near", "long"]
            assert [hit.score for hit in hits] == pytest.approx([0.99504, 0.70711], abs=1e-4)
            collection = store._table.collection  # type: ignore[attr-defined]
            assert collection.configuration_json["hnsw"]["space"] == kind

    asyncio.run(body())


def test_options_of_the_index_are_passed_through(tmp_path: Path) -> None:
    async def body() -> None:
        given: dict[str, dict[str, Any]] = {
            "configuration": {"configuration": {"hnsw": {"ef_search": 77}}},
            "metadata": {"metadata": {"hnsw:search_ef": 77, "team": "blue"}},
            "plainly": {"hnsw:search_ef": 77},
        }
        for name, options in given.items():
            store = ChromaVectorStore(name, persist_directory=tmp_path, **options)
            await store.open(SPACE)
            collection = store._table.collection  # type: ignore[attr-defined]
            assert collection.configuration_json["hnsw"]["ef_search"] == 77
            assert collection.configuration_json["hnsw"]["space"] == "cosine"
            assert collection.metadata.get("team") == ("blue" if name == "metadata" else None)
            await store.write([note("tea", [1, 0, 0, 0])])
            await store.reindex(NEW, letters)
            collection = store._table.collection  # type: ignore[attr-defined]
            assert collection.configuration_json["hnsw"]["ef_search"] == 77
            assert collection.metadata.get("team") == ("blue" if name == "metadata" else None)
            await store.close()

    asyncio.run(body())


def test_wrong_options_are_refused_by_name(tmp_path: Path) -> None:
    for options, told in (
        ({}, "Nothing says where"),
        ({"persist_directory": tmp_path, "url": "http://localhost:1"}, "persist_directory and url"),
        ({"persist_directory": tmp_path, "colour": 1}, "colour"),
    ):
        with pytest.raises(ConfigError, match=told):
            ChromaVectorStore("x", **options)
    with pytest.raises(ConfigError, match="collection_name"):
        ChromaVectorStore("", persist_directory=tmp_path)


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    async def body() -> None:
        store = ChromaVectorStore(persist_directory=tmp_path / "a" / "b")
        await store.open(None)
        await store.close()

    asyncio.run(body())
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_a_client_of_the_callers_stays_open(tmp_path: Path) -> None:
    async def body() -> None:
        client = raw_client(tmp_path)
        store: VectorStore = ChromaVectorStore("mine", client=client)
        await store.open(SPACE)
        await store.write([note("tea", [1, 0, 0, 0])])
        await store.close()
        assert client.get_collection("mine", embedding_function=None).count() == 1
        client.close()

    asyncio.run(body())


def test_a_server_that_is_away_is_told() -> None:
    async def body() -> None:
        store = ChromaVectorStore(url="http://127.0.0.1:9")
        with pytest.raises(VectorStoreError, match="Chroma: open failed"):
            await store.open(SPACE)
        with pytest.raises(VectorStoreError):
            await ChromaVectorStore(host="127.0.0.1", port=9).open(None)

    asyncio.run(body())


def test_words_are_weighed_by_how_rare_they_are(tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        nodes: list[MemoryNode] = [note(f"tea of day {n}") for n in range(30)]
        await store.write([*nodes, note("ZX-4471 is the code"), note("喝茶 with a_b 100%")])
        for text, best in {
            "tea ZX-4471": "ZX-4471 is the code",
            "喝茶 tea": "喝茶 with a_b 100%",
            "a_b": "喝茶 with a_b 100%",
        }.items():
            assert texts(await store.keyword_search(ask(text), 2))[0] == best
        assert len(await store.keyword_search(ask("tea"), 100)) == 30
        assert await store.keyword_search(ask("zebra"), 5) == []

    run("chroma", tmp_path, body)
