# -*- coding: utf-8 -*-
"""Agents with the real vector memory: recall, recorded calls and long-term memory over one store, across restarts."""

import asyncio
import json

import anyio
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import MemoryManager, RecallConfig, ReMe, ReMeLongTermMemory
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel, call


def weather(city: str) -> ToolResponse:
    """Tell the weather.

    Args:
        city (`str`):
            Where.
    """
    if city == "Atlantis":
        raise LookupError("no such city")
    return ToolResponse(content=[TextBlock(type="text", text=f"Rain in {city}.")])


def agent_with(*replies, model=None, **options) -> ReActAgent:
    toolkit = Toolkit()
    toolkit.register_tool_function(weather)
    model = model or ScriptedChatModel(replies)
    return ReActAgent("friday", "Help.", model, OpenAIChatFormatter(), toolkit, **options)


def asked_of(agent: ReActAgent) -> str:
    return json.dumps(agent.model.requests[-1].messages, ensure_ascii=False)


def drawn(*contents: str) -> str:
    return json.dumps({"memories": [{"content": content, "sources": [1]} for content in contents]})


def test_what_one_session_recorded_the_next_one_is_shown(tmp_path):
    async def session(number: int, question: str) -> str:
        async with (
            ReMe(tmp_path, embedding_model=HashEmbedding()) as reme,
            MemoryManager(tmp_path, model=None, recall=RecallConfig(min_score=0.05), recall_from=reme) as manager,
        ):
            memory = ReMeLongTermMemory(reme, manager, user_name="alice")
            agent = agent_with("Noted.", long_term_memory=memory, long_term_memory_mode="static_control")
            manager.attach(agent, f"session-{number}", user_name="alice")
            await agent(Msg("alice", question, "user"))
            again = ReMeLongTermMemory(reme, user_name="alice")
            assert await again.record([msg for msg, _ in agent.memory.content]) == []
            return asked_of(agent)

    async def main():
        await session(1, "I am allergic to peanuts.")
        shown = await session(2, "What am I allergic to, peanuts?")
        assert shown.count("I am allergic to peanuts.") == 1  # not from the manager and from the long-term memory too
        assert "personal/alice" in shown
        async with ReMe(tmp_path) as reme:
            said = [node.content for node in await reme.list_memory(user_name="alice", reverse=False)]
            assert said == ["I am allergic to peanuts.", "What am I allergic to, peanuts?"]
            assert await reme.list_memory(user_name="bob") == []

    asyncio.run(main())


def test_with_a_model_memories_are_drawn_once_and_shown_to_their_owner_only(tmp_path):
    async def main():
        writer = ScriptedChatModel([drawn("Alice is allergic to peanuts."), drawn()])
        async with ReMe(
            tmp_path, model=writer, formatter=OpenAIChatFormatter(), embedding_model=HashEmbedding()
        ) as reme:
            memory = ReMeLongTermMemory(reme, user_name="alice")
            agent = agent_with("Noted.", "Peanuts.", long_term_memory=memory, long_term_memory_mode="both")
            await agent(Msg("alice", "I am Alice and allergic to peanuts.", "user"))
            await agent(Msg("alice", "What is Alice allergic to?", "user"))
            assert "Alice is allergic to peanuts." in asked_of(agent)
            assert "Alice is allergic to peanuts." not in json.dumps(writer.requests[1].messages[-1]).split("known")[-1]
            assert len(writer.requests) == 2
            assert [node.content for node in await reme.list_memory(user_name="alice")] == [
                "Alice is allergic to peanuts."
            ]
            [node] = await reme.list_memory(user_name="alice")
            assert "allergic to peanuts" in str(
                [msg.content for msg in await reme.read_conversation(node.ref_memory_id, user_name="alice")]
            )
            assert await ReMeLongTermMemory(reme, user_name="bob").retrieve(Msg("bob", "peanuts?", "user")) == ""

    asyncio.run(main())


def test_recorded_calls_become_a_guide_that_is_shown_before_the_next_reply(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=HashEmbedding()) as reme:
            async with MemoryManager(tmp_path, model=None, recall_from=reme) as manager:
                agent = agent_with([call("weather", city="Rome"), call("weather", city="Atlantis")], "Rain.", "Rain.")
                manager.attach(agent)
                await agent(Msg("alice", "How is the weather in Rome?", "user"))
            records = await reme.tool_records.of("weather")
            assert sorted((record.success, record.output) for record in records) == [
                (False, "Error: no such city"),
                (True, "Rain in Rome."),
            ]
            [guide] = await reme.summarize_memory([], tool_name="weather")
            await manager.start()
            await agent(Msg("alice", "weather of Rome", "user"))
            assert "tool/weather" in asked_of(agent)
            assert guide.content.split()[0] in asked_of(agent)
            await manager.close()

    asyncio.run(main())


def test_a_call_that_is_seen_as_it_is_made_and_in_the_conversation_is_one_record(tmp_path):
    async def main():
        async with ReMe(tmp_path) as reme:
            memory = ReMeLongTermMemory(reme, tool_name="weather")
            calls = [call("weather", city="Rome"), call("weather", city="Oslo"), call("weather", city="Atlantis")]
            agent = agent_with(
                calls, "Rain.", calls[:1], "Still.", long_term_memory=memory, long_term_memory_mode="static_control"
            )
            async with MemoryManager(tmp_path, model=None, recall_from=reme) as manager:
                manager.attach(agent)
                await agent(Msg("alice", "How is the weather?", "user"))
                await anyio.sleep(0.01)
                await agent(Msg("alice", "And now?", "user"))
            cities = sorted(record.input["city"] for record in await reme.tool_records.of("weather"))
            assert cities == ["Atlantis", "Oslo", "Rome", "Rome"]

    asyncio.run(main())


def test_the_tools_store_and_find_in_the_same_store(tmp_path):
    async def main():
        async with ReMe(tmp_path) as reme:
            memory = ReMeLongTermMemory(reme, user_name=["alice", "bob"], agent_name="friday")
            agent = agent_with(
                call("record_to_memory", thinking="a plan", content=["Alice flies to Lisbon on 2026-12-24."]),
                call("retrieve_from_memory", keywords=["Lisbon"]),
                "On Christmas Eve.",
                long_term_memory=memory,
                long_term_memory_mode="agent_control",
            )
            await agent(Msg("alice", "When do I fly?", "user"))
            assert asked_of(agent).count("- [personal/") == 1  # the same text of both is shown once
            nodes = await reme.list_memory(user_name=["alice", "bob"])
            assert [(node.author, node.metadata["thinking"]) for node in nodes] == [("friday", "a plan")] * 2

    asyncio.run(main())
