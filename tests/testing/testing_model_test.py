# -*- coding: utf-8 -*-
"""The scripted chat model behaves as AgentScope's own models do, alone and in a real agent."""

import asyncio
import itertools
import json
import time
from typing import Any

import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.model import ChatResponse
from agentscope.tool import Toolkit, ToolResponse
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agentscope_reme._errors import ConfigError
from agentscope_reme.testing import ScriptedChatModel, ToolCall, call

GO = [{"role": "user", "content": "go"}]

texts = st.text(min_size=1, max_size=40)
parts = st.one_of(
    texts,
    st.builds(ToolCall, st.sampled_from(["read", "搜索"]), st.dictionaries(texts, st.integers() | texts, max_size=3)),
    texts.map(lambda t: {"type": "thinking", "thinking": t}),
    st.just({"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/a.png"}}),
)


def ask(model: ScriptedChatModel, **kwargs: Any) -> ChatResponse:
    return asyncio.run(model(GO, **kwargs))


def stream(model: ScriptedChatModel, into: list[ChatResponse] | None = None, **kwargs: Any) -> list[ChatResponse]:
    got: list[ChatResponse] = [] if into is None else into

    async def run() -> None:
        async for chunk in await model(GO, **kwargs):
            got.append(chunk)

    asyncio.run(run())
    return got


def without_ids(blocks: Any) -> list[dict[str, Any]]:
    return [{k: v for k, v in block.items() if k != "raw_input"} for block in blocks]


@given(st.lists(parts, min_size=1, max_size=4), st.integers(1, 20))
def test_the_last_chunk_is_the_whole_reply(reply: list[Any], piece: int) -> None:
    whole = ask(ScriptedChatModel([reply]))
    chunks = stream(ScriptedChatModel([reply], stream=True, piece=piece))

    assert chunks[-1].content == whole.content
    assert len({chunk.id for chunk in chunks}) == 1
    for earlier, later in itertools.pairwise(chunks):
        assert_grows(list(earlier.content), list(later.content))


def assert_grows(earlier: list[Any], later: list[Any]) -> None:
    """What was streamed stays, and only the last block is still growing."""
    assert len(later) - len(earlier) in (0, 1)
    assert without_ids(earlier[:-1]) == without_ids(later[: len(earlier) - 1])
    last, grown = earlier[-1], later[len(earlier) - 1]
    for key in ("text", "thinking", "raw_input"):
        assert grown.get(key, "").startswith(last.get(key, ""))


def test_a_call_is_partial_first() -> None:
    chunks = stream(ScriptedChatModel([call("read", path="src/main.py")], stream=True, piece=8))
    inputs = [chunk.content[0]["input"] for chunk in chunks]
    assert inputs[0] == {}
    assert len(inputs) > 2
    assert inputs[-1] == {"path": "src/main.py"}
    assert json.loads(chunks[-1].content[0]["raw_input"]) == inputs[-1]


def test_replies_come_in_order_and_requests_are_kept() -> None:
    ready = ChatResponse(content=[TextBlock(type="text", text="ready")])
    model = ScriptedChatModel(["one", {"type": "thinking", "thinking": "hm"}, ready], model_name="m")
    messages = [{"role": "user", "content": "first"}]
    tools = [{"type": "function", "function": {"name": "f"}}]

    first = asyncio.run(model(messages, tools=tools, tool_choice="auto"))
    messages[0]["content"] = "edited"
    second, third = ask(model), ask(model)

    assert [first.content, second.content, third.content] == [
        [{"type": "text", "text": "one"}],
        [{"type": "thinking", "thinking": "hm"}],
        [{"type": "text", "text": "ready"}],
    ]
    assert model.requests[0].messages == [{"role": "user", "content": "first"}]
    assert model.requests[0].tools == tools
    assert model.requests[0].tool_choice == "auto"
    assert len(model.requests) == 3


def test_a_script_that_is_too_short_says_so() -> None:
    model = ScriptedChatModel(["one"], model_name="short")
    ask(model)
    with pytest.raises(ConfigError, match=r"'short' has no reply for request 2.*go"):
        ask(model)


@pytest.mark.parametrize("one_reply", ["text", call("f"), {"type": "text", "text": "x"}])
def test_a_reply_in_place_of_a_script_is_refused(one_reply: Any) -> None:
    with pytest.raises(ConfigError, match="is one reply"):
        ScriptedChatModel(one_reply)


