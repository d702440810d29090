# -*- coding: utf-8 -*-
"""What a hook costs that has nothing to do: no model call, no write, and no time that grows with the history."""

import asyncio
import statistics
import time
from pathlib import Path
from typing import Any

import pytest
from _driven import file_text, manager_of
from _faulty_disk import FaultyDisk
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from agentscope.tool import Toolkit

from agentscope_reme import Event, EventKind, MemoryManager
from agentscope_reme.testing import ScriptedChatModel

HOOKS = 60


async def idle(folder: Path, messages: int) -> tuple[list[float], MemoryManager, ScriptedChatModel, FaultyDisk]:
    """The seconds that each of some hooks took over so many messages, a third of them tool results."""
    model = ScriptedChatModel([])
    manager = manager_of(folder, 10_000_000, memory_compact_reserve=None)
    agent = ReActAgent("friday", "You help.", model, OpenAIChatFormatter(), Toolkit())
    manager.attach(agent)
    await agent.memory.add(list(history(messages)))
    for _ in range(3):
        await manager._before_reasoning(agent, {})
    await manager.sync()  # the index opens in the background, once
    events: list[Event] = []
    manager.subscribe(events.append)
    disk, took = FaultyDisk(lambda *_: False), []
    with disk.broken():
        for _ in range(HOOKS):
            started = time.perf_counter()
            await manager._before_reasoning(agent, {})
            took.append(time.perf_counter() - started)
    assert [event.kind for event in events] == [EventKind.CHECKED] * HOOKS
    return took, manager, model, disk


def history(count: int) -> Any:
    for number in range(count // 3):
        use = {"type": "tool_use", "id": f"call_{number}", "name": "read", "input": {"n": number}}
        text = file_text(number)[: 2_000 if number % 100 == 0 else 200]
        result = {"type": "tool_result", "id": f"call_{number}", "name": "read", "output": text}
        yield Msg("user", f"请读第 {number} 个文件, please.", "user")
        yield Msg("friday", [use], "assistant")
        yield Msg("system", [result], "system")


@pytest.fixture(scope="module")
def medians(tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    found = {}
    for size in (2_000, 8_000):
        took, manager, model, disk = asyncio.run(idle(tmp_path_factory.mktemp(f"idle{size}"), size))
        assert model.requests == []
        assert disk.calls == []
        found[size] = statistics.median(took)
        asyncio.run(manager.close())
    return found


def test_an_idle_hook_is_quick(medians: dict[int, float]) -> None:
    """Under a millisecond on a quiet machine; the bound leaves room for a busy one."""
    assert medians[2_000] < 0.005


def test_its_cost_does_not_grow_with_the_history(medians: dict[int, float]) -> None:
    assert medians[8_000] < 3 * medians[2_000]
