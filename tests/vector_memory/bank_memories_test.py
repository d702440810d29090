# -*- coding: utf-8 -*-
"""Adding, changing and deleting memories, one report of what goes wrong elsewhere at a time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _bank_world import ALICE, BOB, Clock, bank_of, embedder, local_bank, note, said
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import AmbiguousMemoryId, ConfigError, MemoryNotFound, StorageError
from agentscope_reme.record import memory_id_of
from agentscope_reme.vector_memory import MemoryBank, MemoryRetriever, Owner
from agentscope_reme.vector_store import LocalVectorStore


def in_bank(folder: Path, body: Callable[[MemoryBank], Awaitable[None]], **options: Any) -> None:
    """Run a test in a bank over a file."""

    async def inside() -> None:
        async with local_bank(folder, **options) as bank:
            await body(bank)

    asyncio.run(inside())


def test_the_same_sentence_of_two_users_is_two_memories(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [mine, theirs] = await bank.add([note("喜欢川菜"), note("喜欢川菜", "bob")])
        assert mine.memory_id == theirs.memory_id == memory_id_of("喜欢川菜")
        with pytest.raises(AmbiguousMemoryId, match="say whose"):
            await bank.get(mine.memory_id)
        await bank.update(mine.memory_id, ALICE, content="不吃川菜了")
        assert said(await bank.list([BOB])) == ["喜欢川菜"]
        assert await bank.delete(theirs.memory_id, BOB)
        assert said(await bank.list()) == ["不吃川菜了"]

    in_bank(tmp_path, body)


def test_names_that_look_alike_are_different_people(tmp_path: Path) -> None:
    names = ["a", "A", "a/b", "Alice Smith", "alice_smith", "../../etc/a", "a ", "甲", "乙", "a\x00b", "."]

    async def body(bank: MemoryBank) -> None:
        await bank.add([note(f"the secret of {name!r}", name) for name in names])
        for name in names:
            owner = Owner("personal", name)
            assert said(await bank.list([owner])) == [f"the secret of {name!r}"]
            found = await MemoryRetriever(bank).retrieve("secret", [owner])
            assert said(found) == [f"the secret of {name!r}"]
        for name in names:
            assert await bank.delete_all([Owner("personal", name)]) == 1
        assert await bank.list() == []

    in_bank(tmp_path / "bank", body)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bank"]


def test_an_update_moves_id_vector_and_time_together(tmp_path: Path) -> None:
    clock = Clock()

    async def body(bank: MemoryBank) -> None:
        [old] = await bank.add([note("lives in Berlin", time_created=clock(), time_modified=clock())])
        clock.go_on(days=1)
        new = await bank.update(old.memory_id, content="works for a bank in Lisbon")
        stored = (await bank.store.get([new.key], with_vectors=True))[new.key]
        [vector] = (await embedder().embed(["works for a bank in Lisbon"])).vectors
        assert new.memory_id == memory_id_of("works for a bank in Lisbon")
        assert np.allclose(stored.vector, vector, atol=1e-6)
        assert (new.time_created, new.time_modified) == (old.time_created, clock())
        assert await bank.store.count() == 1
        changed = await bank.update(new.memory_id, when_to_use="asked about jobs")
        stored = (await bank.store.get([new.key], with_vectors=True))[new.key]
        [vector] = (await embedder().embed(["asked about jobs"])).vectors
        assert np.allclose(stored.vector, vector, atol=1e-6)
        assert (changed.memory_id, changed.content) == (new.memory_id, new.content)

    in_bank(tmp_path, body, clock=clock)


def test_a_change_of_other_fields_embeds_nothing(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [memory] = await bank.add([note("allergic to peanuts")])
        calls = bank.embedder.model.calls  # type: ignore[union-attr]
        changed = await bank.update(memory.memory_id, importance=0.95, tags=["health"])
        assert (changed.importance, changed.tags) == (0.95, ("health",))
        assert bank.embedder.model.calls == calls  # type: ignore[union-attr]
        same = await bank.update(memory.memory_id, importance=0.95)
        assert same.time_modified == changed.time_modified
        assert len(await bank.versions(memory.memory_id)) == 1

    in_bank(tmp_path, body)


def test_an_update_to_what_is_there_already_goes_over_into_it(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [one, other] = await bank.add([note("speaks French"), note("speaks French well", importance=0.8)])
        merged = await bank.update(one.memory_id, content="speaks French well")
        assert (merged.key, merged.importance) == (other.key, 0.8)
        assert said(await bank.list([ALICE])) == ["speaks French well"]
        assert (await bank.get(one.memory_id)).key == other.key
        assert said(await bank.versions(other.memory_id)) == ["speaks French"]

    in_bank(tmp_path, body)


def test_an_owner_is_checked_and_never_changed(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [memory] = await bank.add([note("likes jazz")])
        for refused in (bank.update(memory.memory_id, BOB, content="likes rock"), bank.delete(memory.memory_id, BOB)):
            with pytest.raises(MemoryNotFound, match="'personal/bob'"):
                await refused
        with pytest.raises(MemoryNotFound):
            await bank.get(memory.memory_id, BOB)
        for field in ("memory_target", "memory_type", "key", "vector", "time_modified", "nonsense"):
            with pytest.raises(ConfigError, match=field):
                await bank.update(memory.memory_id, **{field: "bob"})
            with pytest.raises(ConfigError, match=field):
                await bank.patch({memory.key: {field: "bob"}})
        assert said(await bank.list([ALICE])) == ["likes jazz"]
        assert await bank.list([BOB]) == []

    in_bank(tmp_path, body)


def test_metadata_names_no_owner(tmp_path: Path) -> None:
    spoof = {"memory_target": "bob", "memory_type": "personal", "owner": "personal/bob", "memory_id": "0" * 16}

    async def body(bank: MemoryBank) -> None:
        [memory] = await bank.add([note("a secret of alice", metadata=spoof)])
        assert await bank.list([BOB]) == []
        assert await bank.delete_all([BOB]) == 0
        assert (await bank.get(memory.memory_id)).owner == "personal/alice"
        assert dict((await bank.get(memory.memory_id)).metadata) == spoof

    in_bank(tmp_path, body)


def test_an_id_that_never_was_is_an_error_and_one_that_was_deleted_is_told(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        for unknown in ("0123456789abcdef", "12", "'; DROP TABLE node; --"):
            for call in (bank.get, bank.delete, bank.versions, bank.history):
                with pytest.raises(MemoryNotFound, match="never was"):
                    await call(unknown)
            with pytest.raises(MemoryNotFound):
                await bank.update(unknown, content="x")
        for blank in ("", "  ", None):
            with pytest.raises(ConfigError, match="memory_id"):
                await bank.get(blank)  # type: ignore[arg-type]
        [memory] = await bank.add([note("temporary")])
        assert await bank.delete(memory.memory_id) is True
        assert await bank.delete(memory.memory_id) is False
        with pytest.raises(MemoryNotFound, match="was deleted"):
            await bank.get(memory.memory_id)
        with pytest.raises(MemoryNotFound, match="was deleted"):
            await bank.update(memory.memory_id, content="back")

    in_bank(tmp_path, body)


def test_an_unknown_id_among_several_touches_no_other(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [a, b, c] = await bank.add([note("first fact"), note("second fact"), note("third fact")])
        assert (await bank.get_many([a.memory_id, "12", c.memory_id])).keys() == {a.memory_id, c.memory_id}
        assert await bank.patch({"0" * 32: {"importance": 1.0}, b.key: {"importance": 0.9}}) == 1
        done = await bank.delete_many([a.memory_id, "12", a.memory_id, c.memory_id])
        assert done == {a.memory_id: True, "12": False, c.memory_id: True}
        assert [(each.content, each.importance) for each in await bank.list()] == [("second fact", 0.9)]

    in_bank(tmp_path, body)


def test_what_was_deleted_is_never_found_and_every_id_keeps_its_text(tmp_path: Path) -> None:
    """mem0#3787: after a deletion, positions and ids did not match any more."""

    async def body(bank: MemoryBank) -> None:
        words = ["volcano", "glacier", "canyon", "estuary"]
        [a, b, c] = await bank.add([note(f"the {word} at dawn") for word in words[:3]])
        await bank.delete(b.memory_id)
        [d] = await bank.add([note(f"the {words[3]} at dawn")])
        retriever = MemoryRetriever(bank)
        for word, memory in zip(words, (a, None, c, d), strict=True):
            found = await retriever.retrieve(word, [ALICE], limit=10)
            assert "the glacier at dawn" not in said(found)
            if memory is not None:
                assert (found[0].key, found[0].content) == (memory.key, memory.content)

    in_bank(tmp_path, body)


