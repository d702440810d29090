# -*- coding: utf-8 -*-
"""The language of a conversation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.text import detect_language

CODE = """
import os
class Foo:
    def bar(self):
        return self.items[0]

print(Foo().bar())
Traceback (most recent call last):
  File "a.py", line 3, in <module>
ValueError: invalid literal for int() with base 10
"""
ARTICLE = "The quick brown fox jumps over the lazy dog. It is a nice day today, and nobody minds.\n" * 40
ZH_ARTICLE = "今天天气很好，狐狸跳过了懒狗，没有人在意。\n" * 40


@pytest.mark.parametrize(
    "texts",
    [
        "继续",
        "用 Docker 部署到 Kubernetes",
        "读取 /var/log/app.log 并统计 ERROR 行数",
        "帮我看下 user service login page 的 error handling 为什么 fail",
        f"帮我修一下这个 bug\n```python\n{CODE}\n```",
        f"帮我看看{CODE}",
        f"这段代码有问题：{CODE * 30}",
        f"总结一下这篇文章：\n{ARTICLE}",
        f"{ARTICLE}\n把上面的内容翻译成中文，并列出要点。",
        f"## Background\n{ZH_ARTICLE}",
        ["读一下日志", "OK", "好的"],
        ["请修复登录", '{"status": "error", "message": "unauthorized"}', "https://example.com/a/b?c=d"],
    ],
)
def test_chinese(texts: str | list[str]) -> None:
    assert detect_language(texts) == "zh"


@pytest.mark.parametrize(
    "texts",
    [
        "",
        [],
        ["", "  \n"],
        "ok",
        "12345 !!! 🎉",
        "Please change the title of the page to 用户登录 and keep the rest as it is",
        'Translate "你好世界，今天天气很好" to English',
        '{"name": "张三", "city": "北京"}\nfix this json please',
        f"Summarize this article in three points, please:\n{ZH_ARTICLE}",
        "今日は成語しりとりをした",
        "오늘 끝말잇기 게임을 했다",
        "```\n# 中文注释，说明这个函数做什么\n```\nWhat does this comment say?",
    ],
)
def test_english_or_nothing_to_tell_by(texts: str | list[str]) -> None:
    assert detect_language(texts) == "en"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["x = foo(1)", "return y;", "https://a.b/c", '{"k": 1}', "QUJD" * 20]), max_size=20))
def test_code_data_and_links_do_not_outvote_a_short_request(noise: list[str]) -> None:
    assert detect_language("\n".join(["请修复登录接口", *noise])) == "zh"
    assert detect_language(["请修复登录接口", *noise]) == "zh"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=80), max_size=8))
def test_any_text_has_a_language(texts: list[str]) -> None:
    assert detect_language(texts) in ("zh", "en")
    assert detect_language(iter(texts)) == detect_language(texts)
