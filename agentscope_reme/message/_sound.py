# -*- coding: utf-8 -*-
"""Which blocks a formatter and a model API accept, and how to mend the others."""

from typing import Any

from ._blocks import MEDIA_TYPES, call_input, output_text

__all__ = ["is_sound", "mended"]

_UNKNOWN_TOOL = "unknown_tool"


def is_sound(block: Any) -> bool:
    """Whether a block can go to a model as it is. A type that is not the host's is left to the formatter."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" or kind == "thinking":
        return isinstance(block.get(kind), str)
    if kind == "tool_use":
        return _is_named(block) and isinstance(block.get("input"), dict)
    if kind == "tool_result":
        return _is_named(block) and _is_sound_output(block.get("output"))
    if kind in ("image", "audio", "video"):
        return _is_sound_source(block.get("source"))
    return isinstance(kind, str)


def mended(block: Any) -> dict[str, Any] | None:
    """The block itself where it is sound; a mended copy where it can be read; `None` where it cannot."""
    if is_sound(block):
        return block
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in ("tool_use", "tool_result") or not isinstance(block.get("id"), str):
        return None
    named = block if _is_named(block) else {**block, "name": _UNKNOWN_TOOL}
    if kind == "tool_use":
        return {**named, "input": call_input(block)}
    return {**named, "output": _mended_output(block)}


def _is_named(block: dict[str, Any]) -> bool:
    name = block.get("name")
    return isinstance(name, str) and name != "" and isinstance(block.get("id"), str)


def _is_sound_output(output: Any) -> bool:
    return isinstance(output, str) or (isinstance(output, list) and all(map(_is_sound_part, output)))


def _is_sound_part(part: Any) -> bool:
    """Whether formatters take this inside a tool result, where they raise on types that they do not know."""
    if not isinstance(part, dict) or not isinstance(part.get("type"), str):
        return False
    return (part["type"] == "text" or part["type"] in MEDIA_TYPES) and is_sound(part)


def _is_sound_source(source: Any) -> bool:
    if not isinstance(source, dict):
        return False
    if source.get("type") == "url":
        return isinstance(source.get("url"), str)
    return source.get("type") == "base64" and all(isinstance(source.get(key), str) for key in ("media_type", "data"))


def _mended_output(block: dict[str, Any]) -> Any:
    output = block.get("output")
    if not isinstance(output, list):
        return output_text(block)
    parts = []
    for part in output:
        if _is_sound_part(part):
            parts.append(part)
        elif text := output_text({"output": [part]}):
            parts.append({"type": "text", "text": text})
    return parts
