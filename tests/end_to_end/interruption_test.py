# -*- coding: utf-8 -*-
"""Interruption at every kind of await: the old state or the new, a valid next request, and nothing lost."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from _driven import SUMMARY, Brain, Driven, ids_of, manager_of, read, user
from _loopback import Loopback, Text
from agentscope.agent import ReActAgent
from agentscope.message import Msg, TextBlock
from agentscope.tool import Toolkit, ToolResponse

from agentscope_reme import EventKind
from agentscope_reme.dialog import DialogArchive
from agentscope_reme.testing import call

Start = Callable[..., Loopback]
Stop = Callable[[], None]

# The host makes a coroutine for each call of a round and awaits them in turn; an interruption drops the rest.
pytestmark = pytest.mark.filterwarnings("ignore:coroutine 'ReActAgent._acting' was never awaited")

WAYS = ["interrupt", pytest.param("cancel", marks=pytest.mark.slow)]


class Stopper:
    """Interrupts the running reply of an agent, from wherever it is told to: a tool, an event, the server's thread."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.armed = True
        self.agent: ReActAgent | None = None
        self.task: asyncio.Task | None = None
        self.loop: asyncio.AbstractEventLoop | None = None

    async def reply(self, agent: ReActAgent, text: str) -> Msg | None:
        """The reply, or `None` where it was stopped."""
        self.agent, self.loop = agent, asyncio.get_running_loop()
        self.task = asyncio.ensure_future(agent(user(text)) if self.way == "interrupt" else agent.reply(user(text)))
        try:
            reply = await self.task
        except asyncio.CancelledError:
            assert self.way == "cancel"
            return None
        return None if (reply.metadata or {}).get("_is_interrupted") else reply

    def now(self) -> None:
        """Stop it; the reply notices at its next await. Call it in the event loop, once."""
        if not self.armed:
            return
        self.armed = False
        task = self.task if self.way == "cancel" else self.agent._reply_task
        task.cancel()

    def from_thread(self) -> None:
        """The same from another thread, which waits until it has happened."""
        if not self.armed:
            return
        done = threading.Event()
        self.loop.call_soon_threadsafe(lambda: (self.now(), done.set()))
        done.wait(5)


async def stopped_and_on(driven: Driven, stopper: Stopper, agent: ReActAgent) -> None:
    """Stop a reply, look at what is left, and go on."""
    before, summary = ids_of(agent), agent.memory.get_compressed_summary()
    assert await stopper.reply(agent, "Read the files.") is None
    assert not stopper.armed
    kept = [each for each in before if each in ids_of(agent)]
    assert (kept == before) == (agent.memory.get_compressed_summary() == summary), "half a fold"
    driven.assert_sound(agent)
    reply = await stopper.reply(agent, "Go on.")
    assert reply is not None
    assert reply.get_text_content() == "Done."
    driven.assert_sound(agent)
    driven.assert_one_resume(agent)


