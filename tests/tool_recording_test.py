# -*- coding: utf-8 -*-
"""The tool calls of attached agents: each that is made is recorded once, with what came of it, beside the reply."""

import asyncio
import time

import anyio
import pytest
from _fake_reme import FakeReMe
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agentscope_reme import EventKind, MemoryManager
from agentscope_reme.testing import ScriptedChatModel, ToolCall, call


def said(text: str, **options) -> ToolResponse:
    return ToolResponse(content=[TextBlock(type="text", text=text)], **options)


async def look(place: str = "", seconds: float = 0.0) -> ToolResponse:
    """Look at a place."""
    await anyio.sleep(seconds)
    return said(f"seen {place}")


def fail(reason: str = "no reason") -> ToolResponse:
    """Fail."""
    raise ValueError(reason)


async def stream(count: int) -> object:
    """Count."""
    for n in range(count):
        yield said(" ".join(map(str, range(n + 1))), stream=True, is_last=n + 1 == count)


async def break_off() -> object:
    """Break off."""
    yield said("half")
    raise RuntimeError("gone")


def refuse() -> ToolResponse:
    """Refuse."""
    return said("not allowed", metadata={"success": False})


def shell(code: int) -> ToolResponse:
    """Answer as the host's own shell tool does."""
    return said(f"<returncode>{code}</returncode><stdout></stdout><stderr></stderr>")


TOOLS = (look, fail, stream, break_off, refuse, shell)


def agent_with(*replies, tools=TOOLS, toolkit=None, **options) -> ReActAgent:
    if toolkit is None:
        toolkit = Toolkit()
        for tool in tools:
            toolkit.register_tool_function(tool)
    return ReActAgent("friday", "Help.", ScriptedChatModel(replies), OpenAIChatFormatter(), toolkit, **options)


ASK = Msg("user", "go", "user")


def recorded(folder, work, reme=None, **options) -> FakeReMe:
    """What a vector memory was given by the time the manager is closed."""
    reme = reme or FakeReMe()

    async def main():
        async with MemoryManager(folder, model=None, recall_from=reme, **options) as manager:
            await work(manager)

    asyncio.run(main())
    return reme


def by_name(reme):
    return [(record.tool_name, record.success, record.output) for record in reme.records]


@pytest.mark.parametrize("parallel", [False, True])
def test_every_call_is_recorded_once_with_what_came_of_it(tmp_path, parallel):
    calls = [call("look", place="Rome"), call("fail", reason="wet"), call("stream", count=3), call("refuse")]
    codes = [call("shell", code=0), call("shell", code=1), call("missing"), call("look", nonsense=1)]

    async def work(manager):
        agent = agent_with(calls, codes, "done", parallel_tool_calls=parallel)
        manager.attach(agent, "s")
        await agent(ASK)

    reme = recorded(tmp_path, work)
    wrong = "Error: look() got an unexpected keyword argument 'nonsense'"
    assert sorted(by_name(reme)) == sorted(
        [
            ("look", True, "seen Rome"),
            ("fail", False, "Error: wet"),
            ("stream", True, "0 1 2"),
            ("refuse", False, "not allowed"),
            ("shell", True, "<returncode>0</returncode><stdout></stdout><stderr></stderr>"),
            ("shell", False, "<returncode>1</returncode><stdout></stdout><stderr></stderr>"),
            ("look", False, wrong),
        ]
    )
    rome = next(record for record in reme.records if record.output == "seen Rome")
    assert dict(rome.input) == {"place": "Rome"}
    assert rome.token_cost > 0
    assert abs(rome.create_time.timestamp() - time.time()) < 60
    assert dict(rome.metadata) == {"agent": "friday", "session_id": "s"}


@given(
    st.lists(st.lists(st.sampled_from(["look", "fail", "stream"]), min_size=1, max_size=4), max_size=4), st.booleans()
)
def test_calls_of_one_id_in_any_number_are_each_recorded(tmp_path_factory, rounds, parallel):
    """Some APIs call every first call `call_0`."""
    arguments = {"stream": {"count": 1}}
    replies = [[ToolCall(n, arguments.get(n, {}), f"call_{at}") for at, n in enumerate(names)] for names in rounds]

    async def work(manager):
        agent = agent_with(*replies, "done", parallel_tool_calls=parallel, max_iters=9)
        manager.attach(agent)
        await agent(ASK)

    reme = recorded(tmp_path_factory.mktemp("calls"), work)
    assert sorted(record.tool_name for record in reme.records) == sorted(name for names in rounds for name in names)


