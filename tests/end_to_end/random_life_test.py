# -*- coding: utf-8 -*-
"""A whole life at random: long and short rounds, failing servers, interruptions, commands, restarts; every law after
each step."""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import SUMMARY, Brain, Driven, manager_of, records_of, user
from _loopback import Broken, Empty, Garbage, Loopback, Status, Text
from agentscope.agent import ReActAgent
from agentscope.message import Msg

from agentscope_reme import EventKind
from agentscope_reme.testing import call
from agentscope_reme.working_memory import ReMeInMemoryMemory

Start = Callable[..., Loopback]

OPS = {
    "reply": 12,
    "observe": 3,
    "compact": 1,
    "clear": 1,
    "pin": 1,
    "unpin": 1,
    "delete": 1,
    "restart": 1,
    "replace_in_place": 1,
}


class Life:
    """One agent and what chance does to it."""

    def __init__(self, server_of: Start, folder: Path, seed: int) -> None:
        self.pick = random.Random(seed)
        self.folder = folder
        self.brain = Brain(self.say, self.summarize)
        self.window = self.pick.choice((4_000, 6_000, 16_000))
        self.extractive = self.pick.random() < 0.4
        self.server = server_of(self.brain, window=self.window)
        self.left = 0
        self.stream = self.pick.random() < 0.5
        self.driven, self.agent = self.born()

    def born(self) -> tuple[Driven, ReActAgent]:
        options = {"model": None} if self.extractive else {}
        driven = Driven(self.server, manager_of(self.folder, self.window, **options), self.folder)
        return driven, driven.agent(stream=self.stream, parallel_tool_calls=self.pick.random() < 0.5, max_iters=6)

    @property
    def memory(self) -> ReMeInMemoryMemory:
        return self.agent.memory

    def say(self, *_: Any) -> Any:
        """What the agent's model says: mostly calls while rounds are left, then an answer, seldom a failure."""
        chance = self.pick.random()
        calls = [call("read", n=self.pick.randrange(400)) for _ in range(self.pick.randint(1, 4))]
        if chance < 0.03:
            return self.pick.choice([Status(429), Status(500), Garbage(), Empty()])
        if chance < 0.06:
            return Broken([*calls], after=self.pick.randint(1, 6))
        if self.left > 0:
            self.left -= 1
            return Text(self.words(10), tuple(calls), thinking=self.words(4) if chance < 0.3 else "", piece=80)
        return Text(self.words(60), piece=80)

    def summarize(self, *_: Any) -> Any:
        chance = self.pick.random()
        if chance < 0.2:
            return self.pick.choice([Status(503), Empty(), "Hello! How can I help you today?", Garbage()])
        return Text(SUMMARY, piece=80, pause=0.001 if chance < 0.4 else 0.0)

    def words(self, most: int) -> str:
        return "The port is 8443. 端口是 8443。" * self.pick.randint(1, most)

    async def reply(self) -> None:
        self.left = self.pick.randint(0, 8)
        text = f"Task {self.pick.randrange(10**6)}: " + self.words(self.pick.choice((1, 5, 200)))
        task = asyncio.ensure_future(self.agent.reply(user(text)))
        if self.pick.random() < 0.25:
            await asyncio.sleep(self.pick.uniform(0, 0.2))
            task.cancel()
        await asyncio.wait([task])

    async def observe(self) -> None:
        await self.agent.observe(Msg("bob", self.words(30), "user"))

    async def compact(self) -> None:
        await self.driven.manager.compact("keep the ports")

    async def clear(self) -> None:
        await self.driven.manager.clear()
        assert (self.memory.content, self.memory.get_compressed_summary()) == ([], "")

    async def pin(self) -> None:
        requests = [msg.id for msg, _ in self.memory.content if msg.role == "user" and len(str(msg.content)) < 400]
        if requests and len(self.memory.pins) < 2:
            self.memory.pin(self.pick.choice(requests))

    async def unpin(self) -> None:
        self.memory.unpin(self.memory.pins)

    async def delete(self) -> None:
        held = [msg.id for msg, _ in self.memory.content if msg.role == "user"]
        if held:
            gone = self.pick.choice(held)
            await self.memory.delete([gone])
            said = self.driven.said[self.memory.session_id]
            said[:] = [msg for msg in said if msg.id != gone]

    async def restart(self) -> None:
        """The process ends and another one resumes."""
        session, said = self.memory.session_id, self.driven.said[self.memory.session_id]
        content = records_of(self.memory)
        await self.driven.manager.close()
        self.driven, self.agent = self.born()
        self.driven.manager.detach(self.agent)
        self.agent.memory = await self.driven.manager.resume(session)
        self.driven.manager.attach(self.agent)
        self.driven.watch(self.memory)
        self.driven.said[session][:] = said
        assert records_of(self.memory) == content

    async def replace_in_place(self) -> None:
        """Somebody edits a stored message, as callers of the host do."""
        texts = [msg for msg, _ in self.memory.content if isinstance(msg.content, str)]
        if texts:
            msg = self.pick.choice(texts)
            msg.content = "edited 改过了"
            self.memory.verify(everything=True)
            for each in self.driven.said[self.memory.session_id]:
                if each.id == msg.id:
                    each.content = msg.content

    def assert_laws(self) -> None:
        self.driven.assert_sound(self.agent)
        for event in self.driven.told(EventKind.FOLDED):
            assert "How can I help" not in event.details["summary"]
        assert all(pinned in {msg.id for msg, _ in self.memory.content} for pinned in self.memory.pins)


@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(2, 16))])
def test_a_life_keeps_the_laws(loopback: Start, tmp_path: Path, seed: int) -> None:
    async def main() -> None:
        life = Life(loopback, tmp_path, seed)
        names = life.pick.choices(list(OPS), list(OPS.values()), k=14 if seed == 1 else 60)
        for name in ["observe", *names]:  # a session in which nothing was said leaves nothing to resume
            await getattr(life, name)()
            life.assert_laws()
        await life.driven.manager.close()

    asyncio.run(main())
