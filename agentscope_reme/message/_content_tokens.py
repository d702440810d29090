# -*- coding: utf-8 -*-
"""What the content of a message costs, block by block, whatever state the blocks are in."""

import json
from collections.abc import Callable
from typing import Any

from ._any_text import any_text, shown
from ._blocks import MEDIA_TYPES
from ._media import media_tokens

__all__ = ["content_tokens"]

_CALL, _RESULT = 10, 6  # tokens of the frame that a provider puts around a call and a result
_DEEPEST = 8  # results within results, before a block is taken as text

_CountText = Callable[[str], int]


def content_tokens(content: Any, count: _CountText, depth: int = 0) -> int:
    """The tokens of a message's content, or of a tool result's output.

    Args:
        content (`Any`):
            A string; a list of blocks, malformed ones among them; a lone block; `None`.
        count (`CountText`):
            Counts a text.
        depth (`int`):
            How many tool results it lies in.

    Returns:
        `int`: never raises for what is malformed; what is empty costs 0, and what is large never does.
    """
    if isinstance(content, str):
        return count(content) if content else 0
    if isinstance(content, (list, tuple)):
        return sum(_block_tokens(block, count, depth) for block in content)
    return _block_tokens(content, count, depth)


def _block_tokens(block: Any, count: _CountText, depth: int) -> int:
    if not isinstance(block, dict):
        return _text_tokens(block, count)
    kind = block.get("type")
    if kind in ("text", "thinking"):
        text = block.get(kind)
        return _rest_tokens(block, count) if text is None else _text_tokens(text, count)
    if kind == "tool_use":
        return _CALL + count(f"{_label(block)} {_arguments(block)}")
    if kind == "tool_result" and depth < _DEEPEST:
        output = block.get("output")
        inside = _rest_tokens(block, count) if output is None else content_tokens(output, count, depth + 1)
        return _RESULT + count(_label(block)) + inside
    if isinstance(kind, str) and kind in MEDIA_TYPES:
        return media_tokens(block)
    return _text_tokens(block, count)


def _text_tokens(value: Any, count: _CountText) -> int:
    if value is None or (isinstance(value, (str, list, tuple, dict)) and not value):
        return 0
    return count(any_text(value))


def _rest_tokens(block: dict[str, Any], count: _CountText) -> int:
    """A block without what its type promises: what else it holds, as text."""
    rest = {key: value for key, value in block.items() if key not in ("type", "id", "name") and value is not None}
    return _text_tokens(rest, count)


def _label(block: dict[str, Any]) -> str:
    return f"{any_text(block.get('id') or '')} {any_text(block.get('name') or '')}"


def _arguments(block: dict[str, Any]) -> str:
    """The arguments of a call as the provider gets them: the longer of `input` and `raw_input`."""
    value, raw = block.get("input"), block.get("raw_input")
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=shown)
    except (TypeError, ValueError, RecursionError):
        text = shown(value)
    return raw if isinstance(raw, str) and len(raw) > len(text) else text
