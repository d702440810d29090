# -*- coding: utf-8 -*-
"""From what callers hand in to `Msg` objects, and back to dictionaries."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentscope.message import Msg

from .._errors import MessageFormatError
from ._blocks import copied, tool_uses
from ._parts import Unreadable, call_blocks, part_blocks, shown
from ._timestamp import host_timestamp, parsed_time

__all__ = ["UNTIMED_ID", "as_msgs", "msg_to_dict"]

UNTIMED_ID = "said-"
"""How the id begins of a message that came without id and time: it follows from the day and all that was said before,
so that a history that is handed over again and again is the same messages each time."""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "system"}


def as_msgs(messages: Any) -> list[Msg]:
    """Make `Msg` objects of what a caller has.

    Args:
        messages (`Msg | dict | Iterable[Msg | dict] | None`):
            `Msg` objects, which pass through as they are, and dictionaries in OpenAI's style or as `Msg.to_dict()`
            gives them: `role` (system, developer, user, assistant, tool), `content` (string, list of parts or blocks,
            `None`), and optionally `name`, `id`, `metadata`, `tool_calls`, `tool_call_id`, and `time_created` (or
            `timestamp`): `YYYY-MM-DD HH:MM:SS`, ISO 8601, epoch seconds or a `datetime`, now when absent.

    Returns:
        `list[Msg]`: timestamps of converted messages are local time in the host's format. A dictionary's `id` is kept;
        without one the id is derived from content and time where a time is given, so that the same dictionary always
        gets the same id, and is random otherwise.

    Raises:
        `MessageFormatError`: something is not a message; the text names its index, its value and the cure.
    """
    if messages is None:
        return []
    if isinstance(messages, (Msg, Mapping)):
        messages = [messages]
    if isinstance(messages, (str, bytes)) or not isinstance(messages, Iterable):
        raise MessageFormatError(
            f"messages is {shown(messages)}; give a list of Msg objects or dictionaries with 'role' and 'content'."
        )
    reader = _Reader()
    for index, item in enumerate(messages):
        reader.read(index, item)
    return reader.done


def msg_to_dict(msg: Msg) -> dict[str, Any]:
    """`Msg.to_dict()` with the `invocation_id`, sharing nothing with the message.

    Returns:
        `dict`: `id`, `name`, `role`, `content`, `metadata`, `timestamp`, `invocation_id`, in this order.
    """
    return {**copied(msg.to_dict()), "invocation_id": getattr(msg, "invocation_id", None)}


class _Reader:
    """Reads one list of messages, and so knows the tools called before and the ids derived before."""

    def __init__(self) -> None:
        self.done: list[Msg] = []
        self._tool_names: dict[str, str] = {}
        self._names_known_of = 0
        self._derived: dict[str, int] = {}

    def read(self, index: int, item: Any) -> None:
        try:
            self.done.append(item if isinstance(item, Msg) else self._msg(item))
        except Unreadable as error:
            raise MessageFormatError(f"messages[{index}] {error}. It is: {shown(item)}") from None

    def _msg(self, item: Any) -> Msg:
        if not isinstance(item, Mapping):
            raise Unreadable("is not a message", "give a Msg or a dictionary with 'role' and 'content'")
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise Unreadable(f"has the role {role!r}", f"use one of {', '.join(_ROLES)}")
        if role == "tool":
            return self._built(item, "system", self._tool_result(item), "system")
        name = _name(item) or _ROLES[role]
        return self._built(item, name, self._content(item), _ROLES[role])

    def _built(self, item: Mapping, name: str, content: Any, role: Any) -> Msg:
        metadata = item.get("metadata")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise Unreadable(f"has the metadata {shown(metadata)}", "give a dictionary or leave it out")
        timestamp = _timestamp(item)
        msg = Msg(name, content, role, metadata=copied(dict(metadata or {})), timestamp=timestamp)
        msg.invocation_id = item.get("invocation_id")
        msg.id = self._id(item, msg, timestamp)
        return msg

    def _id(self, item: Mapping, msg: Msg, timestamp: str | None) -> str:
        given = item.get("id")
        if given is not None:
            if not isinstance(given, str) or not given:
                raise Unreadable(f"has the id {given!r}", "give a string that is not empty or leave it out")
            return given
        if timestamp is None:
            before = self.done[-1].id if self.done else ""
            return UNTIMED_ID + _digest([msg.timestamp[:10], before, msg.role, msg.name, msg.content])
        digest = _digest([msg.role, msg.name, msg.content, timestamp])
        self._derived[digest] = count = self._derived.get(digest, 0) + 1
        return digest if count == 1 else f"{digest}-{count}"

    def _content(self, item: Mapping) -> str | list[dict[str, Any]]:
        content, calls, reasoning = item.get("content"), item.get("tool_calls"), item.get("reasoning_content")
        if item.get("function_call"):
            raise Unreadable("has a function_call", "give 'tool_calls', which have ids")
        if content is None and isinstance(item.get("refusal"), str):
            content = item["refusal"]
        if content is None and "content" not in item and not calls:
            raise Unreadable("has no content", "give 'content' (a string, a list of blocks or None)")
        if isinstance(content, str) and not calls and not reasoning:
            return content
        thought = [{"type": "thinking", "thinking": reasoning}] if isinstance(reasoning, str) and reasoning else []
        return thought + part_blocks(content) + call_blocks(calls)

    def _tool_result(self, item: Mapping) -> list[dict[str, Any]]:
        content = item.get("content")
        if isinstance(content, (list, tuple)) and any(_is_result(part) for part in content):
            return part_blocks(content)
        call_id = item.get("tool_call_id")
        if not isinstance(call_id, str):
            raise Unreadable(f"has the tool_call_id {call_id!r}", "name the call that this result answers")
        output = "" if content is None else content if isinstance(content, str) else part_blocks(content)
        name = _name(item) or self._called_name(call_id) or "tool"
        return [{"type": "tool_result", "id": call_id, "name": name, "output": output}]

    def _called_name(self, call_id: str) -> str | None:
        for msg in self.done[self._names_known_of :]:
            self._tool_names.update({use["id"]: use["name"] for use in tool_uses(msg) if _is_named(use)})
        self._names_known_of = len(self.done)
        return self._tool_names.get(call_id)


def _is_named(use: dict[str, Any]) -> bool:
    return isinstance(use.get("id"), str) and isinstance(use.get("name"), str)


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


def _name(item: Mapping) -> str | None:
    name = item.get("name")
    if name is not None and not isinstance(name, str):
        raise Unreadable(f"has the name {name!r}", "give a string or leave it out")
    return name


def _timestamp(item: Mapping) -> str | None:
    for key in ("time_created", "timestamp"):
        value = item.get(key)
        if value is not None and value != "":
            return _local(key, value)
    return None


def _local(key: str, value: Any) -> str:
    moment = parsed_time(value)
    try:
        if isinstance(moment, dt.datetime):
            return host_timestamp(moment)
    except (ValueError, OverflowError, OSError):
        pass
    cure = "give 'YYYY-MM-DD HH:MM:SS', ISO 8601, epoch seconds or a datetime"
    raise Unreadable(f"has the {key} {shown(value)}", cure)


def _digest(value: Any) -> str:
    try:
        text = json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError):
        text = repr(value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
