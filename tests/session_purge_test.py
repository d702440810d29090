# -*- coding: utf-8 -*-
"""Sessions and folders that are removed for good: every byte is looked at, and what belongs to others stays."""

import asyncio

import pytest
from _bytes_left import files_with
from agentscope.message import Msg, TextBlock, ToolResultBlock, ToolUseBlock

from agentscope_reme import ConfigError, EventKind, ReMe, ReMeLight, SessionInUseError, SessionNotFoundError
from agentscope_reme.testing import HashEmbedding

SECRET, OTHER = "zebra蓝鲸", "marigold"


def turn(word, number):
    """A request with a long tool result and an answer."""
    call = ToolUseBlock(type="tool_use", id=f"{word}{number}", name="look", input={"for": word})
    result = TextBlock(type="text", text=f"{word} lives here. " * 400)
    return [
        Msg("alice", f"Where does the {word} number {number} live?", "user"),
        Msg("friday", [call], "assistant"),
        Msg(
            "system",
            [ToolResultBlock(type="tool_result", id=f"{word}{number}", name="look", output=[result])],
            "system",
        ),
        Msg("friday", f"The {word} lives in a house by the sea.", "assistant"),
    ]


async def session_of(light, word, session_id):
    """A session, half of which was folded; its long results lie in files."""
    memory = light.get_in_memory_memory(session_id)
    for number in range(6):
        await memory.add(await light.compact_tool_result(turn(word, number), recent_n=0, old_max_bytes=500))
    memory.leave([msg for msg, _ in memory.content[:8]], op="clear", summary=f"They spoke of the {word}.", noted=True)
    memory.services.results.store.sync()
    return memory


def light_in(folder, **options):
    return ReMeLight(folder, model=None, embedding_model=HashEmbedding(64), **options)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_session_is_purged_to_the_last_byte_and_others_stay(tmp_path, restarted):
    async def main():
        light = light_in(tmp_path, enable_notes=False)
        async with light:
            one, other = await session_of(light, SECRET, "s1"), await session_of(light, OTHER, "s2")
            await light.sync()
            places = {name.split("/")[0] for name in files_with(SECRET, tmp_path)}
            assert places == {"dialog", "tool_result", ".state"}
            with pytest.raises(SessionInUseError):
                await light.purge_session("s1")
            one.close()
            if restarted:
                await light.close()
                await light.start()
            told = []
            light.subscribe(told.append)
            purged = await light.purge_session("s1")
            assert purged.is_compact
            assert (purged.counts["journals"], purged.counts["messages"]) == (1, 8)
            assert [event.details["counts"] for event in told if event.kind == EventKind.PURGED] == [purged.counts]
            assert files_with(SECRET, tmp_path) == []
            assert files_with("s1", tmp_path / ".state" / "sessions") == []
            assert "s1" not in light.sessions()
            other.close()
            there = await light.resume("s2")
            assert len(there.content) == 16
            assert OTHER in (await light.memory_search(OTHER)).content[0]["text"]
            with pytest.raises(SessionNotFoundError):
                await light.purge_session("s1")

    asyncio.run(main())


def test_a_text_that_another_session_refers_to_stays(tmp_path):
    async def main():
        async with light_in(tmp_path, enable_notes=False) as light:
            for session_id in ("s1", "s2"):
                memory = light.get_in_memory_memory(session_id)
                text = light._services.results.store.put(f"{OTHER} " * 2_000)
                await memory.add(Msg("system", f"[full text in tool_result/{text.name}]", "user"))
                memory.close()
            alone = light._services.results.store.put(f"{SECRET} " * 2_000)
            memory = await light.resume("s1")
            await memory.add(Msg("system", f"[full text in tool_result/{alone.name}]", "user"))
            memory.close()
            assert (await light.purge_session("s1")).counts["tool_results"] == 1
            assert not alone.path.exists()
            assert text.path.exists()
            assert (await light.purge_session("s2")).counts["tool_results"] == 1
            assert not text.path.exists()

    asyncio.run(main())


def test_a_purge_that_was_cut_off_can_be_made_again(tmp_path, monkeypatch):
    async def main():
        async with light_in(tmp_path, enable_notes=False) as light:
            (await session_of(light, SECRET, "s1")).close()
            with monkeypatch.context() as patched:
                patched.setattr("agentscope_reme.storage._journal.Journal.delete", _crash)
                with pytest.raises(KeyboardInterrupt):
                    await light.purge_session("s1")
            assert (await light.purge_session("s1")).counts["journals"] == 1
            assert files_with(SECRET, tmp_path) == []

    asyncio.run(main())


def _crash(*_):
    raise KeyboardInterrupt


def test_the_vectors_of_a_purged_session_are_not_in_the_cache(tmp_path):
    async def main():
        async with light_in(tmp_path, enable_notes=False) as light:
            await session_of(light, OTHER, "s2")
            await light.sync()
            before = await light._search._embedders._cache.count()
            (await session_of(light, SECRET, "s1")).close()
            await light.sync()
            assert await light._search._embedders._cache.count() > before
            await light.purge_session("s1")
            assert await light._search._embedders._cache.count() == before

    asyncio.run(main())


@pytest.mark.parametrize("keep_notes", [False, True])
def test_a_folder_is_purged_and_a_vector_memory_in_it_stays(tmp_path, keep_notes):
    async def main():
        async with ReMe(tmp_path, embedding_model=HashEmbedding(64)) as reme:
            await reme.add_memory("likes tea", user_name="alice")
            light = light_in(tmp_path)
            async with light:
                memory = await session_of(light, SECRET, "s1")
                await light.summary_memory(turn(SECRET, 1))
                (tmp_path / "MEMORY.md").write_text("- By hand.\n", "utf-8")
                (tmp_path / "mine.txt").write_text("of my own", "utf-8")
                with pytest.raises(ConfigError, match="confirm=True"):
                    await light.purge_workspace()
                with pytest.raises(SessionInUseError, match="'s1' is open"):
                    await light.purge_workspace(confirm=True)
                memory.close()
                purged = await light.purge_workspace(confirm=True, keep_notes=keep_notes)
                assert purged.counts["sessions"] >= 1
                left = files_with(SECRET, tmp_path)
                assert left == [] if not keep_notes else all(name.startswith("memory/") for name in left)
                assert (tmp_path / "MEMORY.md").exists() == keep_notes
                assert (tmp_path / "mine.txt").exists()
                await light.start()  # and can be used again
                await session_of(light, OTHER, "s3")
                assert light.sessions() == ["s3"]
            await reme.add_memory("likes milk", user_name="alice")
            assert len(await reme.list_memory(user_name="alice")) == 2

    asyncio.run(main())
