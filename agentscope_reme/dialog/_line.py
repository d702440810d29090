# -*- coding: utf-8 -*-
"""A message as it is written down, and back, whatever state it is in."""

from typing import Any

from agentscope.message import Msg

__all__ = ["archive_line", "message_of", "message_record"]


def message_record(msg: Msg) -> dict[str, Any]:
    """`Msg.to_dict()` and the `invocation_id`, for writing at once: it shares its values with the message."""
    return {**msg.to_dict(), "invocation_id": getattr(msg, "invocation_id", None)}


def archive_line(msg: Msg, session_id: str | None) -> dict[str, Any]:
    """A message as the archive keeps it: its record and the session's id."""
    return {**message_record(msg), "session_id": session_id}


def message_of(record: dict[str, Any]) -> Msg:
    """The message of a record, also where it is in a state that `Msg` refuses to be made in.

    Args:
        record (`dict`):
            What `message_record` made, read back.

    Returns:
        `Msg`: with a lone block in a list, and any other content, role or name as it was.

    Raises:
        `TypeError`: it is no dictionary.
    """
    if not isinstance(record, dict):
        raise TypeError(f"a message is {type(record).__name__}, not a dictionary")
    content: Any = record.get("content")
    if isinstance(content, dict):
        content = [content]
    msg = Msg(
        record.get("name") or "",
        content if isinstance(content, (str, list)) else [],
        record["role"] if record.get("role") in ("user", "assistant", "system") else "user",
        record.get("metadata"),
        record.get("timestamp"),
        record.get("invocation_id"),
    )
    msg.name, msg.content, msg.role = record.get("name", ""), content, record.get("role", "user")
    if isinstance(record.get("id"), str):
        msg.id = record["id"]
    return msg
