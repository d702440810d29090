# -*- coding: utf-8 -*-
"""Lines of the dialog archive to chunks: one a turn, and one for what a tool was asked and answered."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from agentscope.message import Msg

from ..message import blocks_of, call_input, estimate_tokens, is_ours, is_user_request, output_text, parsed_time
from ..text import mended, split_lines
from ._chunks import sections
from ._draft import Draft
from ._notes import path_day

__all__ = ["RECALLING", "TurnReader"]

RECALLING = frozenset(
    {
        "memory_search",
        "memory_get",
        "retrieve_from_memory",
        "record_to_memory",
        "grep_working_memory",
        "read_working_memory",
    }
)
"""Tools that answer with memories. What they answered is not found again, or memories would be made of memories."""

_PAUSE = 3600.0  # seconds of silence after which what follows is another episode
_TOOL_HEAD = 1_000  # characters of arguments and of results
_OURS = ("summary", "recalled", "repair")
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


@dataclass
class _Line:
    """A line of the archive as the message room reads it, without the cost of a real message."""

    content: Any
    role: str
    name: str
    metadata: Any


class TurnReader:
    """Reads the lines of one archive file in their order, going on where an earlier reading ended.

    Args:
        path (`str`): The file; its day is the time of turns that have none.
        limit (`int`): Tokens of a chunk; a turn is one whatever its length, up to a quarter more than this.
        latest (`Mapping[str, tuple[int, float]]`): Of each session, the episode and the position of its last turn so
            far.
    """

    def __init__(self, path: str, limit: int, latest: Mapping[str, tuple[int, float]]) -> None:
        self._day = path_day(path)
        self._limit = limit
        self._latest = dict(latest)

    def read(self, number: int, line: bytes) -> list[Draft]:
        """The chunks of a line; none for one that is torn, blank, or says nothing that should be found.

        Args:
            number (`int`): Its number, counted from 1.
            line (`bytes`): What stands in it.
        """
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            return []
        if not isinstance(value, dict):
            return []
        msg = _message(value)
        if msg is None:
            return []
        moment = _moment(value)
        session = value.get("session_id")
        session = mended(session) if isinstance(session, str) else ""
        facts: dict[str, Any] = {
            "start_line": number,
            "end_line": number,
            "time": moment.isoformat(timespec="milliseconds") if moment else self._day,
            "speaker": mended(msg.name),
            "message_id": mended(value["id"]) if isinstance(value.get("id"), str) else "",
            "session_id": session,
        }
        return [*self._turn(msg, session, moment, facts), *self._tools(msg, facts)]

    def latest(self) -> dict[str, tuple[int, float]]:
        """Of each session, the episode and the position of its last turn by now."""
        return dict(self._latest)

    def _turn(self, msg: Msg, session: str, moment: dt.datetime | None, facts: Mapping[str, Any]) -> Iterator[Draft]:
        text = mended("\n".join(_texts(msg))).strip()
        if not text or (msg.role == "user" and not is_user_request(msg)):
            return
        episode, position = self._place(session, moment)
        self._latest[session] = (episode, position)
        parts = [("", text)]
        if estimate_tokens(text) > 1.25 * self._limit:
            parts = [(part.heading, part.text) for part in sections(split_lines(text), self._limit)]
        for heading, part in parts:
            yield Draft("turn", text=part, heading=heading, episode=episode, position=position, **facts)

    def _place(self, session: str, moment: dt.datetime | None) -> tuple[int, float]:
        episode, last = self._latest.get(session, (0, 0.0))
        if moment is None:
            return episode, last
        position = (moment - _EPOCH).total_seconds()
        pause = session in self._latest and abs(position - last) > _PAUSE
        return episode + pause, position

    def _tools(self, msg: Msg, facts: Mapping[str, Any]) -> Iterator[Draft]:
        shown = [text for block in blocks_of(msg) if (text := _tool_text(block))]
        for text in shown:
            yield Draft("tool", text=mended(text), **facts)


def _message(value: Mapping[str, Any]) -> Msg | None:
    role, name = value.get("role"), value.get("name")
    if not isinstance(role, str):
        return None
    metadata = value.get("metadata")
    line = _Line(value.get("content"), role, name if isinstance(name, str) else role, metadata)
    msg = cast(Msg, line)
    return None if any(is_ours(msg, kind) for kind in _OURS) else msg


def _moment(value: Mapping[str, Any]) -> dt.datetime | None:
    """When it was said, in UTC; a time without a zone is this machine's, as the host writes it."""
    try:
        moment = parsed_time(value.get("timestamp"))
        return moment.astimezone(dt.timezone.utc) if moment else None
    except (ValueError, OverflowError, OSError):
        return None


def _texts(msg: Msg) -> Iterator[str]:
    for block in blocks_of(msg):
        if block["type"] == "text" and isinstance(block.get("text"), str):
            yield block["text"]


def _tool_text(block: Mapping[str, Any]) -> str:
    name = block.get("name")
    if not isinstance(name, str) or name in RECALLING:
        return ""
    if block["type"] == "tool_use":
        arguments = json.dumps(call_input(dict(block)), ensure_ascii=False, default=str)
        return f"call {name}({arguments[:_TOOL_HEAD]})"
    if block["type"] == "tool_result":
        output = output_text(dict(block)).strip()
        return f"{name} result:\n{output[:_TOOL_HEAD]}" if output else ""
    return ""
