# -*- coding: utf-8 -*-
"""What every store does alike, operation by operation; a row for each store, see ``_store_world``."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _store_world import CASES, SPACE, Make, ask, cosine, every_store, fresh_name, note, opened, run, same, texts

from agentscope_reme._errors import ConfigError, NotStartedError
from agentscope_reme.record import MemoryNode, parse_filters
from agentscope_reme.vector_store import VectorSpace

T0 = datetime(2026, 3, 1, 9, 30, 15, 123_456, tzinfo=timezone(timedelta(hours=8)))
FULL = MemoryNode(
    content="张三 likes “green” tea\n\tand 😀 %_\\ 'quotes'",
    memory_type="procedural",
    memory_target="张三/a b",
    when_to_use="when tea is served",
    category="preference",
    message_time=T0,
    ref_memory_id="talk-1",
    time_created=T0 + timedelta(days=1),
    time_modified=T0 + timedelta(days=2),
    author="Bob",
    score=0.7,
    vector=np.array([1, 2, 3, 4], dtype=np.float32),
    importance=0.9,
    last_accessed=T0 + timedelta(days=3),
    access_count=3,
    tags=("tea", "绿茶"),
    entities=("张三",),
    is_active=False,
    source_ids=("0123456789abcdef",),
    expires_at=T0 + timedelta(days=400),
    metadata={"lang": "zh", "n": 3, "x": 0.5, "flag": True, "list": ["a", "b"], "deep": {"a": [1, None, {"b": "c"}]}},
)


# ---------------------------------------------------------------------- memories


@every_store
def test_an_empty_collection_answers_everything_with_nothing(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        assert await store.get(["0" * 32]) == {}
        assert await store.find() == await store.find(parse_filters({"owner": "personal/alice"}), limit=3) == []
        assert await store.count() == 0
        assert await store.search(np.ones(4), 10) == []
        assert await store.hybrid_search(ask("tea"), 10, vector=np.ones(4)) == []
        assert await store.hybrid_search(ask("tea"), 10) == []
        assert [page async for page in store.pages()] == []
        await store.write()
        await store.write(delete=["0" * 32])
        assert await store.patch({"0" * 32: {"importance": 0.1}}) == 0
        if store.offers_keyword_search:
            assert await store.keyword_search(ask("tea"), 10) == []

    run(name, tmp_path, body)


@every_store
def test_a_memory_comes_back_as_it_was_given(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = await opened(make, collection)
        plain = note("nothing but content")
        await store.write([FULL, plain])
        for _ in range(2):
            found = await store.get([plain.key, FULL.key, "0" * 32, FULL.key])
            assert found.keys() == {plain.key, FULL.key}
            assert same(found[FULL.key], FULL)
            assert same(found[plain.key], plain)
            assert found[FULL.key].vector is None
            with_vectors = await store.get([plain.key, FULL.key], with_vectors=True)
            assert with_vectors[plain.key].vector is None
            vector = with_vectors[FULL.key].vector
            assert vector is not None
            assert vector.dtype == np.float32
            assert vector.shape == (4,)
            assert cosine(vector, FULL.vector) == pytest.approx(1)  # type: ignore[arg-type]
            listed = await store.find(sort_key="key", reverse=False)
            assert [each.key for each in listed] == sorted([plain.key, FULL.key])
            assert all(each.vector is None for each in listed)
            assert all(same(each, found[each.key]) for each in listed)
            await store.close()
            await store.open(SPACE)

    run(name, tmp_path, body)


@every_store
def test_texts_of_any_kind_and_length_are_kept(name: str, tmp_path: Path) -> None:
    odd = ["a\x00b", "half \ud83d a pair", "\u2028\r\n\x1b[0m", "é" * 60_000, "end"]

    async def body(make: Make) -> None:
        store = await opened(make)
        metadata = {"long": "长" * 50_000, **{f"k{n}": n for n in range(300)}, "odd": odd[:3], "键": {"x": odd[0]}}
        nodes = [
            note(
                content,
                [1, 0, 0, n],
                target=content[:9],
                when_to_use=content[:200],
                author=content[:5],
                tags=(content[:5],),
            )
            for n, content in enumerate(odd)
        ]
        nodes.append(note("with much beside it", metadata=metadata))
        await store.write(nodes)
        found = await store.get([node.key for node in nodes])
        assert all(same(found[node.key], node) for node in nodes)
        for node in nodes[:5]:
            conditions = parse_filters(
                {"owner": node.owner, "tags": node.tags[0], "content": {"contains": node.content[1:9]}}
            )
            assert texts(await store.find(conditions)) == [node.content]
            assert texts(await store.search(np.array([1, 0, 0, 0]), 9, conditions)) == [node.content]

    run(name, tmp_path, body)


@every_store
def test_writing_under_a_key_that_is_there_replaces_the_memory(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        old = note("likes tea", [1, 0, 0, 0], when_to_use="in the morning", tags=("a",), metadata={"n": 1})
        new = note("likes tea", [0, 1, 0, 0], when_to_use="at night", tags=("b",), importance=0.9)
        await store.write([old])
        assert texts(await store.search(np.array([1, 0, 0, 0]), 1)) == ["likes tea"]
        assert texts(await store.hybrid_search(ask("morning"), 5)) == ["likes tea"]
        await store.write([new])
        assert await store.count() == 1
        assert same((await store.get([old.key]))[old.key], new)
        assert [hit.score for hit in await store.search(np.array([1, 0, 0, 0]), 5)] == pytest.approx([0])
        assert await store.hybrid_search(ask("morning"), 5) == []
        assert texts(await store.hybrid_search(ask("night"), 5)) == ["likes tea"]
        assert (
            await store.find(parse_filters({"tags": "a"})) == await store.find(parse_filters({"metadata.n": 1})) == []
        )
        await store.write([note("likes tea")])
        assert await store.search(np.array([0, 1, 0, 0]), 5) == []

    run(name, tmp_path, body)


@every_store
def test_of_equal_keys_in_one_write_the_last_stays(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([note("tea", [1, 0, 0, 0], author="a"), note("x"), note("tea", [0, 1, 0, 0], author="b")])
        assert await store.count() == 2
        (hit,) = await store.search(np.array([0, 1, 0, 0]), 5)
        assert (hit.node.author, hit.score) == ("b", pytest.approx(1))

    run(name, tmp_path, body)


@every_store
def test_two_owners_may_hold_the_same_text(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        owners = ["alice", "Alice", "alice/b", "bob", ""]
        nodes = [note("likes tea", [1, 0, 0, n], target) for n, target in enumerate(owners)]
        await store.write(nodes)
        assert await store.count() == 5
        assert await store.owners() == sorted(node.owner for node in nodes)
        assert await store.owners(parse_filters({"owner": nodes[1].owner})) == [nodes[1].owner]
        for node in nodes:
            mine = parse_filters({"owner": node.owner})
            assert [each.key for each in await store.find(mine)] == [node.key]
            assert [hit.node.key for hit in await store.search(np.array([1, 0, 0, 0]), 9, mine)] == [node.key]
            assert [hit.node.key for hit in await store.hybrid_search(ask("tea"), 9, conditions=mine)] == [node.key]
            assert [hit.node.memory_target for hit in await store.hybrid_search(ask("tea"), 9, conditions=mine)] == [
                node.memory_target
            ]
        await store.write(delete=[nodes[0].key])
        left = await store.find(sort_key="memory_target", reverse=False)
        assert [each.memory_target for each in left] == ["Alice", "alice/b", "bob", ""]

    run(name, tmp_path, body)


@every_store
def test_what_is_deleted_is_gone_and_the_rest_keeps_its_texts(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        eye = np.eye(4)
        a, b, c, d = (note(text, eye[n]) for n, text in enumerate(["apple", "banana", "cherry", "damson"]))
        await store.write([a, b, c])
        await store.write(delete=[b.key])
        await store.write([d])
        for node, vector in zip((a, b, c, d), eye, strict=True):
            best = (await store.search(vector, 9))[0]
            assert (best.node.content == node.content and best.score == pytest.approx(1)) is (node is not b)
            found = texts(await store.hybrid_search(ask(node.content), 9))
            assert found == ([] if node is b else [node.content])
        assert sorted(texts(await store.search(np.ones(4), 9))) == ["apple", "cherry", "damson"]
        await store.write([b], delete=[b.key, a.key])  # what is inserted too stays
        assert sorted(texts(await store.find())) == ["banana", "cherry", "damson"]
        await store.write([a, b])
        assert texts(await store.search(eye[1], 1)) == ["banana"]

    run(name, tmp_path, body)


@every_store
def test_ten_thousand_keys_are_deleted_at_once(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        nodes = [note(f"memory {n}", [1, n, 0, 0]) for n in range(300)]
        await store.write(nodes)
        assert len(await store.search(np.ones(4), 1_000)) == 300
        await store.write(delete=[*(f"{n:032x}" for n in range(9_800)), *(node.key for node in nodes[:200])])
        assert await store.count() == 100
        assert len(await store.search(np.ones(4), 1_000)) == 100
        assert len(await store.get([node.key for node in nodes])) == 100

    run(name, tmp_path, body)


# ---------------------------------------------------------------------- find


@every_store
def test_memories_are_listed_in_any_order(name: str, tmp_path: Path) -> None:
    nodes = [
        note("a", importance=0.2, message_time=T0, author="b", metadata={"x": 10, "s": "é"}),
        note("b", importance=0.2, message_time=None, author="", metadata={"x": "2", "s": "z"}),
        note("c", importance=0.9, message_time=T0 - timedelta(days=1), author="B", metadata={"x": 2.5, "s": "Z"}),
        note("d", importance=0.5, message_time=T0 + timedelta(seconds=1), author="中", metadata={"x": True}),
        note("e", importance=0.0, message_time=T0, author="😀", metadata={"x": ["2"], "s": ""}),
    ]

    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write(nodes)
        by_key = sorted(nodes, key=lambda node: node.key)

        def order(value: Any, reverse: bool) -> list[str]:
            there = [node for node in by_key if value(node) is not None]
            return texts(sorted(there, key=value, reverse=reverse) + [node for node in by_key if node not in there])

        mixed = {"a": (0, 10), "b": (1, "2"), "c": (0, 2.5), "d": (0, 1), "e": None}
        keys = {
            "importance": lambda node: node.importance,
            "message_time": lambda node: node.message_time,
            "author": lambda node: node.author or None,
            "content": lambda node: node.content,
            "metadata.s": lambda node: node.metadata.get("s") or None,
            "metadata.x": lambda node: mixed[node.content],
            "metadata.none": lambda _: None,
        }
        for sort_key, value in keys.items():
            for reverse in (False, True):
                for limit in (None, 2, 0, 99):
                    found = await store.find(limit=limit, sort_key=sort_key, reverse=reverse)
                    assert texts(found) == order(value, reverse)[:limit], (sort_key, reverse, limit)
        for wrong in ("colour", "tags", "metadata."):
            with pytest.raises(ConfigError, match=r"metadata\.<key>"):
                await store.find(sort_key=wrong)

    run(name, tmp_path, body)


@every_store
def test_all_memories_are_read_page_by_page(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        nodes = [note(f"memory {n}", target="ab"[n % 2]) for n in range(25)]
        await store.write(nodes)
        pages = [page async for page in store.pages(size=7)]
        assert [len(page) for page in pages] == [7, 7, 7, 4]
        assert [node.key for page in pages for node in page] == sorted(node.key for node in nodes)
        mine = [page async for page in store.pages(parse_filters({"target": "a"}), size=13)]
        assert [len(page) for page in mine] == [13]
        async for page in store.pages(size=5):  # what is deleted while it is read is no reason to skip others
            await store.write(delete=[node.key for node in page])
        assert await store.count() == 0

    run(name, tmp_path, body)


# ---------------------------------------------------------------------- patch


@every_store
def test_a_patch_changes_fields_and_nothing_else(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        other = note("other", [0, 1, 0, 0])
        await store.write([FULL, other])
        changes: dict[str, Any] = {
            "is_active": True,
            "importance": 0.1,
            "tags": ("new",),
            "access_count": 9,
            "last_accessed": T0,
            "expires_at": None,
            "category": "",
            "author": "张三",
            "message_time": T0 + timedelta(hours=1),
            "metadata": {"successor": "ab"},
        }
        assert await store.patch({FULL.key: changes, "0" * 32: {"importance": 0.5}, other.key: {}}) == 2
        after = (await store.get([FULL.key], with_vectors=True))[FULL.key]
        assert same(after, replace(FULL, **changes))
        assert after.vector is not None
        assert cosine(after.vector, FULL.vector) == pytest.approx(1)
        assert same((await store.get([other.key]))[other.key], other)
        for spec in (
            {"is_active": True, "tags": "new"},
            {"metadata.successor": "ab"},
            {"expires_at": None, "category": None},
        ):
            both = parse_filters({**spec, "owner": FULL.owner})
            assert [node.key for node in await store.find(both)] == [FULL.key]
            assert [hit.node.key for hit in await store.search(np.ones(4), 9, both)] == [FULL.key]
        gone = parse_filters({"tags": "tea"})
        assert await store.find(gone) == await store.search(np.ones(4), 9, gone) == []
        (hit,) = await store.hybrid_search(ask("green"), 9)
        assert same(hit.node, after)

    run(name, tmp_path, body)


@every_store
def test_a_patch_of_what_identity_or_vector_depend_on_is_refused(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([FULL])
        for wrong in (
            {"content": "x"},
            {"memory_target": "bob"},
            {"when_to_use": "x"},
            {"vector": None},
            {"colour": 1},
        ):
            with pytest.raises(ConfigError, match=next(iter(wrong))):
                await store.patch({FULL.key: {"importance": 0.2, **wrong}})
        with pytest.raises(ConfigError, match="importance"):
            await store.patch({FULL.key: {"importance": 2}})
        assert same((await store.get([FULL.key]))[FULL.key], FULL)

    run(name, tmp_path, body)


# ---------------------------------------------------------------------- collections


@every_store
def test_a_companion_is_a_collection_of_its_own(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        ledger = store.companion("ledger")
        assert ledger.collection_name == f"{store.collection_name}_ledger"
        with pytest.raises(NotStartedError):
            await ledger.count()
        await ledger.open(None)
        await store.write([note("tea", [1, 0, 0, 0])])
        await ledger.write([note("tea", target="personal/alice", memory_type="version")])
        assert (await store.count(), await ledger.count()) == (1, 1)
        assert {store.collection_name, f"{store.collection_name}_ledger"} <= set(await store.collections())
        assert await store.collections() == sorted(await ledger.collections())
        await store.close()
        assert (await ledger.find())[0].memory_type == "version"
        await ledger.close()
        await store.open(SPACE)
        assert [hit.node.memory_type for hit in await store.search(np.ones(4), 5)] == ["personal"]
        await store.drop()
        await ledger.open(None)
        assert await ledger.count() == 1
        assert store.collection_name not in await ledger.collections()

    run(name, tmp_path, body)


@every_store
def test_what_is_dropped_is_gone_and_can_be_made_anew(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)
        await store.write([FULL, note("tea", [1, 0, 0, 0])])
        assert len(await store.search(np.ones(4), 5)) == 2
        await store.drop()
        await store.close()
        await store.open(VectorSpace("another", 2))
        assert store.collection_name in await store.collections()
        assert await store.count() == 0
        assert await store.search(np.ones(2), 5) == await store.hybrid_search(ask("tea"), 5) == []
        await store.write([note("tea", [1, 0])])
        assert texts(await store.search(np.ones(2), 5)) == ["tea"]

    run(name, tmp_path, body)


@every_store
def test_a_closed_store_says_so_and_can_be_opened_again(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        collection = fresh_name()
        store = make(collection)
        await store.close()
        async with await opened(make, collection) as same_store:
            await same_store.write([note("tea", [1, 0, 0, 0])])
        calls = [
            lambda: store.write([note("x")]),
            lambda: store.get(["x"]),
            lambda: store.find(),
            lambda: store.count(),
            lambda: store.search(np.ones(4), 3),
            lambda: store.hybrid_search(ask("x"), 3, vector=np.ones(4)),
            lambda: store.patch({"x": {"importance": 0.1}}),
            lambda: store.collections(),
            lambda: store.drop(),
        ]
        for call in calls:
            with pytest.raises(NotStartedError, match=store.collection_name):
                await call()
        await store.open(SPACE)
        await store.open(SPACE)
        assert texts(await store.search(np.ones(4), 5)) == ["tea"]
        await store.close()
        await store.close()
        with pytest.raises(NotStartedError):
            await store.count()

    run(name, tmp_path, body)


# ---------------------------------------------------------------------- several at once


@every_store
def test_tasks_may_write_at_once(name: str, tmp_path: Path) -> None:
    async def body(make: Make) -> None:
        store = await opened(make)

        async def write(number: int) -> None:
            await store.write([note("everybody's", [1, 0, 0, 0]), note(f"of {number}", [0, 1, 0, number])])
            assert f"of {number}" in texts(await store.search(np.ones(4), 99))
            await store.patch({note("everybody's").key: {"access_count": number}})
            if number % 2:
                await store.write(delete=[note(f"of {number}").key])

        await asyncio.gather(*(write(number) for number in range(16)))
        kept = sorted(["everybody's", *(f"of {number}" for number in range(0, 16, 2))])
        assert sorted(texts(await store.find())) == sorted(texts(await store.search(np.ones(4), 99))) == kept

    run(name, tmp_path, body)


@every_store
def test_two_stores_over_one_collection_see_each_other(name: str, tmp_path: Path) -> None:
    if not CASES[name].several:
        pytest.skip("one store at a time")

    async def body(make: Make) -> None:
        collection = fresh_name()
        one, other = await opened(make, collection), await opened(make, collection)
        await one.write([note("tea", [1, 0, 0, 0])])
        assert texts(await other.search(np.ones(4), 5)) == ["tea"]
        await other.write([note("coffee", [0, 1, 0, 0])])
        assert sorted(texts(await one.search(np.ones(4), 5))) == ["coffee", "tea"]
        await other.patch({note("tea").key: {"is_active": False}})
        active = parse_filters({"is_active": True})
        assert texts(await one.search(np.ones(4), 5, active)) == texts(await one.find(active)) == ["coffee"]
        await other.write(delete=[note("coffee").key])
        assert texts(await one.search(np.ones(4), 5)) == texts(await one.find()) == ["tea"]
        await one.close()
        assert await other.count() == 1
        await other.close()

    run(name, tmp_path, body)
