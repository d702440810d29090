# -*- coding: utf-8 -*-
"""From what callers hand in to `Msg` objects, and back to dictionaries."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentscope.message import Msg

from .._errors import MessageFormatError
from ._arguments import lenient_dict
from ._blocks import copied
from ._parts import block_from_part
from ._timestamp import host_timestamp, parsed_time

__all__ = ["as_msgs", "msg_to_dict"]

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "system"}


def as_msgs(messages: Any) -> list[Msg]:
    """Make `Msg` objects of what a caller has.

    Args:
        messages (`Msg | dict | Iterable[Msg | dict] | None`):
            `Msg` objects, which pass through as they are, and dictionaries in OpenAI's style or as `Msg.to_dict()` gives
            them: `role` (system, developer, user, assistant, tool), `content` (string, list of parts or blocks, `None`),
            and optionally `name`, `id`, `metadata`, `tool_calls`, `tool_call_id`, and `time_created` (or `timestamp`):
            `YYYY-MM-DD HH:MM:SS`, ISO 8601, epoch seconds or a `datetime`, now when absent.

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
            f"messages is {_shown(messages)}; give a list of Msg objects or dictionaries with 'role' and 'content'."
        )
    reader = _Reader()
    return [reader.msg(index, item) for index, item in enumerate(messages)]


def msg_to_dict(msg: Msg) -> dict[str, Any]:
    """`Msg.to_dict()` with the `invocation_id`, sharing nothing with the message.

    Returns:
        `dict`: `id`, `name`, `role`, `content`, `metadata`, `timestamp`, `invocation_id`, in this order.
    """
    return {**copied(msg.to_dict()), "invocation_id": getattr(msg, "invocation_id", None)}


class _Reader:
    """Reads one list of messages; remembers the names of called tools and the ids that were derived."""

    def __init__(self) -> None:
        self._tool_names: dict[str, str] = {}
        self._derived: dict[str, int] = {}

    def msg(self, index: int, item: Any) -> Msg:
        if isinstance(item, Msg):
            return item
        if not isinstance(item, Mapping):
            raise _error(index, item, "is not a message", "give a Msg or a dictionary with 'role' and 'content'")
        role = item.get("role")
        if not isinstance(role, str) or role not in _ROLES:
            raise _error(index, item, f"has the role {role!r}", f"use one of {', '.join(_ROLES)}")
        if role == "tool":
            name, content = "system", self._tool_result(index, item)
        else:
            name, content = _name(index, item) or _ROLES[role], self._content(index, item)
        return self._built(index, item, name, content, _ROLES[role])

    def _built(self, index: int, item: Mapping, name: str, content: Any, role: Any) -> Msg:
        metadata = item.get("metadata")
        if metadata is not None and not isinstance(metadata, Mapping):
            raise _error(index, item, f"has the metadata {_shown(metadata)}", "give a dictionary or leave it out")
        timestamp = _timestamp(index, item)
        msg = Msg(name, content, role, metadata=copied(dict(metadata or {})), timestamp=timestamp)
        msg.invocation_id = item.get("invocation_id")
        msg.id = self._id(index, item, msg, timestamp)
        return msg

    def _id(self, index: int, item: Mapping, msg: Msg, timestamp: str | None) -> str:
        given = item.get("id")
        if given is not None:
            if not isinstance(given, str) or not given:
                raise _error(index, item, f"has the id {given!r}", "give a string that is not empty or leave it out")
            return given
        if timestamp is None:
            return msg.id
        digest = _digest([msg.role, msg.name, msg.content, timestamp])
        self._derived[digest] = count = self._derived.get(digest, 0) + 1
        return digest if count == 1 else f"{digest}-{count}"

    def _content(self, index: int, item: Mapping) -> str | list[dict[str, Any]]:
        content, calls, reasoning = item.get("content"), item.get("tool_calls"), item.get("reasoning_content")
        if item.get("function_call"):
            raise _error(index, item, "has a function_call", "give 'tool_calls', which have ids")
        if content is None and isinstance(item.get("refusal"), str):
            content = item["refusal"]
        if content is None and "content" not in item and not calls:
            raise _error(index, item, "has no content", "give 'content' (a string, a list of blocks or None)")
        if isinstance(content, str) and not calls and not reasoning:
            return content
        blocks = _blocks(index, item, content) + _tool_calls(index, item, calls)
        for block in blocks:
            self._remember(block)
        return (
            [{"type": "thinking", "thinking": reasoning}, *blocks]
            if isinstance(reasoning, str) and reasoning
            else blocks
        )

    def _remember(self, block: dict[str, Any]) -> None:
        if block["type"] == "tool_use" and isinstance(block.get("id"), str) and isinstance(block.get("name"), str):
            self._tool_names[block["id"]] = block["name"]

    def _tool_result(self, index: int, item: Mapping) -> list[dict[str, Any]]:
        content = item.get("content")
        if isinstance(content, (list, tuple)) and any(_is_result(part) for part in content):
            return _blocks(index, item, content)
        call_id = item.get("tool_call_id")
        if not isinstance(call_id, str):
            raise _error(index, item, f"has the tool_call_id {call_id!r}", "name the call that this result answers")
        output = "" if content is None else content if isinstance(content, str) else _blocks(index, item, content)
        name = _name(index, item) or self._tool_names.get(call_id) or "tool"
        return [{"type": "tool_result", "id": call_id, "name": name, "output": output}]


