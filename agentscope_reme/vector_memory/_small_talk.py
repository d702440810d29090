# -*- coding: utf-8 -*-
"""Whether anything in a conversation can be worth remembering: what is not worth it costs no call of a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..text import PromptBook
from ._utterances import Utterance
from .kinds import MemoryKind

__all__ = ["says_something", "small_talk"]

_BETWEEN = re.compile(r"[\s,.!?;:~…，。！？；：、～·—\-]+")
_QUESTION = re.compile(r"[?？]|[吗呢]\s*[。.]?\s*$")


def small_talk(book: PromptBook) -> re.Pattern[str]:
    """What matches one phrase of small talk, in any language there are prompts in."""
    patterns = [each for name in book.languages() for each in book.list(name, "memory_agent.small_talk_patterns")]
    return re.compile("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)


def says_something(said: Sequence[Utterance], kind: MemoryKind, phrases: re.Pattern[str]) -> bool:
    """Whether there is more than small talk in what counts for a kind of memory.

    Args:
        said (`Sequence[Utterance]`):
            The conversation.
        kind (`MemoryKind`):
            Where only people count, an agent's words count too once a person answers a question of the agent, be it
            with a "yes" only.
        phrases (`re.Pattern[str]`):
            From `small_talk`.
    """
    if not kind.people_only:
        return any(each.role == "tool" or not _is_small_talk(each.words or each.text, phrases) for each in said)
    return any(
        each.role == "user" and (not _is_small_talk(each.words, phrases) or _answers_a_question(said[:at]))
        for at, each in enumerate(said)
    )


def _answers_a_question(before: Sequence[Utterance]) -> bool:
    return bool(before) and before[-1].role == "agent" and bool(_QUESTION.search(before[-1].words))


def _is_small_talk(text: str, phrases: re.Pattern[str]) -> bool:
    """Whether a text is made of phrases of small talk only: blank, marks and emoji, "ok, thanks!", "好的，谢谢"."""
    return all(_fits(phrase, phrases) for phrase in _phrases(text))


def _phrases(text: str) -> Iterable[str]:
    bare = "".join(
        char if char.isalnum() or char.isspace() or char in "',.!?;:~…，。！？；：、～·—-" else " " for char in text
    )
    return filter(None, _BETWEEN.split(bare.replace("\u2019", "'"))) if _is_han(bare) else _clauses(bare)


def _clauses(text: str) -> Iterable[str]:
    return filter(None, (" ".join(each.split()) for each in re.split(r"[,.!?;:~…\n\-—]+", text)))


def _is_han(text: str) -> bool:
    return any("\u4e00" <= char <= "\u9fff" for char in text)


def _fits(phrase: str, phrases: re.Pattern[str]) -> bool:
    return bool(phrases.fullmatch(phrase))
