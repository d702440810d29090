# -*- coding: utf-8 -*-
"""The tool calls in a conversation, as records."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from agentscope.message import Msg

from ..message import call_input, output_text, pair_calls, parsed_time
from ..record import ToolCallRecord

__all__ = ["calls_in"]

_FAILED = re.compile(
    r"\s*(?:Error: |Error\b.{0,40}:|\w*(?:Error|Exception): |Traceback \(most recent call last\)|"
    r"<returncode>(?!0</)|<system-info>The tool call has been interrupted)",
)
"""How the host's toolkit, and most tools, answer when a call failed."""


def calls_in(messages: Sequence[Msg], tool_name: str, count: Callable[[str], int]) -> list[ToolCallRecord]:
    """The calls of a tool that have an answer.

    Args:
        messages (`Sequence[Msg]`):
            The conversation, oldest first.
        tool_name (`str`):
            The tool.
        count (`Callable[[str], int]`):
            Tokens in a text.

    Returns:
        `list[ToolCallRecord]`: in order. Seconds are those between the two messages; a call that an answer says to have
        failed, or that was interrupted, has not worked.
    """
    found: list[ToolCallRecord] = []
    for (call_at, call_index), (result_at, result_index) in sorted(pair_calls(messages).result_of.items()):
        call, result = messages[call_at].content[call_index], messages[result_at].content[result_index]
        if not isinstance(call, dict) or not isinstance(result, dict) or call.get("name") != tool_name:
            continue
        given, output = call_input(dict(call)), output_text(dict(result))
        made, answered = _moment(messages[call_at]), _moment(messages[result_at])
        found.append(
            ToolCallRecord(
                tool_name,
                json.loads(json.dumps(given, ensure_ascii=False, default=str)),
                output,
                success=not _FAILED.match(output),
                time_cost=max(0.0, (answered - made).total_seconds()) if made and answered else 0.0,
                token_cost=count(json.dumps(given, ensure_ascii=False, default=str)) + count(output),
                create_time=made or datetime.now(timezone.utc),
                metadata={"call_id": str(call.get("id", ""))},
            ),
        )
    return found


def _moment(msg: Msg) -> datetime | None:
    moment = parsed_time(msg.timestamp)
    try:
        return None if moment is None else moment.astimezone()
    except (ValueError, OverflowError, OSError):
        return None
