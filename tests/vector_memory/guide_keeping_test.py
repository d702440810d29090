# -*- coding: utf-8 -*-
"""Guides that keep themselves up to date: when, on whose account, and what hands have written stays."""

from __future__ import annotations

import asyncio
import json
import re
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from _extraction_scenes import SEARCH, bank_in, listening, of_kind, prompt_of, run, summarizer_of

from agentscope_reme import ReMe
from agentscope_reme._errors import ConfigError, VectorStoreError
from agentscope_reme.record import MemoryNode, ToolCallRecord
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.vector_memory import GuideKeeping, MemoryBank, MemorySummarizer

START = datetime(2026, 9, 15, 8, 0, tzinfo=timezone.utc)
REVIEW = json.dumps({"guide": "Use short queries.", "when_to_use": "somebody wants news", "verdicts": []})


async def called(
    keeping: GuideKeeping, summarizer: MemorySummarizer, first: int, count: int, tool: str = "search_web"
) -> None:
    """So many calls are recorded, one at a time, and what follows from it is done."""
    for number in range(first, first + count):
        made = ToolCallRecord(tool, {"q": f"t{number}"}, create_time=START + timedelta(minutes=number))
        await summarizer.records.record([made])
        keeping.note([tool])
        await keeping.wait()


async def guides(bank: MemoryBank) -> list[MemoryNode]:
    return await bank.list([SEARCH])


