# -*- coding: utf-8 -*-
"""What a session holds, whoever put it there or edited it, and what of it reaches the disk."""

import asyncio
import gc
import json
import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import EventKind, MemoryManager, ReMeLight
from agentscope_reme._errors import StorageError
from agentscope_reme.message import pair_calls
from agentscope_reme.working_memory import create_memory, resume_memory, standalone_memory


def services_in(folder: Path, **options):
    return MemoryManager(folder, model=None, enable_notes=False, **options)._services


def user(text: str, **options) -> Msg:
    return Msg("user", text, "user", **options)


def call(call_id: str) -> Msg:
    return Msg("bot", [{"type": "tool_use", "id": call_id, "name": "f", "input": {}}], "assistant")


def result(call_id: str) -> Msg:
    block = {"type": "tool_result", "id": call_id, "name": "f", "output": f"result of {call_id}"}
    return Msg("system", [block], "system")


def archived(services) -> list[dict]:
    return [line for day in services.archive.days() for line in services.archive.read(day)]


# ---------------------------------------------------------------------- law 8: redaction wherever bytes are produced

SECRET = "秘密SECRET"


def without_secret(text: str) -> str:
    return text.replace(SECRET, "***")


def leaks(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if SECRET.encode() in path.read_bytes() or b"SECRET" in path.read_bytes()]


async def _add(memory, msg):
    await memory.add(msg)


async def _load(memory, msg):
    plain = InMemoryMemory()
    await plain.add(msg)
    await plain.update_compressed_summary(f"summary {SECRET}")
    memory.load_state_dict(plain.state_dict())


async def _hold(memory, msg):
    memory.hold([msg], f"summary {SECRET}")


async def _append(memory, msg):
    memory.content.append((msg, []))


async def _edit(memory, msg):
    await memory.add(user("fine"))
    memory.content[0][0].content = msg.content
    memory.content[0][0].metadata = msg.metadata


async def _edit_metadata(memory, msg):
    await memory.add(user("fine"))
    memory.content[0][0].metadata["key"] = {"deep": [SECRET]}


ENTRANCES = [_add, _load, _hold, _append, _edit, _edit_metadata]


async def _verify(memory):
    memory.verify()


async def _checkpoint(memory):
    memory.checkpoint()


async def _clear(memory):
    await memory.clear()


async def _fold(memory):
    memory.leave([msg for msg, _ in memory.content], op="fold", summary=f"of {SECRET}")


async def _summary(memory):
    await memory.update_compressed_summary(f"of {SECRET}")


EXITS = [_verify, _checkpoint, _clear, _fold, _summary]


@pytest.mark.parametrize("leave", EXITS)
@pytest.mark.parametrize("enter", ENTRANCES)
@pytest.mark.parametrize("blocks", [False, True])
def test_no_secret_reaches_the_disk(tmp_path, enter, leave, blocks):
    content = [{"type": "text", "text": f"my key is {SECRET}"}] if blocks else f"my key is {SECRET}"
    msg = Msg("user", content, "user", metadata={"key": SECRET})
    services = services_in(tmp_path, redact=without_secret)

    async def main():
        memory = create_memory("s", services)
        await enter(memory, msg)
        await leave(memory)
        assert SECRET not in json.dumps(memory.state_dict(), ensure_ascii=False)
        memory.close()
        assert SECRET not in memory.get_compressed_summary()

    asyncio.run(main())
    assert services.workspace.sessions_dir.joinpath("s.jsonl").exists()
    assert leaks(tmp_path) == []
    assert SECRET in json.dumps(msg.content, ensure_ascii=False), "the caller's message is the caller's"


def test_the_standalone_hook_redacts_before_it_condenses(tmp_path):
    history = [
        msg
        for number in range(8)
        for msg in (
            user(f"question {number}: my key is {SECRET}; " + "some words of text here " * 40),
            Msg("bot", f"answer {number} " + "other words there " * 60, "assistant"),
        )
    ]
    before = [msg.to_dict() for msg in history]

    async def main():
        async with ReMeLight(tmp_path, model=None, redact=without_secret) as reme:
            kept, summary = await reme.pre_reasoning_hook(
                history, compressed_summary="", max_input_length=3000, memory_compact_reserve=300
            )
            await reme.await_summary_tasks()
        assert len(kept) < len(history)
        assert SECRET not in summary

    asyncio.run(main())
    assert leaks(tmp_path) == []
    assert [msg.to_dict() for msg in history] == before


def test_without_redaction_a_standalone_memory_holds_the_callers_messages(tmp_path):
    msg = user("mine")
    memory = standalone_memory(services_in(tmp_path), [msg], "")
    assert memory.content[0][0] is msg


# ---------------------------------------------------------------------- versions


