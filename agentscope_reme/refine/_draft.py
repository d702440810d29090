# -*- coding: utf-8 -*-
"""What a model made of a group of memories, read leniently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import ModelReplyError
from ..chat import parse_json

__all__ = ["Draft", "parse_draft", "parse_numbers", "parse_queries"]

_NAMES = {
    "narrative": ("narrative", "core_narrative", "summary", "core_story", "概要", "叙述", "经过"),
    "facts": ("facts", "critical_facts", "key_points", "key_facts", "points", "memories", "事实", "要点"),
    "changes": ("state_changes", "user_state_changes", "changes", "变化"),
    "preferences": ("preferences", "user_preferences", "user_preferences_observed", "偏好"),
    "lessons": ("lessons", "lessons_learned", "actionable_insights", "insights", "经验", "教训"),
}
_KNOWN = frozenset(name for names in _NAMES.values() for name in names)
_BEFORE, _AFTER = ("before", "from", "old", "之前", "以前"), ("after", "to", "new", "之后", "现在")
_CONTENT = ("content", "text", "fact", "statement", "memory", "description", "内容")
_MOST = 60
_LONGEST = 600


@dataclass(frozen=True)
class Draft:
    """A condensed text in parts.

    Args:
        narrative (`str`): what happened.
        facts (`tuple[str, ...]`), preferences (`tuple[str, ...]`), lessons (`tuple[str, ...]`): one by one.
        changes (`tuple[tuple[str, str], ...]`): what was and what is.
    """

    narrative: str = ""
    facts: tuple[str, ...] = ()
    changes: tuple[tuple[str, str], ...] = ()
    preferences: tuple[str, ...] = ()
    lessons: tuple[str, ...] = ()

    def lines(self, change: Callable[[str, str], str]) -> list[str]:
        """The parts as lines, each once.

        Args:
            change (`Callable[[str, str], str]`): says what was and what is in a sentence.
        """
        changes = [change(before, after) if before else after for before, after in self.changes]
        narrative = [self.narrative] if self.narrative else []
        return list(dict.fromkeys([*narrative, *self.facts, *changes, *self.preferences, *self.lessons]))


def parse_draft(text: str) -> Draft:
    """Read a model's reply: an object, its parts under any of their usual names; a bare list is one of facts.

    Raises:
        `ModelReplyError`: there is no JSON in it, or nothing in the JSON.
    """
    value = parse_json(text)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        value = value[0]
    if isinstance(value, Mapping) and len(value) == 1:
        (name, inner), *_ = value.items()
        value = inner if isinstance(inner, Mapping) and str(name).strip().lower() not in _KNOWN else value
    if isinstance(value, list):
        value = {"facts": value}
    parts = {str(name).strip().lower(): part for name, part in value.items()}
    draft = Draft(
        " ".join(_texts(_first(parts, "narrative"))),
        tuple(_texts(_first(parts, "facts"))),
        tuple(_changes(_first(parts, "changes"))),
        tuple(_texts(_first(parts, "preferences"))),
        tuple(_texts(_first(parts, "lessons"))),
    )
    if draft == Draft():
        raise ModelReplyError(f"There is nothing in the model's reply: {text[:200]!r}")
    return draft


def parse_numbers(text: str, highest: int) -> tuple[int, ...]:
    """The numbers that a model names, each once and in its order, from 1 to the highest there is.

    Raises:
        `ModelReplyError`: there is no JSON in the reply.
    """
    numbers = (int(each) for each in _listed(text) if isinstance(each, int) or _is_decimal(each))
    return tuple(dict.fromkeys(each for each in numbers if 1 <= each <= highest))


def parse_queries(text: str, most: int) -> tuple[str, ...]:
    """The queries that a model wrote, each once and on one line.

    Raises:
        `ModelReplyError`: there is no JSON in the reply.
    """
    return tuple(_texts(_listed(text)))[:most]


def _listed(text: str) -> list[Any]:
    """The list in a reply, by itself or in an object."""
    value = parse_json(text)
    if isinstance(value, Mapping):
        value = next((each for each in value.values() if isinstance(each, list)), [])
    return value


def _is_decimal(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdecimal()


def _first(parts: Mapping[str, Any], part: str) -> Any:
    return next((parts[name] for name in _NAMES[part] if parts.get(name)), None)


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value of any shape, none twice, each on one line."""
    seen: set[str] = set()
    for text in _flat(value):
        line = " ".join(text.split()).removeprefix("- ").strip()
        if any(map(str.isalnum, line)) and line not in seen and len(seen) < _MOST:
            seen.add(line)
            yield line[:_LONGEST]


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _flat(each)
    elif isinstance(value, Mapping):
        told = next((value[name] for name in _CONTENT if isinstance(value.get(name), str)), None)
        if told is not None:
            yield told
        else:
            for name, each in value.items():
                yield from (f"{name}: {text}" for text in _flat(each))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)


def _changes(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        value = [value]
    for each in value if isinstance(value, (list, tuple)) else [value] if value else []:
        if isinstance(each, Mapping) and any(name in each for name in _AFTER):
            before, after = (" ".join(_texts(_named(each, names))) for names in (_BEFORE, _AFTER))
            if after:
                yield before, after
        else:
            yield from (("", text) for text in _texts(each))


def _named(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if name in value), None)
