# -*- coding: utf-8 -*-
"""What was reported about notes that are not written, written twice, of the wrong day, or over somebody's own text."""

import asyncio
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from _report_scenes import SUMMARY, agent, archived, calls, result, scene, text_of, user
from agentscope.message import Msg

from agentscope_reme import EventKind, ReMeLight
from agentscope_reme.notes import NoteQueue
from agentscope_reme.testing import call

pytestmark = pytest.mark.slow

NOTHING = "NOTHING TO NOTE"
Note = Callable[[list[dict[str, Any]]], Any]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentscope_reme._note_keeping.NoteQueue", partial(NoteQueue, backoff=0.01))


def writers(note: Note, asked: list[str]) -> Callable[..., Any]:
    """The model behind both writers: it condenses well, and notes as it is told. What it was asked to note is kept."""

    def reply(messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None) -> Any:
        if not tools:
            return SUMMARY
        if messages[-1]["role"] != "tool":
            asked.append(text_of(messages))
        return note(messages)

    return reply


def noting(folder: Path, note: Note, asked: list[str] | None = None, **options: Any) -> Any:
    asked = [] if asked is None else asked
    return scene(folder, writers(note, asked), **{"enable_notes": True, "old_max_bytes": 600, **options})


def once(text: str) -> Note:
    """Append a text to MEMORY.md, then say that it is done."""
    return lambda messages: (
        "Done." if messages[-1]["role"] == "tool" else call("append", file_path="MEMORY.md", content=text)
    )


def fact(day: int, at: int) -> str:
    return f"fact-{day}-of-{at}."


def work(day: int, rounds: int = 8) -> list[Msg]:
    """Requests, calls, long results with something in their middle, and answers: a fact in each message."""
    said = []
    for at in range(0, 4 * rounds, 4):
        log = "line of a log\n" * 150
        said += [
            user(f"Question {at}: {fact(day, at)} " + "Please look into it. " * 10),
            calls(f"c{day}-{at}", text=f"I look: {fact(day, at + 1)}"),
            result(f"c{day}-{at}", f"{log}{fact(day, at + 2)}\n{log}"),
            agent(f"Answer {at}: {fact(day, at + 3)} " + "It is done. " * 10),
        ]
    return said


# ---------------------------------------------------------------------- every message, once, as it was


def test_what_every_compaction_takes_reaches_the_note_writer_once_and_whole(tmp_path: Path) -> None:
    """Three times in a row, by itself; what was cut in the context is whole for the writer."""
    asked: list[str] = []

    async def main() -> None:
        async with noting(tmp_path, lambda _: NOTHING, asked) as it:
            facts: dict[str, str] = {}
            for day in range(3):
                said = work(day)
                facts |= {msg.id: fact(day, at) for at, msg in enumerate(said)}
                await it.memory.add(said)
                await it.step(f"go on with {day}")
            await it.manager.await_summary_tasks()
            folds, noted = it.told(EventKind.FOLDED), it.told(EventKind.NOTED)
            assert len(noted) == len(folds) >= 3, "each compaction is noted, and none twice"
            held, read = {msg.id for msg in it.held()}, "\n".join(asked)
            assert len(set(facts) - held) > 60
            assert {each: read.count(facts[each]) for each in facts} == {each: int(each not in held) for each in facts}

    asyncio.run(main())


def test_what_a_failing_writer_did_not_note_is_noted_later(tmp_path: Path) -> None:
    """By the same process, the next attempt; by the next one, where this one was closed meanwhile."""
    asked: list[str] = []
    down = [True]

    def note(_: Any) -> Any:
        return RuntimeError("503 overloaded") if down[0] else NOTHING

    async def main() -> None:
        async with noting(tmp_path, note) as it:
            await it.memory.add(work(0))
            await it.step()
            await it.manager.await_summary_tasks()
            (noted,) = it.told(EventKind.NOTED)
            assert it.told(EventKind.NOTE_FAILED)
            assert noted.details["source"] == "extractive", "in the end without a model"
            assert "Question 0" in next((tmp_path / "memory").glob("*.md")).read_text("utf-8")
        async with noting(tmp_path / "again", lambda _: asyncio.sleep(3_600), asked) as it:
            await it.memory.add(work(1))
            await it.step()
            it.manager._notes.close = lambda _: NoteClose.soon(it)
        asked.clear()
        down[0] = False
        async with ReMeLight(tmp_path / "again", model=it.writer, formatter=it.agent.formatter) as later:
            it.writer._respond = writers(note, asked)
            await later.await_summary_tasks()
        assert sum(fact(1, at) in "".join(asked) for at in range(32)) >= 20

    class NoteClose:
        @staticmethod
        async def soon(it: Any) -> None:
            await it.manager._notes._queue.close(0.05)

    asyncio.run(main())


