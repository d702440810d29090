# -*- coding: utf-8 -*-
"""What a memory is worth, what kind it is, how it fades, expires, and answers to feedback."""

import math
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._category import CATEGORIES, category_of, is_small_talk, reason_to_drop
from agentscope_reme.refine._config import RefinerConfig
from agentscope_reme.refine._expiry import expiry_of, last_day_named, with_expiry
from agentscope_reme.refine._feedback import adjusted
from agentscope_reme.refine._forgetting import fate_of, is_protected, over_capacity, retention, strength_days
from agentscope_reme.refine._importance import Signals, judge_importance, read_signals

NOW = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)  # a Monday
CONFIG = RefinerConfig()
SIGNALS = st.builds(
    Signals,
    explicit=st.booleans(),
    safety=st.booleans(),
    wish=st.booleans(),
    times=st.integers(1, 20),
    commits=st.booleans(),
    emotion=st.booleans(),
    preference=st.booleans(),
)
SHARES = st.floats(0, 1)


# ---------------------------------------------------------------- importance


@given(SIGNALS, SHARES | st.none())
def test_the_rules_bound_a_model(signals: Signals, model: float | None) -> None:
    judged = judge_importance(signals, model)
    assert 0 <= judged.low <= judged.importance <= judged.high <= 1
    if signals.explicit or signals.safety:
        assert judged.importance >= 0.9
    elif signals.times >= 2 and not signals.wish:
        assert 0.7 <= judged.importance <= 0.8


@given(SIGNALS, SHARES | st.none(), st.sampled_from(["explicit", "safety", "wish", "commits", "emotion", "preference"]))
def test_a_further_sign_never_makes_it_less(signals: Signals, model: float | None, sign: str) -> None:
    more = replace(signals, **{sign: True})
    assert judge_importance(more, model).importance >= judge_importance(signals, model).importance
    often = replace(signals, times=signals.times + 1)
    assert judge_importance(often, model).importance >= judge_importance(signals, model).importance


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("我对花生过敏", 0.9, 1.0),
        ("I'm allergic to nuts", 0.9, 1.0),
        ("他每天要打胰岛素", 0.9, 1.0),
        ("She takes warfarin in the morning", 0.9, 1.0),
        ("我打算下周三去东京旅游", 0.6, 0.7),
        ("I'm going to visit Tokyo next week", 0.6, 0.7),
        ("决定采用方案B", 0.6, 0.7),
        ("We decided to go with plan B", 0.6, 0.7),
        ("千万不要告诉我老板", 0.8, 1.0),
        ("Never tell my boss about this", 0.8, 1.0),
        ("太难过了，我的狗去世了", 0.6, 0.8),
        ("你好呀", 0.0, 0.2),
        ("Thanks a lot!", 0.0, 0.2),
    ],
)
def test_what_texts_are_worth(text: str, low: float, high: float) -> None:
    assert low <= judge_importance(read_signals(text)).importance <= high


def test_nonsense_of_a_model_is_no_judgement() -> None:
    assert judge_importance(Signals(), math.nan) == judge_importance(Signals())
    assert judge_importance(Signals(), 1e9).importance == 0.6


# ---------------------------------------------------------------- category and small talk


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("我喜欢吃川菜", "preference"),
        ("I hate early meetings", "preference"),
        ("我打算下周三去东京旅游", "plan"),
        ("I'm going to visit Tokyo next week", "plan"),
        ("我昨天去了医院", "event"),
        ("昨天我计划了一下旅行", "event"),
        ("I went to the gym yesterday", "event"),
        ("我在甲公司任工程师", "fact"),
        ("我对花生过敏", "fact"),
        ("My dog is called Rex", "fact"),
        ("The API uses port 8443", "fact"),
    ],
)
def test_categories(text: str, category: str) -> None:
    assert category_of(text, NOW) == category


@given(st.text(max_size=200))
def test_any_text_has_a_category(text: str) -> None:
    assert category_of(text, NOW) in CATEGORIES


@pytest.mark.parametrize(
    "text", ["你好", "谢谢你的帮助！", "好的，没问题", "正要去吃饭", "Hi! How are you?", "Wow, that's awesome!", "brb"]
)
def test_small_talk_is_dropped(text: str) -> None:
    assert is_small_talk(text)
    assert reason_to_drop(text, now=NOW) == "small talk"


