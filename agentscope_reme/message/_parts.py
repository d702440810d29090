# -*- coding: utf-8 -*-
"""The parts and tool calls of an OpenAI-style message as AgentScope blocks."""

from collections.abc import Mapping
from typing import Any

from ._arguments import lenient_dict, strict_dict
from ._blocks import MEDIA_TYPES, copied

__all__ = ["Unreadable", "call_blocks", "part_blocks", "shown"]

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_LINKS = {"image_url": "image", "input_image": "image", "video_url": "video", "audio_url": "audio"}


class Unreadable(Exception):
    """What is wrong with one message and what to do, before the index is known."""

    def __init__(self, fault: str, cure: str) -> None:
        super().__init__(f"{fault}; {cure}")


def call_blocks(calls: Any) -> list[dict[str, Any]]:
    """The `tool_use` blocks of OpenAI's `tool_calls`; `raw_input` where the arguments are not valid."""
    if not calls:
        return []
    if not isinstance(calls, (list, tuple)):
        raise Unreadable(f"has the tool_calls {shown(calls)}", "give a list")
    return [_call_block(call) for call in calls]


def _call_block(call: Any) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise Unreadable(f"has the tool call {shown(call)}", "give {'id', 'function': {'name', 'arguments'}}")
    if not isinstance(call.get("id"), str):
        raise Unreadable(f"has a tool call with the id {call.get('id')!r}", "give each call a string id")
    arguments = function.get("arguments")
    block = {"type": "tool_use", "id": call["id"], "name": function["name"]}
    if isinstance(arguments, Mapping):
        return {**block, "input": copied(dict(arguments))}
    if arguments is None or arguments == "":
        return {**block, "input": {}}
    if not isinstance(arguments, str):
        raise Unreadable(f"has the arguments {shown(arguments)}", "give JSON text or a dictionary")
    strict = strict_dict(arguments)
    return (
        {**block, "input": lenient_dict(arguments), "raw_input": arguments}
        if strict is None
        else {**block, "input": strict}
    )


def part_blocks(content: Any) -> list[dict[str, Any]]:
    """The blocks of a content that is a string, a list of parts or `None`; parts that hold nothing are left out."""
    if content is None or content == "":
        return []
    parts = [content] if isinstance(content, (str, Mapping)) else content
    if not isinstance(parts, (list, tuple)):
        raise Unreadable(f"has the content {shown(content)}", "give a string, a list of blocks or None")
    blocks = []
    for part in parts:
        if _is_empty(part):
            continue  # holds nothing that could be lost
        block = _part_block(part)
        if block is None:
            raise Unreadable(f"has the part {shown(part)}", "give a dictionary with a 'type'")
        blocks.append(block)
    return blocks


def _is_empty(part: Any) -> bool:
    if isinstance(part, Mapping) and part.get("type") == "text":
        return part.get("text") in (None, "")
    return part is None or (isinstance(part, (str, list, tuple, Mapping)) and not part)


def _part_block(part: Any) -> dict[str, Any] | None:
    """Make a block of a part.

    Args:
        part (`Any`):
            A string; an OpenAI part (`text`, `refusal`, `image_url`, `video_url`, `input_audio`, ...); a DashScope part
            without a type (`{"text": ...}`, `{"image": url}`); or an AgentScope block, which is copied as it is.

    Returns:
        `dict | None`: the block, sharing nothing with the part; `None` where the part cannot be read.
    """
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return None
    kind = part.get("type")
    if not isinstance(kind, str):
        return _untyped(part)
    if kind in _TEXTS:
        text = part.get(_TEXTS[kind])
        kept = copied(dict(part)) if kind == "text" else {"type": "text"}
        return {**kept, "text": text} if isinstance(text, str) else None
    if kind in _LINKS:
        return _linked(_LINKS[kind], part.get("image_url" if kind == "input_image" else kind))
    if kind == "input_audio":
        return _audio(part.get("input_audio"))
    return copied(dict(part))


def _untyped(part: Mapping) -> dict[str, Any] | None:
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    kind = next((kind for kind in sorted(MEDIA_TYPES) if isinstance(part.get(kind), str)), None)
    return None if kind is None else _linked(kind, part[kind])


def _linked(kind: str, link: Any, default_type: str = "") -> dict[str, Any] | None:
    url = link.get("url") if isinstance(link, Mapping) else link
    if not isinstance(url, str) or not url:
        return None
    head, comma, data = url.partition(",")
    if head.startswith("data:") and head.endswith(";base64") and comma:
        media_type = head[len("data:") : -len(";base64")].partition(";")[0] or default_type
        return {"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}
    return {"type": kind, "source": {"type": "url", "url": url}}


def _audio(audio: Any) -> dict[str, Any] | None:
    if not isinstance(audio, Mapping) or not isinstance(audio.get("data"), str):
        return None
    form = audio.get("format") if isinstance(audio.get("format"), str) else "wav"
    data, media_type = audio["data"], f"audio/{form}"
    if data.startswith(("data:", "http://", "https://")):
        return _linked("audio", data, media_type)
    return {"type": "audio", "source": {"type": "base64", "media_type": media_type, "data": data}}


def shown(value: Any) -> str:
    """A value as an error message shows it, shortened."""
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
