# -*- coding: utf-8 -*-
"""A journal that cannot be read in whole: what can be read comes back, and nothing is written over."""

import asyncio
import json
import math
from pathlib import Path

import pytest
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import EventKind, MemoryManager
from agentscope_reme._errors import SessionError
from agentscope_reme.working_memory import (
    ReMeInMemoryMemory,
    create_memory,
    referenced_files,
    resume_memory,
    session_ids,
    unread_sessions,
)
from agentscope_reme.workspace import escape_name


def services_in(folder: Path):
    return MemoryManager(folder, model=None, enable_notes=False)._services


def filled(services, session_id: str = "s", count: int = 5) -> ReMeInMemoryMemory:
    memory = create_memory(session_id, services)
    asyncio.run(memory.add([Msg("user", f"message {number}", "user") for number in range(count - 1)]))
    asyncio.run(memory.add(Msg("user", f"消息 {count - 1}", "user")))
    return memory


def journal_of(services, session_id: str = "s") -> Path:
    return services.workspace.sessions_dir / f"{escape_name(session_id)}.jsonl"


CONTENTS = st.none() | st.integers() | st.floats() | st.text() | st.lists(st.none() | st.integers() | st.text())
BLOCKS = st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=5)})


@given(contents=st.lists(CONTENTS | BLOCKS, min_size=1, max_size=5), how=st.sampled_from(["added", "edited", "state"]))
def test_a_message_that_msg_refuses_costs_no_other(tmp_path_factory, contents, how):
    services = services_in(tmp_path_factory.mktemp("w"))
    memory = filled(services)
    odd = [Msg("user", "x", "user") for _ in contents]
    if how != "edited":
        for msg, content in zip(odd, contents, strict=True):
            msg.content = content
    asyncio.run(memory.add(odd))
    if how == "edited":
        for (msg, _), content in zip(memory.content[5:], contents, strict=True):
            msg.content = content
        memory.verify()
    if how == "state":
        memory.checkpoint()
    memory.close()
    again = resume_memory("s", services)
    found = [msg.content for msg, _ in again.content]
    expected = [msg.content for msg, _ in memory.content]
    assert found[:5] == expected[:5]
    normal = [[each] if isinstance(each, dict) else each for each in expected[5:]]
    strings = [str(each) if isinstance(each, float) and not math.isfinite(each) else each for each in normal]
    assert found[5:] == strings
    again.close()


@pytest.mark.parametrize(
    "line",
    [
        b'{"op": "add", "entries": [[2, {"id"#\n',
        b'{"op": "from the future", "entries": []}\n',
        b'{"op": "add", "entries": [["two", {"id": "x", "role": "user", "content": "y"}, []]]}\n',
        b'{"op": "add", "entries": [[9, "no message", []]]}\n',
        b'{"op": "fold"}\n',
        b"[]\n",
    ],
)
def test_what_cannot_be_read_is_kept_beside_and_told(tmp_path, line):
    services = services_in(tmp_path)
    filled(services).close()
    path = journal_of(services)
    lines = path.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:-1], line, lines[-1]])
    path.write_bytes(damaged)
    told = []
    services.events.subscribe(told.append)
    again = resume_memory("s", services)
    assert [msg.content for msg, _ in again.content] == ["message 0", "message 1", "message 2", "message 3", "消息 4"]
    assert path.with_name("s.jsonl.corrupt-1").read_bytes() == damaged
    assert [event.kind for event in told] == [EventKind.JOURNAL_DAMAGED]
    assert "s.jsonl.corrupt-1" in told[0].error
    again.close()
    resume_memory("s", services).close()
    assert not path.with_name("s.jsonl.corrupt-2").exists(), "it is whole again"


def test_a_torn_last_line_is_no_damage(tmp_path):
    services = services_in(tmp_path)
    filled(services).close()
    with open(journal_of(services), "ab") as file:
        file.write(b'{"op": "add", "entr')
    resume_memory("s", services).close()
    assert not list(services.workspace.sessions_dir.glob("*.corrupt-*"))


def test_texts_that_a_damaged_journal_refers_to_do_not_expire(tmp_path):
    services = services_in(tmp_path)
    filled(services).close()
    name = f"{'0a' * 12}.txt"
    with open(journal_of(services), "ab") as file:
        file.write(f'{{"damaged: "{name}"\n'.encode())
    resume_memory("s", services).close()
    assert referenced_files(services) == {name}


def test_a_damaged_fold_takes_nothing_from_the_archive_that_is_not_in_the_memory(tmp_path):
    services = services_in(tmp_path)
    memory = filled(services)
    ids = [msg.id for msg, _ in memory.content]
    memory.leave([msg for msg, _ in memory.content[:3]], op="fold", summary="s")
    memory.close()
    path = journal_of(services)
    leaving = {"op": "leaving", "ids": ids, "days": services.archive.days()}
    path.write_bytes(path.read_bytes() + b'{"op": "fold", #\n' + json.dumps(leaving).encode() + b"\n")
    again = resume_memory("s", services)
    archived = {line["id"] for day in services.archive.days() for line in services.archive.read(day)}
    assert archived == set(ids[:3])
    again.close()


@pytest.mark.parametrize("op", ["session", "state"])
def test_a_later_format_is_refused_and_left_alone(tmp_path, op):
    services = services_in(tmp_path)
    memory = filled(services)
    if op == "state":
        memory.checkpoint()
    memory.close()
    path = journal_of(services)
    later = path.read_bytes().replace(b'"version": 1', b'"version": 2', 1)
    path.write_bytes(later)
    with pytest.raises(SessionError, match=r"'s' was written in format 2.*formats up to 1.*upgrade"):
        resume_memory("s", services)
    assert path.read_bytes() == later
    assert unread_sessions(services, "notes") == []
    assert referenced_files(services) == set()
    assert session_ids(services.workspace.sessions_dir) == ["s"]
    path.write_bytes(later.replace(b'"version": 2', b'"version": 1', 1))
    resume_memory("s", services).close()


@given(st.sets(st.text(max_size=20) | st.sampled_from(["Alice", "../x", "u 1", "会话", "x" * 300]), max_size=5))
def test_the_ids_that_are_listed_are_those_that_resume_takes(tmp_path_factory, ids):
    services = services_in(tmp_path_factory.mktemp("w"))
    for number, session_id in enumerate(sorted(ids)):
        memory = filled(services, session_id)
        if number % 2:
            memory.checkpoint()
        memory.close()
    assert session_ids(services.workspace.sessions_dir) == sorted(ids)
    for session_id in ids:
        memory = resume_memory(session_id, services)
        assert len(memory.content) == 5
        memory.close()
    assert session_ids(services.workspace.sessions_dir) == sorted(ids)


def test_a_journal_with_a_damaged_beginning_is_listed_by_its_name_where_that_is_an_id(tmp_path):
    services = services_in(tmp_path)
    for session_id in ("plain", "Not Plain"):
        filled(services, session_id).close()
        path = journal_of(services, session_id)
        path.write_bytes(b"#" + path.read_bytes())
    assert session_ids(services.workspace.sessions_dir) == ["plain"]


def test_errors_name_the_id_and_not_the_file(tmp_path):
    services = services_in(tmp_path)
    memory = filled(services, "Alice")
    with pytest.raises(SessionError, match="'Alice' is open elsewhere"):
        resume_memory("Alice", services)
    memory.close()
    with pytest.raises(SessionError, match=r"'Alice' exists: resume\('Alice'\)"):
        create_memory("Alice", services)
    with pytest.raises(SessionError, match="no session 'Bob'"):
        resume_memory("Bob", services)
