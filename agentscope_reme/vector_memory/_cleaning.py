# -*- coding: utf-8 -*-
"""Taking out of a memory what must not be stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .._errors import ConfigError
from ..record import MemoryNode

__all__ = ["cleaned_fields", "cleaned_node"]

Redact = Callable[[str], str]

_TEXTS = ("content", "when_to_use", "category", "author")
_LISTS = ("tags", "entities")


def cleaned_node(node: MemoryNode, redact: Redact | None) -> MemoryNode:
    """A memory with a callable applied to its texts; what names its owner and its conversation stays.

    Raises:
        `ConfigError`: nothing of the content is left, or the callable returned no text.
    """
    if redact is None:
        return node
    texts = {name: getattr(node, name) for name in (*_TEXTS, *_LISTS, "metadata")}
    return replace(node, **cleaned_fields(texts, redact))


def cleaned_fields(fields: Mapping[str, Any], redact: Redact | None) -> dict[str, Any]:
    """Some fields of a memory, likewise."""
    if redact is None:
        return dict(fields)
    touched = (*_TEXTS, *_LISTS, "metadata")
    return {name: _deep(value, redact) if name in touched else value for name, value in fields.items()}


def _deep(value: Any, redact: Redact) -> Any:
    if isinstance(value, str):
        cleaned = redact(value)
        if not isinstance(cleaned, str):
            kind = type(cleaned).__name__
            raise ConfigError(f"redact returned {kind}; it must return the text without its secrets.")
        return cleaned
    if isinstance(value, Mapping):
        return {key: _deep(each, redact) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_deep(each, redact) for each in value]
    return value
