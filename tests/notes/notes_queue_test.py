# -*- coding: utf-8 -*-
"""The note queue: in the background, one at a time, in order, and none lost or done twice."""

import asyncio
import gc
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from _note_scenes import JOURNAL, put, read, run, user, writer_of
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import ReMeLight
from agentscope_reme._errors import ConfigError, ModelReplyError, NotStartedError, StorageError
from agentscope_reme._events import EventBus, EventKind
from agentscope_reme.notes import NoteBatch, NoteQueue, NoteResult, _note_queue
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.workspace import Workspace


class Recorder:
    """A note writer that writes down what it was given, and does what a script says first."""

    def __init__(self, root: Path, script: Callable[[list[Msg], bool], Any] = lambda *_: None) -> None:
        self.workspace = Workspace(root)
        self.script = script
        self.written: list[str] = []
        self.at_work = 0
        self.most_at_work = 0

    async def write(
        self, messages: Any, *, language: Any = None, fallback: bool = True, progress: Any = None
    ) -> NoteResult:
        self.at_work += 1
        self.most_at_work = max(self.most_at_work, self.at_work)
        try:
            outcome = self.script(messages, fallback)
            if asyncio.iscoroutine(outcome):
                await outcome
            else:
                await anyio.sleep(0.002)
            self.written += [msg.get_text_content() for msg in messages]
            return NoteResult(files=(JOURNAL,), source="model", text="ok")
        finally:
            self.at_work -= 1


class Batches:
    """Makes batches and knows what became of them."""

    def __init__(self) -> None:
        self.done: list[tuple[str | None, int]] = []
        self.loads: list[int] = []

    def make(self, number: int, session: str | None = "s", load: Callable[[], list[Msg]] | None = None) -> NoteBatch:
        def loaded() -> list[Msg]:
            self.loads.append(number)
            return load() if load else [user(f"message {number} of {session}")]

        return NoteBatch(session, number, loaded, lambda result: self.done.append((session, number)))


def failing(times: int, error: Exception | None = None) -> Callable[[list[Msg], bool], Any]:
    """Fails so many times."""
    left = [times]

    def script(messages: list[Msg], fallback: bool) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise error or ModelReplyError("down")

    return script


def test_batches_are_done_in_order_one_at_a_time_and_reported(tmp_path: Path) -> None:
    writer, batches, events = Recorder(tmp_path), Batches(), EventBus()
    told: list[Any] = []
    events.subscribe(told.append)
    queue = NoteQueue(writer, events=events)

    async def go() -> None:
        for number in range(5):
            queue.submit(batches.make(number, session=f"s{number % 2}"))
        assert queue.status() == {"pending": 5, "done": 0, "failed": 0, "last_error": None}
        results = await queue.drain(5)
        assert [result.text for result in results] == ["ok"] * 5
        assert await queue.drain(5) == []

    run(go)
    assert batches.done == [(f"s{number % 2}", number) for number in range(5)]
    assert writer.most_at_work == 1
    assert queue.status() == {"pending": 0, "done": 5, "failed": 0, "last_error": None}
    assert [event.kind for event in told] == [EventKind.NOTE_STARTED, EventKind.NOTED] * 5
    assert (told[1].session_id, told[1].details["number"], told[1].details["source"]) == ("s0", 0, "model")
    assert told[0].details["messages"] == 1


def test_submitting_never_waits(tmp_path: Path) -> None:
    async def slow() -> None:
        await anyio.sleep(30)

    queue, batches = NoteQueue(Recorder(tmp_path, lambda *_: slow())), Batches()

    async def go() -> None:
        started = time.perf_counter()
        for number in range(50):
            queue.submit(batches.make(number, load=lambda: time.sleep(0.3) or []))
        assert time.perf_counter() - started < 0.1
        lag = time.perf_counter()
        await anyio.sleep(0.05)
        assert time.perf_counter() - lag < 0.25, "loading blocks the loop"
        assert queue.status()["pending"] == 50
        await queue.close(0.05)

    run(go)


