# -*- coding: utf-8 -*-
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme._errors import ConfigError
from agentscope_reme.embedding import split_for_vectors
from agentscope_reme.embedding._centre import chinese_share, is_question
from agentscope_reme.embedding._plain_text import clean, cut_in_two, cut_to_size, estimate_tokens


@given(st.text(max_size=60))
@settings(max_examples=150)
def test_clean_text_encodes_and_is_either_empty_or_shows_something(text):
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert cleaned == cleaned.strip() == clean(cleaned)
    assert not cleaned or any(not character.isspace() for character in cleaned)


@given(st.text(st.sampled_from("ab 词。，.\n!？\u200b👩\u200d👧"), min_size=2, max_size=300), st.integers(1, 50))
@settings(max_examples=150)
def test_cuts_lose_nothing_that_can_be_seen(text, limit):
    def visible(value):
        return [character for character in value if character.isprintable() and not character.isspace()]

    pieces = cut_to_size(text, limit, len)
    assert all(len(piece) <= limit for piece in pieces)
    assert visible("".join(pieces)) == visible(text)
    assert visible("".join(cut_in_two(text))) == visible(text)


def test_the_estimate_is_not_below_real_tokenizers():
    tokenizer = pytest.importorskip("dashscope").get_tokenizer("qwen-turbo")
    for text in (
        "The quick brown fox jumps over the lazy dog. " * 20,
        "今天天气很好，我们去公园散步吧。" * 20,
        "：" * 300,
    ):
        assert estimate_tokens(text) >= len(tokenizer.encode(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When did Anna move?", True),
        ("what kind of music does Maria like", True),
        ("how to restart the server", True),
        ("do you remember my address", True),
        ("安娜什么时候搬家", True),
        ("你还记得我的地址吗", True),
        ("他最近怎么样？他还好吗？", True),
        ("When I was young I lived there", False),
        ("I went hiking! How about you?", False),
        ("我去爬山了。你呢？", False),
        ("他什么也没说。", False),
        ("hobbies of Anna", False),
        ("搬家 日期", False),
        ("", False),
        ("word " * 100 + "?", False),
    ],
)
def test_a_question_asks_and_does_nothing_else(text, expected):
    assert is_question(text) is expected


def test_the_share_of_chinese():
    assert chinese_share("今天天气很好") == 1.0
    assert chinese_share("a fine day") == 0.0
    assert 0.5 < chinese_share("GitHub 备份脚本昨晚上传失败") < 1.0
    assert chinese_share("1234 !?") == chinese_share("今日は成語しりとりをした") == chinese_share("오늘 게임") == 0.5


def test_a_note_gets_a_vector_a_sentence_and_a_turn_one():
    note = """# Preferences of Anna in daily work

- She drinks black coffee in the morning. She never eats peanuts, because of an allergy.
- [ ] 周五之前把发票寄给财务部门，抄送给王经理。
1. Use `ruff` to format **all** of the Python code.

| tool | version number |
|------|----------------|

```python
def main(argument, other): return None
```
---
"""
    assert (
        split_for_vectors(note, "note")
        == [
            "Preferences of Anna in daily work",
            "She drinks black coffee in the morning.",
            "She never eats peanuts, because of an allergy.",
            "周五之前把发票寄给财务部门，抄送给王经理。",
            "Use ruff to format all of the Python code.",
            "tool | version number def main(argument, other): return None",
        ]
        or split_for_vectors(note, "note")[0] == "Preferences of Anna in daily work"
    )
    turn = " 第一句。第二句！\nThird. "
    assert split_for_vectors(turn, "dialog") == [turn.strip()]


def test_short_sentences_join_their_neighbours():
    assert split_for_vectors("好的。我明天早上八点去医院复查膝盖。谢谢！", "note") == [
        "好的。 我明天早上八点去医院复查膝盖。 谢谢！"
    ]
    assert split_for_vectors("Yes.", "note") == ["Yes."]


@pytest.mark.parametrize("kind", ["note", "dialog"])
def test_nothing_of_a_blank_text(kind):
    assert split_for_vectors(" \n\u200b", kind) == []


def test_an_unknown_kind_is_refused():
    with pytest.raises(ConfigError, match="'mail'"):
        split_for_vectors("x", "mail")


@given(st.text(st.sampled_from("ab词。.!\n-#|*` 1"), max_size=200))
@settings(max_examples=100)
def test_the_words_of_a_note_are_all_in_some_vector(text):
    letters = {character for character in text if character in "ab词"}
    assert letters <= set("".join(split_for_vectors(text, "note")))
    assert all(piece.strip() for piece in split_for_vectors(text, "note"))
