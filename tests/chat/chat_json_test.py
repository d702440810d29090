# -*- coding: utf-8 -*-
"""JSON in whatever a model puts around it."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme import _errors
from agentscope_reme.chat import parse_json

leaves = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=20)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(min_size=1, max_size=8), values, min_size=1, max_size=4) | st.lists(
    values, min_size=1, max_size=4
)
WRAPPINGS = [
    "{}",
    "  {}\n",
    "```json\n{}\n```",
    "```\n{}\n```",
    "Here is the result:\n\n```json\n{}\n```\nAnything else?",
    "好的，结果如下：\n{}\n以上。",
    '<think>也许 {{"memories":[]}} ？</think>\n{}',
    '<think>perhaps [1, 2] or {{"a": 1}}</thinking>\n```json\n{}\n```',
]


@settings(max_examples=150)
@given(st.sampled_from(WRAPPINGS), objects, st.booleans())
def test_what_was_written_is_read(wrapping: str, value: object, ascii_only: bool) -> None:
    assert parse_json(wrapping.format(json.dumps(value, ensure_ascii=ascii_only))) == value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (
            '{"memories":[{"content":"运行 ```python\nx=1\n``` 即可"}]}',
            {"memories": [{"content": "运行 ```python\nx=1\n``` 即可"}]},
        ),
        ('说明 ```json\n{"code": "int main() { return a[0]; }"}\n```', {"code": "int main() { return a[0]; }"}),
        ('The list [1] and {指令} say so: {"a": {"b": [1, 2]}}', {"a": {"b": [1, 2]}}),
        ('{"a": 1, "b": [1, 2],}', {"a": 1, "b": [1, 2]}),
        ("{'facts': ['甲', '乙']}", {"facts": ["甲", "乙"]}),
        ('[{"id": "1", "text": "cut off', [{"id": "1", "text": "cut off"}]),
        ('```json\n{"a": 1,}\n```\nand as an aside [3]', {"a": 1}),
        ("nothing to store: []", []),
        ("{}", {}),
    ],
)
def test_pointed_examples(raw: str, value: object) -> None:
    assert parse_json(raw) == value


@pytest.mark.parametrize(
    "raw",
    ["", "   ", '<think>only {"a": 1} thought</think>', "没有可以记录的内容。", "just {prose}", None, '"text"', "42"],
)
def test_nothing_is_said_to_be_nothing(raw: str) -> None:
    with pytest.raises(_errors.ModelReplyError):
        parse_json(raw)
