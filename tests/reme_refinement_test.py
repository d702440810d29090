# -*- coding: utf-8 -*-
"""`ReMe` listens, condenses and recalls: the ways through its own methods, without a model."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import TextBlock
from agentscope.model import ChatResponse, OpenAIChatModel

from agentscope_reme import ConfigError, ReMe, _refinement
from agentscope_reme._events import Event
from agentscope_reme.refine import RefinerConfig, TagSchema
from agentscope_reme.testing import HashEmbedding, ScriptedChatModel
from agentscope_reme.vector_memory import Owner

START = datetime(2026, 3, 2, 9, 0, tzinfo=timezone.utc)


def run(main: Any) -> Any:
    return asyncio.run(main)


def said(text: str, minute: int = 0, role: str = "user") -> dict[str, Any]:
    moment = START + timedelta(minutes=minute)
    return {"role": role, "content": text, "time_created": moment.isoformat(), "id": f"{role}-{minute}"}


def test_what_is_said_becomes_memories_and_the_later_statement_holds(tmp_path: Path) -> None:
    async def main() -> None:
        config = RefinerConfig(trigger_rules=["user_contains:记住", "round_count:3", "session_end"])
        schema = TagSchema.of({"topic": ["数学", "饮食"]})
        async with ReMe(tmp_path, embedding_model=HashEmbedding(), refiner=config, schema=schema) as reme:
            stored = await reme.add_interaction([said("记住，我的数学考试在2026-03-20")], user_name="小明")
            assert [node.importance >= 0.9 for node in stored] == [True]
            assert "topic:数学" in stored[0].tags
            talk = [said("我很喜欢川菜", 1), said("好的", 1, "assistant"), said("我打算每天早上跑步", 2)]
            assert await reme.add_interaction(talk, user_name="小明") == []
            await reme.await_capture()
            contents = {node.content for node in await reme.list_memory(user_name="小明")}
            assert {"我很喜欢川菜", "我打算每天早上跑步"} <= contents
            await reme.add_interaction([said("我不吃川菜了", 3)], user_name="小明")
            await reme.end_session("小明")
            active = {node.content for node in await reme.list_memory(user_name="小明")}
            everything = {node.content for node in await reme.list_memory(user_name="小明", include_inactive=True)}
            assert "我不吃川菜了" in active
            assert "我很喜欢川菜" in everything - active
            await reme.add_interaction([said("忘掉我说过的跑步的事", 4)], user_name="小明")
            assert not [node for node in await reme.list_memory(user_name="小明") if "跑步" in node.content]
            assert await reme.list_memory(user_name="小红") == []

    run(main())


def test_what_is_added_by_hand_is_judged_by_the_rules_where_nobody_has(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None) as reme:
            for text in ("我对猫毛过敏", "I am allergic to penicillin."):
                assert (await reme.add_memory(text, user_name="小明")).importance >= 0.9
                assert (await reme.add_memory(text, user_name="小红", importance=0.4)).importance == 0.4
            (wish,) = await reme.add_memories(["绝对不要告诉别人我的地址"], user_name="小明")
            assert wish.importance >= 0.8
            assert (await reme.add_memory("我住在苏州", user_name="小明")).importance == 0.5
            assert (await reme.add_memory("对花生过敏的用户要先问清楚", task_name="点餐")).importance == 0.5

    run(main())


def test_a_session_that_is_no_text_is_refused_by_name(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, model=None) as reme:
            with pytest.raises(ConfigError, match="session_id is 3"):
                await reme.add_interaction([said("你好")], "小明", session_id=3)  # type: ignore[arg-type]
            with pytest.raises(ConfigError, match="session_id is 3"):
                await reme.end_session("小明", session_id=3)  # type: ignore[arg-type]

    run(main())


def test_a_run_condenses_and_recall_goes_back_to_the_sources(tmp_path: Path) -> None:
    async def main() -> None:
        async with ReMe(tmp_path, embedding_model=HashEmbedding()) as reme:
            for at in range(24):
                text = f"Anna told about her trip to Lisbon, day {at}: the room in street {at} cost {100 + at} euros."
                moment = START + timedelta(minutes=at)
                await reme.add_memory(text, user_name="anna", author="Anna", message_time=moment, ref_memory_id="trip")
            await reme.add_memory("Anna is allergic to penicillin.", user_name="anna", importance=0.95)
            seen: list[tuple[int, int]] = []
            report = await reme.refine(user_name="anna", progress=lambda done, total: seen.append((done, total)))
            assert report.refined >= 1
            assert report.tokens_after < report.tokens_before
            assert seen
            assert seen[-1][0] == seen[-1][1]
            again = await reme.refine(user_name="anna")
            assert (again.groups, again.refined, again.calls) == (0, 0, 0)
            active = [node.content for node in await reme.list_memory(user_name="anna")]
            assert "Anna is allergic to penicillin." in active
            recalled = await reme.recall("What did the room in street 17 cost?", user_name="anna", expand=True)
            assert "cost 117 euros" in " ".join(node.content for node in recalled.nodes[:5])
            reviews = await reme.review_refined(2, user_name="anna")
            assert reviews
            assert not any(review.faults for review in reviews)
            assert "-- from" in str(reviews[0])

    run(main())


def test_a_loop_of_its_own_each_time(tmp_path: Path) -> None:
    reme = ReMe(tmp_path, embedding_model=HashEmbedding(), refiner=RefinerConfig())

    async def once(number: int) -> None:
        async with reme:
            await reme.add_interaction([said(f"记住，我的门牌号是{number}", number)], user_name="小明")

    run(once(101))
    run(once(202))

    async def look() -> list[str]:
        async with reme:
            return [node.content for node in await reme.list_memory(user_name="小明", include_inactive=True)]

    assert sorted(run(look())) == ["我的门牌号是101", "我的门牌号是202"]


def test_work_that_is_due_is_done_from_the_start_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories that were added by hand, a user who was quiet before a restart, and a sweep; the first look fails."""
    monkeypatch.setattr(_refinement, "_LOOK_EVERY", 0.01)
    config = RefinerConfig(capacity_memories=20, trigger_rules=["idle:1"])

    async def until(reme: ReMe, kind: str, **details: Any) -> None:
        seen = asyncio.Event()

        def told(event: Event) -> None:
            if event.kind == kind and all(event.details.get(name) == value for name, value in details.items()):
                seen.set()

        unsubscribe = reme.subscribe(told)
        await asyncio.wait_for(seen.wait(), 20)
        unsubscribe()

    async def main() -> None:
        async with ReMe(tmp_path, model=None, embedding_model=None) as reme:
            assert reme._looking is None, "who gave no configuration pays nothing"
            for at in range(40):
                moment = START + timedelta(minutes=at)
                text = f"The hotel in street {at} of Lisbon cost {100 + at} euros a night."
                await reme.add_memory(text, user_name="anna", message_time=moment, ref_memory_id="trip")
            await reme.add_interaction([said("我打算每天早上跑步")], user_name="小明")
        reme = ReMe(tmp_path, model=None, embedding_model=None, refiner=config)

        tick, failures = reme.capture.tick, [ValueError("no such thing")]

        async def failing() -> None:
            if failures:
                raise failures.pop()
            await tick()

        reme.capture.tick = failing  # type: ignore[method-assign]
        failed = asyncio.create_task(until(reme, "memory_upkeep_failed", stage="capture"))
        condensed = asyncio.create_task(until(reme, "memory_changed", owner="personal/anna"))
        drawn = asyncio.create_task(until(reme, "memory_changed", owner="personal/小明"))
        swept = asyncio.create_task(until(reme, "memories_swept"))
        async with reme:
            await asyncio.gather(failed, condensed, drawn, swept)
            assert len(await reme.list_memory("anna")) < 40
        assert reme._looking is None

    run(main())