def test_a_failure_is_tried_again_with_the_same_messages(tmp_path: Path) -> None:
    writer, batches, events = Recorder(tmp_path, failing(2)), Batches(), EventBus()
    told: list[Any] = []
    events.subscribe(told.append)
    queue = NoteQueue(writer, backoff=0.02, events=events)

    async def go() -> None:
        queue.submit(batches.make(1))
        await queue.drain(5)

    started = time.monotonic()
    run(go)
    assert time.monotonic() - started > 0.05  # 0.02 + 0.04
    assert (batches.done, batches.loads) == ([("s", 1)], [1, 1, 1])
    assert writer.written == ["message 1 of s"]
    failures = [event for event in told if event.kind == EventKind.NOTE_FAILED]
    assert [(event.details["attempt"], event.details["kept"]) for event in failures] == [(1, False), (2, False)]
    assert "down" in failures[0].error
    assert queue.status()["last_error"] == "ModelReplyError: down"


def test_the_last_attempt_may_go_without_a_model(tmp_path: Path) -> None:
    seen: list[bool] = []

    def script(messages: list[Msg], fallback: bool) -> None:
        seen.append(fallback)
        if not fallback:
            raise ModelReplyError("down")

    queue, batches = NoteQueue(Recorder(tmp_path, script), retries=2, backoff=0), Batches()

    async def go() -> None:
        queue.submit(batches.make(1))
        await queue.drain(5)

    run(go)
    assert seen == [False, False, True]
    assert batches.done == [("s", 1)]


def test_a_model_that_always_fails_neither_loses_nor_blocks(tmp_path: Path) -> None:
    model = ScriptedChatModel(lambda *_: RuntimeError("429"))
    queue, batches = NoteQueue(writer_of(tmp_path, model), retries=1, backoff=0), Batches()

    async def go() -> list[NoteResult]:
        for number in range(3):
            queue.submit(batches.make(number, load=lambda number=number: [user(f"Deploy release number {number} now")]))
        return await queue.drain(10)

    results = run(go)
    assert [result.source for result in results] == ["extractive"] * 3
    assert all("429" in (result.error or "") for result in results)
    assert len(model.requests) == 6
    assert all(f"release number {number}" in read(tmp_path, JOURNAL) for number in range(3))
    assert len(batches.done) == 3
    assert "429" in queue.status()["last_error"]


def test_what_cannot_be_written_is_kept_and_holds_back_its_session_only(tmp_path: Path) -> None:
    full = [True]

    def script(messages: list[Msg], fallback: bool) -> None:
        if full[0] and "of bad" in messages[0].get_text_content():
            raise StorageError("no space left on device")

    queue, batches = NoteQueue(Recorder(tmp_path, script), retries=1, backoff=0), Batches()

    async def go() -> None:
        for number, session in enumerate(["bad", "good", "bad", "good", None]):
            queue.submit(batches.make(number, session))
        await queue.drain(5)
        assert batches.done == [("good", 1), ("good", 3), (None, 4)]
        assert queue.status()["failed"] == 2
        assert "no space" in queue.status()["last_error"]
        full[0] = False
        queue.submit(batches.make(5, "bad"))
        await queue.drain(5)

    run(go)
    assert batches.done[3:] == [("bad", 0), ("bad", 2), ("bad", 5)]
    assert queue.status()["failed"] == 0
    assert 2 not in batches.loads[:5], "it waited without being read"


def test_a_load_that_fails_is_a_failure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def load() -> list[Msg]:
        raise OSError("archive gone")

    queue, batches = NoteQueue(Recorder(tmp_path), retries=0), Batches()

    async def go() -> None:
        queue.submit(batches.make(1, load=load))
        await queue.drain(5)

    with caplog.at_level(logging.ERROR, logger="agentscope_reme"):
        run(go)
    assert (batches.done, queue.status()["failed"]) == ([], 1)
    assert "archive gone" in caplog.text


