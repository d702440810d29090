# -*- coding: utf-8 -*-
"""Cutting the middle out of a long text by bytes of UTF-8, at borders of characters and lines."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Cut", "CutText", "cut_text"]

_HEAD_SHARE = 0.6
"""Of what is kept, this share is from the beginning: it tells what the text is. The end often holds the answer."""

_MAX_JOINED = 32
"""How many characters a cut moves back at most to keep a base character with its marks."""

_ZERO_WIDTH_JOINER = "\u200d"
_SKIN_TONES = ("\U0001f3fb", "\U0001f3ff")


@dataclass(frozen=True)
class Cut:
    """What a cut keeps and what it hides. Byte offsets are into the text's UTF-8; a lone surrogate counts 3 bytes
    there, as many as the U+FFFD that may be written for it.

    Args:
        head (`str`):
            The kept beginning.
        tail (`str`):
            The kept end.
        total_bytes (`int`):
            The size of the whole text.
        total_lines (`int`):
            Its lines; only `\\n` ends a line.
        first_hidden_line (`int`):
            The line, counted from 1, that holds the first hidden byte; a part of it may be shown.
        first_hidden_byte (`int`):
            The offset of the first hidden byte, which is also the size of the head.
        last_hidden_line (`int`):
            The line that holds the last hidden byte.
        hidden_bytes (`int`):
            How many bytes lie between head and tail.
    """

    head: str
    tail: str
    total_bytes: int
    total_lines: int
    first_hidden_line: int
    first_hidden_byte: int
    last_hidden_line: int
    hidden_bytes: int


@dataclass(frozen=True)
class CutText:
    """A text that fits.

    Args:
        text (`str`):
            The whole text, or head, notice and tail.
        cut (`Cut | None`):
            What was hidden; `None` where the text fitted.
    """

    text: str
    cut: Cut | None


def cut_text(text: str, max_bytes: int, notice: Callable[[Cut], str]) -> CutText:
    """Cut the middle out of a text so that the rest and a notice fit.

    The head gets 60 % of the room and the tail 40 %. Both end at a line border where there is one in the quarter next
    to the cut; else between two characters, never between a character and the marks that belong to it.

    Args:
        text (`str`):
            The text; lone surrogates are tolerated.
        max_bytes (`int`):
            The limit in bytes of UTF-8.
        notice (`Callable[[Cut], str]`):
            Makes the text that stands in place of the middle, line ends included. It is called several times, since its
            length and the cut depend on each other.

    Returns:
        `CutText`: at most `max_bytes` long if the notice is. Where it is not, the notice alone.
    """
    if len(text) * 4 <= max_bytes:
        return CutText(text, None)
    data = _encoded(text)
    if len(data) <= max_bytes:
        return CutText(text, None)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    reserve = 0
    for _ in range(4):
        cut = _cut(text, data, lines, max_bytes - reserve)
        note = notice(cut)
        size = len(_encoded(note))
        if len(data) - cut.hidden_bytes + size <= max_bytes:
            break
        reserve = max(size, reserve + 1)
    else:
        cut = _cut(text, data, lines, 0)
        note = notice(cut)
    return CutText(cut.head + note + cut.tail, cut)


def _cut(text: str, data: bytes, lines: int, room: int) -> Cut:
    room = max(0, room)
    stop = _head_stop(data, int(room * _HEAD_SHARE))
    start = _tail_start(data, len(data) - (room - int(room * _HEAD_SHARE)))
    head = data[:stop].decode("utf-8", "surrogatepass")
    tail = data[start:].decode("utf-8", "surrogatepass")
    head, tail = _unjoined_head(text, head), _unjoined_tail(text, tail)
    stop, start = len(_encoded(head)), len(data) - len(_encoded(tail))
    first_line = data.count(b"\n", 0, stop) + 1
    ends = lines - (not data.endswith(b"\n"))
    last_line = ends - data.count(b"\n", start - 1) + 1  # the hidden part is the longest: count the rest
    return Cut(head, tail, len(data), lines, first_line, stop, last_line, start - stop)


def _head_stop(data: bytes, stop: int) -> int:
    """Where the head ends: after the last line end in its last quarter, else at a character border."""
    line_end = data.rfind(b"\n", stop - stop // 4, stop)
    if line_end >= 0:
        return line_end + 1
    while stop > 0 and data[stop] & 0xC0 == 0x80:
        stop -= 1
    return stop


def _tail_start(data: bytes, start: int) -> int:
    """Where the tail begins: after the first line end in its first quarter, else at a character border."""
    line_end = data.find(b"\n", max(0, start - 1), start + (len(data) - start) // 4)
    if line_end >= 0:
        return line_end + 1
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return start


def _unjoined_head(text: str, head: str) -> str:
    end = len(head)
    for _ in range(_MAX_JOINED):
        if end == 0 or not _are_joined(text[end - 1], text[end]):
            return head[:end]
        end -= 1
    return head


def _unjoined_tail(text: str, tail: str) -> str:
    start = len(text) - len(tail)
    for _ in range(_MAX_JOINED):
        if start == len(text) or not _are_joined(text[start - 1], text[start]):
            return text[start:]
        start += 1
    return tail


def _are_joined(before: str, after: str) -> bool:
    """Whether two neighbours show as one character, or are the two halves of a line end."""
    if after < "\u0300" and before < "\u0300":
        return before == "\r" and after == "\n"
    if _ZERO_WIDTH_JOINER in (before, after) or _SKIN_TONES[0] <= after <= _SKIN_TONES[1]:
        return True
    return before != "\n" and unicodedata.category(after) in ("Mn", "Me", "Mc")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
