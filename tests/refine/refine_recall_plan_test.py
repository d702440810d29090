# -*- coding: utf-8 -*-
"""What memory is asked for a request, and the words of the prompt files that decide about it."""

import re
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentscope_reme
from agentscope_reme._errors import PromptError
from agentscope_reme.record import MemoryNode, parse_filters
from agentscope_reme.refine._lexicon import Lexicon, default_lexicon, lower
from agentscope_reme.refine._recall_plan import chained_queries, is_specific, plan_recall
from agentscope_reme.refine._schema import TagSchema
from agentscope_reme.text import PromptBook

NOW = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)
PACKAGE = Path(agentscope_reme.__file__).parent


def queries(request: str, *recent: str) -> list[str]:
    return [text for text, _ in plan_recall(request, recent, now=NOW).queries]


@pytest.mark.parametrize(
    ("request_text", "also"),
    [
        ("推荐一家餐厅", "过敏 忌口 不吃"),
        ("晚上吃什么好", "饮食偏好 口味 喜欢吃"),
        ("Recommend a restaurant for dinner", "allergies diet does not eat"),
        ("我们再来看看二叉树遍历吧", "递归"),
        ("Let's look at binary tree traversal", "recursion"),
        ("推荐一些音乐", "喜欢的音乐 歌手"),
        ("Plan a trip for me", "travel plans"),
        ("今天练什么？帮我安排训练", "伤病 健康状况"),
    ],
)
def test_a_request_also_asks_for_what_is_of_use_for_it(request_text: str, also: str) -> None:
    found = queries(request_text)
    assert found[0] == request_text
    assert also in found


def test_a_request_that_leans_on_what_was_said_takes_it_along() -> None:
    """Field report I5: "再找找其他价格优惠的" recalled last week's product."""
    found = queries("再找找其他价格优惠的", "我想买索尼的降噪耳机", "索尼的降噪耳机有这几款")
    assert found[:2] == ["再找找其他价格优惠的", "索尼的降噪耳机有这几款\n再找找其他价格优惠的"]
    assert queries("What about it?", "My bike is broken")[1] == "My bike is broken\nWhat about it?"
    assert queries("我的自行车在哪家店修过？", "今天天气不错") == ["我的自行车在哪家店修过？"]


@given(st.text(max_size=200), st.lists(st.text(max_size=50), max_size=3))
def test_any_request_has_a_plan(request_text: str, recent: list[str]) -> None:
    plan = plan_recall(request_text, recent, now=NOW)
    texts = [text for text, _ in plan.queries]
    assert len(texts) == len(set(texts)) <= 5
    assert bool(texts) == any(map(str.isalnum, request_text))
    assert all(0 < weight <= 1 for _, weight in plan.queries)
    assert plan.filters[-1] == {}
    for filters in plan.filters:
        parse_filters(filters)


def test_filters_give_way() -> None:
    assert plan_recall("我喜欢吃什么", now=NOW).filters == ({"category": "preference"}, {})
    assert plan_recall("What are my plans?", now=NOW).filters == ({"category": "plan"}, {})
    assert plan_recall("他住在哪里", now=NOW).filters == ({},)
    schema = TagSchema({"topic": ["algorithm", "cooking"]})
    plan = plan_recall("Which algorithm do I prefer?", now=NOW, schema=schema)
    assert plan.filters == (
        {"category": "preference", "metadata.topic": {"any_of": ["algorithm"]}},
        {"metadata.topic": {"any_of": ["algorithm"]}},
        {},
    )


def test_what_was_said_on_a_day_is_looked_for_by_time() -> None:
    span = plan_recall("在4月27号我们聊了什么话题？", now=NOW).span
    assert span is not None
    assert span[0] == datetime(2024, 4, 27, tzinfo=timezone.utc)
    assert span[1].date().isoformat() == "2024-04-27"
    week = plan_recall("What did we talk about last week?", now=NOW).span
    assert week is not None
    assert [each.date().isoformat() for each in week] == ["2024-04-29", "2024-05-05"]
    assert plan_recall("我们聊过什么？", now=NOW).span is None
    assert plan_recall("4月27号天气怎么样", now=NOW).span is None


@pytest.mark.parametrize(
    ("request_text", "specific"),
    [
        ("她什么时候搬到上海的？", True),
        ("会议是几点？", True),
        ("我的订单INV-2093怎么样了", True),
        ("你当时的原话是什么", True),
        ("When did she move?", True),
        ("How many cats does he have?", True),
        ("what did I say on May 3?", True),
        ("介绍一下我的饮食习惯", False),
        ("Tell me about Bob", False),
        ("推荐一家餐厅", False),
    ],
)
def test_what_asks_for_particulars(request_text: str, specific: bool) -> None:
    assert is_specific(request_text, NOW) is specific


def test_a_weak_first_search_starts_a_second_by_names() -> None:
    plan = plan_recall("我上次提到的那个项目进展如何？", now=NOW)
    hits = [MemoryNode("上周启动了“智能家居”项目"), MemoryNode("x", entities=("Aurora",))]
    assert [text for text, _ in chained_queries(plan, hits, 0.3)] == [
        "智能家居 我上次提到的那个项目进展如何？",
        "Aurora 我上次提到的那个项目进展如何？",
    ]
    assert chained_queries(plan, hits, 0.8) == []
    assert chained_queries(plan_recall("Aurora 怎么样了", now=NOW), hits[1:], 0.1) == []


# ---------------------------------------------------------------- the words


LISTS = [name[7:] for name in PromptBook().names("en") if name.startswith("refine.")]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_list_is_of_regular_expressions(language: str) -> None:
    book = PromptBook()
    for name in LISTS:
        try:
            entries = book.list(language, f"refine.{name}")
        except PromptError:
            continue  # a text
        assert entries
        for entry in entries:
            pattern = entry.partition(" :: ")[2] if " :: " in entry else entry.rpartition(" => ")[0] or entry
            if name in ("kinds", "keep", "drop"):
                continue
            compiled = re.compile(pattern)
            assert not compiled.search(""), (name, entry)
            needed = {"remember": "what", "forget": "what", "like": "object", "habit": "object", "slots": "value"}
            assert needed.get(name) is None or needed[name] in compiled.groupindex, (name, entry)


@given(st.text(max_size=60))
def test_lower_case_leaves_every_character_in_its_place(text: str) -> None:
    assert len(lower(text)) == len(text)
    assert lower(lower(text)) == lower(text)


def test_traditional_characters_are_read() -> None:
    assert default_lexicon().found_in("preference", "我喜歡爵士樂")
    assert default_lexicon().found_in("safety", "我對花生過敏")


def test_words_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "ja").mkdir()
    (tmp_path / "ja" / "refine.yaml").write_text("safety:\n  - 'アレルギー'\n", encoding="utf-8")
    lexicon = Lexicon(PromptBook(tmp_path))
    assert lexicon.found_in("safety", "ピーナッツアレルギーです")
    assert lexicon.found_in("safety", "我对花生过敏")
    assert not default_lexicon().found_in("safety", "ピーナッツアレルギーです")
    with pytest.raises(PromptError, match=r"refine\.nothing"):
        lexicon.found_in("nothing", "x")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_entry_takes_the_place_of_another(language: str) -> None:
    """YAML keeps the last of two entries with one name, without a word."""
    source = PACKAGE / "prompts" / language / "refine.yaml"
    names = re.findall(r"^([a-z_]+):", source.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(names) == len(set(names))