def test_a_guide_comes_with_enough_calls_and_is_updated_with_as_many_more(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer, events = summarizer_of(bank, None), listening(bank)
            keeping = GuideKeeping(bank, summarizer, after=5)
            await called(keeping, summarizer, 0, 4)
            assert await guides(bank) == []
            await called(keeping, summarizer, 4, 1)
            assert "worked: 5 of 5" in (await guides(bank))[0].content
            await called(keeping, summarizer, 5, 4)
            assert "worked: 5 of 5" in (await guides(bank))[0].content
            await called(keeping, summarizer, 9, 1)
            [guide] = await guides(bank)
            assert "worked: 10 of 10" in guide.content
            assert len(of_kind(events, "tool_guide_updated")) == 2
            await keeping.close()

    run(scene)


def test_what_is_new_is_known_after_a_restart_and_to_other_processes(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, None)
            for number in range(5):  # each time another process
                await called(GuideKeeping(bank, summarizer, after=5), summarizer, number, 1)
            assert "worked: 5 of 5" in (await guides(bank))[0].content
            for number in range(5, 9):
                await called(GuideKeeping(bank, summarizer, after=5), summarizer, number, 1)
            assert "worked: 5 of 5" in (await guides(bank))[0].content

    run(scene)


def test_no_model_is_asked_unless_it_is_wanted_and_it_reads_later_what_it_has_not_read(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(lambda *_: REVIEW)
            summarizer = summarizer_of(bank, model)
            events = listening(bank)
            await called(GuideKeeping(bank, summarizer, after=2), summarizer, 0, 2)
            assert model.requests == []
            await called(GuideKeeping(bank, summarizer, after=2, by_model=True), summarizer, 2, 2)
            assert len(model.requests) == 1
            assert (await guides(bank))[0].content.startswith("Use short queries.")
            await called(GuideKeeping(bank, summarizer, after=2), summarizer, 4, 2)
            [guide] = await guides(bank)
            assert guide.content.startswith("Use short queries.")
            assert "worked: 6 of 6" in guide.content
            assert len(model.requests) == 1
            sources = [event.details["source"] for event in of_kind(events, "tool_guide_updated")]
            assert sources == ["statistics", "model", "statistics"]
            await summarizer.update_guides(["search_web"])
            assert len(model.requests) == 2, "two calls that the model has not read"
            assert await summarizer.update_guides(["search_web"]) == []

    run(scene)


@pytest.mark.parametrize("figures_stay", [True, False])
@pytest.mark.parametrize("by_model", [True, False])
def test_what_was_written_by_hand_stays(tmp_path: Path, by_model: bool, figures_stay: bool) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, (lambda *_: REVIEW) if by_model else None)
            await called(GuideKeeping(bank, summarizer, after=2, by_model=by_model), summarizer, 0, 2)
            [guide] = await guides(bank)
            figures = guide.content.partition("\n\n")[2]
            mine = "Ask in Chinese for news from China."
            await bank.update(guide.memory_id, SEARCH, content=f"{mine}\n\n{figures}" if figures_stay else mine)
            await called(GuideKeeping(bank, summarizer, after=2), summarizer, 2, 2)
            [guide] = await guides(bank)
            assert guide.content.startswith(f"{mine}\n\n")
            assert "worked: 4 of 4" in guide.content
            assert "of 2" not in guide.content

    run(scene)


def test_a_guide_that_was_added_by_hand_gets_its_figures(tmp_path: Path) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            model = ScriptedChatModel(lambda *_: REVIEW)
            summarizer = summarizer_of(bank, model)
            mine = MemoryNode("Never more than three words.", *SEARCH, when_to_use="news are wanted", category="guide")
            await bank.add([mine])
            await called(GuideKeeping(bank, summarizer, after=2), summarizer, 0, 2)
            [guide] = await guides(bank)
            assert guide.content.startswith("Never more than three words.\n\n")
            assert guide.when_to_use == "news are wanted"
            await summarizer.update_guides(["search_web"])
            assert "Never more than three words." in prompt_of(model.requests[0])

    run(scene)


def test_a_failure_is_told_and_the_calls_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer, events = summarizer_of(bank, [RuntimeError("down")] * 2), listening(bank)
            keeping = GuideKeeping(bank, summarizer, after=2, by_model=True)
            await called(keeping, summarizer, 0, 2)
            [told] = of_kind(events, "memory_summary_failed")
            assert told.details["owner"] == "tool/search_web"
            assert await guides(bank) == []

            async def broken(*_: Any, **__: Any) -> Any:
                raise VectorStoreError("the server went away")

            keeping = GuideKeeping(bank, summarizer, after=2)
            with monkeypatch.context() as patched:
                patched.setattr(bank.store, "find", broken)
                await called(keeping, summarizer, 2, 2)
            await called(keeping, summarizer, 4, 1)
            assert "worked: 5 of 5" in (await guides(bank))[0].content

    run(scene)


@pytest.mark.slow
def test_a_model_that_hangs_holds_up_neither_calls_nor_the_end(tmp_path: Path) -> None:
    async def hanging(*_: Any) -> str:
        await asyncio.sleep(60)
        return REVIEW

    async def scene() -> None:
        async with bank_in(tmp_path) as bank:
            summarizer = summarizer_of(bank, hanging)
            keeping = GuideKeeping(bank, summarizer, after=1, by_model=True)
            begun = time.monotonic()
            await summarizer.records.record([ToolCallRecord("search_web")])
            keeping.note(["search_web"])
            assert time.monotonic() - begun < 1
            await asyncio.sleep(0.1)
            await keeping.close()
            assert time.monotonic() - begun < 6

    run(scene)


@pytest.mark.parametrize("after", [0, -1, 1.5, "5", True, 101])
def test_a_number_of_calls_that_cannot_be(tmp_path: Path, after: Any) -> None:
    with pytest.raises(ConfigError, match=r"after .* calls: give a whole number from 1 to 100"):
        ReMe(tmp_path, model=None, embedding_model=None, update_guides_after=after)


def test_an_application_has_its_guides_without_a_word(tmp_path: Path) -> None:
    calls = [{"tool_name": "search_web", "input": {"q": f"天气 {number}"}, "output": "晴天。"} for number in range(12)]

    async def first() -> None:
        for made in calls:
            await reme.record_tool_calls([made])
        await reme.close()

    async def second() -> None:
        [guide] = await reme.list_memory(tool_name="search_web")
        assert re.search("成功：1[0-2] 次中有 1[0-2] 次（100 %）", guide.content)
        await reme.close()

    reme = ReMe(tmp_path, model=None, embedding_model=None)
    asyncio.run(first())

    async def again() -> None:
        await reme.start()
        await second()

    asyncio.run(again())


def test_nothing_is_made_where_it_is_switched_off(tmp_path: Path) -> None:
    async def scene() -> None:
        async with ReMe(tmp_path, model=None, embedding_model=None, update_guides_after=None) as reme:
            await reme.record_tool_calls([{"tool_name": "t", "input": {"n": number}} for number in range(50)])
            await reme.guides.wait()
            assert await reme.list_memory(tool_name="t") == []

    run(scene)
