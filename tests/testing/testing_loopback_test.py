# -*- coding: utf-8 -*-
"""The loopback server itself, and with it the pins: the host alone, over real HTTP, without this package's memory."""

import asyncio
import itertools
import socket
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest
from _loopback import Broken, Empty, Garbage, Hang, Loopback, Status, Text, faults_of, qwen_tokens
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse
from pydantic import BaseModel

from agentscope_reme.testing import call

Start = Callable[..., Loopback]


async def weather(city: str) -> ToolResponse:
    """Look up the weather.

    Args:
        city (`str`):
            The city's name.
    """
    return ToolResponse([TextBlock(type="text", text=f"{city}: 晴 sunny")])


def agent_over(server: Loopback, stream: bool, parallel: bool = True) -> ReActAgent:
    toolkit = Toolkit()
    toolkit.register_tool_function(weather)
    model = server.model(stream=stream)
    formatter = OpenAIChatFormatter()
    return ReActAgent("friday", "You help.", model, formatter, toolkit, parallel_tool_calls=parallel)


def ask(agent: ReActAgent, text: str = "How is the weather? 天气怎么样？") -> Msg:
    return asyncio.run(agent.reply(Msg("user", text, "user")))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("parallel", [True, False])
def test_a_real_agent_runs_parallel_calls(loopback: Start, stream: bool, parallel: bool) -> None:
    calls = [call("weather", city="Hangzhou"), call("weather", city="北京")]
    server = loopback([["Let me look. 我看看。", *calls], "It is sunny in both. 都是晴天。"], window=4000)

    reply = ask(agent_over(server, stream, parallel))

    assert reply.get_text_content() == "It is sunny in both. 都是晴天。"
    assert server.violations == []
    first, second = server.requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["weather"]
    assert bool(first.body.get("stream")) is stream
    results = {m["tool_call_id"]: m["content"] for m in second.messages if m["role"] == "tool"}
    assert list(results) == [c.id for c in calls]
    assert "北京: 晴 sunny" in str(results[calls[1].id])
    assert first.tokens is not None
    assert second.tokens is not None
    assert first.tokens < second.tokens < 4000


def test_a_stream_arrives_in_growing_chunks(loopback: Start) -> None:
    text = "One two three four five six seven. 一二三四五六七。"
    server = loopback([Text(text, (call("weather", city="杭州"),), thinking="Hm, let me think.", piece=5)])

    async def chunks() -> list[Any]:
        stream = await server.model()([{"role": "user", "content": "go"}])
        return [chunk async for chunk in stream]

    got = asyncio.run(chunks())
    texts = [block["text"] for chunk in got for block in chunk.content if block["type"] == "text"]
    assert len(got) > 8
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(texts))
    assert [block["type"] for block in got[-1].content] == ["thinking", "text", "tool_use"]
    assert got[-1].content[-1]["input"] == {"city": "杭州"}
    assert got[-1].usage.input_tokens > 0


@pytest.mark.parametrize("stream", [True, False])
def test_structured_output(loopback: Start, stream: bool) -> None:
    class Answer(BaseModel):
        rewritten_query: str

    server = loopback(['{"rewritten_query": "weather on 2026-01-02"}'])

    async def run() -> Any:
        model = server.model(stream=stream)
        reply = await model([{"role": "user", "content": "go"}], structured_model=Answer)
        return [chunk async for chunk in reply][-1] if stream else reply

    assert asyncio.run(run()).metadata == {"rewritten_query": "weather on 2026-01-02"}


def test_a_request_over_the_window_is_refused_and_kept(loopback: Start) -> None:
    server = loopback(lambda *_: "fine", window=300)
    agent = agent_over(server, stream=True)
    with pytest.raises(openai.BadRequestError) as refused:
        ask(agent, "long " * 400)
    assert refused.value.code == "context_length_exceeded"
    assert len(server.violations) == 1
    assert "over the window of 300" in server.violations[0]


def test_the_window_is_counted_with_the_counter_that_is_given(loopback: Start) -> None:
    server = loopback(lambda *_: "fine", window=10, count=lambda text: 11 if "three" in text else 10)
    model = server.model(stream=False)
    asyncio.run(model([{"role": "user", "content": "two"}]))
    with pytest.raises(openai.BadRequestError):
        asyncio.run(model([{"role": "user", "content": "three"}]))
    assert [request.tokens for request in server.requests] == [10, 11]


def use(*ids: str) -> dict[str, Any]:
    calls = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


USER = {"role": "user", "content": "go"}