def _tool_calls(index: int, item: Mapping, calls: Any) -> list[dict[str, Any]]:
    if not calls:
        return []
    if not isinstance(calls, (list, tuple)):
        raise _error(index, item, f"has the tool_calls {_shown(calls)}", "give a list")
    return [_tool_use(index, item, call) for call in calls]


def _tool_use(index: int, item: Mapping, call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise _error(index, item, f"has the tool call {_shown(call)}", "give {'id', 'function': {'name', 'arguments'}}")
    if not isinstance(call.get("id"), str):
        raise _error(index, item, f"has a tool call with the id {call.get('id')!r}", "give each call a string id")
    arguments = function.get("arguments")
    block = {"type": "tool_use", "id": call["id"], "name": function["name"]}
    if isinstance(arguments, Mapping):
        return {**block, "input": copied(dict(arguments))}
    if arguments is None or arguments == "":
        return {**block, "input": {}}
    if not isinstance(arguments, str):
        raise _error(index, item, f"has the arguments {_shown(arguments)}", "give JSON text or a dictionary")
    return {**block, "input": lenient_dict(arguments), "raw_input": arguments}


def _blocks(index: int, item: Mapping, content: Any) -> list[dict[str, Any]]:
    if content is None or content == "":
        return []
    parts = [content] if isinstance(content, (str, Mapping)) else content
    if not isinstance(parts, (list, tuple)):
        raise _error(index, item, f"has the content {_shown(content)}", "give a string, a list of blocks or None")
    blocks = []
    for part in parts:
        if _is_empty(part):
            continue  # holds nothing that could be lost
        block = block_from_part(part)
        if block is None:
            raise _error(index, item, f"has the part {_shown(part)}", "give a dictionary with a 'type'")
        blocks.append(block)
    return blocks


def _is_empty(part: Any) -> bool:
    if isinstance(part, Mapping) and part.get("type") == "text":
        return part.get("text") in (None, "")
    return part is None or (isinstance(part, (str, list, tuple, Mapping)) and not part)


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


def _name(index: int, item: Mapping) -> str | None:
    name = item.get("name")
    if name is not None and not isinstance(name, str):
        raise _error(index, item, f"has the name {name!r}", "give a string or leave it out")
    return name


def _timestamp(index: int, item: Mapping) -> str | None:
    for key in ("time_created", "timestamp"):
        value = item.get(key)
        if value is not None and value != "":
            return _local(index, item, key, value)
    return None


def _local(index: int, item: Mapping, key: str, value: Any) -> str:
    moment = parsed_time(value)
    try:
        if isinstance(moment, dt.datetime):
            return host_timestamp(moment)
    except (ValueError, OverflowError, OSError):
        pass
    cure = "give 'YYYY-MM-DD HH:MM:SS', ISO 8601, epoch seconds or a datetime"
    raise _error(index, item, f"has the {key} {_shown(value)}", cure)


def _digest(value: Any) -> str:
    try:
        text = json.dumps(value, sort_keys=True, default=repr)
    except (TypeError, ValueError):
        text = repr(value)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _error(index: int, item: Any, fault: str, cure: str) -> MessageFormatError:
    return MessageFormatError(f"messages[{index}] {fault}; {cure}. It is: {_shown(item)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