def test_time_is_that_of_the_call_and_the_reply_does_not_wait_for_the_record(tmp_path):
    reme = FakeReMe()
    reme.delay = 3_600

    async def work(manager):
        agent = agent_with([call("look", place="a", seconds=0.05)], "done")
        manager.attach(agent)
        assert (await agent.reply(ASK)).get_text_content() == "done"
        assert reme.records == []
        reme.delay = 0

    async def main():
        async with MemoryManager(tmp_path, model=None, recall_from=reme, recall=False) as manager:
            await work(manager)
            manager._recording._task.cancel()  # it would wait for an hour

    asyncio.run(main())
    assert [0.05 <= record.time_cost < 5 for record in reme.records] == [True]


@pytest.mark.filterwarnings("ignore:coroutine 'ReActAgent._acting'")  # the host leaves the calls behind it unmade
def test_an_interrupted_call_is_one_that_failed(tmp_path):
    async def work(manager):
        agent = agent_with([call("look", place="far", seconds=60), call("stream", count=1)], "sorry")
        manager.attach(agent)
        task = asyncio.ensure_future(agent(ASK))
        while not agent.memory.content or agent.memory.content[-1][0].role != "assistant":
            await anyio.sleep(0.01)
        await anyio.sleep(0.05)
        await agent.interrupt()
        assert (await task).metadata["_is_interrupted"]

    reme = recorded(tmp_path, work)
    assert [(record.tool_name, record.success) for record in reme.records] == [("look", False)]
    assert "interrupted" in reme.records[0].output


def test_a_tool_that_breaks_off_is_recorded_and_its_error_goes_on(tmp_path):
    async def work(manager):
        agent = agent_with([call("break_off")])
        manager.attach(agent)
        with pytest.raises(RuntimeError, match="gone"):
            await agent.reply(ASK)

    reme = recorded(tmp_path, work)
    assert by_name(reme) == [("break_off", False, "half\nRuntimeError: gone")]


def test_our_tools_and_the_hosts_own_are_not_recorded(tmp_path):
    class Answer(BaseModel):
        text: str

    async def work(manager):
        calls = [call("memory_search", query="x"), call("grep_working_memory", pattern="x"), call("look")]
        groups = [call("reset_equipped_tools")]
        agent = agent_with(calls, groups, [call("generate_response", text="x"), "done"], enable_meta_tool=True)
        manager.attach(agent)
        assert (await agent(ASK, structured_model=Answer)).metadata == {"text": "x"}

    assert [record.tool_name for record in recorded(tmp_path, work).records] == ["look"]


def test_what_is_long_is_bounded_and_what_is_secret_is_not_recorded(tmp_path):
    async def work(manager):
        agent = agent_with([call("look", place="key-1 " + "x" * 20_000), call("look", place="key-2")], "done")
        manager.attach(agent)
        await agent(ASK)

    reme = recorded(tmp_path, work, redact=lambda text: text.replace("key-", "***"))
    long, short = reme.records
    assert isinstance(long.input, str)
    assert len(long.input) <= 4_096
    assert len(long.output) <= 4_096
    assert long.token_cost > 2_000  # what it took of the context, not what is kept of it
    assert dict(short.input) == {"place": "***2"}
    assert "key-" not in str([record.to_dict() for record in reme.records])


def test_after_detach_nothing_is_left_and_nothing_is_recorded(tmp_path):
    async def work(manager):
        agent = agent_with([call("look")], "done", [call("look")], "done")
        manager.attach(agent)
        await agent(ASK)
        manager.detach(agent)
        assert agent.toolkit._middlewares == []
        await agent(Msg("user", "again", "user"))

    assert len(recorded(tmp_path, work).records) == 1


def test_of_agents_that_share_a_toolkit_only_those_that_are_attached_are_recorded(tmp_path):
    async def work(manager):
        replies = ([ToolCall("look", {}, "call_0")], "done")
        mine = agent_with(*replies, *replies)
        other = agent_with(*replies, toolkit=mine.toolkit)
        manager.attach(mine)
        await mine(ASK)
        await other(ASK)
        third = agent_with(*replies, toolkit=mine.toolkit)
        third.name = "third"
        manager.attach(third)
        await asyncio.gather(third(ASK), mine(Msg("user", "again", "user")))
        await mine.toolkit.call_tool_function(call("look").block())
        manager.detach(mine)
        assert len(mine.toolkit._middlewares) == 1

    assert sorted(record.metadata["agent"] for record in recorded(tmp_path, work).records) == ["friday"] * 2 + ["third"]


