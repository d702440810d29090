# -*- coding: utf-8 -*-
"""Law 6: what is to be noted is noted once, also what was live at the end, and what belongs to no session."""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from agentscope.agent import ReActAgent
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import EventKind, MemoryManager, ReMeLight
from agentscope_reme._errors import StorageError
from agentscope_reme.notes import LooseNotes
from agentscope_reme.storage import Journal
from agentscope_reme.testing import ScriptedChatModel


class Noter(ScriptedChatModel):
    """A model that notes nothing and remembers what it was shown; or one that never answers."""

    def __init__(self, *, hangs: bool = False) -> None:
        super().__init__(lambda *_: "NOTHING TO NOTE", delay=60.0 if hangs else 0.0)

    @property
    def shown(self) -> str:
        return "".join(json.dumps(request.messages, ensure_ascii=False) for request in self.requests)


def light(folder: Path, model: Any = None, **options: Any) -> ReMeLight:
    return ReMeLight(folder, model=model, formatter=OpenAIChatFormatter() if model else None, **options)


def noted(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in sorted((folder / "memory").glob("*.md")))


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentscope_reme._reme_light.NOTES_TIMEOUT", 0.05)


def task(n: int) -> list[Msg]:
    return [Msg("ann", f"Remember: rule {n} is about ports.", "user")]


# ---------------------------------------------------------------------- messages of no session


def test_tasks_that_were_not_done_in_time_are_done_at_the_next_start_and_once(tmp_path: Path, hurry: None) -> None:
    async def main() -> None:
        told: list[Any] = []
        async with light(tmp_path, Noter(hangs=True)) as reme:
            reme.subscribe(told.append)
            for n in range(2):
                reme.add_async_summary_task(task(n), language="en")
            reme.add_async_summary_task(task(1)[:0])
        (closed,) = [event for event in told if event.kind == EventKind.NOTES_CLOSED]
        assert closed.details == {"finished": 0, "kept": [(None, 1), (None, 2)], "lost": []}
        assert noted(tmp_path) == ""
        for _ in range(2):
            async with light(tmp_path) as later:
                await later.await_summary_tasks()
        assert [noted(tmp_path).count(f"rule {n} is") for n in range(2)] == [1, 1]
        assert list((tmp_path / ".state" / "loose").iterdir()) == []

    asyncio.run(main())


def test_what_the_hook_folds_of_a_plain_list_is_kept_too(tmp_path: Path, hurry: None) -> None:
    async def reply(_: Any, tools: Any) -> str:
        await asyncio.sleep(60 if tools else 0)
        return "no summary"

    async def main() -> None:
        said = [Msg("ann", f"Fact {n} is about ports. " + "and so on " * 60, "user") for n in range(12)]
        async with light(tmp_path, ScriptedChatModel(reply)) as reme:
            kept, _ = await reme.pre_reasoning_hook(said, max_input_length=2_000, memory_compact_reserve=300)
        assert noted(tmp_path) == ""
        async with light(tmp_path) as later:
            await later.await_summary_tasks()
        folded = {msg.id for msg in said} - {msg.id for msg in kept}
        assert folded
        assert all(noted(tmp_path).count(f"Fact {n} is") == (msg.id in folded) for n, msg in enumerate(said))

    asyncio.run(main())


def test_what_is_put_down_is_redacted_and_whole(tmp_path: Path, hurry: None) -> None:
    async def main() -> None:
        async with light(tmp_path, Noter(hangs=True), redact=lambda text: text.replace("hunter2", "***")) as reme:
            said = [Msg("ann", "Remember: the password is hunter2.", "user")]
            reme.add_async_summary_task(said)
            said[0].content = "changed by the caller"
        (journal,) = (tmp_path / ".state" / "loose").glob("*.jsonl")
        assert b"hunter2" not in journal.read_bytes()
        assert b"the password is ***" in journal.read_bytes()

    asyncio.run(main())


