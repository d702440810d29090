# -*- coding: utf-8 -*-
"""The journal is the memory: whatever was done to one, a resume of the other is the same."""

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from _driven import archived, manager_of, resumed, user
from _kill_session import the_message
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import EventKind, MemoryManager
from agentscope_reme.working_memory import ReMeInMemoryMemory

NUMBERS = st.integers(0, 7)
IDS = st.lists(NUMBERS.map(lambda n: f"s-{n}a") | NUMBERS.map(lambda n: f"s-{n}b"), max_size=3)
MARKS = st.sampled_from([None, "hint", "compressed", "mine"])
OPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(NUMBERS, max_size=3), MARKS, st.booleans()),
        st.tuples(st.just("delete"), IDS),
        st.tuples(st.just("delete_by_mark"), MARKS),
        st.tuples(st.just("mark"), MARKS, MARKS, st.none() | IDS),
        st.tuples(st.just("pin"), NUMBERS),
        st.tuples(st.just("unpin"), IDS),
        st.tuples(st.just("summary"), st.sampled_from(["", "## Goal\n- one", "## 目标\n- 二"])),
        st.tuples(st.just("fold"), IDS),
        st.tuples(st.just("clear")),
        st.tuples(st.just("edit"), NUMBERS),
        st.tuples(st.just("append"), NUMBERS),
        st.tuples(st.just("load"), st.lists(NUMBERS, max_size=3)),
        st.tuples(st.just("reopen")),
    ),
    max_size=14,
)


async def do(memory: ReMeInMemoryMemory, op: tuple) -> None:
    name, *values = op
    if name == "add":
        messages = [msg for number in values[0] for msg in the_message("s", number)]
        await memory.add(messages, values[1], values[2])
    elif name == "delete":
        await memory.delete(values[0])
    elif name == "delete_by_mark":
        await memory.delete_by_mark(values[0] or "none")
    elif name == "mark":
        await memory.update_messages_mark(*values)
    elif name == "pin":
        ids = [msg.id for msg, _ in memory.content]
        if ids:
            memory.pin(ids[values[0] % len(ids)])
    elif name == "unpin":
        memory.unpin(values[0])
    elif name == "summary":
        await memory.update_compressed_summary(values[0])
    elif name == "fold":
        await memory.mark_messages_compressed([msg for msg, _ in memory.content if msg.id in values[0]])
    elif name == "clear":
        await memory.clear_content()
    elif name == "edit":
        if memory.content:
            memory.content[values[0] % len(memory.content)][0].metadata = {"edited": values[0]}
            memory.content[values[0] % len(memory.content)][0].content = f"edited {values[0]} 改"
    elif name == "append":  # behind the memory's back, as some callers of the host do
        memory.content.append((the_message("s", values[0])[0], []))
    elif name == "load":
        plain = InMemoryMemory()
        await plain.add([msg for number in values[0] for msg in the_message("s", number)])
        memory.load_state_dict(plain.state_dict())
    memory.verify(everything=True)


def state_of(memory: ReMeInMemoryMemory) -> Any:
    content = [(msg.to_dict(), list(map(str, marks))) for msg, marks in memory.content if "hint" not in marks]
    return content, memory.get_compressed_summary(), sorted(memory.pins)


@given(ops=OPS)
def test_a_resume_is_what_was_left(ops: list[tuple]) -> None:
    async def main(folder: Path) -> None:
        manager = manager_of(folder, model=None)
        memory = manager.get_in_memory_memory("s")
        for op in ops:
            if op[0] == "reopen":
                await memory.delete_by_mark("hint")
                memory.close()
                if (folder / ".state" / "sessions" / "s.jsonl").exists():
                    again = resumed(folder, "s")
                    assert state_of(again) == state_of(memory)
                    assert all(again._knows(each) == memory._knows(each) for n in range(8) for each in (f"s-{n}a",))
                    memory = again
            else:
                await do(memory, op)
        memory.close()
        if (folder / ".state" / "sessions" / "s.jsonl").exists():
            again = resumed(folder, "s")
            assert state_of(again) == state_of(memory)
            again.close()
        else:
            assert state_of(memory)[0] == []
        assert all(line["session_id"] == "s" for line in archived(folder))

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))


