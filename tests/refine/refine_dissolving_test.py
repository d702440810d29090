# -*- coding: utf-8 -*-
"""What becomes of condensed memories when some of their sources are forgotten: pure functions of memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._dissolving import forgotten_fields, remembered_fields, taken_apart
from agentscope_reme.refine._refined import Condensed, archived, is_refined, refined_node, source_keys
from agentscope_reme.refine._schema import TagSchema

NOON = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)


def world(number: int) -> tuple[MemoryNode, dict[str, MemoryNode]]:
    """A condensed memory and its sources behind it."""
    nodes = [MemoryNode(f"said {n}", message_time=NOON + timedelta(minutes=n), tags=("t",)) for n in range(number)]
    condensed = Condensed("all of it", ("said",), NOON, "extractive")
    refined = refined_node(condensed, nodes, now=NOON, schema=TagSchema(), label="x")
    return refined, {node.key: replace(node, **archived(node, refined.memory_id, NOON)) for node in nodes}


def changed(nodes: Mapping[str, MemoryNode], changes: Mapping[str, Mapping[str, Any]]) -> dict[str, MemoryNode]:
    return {key: replace(node, **changes.get(key, {})) for key, node in nodes.items()}


@given(st.integers(1, 6), st.sets(st.integers(0, 5)), st.booleans())
def test_no_word_of_what_is_forgotten_stays_and_nothing_else_goes(number: int, picked: set[int], whole: bool) -> None:
    refined, sources = world(number)
    keys = source_keys(refined)
    wanted = {keys[at] for at in picked if at < number} | ({refined.key} if whole else set())
    if not wanted:
        return
    changes = taken_apart([refined], sources, wanted, "asked", NOON)
    after = changed({refined.key: refined, **sources}, changes)
    assert not after[refined.key].is_active
    for key in keys:
        gone = whole or key in wanted
        assert after[key].is_active != gone
        assert ("forgotten" in after[key].metadata) is gone
        assert ("refined_into" in after[key].metadata) is gone


@given(st.booleans(), st.integers(0, 3))
def test_remembering_undoes_forgetting(active: bool, number: int) -> None:
    node = MemoryNode("x", is_active=active, metadata={"own": number}, importance=0.3)
    gone = replace(node, **forgotten_fields(node, "asked", NOON))
    assert not gone.is_active
    assert gone.metadata["forgotten"] == "asked"
    back = replace(gone, **remembered_fields(gone))
    assert back.to_dict() == replace(node, is_active=True).to_dict()


def test_a_refined_memory_says_where_it_comes_from() -> None:
    refined, sources = world(3)
    assert is_refined(refined)
    assert source_keys(refined) == list(sources)
    assert refined.source_ids == tuple(node.memory_id for node in sources.values())
    assert (refined.metadata["started"], refined.metadata["ended"]) == (
        NOON.timestamp(),
        (NOON + timedelta(minutes=2)).timestamp(),
    )
    assert refined.tags == ("t",)
    assert not any(node.is_active for node in sources.values())
    assert {node.metadata["refined_into"] for node in sources.values()} == {refined.memory_id}


def test_a_refined_memory_inherits() -> None:
    schema = TagSchema({"topic": []})
    plain = [
        schema.tagged(MemoryNode("a", importance=0.3, category="plan", expires_at=NOON), {"topic": "x"}),
        schema.tagged(MemoryNode("b", importance=0.7, category="plan", expires_at=NOON + timedelta(1)), {"topic": "y"}),
    ]
    condensed = Condensed("c", (), NOON, "m")
    node = refined_node(condensed, plain, now=NOON, schema=schema)
    assert (node.importance, node.category, node.expires_at) == (0.7, "plan", NOON + timedelta(1))
    assert schema.values_of(node) == {"topic": ("x", "y")}
    mixed = refined_node(condensed, [*plain, MemoryNode("d", category="fact")], now=NOON, schema=schema)
    assert (mixed.category, mixed.expires_at) == ("", None)
