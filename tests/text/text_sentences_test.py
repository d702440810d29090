# -*- coding: utf-8 -*-
"""Sentences."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.text import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        ("  \n\t\n", []),
        ("Fix it. Then run it! Does it work?", ["Fix it.", "Then run it!", "Does it work?"]),
        ("先看日志。再改代码！好了吗？", ["先看日志。", "再改代码！", "好了吗？"]),
        ("今日は晴れ。散歩した！", ["今日は晴れ。", "散歩した！"]),
        ("“好的。”他说。", ["“好的。”", "他说。"]),
        ("Use v2.1 of a.py. It is 3.14 long.", ["Use v2.1 of a.py.", "It is 3.14 long."]),
        ("E.g. Dr. Smith, i.e. him, vs. J. R. Tolkien.", ["E.g. Dr. Smith, i.e. him, vs. J. R. Tolkien."]),
        ("Logs, tests, etc. The rest stays.", ["Logs, tests, etc.", "The rest stays."]),
        ("Well... maybe. 那个……我想想。", ["Well... maybe.", "那个……我想想。"]),
        ("See https://a.b/c?d=e.f and `a. b` here. Done.", ["See https://a.b/c?d=e.f and `a. b` here.", "Done."]),
        (
            "- one. still one\n2. two. still two\n· 三。还是三",
            ["- one. still one", "2. two. still two", "· 三。还是三"],
        ),
        ("推荐：1. 故宫 2. 长城。走吧。", ["推荐：1. 故宫 2. 长城。", "走吧。"]),
        ("```py\nx = 1. \n# a. b\n```\nOK. Go.", ["```py", "x = 1.", "# a. b", "```", "OK.", "Go."]),
        ("    self.x = foo(1). bar\nNext. Line", ["self.x = foo(1). bar", "Next.", "Line"]),
        ("好的.然后呢", ["好的.", "然后呢"]),
        ("真的吗?是的!走", ["真的吗?", "是的!", "走"]),
    ],
)
def test_examples(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


PIECES = st.sampled_from(
    [
        "。",
        ". ",
        "! ",
        "？",
        "…",
        "...",
        "\n",
        "- ",
        "1. ",
        "```",
        "`",
        "https://a.b/c.d?e ",
        "e.g. ",
        "v1.2",
        "“",
        "”",
        " ",
        "中文",
        "Word",
        "\u3000",
    ],
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_nothing_is_lost_but_white_space_around_sentences(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(each and each == each.strip() for each in sentences)
    assert all(len(each.splitlines()) == 1 for each in sentences)


@settings(max_examples=100, deadline=None)
@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_a_line_that_is_no_sentence_end_is_not_split_further(text: str) -> None:
    line = "- " + " ".join(text.split())
    assert split_sentences(line) == [line.strip()]


def test_time_is_linear() -> None:
    long_line = "There is no end to it, e.g. here; `code` and https://a.b/c?d. " * 5_000
    started = time.perf_counter()
    assert len(split_sentences(long_line + "\n" + "." * 100_000 + "\n" + "`" * 50_000)) > 1
    assert time.perf_counter() - started < 2.0