def test_what_the_disk_does_not_take_is_said_to_be_lost(
    tmp_path: Path, hurry: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise StorageError("no space left on device")

    async def main() -> None:
        told: list[Any] = []
        async with light(tmp_path, Noter(hangs=True)) as reme:
            reme.subscribe(told.append)
            monkeypatch.setattr(Journal, "append", full)
            reme.add_async_summary_task(task(0))
            reme.add_async_summary_task(task(1))  # a checkpoint: the disk takes both
            reme.add_async_summary_task(task(2))
            monkeypatch.setattr(Journal, "checkpoint", full)
        (closed,) = [event for event in told if event.kind == EventKind.NOTES_CLOSED]
        assert (len(closed.details["kept"]), closed.details["lost"]) == (3, [1, 2, 3])
        monkeypatch.undo()
        async with light(tmp_path) as later:
            await later.await_summary_tasks()

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert "they are lost" in caplog.text
    assert [noted(tmp_path).count(f"rule {n} is") for n in range(3)] == [1, 1, 0]


def test_a_journal_that_is_damaged_costs_what_is_damaged(tmp_path: Path) -> None:
    loose = LooseNotes(tmp_path)
    for n in range(3):
        loose.add(task(n), None)
    assert loose.close() == []
    (path,) = tmp_path.glob("*.jsonl")
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], lines[1], b'{"op": "add", "number": 2, "mess', lines[3], b'{"op":']))
    (found,) = LooseNotes.left_behind(tmp_path)
    assert LooseNotes.left_behind(tmp_path) == []  # it has an owner
    assert found.waiting == [1, 3]
    assert found.batch(3)[0][0].content == task(2)[0].content
    for number in (1, 3):
        found.done(number)
    assert path.exists()


