# -*- coding: utf-8 -*-
"""The words that give away what a sentence is for: lists of patterns in the prompt files, one for each language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .._errors import PromptError
from ..text import PromptBook

__all__ = ["Lexicon", "default_lexicon", "lower"]

_ROOM = "refine"


class Lexicon:
    """Patterns of all languages, looked for in text of any case.

    The lists are entries of ``refine.yaml`` in each language's folder; a folder of prompts of your own replaces one by
    an entry of the same name, or adds a language. A conversation may be held in several languages, so all are tried;
    patterns of a language in another script cost nothing where no character of it occurs.

    Args:
        book (`PromptBook | None`): the prompts; None for those of the package.
    """

    def __init__(self, book: PromptBook | None = None) -> None:
        self.book = book or PromptBook()
        self._single: dict[str, re.Pattern[str]] = {}
        self._paired: dict[str, list[tuple[bool, re.Pattern[str], re.Pattern[str]]]] = {}
        self._compiled: dict[str, list[tuple[bool, list[re.Pattern[str]]]]] = {}

    def found_in(self, name: str, text: str) -> bool:
        """Whether a pattern of this list occurs in the text."""
        lowered, ascii_only = lower(text), text.isascii()
        return any(
            pattern.search(lowered)
            for wide, patterns in self._patterns(name)
            if not (wide and ascii_only)
            for pattern in patterns
        )

    def first(self, name: str, text: str) -> re.Match[str] | None:
        """The match of this list that begins first, the longest of several; positions are those of the text."""
        best: re.Match[str] | None = None
        for match in self.all(name, text):
            if best is None or (match.start(), -match.end()) < (best.start(), -best.end()):
                best = match
        return best

    def all(self, name: str, text: str) -> list[re.Match[str]]:
        """All matches of all patterns of this list, pattern by pattern; they may overlap."""
        lowered, ascii_only = lower(text), text.isascii()
        return [
            match
            for wide, patterns in self._patterns(name)
            if not (wide and ascii_only)
            for pattern in patterns
            for match in pattern.finditer(lowered)
        ]

    def pairs(self, name: str, text: str) -> Iterator[tuple[int, list[re.Match[str]], list[re.Match[str]]]]:
        """For each entry "one :: other" of this list with a match: its number, and the matches of either side."""
        lowered, ascii_only = lower(text), text.isascii()
        for number, (wide, one, other) in enumerate(self._pairs(name)):
            if not (wide and ascii_only):
                found = list(one.finditer(lowered)), list(other.finditer(lowered))
                if any(found):
                    yield number, *found

    def holds(self, pattern: str, text: str) -> bool:
        """Whether one pattern, written in an entry together with something else, occurs in the text."""
        if pattern not in self._single:
            self._single[pattern] = re.compile(pattern)
        return bool(self._single[pattern].search(lower(text)))

    def removed(self, name: str, text: str) -> str:
        """The text, in lower case, without what the patterns match."""
        left = lower(text)
        for _, patterns in self._patterns(name):
            for pattern in patterns:
                left = pattern.sub(" ", left)
        return left

    def texts(self, name: str) -> tuple[str, ...]:
        """The entries of this list as they are written, of all languages."""
        return tuple(each for language in self._having(name) for each in self.book.list(language, f"{_ROOM}.{name}"))

    def _patterns(self, name: str) -> list[tuple[bool, list[re.Pattern[str]]]]:
        if name not in self._compiled:
            self._compiled[name] = [
                (language == "zh", [re.compile(each) for each in self.book.list(language, f"{_ROOM}.{name}")])
                for language in self._having(name)
            ]
        return self._compiled[name]

    def _pairs(self, name: str) -> list[tuple[bool, re.Pattern[str], re.Pattern[str]]]:
        if name not in self._paired:
            self._paired[name] = [
                (language == "zh", re.compile(one), re.compile(other))
                for language in self._having(name)
                for one, _, other in (each.partition(" :: ") for each in self.book.list(language, f"{_ROOM}.{name}"))
            ]
        return self._paired[name]

    def _having(self, name: str) -> list[str]:
        """The languages that have this list; a language of one's own need not have all."""
        entry = f"{_ROOM}.{name}"
        found = [each for each in self.book.languages() if entry in self.book.names(each)]
        if not found:
            raise PromptError(f"No language has the list {entry!r}.")
        return found


_SIMPLIFIED = str.maketrans(
    "記請對這個麼嗎沒無會來說過還後從開關點時實樣讓買賣別喜歡愛討厭習慣計畫劃預約將離開辭職換變為現經過敏藥劑處產後藝術樂動"
    "運種類給誰幾處認識東車飛機票訂飯館電腦網頁書寫讀學習難題錯對應該當發達務應確認統體選擇決採納區別絕傳統遠遊戲觀參與於",
    "记请对这个么吗没无会来说过还后从开关点时实样让买卖别喜欢爱讨厌习惯计画划预约将离开辞职换变为现经过敏药剂处产后艺术乐动"
    "运种类给谁几处认识东车飞机票订饭馆电脑网页书写读学习难题错对应该当发达务应确认统体选择决采纳区别绝传统远游戏观参与于",
)


def lower(text: str) -> str:
    """The text in lower case with plain apostrophes and the commonest traditional characters as simplified ones.

    Each character stays in its place, so that positions are those of the text.
    """
    lowered = text.replace("\u2019", "'")
    lowered = lowered if lowered.isascii() else lowered.translate(_SIMPLIFIED)
    if len(lowered.lower()) == len(lowered):
        return lowered.lower()
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in lowered)


@lru_cache(maxsize=1)
def default_lexicon() -> Lexicon:
    """The package's own."""
    return Lexicon()