def test_a_cursor_that_cannot_be_put_down_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def done(result: NoteResult) -> None:
        raise RuntimeError("journal broken")

    queue = NoteQueue(Recorder(tmp_path))

    async def go() -> None:
        queue.submit(NoteBatch("s", 1, lambda: [user("x")], done))
        queue.submit(NoteBatch("s", 2, lambda: [user("y")], lambda _: None))
        await queue.drain(5)

    run(go)
    assert queue.status()["done"] == 2
    assert "journal broken" in queue.status()["last_error"]
    assert "journal broken" in caplog.text


# ---------------------------------------------------------------------- closing


@pytest.mark.parametrize("swallow", [False, True])
def test_closing_is_bounded_while_the_model_hangs(
    tmp_path: Path, swallow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_note_queue, "_GRACE", 0.2)

    async def hang() -> None:
        for _ in range(200):
            try:
                await anyio.sleep(0.05)
            except asyncio.CancelledError:
                if not swallow:
                    raise

    queue, batches = NoteQueue(Recorder(tmp_path, lambda *_: hang())), Batches()

    async def go() -> None:
        made = [batches.make(number) for number in range(3)]
        for batch in made:
            queue.submit(batch)
        await anyio.sleep(0.05)
        started = time.monotonic()
        finished, kept = await queue.close(0.1)
        assert time.monotonic() - started < 2
        assert (finished, kept) == ([], made)
        with pytest.raises(NotStartedError):
            queue.submit(batches.make(9))

    if swallow:  # asyncio.run would wait for it
        loop = asyncio.new_event_loop()
        loop.run_until_complete(go())
    else:
        run(go)
    assert batches.done == []


def test_closing_finishes_what_it_can_and_says_which(tmp_path: Path) -> None:
    async def work(messages: list[Msg]) -> None:
        await anyio.sleep(30 if "message 2" in messages[0].get_text_content() else 0.01)

    queue, batches = NoteQueue(Recorder(tmp_path, lambda messages, _: work(messages))), Batches()

    async def go() -> None:
        made = [batches.make(number) for number in range(4)]
        for batch in made:
            queue.submit(batch)
        finished, kept = await queue.close(0.5)
        assert (finished, kept) == (made[:2], made[2:])

    run(go)
    assert batches.done == [("s", 0), ("s", 1)]


def test_closing_waits_for_no_pause_and_lets_the_last_attempt_go_without_a_model(tmp_path: Path) -> None:
    def script(messages: list[Msg], fallback: bool) -> None:
        if not fallback:
            raise ModelReplyError("down")

    queue, batches = NoteQueue(Recorder(tmp_path, script), backoff=30), Batches()

    async def go() -> None:
        queue.submit(batches.make(1))
        await anyio.sleep(0.1)
        started = time.monotonic()
        finished, kept = await queue.close(5)
        assert time.monotonic() - started < 1
        assert (len(finished), kept) == (1, [])

    run(go)
    assert batches.done == [("s", 1)]


def test_a_hanging_model_of_a_real_writer_is_stopped_and_nothing_is_written_later(tmp_path: Path) -> None:
    model = ScriptedChatModel(lambda *_: "late", delay=60)
    queue, batches = NoteQueue(writer_of(tmp_path, model)), Batches()

    async def go() -> None:
        queue.submit(batches.make(1))
        await anyio.sleep(0.2)
        finished, kept = await queue.close(0.1)
        assert (finished, [batch.number for batch in kept]) == ([], [1])

    started = time.monotonic()
    run(go)
    assert time.monotonic() - started < 4
    assert not (tmp_path / JOURNAL).exists()
    fresh = NoteQueue(writer_of(tmp_path))  # the next process takes it from the outbox

    async def again() -> None:
        fresh.submit(batches.make(1))
        await fresh.close(5)

    run(again)
    assert batches.done == [("s", 1)]
    assert "message 1" in read(tmp_path, JOURNAL)


