# -*- coding: utf-8 -*-
"""A fingerprint of what a message says, cheap enough to take at every look."""

from collections.abc import Hashable
from typing import Any

from agentscope.message import Msg

from ._any_text import shown

__all__ = ["content_signature"]

_DEEPEST = 60


def content_signature(msg: Msg) -> Hashable:
    """A fingerprint of a message's name, role and content that changes whenever one of them is edited, however deep.

    It walks over the blocks but not over the texts: CPython keeps the hash of a string. It holds for this process only.

    Args:
        msg (`Msg`):
            The message, in any state.

    Returns:
        `Hashable`: equal for equal name, role and content.
    """
    return hash((_frozen(msg.name), _frozen(msg.role), _frozen(msg.content)))


def _frozen(value: Any, depth: int = 0) -> Hashable:
    kind = type(value)
    if kind is str or value is None:
        return value
    if depth > _DEEPEST or kind not in (dict, list, tuple):
        return kind, shown(value)
    parts: list[Any] = [kind]
    if kind is dict:
        for key, item in value.items():
            parts.append(key if type(key) is str else _frozen(key, depth + 1))
            parts.append(item if type(item) is str else _frozen(item, depth + 1))
    else:
        parts.extend([_frozen(item, depth + 1) for item in value])
    return tuple(parts)
