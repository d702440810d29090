# -*- coding: utf-8 -*-
"""What was reported about memories that lose, double or mix up what was said, and about what runs at the same time."""

import asyncio
import gc
import json
import time
from dataclasses import replace

import pytest
from _report_scenes import SUMMARY, agent, archived, calls, result, scene, talk, text_of, user
from agentscope.memory import InMemoryMemory
from agentscope.message import Msg

from agentscope_reme import EventKind, MemoryManager, ReMeLight, StorageError
from agentscope_reme.working_memory import create_memory, resume_memory

pytestmark = pytest.mark.slow

# ---------------------------------------------------------------------- at the same time


def test_what_is_said_while_the_summary_is_written_survives(tmp_path):
    async def main():
        new = user("新消息：先别动生产库")

        async def slow(*_):
            await it.memory.add(new)
            await asyncio.sleep(0.01)
            return SUMMARY

        async with scene(tmp_path, slow) as it:
            await it.memory.add(talk(40, 500))
            shown = await it.step()
            assert it.told(EventKind.FOLDED)
            assert "先别动生产库" in text_of(shown)
            assert "先别动生产库" not in text_of(archived(tmp_path))
            (marks,) = [marks for msg, marks in it.memory.content if "生产库" in str(msg.content)]
            assert marks == []

    asyncio.run(main())


def test_the_same_message_added_twice_at_once_is_there_once(tmp_path):
    async def main():
        async with scene(tmp_path) as it:
            msg = user("once")
            await asyncio.gather(*(it.memory.add(msg) for _ in range(5)))
            assert await it.memory.size() == 1
            path = next((tmp_path / ".state" / "sessions").glob("*.jsonl"))
            assert path.read_text("utf-8").count(msg.id) == 1

    asyncio.run(main())


def test_a_writer_that_never_answers_holds_up_neither_interruption_nor_closing(tmp_path):
    async def main():
        async def never(*_):
            await asyncio.sleep(3_600)

        made = scene(tmp_path, never)
        it = await made.__aenter__()
        await it.memory.add(talk(40, 500))
        said = it.held()
        step = asyncio.ensure_future(it.agent.reply(user("go on")))
        await asyncio.sleep(0.2)
        assert it.told(EventKind.FOLD_STARTED)
        began = time.monotonic()
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        await made.__aexit__(None, None, None)
        assert time.monotonic() - began < 2
        assert it.held()[: len(said)] == said

    asyncio.run(main())


def test_one_manager_in_two_event_loops(tmp_path):
    manager = MemoryManager(tmp_path, model=None, enable_notes=False, max_input_length=8_000)
    memory = manager.get_in_memory_memory("kept")

    async def use(start):
        await memory.add(talk(3, 200, start=start))
        fold, keep, is_valid = await manager.check_context([msg for msg, _ in memory.content], 4_000, 1_000)
        return len(fold) + len(keep), is_valid

    assert asyncio.run(use(0)) == (6, True)
    gc.collect()
    assert asyncio.run(use(10)) == (12, True)
    asyncio.run(manager.close())


def test_what_was_folded_is_pending_for_its_readers_until_they_have_read_it(tmp_path):
    """A reader that fails does not lose its turn: the record stays until the reader says that it is done."""

    manager = MemoryManager(tmp_path, model=None, enable_notes=False)
    services = replace(manager._services, consumers=("reader", "another"))

    async def main():
        memory, said = create_memory("s", services), talk(3)
        await memory.add(said)
        await memory.mark_messages_compressed(said)
        (record,) = memory.pending("reader")
        assert record["ids"] == [msg.id for msg in said]
        memory.close()
        memory = resume_memory("s", services)  # as after a crash
        assert memory.pending("reader") == [record], "reading alone changes nothing"
        memory.advance("reader", record["number"])
        memory.close()
        memory = resume_memory("s", services)
        assert memory.pending("reader") == []
        assert memory.pending("another") == [record]
        memory.close()
        await manager.close()

    asyncio.run(main())


# ---------------------------------------------------------------------- the disk


def test_where_the_archive_cannot_be_written_nothing_leaves(tmp_path, monkeypatch):
    async def main():
        async with scene(tmp_path, SUMMARY) as it:
            await it.memory.add(talk(40, 500))
            said = it.held()

            def full(*_args, **_options):
                raise StorageError(28, "No space left on device")

            with monkeypatch.context() as patch:
                patch.setattr(type(it.manager._services.archive), "append", full)
                await it.step()
                (failed,) = it.told(EventKind.FOLD_FAILED)
                assert "No space left" in failed.error
                assert it.held()[: len(said)] == said
                assert it.memory.get_compressed_summary() == ""
                with pytest.raises(StorageError):
                    await it.memory.mark_messages_compressed(said[:3])
                with pytest.raises(StorageError):
                    await it.memory.clear_content()
                assert it.held()[: len(said)] == said
            await it.step()
            assert it.told(EventKind.FOLDED)

    asyncio.run(main())


def test_folded_twice_or_added_again_is_archived_once(tmp_path):
    async def main():
        async with scene(tmp_path) as it:
            said = talk(3)
            for _ in range(3):
                await it.memory.add(said)
                await it.memory.mark_messages_compressed(said)
                await it.memory.mark_messages_compressed(said)
            await it.memory.add(said)
            assert it.held() == []
            assert [line["id"] for line in archived(tmp_path)] == [msg.id for msg in said]

    asyncio.run(main())