@pytest.mark.parametrize(
    "text", ["谢谢，我对花生过敏", "Hi, I'm allergic to nuts", "端口是8443", "Bob moved to Oslo", "我不吃了"]
)
def test_what_tells_something_is_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)
    assert reason_to_drop(text, now=NOW) == ""


def test_what_is_over_is_dropped_unless_it_is_a_matter_of_health() -> None:
    past = NOW - timedelta(days=1)
    assert reason_to_drop("周三去看电影", now=NOW, expires=past) == "outdated"
    assert reason_to_drop("周三去看电影", now=NOW, expires=NOW + timedelta(days=1)) == ""
    assert reason_to_drop("周三去查过敏原", now=NOW, expires=past) == ""


# ---------------------------------------------------------------- forgetting

NODES = st.builds(
    lambda importance, age, idle, count, useful: MemoryNode(
        "x",
        importance=importance,
        time_created=NOW - timedelta(days=age),
        last_accessed=None if idle is None else NOW - timedelta(days=idle),
        access_count=count,
        metadata={"useful": useful},
    ),
    SHARES,
    st.integers(-10, 2000),
    st.integers(-10, 2000) | st.none(),
    st.integers(0, 50),
    st.integers(0, 10),
)


@given(NODES, st.floats(0, 1000))
def test_retention_falls_with_time_and_slower_with_use(node: MemoryNode, days: float) -> None:
    now = retention(node, NOW, CONFIG)
    assert 0 <= now <= 1
    assert retention(node, NOW + timedelta(days=days), CONFIG) <= now
    useful = replace(node, metadata={"useful": node.metadata["useful"] + 1})
    assert retention(useful, NOW, CONFIG) >= now
    assert strength_days(useful, CONFIG) > strength_days(node, CONFIG)
    assert retention(replace(node, last_accessed=NOW), NOW, CONFIG) == 1


@given(NODES)
def test_only_what_is_worth_little_and_long_unused_is_let_go(node: MemoryNode) -> None:
    verdict = fate_of(node, NOW, CONFIG)
    idle = (NOW - max(filter(None, (node.last_accessed, node.time_created)))) / timedelta(days=1)
    assert verdict.fate in ("keep", "archive", "cold")
    if node.importance >= 0.2 or idle < CONFIG.unused_days or is_protected(node, CONFIG):
        assert verdict.fate == "keep"
    elif idle > strength_days(node, CONFIG):
        assert verdict.fate == ("cold" if node.importance < 0.1 else "archive")
        assert verdict.reason


def test_an_old_exact_match_is_never_hidden() -> None:
    """Field report J1: a decay of 3 % a day made a right memory of 242 days unreachable."""
    assert fate_of(MemoryNode("x", time_created=NOW - timedelta(days=2420)), NOW, CONFIG).fate == "keep"


def test_the_curve_is_the_documented_one() -> None:
    node = MemoryNode("x", importance=0.1, time_created=NOW - timedelta(days=60))
    assert retention(node, NOW, CONFIG) == pytest.approx(math.exp(-1))
    twice = replace(node, metadata={"useful": 1}, time_created=NOW - timedelta(days=120))
    assert retention(twice, NOW, CONFIG) == pytest.approx(math.exp(-1))


def test_capacity() -> None:
    small = RefinerConfig(capacity_memories=2, capacity_chars=10)
    assert not over_capacity([MemoryNode("a"), MemoryNode("b")], small)
    assert over_capacity([MemoryNode("a"), MemoryNode("b"), MemoryNode("c")], small)
    assert over_capacity([MemoryNode("a" * 11)], small)


# ---------------------------------------------------------------- expiry


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("下周三去东京", "2024-05-15"),
        ("周三开会", "2024-05-08"),
        ("meeting on Wednesday", "2024-05-08"),
        ("明天交报告", "2024-05-07"),
        ("3月去旅游", "2025-03-31"),
        ("We fly on June 3", "2024-06-03"),
        ("5月10日到5月12日在杭州", "2024-05-12"),
        ("学好英语", None),
    ],
)
def test_the_last_day_that_a_plan_names(text: str, day: str | None) -> None:
    found = last_day_named(text, NOW)
    assert (found.isoformat() if found else None) == day


