# -*- coding: utf-8 -*-
"""What only the Elasticsearch store does, against the stand-in, which refuses what the API would refuse."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from _elastic_stub import ElasticStub
from _store_world import CASES, SPACE, ask, note, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, VectorSpaceError, VectorStoreError
from agentscope_reme.record import Condition, MemoryNode, matches, parse_filters
from agentscope_reme.vector_store import ElasticsearchVectorStore, VectorSpace
from agentscope_reme.vector_store._elasticsearch_terms import term

MISSING = CASES["elasticsearch"].missing()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(MISSING), reason=MISSING)]

Make = Callable[..., ElasticsearchVectorStore]


def run(body: Callable[[ElasticStub, Make], Awaitable[None]]) -> None:
    async def inside() -> None:
        async with place() as (stub, make):
            await body(stub, make)

    asyncio.run(inside())


@asynccontextmanager
async def place() -> AsyncIterator[tuple[ElasticStub, Make]]:
    made: list[ElasticsearchVectorStore] = []
    with ElasticStub() as stub:

        def make(name: str = "memories", **options: Any) -> ElasticsearchVectorStore:
            made.append(ElasticsearchVectorStore(options.pop("url", stub.url), name, **options))
            return made[-1]

        try:
            yield stub, make
        finally:
            for store in made:
                await store.close()


async def letters(given: Sequence[str]) -> list[np.ndarray]:
    return [np.array([len(text), text.count("a"), text.count("e"), 1], dtype=np.float32) for text in given]


# ---------------------------------------------------------------------- terms

NUMBERS = st.one_of(
    st.sampled_from([0, 0.0, -0.0, 1, 1.0, 2**53, 2**53 + 1, float(2**53), 10**23, 1e23, -(10**23), 5e-324, 1.7e308]),
    st.sampled_from([math.inf, -math.inf, 10**300 + 1, float(10**300), 10**300]),
    st.integers(),
    st.floats(allow_nan=False),
)


@given(NUMBERS, NUMBERS)
def test_terms_of_numbers_are_in_the_order_of_the_numbers(one: float, other: float) -> None:
    a, b = term("metadata.x", one), term("metadata.x", other)
    assert (a < b, a == b) == (one < other, one == other)


@given(st.text(max_size=8), st.text(max_size=8))
def test_terms_of_texts_are_in_the_order_of_the_texts(one: str, other: str) -> None:
    if "\0" not in one + other:
        a, b = term("author", one).encode(), term("author", other).encode()
        assert (a < b, a == b) == (one < other, one == other)


def test_long_texts_that_begin_alike_are_not_equal() -> None:
    one, other = "长" * 20_000 + "a", "长" * 20_000 + "b"
    assert term("author", one) != term("author", other)
    assert len(term("author", one).encode()) < 32_766


TEXTS = st.sampled_from(["", "a", "A", "Ä", "ﬀ", "ΑΣ", "*", "?", "a*b", "\\", "\x1f", "中", "😀", "𐐀", "\x1fs", "a?b"])
FIELDS = st.sampled_from(["metadata.x", "metadata.x\x1fs", "metadata.é", "author", "tags", "content", "score"])


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    operator = draw(st.sampled_from(["equal", "any_of", "range", "contains"]))
    field = draw(FIELDS)
    if operator == "range":
        kind = draw(st.sampled_from([NUMBERS, TEXTS]))
        return Condition(field, "range", (draw(st.none() | kind), draw(st.none() | kind)))
    scalar = st.one_of(NUMBERS, TEXTS, st.booleans())
    if operator == "any_of":
        return Condition(field, "any_of", tuple(draw(st.lists(scalar, max_size=3))))
    return Condition(field, operator, (draw(TEXTS if operator == "contains" else st.none() | scalar),))


@st.composite
def memories(draw: st.DrawFn) -> MemoryNode:
    values = st.one_of(NUMBERS, TEXTS, st.booleans(), st.just(math.nan), st.lists(TEXTS, max_size=2))
    keys = st.sampled_from(["x", "x\x1fs", "é"])
    return MemoryNode(
        draw(TEXTS) + "x",
        score=draw(st.sampled_from([0.0, -0.0, 0.1, 1e300])),
        author=draw(TEXTS),
        tags=tuple(draw(st.lists(TEXTS, max_size=2))),
        metadata=draw(st.dictionaries(keys, values, max_size=2)),
    )


@given(
    st.lists(memories(), min_size=5, max_size=15, unique_by=lambda node: node.key),
    st.lists(conditions(), min_size=15, max_size=30),
)
def test_filters_are_exact_where_numbers_and_texts_are_odd(
    nodes: Sequence[MemoryNode], tried: Sequence[Condition]
) -> None:
    async def body(_: ElasticStub, make: Make) -> None:
        store = make(refresh=True)
        await store.open(None)
        await store.write(nodes)
        for condition in tried:
            wanted = {node.key for node in nodes if matches(node, [condition])}
            assert {node.key for node in await store.find([condition])} == wanted, condition

    run(body)


# ---------------------------------------------------------------------- what is sent


def test_names_of_any_alphabet_become_names_of_indexes() -> None:
    names = ["记忆", "a b", "UPPER", "upper", "x" * 500, "-", "_x", "a,b*", "😀", "../x", "\ud83d"]

    async def body(stub: ElasticStub, make: Make) -> None:
        stores = [make(name) for name in names]
        for number, store in enumerate(stores):
            await store.open(SPACE)
            await store.write([note(f"of {number}", [1, 0, 0, number])])
        for number, store in enumerate(stores):
            assert texts(await store.find()) == [f"of {number}"]
        assert await stores[0].collections() == sorted(names)
        assert all(index.startswith("reme-") for index in stub.indexes)

    run(body)


def test_indexes_of_another_prefix_or_of_others_are_left_alone() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        stub.handle("PUT", "/reme-theirs", "application/vnd.elasticsearch+json; compatible-with=9", b"{}")
        mine, yours = make("memories"), make("memories", index_prefix="team.b-")
        await mine.open(SPACE)
        await yours.open(None)
        await mine.write([note("tea", [1, 0, 0, 0])])
        assert await yours.count() == 0
        assert await mine.collections() == await yours.collections() == ["memories"]
        await mine.drop()
        assert await yours.collections() == ["memories"]
        assert len(stub.indexes) == 2  # theirs and yours

    run(body)


def test_options_go_to_the_index_and_the_client() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make(
            settings={"number_of_shards": 3, "index": {"refresh_interval": "5s"}},
            index_options={"type": "int8_hnsw", "m": 32},
            headers={"x-team": "b"},
            request_timeout=5,
        )
        await store.open(SPACE)
        (index,) = stub.indexes.values()
        assert index.settings["number_of_shards"] == 3
        assert index.settings["index.similarity.reme.k1"] == 0.9
        assert index.mappings["properties"]["vector"]["index_options"] == {"type": "int8_hnsw", "m": 32}
        assert index.mappings["_meta"]["agentscope_reme"]["model"] == SPACE.model

    run(body)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({}, "url"),
        ({"url": "http://localhost:9200", "cloud_id": "x"}, "cloud_id"),
        ({"url": "http://localhost:9200", "colour": 1}, "colour"),
        ({"url": "http://localhost:9200", "refresh": "soon"}, "refresh"),
        ({"url": "http://localhost:9200", "index_prefix": "Upper*"}, "index_prefix"),
        ({"url": "http://localhost:9200", "collection_name": ""}, "collection_name"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        ElasticsearchVectorStore(**options)


@pytest.mark.parametrize("refresh", [True, "wait_for"])
def test_what_was_written_is_found(refresh: bool | str) -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make(refresh=refresh)
        await store.open(SPACE)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(1_300)])
        assert len(await store.search(np.ones(4), 2_000)) == 1_300
        assert sum(path.endswith("_bulk") for _, path in stub.requests) == 3  # in pieces, refreshed at the end
        await store.write([note("tea")], delete=[note("memory 0").key])
        assert await store.count() == 1_300
        await store.patch({note("tea").key: {"importance": 0.9}})
        assert texts(await store.find(parse_filters({"importance": 0.9}))) == ["tea"]

    run(body)


def test_without_refresh_a_write_does_not_wait() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make(refresh=False)
        await store.open(SPACE)
        await store.write([note("tea", [1, 0, 0, 0])])
        assert await store.count() == 0
        assert (await store.get([note("tea").key])).keys() == {note("tea").key}  # by key it is there at once
        await store.patch({note("tea").key: {"author": "bob"}})
        assert [node.author for node in await store.find()] == ["bob"]  # what is read page by page is complete

    run(body)


# ---------------------------------------------------------------------- when the server is busy, or refuses


def test_what_the_server_was_too_busy_for_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr("agentscope_reme.vector_store._elasticsearch_table.asyncio.sleep", pause)

    async def body(stub: ElasticStub, make: Make) -> None:
        store = make()
        await store.open(SPACE)
        stub.refuse_bulk(4)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(3)])
        assert await store.count() == 3
        assert pauses == sorted(pauses)
        stub.refuse_bulk(100)
        with pytest.raises(VectorStoreError, match="queue is full"):
            await store.write([note("more")])
        stub.refuse_bulk(0)
        assert await store.count() == 3

    run(body)


def test_a_refused_document_is_told_with_the_server_s_words() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make()
        await store.open(SPACE)
        (index,) = stub.indexes.values()
        index.mappings["properties"]["vector"]["dims"] = 8
        with pytest.raises(VectorStoreError, match=r"refused 1 of 2 documents.*4 dims, not 8"):
            await store.write([note("tea", [1, 0, 0, 0]), note("coffee")])

    run(body)


def test_a_server_that_is_not_there_is_told() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make(url="http://127.0.0.1:9", max_retries=0)
        with pytest.raises(VectorStoreError, match="Elasticsearch"):
            await store.open(SPACE)

    run(body)


def test_an_index_that_was_removed_is_told() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        here, there = make(), make()
        await here.open(SPACE)
        await there.open(SPACE)
        await here.write([note("tea", [1, 0, 0, 0])])
        await there.reindex(VectorSpace("same length", 4), letters)
        for call in (lambda: here.search(np.ones(4), 5), lambda: here.write([note("x")]), lambda: here.count()):
            with pytest.raises(VectorStoreError, match="index_not_found"):
                await call()
        await here.close()
        with pytest.raises(VectorSpaceError, match="same length"):
            await here.open(SPACE)

    run(body)


def test_an_index_of_a_later_format_is_left_alone() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make()
        await store.open(SPACE)
        await store.close()
        (index,) = stub.indexes.values()
        index.mappings["_meta"]["agentscope_reme"]["format"] = 99
        with pytest.raises(VectorStoreError, match=r"99.*later version"):
            await store.open(SPACE)

    run(body)


# ---------------------------------------------------------------------- collections and clients


def test_stores_that_open_one_collection_at_once_make_one_index() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        stores = [make() for _ in range(5)]
        await asyncio.gather(*(store.open(SPACE) for store in stores))
        assert len(stub.indexes) == 1
        await stores[0].write([note("tea", [1, 0, 0, 0])])
        assert [await store.count() for store in stores] == [1] * 5

    run(body)


def test_the_new_index_takes_the_place_of_the_old_one() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make()
        await store.open(SPACE)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(30)])
        (old,) = stub.indexes
        assert await store.reindex(VectorSpace("wide", 4), letters) == 30
        (new,) = stub.indexes
        assert new != old
        assert len(await store.search(np.ones(4), 50)) == 30
        assert [path for _, path in stub.requests].count("/_aliases") == 1

    run(body)


def test_the_server_sorts_what_is_listed_with_a_limit() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        store = make()
        await store.open(None)
        await store.write([note(f"memory {n}", importance=n / 100, author="ab"[n % 2]) for n in range(90)])
        before = len(stub.requests)
        assert texts(await store.find(limit=2, sort_key="importance")) == ["memory 89", "memory 88"]
        found = await store.find(limit=90, sort_key="author", reverse=False)
        assert [node.author for node in found] == ["a"] * 45 + ["b"] * 45
        assert len(stub.requests) == before + 2

    run(body)


def test_a_client_of_the_caller_s_is_used_and_not_closed() -> None:
    async def body(stub: ElasticStub, make: Make) -> None:
        from elasticsearch import AsyncElasticsearch

        async with AsyncElasticsearch(stub.url) as client:
            store = ElasticsearchVectorStore(client=client)
            ledger = store.companion("ledger")
            await store.open(SPACE)
            await ledger.open(None)
            await store.write([note("tea", [1, 0, 0, 0])])
            await store.close()
            assert await ledger.collections() == ["reme", "reme_ledger"]
            await ledger.close()
            assert (
                len((await client.indices.get(index="reme-*", filter_path=["*.aliases", "*.mappings._meta"])).body) == 2
            )

    run(body)


def test_a_store_lives_through_several_event_loops() -> None:
    with ElasticStub() as stub:
        store = ElasticsearchVectorStore(stub.url)

        async def first() -> None:
            await store.open(SPACE)
            await store.write([note("绿茶", [1, 0, 0, 0])])

        async def second() -> None:
            assert texts(await store.keyword_search(ask("绿茶"), 5)) == ["绿茶"]
            await store.close()

        for part in (first(), second()):
            asyncio.run(part)