def test_loading_a_state_archives_the_version_that_it_displaces(tmp_path):
    services = services_in(tmp_path)

    async def main():
        memory = create_memory("s", services)
        await memory.add([user("version 1"), user("the same")])
        state = memory.state_dict()
        memory.content[0][0].content = "version 2"
        memory.load_state_dict(state)
        assert [msg.content for msg, _ in memory.content] == ["version 1", "the same"]
        assert [line["content"] for line in archived(services)] == ["version 2"]
        memory.load_state_dict(state)
        assert len(archived(services)) == 1
        memory.close()
        again = resume_memory("s", services)
        assert [msg.content for msg, _ in again.content] == ["version 1", "the same"]
        again.close()

    asyncio.run(main())


# ---------------------------------------------------------------------- whole units

HISTORIES = st.lists(st.sampled_from(["user", "pair", "pair", "parallel", "dangling", "hint"]), min_size=1, max_size=6)


@given(kinds=HISTORIES, picks=st.sets(st.integers(0, 20)), pinned=st.none() | st.integers(0, 20))
def test_marking_messages_compressed_never_parts_a_call_from_its_result(tmp_path_factory, kinds, picks, pinned):
    services = services_in(tmp_path_factory.mktemp("w"))

    async def main():
        memory = create_memory("s", services)
        for number, kind in enumerate(kinds):
            one, two = f"c{number}a", f"c{number}b"
            if kind == "user":
                await memory.add(user(f"{number}"))
            elif kind == "pair":
                await memory.add([call(one), result(one)])
            elif kind == "parallel":
                await memory.add([call(one), call(two), result(one), result(two)])
            elif kind == "dangling":
                await memory.add(call(one))
            else:
                await memory.add(user("a hint"), "hint")
        stored = [msg for msg, _ in memory.content]
        dangling = len(pair_calls(stored).dangling)
        if pinned is not None:
            memory.pin(stored[pinned % len(stored)].id)
        named = [msg for at, msg in enumerate(stored) if at in picks]
        removed = await memory.mark_messages_compressed(named)
        rest = [msg for msg, _ in memory.content]
        assert removed == len(stored) - len(rest)
        pairing = pair_calls(rest)
        assert pairing.orphans == []
        assert len(pairing.dangling) <= dangling
        assert memory.pins <= {msg.id for msg in rest}
        if pinned is None:
            assert not {msg.id for msg in named} & {msg.id for msg in rest}
        memory.close()

    asyncio.run(main())


# ---------------------------------------------------------------------- add


@pytest.mark.parametrize(
    "value", [{("a", 1): 2}, {"set": {1, 2}}, {"bytes": b"\xff"}, {"nan": float("nan")}, {1: {2: object}}, "circular"]
)
def test_add_takes_any_metadata(tmp_path, value):
    if value == "circular":
        value = {"itself": []}
        value["itself"].append(value)
    services = services_in(tmp_path)

    async def main():
        memory = create_memory("s", services)
        await memory.add(user("x", metadata=value))
        memory.checkpoint()
        await memory.add(user("y"))
        assert memory.journal_state == "ok"
        await memory.mark_messages_compressed([msg for msg, _ in memory.content[:1]])
        memory.close()
        again = resume_memory("s", services)
        assert [msg.content for msg, _ in again.content] == ["y"]
        assert [line["content"] for line in archived(services)] == ["x"]
        again.close()

    asyncio.run(main())


def test_an_add_that_fails_stores_nothing(tmp_path):
    memory = create_memory("s", services_in(tmp_path))
    with pytest.raises(TypeError):
        asyncio.run(memory.add([user("x"), user("y", metadata={"generator": (each for each in "z")})]))
    assert (memory.content, memory.total_tokens()) == ([], 0)
    with pytest.raises(TypeError):
        asyncio.run(memory.add(user("x"), marks=5))
    asyncio.run(memory.add(user("x")))
    assert len(memory.content) == 1


# ---------------------------------------------------------------------- the list replaced behind its back

OPERATIONS = {
    "add": lambda memory: memory.add(user("z")),
    "delete": lambda memory: memory.delete([msg.id for msg, _ in memory.content]),
    "clear": lambda memory: memory.clear(),
    "mark": lambda memory: memory.update_messages_mark("mine"),
    "fold": lambda memory: memory.mark_messages_compressed([msg for msg, _ in memory.content]),
    "tokens": lambda memory: memory.estimate_tokens(),
    "load": lambda memory: memory.load_state_dict(InMemoryMemory().state_dict()),
    "replace": lambda memory: memory.replace({1: user("r")}),
    "recent": lambda memory: memory.recent_results(1),
    "checkpoint": lambda memory: memory.checkpoint(),
    "hand over": lambda memory: memory.hand_over(),
    "leave": lambda memory: memory.leave([msg for msg, _ in memory.content], op="fold"),
    "verify": lambda memory: memory.verify(),
}