def test_an_empty_queue_closes_at_once(tmp_path: Path) -> None:
    assert run(lambda: NoteQueue(Recorder(tmp_path)).close()) == ([], [])
    for options in ({"retries": -1}, {"retries": 1.5}, {"backoff": -1.0}):
        with pytest.raises(ConfigError):
            NoteQueue(Recorder(tmp_path), **options)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- loops, tasks, garbage


def test_a_queue_outlives_its_loop(tmp_path: Path) -> None:
    async def slow() -> None:
        await anyio.sleep(0.2)

    slowly = [True]
    writer = Recorder(tmp_path, lambda *_: slow() if slowly[0] else None)
    queue, batches = NoteQueue(writer), Batches()
    queue.submit(batches.make(0))  # no loop at all

    async def begin() -> None:
        for number in (1, 2):
            queue.submit(batches.make(number))
        await anyio.sleep(0.05)  # the loop ends while the first is at work

    run(begin)
    assert queue.status()["pending"] == 3
    slowly[0] = False
    run(lambda: queue.drain(5))
    assert batches.done == [("s", 0), ("s", 1), ("s", 2)]


def test_a_loop_that_was_closed_without_a_word_holds_nobody_up(tmp_path: Path) -> None:
    forever = [True]

    async def hang() -> None:
        await anyio.sleep(60)

    queue = NoteQueue(Recorder(tmp_path, lambda *_: hang() if forever[0] else None))
    batches = Batches()
    loop = asyncio.new_event_loop()

    async def begin() -> None:
        queue.submit(batches.make(1))
        await anyio.sleep(0.05)

    loop.run_until_complete(begin())
    loop.close()
    forever[0] = False
    run(lambda: queue.drain(5))
    gc.collect()
    assert batches.done == [("s", 1)]
    assert queue.status() == {"pending": 0, "done": 1, "failed": 0, "last_error": None}


