# -*- coding: utf-8 -*-
"""Long tasks of a real agent through a real server that counts: the window is never exceeded, no call is unpaired."""

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path

import openai
import pytest
from _driven import Brain, Driven, Say, last_request, manager_of, requests_of, rounds, text_of, user
from _loopback import Loopback

from agentscope_reme import EventKind
from agentscope_reme.testing import call

pytestmark = pytest.mark.slow

Start = Callable[..., Loopback]

ALL = list(itertools.product((4_000, 16_000), (True, False), (True, False), (True, False)))
SOME = [(4_000, True, True, True)]
MODES = [pytest.param(*mode, marks=() if mode in SOME else pytest.mark.slow) for mode in ALL]
NAMES = ("window", "stream", "parallel", "extractive")


def driven_over(server: Loopback, folder: Path, window: int, extractive: bool) -> Driven:
    options = {"model": None} if extractive else {}
    return Driven(server, manager_of(folder, window, **options), folder)


@pytest.mark.parametrize(NAMES, MODES)
def test_one_request_of_sixty_rounds(
    loopback: Start, tmp_path: Path, window: int, stream: bool, parallel: bool, extractive: bool
) -> None:
    async def main() -> Driven:
        driven = driven_over(server, tmp_path, window, extractive)
        agent = driven.agent(stream=stream, parallel_tool_calls=parallel)
        reply = await agent(user("Read all the files and tell me the port. 请用中文回答。"))
        assert reply.get_text_content() == "All files are read. 都读完了。"
        driven.assert_sound(agent)
        await driven.manager.close()
        return driven

    server = loopback(Brain(rounds(60)), window=window)
    driven = asyncio.run(main())
    folds = driven.told(EventKind.FOLDED)
    assert len(folds) >= 2
    assert {fold.details["source"] for fold in folds} == {"extractive" if extractive else "model"}
    assert bool(requests_of(server, "summary")) is not extractive
    assert all("tell me the port" in str(body["messages"]) for body in requests_of(server, "agent"))
    assert not driven.told(EventKind.OVER_BUDGET)


@pytest.mark.slow
@pytest.mark.parametrize(NAMES, ALL)
def test_thirty_requests(
    loopback: Start, tmp_path: Path, window: int, stream: bool, parallel: bool, extractive: bool
) -> None:
    """Short and long requests; the one that the agent answers is always there, the first as well as the last."""
    seen: list[str] = []

    async def main() -> Driven:
        driven = driven_over(server, tmp_path, window, extractive)
        agent = driven.agent(stream=stream, parallel_tool_calls=parallel)
        for number in range(30):
            seen.append(f"request {number} 第{number}问")
            await agent(user(f"{seen[-1]}: " + "please check the log 请检查日志 " * (1, 5, 30, 400)[number % 4]))
            request = last_request(agent.memory)
            assert request is not None
            assert seen[-1] in request.get_text_content()
        driven.assert_sound(agent)
        await driven.manager.close()
        return driven

    def say(body: dict, number: int) -> object:
        assert any(seen[-1] in text_of(message) for message in body["messages"])
        return script(body, number)

    script = rounds(1, answer="It is checked. 查过了。" * 20)
    server = loopback(Brain(say), window=window)
    driven = asyncio.run(main())
    assert driven.told(EventKind.FOLDED)
    assert not driven.told(EventKind.OVER_BUDGET)


@pytest.mark.parametrize("extractive", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_small_window_with_all_our_tools(loopback: Start, tmp_path: Path, extractive: bool) -> None:
    """The schemas alone take more than a third of it: the summary gets its share of what is left, not of the whole."""

    async def main() -> None:
        options = {"model": None} if extractive else {}
        driven = Driven(server, manager_of(tmp_path, 4_000, enable_search_tools=True, **options), tmp_path)
        agent = driven.agent()
        for number in range(3):
            seen.append(f"request {number} 第{number}问")
            await agent(user(f"{seen[-1]}: " + "please check the log 请检查日志 " * (1, 30, 400)[number]))
        driven.assert_sound(agent)
        assert driven.told(EventKind.FOLDED)
        assert not driven.told(EventKind.OVER_BUDGET)

    def say(body: dict, number: int) -> object:
        assert any(seen[-1] in text_of(message) for message in body["messages"])
        return script(body, number)

    seen: list[str] = []
    script = rounds(8, most=2)
    server = loopback(Brain(say), window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize(("window", "calls"), [pytest.param(4_000, 6, marks=pytest.mark.slow), (8_000, 18)])
@pytest.mark.parametrize("parallel", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_round_that_fills_the_window_by_itself(
    loopback: Start, tmp_path: Path, parallel: bool, window: int, calls: int
) -> None:
    """C5, the largest cluster of reports: many parallel calls with long results, again and again."""

    async def main() -> None:
        driven = driven_over(server, tmp_path, window, extractive=True)
        agent = driven.agent(parallel_tool_calls=parallel)
        await agent(user("Read everything at once."))
        await agent(user("And once more."))
        driven.assert_sound(agent)
        assert not driven.told(EventKind.OVER_BUDGET)

    server = loopback(Brain(at_once(calls)), window=window)
    asyncio.run(main())


def test_more_calls_than_a_window_can_name_are_told_and_the_next_request_goes_on(
    loopback: Start, tmp_path: Path
) -> None:
    """Forty calls and the pointers to their results are over this window by themselves: no cut can help."""

    async def main() -> None:
        driven = driven_over(server, tmp_path, 4_000, extractive=True)
        agent = driven.agent(parallel_tool_calls=True)
        with pytest.raises(openai.BadRequestError):
            await agent(user("Read everything at once."))
        assert any("shorten the system prompt" in event.error for event in driven.told(EventKind.OVER_BUDGET))
        assert [fault for fault in server.violations if "window" not in fault] == []
        server.violations.clear()
        brain.agent = lambda *_: "Done."
        assert (await agent(user("Then leave it."))).get_text_content() == "Done."
        driven.assert_sound(agent)

    brain = Brain(at_once(40))
    server = loopback(brain, window=4_000)
    asyncio.run(main())


def at_once(calls: int) -> Say:
    return lambda _, number: [call("read", n=100 * number + at) for at in range(calls)] if number % 3 < 2 else "Done."
