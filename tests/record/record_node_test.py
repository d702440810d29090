# -*- coding: utf-8 -*-
"""A memory is a value: what it is known by, how it goes to JSON and back, and what it refuses."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import fields, replace
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest
from _memories import memories
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import MemoryNode, ToolCallRecord, memory_id_of, node_key, owner_of

ANY_TEXT = st.text(st.characters(), min_size=1).filter(str.strip)  # lone surrogates too


def values_of(node: MemoryNode) -> dict[str, Any]:
    return {each.name: getattr(node, each.name) for each in fields(node) if each.name != "vector"}


@given(memories())
def test_json_gives_back_the_same_memory(node: MemoryNode) -> None:
    vector = np.ones(2, dtype=np.float32)
    back = MemoryNode.from_dict(json.loads(json.dumps(node.to_dict())), vector)
    assert values_of(back) == values_of(node)
    assert back.key == node.key
    assert back.vector is vector
    assert node.to_dict()["memory_id"] == back.memory_id


@given(memories())
def test_copies_and_pickles_are_the_same_memory(node: MemoryNode) -> None:
    for back in (copy.deepcopy(node), copy.copy(node), pickle.loads(pickle.dumps(node)), replace(node)):
        assert values_of(back) == values_of(node)
        with pytest.raises(TypeError):
            back.metadata["x"] = 1  # type: ignore[index]


@given(memories(), memories())
def test_type_target_and_content_are_what_a_memory_is_known_by(one: MemoryNode, other: MemoryNode) -> None:
    same = (one.memory_type, one.memory_target, one.content) == (other.memory_type, other.memory_target, other.content)
    assert (one == other) is (one.key == other.key) is same
    assert (one.owner == other.owner) is (
        (one.memory_type, one.memory_target) == (other.memory_type, other.memory_target)
    )
    assert (one.memory_id == other.memory_id) is (one.content == other.content)
    assert len({one, other}) == (1 if same else 2)
    assert one.key == node_key(one.memory_type, one.memory_target, one.content)


@given(ANY_TEXT, st.text(st.characters()), st.text(st.characters()))
def test_no_text_is_too_odd_for_a_memory(content: str, target: str, use: str) -> None:
    node = MemoryNode(content, memory_target=target, when_to_use=use)
    assert len(node.key) == 32
    assert len(node.memory_id) == 16
    assert node.memory_id == memory_id_of(content)
    assert node.owner == owner_of("personal", target)
    assert content in str(node)
    assert node.embedded_text.strip()
    assert content in node.searched_text
    back = MemoryNode.from_dict(json.loads(json.dumps(node.to_dict())))
    assert (back.content, back.memory_target, back.when_to_use) == (content, target, use)


def test_the_id_is_the_hash_of_the_content() -> None:
    node = MemoryNode("张三喜欢喝茶", memory_target="张三")
    assert MemoryNode("hello").memory_id == "2cf24dba5fb0a30e"  # sha256 of "hello"
    assert replace(node, when_to_use="when it is cold").key == node.key
    assert replace(node, when_to_use="when it is cold").embedded_text == "when it is cold"


def test_owners_do_not_run_into_one_another() -> None:
    pairs = [("a", "b/c"), ("a", "b"), ("a", ""), ("a", "/"), ("ab", ""), ("A", "b")]
    assert len({owner_of(*pair) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", ""),
        ("content", " \n"),
        ("content", None),
        ("memory_type", ""),
        ("memory_type", "a/b"),
        ("memory_type", None),
        ("memory_target", None),
        ("when_to_use", None),
        ("author", 5),
        ("importance", 1.1),
        ("importance", -0.1),
        ("importance", float("nan")),
        ("importance", "high"),
        ("importance", True),
        ("score", float("inf")),
        ("access_count", "1"),
        ("tags", "abc"),
        ("tags", [1]),
        ("tags", None),
        ("entities", 3),
        ("time_created", None),
        ("time_created", "2026-03-01"),
        ("message_time", 17.0),
    ],
)
def test_what_a_field_cannot_hold_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(ConfigError) as error:
        MemoryNode(**{"content": "x", field: value})
    assert field in str(error.value)
    assert repr(value) in str(error.value) or value is None


def test_wall_clock_times_are_this_machines() -> None:
    node = MemoryNode("x", message_time=datetime(2026, 3, 1, 9))
    assert node.message_time is not None
    assert node.message_time.tzinfo is not None
    assert node.message_time == datetime(2026, 3, 1, 9).astimezone()
    assert node.time_created.tzinfo is not None


def test_labels_are_distinct_and_keep_their_order() -> None:
    assert MemoryNode("x", tags=["b", "a", "b"]).tags == ("b", "a")  # type: ignore[arg-type]


def test_a_prompt_reads_when_where_and_what() -> None:
    node = MemoryNode("take the train", when_to_use=" at rush hour ", message_time=datetime(2026, 3, 1, 9))
    assert str(node) == "[2026-03-01 09:00] (at rush hour) take the train"
    assert str(MemoryNode("just this")) == "just this"


def test_fields_of_a_later_version_are_passed_over() -> None:
    values = {**MemoryNode("x").to_dict(), "colour": "red"}
    assert MemoryNode.from_dict(values).content == "x"


RECORDS = st.builds(
    ToolCallRecord,
    tool_name=st.sampled_from(["search", "搜索"]),
    input=st.dictionaries(st.sampled_from("ab"), st.integers(0, 2) | st.text(max_size=2), max_size=2)
    | st.text(max_size=3),
    output=st.text(max_size=5),
    success=st.booleans(),
    time_cost=st.floats(0, 10),
    token_cost=st.integers(0, 100),
    create_time=st.just(datetime(2026, 3, 1, tzinfo=timezone.utc)),
    score=st.none() | st.floats(0, 1),
    metadata=st.dictionaries(st.sampled_from("xy"), st.integers(), max_size=2),
)


@given(RECORDS, RECORDS)
def test_records_of_calls_go_to_json_and_back(one: ToolCallRecord, other: ToolCallRecord) -> None:
    assert ToolCallRecord.from_dict(json.loads(json.dumps(one.to_dict()))) == one
    assert copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    alike = (one.tool_name, one.input) == (other.tool_name, other.input)
    assert (one.call_hash == other.call_hash) is alike


@pytest.mark.parametrize(
    ("field", "value"),
    [("tool_name", ""), ("time_cost", -1), ("token_cost", -1), ("score", 1.5), ("score", -0.5)],
)
def test_records_refuse_what_cannot_be(field: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=field):
        ToolCallRecord(**{"tool_name": "search", field: value})