async def with_history(agent: ReActAgent) -> None:
    for number in range(12):
        await agent.memory.add(user(f"Old question {number}. 旧问题：端口是 84{number:02}。"))
        await agent.memory.add(Msg("friday", f"Old answer {number}: I checked file_{number}.py. " * 12, "assistant"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("after", [0, 4, 9, *(pytest.param(each, marks=pytest.mark.slow) for each in (2, 7))])
def test_while_the_model_streams(loopback: Start, tmp_path: Path, way: str, after: int) -> None:
    """After so many chunks: nothing yet, some text, half of the first call, half of the second."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent()
        show = agent.print

        async def print_and_stop(msg: Msg, last: bool = True, **options: Any) -> None:
            seen.append(msg)
            if len(seen) > after:
                stopper.now()
            await show(msg, last, **options)

        seen: list[Msg] = []
        agent.print = print_and_stop
        await stopped_and_on(driven, stopper, agent)

    def say(_: dict, number: int) -> Any:
        if number:
            return "Done."
        return Text("Let me read.", (call("read", n=1111), call("read", n=2222)), piece=6, pause=0.001)

    stopper = Stopper(way)
    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize("at", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_during_one_of_three_tools(loopback: Start, tmp_path: Path, way: str, parallel: bool, at: int) -> None:
    """The host leaves the calls behind it without a result."""

    async def work(n: int) -> ToolResponse:
        """Work.

        Args:
            n (`int`):
                A number.
        """
        if n == at:
            stopper.now()
        await asyncio.sleep(0.005)
        return ToolResponse([TextBlock(type="text", text=f"worked {n}")])

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        toolkit = Toolkit()
        toolkit.register_tool_function(work)
        agent = driven.agent(toolkit=toolkit, parallel_tool_calls=parallel)
        await with_history(agent)
        await stopped_and_on(driven, stopper, agent)

    stopper = Stopper(way)
    calls = [call("work", n=n) for n in range(3)]
    server = loopback(Brain(lambda _, number: calls if number == 0 else "Done."), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
def test_while_the_summary_is_asked(loopback: Start, tmp_path: Path, way: str) -> None:
    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        await with_history(agent)
        await stopped_and_on(driven, stopper, agent)
        assert len(driven.told(EventKind.FOLD_STARTED)) >= 2

    def summary(*_: Any) -> Any:
        stopper.from_thread()
        return Text(SUMMARY, pause=0.001)

    stopper = Stopper(way)
    server = loopback(Brain(lambda *_: "Done.", summary), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(EventKind.CHECKED, marks=pytest.mark.slow),
        EventKind.FOLD_STARTED,
        pytest.param(EventKind.FOLDED, marks=pytest.mark.slow),
    ],
)
def test_between_the_steps_of_the_hook(loopback: Start, tmp_path: Path, way: str, kind: EventKind) -> None:
    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        await with_history(agent)
        driven.manager.subscribe(lambda event: stopper.now() if event.kind == kind else None)
        await stopped_and_on(driven, stopper, agent)

    stopper = Stopper(way)
    server = loopback(Brain(lambda *_: "Done."), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
def test_in_the_middle_of_a_fold(loopback: Start, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between archive and journal nothing is awaited, so that a cancellation that comes there waits for the whole."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        await with_history(agent)
        await stopped_and_on(driven, stopper, agent)

    def append(self: DialogArchive, *args: Any, **options: Any) -> Any:
        written = whole(self, *args, **options)
        stopper.now()
        return written

    whole = DialogArchive.append
    monkeypatch.setattr(DialogArchive, "append", append)
    stopper = Stopper(way)
    server = loopback(Brain(lambda *_: "Done."), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("points", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_at_any_time(loopback: Start, tmp_path: Path, way: str, points: int) -> None:
    """One agent is stopped again and again, each time a little later in its work."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent(parallel_tool_calls=True)
        for point in range(points):
            task = asyncio.ensure_future(agent.reply(user(f"Task {point}. " + "请读文件 " * 40)))
            await asyncio.sleep(0.2 * point / points)
            if way == "interrupt" and agent._reply_task is not None:
                await agent.interrupt()
            task.cancel()
            await asyncio.wait([task])
            driven.assert_nothing_lost(agent)
            assert server.violations == []
        reply = await agent(user("Go on."))
        assert reply.get_text_content()
        driven.assert_sound(agent)
        driven.assert_one_resume(agent)

    def say(_: dict, number: int) -> Any:
        if number % 5 == 4:
            return "Done."
        return Text("I read.", tuple(call("read", n=3 * number + at) for at in range(3)), pause=0.001)

    server = loopback(Brain(say, lambda *_: Text(SUMMARY, pause=0.001, piece=100)), window=4_000)
    asyncio.run(main())


def test_what_is_added_while_the_summary_is_asked(loopback: Start, tmp_path: Path) -> None:
    """H3: it stays in memory, in its place."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        state.update(agent=agent, loop=asyncio.get_running_loop())
        await with_history(agent)
        await agent(user("Which port?"))
        assert driven.told(EventKind.FOLDED)
        assert "新消息" in str([msg.content for msg, _ in agent.memory.content])
        driven.assert_sound(agent)

    def summary(*_: Any) -> Any:
        message = Msg("bob", "新消息 while you think", "user")
        added: Awaitable = asyncio.run_coroutine_threadsafe(state["agent"].observe(message), state["loop"])
        added.result(5)  # type: ignore[attr-defined]
        return SUMMARY

    state: dict[str, Any] = {}
    server = loopback(Brain(lambda *_: "Done.", summary), window=4_000)
    asyncio.run(main())


@pytest.mark.slow
def test_two_replies_of_two_agents_with_summaries_that_overlap(loopback: Start, tmp_path: Path) -> None:
    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agents = [driven.agent(name, max_iters=4) for name in ("甲", "乙", "丙")]
        for agent in agents:
            await with_history(agent)
        for _ in range(2):
            await asyncio.gather(*(agent(user(f"{agent.name}: which port?")) for agent in agents))
        driven.assert_sound(*agents)
        assert {fold.session_id for fold in driven.told(EventKind.FOLDED)} == set(driven.said)

    def say(_: dict, number: int) -> Any:
        return [call("read", n=number)] if number % 3 else "Done."

    server = loopback(Brain(say, lambda *_: Text(SUMMARY, pause=0.002, piece=60)), window=4_000)
    asyncio.run(main())


def test_two_replies_of_one_agent_at_once(loopback: Start, tmp_path: Path) -> None:
    """Not how the host means it; the two hooks fold the same history, and still nothing is lost or said twice."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        await with_history(agent)
        await asyncio.gather(*(agent.reply(user(f"Question {number}")) for number in range(3)))
        driven.assert_nothing_lost(agent)
        assert not driven.told(EventKind.HOOK_FAILED)
        assert server.violations == []

    server = loopback(Brain(lambda *_: "Done.", lambda *_: Text(SUMMARY, pause=0.002, piece=60)), window=4_000)
    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("extractive", [True, False])
def test_two_event_loops_one_after_the_other(loopback: Start, tmp_path: Path, extractive: bool) -> None:
    """H8: a script that calls `asyncio.run` for each question."""
    driven = Driven(
        loopback(Brain(lambda _, n: [call("read", n=n)] if n % 4 else "Done."), window=4_000),
        manager_of(tmp_path, **({"model": None} if extractive else {})),
        tmp_path,
    )
    toolkit = Toolkit()
    toolkit.register_tool_function(read)
    agent = driven.agent(toolkit=toolkit)
    asyncio.run(with_history(agent))
    for number in range(4):
        asyncio.run(agent(user(f"Question {number}")))
    asyncio.run(driven.manager.compact())
    driven.assert_sound(agent)
    assert driven.told(EventKind.FOLDED)
    asyncio.run(driven.manager.close())
