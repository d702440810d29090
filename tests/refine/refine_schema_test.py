# -*- coding: utf-8 -*-
"""Tags in dimensions, and what texts speak of by name, number and time."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import MemoryNode, matches, parse_filters
from agentscope_reme.refine._entities import entities_of, people_in
from agentscope_reme.refine._identifiers import identifiers_in
from agentscope_reme.refine._numbers import clock_mentions, number_mentions
from agentscope_reme.refine._schema import TagSchema

STUDY = TagSchema.of(
    {
        "type": ["fact", "preference", "progress", "weak_point"],
        "topic": ["python_basic", "data_structure", "algorithm"],
        "difficulty": ["easy", "medium", "hard"],
        "people": [],
    },
)
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "topic": st.lists(st.sampled_from(STUDY.dimensions["topic"]), max_size=3),
        "difficulty": st.sampled_from(STUDY.dimensions["difficulty"]),
        "people": st.lists(st.sampled_from(["李雷", "Bob", "a:b"]), max_size=2),
    },
)


# ---------------------------------------------------------------- schema


def test_the_schema_of_the_study_buddy() -> None:
    assert STUDY.categories == ("fact", "preference", "progress", "weak_point")
    assert set(STUDY.dimensions) == {"topic", "difficulty", "people"}
    assert STUDY.category("Weak_Point") == "weak_point"
    assert STUDY.category("mood") == ""


@given(VALUES, VALUES)
def test_what_is_put_on_is_read_back_and_found(values: dict, later: dict) -> None:
    node = STUDY.tagged(MemoryNode("x", tags=("free", "other:thing")), values)
    assert STUDY.values_of(node) == STUDY.checked(values)
    assert {"free", "other:thing"} <= set(node.tags)
    assert matches(node, parse_filters(STUDY.filters(values)))
    expected = {**STUDY.checked(values), **dict.fromkeys(later, ()), **STUDY.checked(later)}
    assert STUDY.values_of(STUDY.tagged(node, later)) == {name: listed for name, listed in expected.items() if listed}


def test_two_dimensions_are_filtered_together() -> None:
    hard = STUDY.tagged(MemoryNode("a"), {"topic": "algorithm", "difficulty": "hard"})
    easy = STUDY.tagged(MemoryNode("b"), {"topic": "algorithm", "difficulty": "easy"})
    conditions = parse_filters(STUDY.filters({"topic": "algorithm", "difficulty": ["hard", "medium"]}))
    assert matches(hard, conditions)
    assert not matches(easy, conditions)


def test_what_is_not_allowed_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"'topic' cannot be 'cooking': it is one of 'python_basic'"):
        STUDY.checked({"topic": "cooking"})
    with pytest.raises(ConfigError, match=r"no dimension 'mood': there are 'topic'"):
        STUDY.checked({"mood": "bad"})
    valid, faults = STUDY.cleaned({"topic": ["Algorithm", "cooking"], "mood": "x", "difficulty": None})
    assert valid == {"topic": ("algorithm",)}
    assert len(faults) == 2


@pytest.mark.parametrize("dimensions", [{"useful": []}, {"a b": []}, {"": []}, {"topic": "x"}, {"topic": [1]}])
def test_a_schema_that_cannot_be_is_refused(dimensions: dict) -> None:
    with pytest.raises(ConfigError):
        TagSchema(dimensions)


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        (None, "The schema is None: give lists of values by name"),
        (["topic"], r"The schema is \['topic'\]"),
        ({"x": 3}, "The values of 'x' are 3: give a list of texts"),
        ({"x": None}, "The values of 'x' are None"),
        ({"x": "easy"}, "The values of 'x' are 'easy'"),
        ({"x": {"easy": 1}}, "The values of 'x' are"),
        ({"x": [" "]}, "The values of 'x' are"),
        ({3: []}, "The dimension 3 cannot be"),
        ({"type": "fact"}, "categories is 'fact': give a list of names"),
        ({"type": 3}, "categories is 3"),
        ({"类型": ["fact", 4]}, "categories is"),
    ],
)
def test_a_schema_that_cannot_work_is_named(declared: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        TagSchema.of(declared)


def test_dimensions_are_a_mapping() -> None:
    with pytest.raises(ConfigError, match="dimensions is 3"):
        TagSchema(3)  # type: ignore[arg-type]


def test_values_that_a_text_names() -> None:
    assert STUDY.guessed("He finds data structures hard") == {
        "topic": ("data_structure",),
        "difficulty": ("hard",),
    }
    assert STUDY.guessed("我的同事李雷")["people"] == ("李雷",)
    assert STUDY.guessed("nothing here") == {}


def test_memories_merge_their_tags() -> None:
    nodes = [
        STUDY.tagged(MemoryNode("a"), {"topic": "algorithm"}),
        STUDY.tagged(MemoryNode("b"), {"topic": "python_basic"}),
    ]
    assert STUDY.merged([*nodes, nodes[0]]) == {"topic": ("algorithm", "python_basic")}


# ---------------------------------------------------------------- entities


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我叫李雷，和韩梅梅是同事", ("李雷", "韩梅梅")),
        ("王老师推荐了《活着》", ("王老师", "活着")),
        ("我在甲公司任工程师", ("甲公司",)),
        ("负责甲公司的代码库", ("甲公司",)),
        ("我的女儿王小雨在北京大学读书", ("王小雨", "北京大学", "北京")),
        ("周末去爬山，高兴极了", ()),
        ("查一下员工丁宁的考勤", ()),
        ("Then he met Alice Smith in New York.", ("Alice Smith", "New York")),
        ("I went to Paris with Caroline's brother on Monday", ("Paris", "Caroline")),
        ("Prefers dark mode", ()),
        ("端口8443，编号INV-2093，见 src/app/main.py", ("INV-2093", "src/app/main.py")),
        ("He said “Project Aurora” is over #launch", ("Project Aurora", "launch")),
    ],
)
def test_entities(text: str, found: tuple[str, ...]) -> None:
    assert entities_of(text) == found


def test_people() -> None:
    assert people_in("我叫李雷，在甲公司认识了张总") == ("李雷", "张总")


@given(st.text(max_size=300))
def test_entities_are_parts_of_the_text(text: str) -> None:
    for entity in entities_of(text):
        assert " ".join(entity.split()) in " ".join(text.split()) or entity in text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("见 src/app/main.py:42 和 https://a.b/c?d=1。", ["src/app/main.py:42", "https://a.b/c?d=1"]),
        ("版本v2.1.3，编号INV-2093", ["v2.1.3", "INV-2093"]),
        ("call parse_http() or getUser", ["parse_http", "getUser"]),
        ("mail bob@x.com now.", ["bob@x.com"]),
        ("`rm -rf /` is bad", ["rm -rf /"]),
        ("GPT-4o and Qwen3-8B", ["GPT-4o", "Qwen3-8B"]),
        ("5kg at 10am, and/or 24/7, 3.5 or 2024-05-06, the 1st", []),
        ("U.S. and Ph.D. e.g. this", []),
    ],
)
def test_identifiers(text: str, found: list[str]) -> None:
    assert [each for each, _, _ in identifiers_in(text)] == found


# ---------------------------------------------------------------- numbers and times


@given(st.integers(0, 10**12))
def test_one_number_has_one_value(number: int) -> None:
    assert [each.readings for each in number_mentions(f"a {number:,} b")] == [{Decimal(number)}]
    assert [each.readings for each in number_mentions(f"共{number}")] == [{Decimal(number)}]


def han(number: int) -> str:
    """A number below ten thousand as it is written in Chinese."""
    digits, text, skipped = "零一二三四五六七八九", "", False
    for size, unit in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // size % 10
        if digit:
            text += ("零" if skipped and text else "") + digits[digit] + unit
            skipped = False
        else:
            skipped = True
    return text.removeprefix("一") if 10 <= number < 20 else text


@given(st.integers(11, 9999))
def test_chinese_numbers(number: int) -> None:
    mention = next(each for each in number_mentions(f"买了{han(number)}个") if each.sure)
    assert mention.readings == {Decimal(number)}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("一千二百块", 1200),
        ("三万五", 35000),
        ("1.2万", 12000),
        ("2 million", 2_000_000),
        ("twenty-five people", 25),
        ("one hundred and twenty", 120),
        ("第三次", 3),
        ("两杯咖啡", 2),
        ("-5度", -5),
        ("百分之八十五", 85),
    ],
)
def test_ways_to_write_a_number(text: str, value: int) -> None:
    assert [each.readings for each in number_mentions(text) if each.sure] == [{Decimal(value)}]


@pytest.mark.parametrize(
    "text", ["三明治十分好吃", "十几个", "one of them", "万一下雨", "一起走", "再三考虑", "v1.5.2"]
)
def test_what_is_no_number(text: str) -> None:
    assert not [each for each in number_mentions(text) if each.sure]


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("下午3点", {900}),
        ("15:00", {900}),
        ("3pm", {900}),
        ("3:30 p.m.", {930}),
        ("晚上八点半", {1230}),
        ("3点15分", {195, 915}),
        ("half past three", {210, 930}),
        ("quarter to nine", {525, 1245}),
        ("凌晨两点", {120}),
    ],
)
def test_times_of_day(text: str, minutes: set[int]) -> None:
    assert [set(map(int, each.readings)) for each in clock_mentions(text) if each.sure] == [minutes]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for mention in [*number_mentions(text), *clock_mentions(text)]:
        assert text[mention.start : mention.end] == mention.text
        assert mention.readings
