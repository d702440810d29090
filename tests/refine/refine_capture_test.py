# -*- coding: utf-8 -*-
"""What is said, taken down: at once where a user asks for it, and later when rules say so; each message once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _refine_world import ALICE, BOB, NOW, Clock, active, bank_in, note, texts
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.message import MARK_KEY
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinerConfig, TagSchema
from agentscope_reme.refine._capture import Capture
from agentscope_reme.refine._enriching import Said, drawn_by_rules, enriched
from agentscope_reme.refine._forgetter import Forgetter
from agentscope_reme.refine._heard import HeardMessages
from agentscope_reme.refine._settling import Settler
from agentscope_reme.testing import ScriptedChatModel
from agentscope_reme.vector_memory import MemoryBank, MemorySummarizer

CONFIG = RefinerConfig(trigger_rules=["explicit", "round_count:3", "session_end"])
numbers = iter(range(10**9))


def run(main: Any) -> Any:
    return asyncio.run(main)


def user(text: str, minute: int = 0, name: str = "alice") -> Msg:
    stamp = (NOW + timedelta(minutes=minute)).astimezone().strftime("%Y-%m-%d %H:%M:%S.000")
    msg = Msg(name, text, "user", timestamp=stamp)
    msg.id = f"m{next(numbers)}"
    return msg


def agent(text: str) -> Msg:
    msg = Msg("bot", text, "assistant")
    msg.id = f"m{next(numbers)}"
    return msg


def summarizer(bank: MemoryBank, replies: list[Any]) -> tuple[MemorySummarizer, ScriptedChatModel]:
    model = ScriptedChatModel(replies)
    return MemorySummarizer(bank, model=model, formatter=OpenAIChatFormatter()), model


# ---------------------------------------------------------------- at once


def test_what_is_asked_for_is_stored_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            capture = Capture(bank, CONFIG)
            stored = await capture.hear(ALICE, [user("记住，我递归总是学不好。"), agent("好的，我记下了。")])
            assert texts(stored) == ["我递归总是学不好"]
            assert stored[0].importance >= 0.9
            assert stored[0].author == "alice"
            assert stored[0].message_time == NOW
            assert texts(await active(bank)) == ["我递归总是学不好"]
            history = await bank.history(stored[0].memory_id, ALICE)
            assert [(row.actor, row.cause) for row in history] == [("capture", "explicit")]
            assert await capture.hear(ALICE, [user("你还记得我说过什么吗？")]) == []
            stored = await capture.hear(ALICE, [user("我住在苏州。"), user("记住这个")])
            assert texts(stored) == ["我住在苏州"]

    run(main())


def test_a_message_counts_once_however_often_it_is_handed_in(tmp_path: Path) -> None:
    async def main() -> None:
        said = [user("记住，我对花生过敏"), agent("好的"), user("我喜欢吃川菜")]
        async with bank_in(tmp_path) as bank:
            capture = Capture(bank, CONFIG)
            assert len(await capture.hear(ALICE, said[:1], "s")) == 1
            assert await capture.hear(ALICE, said, "s") == []
            await asyncio.gather(*(capture.hear(ALICE, said, "s") for _ in range(4)))
            assert len(await capture.heard.waiting(ALICE, "s")) == 3
            await capture.end(ALICE, "s")
            await capture.drain()
            assert set(texts(await active(bank))) == {"我对花生过敏", "我喜欢吃川菜"}
            assert (await active(bank))[0].metadata.get("times", 1) == 1
        async with bank_in(tmp_path) as bank:
            capture = Capture(bank, CONFIG)
            await capture.hear(ALICE, said, "s")
            assert await capture.heard.waiting(ALICE) == []

    run(main())


def test_recalled_memories_and_prompts_are_not_heard(tmp_path: Path) -> None:
    """Field report I2: memories that are recalled, learned again, and recalled."""

    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            capture = Capture(bank, CONFIG)
            recalled = user("记住，他的昵称是小明明")
            recalled.metadata = {MARK_KEY: "recalled"}
            system = Msg("system", "记住：你是一个助手", "system")
            assert await capture.hear(ALICE, [recalled, system, agent("记住，你要多喝水")]) == []
            assert [each.message.role for each in await capture.heard.waiting(ALICE)] == ["assistant"]

    run(main())


def test_what_is_to_be_forgotten_is_forgotten_at_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            await bank.add([note("我在减肥，目标体重60公斤"), note("我住在苏州")])
            capture = Capture(bank, CONFIG, forgetter=Forgetter(bank, CONFIG))
            await capture.hear(ALICE, [user("忘掉我之前说的关于减肥的事")])
            assert texts(await active(bank)) == ["我住在苏州"]

    run(main())


def test_users_never_mix(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            capture = Capture(bank, CONFIG)
            shared = user("记住，我对花生过敏")
            await asyncio.gather(capture.hear(ALICE, [shared]), capture.hear(BOB, [user("记住，我不对花生过敏")]))
            assert texts(await active(bank, ALICE)) == ["我对花生过敏"]
            assert texts(await active(bank, BOB)) == ["我不对花生过敏"]
            await capture.end(ALICE)
            await capture.drain()
            assert len(await capture.heard.waiting(BOB)) == 1
            await bank.delete_all([ALICE])
            assert await capture.heard.owners() == [BOB]

    run(main())


# ---------------------------------------------------------------- later


def test_rules_draw_after_so_many_rounds(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            told: list[str] = []
            capture = Capture(bank, CONFIG, told=lambda owner, nodes: told.extend(texts(nodes)))
            await capture.hear(ALICE, [user("你好"), agent("你好"), user("我喜欢吃川菜。今天好累啊")])
            await capture.drain()
            assert told == []
            await capture.hear(ALICE, [user("我打算下周三去东京旅游。你觉得怎么样？", 5)])
            await capture.drain()
            assert told == ["我喜欢吃川菜。", "我打算下周三去东京旅游。"]
            assert await capture.heard.waiting(ALICE) == []
            nodes = {node.content: node for node in await active(bank)}
            assert nodes["我喜欢吃川菜。"].category == "preference"
            plan = nodes["我打算下周三去东京旅游。"]
            assert plan.category == "plan"
            assert "东京" in plan.entities
            assert plan.expires_at is not None
            assert plan.expires_at.date() == (NOW + timedelta(days=9 + 7)).date()

    run(main())


def test_a_quiet_user_is_drawn_from(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            capture = Capture(bank, RefinerConfig(trigger_rules=["idle:300"]))
            await capture.hear(ALICE, [user("我决定改用Rust重写这个服务")])
            await capture.tick()
            await capture.drain()
            assert await active(bank) == []
            clock.go_on(seconds=301)
            await capture.tick()
            await capture.close()
            assert texts(await active(bank)) == ["我决定改用Rust重写这个服务"]

    run(main())


def test_a_model_draws_where_there_is_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            fact = {"action": "add", "content": "alice 在学钢琴，每周三上课。", "source": [1]}
            drawing, model = summarizer(bank, [lambda *_: None])
            model = ScriptedChatModel(lambda messages, _: json.dumps({"memories": [fact], "profile": {}}))
            drawing = MemorySummarizer(bank, model=model, formatter=OpenAIChatFormatter())
            capture = Capture(bank, CONFIG, summarizer=drawing)
            await capture.hear(ALICE, [user("我在学钢琴，每周三上课。")])
            await capture.end(ALICE)
            await capture.drain()
            assert len(model.requests) >= 1
            assert "我在学钢琴" in str(model.requests[0].messages)
            assert await capture.heard.waiting(ALICE) == []

    run(main())


def test_what_a_model_failed_on_waits_for_the_next_time(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            drawing, _ = summarizer(bank, [RuntimeError("down")] * 4)
            capture = Capture(bank, CONFIG, summarizer=drawing)
            await capture.hear(ALICE, [user("我喜欢吃川菜")])
            await capture.end(ALICE)
            await capture.drain()
            assert len(await capture.heard.waiting(ALICE)) == 1
            assert await active(bank) == []
            offline = Capture(bank, CONFIG)
            await offline.end(ALICE)
            await offline.drain()
            assert texts(await active(bank)) == ["我喜欢吃川菜"]

    run(main())


@settings(max_examples=15)
@given(
    st.lists(
        st.sampled_from(
            [
                "记住，我叫李雷",
                "我喜欢川菜",
                "我不吃川菜了",
                "你好",
                "我打算学吉他",
                "今天星期几？",
                "我对虾过敏",
                "嗯嗯",
            ],
        ),
        max_size=12,
    ),
    st.integers(1, 5),
)
def test_whatever_is_said_each_message_is_drawn_from_once(said: list[str], rounds: int) -> None:
    async def main(folder: Path) -> None:
        async with bank_in(folder) as bank:
            capture = Capture(bank, RefinerConfig(trigger_rules=["explicit", f"round_count:{rounds}", "session_end"]))
            messages = [user(text, minute) for minute, text in enumerate(said)]
            for msg in messages:
                await capture.hear(ALICE, [msg], "s")
            await capture.hear(ALICE, messages, "s")
            await capture.end(ALICE, "s")
            await capture.close()
            assert await capture.heard.waiting(ALICE) == []
            found = texts(await active(bank))
            assert len(found) == len(set(found))
            assert ("我叫李雷" in found) == ("记住，我叫李雷" in said)
            assert ("我对虾过敏" in found) == ("我对虾过敏" in said)
            if "我不吃川菜了" in said and "我喜欢川菜" in said[: said.index("我不吃川菜了")]:
                last = max(
                    (at for at, text in enumerate(said) if text in ("我喜欢川菜", "我不吃川菜了")),
                )
                assert said[last] in found or len([text for text in found if "川菜" in text]) == 1

    with TemporaryDirectory() as folder:
        run(main(Path(folder)))


# ---------------------------------------------------------------- settling


def settled(tmp_path: Path, told: Sequence[str], **config: Any) -> list[MemoryNode]:
    async def main() -> list[MemoryNode]:
        async with bank_in(tmp_path) as bank:
            settler = Settler(bank, RefinerConfig(**config))
            for day, text in enumerate(told):
                await settler.settle(note(text, message_time=NOW + timedelta(days=day)), actor="test", cause="told")
            return await bank.list([ALICE], include_inactive=True, sort_key="message_time", reverse=False)

    return run(main())


def test_a_contradiction_leaves_the_new_one_and_the_old_is_kept(tmp_path: Path) -> None:
    """Field reports J2 and J6."""
    old, new = settled(tmp_path, ["我爱吃川菜", "我不吃川菜了"])
    assert (old.is_active, new.is_active) == (False, True)
    assert old.metadata["superseded_by"] == new.memory_id
    assert new.metadata["supersedes"] == [old.memory_id]
    assert new.importance > old.importance


def test_facts_about_one_firm_both_stay(tmp_path: Path) -> None:
    """Field report J4."""
    assert all(node.is_active for node in settled(tmp_path, ["在甲公司任工程师", "负责甲公司的代码库"]))


def test_saying_it_again_makes_it_weightier_and_no_second_one(tmp_path: Path) -> None:
    """Field reports J7 and J11."""
    (node,) = settled(tmp_path, ["我喜欢在早上跑步", "我喜欢在早上跑步。", "我喜欢在早上跑步！"])
    assert node.metadata["times"] == 3
    assert 0.7 <= node.importance <= 0.8


def test_a_merge_says_what_changed(tmp_path: Path) -> None:
    nodes = settled(tmp_path, ["项目的端口是8080", "项目的端口改为8443"], conflict_policy="merge")
    assert [node.content for node in nodes if node.is_active] == ["项目的端口从8080变为8443（2024-05-07起）"]


def test_policy_keep_keeps_both(tmp_path: Path) -> None:
    assert all(node.is_active for node in settled(tmp_path, ["我住在北京", "我搬到上海了"], conflict_policy="keep"))


# ---------------------------------------------------------------- rules


def test_what_rules_draw() -> None:
    said = [
        Said("你好！我喜欢喝黑咖啡，不加糖。今天天气怎么样？", NOW),
        Said("我决定下个月搬到杭州。谢谢！", NOW),
        Said("我喜欢喝黑咖啡，不加糖！记住，我对花生过敏。", NOW + timedelta(days=1)),
        Said("那个文件在桌上。", NOW),
        Said("I can't stand loud music. Do you remember my name?", NOW),
    ]
    assert drawn_by_rules(said) == [
        ("我喜欢喝黑咖啡，不加糖！", NOW + timedelta(days=1), 2),
        ("我决定下个月搬到杭州。", NOW, 1),
        ("I can't stand loud music.", NOW, 1),
    ]


@pytest.mark.parametrize(
    ("sentence", "is_drawn"),
    [
        *(
            (each, True)
            for each in ("我叫小明，住在上海，在腾讯做后端工程师", "我女儿今年五岁", "我妈妈在银行上班", "我是四川人")
        ),
        *((each, True) for each in ("My name is Bob and I live in Berlin.", "I work as a nurse in a small clinic.")),
        *(
            (each, True)
            for each in ("My daughter is five.", "We have moved, and I grew up in Oslo.", "I have two cats.")
        ),
        *((each, False) for each in ("我在想一个问题", "我是说这个不对", "帮我写个函数", "我一个人在家", "我叫什么？")),
        *((each, False) for each in ("I am a bit tired", "Let me look at the code.", "The file is on the table.")),
    ],
)
def test_facts_about_a_person_are_drawn_and_passing_remarks_are_not(sentence: str, is_drawn: bool) -> None:
    assert [content for content, _, _ in drawn_by_rules([Said(sentence, NOW)])] == [sentence] * is_drawn


@given(st.lists(st.text(max_size=80), max_size=5))
def test_rules_draw_words_that_were_said(said: list[str]) -> None:
    for content, _, times in drawn_by_rules([Said(text, NOW) for text in said]):
        assert times >= 1
        assert any(" ".join(content.split()) in " ".join(text.split()) for text in said)


def test_what_is_known_of_a_memory_is_filled_in_and_never_overwritten() -> None:
    schema = TagSchema({"topic": ["piano", "work"], "people": []})
    node = enriched(note("我打算5月20日和李雷去听piano音乐会"), RefinerConfig(), schema)
    assert (node.category, schema.values_of(node)) == ("plan", {"topic": ("piano",), "people": ("李雷",)})
    assert 0.6 <= node.importance <= 0.7
    assert node.expires_at is not None
    own = note("我打算5月20日去听音乐会", category="event", importance=0.65, entities=("x",), expires_at=NOW)
    kept = enriched(own, RefinerConfig(), schema)
    assert (kept.category, kept.importance, kept.entities, kept.expires_at) == ("event", 0.65, ("x",), NOW)
    assert enriched(note("x"), RefinerConfig(), schema, explicit=True).importance >= 0.9
    assert enriched(note("x", importance=0.99), RefinerConfig(), schema).importance == 0.6


def test_what_was_drawn_from_is_known_for_good_and_its_words_are_gone(tmp_path: Path) -> None:
    async def main() -> None:
        clock = Clock()
        async with bank_in(tmp_path, clock) as bank:
            heard = HeardMessages(bank)
            first = user("第一句话")
            await heard.put(ALICE, "s", [first])
            await heard.drawn(ALICE, await heard.waiting(ALICE))
            assert await heard.put(ALICE, "s", [first]) == []
            assert not any("第一句话" in str(row.to_dict()) for row in await bank.ledger.find())
            assert not any(first.id in str(row.to_dict()) for row in await bank.ledger.find())
            clock.go_on(days=400)
            await heard.put(ALICE, "s", [user("第二句话")])
            await heard.drawn(ALICE, await heard.waiting(ALICE))
            assert await heard.put(ALICE, "s", [first]) == []
            assert len(await heard.put(ALICE, "another session", [first])) == 1

    run(main())


def test_a_models_judgement_counts_within_the_bounds_of_the_rules(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            drawn = [
                {"content": "alice 对花生过敏。", "category": "fact", "from": [1], "action": "add", "importance": 0.1},
                {"content": "alice 住在苏州。", "category": "fact", "from": [1], "action": "add", "importance": 0.58},
            ]
            reply = json.dumps({"memories": drawn, "profile": {}}, ensure_ascii=False)
            model = ScriptedChatModel(lambda *_: reply)
            drawing = MemorySummarizer(bank, model=model, formatter=OpenAIChatFormatter())
            capture = Capture(bank, CONFIG, summarizer=drawing)
            await capture.hear(ALICE, [user("我对花生过敏，住在苏州。")])
            await capture.end(ALICE)
            await capture.drain()
            judged = {node.content: node.importance for node in await active(bank)}
            assert judged["alice 对花生过敏。"] >= 0.9  # safety never below, whatever a model thinks
            assert judged["alice 住在苏州。"] == 0.58

    run(main())