@pytest.mark.parametrize(
    "stamp", ["../../escaped 1", "2025-01-31T10:00:00+08:00", "2025-01-31 10:00:00.123", "", "/etc/x 1"]
)
def test_a_timestamp_gives_a_file_a_day_and_never_a_path(tmp_path, stamp):
    async def main():
        async with scene(tmp_path / "w") as it:
            await it.memory.add([Msg("user", f"message {n}", "user", timestamp=stamp) for n in range(3)])
            await it.memory.clear()

    asyncio.run(main())
    (path,) = (tmp_path / "w" / "dialog").glob("*.jsonl")
    assert len(path.stem) == 10
    assert [each.name for each in tmp_path.iterdir()] == ["w"]
    assert len(path.read_text("utf-8").splitlines()) == 3


# ---------------------------------------------------------------------- the host's semantics


def test_marks_select_as_the_host_does(tmp_path):
    async def main():
        async with scene(tmp_path) as it:
            one, two = user("one"), user("two")
            await it.memory.add(one, marks="pinned_note")
            await it.memory.add(two)
            assert [m.id for m in await it.memory.get_memory(mark="pinned_note")] == [one.id]
            assert [m.id for m in await it.memory.get_memory(exclude_mark="pinned_note")] == [two.id]

    asyncio.run(main())


@pytest.mark.parametrize("method", ["clear", "clear_content"])
def test_clearing_archives(tmp_path, method):
    async def main():
        async with scene(tmp_path) as it:
            said = talk(2)
            await it.memory.add(said)
            await it.memory.update_compressed_summary(SUMMARY)
            await getattr(it.memory, method)()
            assert it.held() == []
            assert [line["id"] for line in archived(tmp_path)] == [msg.id for msg in said]
            assert it.memory.get_compressed_summary() == SUMMARY

    asyncio.run(main())


def test_a_state_keeps_every_block_and_loads_into_the_host(tmp_path):
    said = [user("文本"), calls("t1", text="look", path="a"), result("t1", [{"type": "text", "text": "out"}])]

    async def main():
        async with scene(tmp_path) as it:
            await it.memory.add(said)
            await it.memory.update_compressed_summary("so far")
            state = json.loads(json.dumps(it.memory.state_dict()))
            for target in (InMemoryMemory(), it.manager.get_in_memory_memory()):
                target.load_state_dict(state)
                assert [msg.to_dict() for msg, _ in target.content] == [msg.to_dict() for msg in said]
                assert target._compressed_summary == "so far"
            state["content"][0][0]["content"] = "changed"
            assert it.held()[0].content == "文本"

    asyncio.run(main())


def test_messages_that_share_an_id_are_neither_mixed_up_nor_lost(tmp_path):
    one, two, three = user("first text"), agent("second text"), user("third")
    two.id = one.id

    async def main():
        async with scene(tmp_path) as it:
            await it.memory.add([one, two, three], allow_duplicates=True)
            assert await it.memory.size() == 3
            assert await it.memory.mark_messages_compressed([one]) == 2
            assert [msg.content for msg in it.held()] == ["third"]
            assert {line["content"] for line in archived(tmp_path)} == {"first text", "second text"}

    asyncio.run(main())


# ---------------------------------------------------------------------- whose it is


def test_a_session_s_name_is_no_path(tmp_path):
    folder = tmp_path / "w"
    manager = MemoryManager(folder, model=None)
    memories = [manager.get_in_memory_memory(name) for name in ("../../x", "a/b", "a", "A", "用户/一", "..")]

    async def main():
        for at, memory in enumerate(memories):
            await memory.add(user(f"said by {at}"))
        await manager.close()

    asyncio.run(main())
    assert [each.name for each in tmp_path.iterdir()] == ["w"]
    journals = list((folder / ".state" / "sessions").glob("*.jsonl"))
    assert len(journals) == len(memories)
    assert all(path.read_text("utf-8").count("said by") == 1 for path in journals)


def test_a_secret_reaches_no_file(tmp_path):
    secret = "sk-live-51H8xQeWz"

    async def main():
        def redact(text):
            return text.replace(secret, "[key]")

        async with scene(tmp_path, redact=redact, old_max_bytes=600, recent_max_bytes=2_000) as it:
            await it.memory.add([user(f"my key is {secret}"), calls("t1", key=secret)])
            await it.memory.add([result("t1", f"used {secret} once\n" * 800), agent("done")])
            await it.memory.add(talk(40, 500))
            await it.step()
            assert it.told(EventKind.FOLDED)

    asyncio.run(main())
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.parent.name == "dialog" for path in written)
    assert any(path.parent.name == "tool_result" for path in written)
    assert not [path for path in written if secret.encode() in path.read_bytes()]


# ---------------------------------------------------------------------- errors


def test_what_goes_wrong_is_raised_and_never_returned(tmp_path):
    """An error text where a tuple or a summary was expected became the summary of somebody's conversation."""

    async def main():
        async with ReMeLight(tmp_path, model=None) as light:
            for attempt in (
                light.check_context([object()], 1_000, 100),
                light.check_context([], 0, 100),
                light.compact_memory(["text"]),
                light.compact_tool_result([user("a")], old_max_bytes=0),
                light.pre_reasoning_hook([user("a")], max_input_length=10),
            ):
                with pytest.raises(ValueError):
                    await attempt

    asyncio.run(main())
