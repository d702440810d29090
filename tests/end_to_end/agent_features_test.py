# -*- coding: utf-8 -*-
"""What else an agent of the host does: it reads its memory where no hook runs, adds hints and other people's texts."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import GAVE_UP, REWRITE, Brain, Driven, manager_of, read, requests_of, rounds, text_of, user
from _loopback import Loopback
from agentscope.memory import LongTermMemoryBase
from agentscope.message import Msg, TextBlock
from agentscope.plan import PlanNotebook
from agentscope.rag import DocMetadata, Document, KnowledgeBase
from agentscope.tool import Toolkit, ToolResponse
from pydantic import BaseModel

from agentscope_reme import EventKind
from agentscope_reme.testing import call

Start = Callable[..., Loopback]


class Library(KnowledgeBase):
    """A knowledge base that answers every query with pages of text."""

    def __init__(self, pages: int) -> None:
        self.pages, self.queries = pages, list[str]()

    async def retrieve(
        self, query: str, limit: int = 5, score_threshold: float | None = None, **_: Any
    ) -> list[Document]:
        self.queries.append(query)
        page = f"On {query}: the port is 8443. 端口是 8443。 " * 40
        block = TextBlock(type="text", text=page)
        return [Document(DocMetadata(block, f"d{at}", at, self.pages), score=1 - at / 100) for at in range(self.pages)]

    async def add_documents(self, documents: list[Document], **_: Any) -> None:
        raise NotImplementedError


class Diary(LongTermMemoryBase):
    """A long-term memory that recalls much and keeps what it is told to record."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.recorded = size, list[list[Msg]]()

    async def retrieve(self, msg: Msg | list[Msg] | None, limit: int = 5, **_: Any) -> str:
        return "The user prefers tabs. 用户喜欢制表符。" * self.size

    async def record(self, msgs: list[Msg | None], **_: Any) -> None:
        self.recorded.append([msg for msg in msgs if msg is not None])


@pytest.mark.parametrize("pages", [pytest.param(1, marks=pytest.mark.slow), 30])
def test_knowledge_with_query_rewrite(loopback: Start, tmp_path: Path, pages: int) -> None:
    """The rewrite reads the memory before any hook has run."""
    library = Library(pages)

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(knowledge=library)
        for number in range(4):
            await agent(user(f"Question {number}: " + "which port is it? 端口是多少？" * (1 + 200 * (number % 2))))
        driven.assert_sound(agent)

    server = loopback(Brain(rounds(1)), window=4_000)
    asyncio.run(main())
    assert library.queries == ["the port of the service"] * 4
    assert sum(REWRITE in text_of(body["messages"][-1]) for body in requests_of(server, "agent")) == 4


def test_recalled_texts_of_a_long_term_memory(loopback: Start, tmp_path: Path) -> None:
    """They are messages of the host's own making: bounded, foldable, and never taken for the user's request."""
    diary = Diary(120)

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(long_term_memory=diary, long_term_memory_mode="static_control")
        for number in range(8):
            await agent(user(f"Question {number}: which port is it? 端口是多少？"))
        driven.assert_sound(agent)
        assert driven.told(EventKind.FOLDED)

    def say(body: dict, number: int) -> Any:
        if number % 2 == 0:
            return [call("read", n=number)]
        assert any(f"Question {number // 2}: " in text_of(message) for message in body["messages"])
        return "8443"

    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())
    assert len(diary.recorded) == 8
    assert all(f"Question {number}: " in str(msgs) for number, msgs in enumerate(diary.recorded))


