# -*- coding: utf-8 -*-
"""Replies read leniently and checked strictly."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from _extraction_scenes import ALICE, BOOK, CODING, agent, tool_call, tool_result, user
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ModelReplyError
from agentscope_reme.vector_memory._checks import Checks
from agentscope_reme.vector_memory._proposal import Proposal, Refusal
from agentscope_reme.vector_memory._reply_items import first_text, items_of, numbers_in
from agentscope_reme.vector_memory._utterances import own_messages, utterances
from agentscope_reme.vector_memory.kinds import PERSONAL, PROCEDURAL

NOTHING = [each for name in BOOK.languages() for each in BOOK.list(name, "memory_agent.nothing_patterns")]
ONE = {"content": "alice has a dog"}
TALK = [
    user("I have a dog named Rex. How do I sort a list quickly?"),
    agent("Use quicksort with a median-of-three pivot and insertion sort for small parts.", "2026-09-15 10:40:00"),
    user("And I fly to Tokyo tomorrow.", "2026-09-15 10:45:00"),
]


def checks(talk: Any = TALK, kind: Any = PERSONAL, owner: Any = ALICE, **fields: Any) -> Checks:
    said = utterances(own_messages(talk), person=owner.target if kind.people_only else "")
    return Checks(kind, owner, tuple(said), **fields)


def taken(item: Any, **options: Any) -> Proposal:
    answer = checks(**options).proposal(item)
    assert isinstance(answer, Proposal), answer
    return answer


def refused(item: Any, **options: Any) -> str:
    answer = checks(**options).proposal(item)
    assert isinstance(answer, Refusal), answer
    return answer.reason


# ---------------------------------------------------------------------- the wrapping


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps({"memories": [ONE]}),
        json.dumps([ONE]),
        json.dumps(ONE),
        json.dumps({"memories": ONE}),
        json.dumps({"facts": [{"text": "alice has a dog"}]}),
        json.dumps(["alice has a dog"]),
        "Here you are:\n```json\n" + json.dumps({"memories": [ONE]}) + "\n```\nAnything else?",
        '<think>maybe {"memories": []} ?</think>\n' + json.dumps({"memories": [ONE]}),
        "{'memories': [{'content': 'alice has a dog'},]}",
        '{"memories": [{"content": "alice has a dog"}',
    ],
)
def test_l3_l4_l5_whatever_it_is_wrapped_in_is_read(reply: str) -> None:
    items, profile = items_of(reply, NOTHING)
    assert [first_text(item) for item in items] == ["alice has a dog"]
    assert profile == {}


def test_l2_a_fence_inside_a_string_stays() -> None:
    content = "运行 ```python\nx=1\n``` 即可"
    items, _ = items_of(json.dumps({"memories": [{"content": content}]}, ensure_ascii=False), NOTHING)
    assert first_text(items[0]) == content


@pytest.mark.parametrize("reply", ["", "   ", "<think>hm</think>", "I stored it.", "[[[", '{"answer": 42}', "true"])
def test_l1_l3_what_holds_no_memories_is_an_error(reply: str) -> None:
    with pytest.raises(ModelReplyError):
        items_of(reply, NOTHING)


@pytest.mark.parametrize(
    "reply",
    [
        '{"memories": []}',
        "[]",
        "{}",
        '{"memories": null}',
        "NOTHING TO REMEMBER",
        "没有需要记住的内容",
        "没有值得记录的信息。",
    ],
)
def test_that_there_is_nothing_is_an_answer(reply: str) -> None:
    assert items_of(reply, NOTHING) == ([], {})


@given(st.text(max_size=60) | st.from_regex(r"[\[{][^a]{0,30}[\]}]?", fullmatch=True))
def test_any_text_is_read_or_refused(reply: str) -> None:
    try:
        items, profile = items_of(reply, NOTHING)
    except ModelReplyError:
        return
    assert isinstance(items, list)
    assert isinstance(profile, dict)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [([1, "2", "#3"], [1, 2, 3]), ("1, 2", [1, 2]), (4, [4]), (None, []), (True, []), ({"a": 1}, []), ([[5]], [])],
)
def test_numbers_in_whatever_form(value: Any, numbers: list[int]) -> None:
    assert numbers_in(value) == numbers


# ---------------------------------------------------------------------- the items


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    *("content", "action", "id", "from", "category", "when_to_use", "entities", "importance", "message_time"),
    *("no_longer_true", "target", "user_name"),
]


@given(st.dictionaries(st.sampled_from(FIELDS), json_values) | json_values)
def test_no_item_breaks_anything(item: Any) -> None:
    for kind, owner in ((PERSONAL, ALICE), (PROCEDURAL, CODING)):
        answer = checks(kind=kind, owner=owner, shown=frozenset({"m1"})).proposal(item)
        if isinstance(answer, Proposal):
            node = answer.node(owner)
            assert node.content.strip()
            assert node.owner == owner.key
            assert node.category in ("", *kind.categories)
            assert answer.target in ("", "m1")
            assert (answer.action == "add") == (answer.target == "")


@given(json_values)
def test_no_profile_breaks_anything(profile: Any) -> None:
    kept, _ = checks().profile(profile)
    assert all(isinstance(key, str) and key and isinstance(value, str) and value for key, value in kept.items())


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({}, "no_content"),
        ({"content": "  "}, "no_content"),
        ({"content": None, "action": "add"}, "no_content"),
        ({"content": "x" * 5000}, "too_long"),
        ({**ONE, "action": "delete"}, "action"),
        ({**ONE, "action": "frobnicate", "id": "m1"}, "action"),
        ({**ONE, "action": "update", "id": "12"}, "id"),
        ({**ONE, "action": "supersede", "id": "m9"}, "id"),
        ({**ONE, "id": "m9"}, "id"),
        ({**ONE, "target": "bob"}, "target"),
        ({**ONE, "user_name": "bob"}, "target"),
        ({**ONE, "memory_target": "alice2"}, "target"),
    ],
)
def test_j8_what_cannot_be_is_refused(item: dict[str, Any], reason: str) -> None:
    assert refused(item, shown=frozenset({"m1"})) == reason


@pytest.mark.parametrize("action", [7, None, "", ["add"], {"add": 1}])
def test_j5_a_malformed_action_does_not_lose_the_fact(action: Any) -> None:
    assert taken({**ONE, "action": action, "id": None}).action == "add"


@pytest.mark.parametrize("action", ["NONE", "noop", "keep"])
def test_an_item_that_asks_for_nothing_is_nothing(action: str) -> None:
    assert checks().proposal({**ONE, "action": action}) is None


@pytest.mark.parametrize(
    ("action", "target", "expected"),
    [
        ("ADD", "", "add"),
        ("add", "m1", "add"),
        ("Update", "m1", "update"),
        ("", "m1", "update"),
        ("update", "", "add"),
        ("REPLACE", "m1", "supersede"),
    ],
)
def test_actions_in_other_words(action: str, target: str, expected: str) -> None:
    proposal = taken({**ONE, "event": action, "id": target}, shown=frozenset({"m1"}))
    assert (proposal.action, proposal.target) == (expected, "" if expected == "add" else "m1")


def test_the_instructions_are_no_memory() -> None:
    prompt = "Keep: facts about alice and about the people in the life of alice."
    assert refused({"content": "facts about alice and about the people"}, prompt=prompt) == "prompt"


# ---------------------------------------------------------------------- what is taken from the conversation


def test_the_time_is_that_of_the_message() -> None:
    at = datetime(2026, 9, 15, 10, 45).astimezone()
    assert taken({"content": "alice flies to Tokyo on 2026-09-16", "from": [3]}).message_time == at
    assert taken({"content": "alice flies to Tokyo on 2026-09-16"}).message_time == at
    assert taken({"content": "alice flies to Tokyo", "message_time": "1999-01-01"}).message_time == at
    first = datetime(2026, 9, 15, 10, 32).astimezone()
    assert taken({"content": "alice has a dog", "from": ["1", 99]}).message_time == first
    assert taken({"content": "alice has a dog", "message_time": "2026-09-15 10:32"}).message_time == first


def test_times_of_any_zone_are_understood() -> None:
    utc = datetime(2026, 9, 15, 10, 40).astimezone().astimezone(timezone.utc)
    assert taken({"content": "alice has a dog", "message_time": utc.isoformat()}).message_time == utc


def test_without_times_there_is_none() -> None:
    talk = [user("I have a dog.", "at noon")]
    item = {"content": "alice has a dog", "from": [1], "message_time": "2026-09-15"}
    assert taken(item, talk=talk).message_time is None


def test_the_author_is_who_said_it() -> None:
    talk = [user("我养了一只猫", name="甲"), user("我养了一只狗", name="乙"), agent("好的")]
    assert taken({"content": "乙养了一只狗", "from": [2]}, talk=talk).author == "乙"
    assert taken({"content": "alice has a dog", "from": [1]}).author == "alice"


def test_only_names_that_are_in_it_are_entities() -> None:
    item = {"content": "alice flies to Tokyo", "entities": ["Tokyo", "Kyoto", "alice", 5, ""], "from": [3]}
    assert taken(item).entities == ("Tokyo", "alice")


@pytest.mark.parametrize(
    ("given", "importance"), [(0.9, 0.9), (1, 1.0), (2, None), ("high", None), (True, None), (None, None)]
)
def test_importance_is_neutral_unless_given(given: Any, importance: float | None) -> None:
    proposal = taken({**ONE, "importance": given})
    assert proposal.importance == importance
    assert proposal.node(ALICE).importance == (0.5 if importance is None else importance)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("The user has a dog.", "alice has a dog."),
        ("The user's dog is named Rex", "alice's dog is named Rex"),
        ("用户养了一只狗", "alice养了一只狗"),
        ("这位用户的狗叫 Rex，用户很喜欢它", "alice的狗叫 Rex，alice很喜欢它"),
        ("alice designs the user interface and the user table", "alice designs the user interface and the user table"),
        ("alice 负责用户界面和用户登录", "alice 负责用户界面和用户登录"),
    ],
)
def test_the_real_name_takes_the_place_of_the_user(said: str, stored: str) -> None:
    assert taken({"content": said}).content == stored


def test_half_characters_are_replaced() -> None:
    assert taken({"content": "alice has a dog \ud83d"}).content == "alice has a dog ?"


# ---------------------------------------------------------------------- procedures


FIXING = [
    user("The build fails with a missing header."),
    tool_call("shell", cmd="apt install libfoo-dev"),
    tool_result("done", "shell"),
    agent("Installing libfoo-dev fixed the missing header."),
]


def test_a_procedure_may_come_from_the_agent_and_says_when_it_is_of_use() -> None:
    item = {"content": "Install libfoo-dev if foo.h is missing.", "from": [4], "when_to_use": "a build lacks a header"}
    proposal = taken(item, talk=FIXING, kind=PROCEDURAL, owner=CODING)
    assert proposal.when_to_use == "a build lacks a header"
    assert proposal.node(CODING).embedded_text == "a build lacks a header"


@pytest.mark.parametrize("given", ["", None, "  ", 5])
def test_a_procedure_is_never_without_a_situation(given: Any) -> None:
    item = {"content": "Install libfoo-dev when foo.h is missing.", "when_to_use": given}
    proposal = taken(item, talk=FIXING, kind=PROCEDURAL, owner=CODING, situation="doing coding")
    assert proposal.when_to_use == "doing coding"


def test_a_person_has_no_situation() -> None:
    assert taken({**ONE, "when_to_use": "always"}).when_to_use == ""