@given(st.lists(st.one_of(st.just("add"), st.just("restart"), st.integers(0, 5)), max_size=12))
@settings(max_examples=30, deadline=None)
def test_what_waits_survives_and_what_is_done_does_not(tmp_path_factory: Any, steps: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("loose")
    waiting: list[str] = []
    journals = [LooseNotes(folder)]
    for step in steps:
        if step == "add":
            waiting.append(f"text {len(os.urandom(1))} {time.monotonic_ns()}")
            journals[0].add([Msg("ann", waiting[-1], "user")], "zh")
        elif step == "restart":
            for each in journals:
                each.close()
            journals = [LooseNotes(folder), *LooseNotes.left_behind(folder)]
        else:
            known = [(each, number) for each in journals for number in each.waiting]
            if known:
                each, number = known[step % len(known)]
                waiting.remove(each.batch(number)[0][0].content)
                each.done(number)
        found = [each.batch(number) for each in journals for number in each.waiting]
        assert sorted(msgs[0].content for msgs, _ in found) == sorted(waiting)
        assert {language for _, language in found} <= {"zh"}
    if not waiting:
        assert list(folder.iterdir()) == []


def _add_and_hang(folder: str) -> None:
    async def main() -> None:
        reme = light(Path(folder), Noter(hangs=True))
        await reme.start()
        memory = reme.get_in_memory_memory("s")
        await memory.add(Msg("ann", "Remember: rule 7 is about ports.", "user"))
        reme.add_async_summary_task(task(0))
        reme._note_all(live=True)
        (Path(folder) / "ready").touch()
        await asyncio.sleep(60)

    asyncio.run(main())


@pytest.mark.slow
def test_a_process_that_is_killed_leaves_its_tasks_to_the_next(tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=_add_and_hang, args=(str(tmp_path),))
    process.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    os.kill(process.pid or 0, signal.SIGKILL)
    process.join(10)

    async def main() -> None:
        for _ in range(2):
            async with light(tmp_path) as later:
                await later.await_summary_tasks()
                (await later.resume("s")).close()

    asyncio.run(main())
    assert [noted(tmp_path).count(f"rule {n} is") for n in (0, 7)] == [1, 1]


# ---------------------------------------------------------------------- what is live at the end


def test_a_session_that_just_ends_is_found_by_the_next_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with MemoryManager(tmp_path, model=None) as manager:
            agent = ReActAgent("friday", "You help.", ScriptedChatModel(["Hello Ann."]), OpenAIChatFormatter())
            manager.attach(agent)
            await agent(Msg("ann", "My name is Ann and I always prefer oolong tea.", "user"))
        assert "oolong tea" in noted(tmp_path)
        assert "oolong tea" in (tmp_path / "MEMORY.md").read_text("utf-8")
        async with MemoryManager(tmp_path, model=None) as manager:
            assert "oolong tea" in str((await manager.memory_search("oolong tea")).content)

    asyncio.run(main())


def test_without_notes_nothing_is_noted_at_the_end(tmp_path: Path) -> None:
    async def main() -> None:
        async with light(tmp_path, enable_notes=False) as reme:
            await reme.get_in_memory_memory("s").add(task(0))

    asyncio.run(main())
    assert noted(tmp_path) == ""


STEPS = st.lists(st.sampled_from(["add", "add", "fold", "close", "hasty close", "delete", "new"]), max_size=9)


@given(STEPS)
@settings(max_examples=12, deadline=None)
def test_every_message_reaches_the_writer_once_however_sessions_end(tmp_path_factory: Any, steps: list[str]) -> None:
    """Folded and resumed, closed in time or not, and gone on with: each message that was not deleted, once."""
    folder = tmp_path_factory.mktemp("lives")
    shown, said, deleted = "", list[str](), set[str]()

    async def main() -> None:
        nonlocal shown
        number, session = 0, "s0"
        for life in [*_lives(steps), ["close"]]:
            model = Noter(hangs=life[-1] == "hasty close")
            reme = light(folder, model)
            await reme.start()
            memory = await reme.resume(session) if session in reme.sessions() else reme.get_in_memory_memory(session)
            for step in life:
                live = [msg for msg, _ in memory.content]
                if step == "add":
                    number += 1
                    said.append(f"fact-{number}-of-all.")
                    await memory.add(Msg("ann", f"The port is {said[-1]}", "user"))
                elif step == "fold":
                    await memory.mark_messages_compressed(live[:-1])
                elif step == "delete" and live:
                    if live[0].content.split()[-1] not in shown:
                        deleted.add(live[0].content.split()[-1])
                    await memory.delete([live[0].id])
                elif step == "new":
                    memory.leave(live, op="clear", summary="", noted=True)
            if life[-1] == "hasty close":
                reme._note_all(live=True)
                model.requests.clear()
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("agentscope_reme._reme_light.NOTES_TIMEOUT", 0.01)
                    await reme.close()
            else:
                await reme.close()
                shown += model.shown

    asyncio.run(main())
    assert {each: shown.count(each) for each in said if each not in deleted} == {
        each: 1 for each in said if each not in deleted
    }


def _lives(steps: list[str]) -> list[list[str]]:
    lives: list[list[str]] = [[]]
    for step in steps:
        lives[-1].append(step)
        if step.endswith("close"):
            lives.append([])
    return [life if life and life[-1].endswith("close") else [*life, "close"] for life in lives]


def test_a_close_that_is_interrupted_loses_nothing_and_doubles_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    async def main() -> None:
        reme = light(tmp_path, Noter(hangs=True))
        await reme.start()
        memory = reme.get_in_memory_memory("s")
        await memory.add(task(3))
        closing = asyncio.ensure_future(reme.close())
        await asyncio.sleep(0.1)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert not memory.is_open
        for _ in range(2):
            model = Noter()
            async with light(tmp_path, model) as later:
                resumed = await later.resume("s")
                await later.await_summary_tasks()
                assert [msg.content for msg, _ in resumed.content] == [task(3)[0].content]
            asked.append(model.shown)
        assert [each.count("rule 3 is") for each in asked] == [1, 0]

    asyncio.run(main())
