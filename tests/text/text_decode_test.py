# -*- coding: utf-8 -*-
"""Bytes of any editors become text: each line is read in its own encoding, and a short one as those beside it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_reme.text import decode_text, split_lines

CHINESE = [
    "用户喜欢乌龙茶。",
    "- 备用密码短语青山",
    "住在杭州 West Lake 旁边",
    "## 2026-03-01 会议记录",
    "她说：“明天八点”",
]
SHORT = ["- 好", "## 茶", "牛", "- 是", "plain", "", "- 一位"]
LATIN = ["Le café est là", "à Noël", "- déjà vu", "plain", "Straße zum Bahnhof, schön"]
ENDS = st.sampled_from(["\n", "\r\n"])


@pytest.mark.parametrize(
    ("data", "text", "whole"),
    [
        ("今天很好\r\n第二行".encode(), "今天很好\r\n第二行", True),
        ("\ufeff今天".encode(), "今天", True),
        ("\ufeff今天很好\n".encode() + "昨天也好".encode("gbk"), "今天很好\n昨天也好", True),
        ("今天开会讨论排期，地点在北京。".encode("gbk"), "今天开会讨论排期，地点在北京。", True),
        ("今天".encode("utf-16"), "今天", True),
        ("hello world, 今天".encode("utf-16-le"), "hello world, 今天", True),
        ("café au lait".encode("cp1252"), "café au lait", False),
        ("住在杭州\n".encode() + "café au lait".encode("cp1252"), "住在杭州\ncafé au lait", False),
        ("今天很好\n".encode("gbk") + "- café".encode(), "今天很好\n- café", True),
        ("住在杭州".encode()[:-1] + "\n住在苏州".encode(), "住在杭\ufffd\n住在苏州", False),
        (b"", "", True),
        ("今天很好很好很好很好很好".encode() + b"\xff", "今天很好很好很好很好很好\ufffd", False),
        (b"a\xed\xa0\xbcb", "a\ufffdb", False),
        (b"a\x00b", "a\ufffdb", True),
    ],
)
def test_bytes_of_any_editor_become_text(data: bytes, text: str, whole: bool) -> None:
    decoded = decode_text(data)
    assert (decoded.text, decoded.whole) == (text, whole)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(CHINESE), st.sampled_from(["utf-8", "gbk", "gb18030"]), ENDS)))
def test_each_line_is_read_in_its_own_encoding(lines: list[tuple[str, str, str]]) -> None:
    data = b"".join(f"{text}{end}".encode(encoding) for text, encoding, end in lines)
    decoded = decode_text(data)
    assert decoded.whole
    assert decoded.text == "".join(text + end for text, _, end in lines)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(CHINESE + SHORT)),
    st.lists(st.sampled_from(CHINESE + SHORT)),
    st.sampled_from(CHINESE),
    st.sampled_from(CHINESE),
)
def test_what_is_appended_in_another_encoding_costs_neither_part(
    before: list[str], after: list[str], last: str, first: str
) -> None:
    old, new = [*before, last], [first, *after]
    assert split_lines(decode_text("\n".join([*old, ""]).encode("gbk") + "\n".join(new).encode()).text) == (
        old + split_lines("\n".join(new))
    )
    assert decode_text("\n".join(new).encode()).text == "\n".join(new)


@settings(max_examples=60)
@given(st.lists(st.sampled_from([*LATIN, "Grüße aus München"])), st.lists(st.sampled_from(LATIN)))
def test_european_notes_are_read_beside_others(old: list[str], new: list[str]) -> None:
    old = ["Le café est là", *old]
    data = "\n".join([*old, ""]).encode("cp1252") + "\n".join([*new, "今天很好"]).encode()
    assert decode_text(data).text == "\n".join([*old, *new, "今天很好"])


@settings(max_examples=60)
@given(st.binary(max_size=200))
def test_no_bytes_are_refused(data: bytes) -> None:
    decode_text(data).text.encode("utf-8")


def test_lines_end_as_the_file_tools_say() -> None:
    assert split_lines("a\r\nb\n\nc\u2028d\x0ce") == ["a", "b", "", "c\u2028d\x0ce"]
    assert split_lines("") == []
