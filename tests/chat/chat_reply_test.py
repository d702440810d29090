# -*- coding: utf-8 -*-
"""Asking a host model: streams, odd contents, errors, time, cancellation."""

import asyncio
from typing import Any

import pytest
from agentscope.formatter import DashScopeChatFormatter, OpenAIChatFormatter, OpenAIMultiAgentFormatter
from agentscope.model import ChatResponse
from agentscope.model._model_usage import ChatUsage
from agentscope.token import CharTokenCounter

from agentscope_reme._errors import ConfigError, ModelReplyError
from agentscope_reme.chat import Reply, ask
from agentscope_reme.testing import ScriptedChatModel


def asked(model: Any, user: str = "question", formatter: Any = None, **options: Any) -> Reply:
    return asyncio.run(ask(model, formatter or OpenAIChatFormatter(), "be brief", user, **options))


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_is_apart_from_the_answer(stream: bool) -> None:
    parts = [{"type": "thinking", "thinking": "block"}, "<think>inline</think>", "答案 and text"]
    reply = asked(ScriptedChatModel([parts], stream=stream))
    assert reply == Reply(text="答案 and text", thinking="block\ninline")


@pytest.mark.parametrize(
    "content",
    [
        None,
        [],
        [None, [], {}],
        "",
        [{"type": "text"}],
        [{"type": "text", "text": None}],
        [{"type": "thinking", "thinking": "hm"}],
    ],
)
def test_no_output_is_an_empty_text(content: Any) -> None:
    assert asked(ScriptedChatModel([ChatResponse(content=content)])).text == ""


@pytest.mark.parametrize(
    "content", ["plain", [{"type": "text", "text": "pl"}, [], None, {"type": "text", "text": "ain"}]]
)
def test_odd_contents_are_read(content: Any) -> None:
    assert asked(ScriptedChatModel([ChatResponse(content=content)])).text.replace("\n", "") == "plain"


class UsageLast:
    """A model whose last chunk carries only the usage."""

    async def __call__(self, _messages: list[dict[str, Any]]) -> Any:
        async def chunks() -> Any:
            yield ChatResponse(content=[{"type": "text", "text": "hel"}])
            yield ChatResponse(content=[{"type": "text", "text": "hello"}])
            yield ChatResponse(content=[], usage=ChatUsage(3, 4, 0.1))

        return chunks()


def test_a_stream_is_its_last_content_with_its_last_usage() -> None:
    reply = asked(UsageLast())
    assert (reply.text, reply.usage.output_tokens) == ("hello", 4)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("error", [RuntimeError("429 限流"), TimeoutError(), KeyError("choices"), OSError("reset")])
def test_every_failure_is_one_kind_of_error(error: Exception, stream: bool) -> None:
    with pytest.raises(ModelReplyError, match=type(error).__name__) as caught:
        asked(ScriptedChatModel([["part of an answer", error]], stream=stream))
    assert caught.value.__cause__ is error


def test_a_late_reply_is_an_error() -> None:
    with pytest.raises(ModelReplyError, match=r"0\.01 seconds"):
        asked(ScriptedChatModel(["late"], delay=5), timeout=0.01)
    with pytest.raises(ModelReplyError, match=r"0\.01 seconds"):
        asked(ScriptedChatModel(["a longer late reply"], stream=True, chunk_delay=5), timeout=0.01)
    assert asked(ScriptedChatModel(["waited for"]), timeout=None).text == "waited for"


@pytest.mark.parametrize("stream", [False, True])
def test_cancellation_passes_through(stream: bool) -> None:
    async def cancelled() -> None:
        model = ScriptedChatModel(["a reply that takes long"], stream=stream, delay=9, chunk_delay=9)
        task = asyncio.create_task(ask(model, OpenAIChatFormatter(), "", "question"))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())


@pytest.mark.parametrize("formatter", [OpenAIChatFormatter, OpenAIMultiAgentFormatter, DashScopeChatFormatter])
def test_the_request_reaches_the_model_whole(formatter: type) -> None:
    model = ScriptedChatModel(["ok"])
    user = "第一行 {{name}} <a>&amp;</a>\n" * 50 + "half \ud83d pair"
    asked(model, user, formatter())
    sent = str(model.requests[0].messages)
    assert sent.count("第一行 {{name}} <a>&amp;</a>") == 50
    assert "be brief" in sent
    sent.encode("utf-8")


def test_a_formatter_that_drops_the_request_is_an_error() -> None:
    model = ScriptedChatModel(["a summary of nothing"])
    formatter = OpenAIChatFormatter(token_counter=CharTokenCounter(), max_tokens=400)
    with pytest.raises(ModelReplyError, match="max_tokens"):
        asked(model, "x" * 1000, formatter)
    assert model.requests == []


def test_a_model_needs_a_formatter() -> None:
    with pytest.raises(ConfigError, match="formatter"):
        asyncio.run(ask(ScriptedChatModel(["x"]), None, "", "question"))
