# -*- coding: utf-8 -*-
"""One part of an OpenAI-style content list as an AgentScope block."""

from collections.abc import Mapping
from typing import Any

from ._blocks import MEDIA_TYPES, copied

__all__ = ["block_from_part"]

_TEXTS = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
_LINKS = {"image_url": "image", "input_image": "image", "video_url": "video", "audio_url": "audio"}


def block_from_part(part: Any) -> dict[str, Any] | None:
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
        return {**copied(dict(part)), "type": "text", "text": text} if isinstance(text, str) else None
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
