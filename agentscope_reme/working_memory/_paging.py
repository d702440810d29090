# -*- coding: utf-8 -*-
"""Reading a long text piece by piece: where a piece begins, where it ends, and where the next one begins."""

from dataclasses import dataclass, replace

__all__ = ["Page", "line_start", "page_of", "readable"]


@dataclass(frozen=True)
class Page:
    """One piece of a text.

    Attributes:
        text (`str`): the piece, with the newlines it has.
        first_line (`int`): the line it begins in, from 1.
        last_line (`int`): the line it ends in.
        first_byte (`int`): its first byte, from 0.
        end_byte (`int`): the byte behind its last one.
        next_line (`int | None`): the line to go on with, where the piece ends at the end of a line.
        next_byte (`int | None`): the byte to go on with, from 0, where it ends inside a line; both ``None`` at the end.
    """

    text: str
    first_line: int
    last_line: int
    first_byte: int
    end_byte: int
    next_line: int | None = None
    next_byte: int | None = None


def page_of(
    data: bytes,
    *,
    start_line: int = 1,
    start_byte: int | None = None,
    limit: int,
    max_bytes: int,
) -> Page:
    """Take one piece out of a text. Going on from where it ends until the end gives every byte once.

    Args:
        data (`bytes`):
            The text in UTF-8; only ``\\n`` ends a line.
        start_line (`int`, defaults to `1`):
            The line to begin with, from 1.
        start_byte (`int | None`, optional):
            The byte to begin with instead, from 0; inside a character its first byte is taken.
        limit (`int`):
            The most lines to take, at least 1.
        max_bytes (`int`):
            The most bytes to take, at least 4 so that every character fits. Whole lines are taken where one fits.

    Returns:
        `Page`: the piece; its text is empty where the start lies behind the end.
    """
    begin = line_start(data, start_line) if start_byte is None else _border(data, min(start_byte, len(data)))
    end = _end(data, begin, limit, max_bytes)
    at_line_end = end > begin and data[end - 1 : end] == b"\n"
    next_line = data.count(b"\n", 0, end) + 1
    first_line = data.count(b"\n", 0, begin) + 1
    last_line = max(first_line, next_line - at_line_end)
    text = readable(data[begin:end])
    page = Page(text, first_line, last_line, begin, end)
    if end >= len(data):
        return page
    return replace(page, next_line=next_line) if at_line_end else replace(page, next_byte=end)


def line_start(data: bytes, line: int) -> int:
    """The byte at which a line (from 1) begins; the length of the text where there is no such line."""
    position = 0
    for _ in range(line - 1):
        position = data.find(b"\n", position) + 1
        if not position:
            return len(data)
    return position


def readable(data: bytes) -> str:
    """Text that can be sent to a model: what is no character in UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")


def _end(data: bytes, begin: int, limit: int, max_bytes: int) -> int:
    """Behind the last line that may be taken; inside the first one, between two characters, where that is too long."""
    end = begin
    for _ in range(limit):
        newline = data.find(b"\n", end, begin + max_bytes)
        if newline < 0:
            break
        end = newline + 1
    else:
        return end
    if len(data) <= begin + max_bytes:
        return len(data)
    return end if end > begin else max(_border(data, begin + max_bytes), begin + 1)


def _border(data: bytes, index: int) -> int:
    """The place at or before an index that lies between two characters."""
    lowest = max(0, index - 3)
    for place in range(index, lowest - 1, -1):
        if place >= len(data) or data[place] & 0xC0 != 0x80:
            return place
    return index
