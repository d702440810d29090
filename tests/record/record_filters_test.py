# -*- coding: utf-8 -*-
"""The filter grammar: what is read, what is refused, and which memories are meant."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from _memories import filters, memories
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import FIELDS, Condition, MemoryNode, flat_fields, matches, parse_filters

TEXTS = [name for name, kind in FIELDS.items() if kind == "text"]
LISTS = [name for name, kind in FIELDS.items() if kind == "texts"]
ORDERED = [name for name, kind in FIELDS.items() if kind in ("number", "time")]


def met(node: MemoryNode, **spec: Any) -> bool:
    return matches(node, parse_filters({name.replace("metadata_", "metadata."): value for name, value in spec.items()}))


@given(memories(), st.sampled_from(TEXTS), st.sampled_from(["alice", "fact", "tea", "personal/alice", "talk-1"]))
def test_texts(node: MemoryNode, field: str, other: str) -> None:
    own = getattr(node, field)
    assert met(node, **{field: other}) is (own == other)
    assert met(node, **{field: {"any_of": [other, "nobody"]}}) is (own == other)
    assert met(node, **{field: {"contains": other.upper()}}) is (other in own.lower())
    assert met(node, **{field: None}) is (own == "") is met(node, **{field: ""})
    if own:
        assert met(node, **{field: own})
        assert met(node, **{field: {"any_of": ["nobody", own]}})
        assert met(node, **{field: {"contains": own[1:].swapcase()}}) or own[1:].swapcase().lower() not in own.lower()


@given(memories(), st.sampled_from(LISTS), st.sampled_from(["a", "A", "计划", "0123"]))
def test_lists(node: MemoryNode, field: str, other: str) -> None:
    own = getattr(node, field)
    for spec in (other, {"contains": other}, {"any_of": [other, "zz"]}):
        assert met(node, **{field: spec}) is (other in own)
    assert met(node, **{field: None}) is (not own)


@given(memories(), memories(), memories(), st.sampled_from(ORDERED))
def test_numbers_and_times(node: MemoryNode, low: MemoryNode, high: MemoryNode, field: str) -> None:
    own, least, most = (getattr(each, field) for each in (node, low, high))
    if least is not None and most is not None:
        assert met(node, **{field: [least, most]}) is (own is not None and least <= own <= most)
        assert met(node, **{field: {"range": [None, most]}}) is (own is not None and own <= most)
        assert met(node, **{field: {"range": [least, None]}}) is (own is not None and least <= own)
        assert met(node, **{field: least}) is (own == least)
        assert met(node, **{field: {"any_of": [least, most]}}) is (own in (least, most))
    assert met(node, **{field: None}) is (own is None)
    assert met(node, **{field: [None, None]}) is (own is not None)


@given(memories(), filters(), filters())
def test_all_conditions_of_a_filter_hold(node: MemoryNode, one: dict, other: dict) -> None:
    both = parse_filters(one) + parse_filters(other)
    assert matches(node, both) is (matches(node, parse_filters(one)) and matches(node, parse_filters(other)))
    assert matches(node, ())


@given(memories())
def test_metadata_cannot_stand_for_a_field(node: MemoryNode) -> None:
    flat = flat_fields(node)
    assert flat["owner"] == node.owner
    assert {name for name in flat if name.startswith("metadata.")} <= {f"metadata.{key}" for key in node.metadata}


def test_metadata() -> None:
    node = MemoryNode(
        "x",
        metadata={
            "n": 3,
            "f": True,
            "lang": "zh",
            "list": ["a", "b"],
            "none": None,
            "deep": {"a": 1},
            "nan": float("nan"),
        },
    )
    assert met(node, metadata={"n": 3, "f": True, "lang": "zh", "list": "a"})
    assert met(node, metadata_n=3.0)
    assert not met(node, metadata_n=True)
    assert not met(node, metadata_f=1)
    assert met(node, metadata_n=[2, 4])
    assert not met(node, metadata_n=["2", "4"])
    assert not met(node, metadata_f=[0, 1])
    assert met(node, metadata_lang=["a", "zz"])
    assert met(node, metadata_lang={"contains": "Z"})
    assert met(node, metadata_list={"contains": "b"})
    assert not met(node, metadata_list={"contains": "B"})
    assert all(met(node, **{f"metadata_{name}": None}) for name in ("none", "deep", "nan", "absent"))
    assert not met(node, metadata_n=None)


def test_numbers_of_any_size_are_compared() -> None:
    node = MemoryNode("x", metadata={"n": 10**30, "m": -(10**400)})
    assert met(node, metadata_n=10**30)
    assert met(node, metadata_n=1e30)
    assert met(node, metadata_n=[10**29, 10**31])
    assert met(node, metadata_m=[None, -1])


def test_days() -> None:
    zone = ZoneInfo("Asia/Shanghai")
    node = MemoryNode("x", message_time=datetime(2026, 3, 1, 23, 59, 59, 999_999, tzinfo=zone))
    later = MemoryNode("x", message_time=datetime(2026, 3, 2, tzinfo=zone))

    def inside(spec: Any) -> tuple[bool, bool]:
        conditions = parse_filters({"message_time": spec}, zone)
        return matches(node, conditions), matches(later, conditions)

    assert inside("2026-03-01") == inside(date(2026, 3, 1)) == inside({"equal": "2026/03/01"}) == (True, False)
    assert inside(["2026-02-20", "2026-03-01"]) == inside([None, date(2026, 3, 1)]) == (True, False)
    assert inside(["2026-03-01", "2026-03-02"]) == (True, True)
    assert inside(["2026-03-02", None]) == inside("2026-03-02T00:00:00") == (False, True)
    assert inside(datetime(2026, 3, 1, 16, tzinfo=timezone.utc)) == inside("2026-03-01T16:00:00Z") == (False, True)
    assert inside([node.message_time, node.message_time + timedelta(microseconds=1)]) == (True, True)  # type: ignore
    assert inside(later.message_time.timestamp()) == (False, True)  # type: ignore[union-attr]


def test_the_names_that_callers_know() -> None:
    node = MemoryNode(
        "tea", memory_type="tool", memory_target="grep", time_created=datetime(2026, 3, 1, tzinfo=timezone.utc)
    )
    assert met(
        node, type="tool", target="grep", memory_content="tea", created=["2026-02-01", "2026-04-01"], accessed=None
    )


@pytest.mark.parametrize(
    ("wrong", "cure"),
    [
        ({"colour": "red"}, "metadata.<key>"),
        ({"metadata.": 1}, "metadata.<key>"),
        ({"tags": ["a", "b", "c"]}, "any_of"),
        ({"tags": ["a", "b"]}, "any_of"),
        ({"owner": ["a", "b"]}, "any_of"),
        ({"tags": {"a", "b"}}, "any_of"),
        ({"importance": {"above": 1}}, "range"),
        ({"importance": {}}, "operator"),
        ({"importance": "high"}, "number"),
        ({"importance": True}, "number"),
        ({"importance": {"range": 1}}, "[low, high]"),
        ({"importance": {"range": [1, 2, 3]}}, "[low, high]"),
        ({"importance": {"contains": "1"}}, "text"),
        ({"metadata.n": [1, "2"]}, "one kind"),
        ({"metadata.n": [True, 2]}, "one kind"),
        ({"metadata.n": {"equal": {"a": 1}}}, "plain value"),
        ({"metadata.n": {"any_of": "abc"}}, "list"),
        ({"is_active": 1}, "flag"),
        ({"is_active": [False, True]}, "any_of"),
        ({"content": {"contains": 5}}, "text"),
        ({"message_time": "yesterday"}, "2026-03-01"),
        ({"message_time": {"any_of": ["2026-03-01"]}}, "range"),
        ({"message_time": True}, "2026-03-01"),
        (["owner"], "dictionary"),
    ],
)
def test_what_could_be_meant_otherwise_is_refused_with_the_cure(wrong: Any, cure: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_filters(wrong)
    assert cure in str(error.value)


def test_nothing_is_no_filter() -> None:
    assert parse_filters(None) == parse_filters({}) == parse_filters({"metadata": {}}) == ()
    assert parse_filters({"owner": "a/b"}) == (Condition("owner", "equal", ("a/b",)),)
    assert not met(MemoryNode("x"), tags={"any_of": []})