@pytest.mark.slow
def test_a_plan_notebook(loopback: Start, tmp_path: Path) -> None:
    """Its hints come after the hook and go before the next: neither journaled nor archived, and the window holds."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, 16_000, model=None), tmp_path)
        agent = driven.agent(plan_notebook=PlanNotebook())
        await agent(user("Make a plan, then read all the files."))
        await agent(user("Now the rest."))
        driven.assert_sound(agent)
        assert driven.told(EventKind.FOLDED)
        kept = str([msg.to_dict() for msg, _ in agent.memory.content]) + str(driven.archived())
        assert "<system-hint>" not in kept
        journal = (tmp_path / ".state" / "sessions" / f"{agent.memory.session_id}.jsonl").read_text("utf-8")
        assert "<system-hint>" not in journal

    steps = [
        {"name": f"step {n}", "description": "read a file " * 20, "expected_outcome": "it is read", "state": "todo"}
        for n in range(8)
    ]
    plan = {"name": "reading", "description": "read", "expected_outcome": "all read", "subtasks": steps}

    def say(body: dict, number: int) -> Any:
        assert "<system-hint>" in text_of(body["messages"][-1])
        if number == 0:
            return [call("create_plan", **plan)]
        if number == 1:
            return [call("update_subtask_state", subtask_idx=0, state="in_progress")]
        return script(body, number)

    script = rounds(14)
    server = loopback(Brain(say), window=16_000)
    asyncio.run(main())


@pytest.mark.parametrize("window", [4_000, pytest.param(16_000, marks=pytest.mark.slow)])
def test_the_last_iteration(loopback: Start, tmp_path: Path, window: int) -> None:
    """At `max_iters` the host reads the memory once more without a hook, right behind three fresh results."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, window, model=None), tmp_path)
        agent = driven.agent(max_iters=3, parallel_tool_calls=True)
        for number in range(5):
            reply = await agent(user(f"Task {number}"))
            assert reply.get_text_content() == "I gave up."
        driven.assert_sound(agent)

    def say(body: dict, number: int) -> Any:
        if GAVE_UP in text_of(body["messages"][-1]):
            assert body["messages"][-2]["role"] == "tool"
            return "I gave up."
        return [call("read", n=7 * number + at) for at in range(3)]

    server = loopback(Brain(say), window=window)
    asyncio.run(main())


@pytest.mark.parametrize("stream", [pytest.param(True, marks=pytest.mark.slow), False])
def test_structured_output(loopback: Start, tmp_path: Path, stream: bool) -> None:
    """The host adds the finish function's schema in the middle of a session, and hints when it was not called."""

    class Report(BaseModel):
        port: int

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(stream=stream)
        for number in range(5):
            reply = await agent(user(f"Report {number}"), structured_model=Report)
            assert reply.metadata == {"port": 8443}
        driven.assert_sound(agent)
        assert driven.told(EventKind.FOLDED)

    def say(_: dict, number: int) -> Any:
        at = number % 5
        if at == 2:
            return "I will report it now."  # the host answers with a hint
        if at == 3:
            return [call("generate_response", port=8443)]
        return "The port is 8443." if at == 4 else [call("read", n=number)]

    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())


def test_two_agents_at_once_with_one_toolkit(loopback: Start, tmp_path: Path) -> None:
    """Each has its own memory and session; the shared toolkit gets the tools once, until the last agent is detached."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        toolkit = Toolkit()
        toolkit.register_tool_function(read)
        agents = [driven.agent(name, toolkit=toolkit) for name in ("甲", "乙")]
        assert agents[0].memory.session_id != agents[1].memory.session_id
        await asyncio.gather(*(agent(user(f"{agent.name}: read the files.")) for agent in agents))
        driven.assert_sound(*agents)
        for agent in agents:
            others = [each for each in agents if each is not agent]
            assert all(f"{other.name}: read" not in str(ids_and_texts(agent)) for other in others)
        assert {event.session_id for event in driven.told(EventKind.FOLDED)} == set(driven.said)
        driven.manager.detach(agents[0])
        assert "read_working_memory" in toolkit.tools
        driven.manager.detach(agents[1])
        assert set(toolkit.tools) == {"read"}

    def say(body: dict, number: int) -> Any:
        names = [name for name in ("甲", "乙") if f"{name}: read" in str(body["messages"])]
        assert len(names) == 1
        spoken[names[0]] = spoken.get(names[0], 0) + 1
        return [call("read", n=number)] if spoken[names[0]] < 15 else "Done."

    spoken: dict[str, int] = {}
    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())


def test_what_is_observed_while_tools_run(loopback: Start, tmp_path: Path) -> None:
    """It lands between a call and its result, and the provider still sees the result right behind the call."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        toolkit = Toolkit()
        toolkit.register_tool_function(listen)
        agent = driven.agent(toolkit=toolkit, parallel_tool_calls=True)
        heard["agent"] = agent
        await agent(user("Listen to the others."))
        driven.assert_sound(agent)
        assert driven.told(EventKind.FOLDED)

    async def listen(n: int) -> ToolResponse:
        """Wait for others.

        Args:
            n (`int`):
                A number.
        """
        await asyncio.sleep(0)
        await heard["agent"].observe(Msg("bob", f"bob says {n} 鲍勃说", "user"))
        await asyncio.sleep(0.001 * (n % 3))
        return ToolResponse([TextBlock(type="text", text=f"result {n} " * 60)])

    def say(_: dict, number: int) -> Any:
        return [call("listen", n=3 * number + at) for at in range(3)] if number < 12 else "Done."

    heard: dict[str, Any] = {}
    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())


def ids_and_texts(agent: Any) -> list[dict]:
    return [msg.to_dict() for msg, _ in agent.memory.content]
