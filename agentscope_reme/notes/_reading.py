# -*- coding: utf-8 -*-
"""Which messages are worth a note, on which day they were said, and in which parts a model is shown them."""

from __future__ import annotations

import copy
import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from agentscope.message import Msg

from ..chat import pack_parts
from ..message import (
    blocks_of,
    delimited,
    is_recalled,
    is_repair,
    is_summary,
    is_user_request,
    local_day,
    output_text,
    parsed_time,
    raw_blocks,
    render,
    tool_results,
)

__all__ = ["Piece", "agent_texts", "by_day", "clock", "noteworthy", "pieces", "tool_texts", "user_names", "user_texts"]

_RECALLING = frozenset(
    {
        "memory_search",
        "memory_get",
        "retrieve_from_memory",
        "record_to_memory",
        "grep_working_memory",
        "read_working_memory",
    },
)
"""Tools whose results were noted or archived before: noting them again would have the notes feed on themselves."""
_SEPARATOR = "\n\n"
_TAG_TOKENS = 24
_NAME_CHARS = 60


@dataclass(frozen=True)
class Piece:
    """As much of one day's messages as a model is shown at once.

    Args:
        day (`date`): The day.
        number (`int`), total (`int`): Which piece of the day it is, and of how many.
        messages (`tuple[Msg, ...]`): The messages that are in it; the first and the last perhaps in part.
        text (`str`): The messages as a transcript.
    """

    day: dt.date
    number: int
    total: int
    messages: tuple[Msg, ...]
    text: str


def noteworthy(messages: Iterable[Msg]) -> list[Msg]:
    """What people, the agent and its tools said: no system prompts, summaries, hints, and nothing that was recalled."""
    return [msg for each in messages if (msg := _without_recalled(each)) is not None and render(msg)]


def by_day(messages: Iterable[Msg], timezone: dt.tzinfo | None) -> dict[dt.date, list[Msg]]:
    """The messages of each day, in order. Where a zone is given, their times are those of its clocks."""
    dated = [(local_day(msg, timezone), _local(msg, timezone)) for msg in messages]
    dated.sort(key=lambda pair: pair[0])
    return {day: [msg for _, msg in group] for day, group in groupby(dated, key=lambda pair: pair[0])}


def pieces(day: dt.date, messages: Sequence[Msg], capacity: int, count: Callable[[str], int]) -> list[Piece]:
    """The messages of a day in as few parts as fit, with every character of every message in one of them.

    Args:
        day (`date`):
            The day.
        messages (`Sequence[Msg]`):
            Its messages.
        capacity (`int`):
            The most tokens of a part.
        count (`Callable[[str], int]`):
            Tokens in a text.
    """
    texts = [render(msg) for msg in messages]
    parts, at, rest = [], 0, len(texts[0])
    for group in pack_parts(texts, capacity, lambda text: count(text) + _TAG_TOKENS, separator=_SEPARATOR):
        said: list[Msg] = []
        shown = []
        for piece in group:
            said.append(messages[at])
            shown.append(_element(messages[at], piece, is_first=rest == len(texts[at])))
            rest -= len(piece)
            if not rest and at + 1 < len(texts):
                at += 1
                rest = len(texts[at])
        parts.append((tuple(said), _SEPARATOR.join(shown)))
    return [Piece(day, number, len(parts), said, text) for number, (said, text) in enumerate(parts, 1)]


def _element(msg: Msg, text: str, *, is_first: bool) -> str:
    """A message, or a piece of it, in a tag that it cannot leave to pose as somebody else's."""
    role = "tool" if tool_results(msg) else "agent" if msg.role == "assistant" else "user"
    name = None if is_first else " ".join(str(msg.name).split())[:_NAME_CHARS]
    return delimited(text, "message", role=role, continued_from=name)


def user_texts(messages: Iterable[Msg]) -> list[str]:
    """What users said, a text a message."""
    return [text for msg in messages if is_user_request(msg) and (text := _plain(msg))]


def user_names(messages: Iterable[Msg]) -> set[str]:
    """What the users are called, as their messages say."""
    return {msg.name[:_NAME_CHARS] for msg in messages if is_user_request(msg) and isinstance(msg.name, str)}


def agent_texts(messages: Iterable[Msg]) -> list[str]:
    """What the agent said, a text a message."""
    return [text for msg in messages if msg.role == "assistant" and (text := _plain(msg))]


def tool_texts(messages: Iterable[Msg]) -> list[str]:
    """What tools returned, a text a result."""
    return [output_text(block) for msg in messages for block in tool_results(msg)]


def clock(msg: Msg) -> str:
    """The time of day of a message, `HH:MM`; "" where it has none."""
    moment = parsed_time(msg.timestamp)
    if moment is None:
        return ""
    return f"{moment if moment.tzinfo is None else moment.astimezone():%H:%M}"


def _plain(msg: Msg) -> str:
    texts: Iterator[Any] = (block.get("text") for block in blocks_of(msg) if block["type"] == "text")
    return "\n".join(text for text in texts if isinstance(text, str))


def _without_recalled(msg: Msg) -> Msg | None:
    if is_summary(msg) or is_recalled(msg) or is_repair(msg):
        return None
    if msg.role != "assistant" and not is_user_request(msg) and not tool_results(msg):
        return None
    if not any(block.get("name") in _RECALLING for block in tool_results(msg)):
        return msg
    blocks = [block for block in raw_blocks(msg) if not _is_recalled_result(block)]
    return _with(msg, content=blocks) if blocks else None


def _is_recalled_result(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_result" and block.get("name") in _RECALLING


def _local(msg: Msg, timezone: dt.tzinfo | None) -> Msg:
    moment = parsed_time(msg.timestamp)
    if timezone is None or moment is None:
        return msg
    try:
        local = moment.astimezone(timezone).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return msg
    return _with(msg, timestamp=local.isoformat(sep=" ", timespec="milliseconds"))


def _with(msg: Msg, **attributes: Any) -> Msg:
    changed = copy.copy(msg)
    for name, value in attributes.items():
        setattr(changed, name, value)
    return changed