def test_nobody_waits_for_the_notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that never answers holds up neither replies nor, for long, the end."""
    monkeypatch.setattr("agentscope_reme._reme_light.NOTES_TIMEOUT", 0.1)

    async def main() -> None:
        began = time.monotonic()
        async with noting(tmp_path, lambda _: asyncio.sleep(3_600)) as it:
            for day in range(2):
                await it.memory.add(work(day))
                await it.step()
            assert len(it.told(EventKind.FOLDED)) >= 2
            assert it.told(EventKind.NOTE_STARTED)
            assert not it.told(EventKind.NOTED)
        assert time.monotonic() - began < 5
        (closed,) = it.told(EventKind.NOTES_CLOSED)
        assert closed.details["kept"], "and says what it left undone"

    asyncio.run(main())


# ---------------------------------------------------------------------- what stood there stays


MINE = "---\ntags: [我的]\n---\n\n# 我\r\n- 咖啡只喝黑的   \n\n\tprose with a tab, <b>html</b> and no end of line"


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/{day}.md"])
def test_a_person_s_text_is_there_byte_for_byte_whatever_is_noted(tmp_path: Path, path: str) -> None:
    """Written before, and while the model is thinking: it is asked for a whole new file, and gives one."""
    day = re.sub(" .*", "", user("x").timestamp)
    place = tmp_path / path.format(day=day)
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(MINE.encode())

    edits: list[bytes] = []

    def note(messages: Any) -> Any:
        if messages[-1]["role"] == "tool":
            return "Done."
        if len(edits) < 2:
            edits.append(f"\nedit {len(edits)}, while you think".encode())
            place.write_bytes(place.read_bytes() + edits[-1])
        return call("write", file_path=path.format(day=day), content="# Summary\n- please look into it\n")

    async def main() -> None:
        async with noting(tmp_path, note) as it:
            await it.memory.add(work(0))
            await it.step()
            await it.manager.await_summary_tasks()

    asyncio.run(main())
    left = place.read_bytes()
    assert left.startswith(MINE.encode() + edits[0])
    assert [left.count(edit) for edit in edits] == [1, 1]
    assert b"# Summary" in left


def test_many_notes_of_one_day_at_once_are_all_there_once(tmp_path: Path) -> None:
    """Appended by several sessions of one workspace, some of them twice."""

    async def main() -> None:
        async with ReMeLight(tmp_path, model=None) as light:
            said = [user(f"Remember that server{n} listens on port {8_000 + n}.") for n in range(20)]
            for msg in [*said, *said[:7]]:
                light.add_async_summary_task([msg])
            memories = [light.get_in_memory_memory() for _ in range(5)]
            for n, memory in enumerate(memories):
                await memory.add(user(f"Remember that door{n} is green."))
                await memory.mark_messages_compressed([msg for msg, _ in memory.content])
            await light.await_summary_tasks()

    asyncio.run(main())
    text = "".join(path.read_text("utf-8") for path in (tmp_path / "memory").glob("*.md"))
    assert [text.count(f"server{n} ") for n in range(20)] == [1] * 20
    assert [text.count(f"door{n} ") for n in range(5)] == [1] * 5


# ---------------------------------------------------------------------- days


@pytest.mark.parametrize(
    ("zone", "stamp", "day"),
    [
        ("Asia/Shanghai", "2026-09-15T00:30:00+08:00", "2026-09-15"),
        ("Asia/Shanghai", "2026-09-14T16:30:00+00:00", "2026-09-15"),
        ("America/New_York", "2026-09-15T00:30:00+08:00", "2026-09-14"),
        ("America/New_York", "2026-11-01T01:30:00-05:00", "2026-11-01"),
        ("Europe/London", "2026-03-29T00:59:00+00:00", "2026-03-29"),
    ],
)
def test_a_day_is_the_speaker_s_in_notes_and_archive(tmp_path: Path, zone: str, stamp: str, day: str) -> None:
    """Half past midnight in Shanghai is a new day there, whatever the machine's clock; also where clocks change."""

    async def main() -> None:
        async with ReMeLight(tmp_path, model=None, timezone=zone) as light:
            memory = light.get_in_memory_memory()
            await memory.add(Msg("alice", "Remember that the port is 8443.", "user", timestamp=stamp))
            await memory.mark_messages_compressed([msg for msg, _ in memory.content])
            await light.await_summary_tasks()

    asyncio.run(main())
    assert [path.stem for path in (tmp_path / "memory").glob("*.md")] == [day]
    assert [path.stem for path in (tmp_path / "dialog").glob("*.jsonl")] == [day]
    assert "8443" in (tmp_path / "memory" / f"{day}.md").read_text("utf-8")


