# -*- coding: utf-8 -*-
"""Piece after piece gives the whole."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentscope_reme.working_memory._paging import line_start, page_of

TEXT = st.lists(
    st.sampled_from(["\n", "\n\n", "\r\n", "a", "word ", "汉字", "👍", "é", "\u2028", "x" * 40]), max_size=40
).map("".join)


def read_on(data: bytes, page, **limits):
    while True:
        yield page
        if page.next_line is None and page.next_byte is None:
            return
        page = page_of(data, start_line=page.next_line or 1, start_byte=page.next_byte, **limits)


@given(TEXT, st.integers(1, 9), st.integers(4, 60), st.integers(0, 300), st.booleans())
@example("汉" * 30, 1, 4, 0, True)
def test_pieces_have_no_gap_and_no_overlap(text, limit, max_bytes, start, by_byte):
    data = text.encode()
    limits = {"limit": limit, "max_bytes": max_bytes}
    first = page_of(data, start_byte=start if by_byte else None, start_line=start + 1, **limits)
    pieces = list(read_on(data, first, **limits))
    begin = min(start, len(data)) if by_byte else line_start(data, start + 1)
    while by_byte and begin and data[begin : begin + 1] and data[begin] & 0xC0 == 0x80:
        begin -= 1
    assert "".join(piece.text for piece in pieces) == data[begin:].decode()
    for piece in pieces:
        assert len(piece.text.encode()) <= max_bytes
        assert piece.text.count("\n") <= limit
        assert piece.text or len(pieces) == 1
        assert piece.last_line - piece.first_line == piece.text.removesuffix("\n").count("\n")


@given(TEXT)
def test_lines_begin_where_they_do(text):
    lines = text.encode().split(b"\n")
    for number in range(1, len(lines) + 3):
        rest = b"\n".join(lines[number - 1 :])
        assert text.encode()[line_start(text.encode(), number) :] == rest


def test_whole_lines_where_one_fits():
    page = page_of("一二三\n四五六\n七八九\n".encode(), limit=9, max_bytes=25)
    assert (page.text, page.first_line, page.last_line, page.next_line) == ("一二三\n四五六\n", 1, 2, 3)


def test_inside_a_long_line_by_characters():
    page = page_of(("ok\n" + "汉" * 9).encode(), start_line=2, limit=9, max_bytes=10)
    assert (page.text, page.first_line, page.last_line, page.next_byte) == ("汉汉汉", 2, 2, 12)


@pytest.mark.parametrize("data", [b"\x80\x80\x80\x80\x80\x80", b"a\xff\xfe" * 9, b"\xed\xa0\xbc" * 5])
def test_bytes_that_are_no_text_move_on_too(data):
    pages = list(read_on(data, page_of(data, limit=5, max_bytes=4), limit=5, max_bytes=4))
    assert len(pages) <= len(data)
    assert all("\ufffd" in page.text for page in pages)
