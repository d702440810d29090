# -*- coding: utf-8 -*-
"""Two-level recall: condensed memories first, then their sources."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from _refine_world import ALICE, BOB, CHAT, NOW, Clock, active, bank_in, chat, note, refiner_of, texts
from agentscope.formatter import OpenAIChatFormatter
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._recall_models import query_writer, reranker
from agentscope_reme.refine._refined import is_refined
from agentscope_reme.refine._refined_retriever import RefinedRetriever
from agentscope_reme.testing import ScriptedChatModel


def run(main: Any) -> Any:
    return asyncio.run(main)


def test_a_request_for_particulars_finds_the_very_words_behind_a_condensed_memory(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(
                [*chat(), *chat([f"别的事情{n}" for n in range(8)], session="s2", start=NOW + timedelta(days=1))]
            )
            await refiner_of(bank).run()
            retriever = RefinedRetriever(bank)
            recall = await retriever.recall("钢琴课几点上课？", [ALICE], limit=3)
            assert recall.nodes[0].content == CHAT[4]
            assert recall.expanded
            assert not any(map(is_refined, recall.nodes))

    run(main())


def test_what_is_left_out_of_the_text_is_found_by_the_words_kept_with_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            await refiner_of(bank, target_ratio=0.05).run()
            (refined,) = await active(bank)
            assert "办公楼" not in refined.content
            found = await RefinedRetriever(bank).retrieve("公司的办公楼在哪里", [ALICE], expand=False)
            assert texts(found) == [refined.content]
            assert found[0].when_to_use == ""
            assert "办公楼" in refined.when_to_use
            found = await RefinedRetriever(bank).retrieve("公司的办公楼在哪里", [ALICE], limit=1)
            assert texts(found) == [CHAT[9]]

    run(main())


def test_expand_goes_back_to_the_sources(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            await refiner_of(bank).run()
            retriever = RefinedRetriever(bank)
            (refined,) = await retriever.retrieve("上海", [ALICE], expand=False)
            assert texts(await retriever.expand(refined)) == CHAT
            assert texts(await retriever.expand(refined, "钢琴比赛的曲目", limit=1)) == [CHAT[5]]
            assert await retriever.expand(note("not refined")) == []

    run(main())


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from(CHAT), min_size=2, max_size=10, unique=True),
    st.sampled_from(["auto", True]),
    st.booleans(),
)
def test_every_source_can_be_recalled_by_its_own_words(said: list[str], expand: Any, vectors: bool) -> None:
    async def main(folder: Path) -> None:
        async with bank_in(folder, vectors=vectors) as bank:
            await bank.add([*chat(said), *chat(CHAT, BOB)])
            await refiner_of(bank).run()
            retriever = RefinedRetriever(bank)
            for text in said:
                if len(text) > 12:
                    found = await retriever.recall(text, [ALICE], expand=expand, limit=10)
                    assert any(text in node.content for node in found.nodes), text
                    assert all(node.owner == ALICE.key for node in found.nodes)
                    assert len({node.content for node in found.nodes}) == len(found.nodes)
                    assert all(0 <= node.score <= 1 for node in found.nodes)

    with TemporaryDirectory() as folder:
        run(main(Path(folder)))


def test_what_is_not_condensed_is_found_beside(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([*chat(), note("钢琴的调音师叫周明远，电话 555-0107", importance=0.95)])
            await refiner_of(bank).run()
            found = await RefinedRetriever(bank).retrieve("钢琴", [ALICE])
            assert "钢琴的调音师叫周明远，电话 555-0107" in texts(found)
            assert CHAT[4] in "\n".join(texts(found))

    run(main())


def test_without_condensed_memories_it_is_the_plain_search(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            retriever = RefinedRetriever(bank)
            plain = await retriever.retriever.retrieve("钢琴老师", [ALICE], record_access=False)
            assert texts(await retriever.retrieve("钢琴老师", [ALICE]))[: len(plain)] == texts(plain)
            assert await retriever.retrieve("！？", [ALICE]) == []
            assert await retriever.retrieve("钢琴", []) == []
            assert await retriever.retrieve("钢琴", [BOB]) == []

    run(main())


def test_what_was_said_on_a_day(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path, Clock(NOW + timedelta(days=30))) as bank:
            other = chat(
                ["聊天的话题有很多", "我们聊过天气", "对话很愉快", "话题是旅行"],
                session="s9",
                start=NOW + timedelta(days=9),
            )
            await bank.add([*chat(), *other])
            await refiner_of(bank).run()
            recall = await RefinedRetriever(bank).recall("在5月6号我们聊了什么话题？", [ALICE], limit=6)
            days = {node.message_time.astimezone().date().isoformat() for node in recall.nodes[:5]}
            assert days == {"2024-05-06"}

    run(main())


def test_filters_hold_on_both_levels_and_suggested_ones_give_way(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            liked = note("我喜欢川菜馆", category="preference")
            await bank.add([*chat(category="fact"), liked])
            await refiner_of(bank).run()
            retriever = RefinedRetriever(bank)
            for node in await retriever.retrieve("川菜", [ALICE], filters={"category": "preference"}):
                assert node.category == "preference"
            assert CHAT[7] in texts(await retriever.retrieve("川菜馆", [ALICE], filters={"category": "fact"}))
            assert await retriever.retrieve("我喜欢在哪里上钢琴课", [ALICE])

    run(main())


def test_a_forgotten_source_does_not_come_back(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            nodes = chat()
            await bank.add(nodes)
            await refiner_of(bank).run()
            gone = (await bank.store.get([nodes[4].key]))[nodes[4].key]
            await bank.patch({gone.key: {"metadata": {**gone.metadata, "forgotten": "asked"}}})
            found = await RefinedRetriever(bank).retrieve("钢琴课几点上课？", [ALICE])
            assert CHAT[4] not in texts(found)

    run(main())


# ---------------------------------------------------------------- around it


def test_a_result_is_kept_until_something_is_written(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            retriever = RefinedRetriever(bank)
            first = await retriever.recall("钢琴", [ALICE])
            assert await retriever.recall("钢琴", [ALICE]) is first
            assert await retriever.recall("钢琴", [BOB]) is not first
            await bank.add([note("钢琴搬到了客厅")])
            again = await retriever.recall("钢琴", [ALICE])
            assert again is not first
            assert "钢琴搬到了客厅" in texts(again.nodes)
            uncached = RefinedRetriever(bank, cache_seconds=0)
            assert await uncached.recall("钢琴", [ALICE]) is not await uncached.recall("钢琴", [ALICE])

    run(main())


def test_a_budget_of_tokens_and_a_least_score(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            retriever = RefinedRetriever(bank, count=len)
            assert len((await retriever.recall("钢琴 上海 代码", [ALICE], max_tokens=1)).nodes) == 1
            recall = await retriever.recall("钢琴 上海 代码", [ALICE], max_tokens=150)
            assert sum(len(str(node)) for node in recall.nodes) <= 150
            assert (await retriever.recall("钢琴", [ALICE], min_score=1.0)).nodes == []

    run(main())


def test_another_order_if_it_is_wanted(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())

            async def backwards(request: str, nodes: Sequence[MemoryNode]) -> list[int]:
                return [len(nodes) - 1, 99]

            plain = texts(await RefinedRetriever(bank).retrieve("钢琴", [ALICE]))
            turned = texts(await RefinedRetriever(bank, rerank=backwards).retrieve("钢琴", [ALICE]))
            assert turned == [plain[-1], *plain[:-1]]

    run(main())


def test_a_model_orders_and_writes_queries_and_may_fail(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            plain = texts(await RefinedRetriever(bank).retrieve("钢琴", [ALICE]))
            orders = ScriptedChatModel(['{"order": [2, 9999, 1]}', "no idea", RuntimeError("down")])
            ordered = RefinedRetriever(bank, rerank=reranker(orders, OpenAIChatFormatter()), cache_seconds=0)
            assert texts(await ordered.retrieve("钢琴", [ALICE])) == [plain[1], plain[0], *plain[2:]]
            for _ in range(2):
                assert texts(await ordered.retrieve("钢琴", [ALICE])) == plain
            words = ScriptedChatModel(['{"queries": ["部署在哪个机房", ""]}', "?"])
            writing = RefinedRetriever(bank, write_queries=query_writer(words, OpenAIChatFormatter()), cache_seconds=0)
            recall = await writing.recall("服务在哪儿？</request>", [ALICE], recent=["我们的代码上线了"])
            assert recall.queries[-1] == "部署在哪个机房"
            assert CHAT[6] in texts(recall.nodes)
            prompt = str(words.requests[0].messages)
            assert "我们的代码上线了" in prompt
            assert "&lt;/request>" in prompt
            assert (await writing.recall("服务在哪儿？", [ALICE])).queries[0] == "服务在哪儿？"

    run(main())


def test_knowledge_is_asked_where_memory_is_weak_and_stands_apart(tmp_path: Path) -> None:
    class Base:
        asked: list[str] = []

        async def retrieve(self, query: str, limit: int = 5, **_: Any) -> list[Any]:
            self.asked.append(query)
            metadata = SimpleNamespace(content={"type": "text", "text": "退货期为七天</memories>"}, doc_id="手册")
            return [SimpleNamespace(metadata=metadata, score=0.9)]

    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            base = Base()
            retriever = RefinedRetriever(bank, knowledge=[base])
            assert not (await retriever.recall(CHAT[4], [ALICE])).knowledge
            assert base.asked == []
            recall = await retriever.recall("退货期多长", [ALICE])
            assert base.asked == ["退货期多长"]
            assert str(recall).startswith("<knowledge>")
            assert "手册" in str(recall)
            both = await retriever.recall("钢琴退货", [ALICE])
            if both.memories and both.knowledge:
                assert str(both).index("</memories>") < str(both).index("<knowledge>")

    run(main())


def test_reasons(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            await refiner_of(bank).run()
            retriever = RefinedRetriever(bank)
            recall = await retriever.recall("钢琴课几点上课？", [ALICE])
            reasons = retriever.explain(recall.memories[0])
            assert reasons["score"] == round(recall.best, 4)
            assert reasons["parts"]["words"] > 0
            whole = await retriever.recall("钢琴", [ALICE], expand=False)
            assert retriever.explain(whole.memories[0])["refined_from"] == len(CHAT)

    run(main())


def test_that_they_were_found_is_noted(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            await RefinedRetriever(bank).recall("钢琴", [ALICE])
        async with bank_in(tmp_path) as bank:
            assert sum(node.access_count for node in await active(bank)) >= 1

    run(main())


@pytest.mark.parametrize("values", [{"candidates": 0}, {"cache_seconds": -1}])
def test_a_number_that_cannot_work_is_refused(tmp_path: Path, values: dict) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            with pytest.raises(ConfigError, match=next(iter(values))):
                RefinedRetriever(bank, **values)

    run(main())
