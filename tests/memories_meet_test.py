# -*- coding: utf-8 -*-
"""Agents with the real vector memory: recall, recorded calls and long-term memory over one store, across restarts."""

import asyncio
import json

import anyio
import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import ConfigError, MemoryManager, RecallConfig, ReMe, ReMeLight, ReMeLongTermMemory
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
            MemoryManager(
                tmp_path,
                model=None,
                recall=RecallConfig(min_score=0.05),
                recall_from=reme,
                enable_notes=False,  # which are shown as well, once a session was closed
            ) as manager,
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


@pytest.mark.parametrize("way", ["manager", "static_control", "agent_control", "both"])
def test_feedback_on_a_reply_reaches_the_memories_that_it_was_given_and_no_others(tmp_path, way):
    async def main():
        async with ReMe(tmp_path, embedding_model=None) as reme:
            await reme.add_memories(["Alice drinks green tea.", "Alice plays the piano."], user_name="alice")
            await reme.add_memory("Ask for the city first.", tool_name="weather")
            options = {}
            if way != "manager":
                memory = ReMeLongTermMemory(reme, user_name="alice")
                options = {"long_term_memory": memory, "long_term_memory_mode": way}
            steps = [[call("retrieve_from_memory", keywords=["piano"])]] if way in ("agent_control", "both") else []
            agent = agent_with(*steps, "Green tea.", "You are welcome.", **options)
            async with MemoryManager(tmp_path / "m", model=None, recall_from=reme) as manager:
                manager.attach(agent, **({"user_name": "alice"} if way == "manager" else {}))
                reply = await agent(Msg("alice", "Which tea do I drink?", "user"))
                thanks = await agent(Msg("alice", "Danke", "user"))
                changed = await manager.feedback(reply, 1)
                assert {node.content for node in changed} == {
                    "manager": {"Alice drinks green tea.", "Ask for the city first."},
                    "static_control": {"Alice drinks green tea.", "Ask for the city first."},
                    "agent_control": {"Alice plays the piano.", "Ask for the city first."},
                    "both": {"Alice drinks green tea.", "Alice plays the piano.", "Ask for the city first."},
                }[way]
                assert all(node.importance > 0.5 for node in changed)
                worse = await manager.feedback(thanks.id, -1)  # its query was asked together with the last turn
                assert {node.content for node in worse} <= {"Ask for the city first.", "Alice drinks green tea."}
        with pytest.raises(ConfigError, match="no vector memory"):
            await MemoryManager(tmp_path / "n", model=None).feedback(reply, 1)

    asyncio.run(main())


def test_without_a_manager_a_long_term_memory_knows_its_replies_too(tmp_path):
    async def main():
        async with ReMe(tmp_path, embedding_model=None) as reme:
            await reme.add_memories(["Alice drinks green tea.", "Alice plays the piano."], user_name="alice")
            memory = ReMeLongTermMemory(reme, user_name="alice")
            agent = agent_with("Green tea.", long_term_memory=memory, long_term_memory_mode="static_control")
            reply = await agent(Msg("alice", "Which tea do I drink?", "user"))
            assert [node.content for node in await memory.feedback(reply, 1)] == ["Alice drinks green tea."]
            asking = ReMeLongTermMemory(reme, user_name="alice")
            agent = agent_with(
                [call("retrieve_from_memory", keywords=["piano"])], "The piano.", "Yes.",
                long_term_memory=asking, long_term_memory_mode="agent_control",
            )  # fmt: skip
            for expected in (["Alice plays the piano."], []):
                reply = await agent(Msg("alice", "What do I play?", "user"))
                await asking.note_reply(reply)
                judged = await asking.feedback(reply.id, -1)
                assert [node.content for node in judged] == expected
            with pytest.raises(ConfigError, match="no vector memory"):
                await ReMeLongTermMemory(notes=ReMeLight(tmp_path / "n", model=None)).feedback(reply, 1)

    asyncio.run(main())


def test_of_condensed_memories_an_agent_is_shown_the_sources_that_it_asks_for(tmp_path):
    said = [
        "I went to Lisbon in spring and stayed at the Hotel Mundial for four nights.",
        "The tram number 28 was so crowded that we walked up to the castle instead.",
        "My sister Clara joined us on the third day and we ate grilled sardines.",
        "The flight back was TP 534 at 18:40 and it was two hours late.",
        "We bought tiles for the kitchen in a small shop in Alfama, forty euros each.",
        "Next time I would rather take the train from Madrid, if there is one.",
    ]

    async def main():
        async with ReMe(tmp_path, embedding_model=None) as reme:
            for at, text in enumerate(said):
                await reme.add_memory(
                    text, user_name="alice", ref_memory_id="s1", message_time=f"2026-03-01 10:0{at}:00", importance=0.4
                )
            assert (await reme.refine(user_name="alice")).refined == 1
            agent = agent_with("TP 534.", "Clara.")
            async with MemoryManager(tmp_path / "m", model=None, recall_from=reme) as manager:
                manager.attach(agent, user_name="alice")
                await agent(Msg("alice", "Which flight did we take back, and when?", "user"))
                assert "TP 534 at 18:40" in asked_of(agent)
            shown = await ReMeLongTermMemory(reme, user_name="alice").retrieve(
                Msg("alice", "When exactly did Clara join us?", "user")
            )
            assert "on the third day" in shown
            for memory in await reme.list_memory(user_name="alice"):
                assert not memory.when_to_use or memory.when_to_use not in shown  # words to be found by are not shown

    asyncio.run(main())
