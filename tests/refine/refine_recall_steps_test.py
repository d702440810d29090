# -*- coding: utf-8 -*-
"""What recall can do without: other people's steps, which fail in every way. And what is kept of it, never too long."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from _refine_world import ALICE, CHAT, Clock, bank_in, chat, note, texts
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import EventKind
from agentscope_reme._errors import ConfigError
from agentscope_reme._events import Event
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinedRetriever
from agentscope_reme.refine._optional_steps import order_of, texts_in
from agentscope_reme.vector_memory import RankWeights

ASKED = "退货期多长？钢琴呢？"


def raising(*_: Any, **__: Any) -> Any:
    raise RuntimeError("no connection")


async def failing(*_: Any, **__: Any) -> Any:
    raise ConnectionError("refused")


async def hanging(*_: Any, **__: Any) -> Any:
    await asyncio.sleep(60)


def answering(value: Any) -> Callable[..., Any]:
    async def answer(*_: Any, **__: Any) -> Any:
        return value

    return answer


class Base:
    """A knowledge base whose `retrieve` is given."""

    def __init__(self, retrieve: Any) -> None:
        self.retrieve = retrieve


STEPS: dict[str, Callable[[RefinedRetriever, Any], None]] = {
    "rerank": lambda retriever, step: setattr(retriever, "rerank", step),
    "queries": lambda retriever, step: setattr(retriever, "write_queries", step),
    "knowledge": lambda retriever, step: setattr(retriever, "knowledge", [Base(step), Base(answering(["七天"]))]),
}
FAULTS = [raising, failing, hanging, 5, *map(answering, (None, 5, "text", {"order": [1]}))]


@pytest.mark.parametrize("name", STEPS)
def test_a_step_that_fails_costs_its_own_part_alone_is_told_and_is_asked_again(tmp_path: Path, name: str) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            told: list[Event] = []
            bank.events.subscribe(told.append)
            plain = await RefinedRetriever(bank).recall(ASKED, [ALICE])
            assert plain.nodes
            for fault in FAULTS:
                retriever = RefinedRetriever(bank, patience=0.05 if fault is hanging else 8.0)
                STEPS[name](retriever, fault)
                for _ in range(2):  # a result that lacks something is not kept
                    told.clear()
                    recall = await retriever.recall(ASKED, [ALICE], limit=20)
                    assert recall.nodes == plain.nodes, fault
                    assert [passage.text for passage in recall.knowledge] == (["七天"] if name == "knowledge" else [])
                    failed = [event for event in told if event.kind is EventKind.RECALL_FAILED]
                    assert [event.details["source"] for event in failed] == [name], fault
                    assert failed[0].error

    asyncio.run(main())


def test_steps_need_not_be_async_and_then_run_beside_the_loop(tmp_path: Path) -> None:
    threads = set()

    def backwards(request: str, nodes: Sequence[MemoryNode]) -> list[int]:
        threads.add(threading.current_thread())
        return list(reversed(range(len(nodes))))

    class Plain:
        def retrieve(self, query: str, limit: int = 5, **_: Any) -> list[str]:
            threads.add(threading.current_thread())
            return ["退货期为七天"]

    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            plain = await RefinedRetriever(bank).recall(ASKED, [ALICE])
            for rerank in (backwards, lambda request, nodes: answering(backwards(request, nodes))()):
                retriever = RefinedRetriever(bank, rerank=rerank, knowledge=[Plain()])  # type: ignore[list-item]
                recall = await retriever.recall(ASKED, [ALICE])
                assert texts(recall.nodes) == texts(plain.nodes)[::-1]
                assert [passage.text for passage in recall.knowledge] == ["退货期为七天"]

    asyncio.run(main())
    assert threading.main_thread() not in threads


NUMBERS = st.lists(st.integers(-3, 8), max_size=12)
ANYTHING = st.one_of(
    st.none(), st.sampled_from(["", "01", "茶"]), st.booleans(), st.floats(), NUMBERS, st.lists(st.none())
)


def refused(read: Callable[[], Any]) -> tuple[Any, str]:
    """What is read, or why it is refused."""
    try:
        return read(), ""
    except ConfigError as error:
        return None, str(error)


@given(ANYTHING, st.integers(0, 6))
def test_an_order_names_every_memory_once_or_is_refused(answer: Any, count: int) -> None:
    order, why = refused(lambda: order_of(answer, count))
    if order is None:
        assert "give the numbers of the memories" in why
        return
    assert sorted(order) == list(range(count))
    named = [at for at in answer if 0 <= at < count]
    assert order[: len(set(named))] == list(dict.fromkeys(named))


@given(ANYTHING)
def test_queries_are_texts_or_are_refused(answer: Any) -> None:
    found, why = refused(lambda: texts_in(answer))
    assert "give" in why if found is None else all(isinstance(each, str) for each in found)


# ---------------------------------------------------------------- what is kept


class Equal:
    """A step that claims to be every other one, and cannot be hashed."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True

    async def __call__(self, request: str, nodes: Sequence[Any]) -> list[int]:
        return []


CHANGES: dict[str, Callable[[RefinedRetriever], None]] = {
    "rerank": lambda each: setattr(each, "rerank", Equal()),
    "another rerank": lambda each: setattr(each, "rerank", Equal()),
    "queries": lambda each: setattr(each, "write_queries", answering(["川菜"])),
    "knowledge": lambda each: setattr(each, "knowledge", [Base(answering([]))]),
    "one more base": lambda each: each.knowledge.append(Base(answering([]))),
    "meaning and words": lambda each: setattr(each.retriever, "hybrid_weights", (0.1, 0.9)),
    "weights": lambda each: setattr(each.retriever, "weights", RankWeights(recency=1.0)),
    "recipe": lambda each: setattr(each.retriever, "recipe", replace(each.retriever.recipe, breadth=0.9)),
}


def test_a_result_is_kept_until_a_setting_changes(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add(chat())
            retriever = RefinedRetriever(bank)
            before = await retriever.recall("钢琴", [ALICE])
            for name, change in CHANGES.items():
                assert await retriever.recall("钢琴", [ALICE]) is before, name
                change(retriever)
                now = await retriever.recall("钢琴", [ALICE])
                assert now is not before, name
                before = now
            retriever.knowledge = 5  # type: ignore[assignment]
            with pytest.raises(ConfigError, match="knowledge is 5: give a list of knowledge bases"):
                await retriever.recall("钢琴", [ALICE])

    asyncio.run(main())


def test_what_another_process_writes_is_seen_at_once_and_the_notes_of_use_end_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as mine, bank_in(tmp_path) as theirs:
            nodes = await mine.add(chat())
            clock.go_on(seconds=1)
            retriever = RefinedRetriever(mine)
            before = await retriever.recall("钢琴", [ALICE])
            assert "accessed" in str(await mine.history(before.nodes[0].memory_id))
            assert await retriever.recall("钢琴", [ALICE]) is before
            await theirs.patch({nodes[4].key: {"is_active": False}}, action="forgotten")
            assert CHAT[4] not in texts((await retriever.recall("钢琴", [ALICE])).nodes)
            await theirs.add([note("钢琴搬到了客厅")])
            assert "钢琴搬到了客厅" in texts((await retriever.recall("钢琴", [ALICE])).nodes)

    asyncio.run(main())
