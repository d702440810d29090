# -*- coding: utf-8 -*-
"""What kind of thing a text tells, and what is not worth keeping at all."""

from __future__ import annotations

from datetime import datetime, timedelta

from ..text import date_mentions, split_sentences
from ._lexicon import Lexicon, default_lexicon

__all__ = ["CATEGORIES", "category_of", "is_small_talk", "reason_to_drop"]

CATEGORIES = ("fact", "preference", "plan", "event")
"""The categories that are told by rules; a schema may declare others, which a model or a caller fills."""

_LONGEST_TALK = 300


def category_of(text: str, time: datetime, lexicon: Lexicon | None = None) -> str:
    """Fact, preference, plan or event, told by the words and the dates.

    Args:
        text (`str`): what is known.
        time (`datetime`): when it was said: a day after it speaks for a plan, one before it for an event.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
    """
    lexicon = lexicon or default_lexicon()
    day = time.date()
    spans = date_mentions(text, time, day + timedelta(days=330))
    ahead = any(span.end > day for span in spans)
    behind = any(span.end < day for span in spans)
    if lexicon.found_in("plan", text) and (ahead or not behind):
        return "plan"
    if lexicon.found_in("preference", text):
        return "preference"
    if lexicon.found_in("event", text) or (behind and not ahead):
        return "event"
    return "fact"


def is_small_talk(text: str, lexicon: Lexicon | None = None) -> bool:
    """Whether a text is nothing but greetings, thanks, assent and passing states."""
    if len(text) > _LONGEST_TALK:
        return False
    lexicon = lexicon or default_lexicon()
    left = [each for each in split_sentences(text) if any(map(str.isalnum, lexicon.removed("courtesy", each)))]
    return all(_is_passing(each, lexicon) for each in left)


def reason_to_drop(text: str, lexicon: Lexicon | None = None, *, now: datetime, expires: datetime | None = None) -> str:
    """Why a text is not worth refining: ``blank``, ``small talk`` or ``outdated``; "" where it is.

    Args:
        text (`str`): what is known.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        now (`datetime`): the present.
        expires (`datetime | None`): when it stops being of use.
    """
    lexicon = lexicon or default_lexicon()
    if not any(map(str.isalnum, text)):
        return "blank"
    if lexicon.found_in("safety", text) or lexicon.found_in("wishes", text):
        return ""
    if expires is not None and expires <= now:
        return "outdated"
    return "small talk" if is_small_talk(text, lexicon) else ""


def _is_passing(sentence: str, lexicon: Lexicon) -> bool:
    return len(sentence) <= 40 and lexicon.found_in("trivia", sentence)
