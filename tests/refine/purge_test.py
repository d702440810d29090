# -*- coding: utf-8 -*-
"""What is purged is nowhere: every byte under the folder is looked at, and what belongs to others is as it was."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from _bytes_left import files_with
from _refine_world import ALICE, BOB, Clock, active, bank_in, chat, note, refiner_of, texts
from agentscope.message import Msg
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentscope_reme import AmbiguousMemoryId, MemoryNotFound
from agentscope_reme.embedding import BatchEmbedder, EmbeddingCache
from agentscope_reme.record import ToolCallRecord
from agentscope_reme.refine import Capture, Forgetter
from agentscope_reme.refine._cold_storage import ColdStorage
from agentscope_reme.refine._feedback_book import FeedbackBook
from agentscope_reme.refine._heard import HeardMessages
from agentscope_reme.refine._purge import Purge, Purged
from agentscope_reme.refine._words import words_of
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.vector_memory import Conversations, MemoryBank, Owner, ProfileBook, ToolRecords
from agentscope_reme.vector_store import LocalVectorStore

SECRET = "zebra蓝鲸"
OTHER = "marigold"


class World:
    """A bank over a file with all that may stand beside it."""

    def __init__(self, folder: Path, cache: EmbeddingCache | None = None) -> None:
        self.folder, self.clock = folder, Clock()
        embedder = BatchEmbedder(HashEmbedding(64), cache=cache, retries=0) if cache else None
        self.bank = MemoryBank(LocalVectorStore(folder / "memories.db"), embedder, clock=self.clock)
        self.cold = ColdStorage(folder / "cold" / "memories.jsonl")
        self.book = FeedbackBook(self.bank, folder / "replies.jsonl")
        self.forgetter = Forgetter(self.bank, cold=self.cold)
        self.purge = Purge(self.bank, cold=self.cold, book=self.book)


STEPS = st.lists(
    st.sampled_from(
        ["update", "supersede", "forget", "freeze", "talk", "reply", "patch", "refine", "again", "restore"]
    ),
    max_size=7,
)


@given(STEPS, st.booleans())
def test_after_a_purge_no_byte_of_a_memory_is_left_whatever_was_done_to_it(tmp_path_factory, steps, before):
    async def main() -> None:
        folder = tmp_path_factory.mktemp("bank")
        world = World(folder)
        bank, talks = world.bank, Conversations(world.bank)
        async with bank:
            ref = await talks.keep([Msg("alice", f"I told you of the {SECRET}", "user")], [ALICE, BOB])
            first = note(f"keeps a {SECRET} at home", importance=0.05, ref_memory_id="s1" if before else ref)
            [memory] = await bank.add([first])
            others = await bank.add(
                [note(f"{OTHER} {n}, which she likes very much", ref_memory_id="s1") for n in range(3)]
            )
            await bank.add([note(f"bob's own {OTHER}", BOB)])
            expected = {node.content for node in others}
            for number, step in enumerate(steps):
                if step in ("update", "supersede", "again") and memory.key not in await bank.store.get([memory.key]):
                    memory = await world.forgetter.restore(memory.memory_id, ALICE)
                if step == "update":
                    memory = await bank.update(memory.memory_id, ALICE, content=f"keeps {number} {SECRET} at home")
                elif step == "supersede":
                    memory = await bank.supersede(memory, note(f"sold {number} {SECRET}", importance=0.05))
                elif step == "forget":
                    await world.forgetter.forget([memory], cause=f"忘掉关于{memory.memory_id}的事")
                elif step == "freeze":
                    world.clock.go_on(days=400)
                    await world.forgetter.sweep([ALICE])
                elif step == "talk":
                    await talks.keep([Msg("alice", f"{OTHER} it is", "user")], [ALICE])
                elif step == "reply":
                    await world.book.note(f"r{number}", [memory, *others])
                elif step == "patch":
                    await bank.patch({node.key: {"tags": ["x"]} for node in (memory, *others)}, action="tagged")
                elif step == "refine":
                    await refiner_of(bank).run([ALICE])
                elif step == "again":
                    await bank.add([memory])
                else:
                    memory = await world.forgetter.restore(memory.memory_id, ALICE)
            if "supersede" in steps:  # what was superseded is a memory of its own
                for each in await bank.list([ALICE], {"content": {"contains": SECRET}}, include_inactive=True):
                    if each.key != memory.key and not each.metadata.get("refined"):
                        await world.purge.memory(each.memory_id, ALICE)
                for each in await world.cold.all([ALICE]):
                    if SECRET in each.node.content and each.node.key != memory.key:
                        await world.purge.memory(each.node.memory_id, ALICE)
            try:
                purged = await world.purge.memory(memory.memory_id, ALICE)
                assert purged.is_compact
                assert purged.counts["memories"] + purged.counts["cold"] >= 1
            except MemoryNotFound:  # it went with one that was refined from it
                assert "supersede" in steps
            left = files_with(SECRET, folder)
            if ref and not before:
                assert left in ([], ["memories.db"])  # bob's copy of the conversation is bob's
                assert await talks.read(ref, ALICE) == []
                await bank.delete_all([BOB])
                await bank.store.compact()
            assert files_with(SECRET, folder) == ([] if not before else left)
            assert files_with(memory.memory_id, folder) == []
            cold = {each.node.content for each in await world.cold.all()}
            kept = {node.content for node in await bank.list([ALICE], include_inactive=True)} | cold
            assert expected <= kept  # nothing else is gone

    asyncio.run(main())


def test_an_owner_is_purged_with_everything_and_others_stay(tmp_path: Path) -> None:
    async def main() -> None:
        cache = EmbeddingCache(tmp_path / "embeddings.db")
        world = World(tmp_path, cache)
        bank = world.bank
        async with bank:
            mine = await bank.add(chat([f"{SECRET} {n} is what I like" for n in range(30)], importance=0.05))
            [theirs] = await bank.add([note(f"bob likes {OTHER}", BOB)])
            changed = await bank.update(mine[0].memory_id, ALICE, content=f"{SECRET} is what I hate")
            await refiner_of(bank).run([ALICE])
            await Conversations(bank).keep([Msg("alice", f"{SECRET} it is", "user")], [ALICE])
            await ProfileBook(bank).update("alice", {SECRET: "yes"})
            await ProfileBook(bank).update("bob", {"drink": "beer"})
            await world.forgetter.forget([changed])
            world.clock.go_on(days=400)
            await world.forgetter.sweep()
            await world.book.note("r1", [*mine[:3], theirs])
            vector = (await cache.get_many(bank.embedder.key, 64, [mine[5].content]))[mine[5].content]
            assert len(files_with(SECRET, tmp_path)) >= 2
            purged = await world.purge.owners([ALICE])
            counts = purged.counts
            assert counts["cold"] > 0
            assert counts["versions"] > 0
            assert (counts["profiles"], counts["conversations"], counts["replies"]) == (1, 1, 1)
            assert counts["vectors"] >= 31
            assert purged.is_compact
            assert "profiles 1" in str(purged)
            assert files_with(SECRET, tmp_path) == []
            assert files_with("personal/alice", tmp_path) == []
            assert not any(vector.tobytes() in path.read_bytes() for path in tmp_path.rglob("*.db*"))
            assert texts(await active(bank, BOB)) == [f"bob likes {OTHER}"]
            assert await ProfileBook(bank).read("bob") == {"drink": "beer"}
            assert await cache.get_many(bank.embedder.key, 64, [theirs.content])
            again = await world.purge.owners([ALICE])
            assert not any(again.counts.values())
            assert str(again) == "nothing was there"
        await cache.close()

    asyncio.run(main())


def test_a_tool_is_purged_with_its_records(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            await ToolRecords(bank).record([ToolCallRecord("search", {"q": SECRET}, "ok", True)])
            purged = await world.purge.owners([Owner("tool", "search")])
            assert purged.counts["tool_calls"] == 1
            assert files_with(SECRET, tmp_path) == []

    asyncio.run(main())


def test_what_was_refined_with_it_goes_and_its_other_sources_stand_for_themselves_again(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            await bank.add(chat(importance=0.4))
            await refiner_of(bank).run([ALICE])
            nodes = await bank.list([ALICE], include_inactive=True)
            [piano] = [node for node in nodes if "弹钢琴" in node.content and not node.source_ids]
            beside = await bank.list(
                [ALICE], {"metadata.refined_into": piano.metadata["refined_into"]}, include_inactive=True
            )
            purged = await world.purge.memory(piano.memory_id)
            assert purged.counts["memories"] >= 2
            assert {node.key for node in beside} - {piano.key} <= {node.key for node in await active(bank)}
            assert files_with("弹钢琴", tmp_path) == []
            with pytest.raises(MemoryNotFound, match="There is no memory"):
                await world.purge.memory(piano.memory_id)
            rows = await bank.ledger.find(sort_key="time_created")
            assert [row.category for row in rows if row.memory_type == "audit"].count("purged") == 1
            assert (await refiner_of(bank).run([ALICE])).refined >= 1  # they are condensed again without it

    asyncio.run(main())


def test_what_was_asked_to_be_remembered_is_purged_from_the_messages_that_wait(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            capture = Capture(bank)
            said = [Msg("alice", f"记住，我养了一只{SECRET}。", "user"), Msg("alice", f"I like {OTHER}.", "user")]
            [memory] = await capture.hear(ALICE, said)
            assert len(await capture.heard.waiting(ALICE)) == 2
            assert (await world.purge.memory(memory.memory_id)).counts["waiting"] == 1
            assert files_with(SECRET, tmp_path) == []
            assert len(await capture.heard.waiting(ALICE)) == 1
            assert (await world.purge.owners([ALICE])).counts["waiting"] == 1

    asyncio.run(main())


WORDS = ["tea", "Rex", "dog", "Leeds", "steak", "茶", "狗", "名字"]
SAYING = st.lists(st.sampled_from([*WORDS, "steam", "team", "doggerel", "my", "the"]), min_size=1, max_size=4)


@settings(max_examples=8)
@given(memory=SAYING.map(" ".join), said=st.lists(SAYING.map(" ".join), min_size=1, max_size=4))
@example(memory="tea", said=["I like the steak recipe", "My dog is called Rex", "I love my team in Leeds"])
@example(memory="My dog is called Rex", said=["Rex", "My dog is called Rex, and he barks"])
@example(memory="the", said=["the dog", "the"])
def test_what_shares_no_word_with_a_purged_memory_waits_on_and_what_says_it_goes(tmp_path_factory, memory, said):
    async def main() -> None:
        async with bank_in(tmp_path_factory.mktemp("bank")) as bank:
            heard = HeardMessages(bank)
            [node] = await bank.add([note(memory)])
            await heard.put(ALICE, "s", [Msg("alice", "".join(f"{each}. " for each in said), "user")])
            await Purge(bank).memory(node.memory_id)
            text = " ".join(each.message.get_text_content() or "" for each in await heard.waiting(ALICE))
            left = [each.strip() for each in text.split(".")]
            for each in said:
                if not words_of(each) & words_of(memory) and each != memory:
                    assert each in left
                if each == memory:
                    assert each not in left

    asyncio.run(main())


def test_conversations_can_be_kept_and_bytes_that_may_be_left_are_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            ref = await Conversations(bank).keep([Msg("alice", "I like tea", "user")], [ALICE])
            [memory] = await bank.add([note("likes tea", ref_memory_id=ref)])
            purged = await Purge(bank).memory(memory.memory_id, conversations=False)
            assert purged.counts["conversations"] == 0
            assert len(await Conversations(bank).read(ref, ALICE)) == 1
            assert "may still be" in str(Purged({"memories": 1}, is_compact=False))

    asyncio.run(main())


def test_an_id_that_another_owner_has_in_cold_storage_is_not_silently_the_first_owners(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            await bank.add([note(f"{SECRET} is worth nothing", owner, importance=0.05) for owner in (ALICE, BOB)])
            world.clock.go_on(days=400)
            await world.forgetter.sweep([BOB])
            memory_id = note(f"{SECRET} is worth nothing").memory_id
            for call in (world.forgetter.restore, world.purge.memory):
                with pytest.raises(AmbiguousMemoryId, match="one of 2 owners"):
                    await call(memory_id)
            assert (await world.forgetter.restore(memory_id, ALICE)).owner == ALICE.key
            assert (await world.purge.memory(memory_id, ALICE)).counts["cold"] == 0
            assert (await world.forgetter.restore(memory_id)).owner == BOB.key  # now there is only one

    asyncio.run(main())


@pytest.mark.parametrize("how", ["memory", "owners"])
def test_what_was_purged_is_not_heard_again(tmp_path: Path, how: str) -> None:
    async def main() -> None:
        world = World(tmp_path)
        said = [Msg("alice", f"记住，我的密码提示是{SECRET}", "user"), Msg("alice", f"I like {OTHER}.", "user")]
        async with world.bank as bank:
            [memory] = await Capture(bank).hear(ALICE, said, "s1")
            if how == "memory":
                await world.purge.memory(memory.memory_id)
            else:
                await world.purge.owners([ALICE])
            assert files_with(SECRET, tmp_path) == []
        world = World(tmp_path)
        async with world.bank as bank:
            capture = Capture(bank)
            assert await capture.hear(ALICE, said, "s1") == []
            assert await active(bank) == []
            assert len(await capture.heard.waiting(ALICE)) == (1 if how == "memory" else 0)
            assert files_with(SECRET, tmp_path) == []
            if how == "owners":
                assert files_with("personal/alice", tmp_path) == []
            assert len(await capture.hear(BOB, said, "s1")) == 1  # another one's, and another session's, is heard
            assert len(await capture.hear(ALICE, said, "s2")) == 1

    asyncio.run(main())


def test_the_tool_calls_of_sessions_go_with_an_owner(tmp_path: Path) -> None:
    async def main() -> None:
        world = World(tmp_path)
        async with world.bank as bank:
            records = ToolRecords(bank)
            calls = {"s1": SECRET, "s2": OTHER}
            await records.record(
                [
                    ToolCallRecord("search", {"q": word}, "ok", True, metadata={"session_id": session})
                    for session, word in calls.items()
                ]
            )
            assert (await world.purge.owners([ALICE], ["s1"])).counts["tool_calls"] == 1
            assert [record.input for record in await records.of("search")] == [{"q": OTHER}]
            assert files_with(SECRET, tmp_path) == []

    asyncio.run(main())
