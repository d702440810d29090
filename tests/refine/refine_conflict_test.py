# -*- coding: utf-8 -*-
"""What becomes of a new memory beside old ones that are like it."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._comparison import compare, says_the_same
from agentscope_reme.refine._config import RefinerConfig
from agentscope_reme.refine._conflict import resolve

MONDAY = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)
CHANGES = [
    ("我喜欢川菜", "我不吃川菜了"),
    ("我爱吃川菜", "我不吃川菜了"),
    ("我每天抽烟", "我戒烟了"),
    ("用户喜欢蓝色", "用户现在最喜欢绿色"),
    ("我住在北京", "我搬到上海了"),
    ("项目的端口是8080", "项目的端口改为8443"),
    ("我今年30岁", "我31岁了"),
    ("我叫李雷", "我叫小雷"),
    ("我讨厌香菜", "我现在很喜欢香菜"),
    ("I like spicy food", "I can't eat spicy food anymore"),
    ("I love hiking", "I don't hike anymore"),
    ("I live in Berlin", "I moved to Paris last month"),
    ("My favorite color is blue", "my favorite color is now green"),
    ("The deadline is Friday", "the deadline was moved to Monday"),
    ("I use Python", "I no longer use Python"),
    ("I hate coffee", "I love coffee now"),
]
BESIDE = [
    ("在甲公司任工程师", "负责甲公司的代码库"),
    ("周末吃夜宵", "周游世界"),
    ("我喜欢川菜", "我也喜欢粤菜"),
    ("我喜欢苹果", "我不喜欢苹果手机"),
    ("我妹妹住在北京", "我搬到上海了"),
    ("我住在北京", "我住在北京海淀区"),
    ("我喜欢猫", "我不养猫"),
    ("昨天跑了5公里", "昨天跑了6公里"),
    ("我喜欢川菜", "我每天吃川菜"),
    ("Alice likes tea", "Bob doesn't like tea"),
    ("I have two dogs", "I have three cats"),
    ("I work at Acme as an engineer", "I maintain Acme's code base"),
    ("I like tea", "I don't like tea rooms in winter"),
]
UNRELATED = [
    *("我在甲公司任工程师", "我有两个孩子", "周末吃夜宵", "我的狗叫旺财", "会议室在三楼", "他把钥匙放在抽屉里"),
    *("The API uses port 8443", "My dog is called Rex", "She plays the violin", "We met in Rome", "I like long walks"),
]


def node(text: str, days: int = 0, **fields: object) -> MemoryNode:
    return MemoryNode(text, "personal", "alice", message_time=MONDAY + timedelta(days=days), **fields)


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_a_change_leaves_the_new_one(old: str, new: str) -> None:
    resolution = resolve(node(new, 1), [(node(old), None)], RefinerConfig())
    assert resolution.action == "supersede"
    assert resolution.node.content == new
    assert resolution.old is not None
    assert resolution.old.content == old
    assert resolution.node.importance > 0.5


@pytest.mark.parametrize(("old", "new"), BESIDE)
def test_what_does_not_exclude_each_other_stays(old: str, new: str) -> None:
    """Field reports J4 and J10: facts about one firm, or with a character in common, are not retired."""
    assert compare(old, new).relation == "beside"
    assert compare(new, old).relation == "beside"
    assert resolve(node(new, 1), [(node(old), 0.99)], RefinerConfig()).action == "add"


@given(st.sampled_from(UNRELATED), st.sampled_from(UNRELATED + [each for pair in CHANGES for each in pair]))
def test_unrelated_facts_are_never_retired(one: str, other: str) -> None:
    if one != other:
        assert resolve(node(other, 1), [(node(one), None)], RefinerConfig()).action == "add"
        assert resolve(node(one, 1), [(node(other), None)], RefinerConfig()).action == "add"


@given(st.sampled_from(CHANGES))
def test_another_owner_is_never_touched(pair: tuple[str, str]) -> None:
    stranger = replace(node(pair[0]), memory_target="bob")
    assert resolve(node(pair[1], 1), [(stranger, 1.0)], RefinerConfig()).action == "add"
    retired = replace(node(pair[0]), is_active=False)
    assert resolve(node(pair[1], 1), [(retired, 1.0)], RefinerConfig()).action == "add"


@given(st.sampled_from(CHANGES))
def test_policies(pair: tuple[str, str]) -> None:
    old, new = node(pair[0]), node(pair[1], 1)
    assert resolve(new, [(old, None)], RefinerConfig(conflict_policy="keep")).action == "add"
    merged = resolve(new, [(old, None)], RefinerConfig(conflict_policy="merge"))
    assert merged.action == "merge"
    assert "2024-05-07" in merged.node.content
    assert old.memory_id in merged.node.source_ids
    assert any(part in merged.node.content for part in (old.content, "从", " from "))


def test_a_merged_text_says_what_changed_from_what_to_what() -> None:
    config = RefinerConfig(conflict_policy="merge")
    value = resolve(node("项目的端口改为8443", 1), [(node("项目的端口是8080"), None)], config)
    assert value.node.content == "项目的端口从8080变为8443（2024-05-07起）"
    food = resolve(node("我不吃川菜了", 1), [(node("我喜欢川菜"), None)], config)
    assert food.node.content == "我不吃川菜了（2024-05-07起；此前：我喜欢川菜）"
    english = resolve(node("My favorite color is now green", 1), [(node("My favorite color is blue"), None)], config)
    assert english.node.content == "favorite color changed from blue to green (since 2024-05-07)"


def test_a_merged_memory_is_compared_by_what_is_true_now() -> None:
    config = RefinerConfig(conflict_policy="merge")
    first = resolve(node("我不吃川菜了", 1), [(node("我喜欢川菜"), None)], config).node
    assert resolve(node("我不吃川菜了", 2), [(first, None)], config).action == "known"
    again = resolve(node("我又喜欢川菜了", 3), [(first, None)], config)
    assert again.action == "merge"
    assert again.node.content == "我又喜欢川菜了（2024-05-09起；此前：我不吃川菜了）"


def test_nothing_else_of_the_old_memory_is_lost() -> None:
    resolution = resolve(node("我不吃川菜了", 1), [(node("喜欢川菜和粤菜，住在成都"), None)], RefinerConfig())
    assert resolution.action == "merge"
    assert "粤菜" in resolution.node.content
    assert "成都" in resolution.node.content


def test_an_older_statement_does_not_override_a_newer_one() -> None:
    resolution = resolve(node("我不吃川菜了", -1), [(node("我喜欢川菜"), None)], RefinerConfig())
    assert resolution.action == "known"
    assert resolution.node.content == "我喜欢川菜"


# ---------------------------------------------------------------- near copies


@given(st.sampled_from([each for pair in CHANGES + BESIDE for each in pair] + UNRELATED))
def test_adding_the_same_twice_is_one_memory(text: str) -> None:
    """Field report J11."""
    resolution = resolve(node(text, 1), [(node(text), 1.0)], RefinerConfig())
    assert resolution.action == "known"
    assert resolution.node.memory_id == node(text).memory_id
    assert resolution.node.importance >= 0.7  # it was said twice
    assert resolve(node(text + "。"), [(node(text), None)], RefinerConfig()).action == "known"


def test_the_same_words_on_another_day_are_another_event() -> None:
    ran = [(node("我昨天跑了5公里"), 1.0)]
    assert resolve(node("我昨天跑了5公里。", 1), ran, RefinerConfig()).action == "add"
    assert resolve(node("我昨天跑了5公里。"), ran, RefinerConfig()).action == "known"


def test_a_near_copy_that_says_more_is_an_update() -> None:
    old, new = node("我喜欢在周末去爬山锻炼身体"), node("我喜欢在周末去香山爬山锻炼身体", 1)
    assert resolve(new, [(old, 0.96)], RefinerConfig()).action == "update"
    assert resolve(new, [(old, 0.90)], RefinerConfig()).action == "add"
    kept = resolve(old, [(new, 0.96)], RefinerConfig())
    assert kept.action == "add" or kept.node.content == new.content


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("会议在下午3点的大会议室", "会议在下午4点的大会议室"),
        ("我喜欢在早上喝咖啡", "我不喜欢在早上喝咖啡"),
        ("The server runs on port 8080 in Berlin", "The server runs on port 8081 in Berlin"),
        ("Bob Smith likes green tea a lot", "Bob Jones likes green tea a lot"),
        ("See src/app/main.py for the entry point", "See src/app/test.py for the entry point"),
    ],
)
def test_other_claims_are_no_near_copy(one: str, other: str) -> None:
    assert not says_the_same(one, other, similarity=0.999)


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_texts_can_be_compared(one: str, other: str) -> None:
    assert compare(one, other).relation in ("same", "change", "beside")
    assert compare(one, one).relation == "same"
