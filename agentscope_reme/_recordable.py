# -*- coding: utf-8 -*-
"""Which messages of a handed-over history were said in it, and not put into it: those are worth recording."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from agentscope.message import Msg

from .message import is_recalled, is_repair, is_summary, is_user_request, raw_blocks, render, tool_results, tool_uses

__all__ = ["recordable"]

_RECALLING = frozenset(
    {
        "record_to_memory",
        "retrieve_from_memory",
        "memory_search",
        "memory_get",
        "grep_working_memory",
        "read_working_memory",
    },
)
"""Tools that store or show what is remembered: to learn from their results would have the memory feed on itself."""

_CALLS_AND_RESULTS = ("tool_use", "tool_result")


def recordable(messages: Sequence[Msg]) -> list[Msg]:
    """What people, the agent and its tools said.

    Left out are system prompts, summaries, hints, knowledge and memories that were put in, and the calls and results of
    the tools that work on memory.

    Args:
        messages (`Sequence[Msg]`):
            A history as the host hands it over: the whole memory, with the summary first.

    Returns:
        `list[Msg]`: the messages themselves, or copies where a part was left out, in their order.
    """
    said = messages[1:] if _begins_with_summary(messages) else messages
    return [clean for msg in said if (clean := _cleaned(msg)) is not None and render(clean)]


def _begins_with_summary(messages: Sequence[Msg]) -> bool:
    """Whether the first message is the summary of the host's own memory, which looks as if a user had said it.

    The host makes it anew at each look, with a new id and the time of the look: it is later than all that follows it,
    which no message is that was said first.
    """
    if len(messages) < 2 or not isinstance(messages[0].content, str):
        return False
    first, rest = messages[0], messages[1:]
    if (first.name, first.role) != ("user", "user") or first.metadata:
        return False
    return all(isinstance(msg.timestamp, str) and first.timestamp > msg.timestamp for msg in rest)


def _cleaned(msg: Msg) -> Msg | None:
    if is_summary(msg) or is_recalled(msg) or is_repair(msg):
        return None
    if msg.role != "assistant" and not is_user_request(msg) and not tool_results(msg):
        return None
    if not any(block.get("name") in _RECALLING for block in (*tool_uses(msg), *tool_results(msg))):
        return msg
    clean = copy.copy(msg)
    clean.content = [block for block in raw_blocks(msg) if not _is_recalling(block)]
    return clean if clean.content else None


def _is_recalling(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in _CALLS_AND_RESULTS and block.get("name") in _RECALLING