def test_an_archive_that_ends_in_half_a_line_can_be_read_searched_and_added_to(tmp_path: Path) -> None:
    async def main() -> None:
        async with scene(tmp_path) as it:
            await it.memory.add([user("the plums are ripe"), agent("good")])
            await it.memory.clear()
            (path,) = (tmp_path / "dialog").glob("*.jsonl")
            path.write_bytes(path.read_bytes() + b'{"role":"us')
            assert "plums" in text_of((await it.manager.memory_search("plums")).content)
            await it.memory.add(user("the quinces are not"))
            await it.memory.clear()
            lines = [line for line in path.read_bytes().split(b"\n") if line]
            assert sum(line.startswith(b"{") and line.endswith(b"}") for line in lines) == 3
            assert "quinces" in text_of((await it.manager.memory_search("quinces")).content)
            path.write_bytes(b"\n".join(line for line in lines if line.endswith(b"}")) + b"\n")
            assert [line["content"] for line in archived(tmp_path)][-1] == "the quinces are not"

    asyncio.run(main())


# ---------------------------------------------------------------------- who said it, and whether it says anything


@pytest.mark.parametrize(
    "said",
    [
        [user("好的"), agent("不客气")],
        [user("谢谢！"), agent("不用谢。")],
        [user("ok, thanks"), agent("You are welcome.")],
        [user("你好"), agent("你好！有什么可以帮你？")],
    ],
)
def test_small_talk_leaves_no_note(tmp_path: Path, said: list[Msg]) -> None:
    async def main() -> None:
        async with ReMeLight(tmp_path, model=None) as light:
            await light.summary_memory(said)

    asyncio.run(main())
    assert not (tmp_path / "MEMORY.md").exists()
    assert "".join(path.read_text("utf-8") for path in (tmp_path / "memory").glob("*.md")) == ""


@pytest.mark.parametrize(
    ("asked", "answered", "proposed"),
    [
        ("查一下员工丁宁的考勤", "丁宁这个月出勤 22 天，住在杭州。", "- 用户住在杭州，出勤 22 天"),
        (
            "Write a quicksort for me.",
            "I implemented quicksort with a median-of-three pivot.",
            "- Implemented quicksort",
        ),
        ("What is the capital of Peru?", "Lima. People there prefer ceviche.", "- The user prefers ceviche"),
        ("以前怎么说的？", "你以前说过以后都要先转账。", "- 以后都要先转账"),
    ],
)
def test_what_the_agent_said_or_did_is_no_fact_about_the_user(
    tmp_path: Path, asked: str, answered: str, proposed: str
) -> None:
    """Whatever a model makes of it: MEMORY.md takes what users have said."""

    async def main() -> None:
        prompts: list[str] = []
        async with noting(tmp_path, once(proposed), prompts, window=100_000) as it:
            for said in (Msg("小王", asked, "user"), agent(answered)):
                await it.memory.add(said)
            await it.manager.new()
            await it.manager.await_summary_tasks()
            (prompt,) = prompts
            assert re.search(r"user 小王:", prompt), "who said it stands there"
            assert '<message role=\\"agent\\">' in prompt

    asyncio.run(main())
    path = tmp_path / "MEMORY.md"
    assert not path.exists() or proposed not in path.read_text("utf-8")


def test_names_and_words_of_a_language_are_noted_as_they_are(tmp_path: Path) -> None:
    line = "- 王小明偏好用 pytest 写测试，不用 unittest"

    async def main() -> None:
        prompts: list[str] = []
        async with noting(tmp_path, once(line), prompts, window=100_000) as it:
            await it.memory.add(user("我是王小明，我偏好用 pytest 写测试，不用 unittest，请记住。"))
            await it.manager.new()
            await it.manager.await_summary_tasks()
            assert re.search("中文|同一种语言|语言", prompts[0])

    asyncio.run(main())
    assert line in (tmp_path / "MEMORY.md").read_text("utf-8")