def test_two_loops_in_two_threads_share_a_queue(tmp_path: Path) -> None:
    writer, batches = Recorder(tmp_path), Batches()
    queue = NoteQueue(writer)

    async def submit(first: int) -> None:
        for number in range(first, first + 10):
            queue.submit(batches.make(number, session=None))
            await anyio.sleep(0.001)
        await queue.drain(10)

    threads = [threading.Thread(target=lambda first=first: run(lambda: submit(first))) for first in (0, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert sorted(number for _, number in batches.done) == [*range(10), *range(100, 110)]
    assert writer.most_at_work == 1


def test_nobody_needs_to_hold_the_queue(tmp_path: Path) -> None:
    batches = Batches()

    async def go() -> None:
        NoteQueue(Recorder(tmp_path)).submit(batches.make(1))
        for _ in range(100):
            gc.collect()
            if batches.done:
                return
            await anyio.sleep(0.01)

    run(go)
    assert batches.done == [("s", 1)]


def test_whoever_drains_may_be_interrupted(tmp_path: Path) -> None:
    async def slow() -> None:
        await anyio.sleep(0.15)

    queue, batches = NoteQueue(Recorder(tmp_path, lambda *_: slow())), Batches()

    async def go() -> None:
        queue.submit(batches.make(1))
        waiting = asyncio.ensure_future(queue.drain())
        await anyio.sleep(0.02)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await queue.drain(0.01) == []
        assert len(await queue.drain(5)) == 1

    run(go)
    assert batches.done == [("s", 1)]


# ---------------------------------------------------------------------- one at a time in the workspace


def test_queues_of_one_workspace_take_turns(tmp_path: Path) -> None:
    writer = Recorder(tmp_path)
    queues, batches = [NoteQueue(writer) for _ in range(4)], Batches()

    async def go() -> None:
        for number in range(12):
            queues[number % 4].submit(batches.make(number, session=None))
        for queue in queues:
            await queue.drain(20)

    run(go)
    assert writer.most_at_work == 1
    assert sorted(number for _, number in batches.done) == [*range(12)]


def _hold_the_turn(root: str) -> None:
    async def hang() -> None:
        put(Path(root), "at_work", "")
        await anyio.sleep(60)

    async def go() -> None:
        queue = NoteQueue(Recorder(Path(root), lambda *_: hang()))
        queue.submit(Batches().make(1))
        await queue.drain()

    asyncio.run(go())


def test_another_process_at_work_is_waited_for_and_its_death_noticed(tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process(target=_hold_the_turn, args=(str(tmp_path),))
    process.start()
    while not (tmp_path / "at_work").exists():
        time.sleep(0.005)
    queue, batches = NoteQueue(Recorder(tmp_path)), Batches()

    async def go() -> None:
        queue.submit(batches.make(2))
        await queue.drain(0.2)
        assert batches.done == []
        os.kill(process.pid or 0, signal.SIGKILL)
        await queue.drain(5)

    run(go)
    process.join(5)
    assert batches.done == [("s", 2)]


# ---------------------------------------------------------------------- law 6

PLAN = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.lists(st.sampled_from(["model", "disk", "load"]), max_size=4)),
    max_size=6,
)


@settings(max_examples=8)
@given(PLAN, st.integers(0, 2), st.integers(0, 6))
def test_every_batch_is_done_once_and_in_the_order_of_its_session(
    tmp_path_factory: pytest.TempPathFactory, plan: list[tuple[str | None, list[str]]], retries: int, pause_at: int
) -> None:
    troubles = {number: list(faults) for number, (_, faults) in enumerate(plan)}

    def script(messages: list[Msg], fallback: bool) -> None:
        faults = troubles[int(messages[0].get_text_content().split()[1])]
        if faults and faults[0] != "load":
            fault = faults.pop(0)
            if fault == "disk" or not fallback:
                raise StorageError("full") if fault == "disk" else ModelReplyError("down")

    def load_of(number: int, session: str | None) -> Callable[[], list[Msg]]:
        def load() -> list[Msg]:
            if troubles[number][:1] == ["load"]:
                troubles[number].pop(0)
                raise OSError("gone")
            return [user(f"message {number} of {session}")]

        return load

    queue, batches = NoteQueue(Recorder(tmp_path_factory.mktemp("n"), script), retries=retries, backoff=0), Batches()

    async def go() -> None:
        for number, (session, _) in enumerate(plan):
            queue.submit(batches.make(number, session, load_of(number, session)))
            if number == pause_at:
                await queue.drain(10)
        for _ in range(30):
            await queue.drain(10)
            assert queue.status()["pending"] == 0
            if not queue.status()["failed"]:
                break
            queue.submit(batches.make(99, "other"))

    run(go)
    done = [each for each in batches.done if each[0] != "other"]
    assert sorted(number for _, number in done) == list(range(len(plan)))
    for session in ("a", "b"):
        numbers = [number for name, number in done if name == session]
        assert numbers == sorted(numbers)


def test_what_is_noted_at_once_takes_its_turn_too(tmp_path: Path) -> None:
    at_work, most = 0, 0

    async def reply(*_: Any) -> str:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await anyio.sleep(0.01)
        at_work -= 1
        return "NOTHING TO NOTE"

    async def go() -> None:
        model = ScriptedChatModel(reply)
        async with ReMeLight(tmp_path, model=model, formatter=OpenAIChatFormatter()) as reme:
            reme.add_async_summary_task([user("The port is 8443.")])
            async with anyio.create_task_group() as group:
                for n in range(3):
                    group.start_soon(reme.summary_memory, [user(f"The port is {n}.")])
            await reme.await_summary_tasks()
        assert len(model.requests) == 4

    run(go)
    assert most == 1
