# -*- coding: utf-8 -*-
"""What was said in a conversation, message by message: by whom, when, and whether it can be a source of memories."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Literal

from agentscope.message import Msg

from ..chat import pack_parts
from ..message import (
    blocks_of,
    delimited,
    is_recalled,
    is_repair,
    is_summary,
    is_user_request,
    parsed_time,
    raw_blocks,
    render,
    tool_results,
)
from ._data_tags import escaped

__all__ = ["RECALLING_TOOLS", "Passage", "Utterance", "own_messages", "passages", "utterances"]

RECALLING_TOOLS = frozenset(
    {
        "memory_search",
        "memory_get",
        "retrieve_memory",
        "retrieve_similar",
        "retrieve_from_memory",
        "record_to_memory",
        "grep_working_memory",
        "read_working_memory",
    },
)
"""Tools that give back what was remembered: taking it in again would have memories feed on themselves."""

_INJECTED = re.compile(
    r"<(memories|recalled_memories|long_term_memory|knowledge|retrieved_knowledge|system-hint|system-info|system-reminder)"
    r"\b[^>]*>.*?</\1\s*>",
    re.DOTALL | re.IGNORECASE,
)
"""What hosts and this package put into a request around the words of its author."""

_NO_NAMES = frozenset({"", "user", "human", "用户"})
_SEPARATOR = "\n\n"
_TAG_TOKENS = 32
_NAME_CHARS = 60

Count = Callable[[str], int]


@dataclass(frozen=True)
class Utterance:
    """One message that says something.

    Args:
        number (`int`): its place among them, from 1: what a model refers to it by.
        role (`"user" | "agent" | "tool"`): who said it.
        speaker (`str`): the name of who said it; "" where none is known.
        text (`str`): as an entry of a transcript, with time and name.
        words (`str`): what was said, alone.
        time (`datetime | None`): when; aware.
    """

    number: int
    role: Literal["user", "agent", "tool"]
    speaker: str
    text: str
    words: str
    time: datetime | None


@dataclass(frozen=True)
class Passage:
    """As much of a conversation as a model is shown at once.

    Args:
        number (`int`), total (`int`): which it is, and of how many.
        utterances (`tuple[Utterance, ...]`): what is in it; the first and the last perhaps in part.
        text (`str`): as the model is shown it.
    """

    number: int
    total: int
    utterances: tuple[Utterance, ...]
    text: str


def own_messages(messages: Iterable[Msg]) -> list[Msg]:
    """What people, the agent and its tools said. System prompts, summaries, hints and recalled memories are left out,
    also where they are a part of a message."""
    return [msg for each in messages if (msg := _without_recalled(each)) is not None and render(msg)]


def utterances(messages: Iterable[Msg], *, person: str = "", tool_chars: int | None = None) -> list[Utterance]:
    """Messages as sources.

    Args:
        messages (`Iterable[Msg]`):
            A conversation, oldest first, as `own_messages` leaves it.
        person (`str`):
            Who spoke where a message of a user names nobody.
        tool_chars (`int | None`):
            The most characters of a tool's message: head and tail stay. `None` for all.
    """
    found: list[Utterance] = []
    for msg in messages:
        role: Literal["user", "agent", "tool"]
        role = "tool" if tool_results(msg) else "agent" if msg.role == "assistant" else "user"
        speaker = _speaker(msg, role, person)
        shown = _with(msg, name=speaker) if role == "user" and speaker else msg
        text = render(shown, tool_chars if role == "tool" else None)
        if text:
            found.append(Utterance(len(found) + 1, role, speaker, text, _words(msg), _time(msg)))
    return found


def passages(said: Sequence[Utterance], capacity: int, count: Count) -> list[Passage]:
    """A conversation in as few parts as fit, with every character of every message in one of them.

    Args:
        said (`Sequence[Utterance]`):
            What was said.
        capacity (`int`):
            The most tokens of a part.
        count (`Callable[[str], int]`):
            Tokens in a text.
    """
    if not said:
        return []
    texts = [each.text for each in said]
    measure = cache(lambda text: count(escaped(text)) + _TAG_TOKENS)
    parts: list[tuple[tuple[Utterance, ...], str]] = []
    at, rest = 0, len(texts[0])
    for pieces in pack_parts(texts, capacity, measure, separator=_SEPARATOR):
        inside, shown = dict[int, Utterance](), list[str]()
        for piece in pieces:
            inside[at] = said[at]
            shown.append(_element(said[at], piece, begins=rest == len(texts[at])))
            rest -= len(piece)
            if not rest and at + 1 < len(texts):
                at += 1
                rest = len(texts[at])
        parts.append((tuple(inside.values()), _SEPARATOR.join(shown)))
    return [Passage(number, len(parts), inside, text) for number, (inside, text) in enumerate(parts, 1)]


def _element(said: Utterance, text: str, *, begins: bool) -> str:
    """A message, or a piece of it, in a tag that it cannot leave to pose as somebody else's."""
    going_on = None if begins else said.speaker[:_NAME_CHARS] or said.role
    return delimited(escaped(text), "message", number=said.number, role=said.role, continued_from=going_on)


def _without_recalled(msg: Msg) -> Msg | None:
    """A message without what was recalled or injected; `None` where nothing else is in it."""
    if is_summary(msg) or is_recalled(msg) or is_repair(msg):
        return None
    if msg.role != "assistant" and not is_user_request(msg) and not tool_results(msg):
        return None
    return _with(msg, content=_own_content(msg))


def _own_content(msg: Msg) -> Any:
    content: Any = msg.content
    if isinstance(content, str):
        return _own_words(content)
    kept = [block for block in raw_blocks(msg) if isinstance(block, dict) and not _recalls(block)]
    return [
        {**block, "text": _own_words(block["text"])} if isinstance(block.get("text"), str) else block for block in kept
    ]


def _recalls(block: dict[str, Any]) -> bool:
    return block.get("type") in ("tool_use", "tool_result") and block.get("name") in RECALLING_TOOLS


def _own_words(text: str) -> str:
    return _INJECTED.sub("", text).strip() if "<" in text else text


def _speaker(msg: Msg, role: str, person: str) -> str:
    name = " ".join(msg.name.split()) if isinstance(msg.name, str) else ""
    if role == "user":
        return person if name.lower() in _NO_NAMES else name
    return "" if role == "tool" else name


def _words(msg: Msg) -> str:
    texts = (block.get("text") for block in blocks_of(msg) if block["type"] == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _time(msg: Msg) -> datetime | None:
    moment = parsed_time(msg.timestamp)
    if moment is None or moment.tzinfo is not None:
        return moment
    try:
        return moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def _with(msg: Msg, **attributes: Any) -> Msg:
    changed = copy.copy(msg)
    for name, value in attributes.items():
        setattr(changed, name, value)
    return changed
