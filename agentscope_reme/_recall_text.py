# -*- coding: utf-8 -*-
"""Recalled texts as a model reads them: as many as there is room for, each with where it comes from, as data."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ._config import RecallConfig
from ._recall_search import Found
from ._recall_sources import Recalled
from .message import delimited, escape_data
from .working_memory import fair_cap

__all__ = ["KNOWLEDGE_TAG", "MEMORIES_TAG", "Listing", "as_data", "listed"]

MEMORIES_TAG = "memories"
"""The tag that recalled texts stand in, wherever they are shown."""

KNOWLEDGE_TAG = "knowledge"
"""The tag that passages of knowledge bases stand in."""

_HOST_TAG = "long_term_memory"
"""What the host puts around what a long-term memory returns; a text that closes it could speak as the user."""

_MOST_CHARS = 8_000
"""Characters of one text that are looked at."""

_LEAST_TOKENS = 32
"""Room below which no text is begun."""

_STANDING = 3
"""What is shown whatever is asked has at least this part of the room, where it needs it."""

_CHARS_A_TOKEN = 8
"""More characters than a token holds of nearly all texts: what is longer is cut before it is counted."""


class Listing(NamedTuple):
    """Texts that fit, as they are shown.

    Args:
        memories (`str`): what is remembered.
        knowledge (`str`): passages of knowledge bases, apart from it.
        shown (`list[Recalled]`): what is in the first text.
        passages (`list[Recalled]`): what is in the second.
    """

    memories: str
    knowledge: str
    shown: list[Recalled]
    passages: list[Recalled]


def listed(found: Found, config: RecallConfig, most: int, count: Callable[[str], int]) -> Listing:
    """As many hits as fit, as a list or as JSON, behind them what is shown besides, and passages apart from both. A
    text that is too long for what is left is cut.

    Args:
        found (`Found`):
            The hits, the best first, and what is shown besides and apart: of that the long texts are cut first.
        config (`RecallConfig`):
            The form.
        most (`int`):
            The most tokens of all.
        count (`Callable[[str], int]`):
            Tokens in a text.

    Returns:
        `Listing`: the texts, and what is in them.
    """
    line = _json_line if config.form == "json" else _list_line
    kept = sum(_sizes(found.standing, line, most // _STANDING, count))
    apart = sum(_sizes(found.knowledge, line, most // _STANDING, count))
    lines: list[str] = []
    shown: list[Recalled] = []
    left = most - kept - apart
    for hit in found.hits:
        entry = _fitted(hit, line, left, count)
        if entry is None:
            break
        lines.append(entry)
        shown.append(hit)
        left -= count(entry) + 1
    beside = _beside(found.standing, line, left + kept, count)
    left -= sum(count(entry) + 1 for entry in beside) - kept
    passages = _beside(found.knowledge, line, left + apart, count)
    return Listing(
        _joined([*lines, *beside], config),
        _joined(passages, config),
        [*shown, *found.standing[: len(beside)]],
        list(found.knowledge[: len(passages)]),
    )


def as_data(introduction: str, text: str, tag: str = MEMORIES_TAG, **attributes: str) -> str:
    """A text between tags which it cannot leave, with a word on what it is before it."""
    for other in (_HOST_TAG, MEMORIES_TAG, KNOWLEDGE_TAG):  # nor does it pass for what stands in another tag
        text = escape_data(text, other)
    return f"{introduction}\n{delimited(text, tag, **attributes)}"


def _joined(lines: Sequence[str], config: RecallConfig) -> str:
    if config.form == "json" and lines:
        return "[" + ",\n".join(lines) + "]"
    return "\n".join(lines)


def _sizes(
    standing: Sequence[Recalled], line: Callable[[Recalled, int], str], most: int, count: Callable[[str], int]
) -> list[int]:
    """How much of the room each of the first texts may take: short ones all they need, long ones the same."""
    possible = standing[: most // _LEAST_TOKENS]
    needed = [count(line(each, min(_MOST_CHARS, most * _CHARS_A_TOKEN))) + 1 for each in possible]
    cap = fair_cap(needed, most)
    return [min(each, cap) for each in needed]


def _beside(
    standing: Sequence[Recalled], line: Callable[[Recalled, int], str], most: int, count: Callable[[str], int]
) -> list[str]:
    """The lines of the first texts; where one has no room, short as they are, the last one gives up its own."""
    while True:
        sizes = _sizes(standing, line, most, count)
        entries = [_fitted(each, line, size, count, 1) for each, size in zip(standing, sizes, strict=False)]
        whole = [entry for entry in entries if entry is not None]
        if len(whole) == len(entries):
            return whole
        standing = standing[: len(entries) - 1]


def _fitted(
    hit: Recalled,
    line: Callable[[Recalled, int], str],
    most: int,
    count: Callable[[str], int],
    least: int = _LEAST_TOKENS,
) -> str | None:
    """The line of a hit, cut where it is too long; `None` where there is no room worth it."""
    chars = _MOST_CHARS
    while most >= least and chars >= _LEAST_TOKENS:
        entry = line(hit, chars)
        size = count(entry) + 1
        if size <= most:
            return entry
        chars = min(int(min(chars, len(hit.shown or hit.text)) * most / size * 0.9), chars - 1)
    return None


def _list_line(hit: Recalled, chars: int) -> str:
    return f"- [{hit.label}] {_cut(' '.join((hit.shown or hit.text)[: 2 * _MOST_CHARS].split()), chars)}"


def _json_line(hit: Recalled, chars: int) -> str:
    return json.dumps({**hit.fields, hit.text_field: _cut(hit.text, chars)}, ensure_ascii=False, default=str)


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else f"{text[:chars].rstrip()} […]"