def test_agents_that_make_calls_of_one_id_at_the_same_time_are_told_apart(tmp_path):
    async def work(manager):
        agents = []
        for name, seconds in (("slow", 0.2), ("fast", 0.0)):
            agents.append(agent_with([ToolCall("look", {"seconds": seconds, "place": name}, "call_0")], "done"))
            agents[-1].name = name
            manager.attach(agents[-1])
        await asyncio.gather(*(agent(ASK) for agent in agents))

    reme = recorded(tmp_path, work)
    assert [(record.metadata["agent"], record.output) for record in reme.records] == [
        ("fast", "seen fast"),
        ("slow", "seen slow"),
    ]


def test_an_agent_that_is_a_tool_of_another_is_recorded_for_itself(tmp_path):
    async def work(manager):
        inner = agent_with([call("look", place="inside")], "inner done")
        inner.name = "inner"

        async def delegate() -> ToolResponse:
            """Ask somebody else."""
            return said((await inner(ASK)).get_text_content())

        outer = agent_with([call("delegate"), call("look", place="outside")], "done", tools=(delegate, look))
        manager.attach(outer)
        manager.attach(inner)
        await outer(ASK)

    reme = recorded(tmp_path, work)
    assert sorted((record.metadata["agent"], record.output) for record in reme.records) == [
        ("friday", "inner done"),
        ("friday", "seen outside"),
        ("inner", "seen inside"),
    ]


def test_a_history_that_is_resumed_or_moved_in_is_not_recorded_again(tmp_path):
    reme = FakeReMe()

    async def first(manager):
        agent = agent_with([call("look")], "done")
        manager.attach(agent, "s")
        await agent(ASK)

    async def second(manager):
        agent = agent_with([call("look")], "done")
        manager.attach(agent)
        await manager.resume("s")
        assert agent.memory.content
        await agent(Msg("user", "again", "user"))
        moved = agent_with("done", memory=InMemoryMemory())
        await moved.memory.add([msg for msg, _ in agent.memory.content])
        manager.attach(moved)
        await moved(Msg("user", "and again", "user"))

    recorded(tmp_path, first, reme)
    recorded(tmp_path, second, reme)
    assert len(reme.records) == 2


def test_a_vector_memory_that_fails_is_told_and_gets_the_calls_later(tmp_path):
    reme = FakeReMe()
    told = []

    async def work(manager):
        manager.subscribe(told.append)
        agent = agent_with([call("look", place="one")], "done", [call("look", place="two")], "done")
        manager.attach(agent)
        reme.fault = ConnectionError("refused")
        assert (await agent(ASK)).get_text_content() == "done"
        while not any(event.kind == EventKind.TOOL_CALLS_FAILED for event in told):
            await anyio.sleep(0.01)
        reme.fault = None
        await agent(Msg("user", "again", "user"))

    recorded(tmp_path, work, reme)
    assert [record.output for record in reme.records] == ["seen one", "seen two"]
    failed = [event for event in told if event.kind == EventKind.TOOL_CALLS_FAILED]
    assert [(event.error, event.details["calls"]) for event in failed] == [("ConnectionError: refused", 1)]
    assert sum(event.details["calls"] for event in told if event.kind == EventKind.TOOL_CALLS_RECORDED) == 2


def test_recording_can_be_switched_off_and_goes_on_without_recall(tmp_path):
    async def work(manager):
        agent = agent_with([call("look")], "done")
        manager.attach(agent)
        await agent(ASK)

    off = recorded(tmp_path / "a", work, record_tool_calls=False)
    assert (off.records, len(off.asked)) == ([], 1)
    alone = recorded(tmp_path / "b", work, recall=False)
    assert (len(alone.records), alone.asked) == (1, [])


def test_a_toolkit_that_takes_the_place_of_another_is_seen(tmp_path):
    async def work(manager):
        agent = agent_with([call("look")], "done")
        manager.attach(agent)
        old, agent.toolkit = agent.toolkit, Toolkit()
        agent.toolkit.register_tool_function(look)
        await agent(ASK)
        assert (len(old._middlewares), len(agent.toolkit._middlewares)) == (0, 1)

    assert len(recorded(tmp_path, work).records) == 1
