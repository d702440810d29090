# -*- coding: utf-8 -*-
"""What only the PostgreSQL store does: a real server with pgvector, started from a package."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from _postgres import NAMED, own_schema, postgres_is_missing, postgres_url
from _store_world import SPACE, ask, note, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, EmbeddingError, VectorSpaceError, VectorStoreError
from agentscope_reme.record import Condition, MemoryNode, matches, parse_filters
from agentscope_reme.text import WordTokenizer
from agentscope_reme.vector_store import PgVectorStore, VectorSpace

pytestmark = [
    pytest.mark.slow,  # a server takes seconds to start
    pytest.mark.skipif(bool(postgres_is_missing()), reason=postgres_is_missing()),
]

Make = Callable[..., PgVectorStore]


def run(body: Callable[[Make], Awaitable[None]]) -> None:
    """Run a test in a schema of its own."""

    async def inside() -> None:
        async with place() as make:
            await body(make)

    asyncio.run(inside())


@asynccontextmanager
async def place() -> AsyncIterator[Make]:
    made: list[PgVectorStore] = []
    async with own_schema() as schema:

        def make(name: str = "memories", url: str = "", **options: Any) -> PgVectorStore:
            made.append(PgVectorStore(url or postgres_url(), name, schema=schema, **{"max_size": 3, **options}))
            return made[-1]

        try:
            yield make
        finally:
            for store in made:
                await store.close()


async def sql(query: str, *arguments: Any) -> list[Any]:
    """Ask the server from outside."""
    import asyncpg

    connection = await asyncpg.connect(postgres_url())
    try:
        return await connection.fetch(query, *arguments)
    finally:
        await connection.close()


async def letters(given: Sequence[str]) -> list[np.ndarray]:
    return [np.array([len(text), text.count("a"), text.count("e"), 1], dtype=np.float32) for text in given]


# ---------------------------------------------------------------------- names


def test_collections_may_have_names_of_any_alphabet_and_length() -> None:
    names = ["记忆", "a b", 'quo"te', "UPPER", "upper", "x" * 300, "x" * 301, "a'; DROP TABLE x; --", "😀", "é", "e\0"]

    async def body(make: Make) -> None:
        stores = [make(name) for name in names]
        for number, store in enumerate(stores):
            await store.open(SPACE)
            await store.write([note(f"of {number}", [1, 0, 0, number])])
        for number, store in enumerate(stores):
            assert texts(await store.find()) == [f"of {number}"]
        assert set(names) - {"e\0"} <= set(await stores[0].collections())
        await stores[0].drop()
        assert len(await stores[1].collections()) == len(names) - 1

    run(body)


def test_nothing_is_made_by_whoever_only_looks() -> None:
    async def body(make: Make) -> None:
        one, other = make("one"), make("other")
        await asyncio.gather(one.open(SPACE), other.open(SPACE), make("one").open(None))
        assert await one.collections() == ["one", "other"]

    run(body)


# ---------------------------------------------------------------------- values that PostgreSQL or JSON cannot hold

NUMBERS = st.one_of(
    st.sampled_from(
        [0, 1, -1, 0.0, -0.0, 1.0, 0.1, 2**53, 2**53 + 1, float(2**53), 10**23, 1e23, 10**400, True, False]
    ),
    st.sampled_from([math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308]),
    st.integers(),
    st.floats(allow_nan=False),
)
TEXTS = st.sampled_from(["", "a", "A", "ä", "Ä", "ﬀ", "İ", "ΑΣ", "ας", "%", "_", "\\", "中", "😀", "𐐀", "ﬂag"])
VALUES = st.one_of(NUMBERS, TEXTS, st.lists(TEXTS, max_size=3))


@st.composite
def conditions(draw: st.DrawFn) -> Condition:
    field = draw(st.sampled_from(["metadata.x", "metadata.x", "score", "author", "tags", "content", "when_to_use"]))
    operator = draw(st.sampled_from(["equal", "any_of", "range", "contains"]))
    if operator == "range":
        kind = draw(st.sampled_from([NUMBERS.filter(lambda value: not isinstance(value, bool)), TEXTS]))
        return Condition(field, "range", (draw(st.none() | kind), draw(st.none() | kind)))
    scalar = st.one_of(NUMBERS, TEXTS)
    if operator == "any_of":
        return Condition(field, "any_of", tuple(draw(st.lists(scalar, max_size=3))))
    return Condition(field, operator, (draw(TEXTS if operator == "contains" else st.one_of(st.none(), scalar)),))


def test_filters_are_exact_where_numbers_and_texts_are_odd() -> None:
    @st.composite
    def memories(draw: st.DrawFn) -> MemoryNode:
        score = draw(st.sampled_from([0.0, -0.0, 0.1, 5e-324, -1e23, float(2**53), 1e300]))
        return MemoryNode(
            draw(TEXTS) + "x",
            score=score,
            author=draw(TEXTS),
            when_to_use=draw(TEXTS),
            tags=tuple(draw(st.lists(TEXTS, max_size=2))),
            metadata={"x": draw(VALUES)} if draw(st.booleans()) else {},
        )

    async def compare(nodes: Sequence[MemoryNode], tried: Sequence[Condition]) -> None:
        async with place() as make:
            store = make()
            await store.open(None)
            await store.write(nodes)
            held = await store.get([node.key for node in nodes])
            assert all(repr(held[node.key].to_dict()) == repr(node.to_dict()) for node in nodes)
            for condition in tried:
                wanted = {node.key for node in nodes if matches(node, [condition])}
                assert {node.key for node in await store.find([condition])} == wanted, condition

    @settings(max_examples=15)
    @given(
        st.lists(memories(), min_size=8, max_size=20, unique_by=lambda node: node.key),
        st.lists(conditions(), min_size=20, max_size=40),
    )
    def law(nodes: Sequence[MemoryNode], tried: Sequence[Condition]) -> None:
        asyncio.run(compare(nodes, tried))

    law()


def test_metadata_that_is_no_json_is_refused_and_nothing_is_written() -> None:
    async def body(make: Make) -> None:
        store = make()
        await store.open(None)
        for wrong in ({"x": object()}, {"x": {1, 2}}):
            with pytest.raises(ConfigError, match="JSON"):
                await store.write([note("good"), note("bad", metadata=wrong)])
            with pytest.raises(ConfigError, match="JSON"):
                await store.write([*(note(f"good {n}") for n in range(2_000)), note("bad", metadata=wrong)])
        assert await store.count() == 0

    run(body)


# ---------------------------------------------------------------------- many


def cloud(count: int, dimensions: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, dimensions)).astype(np.float32)


def test_many_are_written_at_once_and_replaced_at_once() -> None:
    async def body(make: Make) -> None:
        store = make()
        await store.open(SPACE)
        vectors = cloud(1_200)
        nodes = [note(f"memory {n} 咖啡", vectors[n], f"user {n % 7}", when_to_use=f"on day {n}") for n in range(1_200)]
        await store.write(nodes)
        assert await store.count() == 1_200
        held = await store.get([nodes[n].key for n in (0, 601, 1_199)], with_vectors=True)
        assert all(np.array_equal(held[nodes[n].key].vector, vectors[n]) for n in (0, 601, 1_199))
        again = [note(f"memory {n} 咖啡", target=f"user {n % 7}", importance=0.9) for n in range(600)]
        await store.write(again, delete=[node.key for node in nodes[1_000:]])
        assert await store.count() == 1_000
        assert await store.count(parse_filters({"importance": 0.9, "when_to_use": None})) == 600
        assert len(await store.search(vectors[0], 2_000)) == 400
        assert len(await store.keyword_search(ask("咖啡"), 2_000)) == 1_000

    run(body)


def test_one_bad_row_of_many_leaves_the_old_state(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(make: Make) -> None:
        store = make()
        await store.open(SPACE)
        await store.write([note("old", [1, 0, 0, 0], importance=0.2)])
        with monkeypatch.context() as patch:
            patch.setattr(WordTokenizer, "tokens", lambda _self, text: 1 / 0 if text == "last" else [text])
            for count in (3, 300):
                nodes = [note(f"new {n}", [0, 1, 0, n]) for n in range(count)]
                with pytest.raises(ZeroDivisionError):
                    await store.write([note("old", importance=0.9), *nodes, note("last")], [note("old").key])
        assert [(node.content, node.importance) for node in await store.find()] == [("old", 0.2)]
        await store.write([note("new")])
        assert await store.count() == 2

    run(body)


# ---------------------------------------------------------------------- the approximate index


@pytest.mark.parametrize("dimensions", [32, 2_300])
def test_an_index_is_made_when_there_are_enough_and_finds_what_a_full_search_finds(dimensions: int) -> None:
    async def body(make: Make) -> None:
        store = make(hnsw_start=200)
        await store.open(VectorSpace("wide", dimensions))
        vectors = cloud(400, dimensions)
        nodes = [
            note(f"memory {n}", vectors[n], "ab"[n % 2], tags=("rare",) if n % 40 == 0 else ()) for n in range(400)
        ]
        await store.write(nodes[:100])
        assert await indexes(store) == 0
        await store.write(nodes[100:])
        if not await store.make_index():  # else it waits for the one that is being made
            pytest.skip("vectors so long are indexed by pgvector 0.7 or later")
        assert await indexes(store) == 1
        filters = [{}, {"target": "a"}, {"tags": "rare"}, {"owner": "personal/b"}, {"tags": "none"}]
        for number in range(10):
            for spec in filters:
                conditions = parse_filters(spec)
                query = vectors[number * 7] + 0.1
                kept = [n for n, node in enumerate(nodes) if matches(node, conditions)]
                cosines = {
                    nodes[n].key: float(query @ vectors[n] / np.linalg.norm(query) / np.linalg.norm(vectors[n]))
                    for n in kept
                }
                hits = await store.search(query, 10, conditions)
                best = sorted(cosines.values(), reverse=True)[:10]
                assert len(hits) == len(best)
                assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
                assert all(hit.score == pytest.approx(cosines[hit.node.key], abs=1e-5) for hit in hits)
                assert len(
                    {hit.node.key for hit in hits} & set(sorted(cosines, key=lambda k: -cosines[k])[:10])
                ) >= 0.7 * len(best)
        assert len(await store.search(vectors[0], 350)) == 350
        await store.close()
        await store.open(VectorSpace("wide", dimensions))
        assert (await store.search(vectors[3], 1))[0].node == nodes[3]

    run(body)


async def indexes(store: PgVectorStore) -> int:
    query = (
        "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname LIKE $1 AND indisvalid"
    )
    return (await sql(query, f"{store._access.at.relation}%hnsw"))[0][0]


def test_the_index_is_used_and_a_filter_along_it_loses_nothing() -> None:
    async def body(make: Make) -> None:
        store = make(hnsw_start=1, max_size=1)
        await store.open(SPACE)
        rng = np.random.default_rng(1)
        near, far = rng.normal(size=(900, 4)) * 0.05 + [1, 0, 0, 0], rng.normal(size=(30, 4)) * 0.05 - [1, 0, 0, 0]
        nodes = [note(f"near {n}", vector, is_active=False) for n, vector in enumerate(near)]
        nodes += [note(f"far {n}", vector) for n, vector in enumerate(far)]
        await store.write(nodes)
        await store.make_index()
        hits = await store.search(np.array([1, 0, 0, 0]), 20, parse_filters({"is_active": True}))
        assert len(hits) == 20
        assert all(text.startswith("far") for text in texts(hits))
        scans = f"SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = '{store._access.at.index}'"
        await store._access.pool.run(lambda connection: connection.execute("SELECT pg_stat_force_next_flush()"))
        assert (await sql(scans))[0][0] > 0

    run(body)


def test_vectors_too_long_for_an_index_are_searched_exactly() -> None:
    async def body(make: Make) -> None:
        store = make(hnsw_start=1)
        await store.open(VectorSpace("huge", 5_000))
        await store.write([note(f"memory {n}", np.eye(5_000, dtype=np.float32)[n]) for n in range(3)])
        assert not await store.make_index()
        assert texts(await store.search(np.eye(5_000)[1], 1)) == ["memory 1"]

    run(body)


# ---------------------------------------------------------------------- words


def test_a_rare_word_counts_for_more_than_frequent_ones() -> None:
    async def body(make: Make) -> None:
        store = make()
        await store.open(None)
        nodes = [note(f"weekly meeting about topic number {n}") for n in range(60)]
        await store.write([*nodes, note("INV-2093 was paid"), note("周五和张三喝咖啡"), note("每周五开会")])
        assert texts(await store.keyword_search(ask("which meeting was INV-2093 about?"), 3))[0] == "INV-2093 was paid"
        assert texts(await store.keyword_search(ask("周五 咖啡"), 2)) == ["周五和张三喝咖啡", "每周五开会"]
        assert len(await store.keyword_search(ask("meeting"), 10)) == 10

    run(body)


def test_words_cut_by_another_tokenizer_are_told_and_cut_again(caplog: pytest.LogCaptureFixture) -> None:
    async def body(make: Make) -> None:
        store = make(tokenizer=WordTokenizer(list, "single characters"))
        await store.open(SPACE)
        nodes = [note(f"绿茶好喝 {n}", [1, 0, 0, n]) for n in range(3)]
        await store.write(nodes)
        await store.close()
        store = make()
        await store.open(SPACE)
        assert "single characters" in caplog.text
        assert await store.reindex(SPACE, letters) == 0
        relation = store._access.at.table
        assert all("绿茶" in row[0] for row in await sql(f"SELECT words FROM {relation}"))
        caplog.clear()
        await store.close()
        await store.open(SPACE)
        assert not caplog.text

    run(body)


# ---------------------------------------------------------------------- others at work


def test_a_store_that_was_left_behind_by_a_reindex_says_so() -> None:
    async def body(make: Make) -> None:
        here, words, late, there = (make() for _ in range(4))
        await here.open(SPACE)
        await words.open(None)
        await late.open(None)
        await here.write([note("tea", [1, 0, 0, 0])])
        await there.open(None)
        await there.reindex(VectorSpace("same length", 4), letters)
        with pytest.raises(VectorSpaceError, match="same length"):
            await here.search(np.ones(4), 5)
        with pytest.raises(VectorSpaceError, match="same length"):
            await here.write([note("coffee", [0, 1, 0, 0])])
        assert texts(await here.find()) == ["tea"]
        await words.write([note("cocoa")])
        assert sorted(texts(await words.hybrid_search(ask("tea cocoa"), 5))) == ["cocoa", "tea"]
        for store, vector in ((here, [0, 1, 0, 0]), (late, [0, 1, 0, 0])):
            with pytest.raises(VectorSpaceError, match="same length"):
                await store.write([note("coffee", vector)])
        await there.drop()
        for store in (here, words):
            with pytest.raises(VectorStoreError, match="dropped"):
                await store.count()
        await here.open(SPACE)
        with pytest.raises(VectorStoreError, match="dropped"):
            await words.count()

    run(body)


def test_what_others_do_while_the_collection_is_embedded_again_is_seen() -> None:
    async def body(make: Make) -> None:
        store, other = make(), make()
        await store.open(SPACE)
        await other.open(SPACE)
        await store.write([note(f"memory {n:03}", [1, 0, 0, n], when_to_use="a" * (n % 5)) for n in range(120)])
        ordered = sorted(await store.find(), key=lambda node: node.key)
        first, last = ordered[0], ordered[-1]
        calls = 0

        async def embed(given: Sequence[str]) -> list[np.ndarray]:
            nonlocal calls
            calls += 1
            if calls == 2:  # the first page is embedded by now
                await other.write([note(first.content, [1, 0, 0, 0], when_to_use="eeeee"), note("new", [0, 0, 0, 1])])
                await other.write(delete=[last.key])
                await other.patch({ordered[1].key: {"importance": 0.9}})
                assert len(await other.search(np.ones(4), 200)) == 120
            return await letters(given)

        await store.reindex(VectorSpace("new", 4), embed)
        found = await store.get([first.key, ordered[1].key, last.key, note("new").key], with_vectors=True)
        assert last.key not in found
        assert np.array_equal(found[first.key].vector, (await letters(["eeeee"]))[0])
        assert np.array_equal(found[note("new").key].vector, (await letters(["new"]))[0])
        assert found[ordered[1].key].importance == 0.9
        assert len(await store.search(np.ones(4), 200)) == 120

    run(body)


def test_a_reindex_that_was_broken_off_can_be_left_for_another_model() -> None:
    async def body(make: Make) -> None:
        store = make()
        await store.open(SPACE)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(120)])

        async def breaks(given: Sequence[str]) -> list[np.ndarray]:
            if len(given) < 100:
                raise EmbeddingError("the model is not to be had")
            return [vector[:3] for vector in await letters(given)]

        for _ in range(2):
            with pytest.raises(EmbeddingError):
                await store.reindex(VectorSpace("short", 3), breaks)
        assert len(await store.search(np.ones(4), 200)) == 120  # the old vectors are in use
        assert await store.reindex(VectorSpace("other", 4), letters) == 120
        assert store.space == VectorSpace("other", 4)
        await store.close()
        await store.open(VectorSpace("other", 4))
        table = store._access.at.table
        columns = [
            row[0]
            for row in await sql(
                "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND NOT attisdropped", table
            )
        ]
        assert sum(name.startswith("vector_") for name in columns) == 1

    run(body)


def test_patches_at_once_lose_nothing_and_touch_no_index() -> None:
    async def body(make: Make) -> None:
        store = make(max_size=6)
        await store.open(SPACE)
        node = note("tea", [1, 0, 0, 0])
        await store.write([node])
        fields: list[dict[str, Any]] = [
            {"importance": 0.9},
            {"access_count": 5},
            {"author": "x"},
            {"tags": ("a",)},
            {"score": 0.3},
        ]
        await asyncio.gather(*(store.patch({node.key: each}) for each in fields))
        (held,) = await store.find()
        assert (held.importance, held.access_count, held.author, held.tags, held.score) == (0.9, 5, "x", ("a",), 0.3)
        await store.close()
        store = make(max_size=1)
        await store.open(SPACE)
        for count in range(20):
            await store.patch({node.key: {"access_count": count}})
        query = "SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = $1::text::regclass"
        await store._access.pool.run(lambda connection: connection.execute("SELECT pg_stat_force_next_flush()"))
        assert (await sql(query, store._access.at.table))[0][0] >= 18

    run(body)


def test_writers_of_the_same_memories_do_not_stand_in_each_other_s_way() -> None:
    async def body(make: Make) -> None:
        stores = [make() for _ in range(4)]
        await asyncio.gather(*(store.open(SPACE) for store in stores))
        nodes = [note(f"memory {n}", [1, 0, 0, n]) for n in range(80)]

        async def work(number: int) -> None:
            for turn in range(3):
                part = nodes[number * 10 : number * 10 + 50] if turn % 2 else nodes[::-1]
                await stores[number].write(part, delete=[nodes[(number + turn) % 80].key] if turn == 1 else ())

        await asyncio.gather(*(work(number) for number in range(4)))
        assert await stores[0].count() == 80

    run(body)


# ---------------------------------------------------------------------- connections


def test_a_lost_connection_is_made_anew() -> None:
    async def body(make: Make) -> None:
        store = make(max_size=2, server_settings={"application_name": "reme lost"})
        await store.open(SPACE)
        await store.write([note("tea", [1, 0, 0, 0])])
        kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reme lost'"
        assert await sql(kill)
        assert texts(await store.search(np.ones(4), 5)) == ["tea"]
        assert await sql(kill)
        await store.write([note("coffee")])
        assert await store.count() == 2

    run(body)


def test_a_server_that_cannot_be_reached_is_named_without_the_password() -> None:
    async def body(make: Make) -> None:
        here = postgres_url().replace("postgres:postgres@", "postgres:s3cret@")
        urls = ["postgresql://me:s3cret@127.0.0.1:9/db", f"{here.rsplit('/', 1)[0]}/nowhere"]
        for url in [*urls, *([here] if NAMED not in os.environ else [])]:  # a named server may trust everybody
            store = make(url=url)
            with pytest.raises(VectorStoreError) as told:
                await store.open(SPACE)
            assert "127.0.0.1" in str(told.value)
            assert "s3cret" not in str(told.value)
            with pytest.raises(ConfigError):
                await store.find(sort_key="colour")

    run(body)
    with pytest.raises(ConfigError, match="url"):
        PgVectorStore()
    with pytest.raises(ConfigError, match="hnsw_n"):
        PgVectorStore("postgresql://localhost/x", hnsw_n=3)
    with pytest.raises(ConfigError, match="collection_name"):
        PgVectorStore("postgresql://localhost/x", "")


def test_a_store_lives_through_several_event_loops() -> None:
    store = PgVectorStore(postgres_url().replace("postgresql:", "postgresql+asyncpg:"), "loops", max_size=2)
    ledger = store.companion("ledger")

    async def first() -> None:
        await store.open(SPACE)
        await ledger.open(None)
        await store.write([note("tea", [1, 0, 0, 0])])

    async def second() -> None:
        assert texts(await store.search(np.ones(4), 5)) == ["tea"]
        await ledger.write([note("old")])
        await store.drop()

    async def third() -> None:
        assert await ledger.count() == 1
        await ledger.drop()
        await ledger.close()

    for part in (first(), second(), third()):
        asyncio.run(part)


def test_a_pool_of_the_caller_s_is_used_and_not_closed() -> None:
    async def body(make: Make) -> None:
        import asyncpg

        async with asyncpg.create_pool(postgres_url(), min_size=1, max_size=2) as pool:
            store = make(pool=pool)
            await store.open(SPACE)
            await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(200)])
            assert len((await store.get([note("memory 3").key], with_vectors=True))[note("memory 3").key].vector) == 4
            assert len(await store.search(np.ones(4), 300)) == 200
            await store.close()
            assert await pool.fetchval("SELECT 1") == 1

    run(body)


def test_pgvector_may_be_installed_in_any_schema_or_not_at_all() -> None:
    async def body(make: Make) -> None:
        import asyncpg

        url = postgres_url()
        admin = await asyncpg.connect(url)
        await admin.execute('CREATE DATABASE "reme elsewhere"')
        elsewhere = url.rsplit("/", 1)[0] + "/reme%20elsewhere"
        try:
            without = make("ledger", elsewhere)
            await without.open(None)
            await without.write([note("tea")])
            assert texts(await without.hybrid_search(ask("tea"), 5)) == ["tea"]
            connection = await asyncpg.connect(elsewhere)
            await connection.execute('CREATE SCHEMA "ext e"; CREATE EXTENSION vector SCHEMA "ext e"')
            await connection.close()
            store = make("memories", elsewhere, hnsw_start=1)
            await store.open(SPACE)
            await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(90)])
            assert await store.make_index()
            assert texts(await store.search(np.array([1, 0, 0, 3]), 1)) == ["memory 3"]
            assert await store.reindex(VectorSpace("new", 4), letters) == 90
            await store.close()
            await without.close()
        finally:
            await admin.execute('DROP DATABASE "reme elsewhere" WITH (FORCE)')
            await admin.close()

    run(body)


def test_a_user_who_may_not_install_pgvector_is_told_what_to_do() -> None:
    async def body(make: Make) -> None:
        import asyncpg

        url = postgres_url()
        admin = await asyncpg.connect(url)
        await admin.execute("CREATE ROLE reme_guest LOGIN PASSWORD 'guest'")
        await admin.execute("CREATE DATABASE reme_guest_db")
        guest = url.replace("postgres:postgres@", "reme_guest:guest@").rsplit("/", 1)[0] + "/reme_guest_db"
        try:
            with pytest.raises(VectorStoreError, match="permission denied"):
                await make("memories", guest).open(None)
            connection = await asyncpg.connect(url.rsplit("/", 1)[0] + "/reme_guest_db")
            await connection.execute("CREATE SCHEMA mine AUTHORIZATION reme_guest")
            await connection.close()
            store = PgVectorStore(guest, schema="mine")
            with pytest.raises(VectorStoreError, match="CREATE EXTENSION vector"):
                await store.open(SPACE)
            await store.open(None)
            await store.write([note("tea")])
            assert await store.count() == 1
            await store.close()
        finally:
            await admin.execute("DROP DATABASE reme_guest_db WITH (FORCE)")
            await admin.execute("DROP ROLE reme_guest")
            await admin.close()

    run(body)