@pytest.mark.parametrize("redact", [None, without_secret])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_list_of_equal_length_in_its_place_is_noticed(tmp_path, name, twice, redact):
    services = services_in(tmp_path, redact=redact)

    async def main():
        memory = create_memory("s", services)
        await memory.add([user("a"), result("b")])
        other = [user("x"), result("y")]
        memory.content = [(msg, []) for msg in (other[:1] * 2 if twice else other)]
        done = OPERATIONS[name](memory)
        if hasattr(done, "__await__"):
            await done
        memory.verify(everything=True)
        assert memory.total_tokens() == sum(map(services.tokens.message, (msg for msg, _ in memory.content)))
        memory.close()
        again = resume_memory("s", services)
        assert [msg.to_dict() for msg, _ in again.content] == [msg.to_dict() for msg, _ in memory.content]
        again.close()

    asyncio.run(main())


# ---------------------------------------------------------------------- handing over


def test_what_is_handed_over_lives_in_one_place(tmp_path):
    services = replace(services_in(tmp_path), consumers=("notes",))

    async def main():
        memory = create_memory("s", services)
        await memory.add([user("a"), user("b"), user("c")])
        memory.leave([memory.content[0][0]], op="fold", summary="## Goal\n- a")
        under_way = [msg for msg, _ in memory.content]
        memory.pin(under_way[0].id)
        content, summary = memory.hand_over()
        assert [msg.content for msg, _ in content] == ["b", "c"]
        assert summary == "## Goal\n- a"
        assert memory.leave(under_way, op="fold", summary="late") == []
        memory.replace({2: user("late")})
        memory.close()
        again = resume_memory("s", services)
        assert (again.content, again.get_compressed_summary(), again.pins) == ([], "", frozenset())
        assert len(again.pending("notes")) == 1, "what was folded before is still to be noted"
        again.close()
        assert [line["content"] for line in archived(services)] == ["a"]

    asyncio.run(main())


def test_handing_nothing_over_leaves_no_trace(tmp_path):
    services = services_in(tmp_path)
    assert create_memory("s", services).hand_over() == ([], "")
    assert list(services.workspace.sessions_dir.iterdir()) == []


# ---------------------------------------------------------------------- long messages of the agent's own


@pytest.mark.parametrize(
    "block",
    [
        {"type": "text", "text": "想法 thoughts " * 8000},
        {"type": "tool_use", "id": "a", "name": "write", "input": {"text": "一行 code line\n" * 8000}},
        {"type": "thinking", "thinking": "let me think 想 " * 8000, "signature": "x"},
    ],
)
def test_what_an_agent_says_is_bounded_by_the_window(tmp_path, block):
    services = services_in(tmp_path, max_input_length=4000)

    async def main():
        memory = create_memory("s", services)
        said = Msg("bot", [block], "assistant")
        await memory.add([user("q"), said])
        stored = memory.content[1][0]
        assert services.tokens.message(stored) <= 4000
        assert stored.content[0]["type"] == block["type"]
        (file,) = services.workspace.tool_result_dir.glob("*.txt")
        full = block.get("text") or block.get("thinking") or block["input"]["text"]
        assert file.read_text("utf-8") == full
        assert file.name in json.dumps(stored.content)
        memory.close()

    asyncio.run(main())


# ---------------------------------------------------------------------- processes and descriptors


def test_a_fork_keeps_out_of_its_parents_session(tmp_path):
    services = services_in(tmp_path)
    memory = create_memory("s", services)
    told = []
    services.events.subscribe(told.append)
    asyncio.run(memory.add(user("before")))
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            asyncio.run(memory.add(user("of the child")))
            assert [event.kind for event in told] == [EventKind.JOURNAL_DEGRADED]
            assert "forked" in told[0].error
            try:
                memory.leave([msg for msg, _ in memory.content], op="fold")
            except StorageError:
                memory.close()
                status = 0
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    asyncio.run(memory.add(user("of the parent")))
    assert memory.journal_state == "ok"
    memory.close()
    again = resume_memory("s", services)
    assert [msg.content for msg, _ in again.content] == ["before", "of the parent"]
    assert archived(services) == []
    again.close()


@pytest.mark.slow
def test_five_hundred_sessions_and_a_fold_over_three_hundred_days(tmp_path):
    gc.collect()  # what earlier tests left open is not this one's
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(int(name) for name in os.listdir("/dev/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], highest + 1_024), before[1]))
    memories = []
    try:
        services = services_in(tmp_path)
        memories += [create_memory(f"s{number}", services) for number in range(500)]
        for memory in memories:
            asyncio.run(memory.add(user("hi")))
        days = [user("x", timestamp=f"2024-{n % 12 + 1:02}-{n // 12 + 1:02} 10:00:00.000") for n in range(300)]
        asyncio.run(memories[0].add(days))
        asyncio.run(memories[0].clear())
        assert {memory.journal_state for memory in memories} == {"ok"}
        assert len(archived(services)) == 301
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for memory in memories:
            memory.close()
