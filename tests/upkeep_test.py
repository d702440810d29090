# -*- coding: utf-8 -*-
"""`ReMe` over time: forget and restore, sweep, purge, feedback, explanations, and deletion wherever things lie."""

import asyncio
from datetime import datetime, timedelta, timezone

import pytest
from _bytes_left import files_with
from agentscope.message import Msg

from agentscope_reme import AmbiguousMemoryId, ConfigError, MemoryNotFound, ReMe
from agentscope_reme.refine import RefinerConfig
from agentscope_reme.testing import HashEmbedding

WAIT = timedelta(days=500)


def texts(nodes):
    return [node.content for node in nodes]


def later(reme, by=WAIT):
    """Have the clock of its memories say another time."""
    reme.bank._books.clock = reme.bank.clock = lambda: datetime.now(timezone.utc) + by


def test_a_request_is_previewed_forgotten_and_undone(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=HashEmbedding()) as reme:
            await reme.add_memories(["打算通过跑步减肥", "喜欢吃川菜", "在学弹钢琴"], user_name="xiaoming")
            shown = await reme.preview_forget("忘掉我之前说的关于减肥的事", user_name="xiaoming")
            assert texts(shown)[0] == "打算通过跑步减肥"
            gone = await reme.forget(shown[0], actor="xiaoming", cause="他要求的")
            assert texts(gone) == ["打算通过跑步减肥"]
            assert "打算通过跑步减肥" not in texts(await reme.retrieve_memory("减肥", user_name="xiaoming"))
            assert await reme.forget(gone[0].memory_id, user_name="xiaoming") == []
            back = await reme.restore(gone[0].memory_id)
            assert back.to_dict() == {
                **shown[0].to_dict(),
                "score": 0.0,
                "last_accessed": back.last_accessed.isoformat(),
            }
            assert "打算通过跑步减肥" in texts(await reme.retrieve_memory("减肥", user_name="xiaoming"))
            actions = [row.action for row in await reme.memory_history(back.memory_id)]
            assert actions == ["created", "forgotten", "restored", "accessed"]
            with pytest.raises(ConfigError, match="give ids, or memories"):
                await reme.forget([7])
            with pytest.raises(ConfigError, match="is not of"):
                await reme.forget(back, user_name="bob")
            with pytest.raises(MemoryNotFound):
                await reme.forget("0" * 16)
            with pytest.raises(ConfigError, match="Nobody is named"):
                await reme.preview_forget("减肥")

    asyncio.run(main())


def test_a_sweep_freezes_what_is_worth_least_and_deletion_reaches_it_there(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=None, refiner=RefinerConfig(unused_days=10)) as reme:
            for user in ("alice", "bob", "carol"):
                for number in range(3):
                    await reme.add_memory(f"trifle {number}", user_name=user, importance=0.01)
                await reme.add_memory("is allergic to nuts", user_name=user, importance=0.95)
            ids = [
                (await reme.list_memory(user_name="alice", filters={"content": f"trifle {n}"}))[0].memory_id
                for n in range(3)
            ]
            later(reme)
            assert (await reme.sweep(user_name="alice")).cold == 3
            swept = await reme.sweep()
            assert (swept.looked_at, swept.cold) == (9, 6)
            assert texts(await reme.list_memory(user_name=["alice", "bob", "carol"])) == ["is allergic to nuts"] * 3
            cold = tmp_path / "cold" / "memories.jsonl"
            assert len(cold.read_bytes().splitlines()) == 9
            with pytest.raises(AmbiguousMemoryId):
                await reme.restore(ids[0])
            assert (await reme.restore(ids[0], user_name="alice")).content == "trifle 0"
            with pytest.raises(AmbiguousMemoryId):  # it is alice's in the store, and others' in cold storage
                await reme.delete_memory(ids[0])
            assert await reme.delete_memories([ids[0]]) == {ids[0]: False}
            assert len(cold.read_bytes().splitlines()) == 8
            assert (await reme.get_memory(ids[0])).content == "trifle 0"
            with pytest.raises(AmbiguousMemoryId):
                await reme.delete_memory(ids[1])
            assert await reme.delete_memory(ids[1], user_name="alice") is True
            assert await reme.delete_memory(ids[1], user_name="alice") is False
            assert await reme.delete_memories([ids[1], ids[2]], user_name="bob") == {ids[1]: True, ids[2]: True}
            assert len(cold.read_bytes().splitlines()) == 5
            assert await reme.delete_all(user_name="bob") == 1
            assert b"personal/bob" not in cold.read_bytes()
            assert b'"bob"' not in cold.read_bytes()
            await reme.delete_all(confirm=True)
            assert cold.read_bytes() == b""

    asyncio.run(main())


