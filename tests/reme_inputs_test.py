# -*- coding: utf-8 -*-
"""What users get wrong in a call of `ReMe`: refused with the value and the cure, and nothing is stored of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from agentscope_reme import ReMe
from agentscope_reme._errors import ConfigError
from agentscope_reme.refine import RefinerConfig
from agentscope_reme.testing import HashEmbedding
from agentscope_reme.vector_memory import PERSONAL

Body = Callable[[Any], Awaitable[Any]]

WRONG: list[tuple[str, Body, str]] = [
    ("one tag", lambda reme: reme.add_memory("x", user_name="a", tags="food"), "tags is 'food': give a list of texts"),
    ("one entity", lambda reme: reme.add_memory("x", user_name="a", entities="Ann"), "entities is 'Ann'"),
    ("several tags", lambda reme: reme.add_memories(["x"], user_name="a", tags="food"), "tags is 'food'"),
    ("contents", lambda reme: reme.add_memories("x", user_name="a"), "memory_contents is 'x': give a list"),
    ("a goal", lambda reme: reme.refine(goal=3), "goal is 3: give a text"),
    ("progress", lambda reme: reme.refine(progress=3), "progress is 3: give a function"),
    ("no contents", lambda reme: reme.add_memories(None, user_name="a"), "memory_contents is None"),
    ("an id for ids", lambda reme: reme.get_memories("0123456789abcdef", user_name="a"), "memory_ids is '0123"),
    ("an id to delete", lambda reme: reme.delete_memories("0123456789abcdef", user_name="a"), "memory_ids is '0123"),
    ("no query", lambda reme: reme.retrieve_memory(None, user_name="a"), "query is None: give a text, or several"),
    ("a blank query", lambda reme: reme.retrieve_memory(["tea", " "], user_name="a"), "say what is looked for"),
    ("a number", lambda reme: reme.retrieve_memory(5, user_name="a"), "query is 5"),
    ("threshold", lambda reme: reme.retrieve_memory("x", user_name="a", hybrid_threshold=20), "a number from -1 to 1"),
    (
        "threshold",
        lambda reme: reme.retrieve_memory("x", user_name="a", hybrid_threshold="0.3"),
        "'0.3': give a number",
    ),
    (
        "percent",
        lambda reme: reme.retrieve_memory("x", user_name="a", min_score=30),
        "min_score is 30: give a number from",
    ),
    ("nan", lambda reme: reme.retrieve_memory("x", user_name="a", min_score=float("nan")), "min_score is nan"),
    ("limit", lambda reme: reme.list_memory(user_name="a", limit="5"), "limit is '5': give a whole number"),
    ("limit", lambda reme: reme.list_memory(user_name="a", limit=-1), "limit is -1"),
    ("profile", lambda reme: reme.update_profile("a", ["city"]), "profile is ['city']: give a dictionary"),
    ("profile", lambda reme: reme.retrieve_profile("a", 4), "query is 4: give a text"),
    ("description", lambda reme: reme.summarize_memory([], user_name="a", description=3), "description is 3"),
    ("no tool", lambda reme: reme.record_tool_calls([{"input": {}}]), "tool_name is missing"),
    (
        "a typo",
        lambda reme: reme.record_tool_calls([{"tool_name": "t", "outptu": "x"}]),
        "no 'outptu': it has tool_name",
    ),
    (
        "output",
        lambda reme: reme.record_tool_calls([{"tool_name": "t", "output": {"a": 1}}]),
        "output is {'a': 1}: give a text",
    ),
    ("input", lambda reme: reme.record_tool_calls([{"tool_name": "t", "input": None}]), "input is None"),
    (
        "success",
        lambda reme: reme.record_tool_calls([{"tool_name": "t", "success": "no"}]),
        "success is 'no': give True",
    ),
    ("seconds", lambda reme: reme.record_tool_calls([{"tool_name": "t", "time_cost": "1s"}]), "time_cost is '1s'"),
    ("tokens", lambda reme: reme.record_tool_calls([{"tool_name": "t", "token_cost": None}]), "token_cost is None"),
    (
        "time",
        lambda reme: reme.record_tool_calls([{"tool_name": "t", "create_time": "noon"}]),
        "create_time is 'noon': give ISO",
    ),
]


def with_reme(folder: Path, body: Body) -> None:
    async def main() -> None:
        async with ReMe(folder, model=None, embedding_model=HashEmbedding()) as reme:
            await body(reme)

    asyncio.run(main())


def test_what_is_wrong_is_named_with_the_cure_and_leaves_nothing(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        for _, call, said in WRONG:
            with pytest.raises(ConfigError) as caught:
                await call(reme)
            assert said in str(caught.value)
        assert await reme.bank.store.count() == await reme.bank.ledger.count() == 0

    with_reme(tmp_path, body)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"vector_store": {"backend": "local"}}, "a dictionary goes to default_vector_store_config"),
        ({"default_vector_store_config": "chroma"}, "default_vector_store_config is 'chroma'"),
        ({"max_input_length": "8k"}, "max_input_length is '8k'"),
        ({"max_input_length": 0}, "max_input_length is 0"),
        ({"max_steps": 0}, "max_steps is 0"),
        ({"kinds": ["personal"]}, "kinds has 'personal'"),
    ],
)
def test_a_configuration_that_cannot_work(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ReMe(tmp_path, **{"model": None, "embedding_model": None, **options})
    assert said in str(caught.value)


def test_several_queries_are_one_search(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        texts = ["green tea in the morning", "black coffee", "green tea and coffee", "a bicycle"]
        await reme.add_memories(texts, user_name="alice")
        both = await reme.retrieve_memory(["green tea", "coffee"], user_name="alice")
        assert both[0].content == "green tea and coffee"
        assert "a bicycle" not in [each.content for each in both]
        one = await reme.retrieve_memory(["green tea", "coffee"], user_name="alice", similarity=[0, 1], limit=2)
        assert sorted(each.content for each in one) == ["black coffee", "green tea and coffee"]

    with_reme(tmp_path, body)


def test_metadata_may_be_given_as_a_dictionary(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        node = await reme.add_memory("x", user_name="alice", metadata={"source": "crm", "tag": 1}, lang="en")
        assert dict(node.metadata) == {"source": "crm", "tag": 1, "lang": "en"}
        node = await reme.update_memory(node.memory_id, metadata={"tag": 2})
        assert dict(node.metadata) == {"source": "crm", "tag": 2, "lang": "en"}
        assert await reme.list_memory(user_name="alice", filters={"metadata.source": "crm"}) == [node]
        inactive = await reme.add_memory("y", user_name="alice", is_active=False)
        assert not inactive.is_active

    with_reme(tmp_path, body)


def test_calls_may_say_when_they_were_made_in_any_notation(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        moment = datetime(2026, 3, 1, 8, tzinfo=timezone.utc)
        times = [moment, moment.isoformat(), moment.timestamp(), "2026-03-01T08:00:00Z"]
        for number, time in enumerate(times):
            [made] = await reme.record_tool_calls({"tool_name": "t", "input": {"n": number}, "create_time": time})
            assert made.create_time == moment
        [made] = await reme.record_tool_calls([{**made.to_dict(), "call_hash": made.call_hash}])
        assert len(await reme.tool_records.of("t")) == len(times)

    with_reme(tmp_path, body)


def test_several_memories_are_changed_with_one_request_for_vectors(tmp_path: Path) -> None:
    async def body(reme: ReMe) -> None:
        nodes = await reme.add_memories([f"item {number}" for number in range(30)], user_name="alice")
        await reme.add_memory("item 3", user_name="bob")
        model, before = reme.bank.embedder, HashEmbedding.__call__
        assert model is not None
        asked = []

        async def counting(self: HashEmbedding, texts: Any, **options: Any) -> Any:
            asked.append(len(texts))
            return await before(self, texts, **options)

        changes = {node.memory_id: {"memory_content": f"{node.content} is sold", "importance": 0.9} for node in nodes}
        changes |= {"0" * 16: {"importance": 1.0}, nodes[5].memory_id: {"tags": ["kept"]}}
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(HashEmbedding, "__call__", counting)
            changed = await reme.update_memories(changes)
        assert asked == [10, 10, 9], "each new text once, together"
        assert set(changed) == {node.memory_id for node in nodes} - {nodes[3].memory_id}
        assert changed[nodes[7].memory_id].content == "item 7 is sold"
        assert changed[nodes[5].memory_id].tags == ("kept",)
        left = {node.content for node in await reme.list_memory(user_name="alice")}
        assert left == {f"item {number} is sold" for number in range(30)} - {"item 3 is sold", "item 5 is sold"} | {
            "item 3",
            "item 5",
        }
        [mine] = (await reme.update_memories({nodes[3].memory_id: {"importance": 0.1}}, user_name="bob")).values()
        assert (mine.memory_target, mine.importance) == ("bob", 0.1)
        for wrong in ([nodes[0].memory_id], {nodes[0].memory_id: "new text"}):
            with pytest.raises(ConfigError, match="give a dictionary from ids"):
                await reme.update_memories(wrong)  # type: ignore[arg-type]

    with_reme(tmp_path, body)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"refiner": {}}, r"refiner is \{\}: give a RefinerConfig"),
        ({"refiner": True}, "refiner is True: give a RefinerConfig"),
        ({"refiner": RefinerConfig(memory_types=["personal", "nonsense"])}, "'nonsense': there are history, personal"),
        ({"schema": 3}, "schema is 3: give a TagSchema"),
    ],
)
def test_what_is_refined_is_checked_at_once(tmp_path: Path, given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        ReMe(tmp_path, embedding_model=None, **given)


def test_a_kind_of_ones_own_can_be_refined(tmp_path: Path) -> None:
    kinds = [PERSONAL, replace(PERSONAL, name="diary", argument="diary_name")]
    reme = ReMe(tmp_path, embedding_model=None, kinds=kinds, refiner=RefinerConfig(memory_types=["diary"]))
    assert reme.refiner.config.memory_types == ("diary",)
