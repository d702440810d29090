# -*- coding: utf-8 -*-
"""Folds that cannot happen as planned, summaries that do not fit, and what is told of it."""

import asyncio

import pytest
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from keeper_laws_test import GOOD, session

from agentscope_reme import EventKind, StorageError
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.working_memory._sections import Checkpoint, heading_count, parse_checkpoint


def talk(rounds: int = 30) -> list[Msg]:
    return [Msg("u", f"please look at part {n} of the plan " * 20, "user") for n in range(rounds)]


def kinds(events) -> list[EventKind]:
    return [event.kind for event in events]


@pytest.mark.parametrize("change", ["set", "clear"])
def test_a_summary_that_is_set_while_the_model_is_asked_stands(change):
    async def main():
        async with session("good") as it:
            await it.memory.update_compressed_summary("the one before")

            async def answer(*_):
                if change == "set":
                    await it.memory.update_compressed_summary("set by the user")
                else:
                    it.memory.clear_compressed_summary()
                return GOOD

            it.manager._models._pair = (ScriptedChatModel(answer), OpenAIChatFormatter())
            await it.memory.add(talk())
            told = await it.hook()
            assert it.memory.get_compressed_summary() == ("set by the user" if change == "set" else "")
            assert EventKind.FOLDED not in kinds(told)
            assert [event.details["stage"] for event in told if event.kind == EventKind.FOLD_FAILED] == ["changed"]

    asyncio.run(main())


def test_a_huge_summary_is_brought_within_its_budget_and_nothing_else_pays():
    async def main():
        async with session() as it:
            request = Msg("u", "what is the port? " * 5, "user")
            await it.memory.add(request)
            await it.memory.update_compressed_summary(
                "## Goal\n" + "- keep the port 8443 as it is\n- more of it\n" * 3_000
            )
            await it.hook()
            assert it.used() <= it.manager._services.context.threshold
            assert (await it.memory.get_memory())[-1].content == request.content
            assert "8443" in it.memory.get_compressed_summary()

    asyncio.run(main())


def test_messages_without_words_leave_a_trace_in_the_summary():
    async def main():
        async with session() as it:
            image = {"type": "image", "source": {"type": "url", "url": "http://x/a.png"}}
            await it.memory.add([Msg("u", [dict(image)], "user") for _ in range(12)])
            told = await it.hook()
            assert EventKind.FOLDED in kinds(told)
            assert heading_count(it.memory.get_compressed_summary()) >= 3
            assert parse_checkpoint(it.memory.get_compressed_summary()) != Checkpoint()

    asyncio.run(main())


def test_an_archive_that_refuses_is_told_as_a_failed_fold_and_raised_by_compact(monkeypatch):
    async def main():
        async with session() as it:
            await it.memory.add(talk())
            before = [msg.id for msg, _ in it.memory.content]

            def refuse(*_, **__):
                raise StorageError("the disk is full")

            monkeypatch.setattr(it.manager._services.archive, "append", refuse)
            told = await it.hook()
            assert EventKind.FOLD_FAILED in kinds(told)
            assert EventKind.FOLDED not in kinds(told)
            assert [msg.id for msg, _ in it.memory.content] == before
            with pytest.raises(StorageError, match="full"):
                await it.manager.compact()
            monkeypatch.undo()
            assert EventKind.FOLDED in kinds(await it.hook())

    asyncio.run(main())


def test_a_failing_summary_model_shows_in_status():
    async def main():
        async with session("failing") as it:
            await it.memory.add(talk())
            await it.hook()
            assert it.manager.status()["last_summary"]["source"] == "extractive"
            assert "500 from upstream" in it.manager.status()["last_summary"]["error"]
            assert "500 from upstream" in await it.manager.command("/status")

    asyncio.run(main())


def test_compacting_nothing_says_so():
    async def main():
        async with session() as it:
            assert await it.manager.compact() == ""
            assert "nothing" in (await it.manager.command("/compact")).lower()

    asyncio.run(main())