def test_a_purge_leaves_no_byte_and_others_as_they_were(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=HashEmbedding()) as reme:
            secret = await reme.add_memory("keeps a zebra in the cellar", user_name="alice")
            secret = await reme.update_memory(secret.memory_id, "keeps a Zebra in the attic")
            await reme.add_memory("keeps a dog", user_name="alice")
            await reme.add_memory("zephyr", user_name="bob")
            await reme.note_reply("r1", [secret])
            assert files_with("zebra", tmp_path)
            purged = await reme.purge(secret.memory_id)
            assert (purged.counts["memories"], purged.counts["versions"], purged.counts["replies"]) == (1, 1, 1)
            assert files_with("zebra", tmp_path) == []
            assert texts(await reme.list_memory(user_name="alice")) == ["keeps a dog"]
            await reme.update_profile("alice", {"pet": "dog"})
            assert (await reme.purge_all(user_name="alice")).counts["profiles"] == 1
            assert files_with("alice", tmp_path) == files_with("dog", tmp_path) == []
            assert texts(await reme.list_memory(user_name="bob")) == ["zephyr"]
            with pytest.raises(ConfigError, match="Nobody is named"):
                await reme.purge_all()
            with pytest.raises(MemoryNotFound):
                await reme.purge(secret.memory_id)

    asyncio.run(main())


def test_feedback_moves_what_a_reply_was_given(tmp_path):
    async def main():
        reply = Msg("friday", "Tea, then.", "assistant")
        async with ReMe(tmp_path, embedding_model=None) as reme:
            await reme.add_memories(["likes tea", "plays the piano"], user_name="alice", importance=0.5)
            await reme.note_reply(reply, await reme.retrieve_memory("tea", user_name="alice"))
        async with ReMe(tmp_path, embedding_model=None) as reme:
            [better] = await reme.feedback(reply, 1, actor="alice")
            assert (better.content, better.importance > 0.5) == ("likes tea", True)
            [worse] = await reme.feedback(reply.id, -1)
            assert worse.importance < 0.5
            assert await reme.feedback("unknown", 1) == []
            with pytest.raises(ConfigError, match="verdict"):
                await reme.feedback(reply, 5)

    asyncio.run(main())


def test_an_explanation_says_why_a_memory_is_found_where_it_is_or_is_not(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=HashEmbedding()) as reme:
            tea, piano = await reme.add_memories(["likes green tea", "plays the piano"], user_name="alice")
            found = await reme.explain("green tea", tea.memory_id, user_name="alice")
            assert (found.rank, found.reason) == (1, "")
            assert found.score == (await reme.retrieve_memory("green tea", user_name="alice"))[0].score
            assert {"words", "meaning"} <= found.parts.keys()
            assert abs(sum(found.parts.values()) - 1) < 1e-6
            assert list(found.parts.values()) == sorted(found.parts.values(), reverse=True)
            assert "place 1" in str(found)
            assert found.to_dict()["memory_id"] == tea.memory_id
            not_found = await reme.explain("green tea", piano.memory_id, user_name="alice")
            assert (not_found.rank, not_found.reason) == (None, "irrelevant")
            await reme.forget(tea)
            gone = await reme.explain("green tea", tea.memory_id, user_name="alice")
            assert (gone.rank, gone.reason, gone.score > 0) == (None, "forgotten", True)
            assert "it was forgotten" in str(gone)
            await reme.restore(tea.memory_id)
            await reme.update_memory(tea.memory_id, expires_at="2020-01-01")
            assert (await reme.explain("green tea", tea.memory_id, user_name="alice")).reason == "expired"
            with pytest.raises(ConfigError, match="Nobody is named"):
                await reme.explain("green tea", tea.memory_id)

    asyncio.run(main())
