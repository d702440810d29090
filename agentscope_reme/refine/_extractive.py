# -*- coding: utf-8 -*-
"""A refined text made of its sources' own sentences, without a model."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from ..message import estimate_tokens
from ..record import MemoryNode
from ..text import split_sentences
from ._category import is_small_talk
from ._comparison import says_the_same
from ._config import RefinerConfig
from ._fidelity import must_keep
from ._grouping import speaker_of, time_of
from ._importance import judge_importance, read_signals
from ._keywords import Word, WordWeights, keywords_of
from ._lexicon import Lexicon, default_lexicon
from ._words import words_of

__all__ = ["Extract", "extract"]

_LINE_COST = 4
"""Tokens that a sentence costs besides its words, so that of two the longer one is not always better."""
_LENGTH = 0.8
_IMPORTANCE = 0.5
_ASKS = 0.5
"""What a question tells beside a statement."""
_FRAGMENT, _SENTENCE_WORDS = 0.1, 3
"""What a sentence of fewer content words tells."""
_BY_AGENT = 0.4
"""What an agent's words tell beside a person's: what it explained can be had again."""
_AGENTS = frozenset(["assistant", "ai", "agent", "bot", "chatbot", "助手", "智能体", "机器人", "ai助手"])


@dataclass(frozen=True)
class Extract:
    """What was taken from some memories.

    Args:
        content (`str`): sentences, word for word, in the order of time; one line for what one speaker said, days apart
            under their dates.
        keywords (`tuple[str, ...]`): telling words that are not in it.
        time (`datetime | None`): when the last of them was said: what "yesterday" counts from where no date is shown.
        kept (`tuple[str, ...]`): the keys of the memories that sentences were taken from.
        dropped (`tuple[str, ...]`): the keys of those that said nothing, or what others say.
    """

    content: str
    keywords: tuple[str, ...] = ()
    time: datetime | None = None
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass
class _Statement:
    text: str
    node: MemoryNode
    place: tuple[int, int]
    must: bool
    size: int
    weight: float
    words: frozenset[Word] = field(default_factory=frozenset)


def extract(
    nodes: Sequence[MemoryNode],
    config: RefinerConfig,
    lexicon: Lexicon | None = None,
    *,
    count: Callable[[str], int] = estimate_tokens,
    weights: WordWeights | None = None,
) -> Extract:
    """Condense memories to `RefinerConfig.target_ratio` of their tokens.

    Small talk and near copies go first, of which the latest is kept. Sentences that must be kept are taken whatever
    they cost; of the others the one that adds most telling words for its length, again and again (greedy coverage of
    weighted words, a submodular function, after Lin and Bilmes 2011). Nothing is reworded, so the result passes the
    fidelity check.

    Args:
        nodes (`Sequence[MemoryNode]`): memories of one group, in the order of time.
        config (`RefinerConfig`): ratios and what protects.
        lexicon (`Lexicon | None`): the words that tell; those of the package by default.
        count (`Callable[[str], int]`): counts tokens.
        weights (`WordWeights | None`): how much words tell; told by these memories alone by default.

    Returns:
        `Extract`: with an empty content where there are no memories, or none says anything.
    """
    lexicon = lexicon or default_lexicon()
    texts = [node.content for node in nodes]
    weights = weights or WordWeights(texts)
    statements = _without_copies(list(_statements(nodes, config, lexicon, weights, count)), lexicon)
    total = sum(map(count, texts))
    chosen = _chosen(statements, weights, config.content_budget(total))
    chosen.sort(key=lambda each: each.place)
    content = _written(chosen)
    said = {each.node.key for each in statements}
    dropped = tuple(node.key for node in nodes if node.key not in said)
    if not content:
        return Extract("", dropped=dropped)
    words = keywords_of(texts, content, config.keyword_budget(total, count(content)), weights, count)
    kept = tuple(dict.fromkeys(each.node.key for each in chosen))
    return Extract(content, words, max(time_of(each.node) for each in chosen), kept, dropped)


def _statements(
    nodes: Sequence[MemoryNode],
    config: RefinerConfig,
    lexicon: Lexicon,
    weights: WordWeights,
    count: Callable[[str], int],
) -> Iterator[_Statement]:
    for at, node in enumerate(nodes):
        musts = must_keep(node, config, lexicon)
        whole = musts == [node.content.strip()]
        by_agent = speaker_of(node).strip().casefold() in _AGENTS
        for number, text in enumerate(musts if whole else split_sentences(node.content)):
            must = text in musts
            if not must and (is_small_talk(text, lexicon) or not any(map(str.isalnum, text))):
                continue
            worth = max(node.importance, judge_importance(read_signals(text, lexicon)).importance)
            words = frozenset(weights.words(text))
            weight = (1 + _IMPORTANCE * worth) * (_ASKS if text.rstrip().endswith(("?", "？")) else 1.0)
            weight *= (_FRAGMENT if len(words) < _SENTENCE_WORDS else 1.0) * (_BY_AGENT if by_agent else 1.0)
            yield _Statement(text, node, (at, number), must, count(text), weight, words)


def _without_copies(statements: list[_Statement], lexicon: Lexicon) -> list[_Statement]:
    """Without near copies: of several the latest; what must be kept goes only where another holds its very words."""
    kept: list[_Statement] = []
    by_word: dict[str, list[_Statement]] = {}
    for each in sorted(statements, key=lambda each: (not each.must, -len(each.text) * each.must, _latest(each))):
        words = words_of(each.text)
        near = {id(other): other for word in sorted(words)[:3] for other in by_word.get(word, ())}
        if each.must:
            copied = any(each.text in other.text for other in kept)
        else:
            copied = any(_is_copy(other, each, lexicon) for other in near.values())
        if copied:
            continue
        kept.append(each)
        for word in words:
            by_word.setdefault(word, []).append(each)
    return kept


def _is_copy(one: _Statement, other: _Statement, lexicon: Lexicon) -> bool:
    return says_the_same(one.text, other.text, lexicon, times=(time_of(one.node), time_of(other.node)))


def _latest(each: _Statement) -> tuple[int, int]:
    return -each.place[0], -each.place[1]


def _chosen(statements: list[_Statement], weights: WordWeights, budget: int) -> list[_Statement]:
    """What must be kept, then what adds most for its length, until the budget is spent; at least one."""
    chosen = [each for each in statements if each.must]
    covered = {words for each in chosen for words in each.words}
    room = budget - sum(each.size for each in chosen)
    left = [(-math.inf, each.place, each) for each in statements if not each.must]
    heapq.heapify(left)
    while left:
        _, place, best = heapq.heappop(left)
        gain = _gain(best, weights, covered)
        if gain <= 0:
            continue
        if left and (-gain, place) > left[0][:2]:
            heapq.heappush(left, (-gain, place, best))  # gains only shrink: the next may be better
        elif best.size <= room or not chosen:
            chosen.append(best)
            covered |= best.words
            room -= best.size
    return chosen


def _gain(each: _Statement, weights: WordWeights, covered: set[Word]) -> float:
    return each.weight * sum(map(weights.weight, each.words - covered)) / (each.size + _LINE_COST) ** _LENGTH


def _written(statements: list[_Statement]) -> str:
    """Statements as lines, with speakers where there are several and dates where there are several days."""
    speakers = {speaker_of(each.node) for each in statements}
    days = {_day(each.node) for each in statements}
    lines: list[str] = []
    last: tuple[date, str, str] | None = None
    for each in statements:
        day, speaker = _day(each.node), speaker_of(each.node) if len(speakers) > 1 else ""
        if len(days) > 1 and (last is None or last[0] != day):
            lines.append(day.isoformat())
        if last == (day, speaker, each.node.key):
            lines[-1] += ("" if _is_wide(lines[-1][-1:]) else " ") + each.text
        else:
            lines.append(f"{speaker}: {each.text}" if speaker else each.text)
        last = (day, speaker, each.node.key)
    return "\n".join(lines)


def _day(node: MemoryNode) -> date:
    return time_of(node).astimezone().date()


def _is_wide(char: str) -> bool:
    return char > "\u2e7f"