def test_a_deleted_message_is_not_pinned_when_it_comes_again(tmp_path: Path) -> None:
    async def main() -> None:
        memory = manager_of(tmp_path, model=None).get_in_memory_memory("s")
        await memory.add(the_message("s", 0))
        memory.pin("s-0a")
        await memory.delete(["s-0a"])
        memory.close()
        again = resumed(tmp_path, "s")
        await again.add(the_message("s", 0))
        assert again.pins == frozenset()
        again.close()

    asyncio.run(main())


@pytest.mark.parametrize("command", ["/clear", "/new"])
def test_a_clear_takes_the_summary_in_the_same_record(tmp_path: Path, command: str) -> None:
    """A death between two records would leave a summary of nothing."""

    async def main() -> None:
        manager = manager_of(tmp_path, model=None)
        memory = manager.get_in_memory_memory("s")
        agent = attached(manager, memory)
        await memory.add(user("one"))
        await memory.update_compressed_summary("## Goal\n- old")
        writes: list[str] = []
        write = memory._log._journal.append
        memory._log._journal.append = lambda record, **kw: (writes.append(record["op"]), write(record, **kw))
        await manager.command(command, agent)
        assert writes == ["leaving", "clear"]
        assert memory.get_compressed_summary() == ""
        memory.close()
        again = resumed(tmp_path, "s")
        assert (again.content, again.get_compressed_summary()) == ([], "")
        again.close()
        await memory.update_compressed_summary("## Goal\n- only this")
        await manager.command(command, agent)
        assert memory.get_compressed_summary() == ""

    asyncio.run(main())


def attached(manager: MemoryManager, memory: ReMeInMemoryMemory) -> Any:
    from agentscope.agent import ReActAgent
    from agentscope.formatter import OpenAIChatFormatter

    from agentscope_reme.testing import ScriptedChatModel

    agent = ReActAgent("friday", "You help.", ScriptedChatModel([]), OpenAIChatFormatter(), memory=memory)
    manager.attach(agent)
    return agent


def test_a_closed_memory_never_writes_over_what_others_did_since(tmp_path: Path) -> None:
    """A session has one owner: whoever goes on with a stale memory is told, and keeps it to itself."""

    async def main() -> None:
        stale_manager = manager_of(tmp_path, model=None)
        told = []
        stale_manager.subscribe(told.append)
        stale = stale_manager.get_in_memory_memory("s")
        await stale.add(user("old"))
        stale.close()
        other = resumed(tmp_path, "s")
        await stale.add(user("while the other has it"))
        assert stale.journal_state == "degraded"
        await other.add(user("new"))
        other.close()
        for text in ("after it", "and again"):
            await stale.add(user(text))
        stale.checkpoint()
        stale.close()
        assert stale.journal_state == "degraded"
        assert [event.kind for event in told] == [EventKind.JOURNAL_DEGRADED]
        assert len(stale.content) == 4
        again = resumed(tmp_path, "s")
        assert [msg.content for msg, _ in again.content] == ["old", "new"]
        again.close()

    asyncio.run(main())


def test_a_closed_memory_goes_on_where_nobody_touched_its_journal(tmp_path: Path) -> None:
    async def main() -> None:
        memory = manager_of(tmp_path, model=None).get_in_memory_memory("s")
        for number in range(3):
            await memory.add(Msg("user", f"message {number}", "user"))
            memory.close()
        again = resumed(tmp_path, "s")
        assert len(again.content) == 3
        again.close()

    asyncio.run(main())


def test_what_killed_writers_left_is_swept_at_the_start(tmp_path: Path) -> None:
    """A temporary file may hold what was deleted since; a fresh one is somebody's who is at work."""
    sessions = tmp_path / ".state" / "sessions"
    sessions.mkdir(parents=True)
    old, fresh, other = (sessions / name for name in (f".{'a' * 16}.tmp", f".{'b' * 16}.tmp", ".mine.tmp"))
    for path in (old, fresh, other):
        path.write_text("half a checkpoint")
    for path in (old, other):
        os.utime(path, (0, 0))

    async def main() -> None:
        async with manager_of(tmp_path, model=None):
            assert {path for path in sessions.iterdir() if path.suffix == ".tmp"} == {fresh, other}

    asyncio.run(main())
