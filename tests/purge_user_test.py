# -*- coding: utf-8 -*-
"""All of a user is removed for good with one call: every byte is looked at, and what belongs to others stays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from _bytes_left import files_with
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import ConfigError, MemoryManager, ReMe, SessionInUseError, SessionNotFoundError
from agentscope_reme._session_users import SessionUsers
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel, call

SECRET, OTHER = "zebra蓝鲸", "marigold"


async def look(word: str) -> ToolResponse:
    """Look something up.

    Args:
        word: what.
    """
    return ToolResponse([TextBlock(type="text", text=f"{word} lives by the sea. " * 50)])


def an_agent(word: str) -> ReActAgent:
    toolkit = Toolkit()
    toolkit.register_tool_function(look)
    model = ScriptedChatModel([call("look", word=word), f"{word}, noted."] * 9)
    agent = ReActAgent("bot", "You help.", model, OpenAIChatFormatter(), toolkit=toolkit)
    agent.set_console_output_enabled(False)
    return agent


def a_manager(folder: Path, reme: ReMe) -> MemoryManager:
    return MemoryManager(
        folder / "work", recall_from=reme, capture=True, enable_notes=False, embedding_model=HashEmbedding(64)
    )


def a_reme(folder: Path) -> ReMe:
    return ReMe(folder / "reme", model=None, embedding_model=HashEmbedding(64))


async def said_by(manager: MemoryManager, user: str, word: str, session_id: str) -> ReActAgent:
    """An agent that a user has told something, half of which was archived."""
    agent = an_agent(word)
    manager.attach(agent, session_id, user_name=user)
    await agent(Msg(user, f"记住，我的密码提示是{word}。", "user"))
    await manager.new(agent)
    await agent(Msg(user, f"I like the {word}.", "user"))
    return agent


def test_a_user_goes_with_sessions_memories_and_tool_calls_and_others_stay(tmp_path: Path) -> None:
    async def main() -> None:
        async with a_reme(tmp_path) as reme:
            async with a_manager(tmp_path, reme) as manager:
                manager.detach(await said_by(manager, "alice", SECRET, "s1"))
            async with a_manager(tmp_path, reme) as manager:
                agent, other = await said_by(manager, "alice", SECRET, "s2"), await said_by(manager, "bob", OTHER, "s3")
                await manager.sync()
                assert {name.split("/")[1] for name in files_with(SECRET, tmp_path)} >= {"dialog", ".state"}
                with pytest.raises(ConfigError, match="confirm=True"):
                    await manager.purge_user("alice")
                with pytest.raises(ConfigError, match="names nobody"):
                    await manager.purge_user(" ", confirm=True)
                purged = await manager.purge_user("alice", confirm=True)
                assert (purged.counts["journals"], purged.counts["memories"], purged.counts["tool_calls"]) == (2, 1, 4)
                assert purged.is_compact
                assert files_with(SECRET, tmp_path) == []
                assert not {"s1", "s2"} & set(manager.sessions())
                assert [node.content for node in await reme.list_memory(user_name="bob")] == [f"我的密码提示是{OTHER}"]
                assert len(await other.memory.get_memory()) > 0
                assert agent.memory.content == []
                await agent(Msg("alice", "Hello again", "user"))  # who goes on with an empty session
                with pytest.raises(SessionNotFoundError):
                    await manager.resume("s1", agent)
                again = await manager.purge_user("alice", confirm=True)
                assert again.counts["journals"] == 1
                assert files_with("Hello again", tmp_path) == []
                assert SessionUsers(manager.workspace.state_dir).sessions_of("alice") == [agent.memory.session_id]

    asyncio.run(main())


def test_a_session_that_another_manager_has_open_is_named_and_the_next_call_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        async with a_reme(tmp_path) as reme, a_manager(tmp_path, reme) as manager:
            async with a_manager(tmp_path, reme) as other:
                agent = await said_by(other, "alice", SECRET, "s1")
                with pytest.raises(SessionInUseError):
                    await manager.purge_user("alice", confirm=True)
                other.detach(agent)
            assert (await manager.purge_user("alice", confirm=True)).counts["journals"] == 1
            assert files_with(SECRET, tmp_path) == []

    asyncio.run(main())


def test_a_purged_memory_is_not_there_again_when_its_session_is_resumed(tmp_path: Path) -> None:
    async def main() -> None:
        async with a_reme(tmp_path) as reme:
            async with a_manager(tmp_path, reme) as manager:
                agent = an_agent(SECRET)
                manager.attach(agent, "s1", user_name="alice")
                await agent(Msg("alice", f"记住，我的密码提示是{SECRET}。", "user"))
                await manager._handed_over()
                assert (await reme.purge_all("alice")).counts["memories"] == 1
            for cure in (reme.purge_all, reme.delete_all):
                async with a_manager(tmp_path, reme) as manager:
                    agent = an_agent(OTHER)
                    manager.attach(agent, user_name="alice")
                    await manager.resume("s1", agent)
                    await agent(Msg("alice", "记住，我喜欢茶。", "user"))
                    await manager._handed_over()
                    assert [node.content for node in await reme.list_memory("alice")] == ["我喜欢茶"]
                    await cure("alice")

    asyncio.run(main())
