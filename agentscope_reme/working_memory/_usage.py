# -*- coding: utf-8 -*-
"""How full a context is, as numbers and for a person to read."""

from collections.abc import Sequence
from typing import Any

from agentscope.message import Msg

from ..message import MessageTokens, render
from ._entries import Entry

__all__ = ["usage_of", "history_text"]


def usage_of(
    visible: Sequence[tuple[Entry, list[str]]],
    summary: Msg | None,
    tokens: MessageTokens,
    window: int,
) -> dict[str, Any]:
    """The numbers that `ReMeInMemoryMemory.estimate_tokens` returns."""
    messages_tokens = sum(entry.tokens for entry, _ in visible)
    summary_tokens = tokens.message(summary) if summary else 0
    return {
        "total_messages": len(visible),
        "messages_tokens": messages_tokens,
        "compressed_summary_tokens": summary_tokens,
        "estimated_tokens": messages_tokens + summary_tokens,
        "max_input_length": window,
        "context_usage_ratio": 100 * (messages_tokens + summary_tokens) / window,
        "messages_detail": [
            {
                "id": entry.msg.id,
                "name": entry.msg.name,
                "role": entry.msg.role,
                "timestamp": entry.msg.timestamp,
                "tokens": entry.tokens,
                "marks": [str(getattr(mark, "value", mark)) for mark in marks],
            }
            for entry, marks in visible
        ],
    }


def history_text(
    session_id: str | None, usage: dict[str, Any], summary: str, visible: Sequence[tuple[Entry, list[str]]]
) -> str:
    """A head line with the usage, the summary, then each message with its size."""
    parts = [
        f"{session_id}: {usage['total_messages']} messages, {usage['estimated_tokens']} of "
        f"{usage['max_input_length']} tokens ({usage['context_usage_ratio']:.1f} %)",
    ]
    if summary:
        parts.append(summary)
    for number, (entry, _) in enumerate(visible, start=1):
        parts.append(f"#{number} ({entry.tokens} tokens) {render(entry.msg, max_chars=400)}")
    return "\n\n".join(parts)
