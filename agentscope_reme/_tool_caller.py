# -*- coding: utf-8 -*-
"""Who made a tool call, and which tools are an agent's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentscope.agent import ReActAgent
from agentscope.message import Msg

from .message import tool_results, tool_uses

__all__ = ["Caller", "message_of", "tools_of"]


@dataclass(frozen=True)
class Caller:
    """Who called a tool.

    Args:
        agent (`str`):
            The agent's name.
        session_id (`str | None`):
            Its session.
        asked (`Msg`):
            The message that holds the call.
    """

    agent: str
    session_id: str | None
    asked: Msg


def tools_of(agent: ReActAgent, ours: Sequence[Callable[..., Any]] = ()) -> list[str]:
    """The names of an agent's own tools: without ours, and without those by which it handles itself, its toolkit and
    its long-term memory."""
    handled = (agent, agent.toolkit, agent.long_term_memory)
    return [
        name
        for name, tool in agent.toolkit.tools.items()
        if name != agent.finish_function_name
        and tool.original_func not in ours
        and not any(each is not None and getattr(tool.original_func, "__self__", None) is each for each in handled)
    ]


def message_of(call: Mapping[str, Any], content: Sequence[tuple[Msg, list[str]]]) -> Msg | None:
    """The message in which the owner of a history made a call, if it is among those made last and has no result yet.

    Args:
        call (`Mapping[str, Any]`):
            The `tool_use` block.
        content (`Sequence[tuple[Msg, list[str]]]`):
            The history, as a memory holds it.
    """
    answered = 0
    for msg, _ in reversed(content):
        answered += sum(result.get("id") == call["id"] for result in tool_results(msg))
        if calls := tool_uses(msg):
            same = [each for each in calls if (each.get("id"), each.get("name")) == (call["id"], call["name"])]
            return msg if len(same) > answered else None
    return None
