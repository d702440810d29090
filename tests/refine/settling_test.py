# -*- coding: utf-8 -*-
"""A contradiction is noticed wherever the old statement lies: standing for itself, or behind a condensed memory."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from _refine_world import ALICE, NOW, Clock, active, bank_in, chat, note, refiner_of, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.refine import Forgetter, RefinedRetriever, RefinerConfig, is_refined
from agentscope_reme.refine._cold_storage import ColdStorage
from agentscope_reme.refine._settling import Settler
from agentscope_reme.refine._statements import statements_of

SAID = [
    "我喜欢川菜",
    "我每天早上七点去公园跑步",
    "我家的阳台上种了很多番茄",
    "上个周末我和朋友去看了一部电影",
    "I live in Paris near the river.",
    "My sister plays the violin in an orchestra.",
    "I work as a nurse in a clinic for children.",
]
NEWS = ["我不吃川菜了", "I live in Berlin now", "I live in Paris near the river.", "We have a new piano", "我喜欢番茄"]


async def told(bank) -> set[str]:
    """What is recalled as it was said."""
    nodes = await bank.list([ALICE], include_inactive=True)
    return {node.content for node in await statements_of(bank, nodes)}


@given(
    said=st.lists(st.sampled_from(SAID), min_size=2, unique=True),
    news=st.lists(st.sampled_from(NEWS), min_size=1, max_size=3, unique=True),
    vectors=st.booleans(),
)
def test_what_was_condensed_is_overridden_as_if_it_had_not_been(tmp_path_factory, said, news, vectors):
    async def main() -> None:
        ends = []
        for condensed in (False, True):
            async with bank_in(tmp_path_factory.mktemp("bank"), vectors=vectors) as bank:
                await bank.add(chat(said))
                if condensed:
                    await refiner_of(bank).run([ALICE])
                settler = Settler(bank, RefinerConfig())
                for at, text in enumerate(news):
                    await settler.settle(note(text, message_time=NOW + timedelta(hours=1 + at)))
                ends.append(await told(bank))
                overridden = {node.content for node in await bank.list([ALICE], include_inactive=True)} - ends[-1]
                for node in await active(bank):  # no condensed text is made of what is not so any more
                    assert not is_refined(node) or overridden.isdisjoint(
                        each.content for each in await RefinedRetriever(bank).expand(node)
                    )
        assert ends[0] == ends[1]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("news", "asked", "old"),
    [("我不吃川菜了", "我喜欢吃什么菜？川菜", "我喜欢川菜"), ("I live in Berlin now", "Where do I live?", "Paris")],
)
def test_the_old_statement_is_not_recalled_and_can_be_had_back(tmp_path, news, asked, old):
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat(SAID))
            await refiner_of(bank).run([ALICE])
            new = await Settler(bank, RefinerConfig()).settle(note(news, message_time=NOW + timedelta(days=1)))
            retriever = RefinedRetriever(bank, cache_seconds=0)
            for _ in range(2):  # also when what is left has been condensed again
                found = texts(await retriever.retrieve(asked, [ALICE]))
                assert found[0].startswith(news)
                assert not any(old in text for text in found[1:])
                await refiner_of(bank).run([ALICE])
            [gone] = await bank.list([ALICE], {"metadata.superseded_by": new.memory_id}, include_inactive=True)
            assert old in gone.content
            assert (await Forgetter(bank).restore(gone.memory_id)).is_active

    asyncio.run(main())


def test_what_was_condensed_long_ago_is_overridden_with_its_condensed_memory(tmp_path):
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            await bank.add(chat(["我喜欢川菜", "我喜欢川菜，也喜欢粤菜"]))
            await refiner_of(bank).run([ALICE])
            clock.go_on(days=100)
            await Forgetter(bank, cold=ColdStorage(tmp_path / "cold.jsonl")).sweep()
            [refined] = await active(bank)
            assert is_refined(refined)
            await Settler(bank, RefinerConfig()).settle(note("我不吃川菜了", message_time=clock()))
            [left] = await active(bank)
            assert left.content.startswith("我不吃川菜了")
            assert "粤菜" in left.content  # what it says besides is not lost

    asyncio.run(main())
