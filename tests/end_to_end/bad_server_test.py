# -*- coding: utf-8 -*-
"""A server that misbehaves, as the writer of summaries and as the agent's own model."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from _driven import SUMMARY, Brain, Driven, ids_of, manager_of, requests_of, rounds, summaries, text_of, user
from _loopback import Broken, Empty, Garbage, Hang, Loopback, Status, Text
from agentscope.message import Msg

from agentscope_reme import EventKind
from agentscope_reme.testing import call
from agentscope_reme.working_memory import Compactor

pytestmark = pytest.mark.slow

Start = Callable[..., Loopback]

MOST_CALLS = 4
"""Of one fold: the history and the beginning of the turn, each asked twice."""

BAD: dict[str, Any] = {
    "429": Status(429, "BAD rate limit"),
    "500": Status(500, "BAD upstream"),
    "401": Status(401, "BAD key"),
    "garbage": Garbage(b"BAD <html>\xff\x00"),
    "stream of nothing": Garbage(b"<html>BAD</html>"),
    "empty": Empty(),
    "blank": " \n\n ",
    "greeting": "Hello! I am BAD, a large language model. How can I help you today?",
    "问候": "你好！我是BAD，由某公司研发的大语言模型，很高兴为你服务，请问有什么可以帮你？",
    "error": "Error: BAD request timed out, please try again later.",
    "错误": "错误：BAD 请求过于频繁，请稍后再试。",
    "refusal": "I'm sorry, but I can't help with that BAD request.",
    "拒绝": "抱歉，我无法完成这个BAD请求。",
    "asks back": "Please share the BAD conversation that you want me to summarize.",
    "prose": "BAD. The user wanted a report, the agent read some files and found the port.",
    "greeting with headings": "## Goal\n- Hello! I am BAD, how can I help you today?\n## Constraints\n## Next Steps\n",
    "half a stream": Broken(Text("BAD\n" + SUMMARY, piece=30), after=4),
    "no answer": Hang(5),
    "a drip": Text("BAD\n" + SUMMARY, pause=0.08, piece=4),
    "longer than its input": SUMMARY + "\n- BAD BAD BAD BAD" * 700,
    "only thoughts": "<think>BAD: what shall I say?</think>",
    "thoughts without end": "<think>BAD: what shall I say? " + SUMMARY,
    "calls a tool": [call("read", n=1)],
}
QUICK = {"429", "garbage", "empty", "greeting", "half a stream", "no answer", "longer than its input"}
"""One of each kind; what a check of the text alone finds out is tested of the check, too."""


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A summary that takes long is none."""
    make = Compactor.__init__
    monkeypatch.setattr(Compactor, "__init__", lambda self, **options: make(self, **{**options, "timeout": 0.25}))


async def folding(driven: Driven, **options: Any) -> Any:
    """An agent with a history over its threshold, which will be folded before its next step."""
    agent = driven.agent(**options)
    for number in range(12):
        await agent.memory.add(Msg("user", f"Old question {number}. 旧问题 {number}：端口是 84{number:02}。", "user"))
        await agent.memory.add(Msg("friday", f"Old answer {number}: I checked file_{number}.py. " * 12, "assistant"))
    return agent


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [pytest.param(each, marks=() if each in QUICK else pytest.mark.slow) for each in BAD])
def test_a_bad_summary_is_never_the_summary(loopback: Start, tmp_path: Path, name: str, stream: bool) -> None:
    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = await folding(driven, stream=stream)
        reply = await agent(user("Which port is it? 端口是多少？"))
        assert reply.get_text_content() == "All files are read. 都读完了。"
        driven.assert_sound(agent)
        folds = driven.told(EventKind.FOLDED)
        assert folds
        for fold in folds:
            assert fold.details["source"] == "extractive"
            assert 0 < fold.details["attempts"] <= MOST_CALLS
            assert fold.error
            assert "BAD" not in fold.details["summary"]
            assert "## " in fold.details["summary"]
        assert 0 < brain.asked["summary"] <= sum(fold.details["attempts"] for fold in folds)
        assert len(driven.told(EventKind.SUMMARY_FALLBACK)) == len(folds)
        assert all("BAD" not in str(body["messages"]) for body in requests_of(server, "agent"))

    answer = BAD[name]
    if name == "a drip" and not stream:
        answer = replace(answer, pause=1.0)
    brain = Brain(rounds(1), lambda *_: answer)
    server = loopback(brain, window=4_000)
    asyncio.run(main())


