# -*- coding: utf-8 -*-
"""What only the local store promises: one file for all, cost that grows with what is new, no thread blocked."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _memories import memories
from _store_world import SPACE, ask, note, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError, StorageError, VectorSpaceError, VectorStoreError
from agentscope_reme.record import FIELDS, Condition, MemoryNode, matches, parse_filters
from agentscope_reme.search import DIALOG_RECIPE, RowFacts
from agentscope_reme.text import WordTokenizer
from agentscope_reme.vector_store import LocalVectorStore, VectorSpace, facts_of
from agentscope_reme.vector_store import _local_catalog as catalog
from agentscope_reme.vector_store import _local_shelf as shelf_module
from agentscope_reme.vector_store._local_filters import define_functions, order_by, where
from agentscope_reme.vector_store._local_index import MemoryIndex
from agentscope_reme.vector_store._local_shelf import Shelf

ONES = np.ones(4, dtype=np.float32)


class Spy:
    """Writes down what an index in memory is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.added: list[tuple[int, RowFacts]] = []
        self.removed: list[int] = []
        self.threads: set[int] = set()
        add, remove = MemoryIndex.add, MemoryIndex.remove

        def spied_add(index: MemoryIndex, key: int, tokens: Sequence[str], **more: Any) -> None:
            self.threads.add(threading.get_ident())
            self.added.append((key, more["facts"]))
            add(index, key, tokens, **more)

        def spied_remove(index: MemoryIndex, key: int) -> bool:
            self.removed.append(key)
            return remove(index, key)

        monkeypatch.setattr(MemoryIndex, "add", spied_add)
        monkeypatch.setattr(MemoryIndex, "remove", spied_remove)

    def told(self) -> tuple[int, int]:
        """How many were added and removed since the last time."""
        numbers = len(self.added), len(self.removed)
        self.added.clear()
        self.removed.clear()
        return numbers


def test_only_what_has_changed_is_taken_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)

    async def body() -> None:
        async with LocalVectorStore(tmp_path / "m.db") as first, LocalVectorStore(tmp_path / "m.db") as other:
            nodes = [note(f"memory {n}", target="ab"[n % 2]) for n in range(50)]
            await first.write(nodes)
            await first.find(limit=3)
            await first.count(parse_filters({"tags": "x"}))
            await first.get([nodes[0].key])
            assert spy.told() == (0, 0)  # a ledger, which is never searched, is never loaded
            assert len(await first.hybrid_search(ask("memory"), 99)) == 50
            assert spy.told() == (50, 0)
            await first.hybrid_search(ask("memory"), 99)
            assert spy.told() == (0, 0)
            changes = {"access_count": 3, "importance": 0.1, "is_active": False, "tags": ("t",)}
            await other.patch({node.key: changes for node in nodes[:10]})
            for spec in ({"is_active": False}, {"tags": "t"}, {"importance": [0, 0.2], "access_count": 3}):
                assert len(await first.hybrid_search(ask("memory"), 99, conditions=parse_filters(spec))) == 10
            assert spy.told() == (0, 0)
            await other.patch({nodes[0].key: {"author": "Ada", "ref_memory_id": "talk"}})
            await other.write([note("memory 50")], delete=[nodes[1].key, nodes[2].key])
            assert len(await first.hybrid_search(ask("memory"), 99)) == 49
            assert spy.told() == (2, 2)
            assert len(await other.hybrid_search(ask("memory"), 99)) == 49
            assert spy.told()[0] == 49

    asyncio.run(body())