def test_a_task_ends_too(tmp_path: Path) -> None:
    async def main() -> None:
        config = RefinerConfig(after_session=True)
        async with ReMe(tmp_path, model=None, embedding_model=None, refiner=config) as reme:
            for at in range(12):
                await reme.add_memory(f"Step {at}: run deploy.sh for {at}, then read the log.", task_name="t")
            assert await reme.schedule.look() == {}
            await reme.end_session(task_name="t")
            assert await reme.schedule.look() == {Owner("procedural", "t"): "session"}
            with pytest.raises(ConfigError, match="Nobody is named"):
                await reme.end_session()

    run(main())


@pytest.mark.parametrize("policy", ["supersede", "merge", "keep"])
@pytest.mark.parametrize("heard", [True, False])
def test_the_policy_holds_where_a_model_draws(tmp_path: Path, policy: Any, heard: bool) -> None:
    async def main() -> None:
        old, new = "User likes Sichuan food", "User does not like Sichuan food any more"
        model = ScriptedChatModel([json.dumps({"memories": [{"content": new, "from": [1]}]})])
        config = RefinerConfig(conflict_policy=policy)
        async with ReMe(
            tmp_path, model=model, formatter=OpenAIChatFormatter(), embedding_model=None, refiner=config
        ) as reme:
            await reme.add_memory(old, user_name="u", importance=0.8)
            talk = [said("I do not like Sichuan food any more")]
            if heard:
                await reme.add_interaction(talk, "u")
                await reme.end_session("u")
            else:
                await reme.summarize_memory(talk, "u")
            active = {node.content: node.importance for node in await reme.list_memory("u")}
            if policy == "keep":
                assert active == {old: 0.8, new: 0.6}
            else:
                (content,) = active
                assert active[content] == 0.9
                assert (old in content) == (policy == "merge")

    run(main())


