# -*- coding: utf-8 -*-
"""Text in terminal columns, where a Chinese character takes two."""

import unicodedata
from collections.abc import Iterator

__all__ = ["cells", "fitted", "padded", "row", "wrapped"]

_OPENING, _CLOSING = "（「《“", "，。；：？！、）」》”"
_LABEL = 19
_FIGURE = 16


def cells(text: str) -> int:
    """The columns that a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def fitted(text: str, width: int) -> str:
    """The text in at most so many columns, with an ellipsis where it was cut."""
    if cells(text) <= width:
        return text
    return _head(text, width - 1) + "…" if width > 1 else "…"[:width]


def padded(text: str, width: int, *, right: bool = False) -> str:
    """The text filled up with spaces."""
    space = " " * max(0, width - cells(text))
    return space + text if right else text + space


def row(label: str, text: str, figure: str, width: int) -> str:
    """A line of the log: what happened, to what, and how much it was, which stands on the right."""
    figure = padded(figure, _FIGURE, right=True)
    room = width - _LABEL - cells(figure) - 4
    return f"  {padded(fitted(label, _LABEL), _LABEL)} {padded(fitted(text, room), room)} {figure}"


def wrapped(text: str, width: int, indent: str = "") -> Iterator[str]:
    """The text in lines of at most so many columns; between Chinese characters a line may end anywhere."""
    line, room = "", max(2, width - cells(indent))
    for word in _words(text):
        if line and cells(line + word.rstrip()) > room:
            yield indent + line.rstrip()
            line = ""
        word = word if line else word.lstrip()
        while cells(word.rstrip()) > room:
            head = _head(word, room)  # at least one character: a room is two columns or more
            yield indent + head.rstrip()
            word = word[len(head) :].lstrip()
        line += word if line or word.strip() else ""
    if line.strip():
        yield indent + line.rstrip()


def _head(text: str, width: int) -> str:
    """As much of the beginning as fits."""
    end, used = 0, 0
    while end < len(text) and used + _width(text[end]) <= width:
        used += _width(text[end])
        end += 1
    return text[:end]


def _words(text: str) -> Iterator[str]:
    """Pieces that a line may end after: a word with the spaces behind it, or a wide character and its punctuation."""
    word = ""
    for char in text:
        breaks = (word[-1:] == " " and char != " ") or _width(char) == 2 or (word and _width(word[-1]) == 2)
        if word and breaks and char not in _CLOSING and char != " " and word[-1] not in _OPENING:
            yield word
            word = ""
        word += char
    if word:
        yield word


def _width(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