def test_an_index_that_is_too_far_behind_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_LISTED_DELETIONS", 3)

    async def body() -> None:
        async with LocalVectorStore(tmp_path / "m.db") as first, LocalVectorStore(tmp_path / "m.db") as other:
            await first.write([note(f"memory {n}") for n in range(200)])
            assert len(await first.hybrid_search(ask("memory"), 999)) == 200
            for n in range(150):
                await other.write(delete=[note(f"memory {n}").key])
            assert len(await first.hybrid_search(ask("memory"), 20)) == 20  # nothing gone takes a place
            assert len(await first.hybrid_search(ask("memory"), 999)) == 50
        connection = sqlite3.connect(tmp_path / "m.db")
        assert connection.execute("SELECT count(*) FROM gone").fetchone()[0] < 100
        assert connection.execute("SELECT count(*) FROM node").fetchone()[0] == 50
        for table in ("facet", "vector"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0
        connection.close()

    asyncio.run(body())


WORDS = ["apple", "banana", "cherry", "damson", "elder", "fennel", "ginger", "hazel"]


def test_what_changes_while_it_is_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf_module, "_BATCH", 2)
    add, turns = Shelf._add, itertools.count()

    async def change(other: LocalVectorStore, turn: int) -> None:
        """One thing after each page."""
        patched, rewritten, gone = (f"memory {turn + n}" for n in (3, 5, 7))
        await other.patch({note(patched).key: {"importance": 0.9}})
        await other.write([note(rewritten, [0, 0, 1, 0], when_to_use=WORDS[turn])], delete=[note(gone).key])
        await other.write([note(f"late {turn}", [0, 0, 1, 0])])
        await other.patch({note(each).key: {"access_count": turn} for each in (rewritten, f"late {turn}", "memory 0")})

    async def body() -> None:
        store, other = LocalVectorStore(tmp_path / "m.db"), LocalVectorStore(tmp_path / "m.db")
        await store.open(SPACE)
        await other.open(SPACE)
        await store.write([note("memory 0", [1, 0, 0, 0])])
        assert len(await store.search(ONES, 99)) == 1
        for n in range(1, 20):
            await other.write([note(f"memory {n}", [1, 0, 0, n])])
        loop = asyncio.get_running_loop()

        def disturbed(shelf: Shelf, rows: list[tuple]) -> None:
            add(shelf, rows)
            turn = next(turns)
            if turn % 20 < 8:
                asyncio.run_coroutine_threadsafe(change(other, turn % 20), loop).result()

        monkeypatch.setattr(Shelf, "_add", disturbed)
        for _ in range(2):  # as it grows, and from nothing
            await store.hybrid_search(ask("memory"), 3)
            kept = await store.find()
            for vector in (ONES, np.array([0, 0, 1, 0])):
                hits = await store.search(vector, len(kept))
                assert sorted(texts(hits)) == sorted(texts(kept))
            assert {hit.node.content for hit in hits if hit.score == 1} == {
                node.content for node in kept if node.when_to_use or "late" in node.content
            }
            for turn in range(8):
                found = texts(await store.hybrid_search(ask(WORDS[turn]), 9))
                assert found == [node.content for node in kept if node.when_to_use == WORDS[turn]]
                busy = parse_filters({"access_count": turn, "importance": [0, 1]})
                assert sorted(texts(await store.search(ONES, 99, busy))) == sorted(texts(await store.find(busy)))
            await store.close()
            await store.open(SPACE)
        await store.close()
        await other.close()

    asyncio.run(body())


@given(st.lists(memories(), max_size=8))
def test_ranking_knows_of_a_memory_what_facts_of_says(tmp_path: Path, nodes: list[MemoryNode]) -> None:
    async def body(patch: pytest.MonkeyPatch) -> None:
        spy = Spy(patch)
        async with LocalVectorStore(tmp_path / "m.db") as store:
            await store.drop()
            await store.open(None)
            await store.write(nodes)
            await store.hybrid_search(ask("tea"), 9, recipe=DIALOG_RECIPE)
            by_key = {node.key: node for node in nodes}
            assert len(spy.added) == len(by_key)
            told = sorted(str(facts) for _, facts in spy.added)
            assert told == sorted(str(facts_of(node)) for node in by_key.values())

    with pytest.MonkeyPatch.context() as patch:
        asyncio.run(body(patch))


SCALARS = st.sampled_from(["alice", "a", "personal/alice", "", "2", 0, 1, 0.5, True, False, None, 1_772_323_200.0])
CONDITIONS = st.builds(
    lambda field, operator, values: Condition(field, operator, tuple(values[: _LENGTHS.get(operator, 3)])),
    st.sampled_from([*FIELDS, "metadata.n", "metadata.lang", "metadata.list"]),
    st.sampled_from(["equal", "any_of", "range", "contains"]),
    st.lists(SCALARS, min_size=2, max_size=3),
)
_LENGTHS = {"equal": 1, "contains": 1, "range": 2}


