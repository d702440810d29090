# -*- coding: utf-8 -*-
"""Which words tell what a text is about, and by which of them the sources of a refined memory are found again."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from ..text import WordTokenizer
from ._surface_words import surface_words

__all__ = ["Word", "WordWeights", "keywords_of"]

Word = tuple[str, ...]
"""A word as search knows it: its tokens."""

_NUMBERED = 1.3
"""How much more a word counts that holds a digit."""
_SINGLE = 0.5
"""How much less a single character tells."""
_CHECK_EVERY = 16


class WordWeights:
    """How much each word tells: ln(1 + n / df), where df of n texts hold it.

    Args:
        texts (`Iterable[str]`): texts to count words in; the more of an owner's memories, the better it is told what
            is rare.
        tokenizer (`WordTokenizer | None`): what the index uses.
    """

    def __init__(self, texts: Iterable[str] = (), tokenizer: WordTokenizer | None = None) -> None:
        self.tokenizer = tokenizer or _shared_tokenizer()
        self._holding: Counter[Word] = Counter()
        self._texts = 0
        for text in texts:
            self.add(text)

    @property
    def texts(self) -> int:
        """How many texts were counted."""
        return self._texts

    def add(self, text: str) -> None:
        """Count the words of one more text."""
        self._texts += 1
        self._holding.update(set(self.words(text)))

    def words(self, text: str) -> dict[Word, str]:
        """The words of a text in order, each as it is written first."""
        found: dict[Word, str] = {}
        for written, word in surface_words(text, self.tokenizer):
            found.setdefault(word, written)
        return found

    def weight(self, word: Word) -> float:
        """How much a word tells; one that was never counted as much as one that was counted once."""
        told = math.log(1 + max(1, self._texts) / max(1, self._holding[word]))
        if len(word[0]) == 1:
            return told * _SINGLE
        return told * (_NUMBERED if any(map(str.isdigit, word[0])) else 1.0)


def keywords_of(
    texts: Sequence[str],
    shown: str,
    budget: int,
    weights: WordWeights,
    count: Callable[[str], int],
) -> tuple[str, ...]:
    """Words of the texts that are not in the text that is shown for them, the most telling of each text first.

    Args:
        texts (`Sequence[str]`): the sources.
        shown (`str`): what was refined from them.
        budget (`int`): the most tokens that the words may cost together.
        weights (`WordWeights`): how much each tells.
        count (`Callable[[str], int]`): counts tokens.
    """
    there = weights.words(shown)
    kept: dict[Word, str] = {}
    for word, spelling in _in_turn(texts, weights):
        if word in there or word in kept:
            continue
        kept[word] = spelling
        if not len(kept) % _CHECK_EVERY and count(" ".join(kept.values())) > budget:
            break
    words = list(kept.values())
    while words and count(" ".join(words)) > budget:
        words.pop()
    return tuple(words)


def _in_turn(texts: Sequence[str], weights: WordWeights) -> Iterator[tuple[Word, str]]:
    """The most telling word of each text, then the second of each, and so on: every source can be found again."""
    ranked = [sorted(weights.words(text).items(), key=lambda pair: -weights.weight(pair[0])) for text in texts]
    for place in range(max(map(len, ranked), default=0)):
        row = (words[place] for words in ranked if place < len(words))
        yield from sorted(row, key=lambda pair: -weights.weight(pair[0]))


@lru_cache(maxsize=1)
def _shared_tokenizer() -> WordTokenizer:
    return WordTokenizer()
