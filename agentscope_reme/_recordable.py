# -*- coding: utf-8 -*-
"""Which messages of a handed-over history were said in it, and not put into it: those are worth recording."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope.message import Msg

from .vector_memory import own_messages

__all__ = ["recordable"]


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
    return own_messages(said)


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
