# -*- coding: utf-8 -*-
"""Extraction through a real HTTP server that is as strict as the OpenAI API: no request is malformed or too long."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import (
    ALICE,
    CODING,
    SEARCH,
    active,
    agent,
    bank_in,
    memories,
    run,
    tool_call,
    tool_result,
    user,
)
from _loopback import Empty, Garbage, Loopback, Status
from agentscope.formatter import OpenAIChatFormatter
from agentscope.model import OpenAIChatModel

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.message import tokenizer_for
from agentscope_reme.testing import call
from agentscope_reme.vector_memory import MemorySummarizer

pytestmark = pytest.mark.slow

NOTHING = "NOTHING TO REMEMBER"


def model_of(server: Loopback, stream: bool) -> OpenAIChatModel:
    client = {"base_url": server.url, "max_retries": 0}
    return OpenAIChatModel("qwen-plus", api_key="none", stream=stream, client_kwargs=client)


def summarizing(bank: Any, server: Loopback, stream: bool = True, **options: Any) -> MemorySummarizer:
    return MemorySummarizer(bank, model=model_of(server, stream), formatter=OpenAIChatFormatter(), **options)


@pytest.mark.parametrize("stream", [False, True])
def test_one_reply_for_each_target(tmp_path: Path, loopback: Callable[..., Loopback], stream: bool) -> None:
    def answer(body: dict[str, Any], _: int) -> Any:
        system = str(body["messages"][0]["content"])
        if "personal memories" in system:
            return memories({"content": "The user moved to Beijing", "from": [1]}, profile={"city": "Beijing"})
        if "usage guide" in system:
            return '{"verdicts": [{"call": 1, "score": 1}], "guide": "Short queries.", "when_to_use": "news"}'
        return memories({"content": "Look flights up first.", "when_to_use": "planning a journey"})

    server = loopback(answer, window=16_000)

    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            talk = [user("I moved to Beijing. Look flights up first."), tool_call(q="flights"), tool_result("none")]
            stored = await summarizing(bank, server, stream).summarize(talk, [ALICE, CODING, SEARCH])
            assert [node.owner for node in stored] == ["personal/alice", "procedural/coding", "tool/search_web"]
            assert stored[0].content == "alice moved to Beijing"

    run(scene)
    assert len(server.requests) == 3
    assert not server.violations


@pytest.mark.parametrize("stream", [False, True])
def test_agents_with_tools(tmp_path: Path, loopback: Callable[..., Loopback], stream: bool) -> None:
    script = [
        call("draft_memories", drafts=["alice moved to Beijing", "alice has a dog"]),
        [call("add_memory", content="alice moved to Beijing"), call("add_memory", content="alice has a dog")],
        "Two memories.",
        call("update_profile", entries={"city": "Beijing"}),
        "Done.",
    ]
    server = loopback(script, window=16_000)

    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            talk = [user("I moved to Beijing, and I have a dog."), agent("Noted.")]
            await summarizing(bank, server, stream, mode="agentic", enable_thinking_params=True).summarize(
                talk, [ALICE]
            )
            assert await active(bank, ALICE) == ["alice has a dog", "alice moved to Beijing"]

    run(scene)
    assert len(server.requests) == 5
    assert not server.violations


def test_long_conversations_fit_the_window(tmp_path: Path, loopback: Callable[..., Loopback]) -> None:
    server = loopback(lambda *_: memories(), window=8_000)

    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            talk = [user(f"第{n}天，" + "今天又去了一趟图书馆，借了三本关于数据库的书。" * 20) for n in range(40)]
            summarizer = summarizing(bank, server, max_input_tokens=8_000, count=tokenizer_for("qwen-plus"))
            await summarizer.summarize(talk, [ALICE])

    run(scene)
    assert len(server.requests) > 3
    assert not server.violations


@pytest.mark.parametrize("bad", [Status(500), Garbage(), Empty(), Status(429)])
def test_a_bad_server_stores_nothing(tmp_path: Path, loopback: Callable[..., Loopback], bad: Any) -> None:
    server = loopback(lambda *_: bad)

    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            for mode in ("cheap", "agentic"):
                with pytest.raises(ModelReplyError):
                    await summarizing(bank, server, mode=mode).summarize([user("I moved to Beijing")], [ALICE])
            assert (await bank.store.count(), await bank.ledger.count()) == (0, 0)

    run(scene)
