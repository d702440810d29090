# -*- coding: utf-8 -*-
"""Which blocks a formatter and a model API accept, and how to mend the others."""

from typing import Any

from ._blocks import MEDIA_TYPES, call_input, output_text

__all__ = ["is_sendable", "is_sound", "mended", "sendable"]

_UNKNOWN_TOOL = "unknown_tool"


def is_sound(block: Any) -> bool:
    """Whether a block can go to a model as it is. A type that is not the host's is left to the formatter."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "text" or kind == "thinking":
        return is_sendable(block.get(kind))
    if kind == "tool_use":
        return _is_named(block) and isinstance(block.get("input"), dict) and _is_sendable_deep(block["input"])
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
    if kind in ("text", "thinking"):
        return {**block, kind: sendable(block[kind])} if isinstance(block.get(kind), str) else None
    if kind not in ("tool_use", "tool_result") or not isinstance(block.get("id"), str):
        return None
    named = block if _is_named(block) else {**block, "name": _UNKNOWN_TOOL}
    if kind == "tool_use":
        return {**named, "input": _sendable_deep(call_input(block))}
    return {**named, "output": _mended_output(block)}


def is_sendable(text: Any) -> bool:
    """Whether a value is a string that can be encoded: what comes from file names or torn JSON may hold half a pair."""
    if not isinstance(text, str):
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def sendable(text: str) -> str:
    """Text without the lone surrogates that no client can encode: pairs are joined, the others become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _is_sendable_deep(value: Any) -> bool:
    if isinstance(value, str):
        return is_sendable(value)
    if isinstance(value, dict):
        return all(is_sendable(key) and _is_sendable_deep(item) for key, item in value.items())
    return not isinstance(value, list) or all(map(_is_sendable_deep, value))


def _sendable_deep(value: Any) -> Any:
    if isinstance(value, str):
        return sendable(value)
    if isinstance(value, dict):
        return {sendable(str(key)): _sendable_deep(item) for key, item in value.items()}
    return [_sendable_deep(item) for item in value] if isinstance(value, list) else value


def _is_named(block: dict[str, Any]) -> bool:
    name = block.get("name")
    return isinstance(name, str) and name != "" and isinstance(block.get("id"), str)


def _is_sound_output(output: Any) -> bool:
    return all(map(_is_sound_part, output)) if isinstance(output, list) else is_sendable(output)


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
        return sendable(output_text(block))
    parts = []
    for part in output:
        if _is_sound_part(part):
            parts.append(part)
        elif text := output_text({"output": [part]}):
            parts.append({"type": "text", "text": sendable(text)})
    return parts