@pytest.mark.parametrize("nonsense", [3, None, {"text": "no type"}, ["a", 3]])
def test_what_is_no_reply_is_named(nonsense: Any) -> None:
    with pytest.raises(ConfigError, match="a scripted reply holds"):
        ask(ScriptedChatModel([nonsense]))


def test_a_function_answers_from_the_request() -> None:
    model = ScriptedChatModel(lambda messages, tools: f"{messages[-1]['content']} {tools}")
    assert ask(model).content[0]["text"] == "go None"

    async def slowly(messages: list[dict], tools: list[dict] | None) -> Any:
        await asyncio.sleep(0)
        return call("f", n=len(messages))

    assert ask(ScriptedChatModel(slowly)).content[0]["input"] == {"n": 1}


@pytest.mark.parametrize("streamed", [True, False])
def test_an_exception_is_raised(streamed: bool) -> None:
    with pytest.raises(TimeoutError, match="busy"):
        ask(ScriptedChatModel([TimeoutError("busy")], stream=streamed))


def test_a_stream_may_break_off() -> None:
    reply = ["Let me see.", call("read", path="a"), ConnectionError("cut")]
    got: list[ChatResponse] = []
    with pytest.raises(ConnectionError, match="cut"):
        stream(ScriptedChatModel([reply], stream=True), got)
    assert [block["type"] for block in got[-1].content] == ["text", "tool_use"]
    with pytest.raises(ConnectionError, match="cut"):
        ask(ScriptedChatModel([reply]))


class Answer(BaseModel):
    city: str
    days: int = 1


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("reply", [{"city": "杭州", "days": 1}, Answer(city="杭州"), '{"city": "杭州", "days": 1}'])
def test_structured_answers_are_metadata(reply: Any, streamed: bool) -> None:
    model = ScriptedChatModel([reply], stream=streamed)
    got = (stream(model, structured_model=Answer) if streamed else [ask(model, structured_model=Answer)])[-1]
    assert Answer.model_validate(got.metadata) == Answer(city="杭州")
    assert model.requests[0].structured_model is Answer


def test_a_text_in_place_of_a_structured_answer_has_no_metadata() -> None:
    got = ask(ScriptedChatModel(["I'd rather not."]), structured_model=Answer)
    assert got.metadata is None
    assert got.content[0]["text"] == "I'd rather not."


def test_delay_can_be_cancelled_and_takes_the_reply_with_it() -> None:
    model = ScriptedChatModel(["slow", "next"], delay=30)

    async def run() -> None:
        await asyncio.wait_for(model(GO), 0.05)

    start = time.monotonic()
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(run())
    assert time.monotonic() - start < 10
    model.delay = 0
    assert ask(model).content[0]["text"] == "next"


def test_piece_must_be_positive() -> None:
    with pytest.raises(ConfigError, match="piece=0"):
        ScriptedChatModel([], piece=0)


def test_ids_are_fresh_unless_given() -> None:
    assert call("f").id != call("f").id
    assert ToolCall("f", {"tool_name": "x"}, id="call_0").block()["id"] == "call_0"


@pytest.mark.parametrize("streamed", [True, False])
def test_a_real_agent_runs_on_a_script(streamed: bool) -> None:
    async def read(path: str) -> ToolResponse:
        """Read.

        Args:
            path (`str`):
                The path.
        """
        return ToolResponse([TextBlock(type="text", text=f"content of {path}")])

    toolkit = Toolkit()
    toolkit.register_tool_function(read)
    script = [["Reading two.", call("read", path="a"), call("read", path="乙")], "完成 done"]
    model = ScriptedChatModel(script, stream=streamed)
    agent = ReActAgent("coder", "You code.", model, OpenAIChatFormatter(), toolkit, parallel_tool_calls=True)

    reply = asyncio.run(agent.reply(Msg("user", "Read a and 乙", "user")))

    assert reply.get_text_content() == "完成 done"
    results = [m["content"] for m in model.requests[1].messages if m["role"] == "tool"]
    assert ["content of a" in str(results[0]), "content of 乙" in str(results[1])] == [True, True]
    assert model.requests[0].tools[0]["function"]["name"] == "read"
