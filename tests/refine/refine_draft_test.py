# -*- coding: utf-8 -*-
"""What a model made of a group of memories, read leniently."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.refine._draft import Draft, parse_draft, parse_numbers, parse_queries

WHOLE = Draft("a story", ("one", "two"), (("old", "new"),), ("tea",), ("test first",))
PARTS = {
    "narrative": "a story",
    "facts": ["one", "two"],
    "state_changes": [{"before": "old", "after": "new"}],
    "preferences": ["tea"],
    "lessons": ["test first"],
}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PARTS),
        "```json\n" + json.dumps(PARTS) + "\n```",
        '<think>{"facts": []}</think>Here it is: ' + json.dumps(PARTS),
        json.dumps([PARTS]),
        json.dumps({"result": PARTS}),
        json.dumps(
            {
                "core_narrative": "a story",
                "critical_facts": ["one", {"content": "two"}],
                "user_state_changes": {"before": "old", "after": "new"},
                "user_preferences_observed": ["- tea"],
                "actionable_insights": "test first",
            },
        ),
    ],
)
def test_ways_to_say_the_same(text: str) -> None:
    assert parse_draft(text) == WHOLE


def test_odd_shapes() -> None:
    assert parse_draft('["one", "two"]').facts == ("one", "two")
    assert parse_draft('{"facts": {"name": "Rex", "age": 3}}').facts == ("name: Rex", "age: 3")
    assert parse_draft('{"changes": ["moved"]}').changes == (("", "moved"),)
    assert parse_draft('{"facts": ["x", "x", "", null, true, "  y\\n z "]}').facts == ("x", "y z")


@pytest.mark.parametrize(
    "text", ["", "我是某某大语言模型，很高兴", "{}", '{"facts": []}', '{"other": "x"}', "<think>{}</think>"]
)
def test_nothing_is_no_draft(text: str) -> None:
    with pytest.raises(ModelReplyError):
        parse_draft(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*PARTS, "before", "after", "content", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused(value: object) -> None:
    try:
        draft = parse_draft(json.dumps(value))
    except ModelReplyError:
        return
    lines = draft.lines(lambda before, after: f"{before} -> {after}")
    assert lines
    assert len(lines) == len(set(lines))
    assert all(line.strip() and "\n" not in line for line in lines)


def test_numbers_and_queries() -> None:
    assert parse_numbers('{"drop": [3, "1", 3, 99, "x", null, 2.5]}', 5) == (3, 1)
    assert parse_numbers("[2, 1]", 5) == (2, 1)
    assert parse_numbers('{"drop": "none"}', 5) == ()
    assert parse_queries('{"queries": ["a", " a ", "b\\nc", 1]}', 9) == ("a", "b c", "1")
    with pytest.raises(ModelReplyError):
        parse_numbers("nothing", 5)
