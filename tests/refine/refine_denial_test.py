# -*- coding: utf-8 -*-
"""Denials in every form, times and versions: what turns them round is found, what only says them otherwise is not."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.refine import Grounds, Source, check_fidelity, says_the_same
from agentscope_reme.refine._polarity import polarity_of

NOON = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)


def kinds(source: str, refined: str) -> list[str]:
    return [fault.kind for fault in check_fidelity(refined, Grounds([Source(source, NOON)]), NOON)]


@pytest.mark.parametrize(
    ("source", "refined"),
    [
        ("We decided against renting a car", "They decided to rent a car"),
        ("I rarely eat meat", "I eat meat"),
        ("I rarely eat meat", "I don't eat meat"),
        ("I hardly ever eat meat", "I eat meat"),
        ("She seldom drinks wine", "She drinks wine"),
        ("I barely slept", "I slept"),
        ("The picnic was called off", "The picnic took place"),
        ("We called the wedding off", "The wedding took place"),
        ("The flight was canceled on Friday", "The flight went ahead on Friday"),
        ("The meeting was not cancelled", "The meeting was cancelled"),
        ("He turned down the offer from Berlin", "He accepted the offer from Berlin"),
        ("She did not accept the job", "She accepted the job"),
        ("She quit smoking", "She smokes"),
        ("He failed the exam", "He passed the exam"),
        ("Alice hates sushi", "Alice likes sushi"),
        ("I no longer work at Acme", "I work at Acme"),
        ("I'm a non-smoker", "I'm a smoker"),
        ("dont like cilantro", "like cilantro"),
        ("I seldom travel", "I often travel"),
        ("I seldom travel", "I travel all the time"),
        ("I barely sleep", "I sleep well"),
        ("I gave up coffee", "I drink coffee"),
        ("I avoid gluten", "I eat gluten"),
        ("I gave up coffee", "I don't drink milk"),
        ("She cut out dairy", "She has dairy"),
        ("He quit cigarettes", "He smokes cigarettes"),
        ("我很少旅行", "我经常旅行"),
        ("我戒了糖", "我吃糖"),
        ("我避开海鲜", "我吃海鲜"),
        ("他放弃了咖啡", "他喝咖啡"),
        ("我很少喝咖啡", "我喝咖啡"),
        ("他几乎不吃肉", "他吃肉"),
        ("他几乎不吃肉", "他不吃肉"),
        ("他不再抽烟", "他抽烟"),
        ("他戒烟了", "他抽烟"),
        ("他没去北京", "他去北京"),
        ("作业未完成", "作业完成"),
        ("他无药物过敏史", "他有药物过敏史"),
        ("他拒绝了去上海的工作", "他接受了去上海的工作"),
        ("他没有放弃考试", "他放弃了考试"),
        ("会议取消了", "会议照常举行"),
        ("我停止服用阿司匹林", "我继续服用阿司匹林"),
        ("我们输了比赛", "我们赢了比赛"),
        ("他反对搬家的计划", "他支持搬家的计划"),
        ("项目失败了", "项目成功了"),
    ],
)
def test_a_denial_turned_round_is_found(source: str, refined: str) -> None:
    assert kinds(source, refined) == ["negation"]
    assert kinds(refined, source) == ["negation"]
    assert kinds(source, source) == kinds(refined, refined) == []
    assert not says_the_same(source, refined)


@pytest.mark.parametrize(
    ("source", "refined"),
    [
        ("She did not refuse the job", "She accepted the job"),
        ("Alice hates sushi", "Alice does not like sushi"),
        ("The picnic was called off", "The picnic was cancelled"),
        ("The race was held on May 5", "The race took place on May 5"),
        ("I hardly ever eat meat", "Alice rarely eats meat"),
        ("I couldn't come so I cancelled the dinner", "The dinner was cancelled"),
        ("She quit smoking", "She stopped smoking"),
        ("I gave up coffee", "I no longer drink coffee"),
        ("I avoid gluten", "I do not eat gluten"),
        ("I don't eat gluten", "Avoids gluten"),
        ("I drink tea and gave up coffee", "I drink tea"),
        ("I gave up coffee", "I drink tea"),
        ("I seldom travel", "I don't often travel"),
        ("I often travel", "I travel"),
        ("我戒了咖啡", "我不喝咖啡了"),
        ("我很少旅行", "我不常旅行"),
        ("我戒了咖啡", "我喝茶"),
        ("She quit smoking", "She no longer smokes"),
        ("I like tea and hate coffee", "Likes tea."),
        ("I like tea but I hate coffee", "Likes tea, dislikes coffee."),
        ("The bike leans against the wall of the bus stop", "The bike leans on the wall of the bus stop"),
        ("A non-stop flight to Paris", "A flight to Paris"),
        ("I agreed, and we may meet in May", "We may meet in May"),
        ("他没有拒绝邀请", "他接受了邀请"),
        ("会议取消了", "会议没有举行"),
        ("我几乎不喝咖啡", "用户很少喝咖啡"),
        ("他无聊的时候看书", "他看书"),
        ("不得不放弃跳舞", "放弃跳舞"),
        ("未来计划去日本", "计划去日本"),
        ("没问题，我会去", "我会去"),
    ],
)
def test_the_same_in_other_words_is_none(source: str, refined: str) -> None:
    assert kinds(source, refined) == []


@pytest.mark.parametrize(
    ("clause", "polarity"),
    [
        ("never refused", "yes"),
        ("not unlike him", "no"),
        ("not rarely", "yes"),
        ("rarely", "seldom"),
        ("doesn't often call", "seldom"),
        ("不常来", "seldom"),
        ("不是很少", "yes"),
        ("非常好", "yes"),
        ("非素食者", "no"),
        ("无数次", "yes"),
        ("输入密码", "yes"),
    ],
)
def test_what_a_clause_says(clause: str, polarity: str) -> None:
    assert polarity_of(clause) == polarity


# ---------------------------------------------------------------- times


@pytest.mark.parametrize("source", ["下午3点开会", "meeting at 3 pm", "15:00开会"])
def test_half_a_day_apart_is_another_time(source: str) -> None:
    assert kinds(source, "3:00开会") == kinds(source, "Meeting at 3:00") == kinds(source, "3 am") == ["time"]
    assert kinds(source, "15:00") == kinds(source, "下午三点") == kinds(source, "3 p.m.") == []


def test_a_time_that_leaves_the_half_open_matches_what_it_can_mean() -> None:
    assert kinds("meeting at 3:00", "meeting at 3:00") == kinds("3点开会", "3:00开会") == []
    assert kinds("早上9点开会", "9:00开会") == kinds("Lunch at 12:30 pm", "12:30午饭") == []
    assert kinds("3点开会", "15:00开会") == []


# ---------------------------------------------------------------- versions

PARTS = st.lists(st.integers(0, 30), min_size=3, max_size=4)


@given(PARTS, PARTS, st.sampled_from(["升级到{}", "upgraded to {}", "The server is {}.", "版本：v{}"]))
def test_dotted_numbers_hold_letter_for_letter(one: list[int], other: list[int], sentence: str) -> None:
    first, second = (".".join(map(str, parts)) for parts in (one, other))
    assert kinds(f"We run {first} now", sentence.format(first)) == []
    assert one == other or kinds(f"We run {first} now", sentence.format(second)) != []


@pytest.mark.parametrize(
    ("source", "refined"),
    [
        ("upgrade to Python 3.10", "upgraded to Python 3.1"),
        ("版本是3.10", "版本是3.1"),
        ("server 10.0.0.12", "server 10.0.0.1"),
        ("the code is in src/app/main.py", "the code is in /app/main.py"),
        ("ticket ABC-1234", "ticket ABC-123"),
    ],
)
def test_a_part_of_an_identifier_is_another_one(source: str, refined: str) -> None:
    assert kinds(source, refined) == ["identifier"]


def test_what_costs_3_10_costs_3_1() -> None:
    assert kinds("it costs 3.10 euros", "Costs 3.1 euros") == []


@pytest.mark.parametrize("text", ["v9\u0130 and 1.2.3\u0130", "O!\n\u00b2\u4e0d\u65e5", "quiet\n3 of them never came"])
def test_signs_and_lines_of_any_kind_do_not_part_a_text_from_itself(text: str) -> None:
    assert kinds(text, text) == []
