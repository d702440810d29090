# -*- coding: utf-8 -*-
"""What a model wrote, as the items that are meant: read leniently, in whatever wrapping they come."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._errors import ModelReplyError
from ..chat import parse_json

__all__ = ["first_text", "items_of", "numbers_in", "says_nothing"]

_CONTENT = ("content", "memory_content", "memory", "text", "fact", "statement")
_LISTS = ("memories", "memory_list", "facts", "items", "results", "data", "output", "procedures")
_NOTHING_CHARS = 300


def items_of(reply: str, nothing: Sequence[str]) -> tuple[list[Any], Mapping[str, Any]]:
    """The memories and the profile in a reply: an object with both, a bare list, or a single memory.

    Args:
        reply (`str`):
            What the model wrote, without reasoning.
        nothing (`Sequence[str]`):
            Patterns of answers that say in words that there is nothing.

    Returns:
        `tuple[list, Mapping]`: the items as they came, and the profile.

    Raises:
        `ModelReplyError`: there is neither JSON of this form nor an answer that there is nothing.
    """
    try:
        value = parse_json(reply)
    except ModelReplyError:
        if reply.strip() and says_nothing(reply, nothing):
            return [], {}
        raise
    if isinstance(value, list):
        return value, {}
    profile = value.get("profile")
    for name in _LISTS:
        if isinstance(value.get(name), list):
            return value[name], profile if isinstance(profile, Mapping) else {}
        if isinstance(value.get(name), Mapping):
            return [value[name]], profile if isinstance(profile, Mapping) else {}
    if first_text(value):
        return [value], profile if isinstance(profile, Mapping) else {}
    if isinstance(profile, Mapping) or not value or value.get("memories", "") is None:
        return [], profile if isinstance(profile, Mapping) else {}
    raise ModelReplyError(f"There are no memories in the model's reply, only {', '.join(map(repr, value))}.")


def first_text(item: Any, names: Sequence[str] = _CONTENT) -> str:
    """The content of an item, under whichever name it has it; "" where it has none."""
    if isinstance(item, str):
        return item.strip()
    if not isinstance(item, Mapping):
        return ""
    return next((item[name].strip() for name in names if isinstance(item.get(name), str) and item[name].strip()), "")


def numbers_in(value: Any) -> list[int]:
    """The whole numbers in what a model gave for a list of them: ``[1, "2"]``, ``"1, 2"``, ``3``, ``["#4"]``."""
    if isinstance(value, bool) or value is None:
        return []
    if isinstance(value, int):
        return [value]
    if isinstance(value, str):
        return [int(each) for each in re.findall(r"\d{1,9}", value)]
    if isinstance(value, Sequence):
        return [
            number
            for each in value
            if not isinstance(each, Sequence) or isinstance(each, str)
            for number in numbers_in(each)
        ]
    return []


def says_nothing(answer: str, patterns: Sequence[str]) -> bool:
    """Whether a short answer says in words that there is nothing."""
    return len(answer) <= _NOTHING_CHARS and any(re.search(each, answer, re.IGNORECASE) for each in patterns)
