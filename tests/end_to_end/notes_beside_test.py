# -*- coding: utf-8 -*-
"""Notes are written beside the agent, by the same server: they neither hold it up nor break the window's law."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import SUMMARY, Brain, Driven, is_agents, manager_of, rounds, text_of, user
from _loopback import Empty, Garbage, Loopback, Status, Text

from agentscope_reme import EventKind

Start = Callable[..., Loopback]

NOTES: dict[str, Any] = {
    "text": "I have noted the port 8443. 已记录。",
    "500": Status(500),
    "garbage": Garbage(),
    "empty": Empty(),
    "slow": Text("Noted.", pause=0.05, piece=1),
}


def is_compactor(body: dict[str, Any]) -> bool:
    return "## Key Decisions" in text_of(body["messages"][0]) or "## 关键决策" in text_of(body["messages"][0])


@pytest.mark.slow
@pytest.mark.parametrize("answer", NOTES)
def test_an_agent_whose_notes_are_written_meanwhile(loopback: Start, tmp_path: Path, answer: str) -> None:
    noted: list[dict[str, Any]] = []

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, 8_000, enable_notes=True), tmp_path)
        agent = driven.agent()
        for number in range(2):
            reply = await agent(user(f"Task {number}: read the files. The port must stay 8443. 端口必须是 8443。"))
            assert reply.get_text_content()
        assert driven.told(EventKind.FOLDED)
        await driven.manager.close()
        driven.assert_sound(agent)
        assert noted

    def summary(body: dict[str, Any], _: int) -> Any:
        assert not is_agents(body)
        if is_compactor(body):
            return SUMMARY
        noted.append(body)
        return NOTES[answer]

    server = loopback(Brain(rounds(4), summary), window=8_000)
    asyncio.run(main())