def test_a_plan_dies_a_week_after_its_date() -> None:
    plan = MemoryNode("5月10日去看展览", category="plan", message_time=NOW, importance=0.65)
    expires = with_expiry(plan, CONFIG).expires_at
    assert expires is not None
    assert expires.astimezone(NOW.astimezone().tzinfo).date().isoformat() == "2024-05-17"
    assert fate_of(replace(plan, expires_at=expires), expires + timedelta(seconds=1), CONFIG).fate == "expire"
    assert fate_of(replace(plan, expires_at=expires), expires - timedelta(seconds=1), CONFIG).fate == "keep"


def test_what_does_not_expire() -> None:
    assert expiry_of(MemoryNode("5月10日是他的生日", category="fact", message_time=NOW), CONFIG) is None
    assert expiry_of(MemoryNode("学好英语", category="plan", message_time=NOW), CONFIG) is None
    asked = MemoryNode("5月10日复查胰岛素", category="plan", message_time=NOW, importance=0.95)
    assert with_expiry(asked, CONFIG).expires_at is None
    own = replace(asked, importance=0.5, expires_at=NOW)
    assert with_expiry(own, CONFIG).expires_at == NOW


def test_categories_of_ones_own_expire_after_their_own_time() -> None:
    config = RefinerConfig(undated_expiry_days={"mood": 1})
    expires = expiry_of(MemoryNode("心情不好", category="mood", message_time=NOW), config)
    assert expires is not None
    assert timedelta(hours=20) < expires - NOW < timedelta(days=2)


# ---------------------------------------------------------------- feedback


@given(SHARES, st.lists(st.sampled_from([1, -1]), max_size=60))
def test_verdicts_are_bounded(importance: float, verdicts: list[int]) -> None:
    node = MemoryNode("x", importance=importance)
    for verdict in verdicts:
        before = node.importance
        node = replace(node, **adjusted(node, verdict, CONFIG))
        assert (node.importance - before) * verdict >= -1e-6 or importance >= 0.9
    assert 0 <= node.importance <= 1
    assert abs(node.importance - importance) <= CONFIG.feedback_range + 1e-6
    if importance >= 0.9:
        assert node.importance >= 0.9


def test_a_good_and_a_bad_verdict() -> None:
    node = MemoryNode("x")
    better = replace(node, **adjusted(node, 1, CONFIG))
    assert better.importance == pytest.approx(0.55)
    assert better.metadata["useful"] == 1
    assert replace(node, **adjusted(node, -1, CONFIG)).importance < 0.5
    with pytest.raises(ConfigError, match="verdict"):
        adjusted(node, 2, CONFIG)


def test_praise_does_not_revive_what_was_corrected() -> None:
    """Field report I3: retelling a false fact raised its confidence."""
    assert adjusted(MemoryNode("x", is_active=False), 1, CONFIG) == {}


# ---------------------------------------------------------------- configuration


@pytest.mark.parametrize(
    "values",
    [
        {"target_ratio": 0},
        {"dedup_threshold": 1.2},
        {"capacity_memories": 0},
        {"group_tokens": 2.5},
        {"schedule_hours": 0},
        {"unused_days": math.nan},
        {"group_by": "moon"},
        {"conflict_policy": "fight"},
        {"cold_below": 0.3},
        {"strengthening": -1},
        {"feedback_step": 2},
        {"expiry_days": {"plan": -1}},
        {"memory_types": "personal"},
        {"memory_types": []},
        {"memory_types": 3},
        {"memory_types": [3]},
        {"memory_types": {"personal": 1}},
        {"memory_types": [""]},
        {"goal": 3},
        {"goal": None},
        {"after_session": "yes"},
        {"expiry_days": {3: 7}},
        {"expiry_days": 7},
        {"group_by": ["session"]},
        {"conflict_policy": None},
        {"max_input_length": 0},
        {"max_input_length": "8k"},
        {"trigger_rules": 3},
        {"trigger_rules": [3]},
        {"trigger_rules": ["sometimes"]},
        {"trigger_rules": "explicit"},
    ],
)
def test_a_value_that_cannot_work_is_named(values: dict) -> None:
    with pytest.raises(ConfigError, match=str(next(iter(values))).replace("trigger_rules", "trigger.rule")):
        RefinerConfig(**values)


def test_a_group_never_takes_more_than_its_share_of_the_window() -> None:
    assert CONFIG.group_limit == 4000
    assert RefinerConfig(max_input_length=2000).group_limit == 1400
