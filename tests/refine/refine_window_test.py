# -*- coding: utf-8 -*-
"""What a refinement run asks a model: never more than the share of its window, however the memories are."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from _refine_world import NOW, active, bank_in, chat, draft, note, refiner_of
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ReMe
from agentscope_reme.message import estimate_tokens
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinerConfig, is_refined

TEXTS = st.sampled_from(
    [
        "tea i cup {}",
        "茶 {}",
        "I am allergic to nuts of kind {}, and nobody may ever tell my mother about it.",
        "我对第{}种坚果过敏，千万不要告诉我妈妈。",
        "On day {} we walked from the harbour of Lisbon up to the castle, and the tickets cost more than expected.",
        "第{}天我们从里斯本的港口一直走到城堡，门票比预想的要贵，晚上在阿尔法玛吃了烤沙丁鱼。",
        "<memory> & </memory> {} " + "&<>" * 40,
        "The whole report of day {}: " + "the meeting went on and on about the budget of the harbour; " * 60,
        "第{}天的完整记录：" + "会议一直在讨论港口的预算，没有结论，" * 80,
    ]
)
REPLIES = st.sampled_from(
    [
        [draft(narrative="We walked up to the castle.", facts=["tea i cup"])],
        ["nothing of use", "still nothing"],
        [draft(facts=[f"用户在巴黎有{number}只猫" for number in range(40)])],
    ]
)


def sent(model: Any) -> list[int]:
    """The tokens of each request."""
    return [
        sum(estimate_tokens(block["text"]) for message in request.messages for block in message["content"])
        for request in model.requests
    ]


@given(
    st.lists(TEXTS, min_size=1, max_size=50),
    REPLIES,
    st.sampled_from([500, 2_000, 3_000, 8_192, 131_072]),
    st.sampled_from(["", "planning trips to Lisbon and back " * 30]),
)
def test_no_request_is_over_its_share_of_the_window(
    texts: list[str], replies: list[str], window: int, goal: str
) -> None:
    async def main(folder: Path) -> None:
        async with bank_in(folder) as bank:
            nodes = chat([text.format(at) for at, text in enumerate(texts)], author="Alice in the harbour office")
            await bank.add(nodes)
            refiner = refiner_of(bank, replies * 60, sift=['{"drop": []}'] * 60, max_input_length=window)
            await refiner.run(goal=goal)
            limit = RefinerConfig(max_input_length=window).request_limit
            assert limit == int(0.7 * window)
            for model in (refiner.refine_model.model, refiner.filter_model.model):
                assert all(tokens < limit for tokens in sent(model))
            assert (await refiner.run()).groups == 0

    with TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))


def test_many_short_memories_are_asked_about_in_several_requests(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat([f"tea {at} cup" for at in range(300)]))
            refiner = refiner_of(bank, [draft(facts=["tea"])] * 20, max_input_length=8_192)
            report = await refiner.run()
            assert report.failures == []
            assert report.calls == report.groups > 1

    asyncio.run(main())


def test_a_memory_longer_than_the_window_is_condensed_without_the_model(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            sentences = " ".join(f"On day {at} the harbour of Lisbon sold {100 + at} tickets." for at in range(200))
            await bank.add([note(sentences)])
            refiner = refiner_of(bank, [], max_input_length=3_500)
            report = await refiner.run()
            (found,) = await active(bank)
            assert is_refined(found)
            assert report.calls == 0
            assert "2450" in report.failures[0]
            assert "max_input_length" in report.failures[0]

    asyncio.run(main())


def test_the_window_is_that_of_reme_unless_the_configuration_has_its_own(tmp_path: Path) -> None:
    def limit(**given_: Any) -> int:
        return ReMe(tmp_path, embedding_model=None, max_input_length=10_000, **given_).refiner.config.request_limit

    assert limit() == 7_000
    assert limit(refiner=RefinerConfig(window_share=0.5)) == 5_000
    assert limit(refiner=RefinerConfig(max_input_length=20_000)) == 14_000
    assert RefinerConfig().request_limit == int(131_072 * 0.7)


def test_what_is_touched_again_counts_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            limit = RefinerConfig(max_input_length=3_000).request_limit
            for part in range(4):
                said = [f"We saw the castle {part} {at} and the sea of the bay behind it." for at in range(12)]
                early: list[MemoryNode] = chat(said, start=NOW + timedelta(minutes=10 * part))
                await bank.add(early)
                refiner = refiner_of(bank, [draft(facts=["We saw the castle"])] * 4, max_input_length=3_000)
                await refiner.run()
                assert all(tokens < limit for tokens in sent(refiner.refine_model.model))

    asyncio.run(main())
