# -*- coding: utf-8 -*-
"""A refined text made of its sources' own sentences."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from agentscope_reme.message import estimate_tokens
from agentscope_reme.record import MemoryNode
from agentscope_reme.refine._config import RefinerConfig
from agentscope_reme.refine._extractive import extract
from agentscope_reme.refine._fidelity import check_fidelity, missing_statements, must_keep
from agentscope_reme.refine._grounds import Grounds, sources_of
from agentscope_reme.refine._keywords import WordWeights, keywords_of
from agentscope_reme.text import WordTokenizer, split_sentences

NOON = datetime(2024, 5, 6, 12, tzinfo=timezone.utc)
SAID = [
    "昨天我花了三百二十元买了一双跑步鞋，准备参加六月的马拉松。",
    "我对青霉素过敏。",
    "他不喜欢早起，但每天6:30起床。",
    "千万不要告诉我妈妈。今天天气还可以。",
    "你好呀！",
    "好的，谢谢。",
    "Last Friday I met Alice Smith at 5 pm. We talked about her new job at Acme.",
    "We don't eat meat; nothing but rice. My budget is $1,299.50.",
    "Thanks a lot!",
    "Never tell my boss about this plan. It is only an idea.",
    "The project lives in src/app/main.py on branch feature/login-2.",
    "I really enjoy hiking in the mountains with my dog Rex every weekend.",
    "我在甲公司任工程师，负责支付系统的代码库，和李雷一起工作。",
    "What did you have for dinner?",
]


@st.composite
def groups(draw: st.DrawFn) -> list[MemoryNode]:
    """Memories of a group, of one day or several, some said twice, with or without speakers."""
    texts = draw(
        st.lists(st.lists(st.sampled_from(SAID), min_size=1, max_size=3).map(" ".join), min_size=1, max_size=9)
    )
    step = draw(st.sampled_from([1, 60 * 24]))
    speakers = draw(st.booleans())
    return [
        MemoryNode(
            text,
            memory_target="alice",
            message_time=NOON + timedelta(minutes=step * at),
            importance=draw(st.sampled_from([0.3, 0.5, 0.95])),
            metadata={"speaker": ("Alice", "Bob")[at % 2]} if speakers else {},
        )
        for at, text in enumerate(texts)
    ]


@given(groups(), st.floats(0.01, 1.0))
def test_an_extract_is_faithful_and_keeps_what_must_be_kept(nodes: list[MemoryNode], ratio: float) -> None:
    config = RefinerConfig(target_ratio=ratio)
    found = extract(nodes, config)
    assert check_fidelity(found.content, Grounds(sources_of(nodes)), found.time) == []
    assert missing_statements(found.content, [each for node in nodes for each in must_keep(node, config)]) == []


@given(groups())
def test_every_line_is_the_words_of_one_source(nodes: list[MemoryNode]) -> None:
    found = extract(nodes, RefinerConfig())
    sources = [" ".join(node.content.split()) for node in nodes]
    for line in found.content.splitlines():
        if len(line) > 10 or not line[:4].isdigit():
            words = line.removeprefix("Alice: ").removeprefix("Bob: ")
            sentences = split_sentences(words)
            assert any(all(each in source for each in sentences) for source in sources), line


@given(groups())
def test_every_memory_is_accounted_for(nodes: list[MemoryNode]) -> None:
    nodes = list({node.key: node for node in nodes}.values())
    found = extract(nodes, RefinerConfig())
    keys = {node.key for node in nodes}
    assert set(found.kept) <= keys
    assert set(found.dropped) <= keys
    assert not set(found.kept) & set(found.dropped)
    assert bool(found.content) == bool(found.kept)
    assert extract(nodes, RefinerConfig()) == found


@given(groups(), st.floats(0.05, 0.9))
def test_it_is_about_as_long_as_it_is_to_be(nodes: list[MemoryNode], ratio: float) -> None:
    nodes = [replace(node, importance=0.5) for node in nodes]
    config = RefinerConfig(target_ratio=ratio)
    found = extract(nodes, config)
    total = sum(estimate_tokens(node.content) for node in nodes)
    must = sum(estimate_tokens(each) for node in nodes for each in must_keep(node, config))
    longest = max(estimate_tokens(each) for node in nodes for each in split_sentences(node.content))
    around = 16 * len(nodes)  # dates and speakers
    assert estimate_tokens(found.content) <= max(config.content_budget(total), longest) + must + around
    assert estimate_tokens(" ".join(found.keywords)) <= max(64, total * config.keyword_ratio) + 1


def test_small_talk_and_copies_go_first() -> None:
    texts = ["你好呀！", "我在学Python。", "好的，谢谢。", "我在学Python！", "我住在苏州，养了一只猫。"]
    nodes = [MemoryNode(text, message_time=NOON + timedelta(minutes=at)) for at, text in enumerate(texts)]
    found = extract(nodes, RefinerConfig(target_ratio=1.0))
    assert found.content == "我在学Python！\n我住在苏州，养了一只猫。"
    assert found.dropped == (nodes[0].key, nodes[1].key, nodes[2].key)


def test_nothing_but_small_talk_is_nothing() -> None:
    assert extract([MemoryNode("你好呀！"), MemoryNode("thanks!")], RefinerConfig()).content == ""
    assert extract([], RefinerConfig()).content == ""


def test_speakers_and_days_are_shown_where_there_are_several() -> None:
    alice = MemoryNode("I moved to Oslo.", message_time=NOON, metadata={"speaker": "Alice"})
    bob = MemoryNode("I adopted a cat.", message_time=NOON + timedelta(days=1), metadata={"speaker": "Bob"})
    whole = RefinerConfig(target_ratio=1.0)
    both = extract([alice, bob], whole).content
    first, second = (node.message_time.astimezone().date().isoformat() for node in (alice, bob))
    assert both == f"{first}\nAlice: I moved to Oslo.\n{second}\nBob: I adopted a cat."
    assert extract([alice], whole).content == "I moved to Oslo."


# ---------------------------------------------------------------- keywords


@given(groups(), st.integers(0, 60))
def test_keywords_are_words_of_the_sources_that_are_not_shown(nodes: list[MemoryNode], budget: int) -> None:
    texts = [node.content for node in nodes]
    shown = texts[0]
    words = keywords_of(texts, shown, budget, WordWeights(texts), estimate_tokens)
    tokenizer = WordTokenizer()
    there = {token for text in texts for token in tokenizer.tokens(text)}
    for word in words:
        assert any(word in text for text in texts)
        assert set(tokenizer.tokens(word)) <= there
    assert len({word.casefold() for word in words}) == len(words)
    assert not words or estimate_tokens(" ".join(words)) <= budget


def test_rare_words_come_first() -> None:
    texts = ["common rare"] + ["common"] * 20
    assert keywords_of(["common rare"], "", 100, WordWeights(texts), estimate_tokens) == ("rare", "common")


def test_chinese_words_are_found_again() -> None:
    words = keywords_of(["我在学习弹钢琴，老师很严格"], "", 100, WordWeights(), estimate_tokens)
    assert "钢琴" in "".join(words)
    query = set(WordTokenizer().query_tokens("他会弹钢琴吗"))
    assert query & set(WordTokenizer().tokens(" ".join(words)))
