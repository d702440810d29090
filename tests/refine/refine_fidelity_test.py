# -*- coding: utf-8 -*-
"""Whether a refined text says only what its sources say."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._config import RefinerConfig
from agentscope_reme.refine._fidelity import CHECKED_CLASSES, check_fidelity, missing_statements, must_keep, repaired
from agentscope_reme.refine._grounds import Grounds, Source, sources_of
from agentscope_reme.refine._polarity import polarity_of
from agentscope_reme.text import split_sentences

NOON = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)  # a Monday
SOURCES = [
    Source("昨天我和李雷去了上海，花了一千二百元。我不吃辣，但喜欢川菜的氛围。", NOON, ("小明",)),
    Source("下周三下午3点开会，代码在 src/app/main.py，端口8443。", NOON),
    Source(
        "I moved from Berlin to Paris with Caroline last month. I don't drink coffee anymore. "
        "My budget is 1,200 dollars.",
        NOON,
        ("Bob",),
    ),
]
GROUNDS = Grounds(SOURCES)


def kinds(text: str, time: datetime | None = NOON) -> list[str]:
    return [fault.kind for fault in check_fidelity(text, GROUNDS, time)]


@pytest.mark.parametrize(
    "text",
    [
        "2024年5月5日，小明和李雷去上海，花了1200元。",
        "小明不吃辣。",
        "用户不吃辣",
        "5月15日15:00开会",
        "2024年5月去了上海",
        "2024-05 去了上海",
        "2024-05-05：小明去了上海",
        "代码：src/app/main.py，端口 8443",
        "小明花了1,200元",
        "小明喜欢川菜的氛围",
        "昨天去了上海",
        "Bob moved to Paris in April 2024 with Caroline.",
        "Bob doesn't drink coffee.",
        "- Bob no longer drinks coffee.",
        "1. Bob's budget is 1200 dollars.",
        "Meeting at 3 pm.",
        "The user moved from Berlin.",
        "Prefers Paris",
    ],
)
def test_what_the_sources_bear_out(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("2024年5月4日去上海", "date"),
        ("前天去了上海", "date"),
        ("昨天去了上海", "date"),
        ("2023年去了上海", "date"),
        ("Bob moved in March 2024", "date"),
        ("小明和韩梅梅去上海", "name"),
        ("Bob moved to Rome.", "name"),
        ("Bob likes Alice.", "name"),
        ("Rob likes tea", "name"),
        ("花了1300元", "number"),
        ("他去了三次", "number"),
        ("Bob has three cats", "number"),
        ("16:00开会", "time"),
        ("Meeting at 3 am", "time"),
        ("代码在 src/app/app.py", "identifier"),
        ("See issue BUG-77", "identifier"),
        ("小明吃辣", "negation"),
        ("Bob drinks coffee.", "negation"),
        ("小明不喜欢川菜的氛围", "negation"),
        ("Bob did not move to Paris", "negation"),
    ],
)
def test_what_they_do_not(text: str, kind: str) -> None:
    time = NOON + timedelta(days=3) if text == "昨天去了上海" else NOON
    assert kinds(text, time) == [kind]
    assert kind in CHECKED_CLASSES


def test_a_day_line_sets_what_yesterday_counts_from() -> None:
    later = NOON + timedelta(days=30)
    assert kinds("昨天去了上海", later) == ["date"]
    assert kinds("2024-05-06\n昨天去了上海", later) == []


PIECES = st.sampled_from(
    [
        "我昨天花了三百二十元买书。",
        "他不喜欢早起，但每天6:30起床。",
        "上周三我在北京大学见了王老师。",
        "6月上旬去了三亚，住了两个晚上。",
        "项目的分支是 feature/login-2，版本 v1.4.2。",
        "没问题，我会准备好的！",
        "她不得不放弃跳舞。",
        "Last Friday I met Alice Smith at 5 pm.",
        "We don't eat meat; nothing but rice.",
        "In 2022 she ran twenty-five miles.",
        "See https://a.example/x?y=1 (not http) and `make test`.",
        "My 3 kids can't wait to see Grandma.",
        "I quit smoking two years ago!",
        "It costs $1,299.50, not 1300.",
        "全角：１２３，ＡＢＣ。",
    ],
)
TEXTS = st.lists(PIECES, min_size=1, max_size=4).map(" ".join)
TIMES = st.datetimes(datetime(2015, 1, 1), datetime(2030, 1, 1)).map(lambda time: time.replace(tzinfo=timezone.utc))


@given(st.lists(st.tuples(TEXTS, TIMES), min_size=1, max_size=4), st.integers(0, 10))
def test_every_sentence_of_a_source_is_faithful_to_it(said: list[tuple[str, datetime]], pick: int) -> None:
    text, time = said[pick % len(said)]
    grounds = Grounds([Source(*each) for each in said])
    for sentence in split_sentences(text):
        assert check_fidelity(sentence, grounds, time) == []


@given(st.text(max_size=200), TIMES)
def test_any_text_is_faithful_to_itself(text: str, time: datetime) -> None:
    grounds = Grounds([Source(text, time)])
    assert check_fidelity(text, grounds, time) == []


@given(TEXTS, st.integers(1001, 999_999), TIMES)
def test_an_invented_number_is_found(text: str, number: int, time: datetime) -> None:
    digits = str(number)
    if digits not in text:
        faults = check_fidelity(f"花了{digits}元", Grounds([Source(text, time)]), time)
        assert [fault.text for fault in faults if fault.kind in ("number", "date")] == [digits]


@given(TEXTS, TIMES)
def test_turning_a_denial_round_is_found(text: str, time: datetime) -> None:
    grounds = Grounds([Source(text + " 我不吃香菜。", time)])
    assert [fault.kind for fault in check_fidelity("吃香菜", grounds, time)] == ["negation"]
    assert check_fidelity("不吃香菜", grounds, time) == []


@pytest.mark.parametrize(
    ("clause", "negated"),
    [
        ("不吃辣", True),
        ("没去过", True),
        ("戒烟了", True),
        ("I never smoke", True),
        ("she quit", True),
        ("no longer here", True),
        ("味道不错", False),
        ("不得不去", False),
        ("你会不会来", False),
        ("别人都去", False),
        ("特别好", False),
        ("没问题", False),
        ("not only good", False),
        ("I can't wait", False),
        ("I know", False),
    ],
)
def test_negation(clause: str, negated: bool) -> None:
    assert (polarity_of(clause) == "no") is negated


# ---------------------------------------------------------------- what must be kept, and repair


def test_what_must_be_kept() -> None:
    config = RefinerConfig()
    assert must_keep(MemoryNode("端口是8443", importance=0.95), config) == ["端口是8443"]
    told = MemoryNode("今天很累。我对青霉素过敏。千万不要告诉我妈妈。天气不错。")
    assert must_keep(told, config) == ["我对青霉素过敏。", "千万不要告诉我妈妈。"]
    assert must_keep(MemoryNode("Nice day. I'm allergic to nuts."), config) == ["I'm allergic to nuts."]
    assert must_keep(MemoryNode("今天天气不错。"), config) == []


def test_repair_drops_what_is_not_borne_out_and_adds_what_is_missing() -> None:
    lines = ["2024-05-05：小明和李雷去了上海", "花了9999元", "小明吃辣", ""]
    kept, faults = repaired(lines, GROUNDS, NOON, ["我不吃辣，但喜欢川菜的氛围。"])
    assert kept == ["2024-05-05：小明和李雷去了上海", "我不吃辣，但喜欢川菜的氛围。"]
    assert [fault.kind for fault in faults] == ["number", "negation"]
    assert "9999" in str(faults[0])


@given(st.lists(PIECES, min_size=1, max_size=5), st.lists(PIECES, max_size=3), TIMES)
def test_what_is_repaired_is_faithful_and_complete(lines: list[str], keep: list[str], time: datetime) -> None:
    grounds = Grounds([Source(" ".join(keep + lines[:1]), time)])
    kept, _ = repaired(lines, grounds, time, keep)
    assert check_fidelity("\n".join(kept), grounds, time) == []
    assert missing_statements("\n".join(kept), keep) == []


def test_white_space_does_not_make_a_statement_missing() -> None:
    assert missing_statements("a  b\nc", ["a b", "b c", "d"]) == ["d"]


def test_memories_are_sources_with_their_people() -> None:
    node = MemoryNode("likes tea", memory_target="bob", author="alice", message_time=NOON, when_to_use="at 5 pm")
    (source,) = sources_of([node])
    assert source == Source("likes tea\nat 5 pm", NOON, ("alice", "bob"))
    assert check_fidelity("Bob likes tea at 17:00", Grounds([source]), NOON) == []