@pytest.mark.parametrize(
    "answers",
    [
        ["BAD: it is a long story.", SUMMARY],
        [Status(429, "BAD"), f"<think>BAD, too short?</think>\n{SUMMARY}"],
        [Text(SUMMARY, thinking="BAD thoughts")],
        pytest.param([f"```markdown\n{SUMMARY}\n```"], marks=pytest.mark.slow),
        pytest.param([f"Sure, here is the checkpoint, not BAD:\n\n{SUMMARY}"], marks=pytest.mark.slow),
    ],
    ids=["second try", "429 then thoughts", "a thinking block", "a fence", "a preamble"],
)
def test_a_summary_in_the_end(loopback: Start, tmp_path: Path, answers: list[Any]) -> None:
    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = await folding(driven)
        await agent.reply(user("Which port is it?"))
        driven.assert_sound(agent)
        assert brain.asked["summary"] >= len(answers)
        assert {fold.details["source"] for fold in driven.told(EventKind.FOLDED)} == {"model"}
        assert not driven.told(EventKind.SUMMARY_FALLBACK)
        assert all("BAD" not in summary and "端口 8443" in summary for summary in summaries(driven))

    asked = count()
    brain = Brain(rounds(0), lambda *_: answers[next(asked) % len(answers)])
    server = loopback(brain, window=4_000)
    asyncio.run(main())


def test_a_server_that_recovers(loopback: Start, tmp_path: Path) -> None:
    """Failures leave extractive summaries, whose facts the next good one starts from."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path), tmp_path)
        agent = driven.agent()
        for number in range(6):
            await agent(user(f"Please read part {number}. The port must stay 8443. 端口必须是 8443。"))
        driven.assert_sound(agent)
        sources = [fold.details["source"] for fold in driven.told(EventKind.FOLDED)]
        assert "extractive" in sources
        assert sources[-1] == "model"

    def summary(body: dict[str, Any], number: int) -> Any:
        if number >= 3:
            assert "8443" in text_of(body["messages"][-1])
        return SUMMARY if number >= 4 else Status(503, "BAD")

    server = loopback(Brain(rounds(2), summary), window=4_000)
    asyncio.run(main())


OWN = {
    "429": Status(429),
    "500": Status(500),
    "garbage": Garbage(),
    "half a call": Broken([call("read", n=1234567890), call("read", n=2)], after=3),
    "half of the second call": Broken(["I read. ", call("read", n=1), call("read", n=22222)], after=6),
    "no answer": Hang(5),
}


@pytest.mark.parametrize("stream", [True, pytest.param(False, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.slow if each in ("500", "429") else ()) for each in OWN]
)
def test_the_agents_own_request_fails(loopback: Start, tmp_path: Path, name: str, stream: bool) -> None:
    """The error is the caller's; the memory is as it was but for what was said, and the next reply works."""

    async def main() -> None:
        driven = Driven(server, manager_of(tmp_path, model=None), tmp_path)
        agent = driven.agent(stream=stream, client={"timeout": 0.4})
        await agent(user("Read the first file."))
        before = ids_of(agent)
        with pytest.raises(Exception):  # noqa: B017 - whichever the client raises
            await agent(user("Read the second file."))
        now = ids_of(agent)
        assert now[: len(before)] == before
        reply = await agent(user("Go on, please."))
        assert reply.get_text_content() == "Done."
        driven.assert_sound(agent)
        assert "Read the second file." in str(requests_of(server, "agent")[-1]["messages"])

    script = iter([[call("read", n=1)], "Read.", OWN[name], [call("read", n=3)], "Done."])
    server = loopback(Brain(lambda *_: next(script)), window=4_000)
    asyncio.run(main())
