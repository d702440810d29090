# -*- coding: utf-8 -*-
"""Taking secrets out of a message before it is written anywhere."""

from collections.abc import Callable
from typing import Any

from agentscope.message import Msg

from .._errors import ConfigError
from ._blocks import copied
from ._marks import MARK_KEY

__all__ = ["redacted"]

_NAMING_KEYS = frozenset({"id", "name", "type", "media_type"})
"""What stands under these keys of a block identifies it and is no text."""


def redacted(msg: Msg, redact: Callable[[str], str]) -> Msg:
    """A copy of a message with a callable applied to everything that somebody wrote in it.

    Args:
        msg (`Msg`):
            The message; it is not changed.
        redact (`Callable[[str], str]`):
            Takes a text and returns it without what must not be stored.

    Returns:
        `Msg`: shares nothing with `msg`. Texts, thinking, tool arguments at any depth, `raw_input`, outputs and
        metadata went through the callable; ids, names, types, keys, base64 data and our own marks did not.

    Raises:
        `ConfigError`: the callable returned something that is not a string.
    """
    clean = _checked(redact)
    content: Any = msg.content
    copy = Msg.from_dict({**msg.to_dict(), "content": clean(content) if isinstance(content, str) else []})
    if isinstance(content, (list, tuple)):
        copy.content = [_redacted_block(block, clean) for block in content]
    elif not isinstance(content, str):
        copy.content = _redacted_block(content, clean)
    metadata = msg.metadata if isinstance(msg.metadata, dict) else {}
    copy.metadata = {key: copied(value) if key == MARK_KEY else _deep(value, clean) for key, value in metadata.items()}
    copy.invocation_id = getattr(msg, "invocation_id", None)
    return copy


def _checked(redact: Callable[[str], str]) -> Callable[[str], str]:
    def call(text: str) -> str:
        result = redact(text)
        if not isinstance(result, str):
            raise ConfigError(f"redact returned {type(result).__name__}; it must return the text without its secrets.")
        return result

    return call


def _redacted_block(block: Any, clean: Callable[[str], str]) -> Any:
    if not isinstance(block, dict):
        return _deep(block, clean)
    return {key: _redacted_field(key, value, clean) for key, value in block.items()}


def _redacted_field(key: Any, value: Any, clean: Callable[[str], str]) -> Any:
    if key == MARK_KEY:
        return copied(value)
    if key in _NAMING_KEYS and isinstance(value, str):
        return value
    if key == "source" and isinstance(value, dict):
        return _redacted_source(value, clean)
    if key == "output" and isinstance(value, list):
        return [_redacted_block(part, clean) for part in value]
    return _deep(value, clean)


def _redacted_source(source: dict[str, Any], clean: Callable[[str], str]) -> dict[str, Any]:
    url = source.get("url")
    if isinstance(url, str) and not url.startswith("data:"):
        return {**copied(source), "url": clean(url)}
    return copied(source)


def _deep(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {key: _deep(item, clean) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(item, clean) for item in value]
    return copied(value)
