# -*- coding: utf-8 -*-
"""What a model draws is kept by the same rules as what rules draw: conflicts, near copies, worth, categories, tags."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _refine_world import ALICE, NOW, active, bank_in, note, texts
from agentscope.formatter import OpenAIChatFormatter
from agentscope.message import Msg
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine import RefinerConfig, TagSchema, keeping_rules
from agentscope_reme.refine._conflict import CURRENT
from agentscope_reme.refine._settling import Settler
from agentscope_reme.testing import ScriptedChatModel, call
from agentscope_reme.vector_memory import MemoryBank, MemorySummarizer, Owner

STAMP = NOW.astimezone().strftime("%Y-%m-%d %H:%M:%S.000")
CODING = Owner("procedural", "coding")
CHANGES = [
    ("User likes Sichuan food", "User does not like Sichuan food any more"),
    ("alice 喜欢川菜", "alice 不喜欢川菜了"),
    ("我爱吃川菜", "我不吃川菜了"),
]
SCHEMA = TagSchema.of({"type": ["fact", "hobby"], "topic": ["food", "work"], "people": []})


def run(main: Any) -> Any:
    return asyncio.run(main)


def reply(*items: Any) -> str:
    items_ = [{"content": each} if isinstance(each, str) else each for each in items]
    return json.dumps({"memories": [{"from": [1], **each} for each in items_]}, ensure_ascii=False)


async def drawn(
    bank: MemoryBank,
    script: list[Any],
    config: RefinerConfig | None = None,
    said: str = "as the model says",
    owner: Owner = ALICE,
    schema: TagSchema | None = None,
    mode: Any = "cheap",
) -> tuple[list[MemoryNode], ScriptedChatModel]:
    model = ScriptedChatModel(script)
    summarizer = MemorySummarizer(bank, model=model, formatter=OpenAIChatFormatter(), mode=mode)
    rules = keeping_rules(config or RefinerConfig(), schema)
    return await summarizer.summarize([Msg("alice", said, "user", timestamp=STAMP)], [owner], rules=rules), model


@given(
    st.sampled_from(CHANGES),
    st.sampled_from(["supersede", "merge", "keep"]),
    st.floats(0, 0.8),
    st.none() | st.floats(0, 1),
)
def test_a_conflict_is_settled_by_the_policy_whoever_draws(
    change: tuple[str, str], policy: Any, importance: float, judged: float | None
) -> None:
    """With a model and without one there are the same memories, and an override is worth more than both."""
    old, new = change
    config = RefinerConfig(conflict_policy=policy)

    async def main() -> None:
        with TemporaryDirectory() as folder:
            async with bank_in(Path(folder) / "model") as bank:
                (before,) = await bank.add([note(old, importance=importance)])
                item = {"content": new, **({} if judged is None else {"importance": judged})}
                (stored,), _ = await drawn(bank, [reply(item)], config, said=new)
                by_model = texts(await active(bank))
                history = await bank.get(before.memory_id)
            async with bank_in(Path(folder) / "rules") as bank:
                await bank.add([note(old, importance=importance)])
                await Settler(bank, config).settle(note(new))
                assert sorted(by_model) == sorted(texts(await active(bank)))
        if policy == "keep":
            assert sorted(by_model) == sorted([old, new])
        else:
            assert by_model == [stored.content]
            assert (history.is_active, history.metadata["superseded_by"]) == (False, stored.memory_id)
            assert stored.importance > importance
            assert (old in stored.content and new in stored.content) == (policy == "merge")

    run(main())


def test_a_merge_by_a_model_says_what_changed_from_what_to_what(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            (old,) = await bank.add([note("alice lives in Munich")])
            item = {
                "content": "alice lives in Berlin",
                "action": "supersede",
                "id": old.memory_id,
                "no_longer_true": "lives in Munich",
            }
            (stored,), _ = await drawn(
                bank, [reply(item)], RefinerConfig(conflict_policy="merge"), "I live in Berlin now"
            )
            assert "Munich" in stored.content
            assert "Berlin" in stored.content
            assert stored.metadata[CURRENT] == "alice lives in Berlin"

    run(main())


def test_what_an_old_memory_says_besides_is_not_lost(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            (old,) = await bank.add([note("我喜欢川菜，每周末打网球")])
            item = {"content": "我不吃川菜了", "action": "supersede", "id": old.memory_id, "no_longer_true": "喜欢川菜"}
            (stored,), _ = await drawn(bank, [reply(item)], said="我不吃川菜了")
            assert "网球" in stored.content

    run(main())


def test_within_one_conversation_both_stay_where_the_policy_is_to_keep(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            old, new = CHANGES[0]
            config = RefinerConfig(conflict_policy="keep")
            stored, _ = await drawn(bank, [reply(old, new)], config, said=f"{old}. {new}.")
            assert texts(stored) == [old, new]

    run(main())


@pytest.mark.parametrize(("threshold", "left"), [(0.999, 2), (0.6, 1)])
def test_the_threshold_decides_what_a_near_copy_is(tmp_path: Path, threshold: float, left: int) -> None:
    async def main() -> None:
        async with bank_in(tmp_path, vectors=True) as bank:
            await bank.add([note("alice likes concise code in her projects", importance=0.8)])
            config = RefinerConfig(dedup_threshold=threshold)
            said = "alice likes concise code in her projects and comments"
            (stored,), _ = await drawn(bank, [reply({"content": said, "importance": 0.6})], config, said=said)
            found = await active(bank)
            assert len(found) == left
            assert stored.importance == (0.8 if left == 1 else 0.6), "what is completed is not worth less for it"

    run(main())


# ---------------------------------------------------------------- worth, by rules and by a model


@pytest.mark.parametrize("mode", ["cheap", "agentic"])
@pytest.mark.parametrize(("content", "low", "high"), [("我对青霉素过敏", 0.9, 1.0), ("I have a cat", 0.3, 0.6)])
@pytest.mark.parametrize("judged", [0.0, "0.45", 1.0, None])
def test_a_models_judgement_counts_within_the_rules_in_both_modes(
    tmp_path: Path, mode: str, content: str, low: float, high: float, judged: Any
) -> None:
    async def main() -> None:
        given = {"content": content, **({} if judged is None else {"importance": judged})}
        if mode == "cheap":
            script = [reply(given)]
        else:
            script = [
                call("add_memory", message_numbers=[1], **given),
                "done",
                "NOTHING TO REMEMBER",
            ]
        async with bank_in(tmp_path) as bank:
            (stored,), _ = await drawn(bank, script, said=content, mode=mode)
            assert low <= stored.importance <= high
            if judged == "0.45" and low < 0.45 < high:
                assert stored.importance == 0.45
            assert stored.category == "fact"

    run(main())


def test_the_worth_of_procedures_is_not_judged_by_the_rules_for_people(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            item = {
                "content": "Never push to main.",
                "when_to_use": "pushing",
                "category": "pitfall",
                "importance": 0.2,
            }
            (stored,), _ = await drawn(bank, [reply(item)], said="Never push to main.", owner=CODING)
            assert (stored.importance, stored.category, stored.tags) == (0.2, "pitfall", ())

    run(main())


# ---------------------------------------------------------------- the declared schema


@pytest.mark.parametrize("mode", ["cheap", "agentic"])
def test_a_model_is_asked_for_the_dimensions_and_what_it_fills_in_is_checked(
    tmp_path: Path, mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    tags = ["topic:Food", "topic:cancer", "mood: bad", "people：Bob", "free"]

    async def main() -> None:
        given = {"content": "I cook noodles with Bob", "category": "Hobby", "tags": tags}
        script = (
            [reply(given)]
            if mode == "cheap"
            else [call("add_memory", message_numbers=[1], **given), "done", "NOTHING TO REMEMBER"]
        )
        async with bank_in(tmp_path) as bank:
            (stored,), model = await drawn(bank, script, said="I cook noodles with Bob", schema=SCHEMA, mode=mode)
            assert set(stored.tags) == {"topic:food", "people:Bob"}
            assert stored.category == "hobby"
            (found,) = await bank.list([ALICE], SCHEMA.filters({"topic": "food", "people": "Bob"}))
            assert found.key == stored.key
            asked = str(model.requests[0].messages)
            for shown in ("topic: food, work", "people: any value", '"fact", "hobby"'):
                assert shown in asked.replace("\\n", "\n")

    with caplog.at_level(logging.WARNING, "agentscope_reme"):
        run(main())
    assert "2 tags" in caplog.text
    assert "cancer" not in caplog.text, "what was said belongs in no log"


def test_without_a_schema_nothing_is_asked_about_tags(tmp_path: Path) -> None:
    async def main() -> None:
        async with bank_in(tmp_path) as bank:
            (stored,), model = await drawn(bank, [reply({"content": "I cook", "tags": ["topic:food"]})], said="I cook")
            assert stored.tags == ()
            asked = str(model.requests[0].messages)
            assert "dimension" not in asked
            assert '"tags"' not in asked

    run(main())


@given(st.lists(st.sampled_from(["food", "work"]), unique=True), st.lists(st.sampled_from(["food", "work"])))
def test_what_completes_a_memory_adds_its_tags(before: list[str], later: list[str]) -> None:
    async def main() -> None:
        with TemporaryDirectory() as folder:
            async with bank_in(Path(folder)) as bank:
                node = SCHEMA.tagged(note("alice cooks", category="hobby"), {"topic": before})
                (old,) = await bank.add([node])
                tags = [f"topic:{each}" for each in later]
                item = {"content": "alice cooks and bakes", "action": "update", "id": old.memory_id, "tags": tags}
                (stored,), _ = await drawn(bank, [reply(item)], said="I cook and bake", schema=SCHEMA)
                assert set(SCHEMA.values_of(stored).get("topic", ())) == {*before, *later}
                assert set(stored.metadata.get("topic", ())) == {*before, *later}
                assert stored.category == "hobby"

    run(main())


def test_declared_categories_take_the_place_of_the_usual_ones_for_people_only() -> None:
    from agentscope_reme.vector_memory import PERSONAL, PROCEDURAL

    rules = keeping_rules(RefinerConfig(), SCHEMA)
    assert tuple(rules.categories(PERSONAL)) == ("fact", "hobby")
    assert tuple(rules.categories(PROCEDURAL)) == PROCEDURAL.categories