@pytest.mark.parametrize(
    "messages",
    [
        [USER],
        [USER, use("a", "b"), result("b"), result("a")],
        [USER, use("call_0"), result("call_0"), use("call_0"), result("call_0"), USER],
    ],
)
def test_well_formed_requests_have_no_fault(messages: list[dict[str, Any]]) -> None:
    assert faults_of({"messages": messages}) == []


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        ([], "empty"),
        ([USER, use("a")], "end without the results of ['a']"),
        ([USER, use("a", "b"), result("a"), USER], "before the results of ['b']"),
        ([USER, use("a"), USER, result("a")], "before the results of ['a']"),
        ([USER, result("a")], "nothing before it asks"),
        ([USER, use("a"), result("a"), result("a")], "nothing before it asks"),
        ([USER, use("a"), result("b"), result("a")], "nothing before it asks"),
        ([USER, {"role": "assistant", "content": None}], "neither content nor calls"),
        ([{"role": "robot", "content": "x"}], "role 'robot'"),
    ],
)
def test_malformed_requests_are_refused_and_kept(loopback: Start, messages: list[dict[str, Any]], word: str) -> None:
    assert any(word in fault for fault in faults_of({"messages": messages}))
    server = loopback(lambda *_: "fine")
    with pytest.raises(openai.BadRequestError):
        asyncio.run(server.model(stream=False)(messages))
    assert any(word in violation for violation in server.violations)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Status(429), openai.RateLimitError),
        (Status(500), openai.InternalServerError),
        (Garbage(), Exception),
        (Broken(["half of a longer text that is cut", call("weather", city="x")]), Exception),
        (Hang(), openai.APITimeoutError),
    ],
)
def test_failures_reach_the_client(loopback: Start, stream: bool, answer: Any, error: type[Exception]) -> None:
    server = loopback(lambda *_: answer)

    async def run() -> list[Any]:
        reply = await server.model(stream=stream, timeout=0.2)([USER])
        return [chunk async for chunk in reply] if stream else [reply]

    with pytest.raises(error):
        asyncio.run(run())


def test_garbage_can_look_like_a_stream_that_says_nothing(loopback: Start) -> None:
    async def run() -> list[Any]:
        return [chunk async for chunk in await loopback([Garbage(b"<html>busy</html>")]).model()([USER])]

    assert asyncio.run(run()) == []


def test_a_broken_stream_leaves_the_agent_with_a_dangling_call(loopback: Start) -> None:
    answer = Broken([call("weather", city="Hangzhou"), call("weather", city="Beijing")], after=4)
    agent = agent_over(loopback([answer]), stream=True)
    with pytest.raises(Exception, match=r"peer closed|incomplete"):
        ask(agent)
    last = asyncio.run(agent.memory.get_memory())[-1]
    assert last.has_content_blocks("tool_use")


@pytest.mark.parametrize("stream", [True, False])
def test_an_empty_answer_is_an_empty_message(loopback: Start, stream: bool) -> None:
    reply = ask(agent_over(loopback([Empty()]), stream))
    assert not reply.get_content_blocks()


def test_429_then_success_with_retries(loopback: Start) -> None:
    server = loopback([Status(429, headers={"retry-after-ms": "1"}), "fine"])
    reply = asyncio.run(server.model(stream=False, max_retries=1)([USER]))
    assert reply.content[0]["text"] == "fine"
    assert len(server.requests) == 2


def test_embeddings(loopback: Start) -> None:
    server = loopback()
    reply = asyncio.run(server.embedding()(["hello world", "你好"]))
    assert [len(vector) for vector in reply.embeddings] == [64, 64]
    assert server.embedding_requests[0]["input"] == ["hello world", "你好"]
    client = openai.OpenAI(api_key="none", base_url=server.url, max_retries=0)
    again = client.embeddings.create(model="loopback", input="你好").data[0].embedding  # base64 on the wire
    assert again == pytest.approx(reply.embeddings[1], abs=1e-6)


def test_a_hanging_server_stops_at_once() -> None:
    start = time.monotonic()
    with Loopback([Hang()]) as server, pytest.raises(openai.APITimeoutError):
        asyncio.run(server.model(stream=False, timeout=0.2)([USER]))
    assert time.monotonic() - start < 5


def test_a_fault_in_the_script_fails_the_test() -> None:
    server = Loopback(["one"]).__enter__()
    model = server.model(stream=False)
    asyncio.run(model([USER]))
    with pytest.raises(openai.InternalServerError):
        asyncio.run(model([USER]))
    with pytest.raises(AssertionError, match="no answer for request 1"):
        server.__exit__()


def test_nothing_but_this_machine_can_be_reached() -> None:
    with pytest.raises(OSError, match="tests stay on this machine"):
        socket.create_connection(("models.invalid", 80))


def test_the_default_counter_is_qwens() -> None:
    assert qwen_tokens("hello world") == 2
    assert 0 < qwen_tokens("你好，世界") < 5
