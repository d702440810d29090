# -*- coding: utf-8 -*-
"""Where no hook has made room, the window still holds: what a model sees is cut, and the memory keeps it all."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import GAVE_UP, REWRITE, SYSTEM, Brain, Driven, last_request, manager_of, read, rounds, text_of, user
from _faulty_disk import CAN_TELL, FaultyDisk
from _loopback import Loopback, Text
from agent_features_test import Library
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import EventKind
from agentscope_reme.testing import call

pytestmark = pytest.mark.slow

Start = Callable[..., Loopback]


@pytest.mark.skipif(not CAN_TELL, reason="it takes a system with /proc")
@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("extractive", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_an_archive_that_refuses_for_a_long_time(
    loopback: Start, tmp_path: Path, stream: bool, extractive: bool
) -> None:
    """Nothing may be folded then, for law 4 comes first; the agent goes on all the same, and all of it is kept."""
    disk = FaultyDisk(lambda _, path, __: "/dialog/" in path)

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, **({"model": None} if extractive else {})), tmp_path)
        agent = driven.agent(stream=stream)
        with disk.broken():
            for number in range(2):
                await agent(user(f"Task {number}: read all the files. 任务 {number}。"))
                assert server.violations == []
        assert disk.refused
        assert brain.asked["summary"] <= 4, "a model is not asked again for what the disk will not take"
        assert not driven.told(EventKind.FOLDED)
        assert driven.told(EventKind.FOLD_FAILED)
        assert driven.archived() == []
        assert len(agent.memory.content) == len(driven.said[agent.memory.session_id])
        assert driven.told(EventKind.OVER_BUDGET)
        await agent(user("And once more, now that there is room."))
        assert driven.told(EventKind.FOLDED)
        driven.assert_sound(agent)
        driven.assert_one_resume(agent)

    def say(body: dict, number: int) -> Any:
        assert any(f"Task {number // 9}:" in text_of(message) for message in body["messages"]) or number >= 18
        return script(body, number)

    script, brain = rounds(8), Brain(say)
    server = loopback(brain, window=4_000)
    asyncio.run(main())


def test_a_rewrite_before_the_first_hook(loopback: Start, tmp_path: Path) -> None:
    """A long system prompt counts from the first message on."""
    library = Library(3)

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(knowledge=library, system=SYSTEM + "Be careful with the files. " * 200)
        await agent(user("Which port is it? 端口是多少？" * 400))
        driven.assert_sound(agent)

    server = loopback(Brain(rounds(1)), window=4_000)
    asyncio.run(main())
    assert library.queries == ["the port of the service"]


@pytest.mark.parametrize("how", ["loaded", "moved"])
def test_a_rewrite_in_a_session_that_came_too_long(loopback: Start, tmp_path: Path, how: str) -> None:
    """It was saved under a larger window."""
    library = Library(1)

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(knowledge=library)
        old = driven.manager.detach(agent)
        driven.said.clear()
        for number in range(40):
            await old.add(user(f"Old question {number}: 旧问题。"))
            await old.add(Msg("friday", f"Old answer {number}: I checked file_{number}.py. " * 12, "assistant"))
        said = [msg for msg, _ in old.content]
        if how == "loaded":
            driven.watch(driven.manager.attach(agent))
            agent.memory.load_state_dict(old.state_dict())
        else:
            agent.memory = old
            driven.watch(driven.manager.attach(agent))
        driven.said[agent.memory.session_id].extend(said)
        await agent(user("Which port is it?"))
        driven.assert_sound(agent)

    def say(body: dict, number: int) -> Any:
        return "8443"

    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())
    assert library.queries == ["the port of the service"]
    assert sum(REWRITE in text_of(each.messages[-1]) for each in server.requests) == 1


def test_long_arguments_in_the_last_iteration(loopback: Start, tmp_path: Path) -> None:
    """An agent that writes files: the calls are as long as the files, and at `max_iters` no hook comes behind them."""

    async def write(path: str, text: str) -> ToolResponse:
        """Write a file.

        Args:
            path (`str`):
                Where to.
            text (`str`):
                The text.
        """
        return ToolResponse([TextBlock(type="text", text=f"{len(text)} characters are in {path}.")])

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        toolkit = Toolkit()
        toolkit.register_tool_function(read)
        toolkit.register_tool_function(write)
        agent = driven.agent(toolkit=toolkit, max_iters=2)
        for number in range(3):
            reply = await agent(user(f"Task {number}: write it down."))
            assert reply.get_text_content() == "I gave up."
            assert "Task" in last_request(agent.memory).get_text_content()
        driven.assert_sound(agent)

    def say(body: dict, number: int) -> Any:
        if GAVE_UP in text_of(body["messages"][-1]):
            assert body["messages"][-2]["role"] == "tool"
            return "I gave up."
        return Text("I write.", (call("write", path=f"{number}.md", text=f"line {number} of it. " * 500),), piece=500)

    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())
