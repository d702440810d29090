# -*- coding: utf-8 -*-
"""Reasoning in a model's text, however its tags are written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.chat import split_thinking, strip_thinking

OPEN = ["<think>", "<thinking>", "<THINK>", "<thought>", "<reasoning>", "<|begin_of_thought|>"]
CLOSE = ["</think>", "</thinking>", "</thought>", "</reasoning>", "<|end_of_thought|>", "</Thinking>"]
plain = st.text(alphabet=st.characters(blacklist_characters="<>`'\"|“‘「◁▷", blacklist_categories=("Cs",)), max_size=60)


@settings(max_examples=120)
@given(st.sampled_from(OPEN), st.sampled_from(CLOSE), plain, plain)
def test_any_opening_is_closed_by_any_closing(opening: str, closing: str, thought: str, answer: str) -> None:
    thinking, text = split_thinking(f"{opening}{thought}{closing}\n{answer}")
    assert (thinking, text) == (thought.strip(), answer.strip())


@settings(max_examples=60)
@given(plain)
def test_text_without_tags_is_untouched(answer: str) -> None:
    assert split_thinking(answer) == ("", answer.strip())


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("<think>never closed, so all of it is thought\n## Goal\n- x", ""),
        ("<thinking>想一想</analysis>\n## 目标\n- 甲", "## 目标\n- 甲"),
        ("<thinking>compare <b>a</b> with b</analysis>answer", "answer"),
        ("the template opened it\n</think>\n\nanswer", "answer"),
        ("好的\n<think>再想想</think>\n答案", "好的\n\n答案"),
        ("<think>a</think><think>b</think>answer", "answer"),
        ("answer\n<think>and a stray afterthought", "answer"),
        ("- strips `<think>` and `</think>` tags from replies", "- strips `<think>` and `</think>` tags from replies"),
        ('the tag "<think>" is documented', 'the tag "<think>" is documented'),
        ("解析了“<think>”标签", "解析了“<think>”标签"),
        ("", ""),
        ("<think></think>", ""),
    ],
)
def test_pointed_examples(raw: str, text: str) -> None:
    assert strip_thinking(raw) == text


def test_thought_is_handed_back() -> None:
    assert split_thinking("<think>first</think>x<think>second</think>y") == ("first\nsecond", "xy")