class Own(OpenAIChatModel):
    """A model of the host's class, with replies of its own."""

    def __init__(self, reply: str) -> None:
        self.model_name, self.stream, self.reply = "own", False, reply
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, *_: Any, **given: Any) -> ChatResponse:
        self.asked.append(given)
        return ChatResponse(content=[TextBlock(type="text", text=self.reply)])


async def hotels(reme: ReMe) -> None:
    for at in range(12):
        moment = START + timedelta(minutes=at)
        text = f"The hotel in street {at} of Lisbon cost {100 + at} euros a night."
        await reme.add_memory(text, user_name="anna", message_time=moment, ref_memory_id="trip")


def test_drawing_filtering_and_condensing_have_models_of_their_own(tmp_path: Path) -> None:
    async def main() -> None:
        sift, condense = Own('{"drop": []}'), Own("no JSON at all")
        draw = Own('[{"content": "Anna likes the harbour of Lisbon.", "category": "preference"}]')
        async with ReMe(
            tmp_path,
            embedding_model=HashEmbedding(),
            model=None,
            extract_model=draw,
            refine_model=condense,
            filter_model=sift,
        ) as reme:
            await reme.summarize_memory([said("I like the harbour of Lisbon very much.")], user_name="anna")
            assert draw.asked
            await hotels(reme)
            report = await reme.refine(user_name="anna")
            assert sift.asked
            assert condense.asked
            assert report.failures  # a reply that cannot be used is told, and sentences are extracted
            assert report.refined >= 1
            given = [each["temperature"] for model in (draw, sift, condense) for each in model.asked]
            assert set(given) == {0.1}

    run(main())


def test_a_filter_model_alone_is_asked(tmp_path: Path) -> None:
    async def main() -> None:
        sift = Own('{"drop": [1, 2, 3]}')
        async with ReMe(tmp_path, embedding_model=HashEmbedding(), filter_model=sift) as reme:
            await hotels(reme)
            report = await reme.refine(user_name="anna")
            assert report.calls == len(sift.asked) >= 1
            (refined,) = await reme.list_memory(user_name="anna")
            assert "street 0 " not in refined.content
            assert len(refined.source_ids) == 12

    run(main())


def test_each_model_may_come_with_its_formatter(tmp_path: Path) -> None:
    def made(**given: Any) -> ReMe:
        return ReMe(tmp_path, embedding_model=None, **given)

    model, formatter = ScriptedChatModel([]), OpenAIChatFormatter()
    for name in ("extract_model", "refine_model", "filter_model"):
        with pytest.raises(ConfigError, match=f"{name}.*give {name}="):
            made(**{name: model})
        with pytest.raises(ConfigError, match=f"{name} is 3: give a chat model"):
            made(**{name: 3})
        made(**{name: (model, formatter)})
        made(model=None, formatter=formatter, **{name: model})
        made(formatter=formatter, **{name: model})
        made(**{name: {"model_name": "qwen-plus"}})  # a key that is missing is missed where the model is needed
    with pytest.raises(ConfigError, match="give both, or neither"):
        made(formatter=formatter)
