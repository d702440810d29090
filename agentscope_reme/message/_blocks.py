# -*- coding: utf-8 -*-
"""Reading the content blocks of a message, whatever state they are in."""

import copy
import json
from collections.abc import Sequence
from typing import Any

from agentscope.message import Msg

from ._arguments import lenient_dict

__all__ = [
    "MEDIA_TYPES",
    "blocks_of",
    "call_input",
    "copied",
    "output_text",
    "raw_blocks",
    "tool_results",
    "tool_uses",
]

MEDIA_TYPES = frozenset({"image", "audio", "video"})
"""The block types that hold media."""


def blocks_of(msg: Msg) -> list[dict[str, Any]]:
    """The readable blocks of a message: dictionaries with a string `type`.

    A string content is one text block (none where it is empty). What cannot be read is left out, so an index into this
    list is not an index into `msg.content` where the content is malformed.

    Args:
        msg (`Msg`):
            The message; its `content` may be a string, a list with anything in it, a lone block or `None`.

    Returns:
        `list[dict]`: the blocks themselves, not copies.
    """
    content: Any = msg.content
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in raw_blocks(msg) if isinstance(block, dict) and isinstance(block.get("type"), str)]


def raw_blocks(msg: Msg) -> Sequence[Any]:
    """What stands where blocks belong, readable or not, indexed as `msg.content` is; nothing for a string content."""
    content: Any = msg.content
    if isinstance(content, (list, tuple)):
        return content
    return (content,) if isinstance(content, dict) else ()


def tool_uses(msg: Msg) -> list[dict[str, Any]]:
    """The tool calls of a message, in order."""
    return [block for block in blocks_of(msg) if block["type"] == "tool_use"]


def tool_results(msg: Msg) -> list[dict[str, Any]]:
    """The tool results of a message, in order."""
    return [block for block in blocks_of(msg) if block["type"] == "tool_result"]


def output_text(result_block: dict[str, Any]) -> str:
    """The output of a tool result as text.

    Args:
        result_block (`dict`):
            A `tool_result` block; its `output` may be a string, a list of blocks, `None` or anything else.

    Returns:
        `str`: text blocks joined by newlines; media as a placeholder such as `[image]`; `""` for no output.
    """
    output = result_block.get("output")
    if isinstance(output, str):
        return output
    if isinstance(output, list):
        return "\n".join(text for text in map(_part_text, output) if text is not None)
    if output is None:
        return ""
    text = _part_text(output)
    return _as_json(output) if text is None else text


def call_input(block: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a tool call as a dictionary, also where a stream broke off inside the JSON.

    Args:
        block (`dict`):
            A `tool_use` block.

    Returns:
        `dict`: `input` itself where it is a dictionary; else what can be read of a string `input` or of `raw_input`;
        else `{}`.
    """
    value = block.get("input")
    if isinstance(value, dict):
        return value
    return lenient_dict(value, block.get("raw_input"))


def copied(value: Any) -> Any:
    """A deep copy of JSON-like data; several times faster than `copy.deepcopy`, which copies only what is not JSON."""
    kind = type(value)
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    if kind is list:
        return [copied(item) for item in value]
    if value is None or kind in (str, int, float, bool):
        return value
    return copy.deepcopy(value)


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return None
    if part["type"] != "text":
        return f"[{part['type']}]"
    return part["text"] if isinstance(part.get("text"), str) else None


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""
