# -*- coding: utf-8 -*-
"""Which words two texts share: sets of stems and of pairs of Chinese characters, without a dictionary."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from ..text import WordTokenizer

__all__ = ["overlap", "plain", "words_of"]

_LONGEST = 20_000
_tokenizer = WordTokenizer(list, "characters")


def plain(text: str) -> str:
    """The text in compatibility form, as `text.date_mentions` reads it, with positions that are the same for all."""
    return unicodedata.normalize("NFKC", text[:_LONGEST])


@lru_cache(maxsize=16_384)
def words_of(text: str) -> frozenset[str]:
    """The content words of a text."""
    return frozenset(_tokenizer.tokens(text))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of all words of two texts that is in both (Jaccard), 0 to 1; 0 where neither has one."""
    together = len(one | other)
    return len(one & other) / together if together else 0.0
