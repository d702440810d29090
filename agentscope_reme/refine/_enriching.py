# -*- coding: utf-8 -*-
"""What a new memory is worth and what it is about: importance, category, tags and entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ..record import NEUTRAL_IMPORTANCE, MemoryNode
from ..text import split_sentences
from ._category import category_of, is_small_talk
from ._config import RefinerConfig
from ._entities import entities_of
from ._expiry import with_expiry
from ._frames import frames_of
from ._importance import judge_importance, read_signals
from ._lexicon import Lexicon, default_lexicon
from ._requests import asks_to_forget, asks_to_forget_all, asks_to_remember, concerns_memory
from ._schema import TagSchema

__all__ = ["FIELDS", "Said", "changed", "drawn_by_rules", "enriched"]

FIELDS = ("importance", "tags", "entities", "source_ids", "metadata", "expires_at", "category")
"""What rules know of a memory, and what it may gain from being said again."""

_LONGEST = 600
_QUESTION = ("?", "？", "吗", "呢", "吗。", "么？")


@dataclass(frozen=True)
class Said:
    """What somebody said.

    Args:
        text (`str`): the words.
        time (`datetime`): when.
    """

    text: str
    time: datetime


def enriched(
    node: MemoryNode,
    config: RefinerConfig,
    schema: TagSchema,
    lexicon: Lexicon | None = None,
    *,
    explicit: bool = False,
    times: int = 1,
) -> MemoryNode:
    """A memory with what the rules know of it, where nobody has said so yet.

    An importance that is not neutral counts as somebody's judgement, within the bounds of the rules.

    Args:
        node (`MemoryNode`): the memory.
        config (`RefinerConfig`): when memories expire.
        schema (`TagSchema`): the dimensions of tags, and the categories.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        explicit (`bool`): whether the user asked for it to be remembered.
        times (`int`): how often it was said.
    """
    lexicon = lexicon or default_lexicon()
    signals = read_signals(node.content, lexicon, explicit=explicit, times=times)
    judged = None if node.importance == NEUTRAL_IMPORTANCE else node.importance
    said = (node.message_time or node.time_created).astimezone()
    category = node.category or schema.category(category_of(node.content, said, lexicon))
    node = replace(
        node,
        importance=judge_importance(signals, judged).importance,
        category=category,
        entities=node.entities or entities_of(node.content),
    )
    known = schema.values_of(node)
    guessed = {name: values for name, values in schema.guessed(node.content).items() if name not in known}
    return with_expiry(schema.tagged(node, guessed) if guessed else node, config)


def changed(old: MemoryNode, new: MemoryNode) -> dict[str, Any]:
    """Which of these fields differ, with their new values: what `MemoryBank.patch` takes."""
    fields = {name: getattr(new, name) for name in FIELDS}
    return {name: value for name, value in fields.items() if _plain(value) != _plain(getattr(old, name))}


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def drawn_by_rules(said: Sequence[Said], lexicon: Lexicon | None = None) -> list[tuple[str, datetime, int]]:
    """The sentences of a user that are worth remembering, word for word, without a model.

    Taken are facts about the person and those close to them, preferences, plans and decisions, health and safety,
    wishes that must hold, strong emotion, and what was said twice. Questions, courtesies, passing states and what is
    about remembering itself are not.

    Args:
        said (`Sequence[Said]`): messages of one user, oldest first.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.

    Returns:
        `list[tuple[str, datetime, int]]`: each sentence once, with when it was said last and how often.
    """
    lexicon = lexicon or default_lexicon()
    times: dict[str, int] = {}
    last: dict[str, tuple[str, datetime]] = {}
    for each in said:
        for sentence in _statements(each.text, lexicon):
            key = "".join(filter(str.isalnum, sentence.casefold()))
            times[key] = times.get(key, 0) + 1
            last[key] = (sentence, each.time)
    return [(*last[key], count) for key, count in times.items() if _is_worth_it(last[key][0], count, lexicon)]


def _statements(text: str, lexicon: Lexicon) -> Iterator[str]:
    for sentence in split_sentences(text):
        bare = sentence.strip()
        if len(bare) > _LONGEST or bare.endswith(_QUESTION) or not any(map(str.isalnum, bare)):
            continue
        if is_small_talk(bare, lexicon) or concerns_memory(bare, lexicon):
            continue
        if not any(asks(bare, lexicon) for asks in (asks_to_remember, asks_to_forget, asks_to_forget_all)):
            yield bare


def _is_worth_it(sentence: str, times: int, lexicon: Lexicon) -> bool:
    signals = read_signals(sentence, lexicon, times=times)
    if signals.empty:
        return signals.safety or signals.wish
    strong = signals.safety or signals.wish or signals.commits or signals.emotion or signals.preference
    return strong or times > 1 or _states_a_fact(sentence, lexicon)


def _states_a_fact(sentence: str, lexicon: Lexicon) -> bool:
    """Whether a sentence says who somebody is, or gives an attribute its value."""
    return lexicon.found_in("fact", sentence) or any(frame.kind == "slot" for frame in frames_of(sentence, lexicon))