@given(st.lists(memories(4), max_size=20), st.lists(st.lists(CONDITIONS, min_size=1, max_size=2), min_size=10))
def test_conditions_that_no_filter_could_give_mean_what_matches_says(
    tmp_path: Path, nodes: list[MemoryNode], tried: list[list[Condition]]
) -> None:
    async def body() -> None:
        store = LocalVectorStore(tmp_path / "m.db")
        await store.open(SPACE)
        await store.drop()
        await store.open(SPACE)
        await store.write(nodes)
        kept = {node.key: node for node in nodes}.values()
        for conditions in tried:
            wanted = {node.key for node in kept if matches(node, conditions)}
            assert {node.key for node in await store.find(conditions)} == wanted, conditions
            with_vector = {node.key for node in kept if node.vector is not None} & wanted
            assert {hit.node.key for hit in await store.search(ONES, 99, conditions)} == with_vector, conditions
        await store.close()

    asyncio.run(body())


class Cutter(WordTokenizer):
    """Counts what it cuts, and cuts letter by letter under another name."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name)
        self.cut = 0

    def tokens(self, text: str) -> list[str]:
        self.cut += 1
        return list(text) if self.name == "letters" else super().tokens(text)

    def query_tokens(self, text: str) -> list[str]:
        return list(dict.fromkeys(text)) if self.name == "letters" else super().query_tokens(text)


def test_words_are_cut_once_unless_another_tokenizer_comes(tmp_path: Path) -> None:
    async def search(cutter: Cutter, query: str) -> tuple[list[str], int]:
        before = cutter.cut
        async with LocalVectorStore(tmp_path / "m.db", tokenizer=cutter) as store:
            found = await store.hybrid_search(ask(query), 9)
            return texts(found), cutter.cut - before

    async def body() -> None:
        words, letters = Cutter(""), Cutter("letters")
        async with LocalVectorStore(tmp_path / "m.db", tokenizer=words) as ledger:
            await ledger.write([note("tea"), note("coffee", when_to_use="at noon")])
            assert words.cut == 0  # a collection without vectors may never be searched
        assert await search(words, "noon") == (["coffee"], 2)
        assert await search(words, "noon") == (["coffee"], 0)
        store = LocalVectorStore(tmp_path / "m.db", tokenizer=words)
        await store.open(SPACE)
        await store.write([note("x-ray", [1, 0, 0, 0])])
        assert words.cut == 3
        await store.patch({note("x-ray").key: {"importance": 0.9}})
        assert texts(await store.hybrid_search(ask("ray"), 9)) == ["x-ray"]
        assert words.cut == 3
        await store.close()
        assert (await search(letters, "tea"))[1] == 3
        assert await search(letters, "tea") == ([], 0)  # a query of words finds no letters
        assert await search(words, "ray") == (["x-ray"], 3)

    asyncio.run(body())


def test_one_file_holds_all_and_can_be_used_in_loop_after_loop(tmp_path: Path) -> None:
    path = tmp_path / "用户 记忆" / "m.db"
    store = LocalVectorStore(path)
    ledger = store.companion("ledger")

    async def first() -> None:
        await store.open(SPACE)
        await ledger.open(None)
        await store.write([note("tea", [1, 0, 0, 0])])
        await ledger.write([note("old tea", memory_type="version")])

    async def second() -> None:
        assert texts(await store.search(ONES, 5)) == ["tea"]
        await store.close()
        assert await ledger.count() == 1
        await ledger.close()

    asyncio.run(first())
    asyncio.run(second())
    assert sorted(each.name for each in path.parent.iterdir()) in (["m.db"], ["m.db", "m.db.lock"])
    assert path.stat().st_mode & 0o777 == 0o600
    assert store.path == path


def test_nothing_heavy_runs_on_the_event_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spy = Spy(monkeypatch)
    search, nearest, rows = MemoryIndex.search, MemoryIndex.nearest, LocalVectorStore._rows
    seen: list[int] = []

    def watched(function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            seen.append(threading.get_ident())
            return function(*arguments, **named)

        return call

    monkeypatch.setattr(MemoryIndex, "search", watched(search))
    monkeypatch.setattr(MemoryIndex, "nearest", watched(nearest))
    monkeypatch.setattr(LocalVectorStore, "_rows", watched(rows))

    async def body() -> None:
        store = LocalVectorStore(tmp_path / "m.db")
        await store.open(SPACE)
        await store.write([note("tea", [1, 0, 0, 0])])
        await store.hybrid_search(ask("tea"), 3, vector=ONES)
        await store.search(ONES, 3)
        await store.close()

    asyncio.run(body())
    assert len(seen) == 3
    assert threading.get_ident() not in {*seen, *spy.threads}


# ---------------------------------------------------------------------- several stores over one collection


def test_what_somebody_else_did_to_the_collection_is_told(tmp_path: Path) -> None:
    async def embed(given: Sequence[str]) -> list[np.ndarray]:
        return [np.ones(2)] * len(given)

    async def body() -> None:
        one, other = LocalVectorStore(tmp_path / "m.db"), LocalVectorStore(tmp_path / "m.db")
        await one.open(SPACE)
        await other.open(SPACE)
        await one.write([note("tea", [1, 0, 0, 0])])
        assert len(await one.search(ONES, 3)) == 1
        await other.reindex(VectorSpace("new", 2), embed)
        for call in (lambda: one.search(ONES, 3), lambda: one.write([note("x", [1, 0, 0, 0])])):
            with pytest.raises(VectorSpaceError, match="again"):
                await call()
        assert texts(await one.find()) == ["tea"]
        await one.open(VectorSpace("new", 2))
        assert texts(await one.search(np.ones(2), 3)) == ["tea"]
        await other.drop()
        for call in (lambda: one.search(np.ones(2), 3), lambda: one.write([note("x")])):
            with pytest.raises(VectorStoreError, match="dropped"):
                await call()
        await one.open(SPACE)
        assert await one.count() == 0
        await one.close()

    asyncio.run(body())


def test_memories_that_change_while_they_are_embedded(tmp_path: Path) -> None:
    """The vector of each memory is that of the text it has in the end."""

    async def body() -> None:
        store, other = LocalVectorStore(tmp_path / "m.db"), LocalVectorStore(tmp_path / "m.db")
        await store.open(SPACE)
        await other.open(SPACE)
        nodes = [note(f"memory {n}", [1, 0, 0, n]) for n in range(150)]
        await store.write(nodes)
        calls: list[int] = []

        async def embed(given: Sequence[str]) -> list[np.ndarray]:
            calls.append(len(given))
            if len(calls) == 1:
                await other.write([note("memory 0", [1, 0, 0, 0], when_to_use="z" * 30)], delete=[nodes[1].key])
                await other.write([note("late", [1, 0, 0, 0]), note("memory 140", [1, 1, 0, 0], when_to_use="y" * 40)])
                await other.patch({nodes[2].key: {"importance": 0.9}})
            return [np.array([len(text), 1], dtype=np.float32) for text in given]

        told: list[tuple[int, int]] = []
        new = VectorSpace("lengths", 2)
        assert await store.reindex(new, embed, lambda *now: told.append(now)) == 150
        assert len(await store.search(np.ones(2), 999)) == 150
        kept = await store.get([node.key for node in await store.find()], with_vectors=True)
        assert len(kept) == 150
        for node in kept.values():
            assert node.vector is not None
            assert node.vector.tolist() == [len(node.embedded_text), 1]
        assert kept[nodes[2].key].importance == 0.9
        assert all(done <= total for done, total in told)
        await store.close()
        await other.close()

    asyncio.run(body())


def test_the_old_vectors_serve_until_a_reindex_has_ended(tmp_path: Path) -> None:
    async def body() -> None:
        store = LocalVectorStore(tmp_path / "m.db")
        await store.open(SPACE)
        await store.write([note(f"memory {n}", [1, 0, 0, n]) for n in range(150)])
        found: list[int] = []

        async def breaks(given: Sequence[str]) -> list[np.ndarray]:
            found.append(len(await store.search(ONES, 999)))
            if len(found) == 2:
                raise ValueError("stop")
            return [np.ones(4)] * len(given)

        new = VectorSpace("new", 4)
        with pytest.raises(ValueError, match="stop"):
            await store.reindex(new, breaks)
        assert found == [150, 150]
        await store.close()
        await store.open(SPACE)  # one may also go on with the old model, and write
        await store.write([note("memory 150", [0, 1, 0, 0])])
        assert len(await store.search(ONES, 999)) == 151
        await store.close()
        with pytest.raises(VectorSpaceError, match="did not end"):
            await store.open(new)
        assert await store.reindex(new, lambda given: _same(given)) == 51
        await store.close()

    async def _same(given: Sequence[str]) -> list[np.ndarray]:
        return [np.ones(4)] * len(given)

    asyncio.run(body())


# ---------------------------------------------------------------------- the file


def test_a_write_that_cannot_be_whole_is_not_made(tmp_path: Path) -> None:
    async def body() -> None:
        async with LocalVectorStore(tmp_path / "m.db") as store:
            await store.write([note("tea")])
            loop: list[Any] = []
            loop.append(loop)
            for wrong in (object(), loop, {1: {2}}):
                bad = note("bad", metadata={"wrong": wrong})
                with pytest.raises(ConfigError, match="JSON"):
                    await store.write([note("good"), bad], delete=[note("tea").key])
            with pytest.raises(ConfigError, match="JSON"):
                await store.patch({note("tea").key: {"metadata": {"x": object()}, "importance": 0.9}})
            (kept,) = await store.find()
            assert (kept.content, kept.importance) == ("tea", 0.5)

    asyncio.run(body())


def test_a_damaged_file_is_told_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    path.write_bytes(b"not a database at all" * 500)

    async def body() -> None:
        store = LocalVectorStore(path)
        for _ in range(2):
            with pytest.raises(StorageError, match=r"m\.db"):
                await store.open(SPACE)
        await store.close()

    asyncio.run(body())
    assert path.read_bytes() == b"not a database at all" * 500
    assert not list(tmp_path.glob("*corrupt*"))


def test_a_collection_has_a_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="collection_name"):
        LocalVectorStore(tmp_path / "m.db", "")


PLANS = [
    ({"owner": "personal/alice"}, "node_by_owner"),
    ({"owner": {"any_of": ["personal/alice", "tool/grep"]}, "is_active": True}, "node_by_owner"),
    ({"owner": "personal/alice", "tags": {"contains": "x"}}, "node_by_owner"),
    ({"memory_id": "0123"}, "node_by_memory_id"),
    ({"target": "personal/alice", "type": "version"}, "node_by_target"),
    ({"ref_memory_id": "0123"}, "node_by_talk"),
    ({"metadata.successor": "0123"}, "PRIMARY KEY (collection=? AND field=?"),
    ({"source_ids": {"any_of": ["0123", "4567"]}}, "PRIMARY KEY (collection=? AND field=?"),
]


@pytest.mark.parametrize(("spec", "index"), PLANS, ids=[" ".join(spec) for spec, _ in PLANS])
def test_what_is_looked_up_often_has_an_index(tmp_path: Path, spec: dict, index: str) -> None:
    def plan(connection: sqlite3.Connection, order: str) -> str:
        define_functions(connection)
        sql, values = where(1, parse_filters(spec))
        rows = connection.execute(f"EXPLAIN QUERY PLAN SELECT n.id FROM node n WHERE {sql} {order}", values)
        return "\n".join(row[-1] for row in rows)

    async def body() -> None:
        async with LocalVectorStore(tmp_path / "m.db") as store:
            database = store._open_database()
            for sort_key in ("time_created", "key", "importance"):
                order = order_by(sort_key, True, parse_filters(spec))[0]
                found = await database.read(plan, f"ORDER BY {order} LIMIT 5")
                assert index in found, found
                assert "SCAN n" not in found

    asyncio.run(body())


def test_compact_leaves_no_byte_of_what_was_deleted(tmp_path: Path) -> None:
    async def main() -> None:
        async with LocalVectorStore(tmp_path / "memories.db") as store:
            await store.open(SPACE)
            nodes = [note(f"SECRET number {n}", metadata={"x": "SECRET"}, vector=ONES) for n in range(50)]
            await store.write([*nodes, note("stays", vector=ONES)])
            assert len(await store.hybrid_search(ask("secret"), 3)) == 3
            await store.write(delete=[node.key for node in nodes])
            assert await store.compact() is True
            held = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
            assert b"SECRET" not in held
            assert b"secret" not in held  # nor the words that it was searched by
            assert texts(await store.find()) == ["stays"]
            assert len(await store.hybrid_search(ask("stays"), 3)) == 1

    asyncio.run(main())
