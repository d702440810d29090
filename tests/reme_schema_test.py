# -*- coding: utf-8 -*-
"""What is added by hand: literally or settled, and within the schema where one was declared."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme import ConfigError, ReMe
from agentscope_reme.refine import RefinerConfig, TagSchema

SCHEMA = {"type": ["fact", "hobby"], "topic": ["food", "工作"], "people": []}
VALUES = st.lists(st.sampled_from(["food", "FOOD", "工作"]), max_size=3)


def reme_in(folder: Path, **options: Any) -> ReMe:
    return ReMe(folder, model=None, embedding_model=None, **options)


def run(main: Any) -> Any:
    return asyncio.run(main)


@pytest.mark.parametrize("policy", ["supersede", "merge", "keep"])
def test_what_is_added_by_hand_stays_beside_unless_it_is_settled(tmp_path: Path, policy: Any) -> None:
    async def main() -> None:
        async with reme_in(tmp_path, refiner=RefinerConfig(conflict_policy=policy)) as reme:
            for name, settle in (("a", False), ("b", True)):
                await reme.add_memory("我爱吃川菜", user_name=name)
                await reme.add_memory("我不吃川菜了", user_name=name, settle=settle)
            assert len(await reme.list_memory("a")) == 2
            active = await reme.list_memory("b")
            assert len(active) == (2 if policy == "keep" else 1)
            if policy != "keep":
                assert active[0].importance > 0.5
                assert "不吃川菜" in active[0].content
            assert len(await reme.list_memory("b", include_inactive=True)) == 2

    run(main())


# ---------------------------------------------------------------- the schema


@pytest.mark.parametrize("given", [{"category": "nonsense"}, {"tags": ["topic:zzz"]}, {"topic": "zzz"}, {"topic": 5}])
def test_what_the_schema_does_not_have_is_refused_by_name_and_changes_nothing(tmp_path: Path, given: Any) -> None:
    async def main() -> None:
        async with reme_in(tmp_path, schema=SCHEMA) as reme:
            node = await reme.add_memory("I cook", user_name="u", category="hobby", tags=["topic:food"])
            refused = r"cannot be ('nonsense'|'zzz'|5): it is one of '(fact', 'hobby|food', '工作)'"
            with pytest.raises(ConfigError, match=refused):
                await reme.add_memory("I bake", user_name="u", **given)
            with pytest.raises(ConfigError, match=refused):
                await reme.add_memories(["I bake", "I fry"], user_name="u", **given)
            with pytest.raises(ConfigError, match=refused):
                await reme.update_memory(node.memory_id, **given)
            assert await reme.list_memory("u") == [await reme.get_memory(node.memory_id)]
            assert (await reme.get_memory(node.memory_id)).tags == ("topic:food",)

    run(main())


@given(VALUES, VALUES, st.booleans(), st.booleans())
def test_tags_and_values_by_name_are_one_thing_and_filterable(
    before: list[str], later: list[str], by_tag: bool, then_by_tag: bool
) -> None:
    schema = TagSchema.of(SCHEMA)

    def as_given(values: list[str], tagged: bool) -> dict[str, Any]:
        return {"tags": ["free", *(f"topic:{each}" for each in values)]} if tagged else {"topic": values}

    async def main() -> None:
        with TemporaryDirectory() as folder:
            async with reme_in(Path(folder), schema=schema) as reme:
                node = await reme.add_memory("I cook", user_name="u", tags=["people:Bob"])
                for values, tagged in ((before, by_tag), (later, then_by_tag)):
                    node = await reme.update_memory(node.memory_id, **as_given(values, tagged))
                    wanted = {each.lower() for each in values}
                    assert set(schema.values_of(node).get("topic", ())) == wanted
                    assert set(node.metadata.get("topic", ())) == wanted
                    assert ("free" in node.tags) or not tagged
                    for value in ("food", "工作"):
                        found = await reme.list_memory("u", filters={"metadata.topic": {"any_of": [value]}})
                        assert bool(found) == (value in wanted)

    run(main())


def test_other_fields_of_what_was_stored_before_the_schema_can_be_changed(tmp_path: Path) -> None:
    async def main() -> None:
        async with reme_in(tmp_path) as reme:
            node = await reme.add_memory("I cook", user_name="u", category="old", tags=["topic:old", "free"])
            assert (node.category, node.tags) == ("old", ("topic:old", "free")), "none was declared"
        async with reme_in(tmp_path, schema=SCHEMA) as reme:
            changed = await reme.update_memory(node.memory_id, importance=0.7, note="kept")
            assert (changed.category, changed.tags, changed.importance) == ("old", ("topic:old", "free"), 0.7)
            assert await reme.add_memory("cook slowly", task_name="t", category="practice")

    run(main())


def test_a_mapping_is_a_schema_everywhere(tmp_path: Path) -> None:
    async def main() -> None:
        async with reme_in(tmp_path, schema=SCHEMA, refiner=RefinerConfig(trigger_rules=["explicit"])) as reme:
            said = [{"role": "user", "content": "记住，我的工作在上海"}]
            (stored,) = await reme.add_interaction(said, user_name="u")
            assert stored.tags == ("topic:工作",)
            assert (await reme.recall("工作", user_name="u")).nodes

    run(main())


@pytest.mark.parametrize("schema", [5, "topic", ["topic"], {"topic": "food"}, {"topic": 5}, {"type": "fact"}, {1: []}])
def test_what_is_no_schema_is_refused_where_it_is_given(tmp_path: Path, schema: Any) -> None:
    with pytest.raises(ConfigError, match="give a"):
        reme_in(tmp_path, schema=schema)
