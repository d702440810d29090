# -*- coding: utf-8 -*-
"""Cutting a line that is too long for one chunk, where a reader would."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable

__all__ = ["cut_line"]

_PLACES = (
    re.compile(r"[。！？；…]+[”’」』）)】》\"']*|[.!?;]+[)\"'\]]*(?=\s)"),
    re.compile(r"\s+|[，、：,:]"),
    re.compile(r"[/\\|&=>}\])]"),
)
_REACH = 0.35
"""The share of a piece's length in which a good place to cut is looked for."""
_JOINER = "\u200d"
_INVISIBLE = re.compile("[\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u20e3]")


def cut_line(text: str, limit: int, count: Callable[[str], int]) -> list[tuple[int, int]]:
    """Divide a line into pieces of about equal size.

    Args:
        text (`str`): The line.
        limit (`int`): The most tokens of a piece; one piece may be a little over, where tokens are spread unevenly.
        count (`Callable[[str], int]`): Counts tokens.

    Returns:
        `list[tuple[int, int]]`: Where each piece begins and ends, in characters; together they are the line.
    """
    size = count(text)
    if size <= limit or len(text) < 2:
        return [(0, len(text))]
    pieces = math.ceil(size / limit)
    # Halves that each count as a whole number of pieces, so that no short rest is left over.
    middle = _place(text, len(text) * (pieces // 2) // pieces)
    parts = ((0, middle), (middle, len(text)))
    return [(start + a, start + b) for start, end in parts for a, b in cut_line(text[start:end], limit, count)]


def _place(text: str, wished: int) -> int:
    """The best place to cut near the one that is wished for; neither the beginning nor the end."""
    reach = max(1, int(len(text) * _REACH / 2))
    low, high = max(1, wished - reach), min(len(text) - 1, wished + reach)
    window = text[low:high]
    for pattern in _PLACES:
        places = [low + match.end() for match in pattern.finditer(window)]
        if places:
            return min(places, key=lambda place: abs(place - wished))
    return _between_characters(text, min(max(wished, 1), len(text) - 1))


def _between_characters(text: str, place: int) -> int:
    """A place at which no visible character is torn from its accents, or an emoji from its parts."""
    moved = place
    while moved > 1 and _sticks(text, moved):
        moved -= 1
    return place if _sticks(text, moved) else moved


def _sticks(text: str, place: int) -> bool:
    after = text[place]
    flag = "\U0001f1e6" <= after <= "\U0001f1ff" and "\U0001f1e6" <= text[place - 1] <= "\U0001f1ff"
    return bool(text[place - 1] == _JOINER or _INVISIBLE.match(after) or unicodedata.combining(after) or flag)
