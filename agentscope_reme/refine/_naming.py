# -*- coding: utf-8 -*-
"""Whether a memory names what a request to forget is about."""

from __future__ import annotations

import re

from ..record import MemoryNode
from ..text import WordTokenizer
from ._lexicon import Lexicon, default_lexicon
from ._words import plain, words_of

__all__ = ["is_withheld", "mentions", "names_something", "parts_of", "points_back"]

_tokenizer = WordTokenizer()
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_BEFORE = re.compile("^(?:[我你您咱俺][们們]?的?|[他她它][们們]?的|[在对對和跟与與有是那这這](?=..))+")
_BETWEEN = re.compile("[的了]")


def names_something(subject: str) -> bool:
    """Whether a subject names something in particular: "me", "it all" and 一切 have no content word, and 那句话 only
    points."""
    return not _tokenizer.is_stop_query(subject) and not points_back(subject)


def points_back(subject: str, lexicon: Lexicon | None = None) -> bool:
    """Whether a subject is nothing but a word for what was said before: 那句话, "that", 她."""
    return (lexicon or default_lexicon()).found_in("back_reference", subject)


def mentions(subject: str, node: MemoryNode) -> bool:
    """Whether what a memory says names a subject: each of its content words, whatever their order.

    Words are compared by their stems, so that "cat" is not in "education". Chinese is compared by its characters as
    they stand, for where a word begins is not written: 猫 is in 猫毛.

    Args:
        subject (`str`): what a request is about.
        node (`MemoryNode`): the memory; words by which it is only found do not count.
    """
    wanted, text = words_of(subject), plain(node.content)
    held = words_of(node.content)
    if not names_something(subject) or not {word for word in wanted if not _HAN.search(word)} <= held:
        return False
    pieces = [piece for run in _HAN.findall(plain(subject)) for piece in _BETWEEN.split(_BEFORE.sub("", run)) if piece]
    return all(piece in text or _has_words(piece, held) for piece in pieces)


def is_withheld(text: str, subject: str, lexicon: Lexicon) -> bool:
    """Whether what names a subject stays all the same until somebody confirms it: it is of health or safety, and the
    subject is not ("忘掉关于猫的事" beside "我对猫毛过敏")."""
    return lexicon.found_in("safety", text) and not lexicon.found_in("safety", subject)


def parts_of(subject: str) -> tuple[list[str], list[str]]:
    """What stands as it is in every memory that names a subject: Chinese, and numbers. And its other words, which stand
    there in some form."""
    parts = [word for word in words_of(subject) if _HAN.search(word) or word.isdigit()]
    others = [word for word in _HAN.sub(" ", plain(subject)).split() if words_of(word)]
    return sorted(parts, key=len, reverse=True), sorted(others, key=len, reverse=True)


def _has_words(piece: str, held: frozenset[str]) -> bool:
    """Whether its words stand apart; a single character that is left of a word (海 of 上海) tells nothing."""
    words = words_of(piece)
    return words <= held and any(len(word) > 1 for word in words)
