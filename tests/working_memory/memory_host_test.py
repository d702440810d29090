# -*- coding: utf-8 -*-
"""The memory behaves as the host's, operation for operation, and its journal says what it holds."""

import asyncio
import json
import tempfile

import pytest
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg
from agentscope.session import JSONSession
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ReMeLight

IDS = st.sampled_from(["a", "b", "c", "d", "e"])
MARKS = st.sampled_from(["hint", "compressed", "x", "y"])


def msg(message_id: str, text: str) -> Msg:
    made = Msg("n", text, "user", timestamp="2026-01-01 00:00:00.000")
    made.id = message_id
    return made


ADD = st.tuples(
    st.just("add"),
    st.lists(st.tuples(IDS, st.sampled_from(["one", "二", "three"])), max_size=3),
    st.none() | MARKS | st.lists(MARKS, max_size=2),
    st.booleans(),
)
OPERATIONS = st.lists(
    st.one_of(
        ADD,
        ADD,
        st.tuples(st.just("delete"), st.lists(IDS, max_size=2)),
        st.tuples(st.just("delete_by_mark"), MARKS | st.lists(MARKS, max_size=2)),
        st.tuples(
            st.just("update_messages_mark"), st.none() | MARKS, st.none() | MARKS, st.none() | st.lists(IDS, max_size=3)
        ),
        st.tuples(st.just("update_compressed_summary"), st.sampled_from(["", "summary"])),
        st.tuples(st.just("clear")),
    ),
    max_size=10,
)


async def do(memory, operation):
    name, *arguments = operation
    if name == "add":
        given_ids, marks, duplicates = arguments
        marks = list(marks) if isinstance(marks, list) else marks
        return await memory.add([msg(*each) for each in given_ids], marks, allow_duplicates=duplicates)
    return await getattr(memory, name)(*arguments)


def shape(memory):
    return [(each.to_dict(), list(marks)) for each, marks in memory.content], memory._compressed_summary


async def views(memory):
    selections = [
        (mark, exclude) for mark in (None, "x", "hint", "compressed") for exclude in (None, "x", "compressed")
    ][1:]
    return [
        [each.to_dict() for each in await memory.get_memory(mark, exclude, prepend_summary=False)]
        for mark, exclude in selections
    ]


@given(OPERATIONS)
def test_every_operation_does_what_the_hosts_does(operations):
    async def main(folder):
        async with ReMeLight(folder) as reme:
            ours, hosts = reme.get_in_memory_memory("s"), InMemoryMemory()
            for operation in operations:
                assert await do(ours, operation) == await do(hosts, operation)
                assert shape(ours) == shape(hosts)
                assert await ours.size() == await hosts.size()
                assert ours.total_tokens() == sum(
                    reme._services.tokens.message(each) for each, marks in ours.content if "compressed" not in marks
                )
            assert await views(ours) == await views(hosts)
            assert json.dumps(ours.state_dict()) == json.dumps(hosts.state_dict())
            default = [each.to_dict() for each in await ours.get_memory(prepend_summary=False)]
            excluded = await hosts.get_memory(exclude_mark="compressed", prepend_summary=False)
            assert default == [each.to_dict() for each in excluded]
            ours.close()
            if not ours._log._journal.path.exists():
                return
            again = await reme.resume("s")
            kept = [pair for pair in shape(hosts)[0] if "hint" not in pair[1]]
            found = [pair for pair in shape(again)[0] if "hint" not in pair[1]]
            assert found == kept
            assert again.get_compressed_summary() == hosts._compressed_summary

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(folder))


def test_stored_messages_are_copies_and_what_comes_back_is_live(tmp_path):
    async def main():
        memory = ReMeLight(tmp_path).get_in_memory_memory()
        mine = Msg("u", [{"type": "text", "text": "before"}], "user")
        await memory.add(mine)
        mine.content[0]["text"] = "changed outside"
        (stored,) = await memory.get_memory()
        assert stored.get_text_content() == "before"
        before = (await memory.estimate_tokens())["messages_tokens"]
        stored.content[0]["text"] = "edited in place " * 500
        after = (await memory.estimate_tokens())["messages_tokens"]
        assert after > before + 500
        memory.close()
        again = await ReMeLight(tmp_path).resume(memory.session_id)
        assert (await again.get_memory())[0].get_text_content() == stored.get_text_content()

    asyncio.run(main())


@pytest.mark.parametrize("mark", [1, [1], ("x",), {"x"}])
def test_marks_of_a_wrong_type_are_refused_as_by_the_host(tmp_path, mark):
    async def main():
        with pytest.raises(TypeError):
            await InMemoryMemory().add(msg("a", "x"), mark)
        memory = ReMeLight(tmp_path).get_in_memory_memory()
        with pytest.raises(TypeError):
            await memory.add(msg("a", "x"), mark)
        assert await memory.size() == 0

    asyncio.run(main())


def test_a_session_saved_by_either_loads_into_the_other(tmp_path):
    async def main():
        hosts, reme = InMemoryMemory(), ReMeLight(tmp_path / "w")
        await hosts.add([msg("a", "甲"), msg("b", "乙")], "x")
        await hosts.update_compressed_summary("what was")
        session = JSONSession(str(tmp_path / "sessions"))
        await session.save_session_state("s", memory=hosts)
        ours = reme.get_in_memory_memory()
        await session.load_session_state("s", memory=ours)
        assert shape(ours) == shape(hosts)
        ours.pin("a")
        await session.save_session_state("t", memory=ours)
        back, again = InMemoryMemory(), reme.get_in_memory_memory()
        await session.load_session_state("t", memory=back)
        await session.load_session_state("t", memory=again)
        assert shape(back) == shape(hosts)
        assert again.pins == {"a"}

    asyncio.run(main())


def test_the_older_form_of_a_state_loads(tmp_path):
    memory = ReMeLight(tmp_path).get_in_memory_memory()
    memory.load_state_dict({"content": [msg("a", "x").to_dict()]})
    assert [each.id for each, marks in memory.content if marks == []] == ["a"]
    with pytest.raises(KeyError):
        memory.load_state_dict({})
    with pytest.raises(ValueError):
        memory.load_state_dict({"content": ["nonsense"]})
    assert [each.id for each, _ in memory.content] == ["a"]


def test_loading_archives_what_it_displaces(tmp_path):
    async def main():
        reme = ReMeLight(tmp_path)
        memory = reme.get_in_memory_memory("s")
        await memory.add([msg("a", "displaced"), msg("b", "stays")])
        memory.load_state_dict({"content": [[msg("b", "stays").to_dict(), ["x"]]]})
        assert [each["id"] for each in reme._services.archive.read("2026-01-01")] == ["a"]
        memory.close()
        again = await reme.resume("s")
        assert [(each.id, marks) for each, marks in again.content] == [("b", ["x"])]

    asyncio.run(main())
