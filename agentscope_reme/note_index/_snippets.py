# -*- coding: utf-8 -*-
"""The part of a chunk that shows why it was found."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["snippet"]

_BREAK = re.compile(r"\n|(?<=[。！？；])|(?<=[.!?;])\s+")
_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff00-\uff60\U0001f300-\U0003ffff]")
_SHORTEST_STEM = 3
_MARK = "…"


def snippet(text: str, words: Sequence[str], width: int = 700) -> str:
    """The whole text where it is short, else the stretch of it that holds most of the query's words.

    Args:
        text (`str`): the chunk.
        words (`Sequence[str]`): the query's words as the index has them, stems in lower case.
        width (`int`): columns; a Chinese character takes two.

    Returns:
        `str`: whole sentences or lines where they fit; "…" stands where something was left out.
    """
    if _columns(text) <= width:
        return text
    parts = _parts(text, words, width)
    gains = [_gain(part, words) for part in parts]
    best = max(range(len(parts)), key=lambda at: (gains[at], -at))
    first, last = _grown([_columns(part) for part in parts], gains, best, width)
    shown = "".join(parts[first : last + 1]).strip()
    return (_MARK if first else "") + shown + (_MARK if last + 1 < len(parts) else "")


def _parts(text: str, words: Sequence[str], width: int) -> list[str]:
    """Sentences and lines with what separates them, cut further where one alone is too wide; together the text."""
    cuts = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(cuts) if end > start]
    return [piece for part in parts for piece in _pieces(part, words, width)]


def _pieces(part: str, words: Sequence[str], width: int) -> list[str]:
    """Short pieces of a long part; none of the words is cut in two."""
    if _columns(part) <= width // 2:
        return [part]
    whole = re.compile("|".join(map(re.escape, map(_stem, words))) or r"(?!)", re.IGNORECASE)
    inside = {at for match in whole.finditer(part) for at in range(match.start() + 1, match.end())}
    cuts = [at for at in range(0, len(part), max(1, width // 8)) if at not in inside]
    return [part[start:end] for start, end in pairwise([*cuts, len(part)])]


def _gain(part: str, words: Sequence[str]) -> float:
    """How many of the words are in it; long ones tell more."""
    folded = unicodedata.normalize("NFKC", part).casefold()
    return sum(1 + len(word) / 100 for word in words if _stem(word) in folded)


def _stem(word: str) -> str:
    """What of a stem stands in the word itself: ``happi`` is of happy."""
    return word[:-1] if word.endswith("i") and len(word) > _SHORTEST_STEM else word


def _grown(sizes: Sequence[int], gains: Sequence[float], best: int, width: int) -> tuple[int, int]:
    """The stretch around the best part that fits, taking in the better neighbour first."""
    first = last = best
    room = width - sizes[best]
    while True:
        ends = [at for at in (first - 1, last + 1) if 0 <= at < len(sizes) and sizes[at] <= room]
        if not ends:
            return first, last
        at = max(ends, key=lambda end: (gains[end], end))
        room -= sizes[at]
        first, last = min(first, at), max(last, at)


def _columns(text: str) -> int:
    return len(text) if text.isascii() else len(text) + len(_WIDE.findall(text))