def test_adding_the_same_twice_is_one_memory_however_it_is_added(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [first] = await bank.add([note("exact text", importance=0.9, metadata={"n": 1})])
        [again] = await bank.add([note("exact text", importance=0.1)])
        assert (again.key, again.importance, dict(again.metadata)) == (first.key, 0.9, {"n": 1})
        added = await asyncio.gather(*(bank.add([note("at the same time"), note("exact text")]) for _ in range(8)))
        assert len({each.key for nodes in added for each in nodes}) == 2
        assert await bank.store.count() == 2
        assert len(await bank.history(memory_id_of("at the same time"))) == 1

    in_bank(tmp_path, body)


def test_two_banks_over_one_file_add_and_change_together(tmp_path: Path) -> None:
    async def main() -> None:
        banks = [bank_of(LocalVectorStore(tmp_path / "memories.db")) for _ in range(2)]
        for bank in banks:
            await bank.open()
        contents = [f"fact {number}" for number in range(20)]
        await asyncio.gather(*(bank.add([note(each)]) for bank in banks for each in contents))
        await asyncio.gather(
            *(banks[n % 2].update(memory_id_of(each), content=f"{each}, changed") for n, each in enumerate(contents))
        )
        for bank in banks:
            assert sorted(said(await bank.list([ALICE]))) == sorted(f"{each}, changed" for each in contents)
            for each in contents:
                assert (await bank.get(memory_id_of(each))).content == f"{each}, changed"
                assert (await MemoryRetriever(bank).retrieve(each, [ALICE]))[0].content == f"{each}, changed"
            await bank.close()

    asyncio.run(main())


def test_texts_that_share_a_character_are_two_memories(tmp_path: Path) -> None:
    """mem0#1750: one overwrote the other."""

    async def body(bank: MemoryBank) -> None:
        await bank.add([note("周游世界"), note("周末吃夜宵")])
        assert len(await bank.list([ALICE])) == 2

    in_bank(tmp_path, body)


def test_nothing_is_added_of_an_empty_content_or_metadata_that_is_no_json(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        for content in ("", "  \n", "\u3000"):
            with pytest.raises(ConfigError, match="content"):
                await bank.add([note(content)])
        with pytest.raises(ConfigError, match="JSON"):
            await bank.add([note("good"), note("bad", metadata={"at": object()})])
        [memory] = await bank.add([note("kept")])
        for content in ("", " \t"):
            with pytest.raises(ConfigError, match="content"):
                await bank.update(memory.memory_id, content=content)
        assert said(await bank.list()) == ["kept"]

    in_bank(tmp_path, body)


def test_a_vector_that_a_caller_left_on_a_memory_is_not_believed(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [old] = await bank.add([note("grows roses")])
        stored = (await bank.store.get([old.key], with_vectors=True))[old.key]
        [new] = await bank.add([replace(stored, content="repairs old clocks")])
        [vector] = (await embedder().embed(["repairs old clocks"])).vectors
        kept = (await bank.store.get([new.key], with_vectors=True))[new.key].vector
        assert np.allclose(kept, vector, atol=1e-6)

    in_bank(tmp_path, body)


def test_a_contradiction_leaves_the_new_memory_and_keeps_the_old_one_on_record(tmp_path: Path) -> None:
    """mem0#4536: the old one was deleted and nothing stored; jcode#1104: the old one was still found."""

    async def body(bank: MemoryBank) -> None:
        [old] = await bank.add([note("我爱吃川菜")])
        new = await bank.supersede(old, note("我不吃川菜了"), actor="test", cause="said so")
        assert said(await bank.list([ALICE])) == ["我不吃川菜了"]
        assert said(await MemoryRetriever(bank).retrieve("川菜", [ALICE])) == ["我不吃川菜了"]
        every = await MemoryRetriever(bank).retrieve("川菜", [ALICE], include_inactive=True)
        assert set(said(every)) == {"我爱吃川菜", "我不吃川菜了"}
        gone = await bank.get(old.memory_id)
        assert (gone.is_active, gone.metadata["superseded_by"]) == (False, new.memory_id)
        assert new.metadata["supersedes"] == [old.memory_id]
        [row] = [row for row in await bank.history(old.memory_id) if row.action == "superseded"]
        assert (row.actor, row.cause) == ("test", "said so")
        [back] = await bank.add([note("我爱吃川菜")])  # says it again
        assert back.is_active
        assert "superseded_by" not in back.metadata
        latest = await bank.supersede(new, back)
        assert (latest.content, latest.is_active) == ("我爱吃川菜", True)
        assert said(await bank.list([ALICE])) == ["我爱吃川菜"]

    in_bank(tmp_path, body)


def test_a_memory_whose_old_version_is_gone_is_added_all_the_same(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        [old] = await bank.add([note("works at Acme")])
        await bank.delete(old.memory_id)
        assert (await bank.supersede(old, note("works at Initech"))).content == "works at Initech"
        [moved] = await bank.add([note("lives in Bonn")])
        await bank.update(moved.memory_id, content="lives in Köln")
        await bank.supersede(moved, note("lives in Wien"))
        assert set(said(await bank.list([ALICE]))) == {"works at Initech", "lives in Wien"}
        with pytest.raises(ConfigError, match="personal/bob"):
            await bank.supersede(moved, note("lives in Wien", "bob"))

    in_bank(tmp_path, body)


def test_a_store_that_refuses_leaves_what_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def body(bank: MemoryBank) -> None:
        [memory] = await bank.add([note("before")])
        rows = await bank.ledger.count()
        write = bank.store.write

        async def refuse(*_: Any, **__: Any) -> None:
            raise StorageError("the disk is full")

        monkeypatch.setattr(bank.store, "write", refuse)
        for doomed in (
            bank.add([note("new")]),
            bank.update(memory.memory_id, content="after"),
            bank.delete(memory.memory_id),
            bank.supersede(memory, note("instead")),
        ):
            with pytest.raises(StorageError, match="full"):
                await doomed
        monkeypatch.setattr(bank.store, "write", write)
        assert said(await bank.list(include_inactive=True)) == ["before"]
        assert await bank.ledger.count() == rows
        assert (await bank.update(memory.memory_id, content="after")).content == "after"

    in_bank(tmp_path, body)


def test_secrets_are_taken_out_before_anything_is_stored(tmp_path: Path) -> None:
    def redact(text: str) -> str:
        return text.replace("sk-12345", "***")

    async def body(bank: MemoryBank) -> None:
        memory = note("the key is sk-12345", tags=["sk-12345"], metadata={"raw": {"deep": ["sk-12345"]}})
        [added] = await bank.add([memory])
        assert added.content == "the key is ***"
        changed = await bank.update(added.memory_id, content="now it is sk-12345!", when_to_use="asked for sk-12345")
        await bank.supersede(changed, note("rotated: sk-12345"), cause="sk-12345 leaked")
        await bank.patch({changed.key: {"tags": ["sk-12345"]}})
        texts = bank.embedder.model.texts  # type: ignore[union-attr]
        assert not any("sk-12345" in text for text in texts)

    in_bank(tmp_path, body, redact=redact)
    data = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"***" in data
    assert b"sk-12345" not in data


def test_memories_are_listed_in_order_with_filters(tmp_path: Path) -> None:
    clock = Clock()

    async def body(bank: MemoryBank) -> None:
        for number, lang in enumerate(["go", 3, None, "c", True]):
            clock.go_on(hours=1)
            metadata = {} if lang is None else {"lang": lang}
            await bank.add([note(f"memory {number}", time_created=clock(), metadata=metadata, tags=[f"t{number % 2}"])])
        assert said(await bank.list([ALICE], limit=2)) == ["memory 4", "memory 3"]
        assert said(await bank.list([ALICE], reverse=False, limit=2)) == ["memory 0", "memory 1"]
        mixed = await bank.list([ALICE], sort_key="metadata.lang")  # texts, numbers and nothing together
        assert len(mixed) == 5
        assert mixed[-1].content == "memory 2"
        assert set(said(await bank.list([ALICE], {"tags": {"contains": "t1"}}))) == {"memory 1", "memory 3"}
        since = {"created": ["2026-03-02T14:30:00Z", None]}
        assert set(said(await bank.list([ALICE], since))) == {"memory 2", "memory 3", "memory 4"}
        with pytest.raises(ConfigError, match="any_of"):
            await bank.list([ALICE], {"category": ["fact", "plan", "event"]})
        with pytest.raises(ConfigError, match="colour"):
            await bank.list([ALICE], {"colour": "red"})

    in_bank(tmp_path, body, clock=clock)


def test_deleting_all_of_somebody_leaves_nothing_of_theirs_and_all_of_others(tmp_path: Path) -> None:
    async def body(bank: MemoryBank) -> None:
        for target in ("alice", "alice/", "bob"):
            [old] = await bank.add([note("likes chess", target), note(f"is called {target}", target)][:1])
            await bank.update(old.memory_id, Owner("personal", target), content="likes go")
            await bank.add([note("to be gone", target)])
            await bank.delete(memory_id_of("to be gone"), Owner("personal", target))
        assert await bank.delete_all([ALICE]) == 1
        assert await bank.list([ALICE]) == []
        for call in (bank.get, bank.versions, bank.history, bank.delete):
            with pytest.raises(MemoryNotFound, match="never was"):
                await call(memory_id_of("likes go"), ALICE)
        for owner in (BOB, Owner("personal", "alice/")):
            assert (await bank.get(memory_id_of("likes chess"), owner)).content == "likes go"
            assert said(await bank.versions(memory_id_of("likes go"), owner)) == ["likes chess"]
        assert await bank.delete_all([]) == 0
        assert await bank.delete_all() == 2
        assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)
        await bank.add([note("a new beginning")])
        assert said(await MemoryRetriever(bank).retrieve("beginning", [ALICE])) == ["a new beginning"]

    in_bank(tmp_path, body)


@given(st.integers(0, 10_000))
def test_updates_at_the_same_time_leave_one_memory_and_one_line_of_versions(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    pick = random.Random(seed)

    async def body(bank: MemoryBank) -> None:
        [memory] = await bank.add([note("version 0")])
        names = [f"field{number}" for number in range(pick.randint(2, 6))]

        async def change(name: str) -> None:
            while True:
                there = await bank.get(memory.memory_id)
                if name in there.metadata:
                    return
                await bank.update(
                    there.memory_id, content=f"{there.content} {name}", metadata={**there.metadata, name: 1}
                )

        await asyncio.gather(*(change(name) for name in names))
        last = await bank.get(memory.memory_id)
        versions = await bank.versions(last.memory_id)
        assert await bank.store.count() == 1
        assert versions[0].content == "version 0"
        assert len(versions) == len({each.to_dict()["time_modified"] for each in versions})

    in_bank(tmp_path_factory.mktemp("bank"), body)
