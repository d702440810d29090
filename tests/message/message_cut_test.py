# -*- coding: utf-8 -*-
"""Cutting by bytes: the laws over any text, and what users reported."""

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentscope_reme.message import Cut, cut_text


def _notice(cut: Cut) -> str:
    return (
        f"\n[... {cut.hidden_bytes} of {cut.total_bytes} bytes hidden, lines {cut.first_hidden_line} to "
        f"{cut.last_hidden_line} of {cut.total_lines}; 从第 {cut.first_hidden_line} 行继续读 ...]\n"
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


_pieces = st.sampled_from(
    [
        "a",
        "line of text\n",
        "\r\n",
        "\n",
        "汉字",
        "🌍",
        "👩‍👩‍👧",
        "e\u0301",
        "👍🏽",
        "❤️",
        "\ud83c",
        "\udcff",
        "\x1b[2K",
        " ",
    ]
)
_texts = st.one_of(
    st.lists(_pieces, max_size=60).map("".join),
    st.builds(
        lambda pieces, times: "".join(pieces) * times, st.lists(_pieces, min_size=1, max_size=12), st.integers(1, 80)
    ),
    st.text(max_size=50),
)


@given(_texts, st.integers(0, 1500))
@example("a🌍b🌎c", 5)
@example("汉字" * 5000, 101)
@example("\n" * 1000, 500)
@example("x\n" * 1000, 500)
@example("a" * 401, 400)
def test_the_laws_of_a_cut(text: str, max_bytes: int) -> None:
    data = _bytes(text)
    made = cut_text(text, max_bytes, _notice)
    if len(data) <= max_bytes:
        assert (made.text, made.cut) == (text, None)
        return
    cut = made.cut
    assert cut is not None
    head, tail = _bytes(cut.head), _bytes(cut.tail)
    assert text.startswith(cut.head)
    assert text.endswith(cut.tail)
    assert made.text == cut.head + _notice(cut) + cut.tail
    assert cut.first_hidden_byte == len(head)
    assert cut.hidden_bytes > 0
    hidden = data[cut.first_hidden_byte : cut.first_hidden_byte + cut.hidden_bytes]
    assert head + hidden + tail == data
    assert cut.total_bytes == len(data)
    if max_bytes >= 400:
        assert len(_bytes(made.text)) <= max_bytes
    if head or tail:
        assert len(head) + len(tail) <= max_bytes - len(_bytes(_notice(cut)))
    _assert_lines(data, hidden, cut)


def _assert_lines(data: bytes, hidden: bytes, cut: Cut) -> None:
    lines = data.split(b"\n")
    starts = [0]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line) + 1)
    assert cut.total_lines == len(lines) - (lines[-1] == b"")
    assert cut.first_hidden_line == max(n for n, start in enumerate(starts, 1) if start <= cut.first_hidden_byte)
    last = cut.first_hidden_byte + len(hidden) - 1
    assert cut.last_hidden_line == max(n for n, start in enumerate(starts, 1) if start <= last)
    assert data[starts[cut.first_hidden_line - 1] :].find(hidden) >= 0


@given(_texts.filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text)), st.integers(0, 1500))
def test_characters_stay_whole(text: str, max_bytes: int) -> None:
    """Field report D3."""
    cut = cut_text(text, max_bytes, _notice).cut
    if cut is None:
        return
    for part in (cut.head, cut.tail):
        part.encode()
    after_head = text[len(cut.head)]
    assert not (cut.head and unicodedata.combining(after_head))
    assert not (cut.head.endswith("\r") and after_head == "\n")
    assert not cut.head.endswith("\u200d")
    assert not (cut.head and after_head in "\u200d\ufe0f🏽")
    assert not (cut.tail and unicodedata.combining(cut.tail[0]))
    assert not cut.tail.startswith(("\u200d", "\ufe0f", "🏽"))
    assert not (cut.tail.startswith("\n") and text[: len(text) - len(cut.tail)].endswith("\r"))


@pytest.mark.parametrize("character", ["e\u0301", "👍🏽", "❤️", "👩‍👩‍👧", "a\r\n", "नी"])
def test_no_limit_cuts_inside_a_character(character: str) -> None:
    for max_bytes in range(400, 440):
        cut = cut_text(character * 200, max_bytes, _notice).cut
        assert cut is not None
        assert cut.head == character * (len(cut.head) // len(character))
        assert cut.tail == character * (len(cut.tail) // len(character))
        assert cut.head
        assert cut.tail


def test_head_and_tail_end_at_lines_where_lines_are_near() -> None:
    """Field reports D2 and D4: the first hidden line continues without a gap, and the end is shown."""
    text = "".join(f"第 {n} 行 line {n}\n" for n in range(1, 3001))
    cut = cut_text(text, 5000, _notice).cut
    assert cut is not None
    assert cut.head.endswith(f"line {cut.first_hidden_line - 1}\n")
    assert cut.tail.startswith(f"第 {cut.last_hidden_line + 1} 行")
    assert cut.tail.endswith("line 3000\n")
    assert cut.total_lines == 3000
    assert 0.5 < len(_bytes(cut.head)) / len(_bytes(cut.head + cut.tail)) < 0.7


def test_one_long_line_is_cut_inside() -> None:
    """Fault 19 and 23 of the baseline: the rest of a line is reached by its byte."""
    cut = cut_text('{"a": [' + "12345, " * 30_000 + "0]}", 3000, _notice).cut
    assert cut is not None
    assert (cut.first_hidden_line, cut.last_hidden_line, cut.total_lines) == (1, 1, 1)
    assert len(cut.head) > 1500
    assert cut.tail.endswith("0]}")


def test_terminal_noise_is_capped_and_its_end_is_seen() -> None:
    """Field report D8."""
    made = cut_text("\x1b[2K\x1b[1G⠋" * 10_000 + "OK", 3000, _notice)
    assert len(_bytes(made.text)) <= 3000
    assert made.text.endswith("OK")


@pytest.mark.parametrize("max_bytes", [-5, 0, 10, 60])
def test_a_tiny_limit_leaves_the_notice_alone(max_bytes: int) -> None:
    made = cut_text("汉字" * 100, max_bytes, _notice)
    assert made.cut is not None
    assert made.text == _notice(made.cut)
    assert made.cut.hidden_bytes == 600


def test_a_notice_that_grows_without_end_still_leaves_a_result() -> None:
    lengths = iter(range(100, 10_000, 100))
    made = cut_text("a" * 5000, 400, lambda cut: "n" * next(lengths))
    assert made.cut is not None
    assert (made.cut.head, made.cut.tail) == ("", "")


@pytest.mark.parametrize("text", ["x" * 200_000, "line of text\n" * 15_000, "汉字" * 33_000, "e\u0301" * 66_000])
def test_two_hundred_kilobytes_take_under_a_millisecond(text: str) -> None:
    best = min(_seconds(text) for _ in range(7))
    assert best < 0.005  # some 0.2 to 0.5 ms on an idle core


def _seconds(text: str) -> float:
    start = time.perf_counter()
    cut_text(text, 102_400, _notice)
    return time.perf_counter() - start
