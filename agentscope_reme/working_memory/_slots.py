# -*- coding: utf-8 -*-
"""Where the texts of a message are, and the message with others in their place."""

import copy
import json
from collections.abc import Callable, Sequence
from typing import Any

from agentscope.message import Msg

from ..message import copied, output_text
from ._hiding import Part

__all__ = ["is_block", "message_parts", "output_parts", "with_content", "with_input_texts", "with_texts"]


def is_block(block: Any, kind: str) -> bool:
    """Whether something in a content list is a block of this type."""
    return isinstance(block, dict) and block.get("type") == kind


def message_parts(msg: Msg) -> list[Part]:
    """The parts that are text of the message itself: its string, or its text blocks."""
    if isinstance(msg.content, str):
        return [Part(msg.content)]
    content = msg.content if isinstance(msg.content, list) else []
    parts = [_part(item, index) for index, item in enumerate(content) if is_block(item, "text")]
    return [part for part in parts if part is not None]


def output_parts(output: Any) -> list[Part]:
    """The parts of a tool result's output; their joined text is ``output_text`` of the block."""
    if not isinstance(output, list):
        return [Part(output_text({"output": output}))]
    parts = [_part(item, index) for index, item in enumerate(output)]
    return [part for part in parts if part is not None]


def with_texts(items: Any, parts: Sequence[Part], texts: Sequence[str | None]) -> Any:
    """What the parts were taken from, with new texts.

    Args:
        items (`Any`):
            A list of blocks, or a string.
        parts (`Sequence[Part]`):
            Its parts.
        texts (`Sequence[str | None]`):
            The new text of each; ``None`` drops the block. Fixed parts stay in any case.

    Returns:
        `str | list`: a new string or list that shares nothing with the old one.
    """
    if not isinstance(items, list):
        return texts[0] or ""
    new = {part.index: text for part, text in zip(parts, texts, strict=True) if not part.fixed}
    kept = [(item, new.get(index, item)) for index, item in enumerate(items)]
    return [_with_text(item, text) for item, text in kept if text is not None or item is None]


def with_input_texts(block: dict[str, Any], key: str, change: Callable[[str, str], str]) -> dict[str, Any] | None:
    """A tool call with other strings in its arguments.

    Args:
        block (`dict`):
            A ``tool_use`` block.
        key (`str`):
            What the call is known by.
        change (`Callable[[str, str], str]`):
            Gets a string and its own key (the call's, then its path in the arguments) and returns the new string.

    Returns:
        `dict | None`: the new block, its ``raw_input`` in line with it; ``None`` where no string changed.
    """
    old = block.get("input")
    new = _walked(old, key, change)
    if new == old:
        return None
    block = {
        **copied({name: value for name, value in block.items() if name not in ("input", "raw_input")}),
        "input": new,
    }
    return {**block, "raw_input": json.dumps(new, ensure_ascii=False, default=str)}


def with_content(msg: Msg, content: Any) -> Msg:
    """The same message, its id and all else included, with another content."""
    new = copy.copy(msg)
    new.content = content
    new.metadata = copied(msg.metadata)
    return new


def _part(item: Any, index: int) -> Part | None:
    if isinstance(item, str):
        return Part(item, index=index)
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return None
    if item["type"] != "text":
        return Part(f"[{item['type']}]", fixed=True, index=index)
    return Part(item["text"], index=index) if isinstance(item.get("text"), str) else None


def _with_text(item: Any, text: Any) -> Any:
    if text is item or isinstance(item, str):
        return text if isinstance(item, str) else copied(item)
    return {**copied(item), "text": text}


def _walked(value: Any, key: str, change: Callable[[str, str], str]) -> Any:
    if isinstance(value, str):
        return change(value, key)
    if isinstance(value, dict):
        return {name: _walked(item, f"{key}/{_escaped(name)}", change) for name, item in value.items()}
    if isinstance(value, list):
        return [_walked(item, f"{key}/{index}", change) for index, item in enumerate(value)]
    return copied(value)


def _escaped(name: Any) -> str:
    """A key as a JSON pointer writes it, so that two paths never look the same."""
    return str(name).replace("~", "~0").replace("/", "~1")
