# -*- coding: utf-8 -*-
"""Messages read for a summary: who said what, which tools ran, and whether the last request was answered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from agentscope.message import Msg

from ..chat import strip_thinking
from ..message import blocks_of, call_input, is_ours, is_user_request, output_text
from . import _cues as cues
from ._one_line import as_data
from ._statements import Statement, assistant_statements, user_statements
from ._tool_digest import ToolCall, main_argument

__all__ = ["Reading", "read_messages"]

_NOT_SAID = ("summary", "recalled", "repair")


@dataclass
class Reading:
    """What a stretch of conversation holds."""

    statements: list[Statement] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    """Identifiers that people, the agent or its calls mention."""
    first_text: str = ""
    size: int = 1
    last_request: int = -1
    last_reply: int = -1
    last_speech: int = -1

    @property
    def is_open(self) -> bool:
        """Whether it ends inside a turn: after a request or a call that no reply has closed yet."""
        last_call = self.calls[-1].order if self.calls else -1
        return max(self.last_request, last_call) > self.last_reply


def read_messages(messages: Iterable[Msg]) -> Reading:
    """Read messages in order; what was injected into the conversation is passed over."""
    reading = Reading()
    messages = [msg for msg in messages if not any(is_ours(msg, kind) for kind in _NOT_SAID)]
    speakers = {msg.name for msg in messages if is_user_request(msg)}
    reading.size = len(messages) or 1
    asked = False
    waiting: dict[str, list[ToolCall]] = {}
    for order, msg in enumerate(messages):
        text = _words(msg)
        reading.first_text = reading.first_text or text
        if is_user_request(msg):
            _hear_user(reading, text, order, asked or len(speakers) > 1, msg.name if len(speakers) > 1 else "")
            asked = False
        elif msg.role == "assistant" and text:
            _hear_agent(reading, text, order, is_reply=not _uses_tools(msg))
            asked = cues.asks_back(text)
        _watch_tools(reading, waiting, msg, order)
    return reading


def _hear_user(reading: Reading, text: str, order: int, is_talk: bool, speaker: str) -> None:
    said = user_statements(text, order, is_talk)
    reading.statements += [replace(each, text=f"{speaker}: {each.text}", kind="") for each in said] if speaker else said
    reading.names.update(cues.identifiers(text))
    is_request = any(each.field == "goal" and each.weight >= 0.3 for each in said)
    if is_request or not cues.closes(text):
        reading.last_request = order


def _hear_agent(reading: Reading, text: str, order: int, is_reply: bool) -> None:
    reading.statements += assistant_statements(text, order, is_reply)
    reading.names.update(cues.identifiers(text))
    reading.last_speech = order
    if is_reply:
        reading.last_reply = order


def _watch_tools(reading: Reading, waiting: dict[str, list[ToolCall]], msg: Msg, order: int) -> None:
    """Take down calls, and pair results with them: the same id again means the next call of that id."""
    for block in blocks_of(msg):
        if block["type"] == "tool_use":
            call = ToolCall(as_data(str(block.get("name") or "tool")), main_argument(call_input(block)), order)
            if not call.is_reasoning:
                reading.calls.append(call)
            reading.names.update(cues.identifiers(call.argument))
            waiting.setdefault(str(block.get("id")), []).append(call)
        elif block["type"] == "tool_result":
            if not (calls := waiting.get(str(block.get("id")))):  # a result without a call
                calls = [ToolCall(as_data(str(block.get("name") or "tool")), "", order)]
                reading.calls += calls
            calls.pop(0).output = output_text(block)


def _uses_tools(msg: Msg) -> bool:
    return any(block["type"] == "tool_use" for block in blocks_of(msg))


def _words(msg: Msg) -> str:
    """The text of a message, without the reasoning that a model may have written into it."""
    texts = [block.get("text") for block in blocks_of(msg) if block["type"] == "text"]
    text = "\n".join(text for text in texts if isinstance(text, str)).strip()
    return strip_thinking(text) if msg.role == "assistant" and ("<" in text or "◁" in text) else text
